//! Policies that are to deny the plan of a run.

use crate::config::testing::TestRun;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::operation::plan::Planned;
use crate::operation::session::Session;
use crate::request::Request;

/// What policies say against a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The rule.
    pub rule: String,
    /// What it says.
    pub message: String,
}

/// Who judges plans.
pub trait Judge: Send + Sync {
    /// Returns what policies deny of a plan.
    ///
    /// # Errors
    ///
    /// If there are no policies, or they cannot be read.
    fn judge(
        &self,
        session: &Session,
        request: &Request,
        planned: &Planned,
    ) -> Result<Vec<Denial>, Diagnostics>;
}

/// Holds the denials of a run's plan against those that it expects.
pub fn denials(run: &TestRun, found: &[Denial]) -> Diagnostics {
    let mut told = Diagnostics::new();
    for (name, at) in &run.expect_denied {
        if !found.iter().any(|it| it.rule == **name) {
            told.push(not_denied(name, found, *at));
        }
    }
    let is_expected = |it: &&Denial| run.expect_denied.iter().any(|name| *name.0 == *it.rule);
    told.extend(found.iter().filter(|it| !is_expected(it)).map(|it| {
        Diagnostic::error("Denied by a policy")
            .detail(format!("{}: {}", it.rule, it.message))
            .at(run.declared)
    }));
    told
}

fn not_denied(name: &str, found: &[Denial], at: Span) -> Diagnostic {
    let mut names: Vec<&str> = found.iter().map(|it| it.rule.as_str()).collect();
    names.dedup();
    let others = match &names[..] {
        [] => "No rule denies it.".to_owned(),
        some => format!("Rules that do: {}.", some.join(", ")),
    };
    Diagnostic::error("Missing expected denial")
        .detail(format!("The rule {name:?} was expected to deny this plan, and does not. {others}"))
        .at(at)
}

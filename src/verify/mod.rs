//! Every plan checked against the documents it was made from and against what the rules concluded.
//!
//! It finds faults of the program, never of a configuration. Every declared instance and every recorded object must have
//! exactly one outcome, and what the plan says must be what was concluded, both ways; a plan for which that does not hold
//! is an error, and nothing is done. This looks at each object a few times and costs little beside planning. What costs
//! more is `thorough`, for those who ask for it.

use crate::config::Config;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::planner::Finished;
use crate::request::PlanMode;
use crate::state::State;

mod conclusions;
mod documents;
mod order;
mod outcomes;
#[cfg(test)]
mod tests;
mod thorough;

pub use thorough::{Thorough, thorough};

/// What a plan is held against.
pub struct Documents<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// What exists, after moves.
    pub state: &'a State,
    /// What kind of run it is.
    pub mode: PlanMode,
}

/// Returns how a plan contradicts its documents or its conclusions. Most plans do not. Its steps, which not everybody asks for,
/// are looked at by [`steps`].
pub fn plan(finished: &Finished, documents: &Documents<'_>) -> Diagnostics {
    let mut faults = Vec::new();
    let domain = documents::domain(finished, documents, &mut faults);
    let known = outcomes::Known::of(finished);
    outcomes::check(finished, documents.mode, &domain, &known, &mut faults);
    conclusions::check(finished, documents, &known, &mut faults);
    contradictions(faults)
}

/// Returns how the steps of a plan contradict what was decided, or themselves.
pub fn steps(finished: &Finished) -> Diagnostics {
    contradictions(order::steps(finished))
}

/// Returns contradictions in the order of the sentences that name them.
fn contradictions(mut faults: Vec<String>) -> Diagnostics {
    faults.sort();
    Diagnostics(faults.iter().map(|it| contradiction(&format!("{it}."))).collect())
}

fn contradiction(what: &str) -> Diagnostic {
    Diagnostic::error("Internal error: the plan contradicts itself")
        .detail(format!("{what} Please report this with the configuration."))
}

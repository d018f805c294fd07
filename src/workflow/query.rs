//! `query`: any body of a rule, and its rows.

use crate::world::PROGRAM;
use std::sync::Arc;

use super::asking::{Asked, AskedOf, Question, ask};
use super::host::Host;
use crate::datalog::Limits;
use crate::datalog::query::{NAME, Query};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::operation::explain::ExplainContext;
use crate::operation::policies::{FOLDER, PolicyChoice};
use crate::policy::Policies;
use crate::policy::query::{Answer, answer};

/// What `query` is asked.
#[derive(Clone, Debug, Default)]
pub struct QueryOptions {
    /// The body.
    pub body: String,
    /// What it is asked of.
    pub of: AskedOf,
    /// The policies whose relations it may use.
    pub policies: PolicyChoice,
    /// What it may take.
    pub limits: Limits,
}

/// Answers a query. Changes nothing. Warnings come with the answer.
///
/// # Errors
///
/// If the query is wrong, a policy is faulty, or there is nothing that could be asked.
pub fn query(host: &Host<'_>, options: &QueryOptions) -> Result<Answer, Diagnostics> {
    let mut asking = Asking { options, sources: host.sources, query: None, answer: None };
    let mut warnings = ask(host, &options.of, (&options.policies, &options.limits), &mut asking)?;
    let mut answer = asking.answer.unwrap_or_default();
    warnings.extend(std::mem::take(&mut answer.problems));
    Ok(Answer { problems: warnings, ..answer })
}

struct Asking<'a> {
    options: &'a QueryOptions,
    sources: &'a Sources,
    query: Option<Query>,
    answer: Option<Answer>,
}

impl Question for Asking<'_> {
    fn prepare(&mut self, policies: &Policies) -> Result<(), Diagnostics> {
        let body = &self.options.body;
        if body.trim().is_empty() {
            return Err(nothing_asked().into());
        }
        let file = self.sources.add(NAME, Arc::from(body.as_str()));
        self.query = Some(policies.query(body, file, FOLDER)?);
        Ok(())
    }

    fn ask(&mut self, asked: &Asked<'_>) -> Result<(), Diagnostics> {
        let Some(query) = &self.query else { return Ok(()) };
        // Only rows of numbers that are no nodes need it.
        let context = std::cell::OnceCell::new();
        let names = |kind: &str, word: u64| {
            let context: &Option<ExplainContext> = context.get_or_init(|| (asked.context)().ok());
            context.as_ref().map_or_else(|| word.to_string(), |it| it.word(kind, word))
        };
        let limits = &self.options.limits;
        self.answer = Some(answer(asked.policies, query, &asked.subject, &names, limits)?);
        Ok(())
    }
}

fn nothing_asked() -> Diagnostic {
    Diagnostic::error("Nothing is asked").detail(
        format!("A query is the body of a rule, such as: {PROGRAM} query 'resource(b, \"aws_s3_bucket\"), b.acl == a'"),
    )
}

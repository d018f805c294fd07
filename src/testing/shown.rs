//! What `-verbose` shows of a run: its plan, or the state that it has left.

use std::sync::Arc;

use super::scope::Outcome;
use crate::address::Provider;
use crate::diagnostic::Diagnostic;
use crate::plan::{Plan, json, state_json};
use crate::schema::ProviderSchema;
use crate::state::State;
use std::collections::BTreeMap;

/// What the providers of a run announce.
pub type Schemas = BTreeMap<Provider, Arc<ProviderSchema>>;

/// A plan or a state, for people and as a document.
pub enum Shown {
    /// Of a run that plans.
    Plan(Box<Plan>, Schemas, String),
    /// Of a run that applies.
    State(Box<State>, Schemas, String),
}

impl Shown {
    /// Returns what is shown of a run.
    ///
    /// # Errors
    ///
    /// If it cannot be written as a document.
    pub(super) fn of(outcome: &Outcome<'_>) -> Result<Shown, Diagnostic> {
        let schemas: Schemas =
            outcome.pool.schemas().map(|it| (it.0.clone(), it.1.clone())).collect();
        let find = |provider: &Provider| schemas.get(provider).cloned();
        Ok(match outcome.applied {
            Some(state) => {
                let document = state_json::state_document(state, &find)?;
                Shown::State(Box::new(state.clone()), schemas, document)
            }
            None => {
                let plan = &outcome.finished.plan;
                let session = outcome.session;
                let document = json::plan_document(plan, &session.config, &find, &session.sources)?;
                Shown::Plan(Box::new(plan.clone()), schemas, without_prior(&document))
            }
        })
    }
}

/// Takes the state before a plan away: it is that of the run before.
fn without_prior(document: &str) -> String {
    let Ok(serde_json::Value::Object(mut whole)) = serde_json::from_str(document) else {
        return document.to_owned();
    };
    whole.shift_remove("prior_state");
    serde_json::Value::Object(whole).to_string()
}

//! What the archive of a plan holds: its parts can be read side by side.

use std::collections::BTreeMap;
use std::path::Path;

use super::{PlanExtras, not_a_plan, read_document};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::plan::Plan;
use crate::state::{State, read};

/// What the archive of a plan holds.
pub struct Unpacked {
    /// The plan itself.
    pub(super) document: Vec<u8>,
    /// The state that the plan starts from, and the one before the refresh.
    pub(super) states: [Vec<u8>; 2],
    /// Everything else, but what the plan's own entry says.
    pub(super) extras: PlanExtras,
}

impl Unpacked {
    /// Returns an entry of what the plan depends on; empty where there is none.
    pub fn fact(&self, name: &str) -> &[u8] {
        self.extras.facts.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Takes out an entry of what the plan depends on; nothing where there is none.
    pub fn take_fact(&mut self, name: &str) -> Vec<u8> {
        self.extras.facts.remove(name).unwrap_or_default()
    }

    /// Reads the plan, and what else is asked for or must be the same when it is carried out.
    ///
    /// - `path`: the name of the file, for the error.
    ///
    /// # Errors
    ///
    /// If the plan or a state is damaged.
    pub fn plan(&self, path: &Path) -> Result<(Plan, BTreeMap<String, String>), Diagnostic> {
        self.contents().map_err(|why| not_a_plan(path, &why))
    }

    /// The error is a phrase without a full stop.
    fn contents(&self) -> Result<(Plan, BTreeMap<String, String>), Error> {
        let state = |text: &[u8]| -> Result<State, Error> {
            let state = read::read(text).map_err(|problems| {
                let why = problems.iter().next().map(ToString::to_string).unwrap_or_default();
                format!("failed to read the state in the plan file: {why}")
            })?;
            Ok(state.unwrap_or_default())
        };
        let [prior, previous] = &self.states;
        let prior_state = state(prior)?;
        // Where the refresh found nothing, they are the same.
        let previous_state = if prior == previous { prior_state.clone() } else { state(previous)? };
        read_document(&self.document, (prior_state, previous_state))
    }

    /// Returns everything but the plan.
    ///
    /// - `settings`: what the plan's own entry says.
    pub fn into_extras(self, settings: BTreeMap<String, String>) -> PlanExtras {
        PlanExtras { settings, ..self.extras }
    }

    pub(super) fn read(self) -> Result<(Plan, PlanExtras), Error> {
        let (plan, settings) = self.contents()?;
        Ok((plan, self.into_extras(settings)))
    }
}

//! The end of a file: every state is destroyed, the one that was changed last first, and what is left is named.

use super::execute::{Kept, Silent};
use super::suite::Suite;
use crate::address::{Instance, Mode};
use crate::diagnostic::Diagnostics;
use crate::execute::Stop;
use crate::operation::apply::{Approved, Conduct, apply_in_memory, verdict};
use crate::operation::plan::plan;
use crate::request::{PlanMode, Request};
use crate::state::State;
use crate::value::Str;

/// What became of one state at the end of a file.
pub struct Left {
    /// The run that changed the state last.
    pub run: String,
    /// What went wrong.
    pub problems: Diagnostics,
    /// The state that is left, empty where everything is gone.
    pub state: State,
}

impl Left {
    /// Returns every object that is left, and its key where it is a deposed one.
    pub fn objects(&self) -> Vec<(Instance, Option<Str>)> {
        objects(&self.state)
    }

    /// Returns whether something is left that was made.
    pub fn has_objects(&self) -> bool {
        self.objects().iter().any(|it| it.0.resource.mode == Mode::Managed)
    }
}

/// Returns every object of a state, and its key where it is a deposed one.
pub fn objects(state: &State) -> Vec<(Instance, Option<Str>)> {
    let mut found = Vec::new();
    for (address, _, instance) in state.instances() {
        if instance.current.is_some() {
            found.push((address.clone(), None));
        }
        found.extend(instance.deposed.keys().map(|key| (address.clone(), Some(key.clone()))));
    }
    found.sort();
    found
}

/// Destroys a state with what it was made with.
pub async fn destroy(suite: &Suite, run: &str, kept: Kept, stop: &Stop) -> Left {
    let Kept { state, session, variables, warnings } = kept;
    let run = run.to_owned();
    if state.is_empty() {
        return Left { run, problems: warnings, state };
    }
    let request = Request { mode: PlanMode::Destroy, carried_out: true, ..suite.request.clone() };
    let planned = match plan(&session, &request, state.clone(), variables, &Silent).await {
        Ok(planned) => planned,
        Err(found) => {
            let mut problems = warnings;
            problems.extend(found);
            return Left { run, problems, state };
        }
    };
    let mut problems = warnings;
    problems.extend(planned.finished.problems.clone());
    if problems.has_errors() {
        return Left { run, problems, state };
    }
    let conduct =
        Conduct { parallelism: request.parallelism.max(1), sink: &Silent, stop, watch: None };
    let approved = match Approved::of(&planned) {
        Ok(approved) => approved,
        Err(found) => {
            problems.extend(found);
            return Left { run, problems, state };
        }
    };
    let mut done = apply_in_memory(&session, &planned.pool, &approved, conduct).await;
    problems.extend(std::mem::take(&mut done.problems));
    problems.extend(verdict(&done, PlanMode::Destroy));
    planned.pool.give_back(&session.provider_sources);
    Left { run, problems: problems.once(), state: done.state }
}

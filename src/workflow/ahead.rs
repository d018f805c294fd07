//! What a run has before it, and how long each step has taken when it was taken last.

use std::collections::HashMap;
use std::time::Duration;

use entail_rules::Action;

use crate::backend::Snapshots;
use crate::operation::log;
use crate::plan::Plan;

/// The steps of a plan that is about to be carried out.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// The steps that will be told with `ApplyStart`.
    pub steps: Vec<Coming>,
    /// How many of them run at once, at most.
    pub parallelism: usize,
}

/// A step that is to come.
#[derive(Clone, Debug, PartialEq)]
pub struct Coming {
    /// The instance.
    pub address: String,
    /// What is done with it.
    pub action: Action,
    /// How long that has taken the last time; nothing where the log does not know.
    pub last: Option<Duration>,
}

impl Ahead {
    /// Returns what a plan has before it.
    pub(super) fn of(plan: &Plan, backend: &Snapshots, parallelism: usize) -> Ahead {
        let (runs, _) = log::read(backend).unwrap_or_default();
        let mut last: HashMap<(&str, &str), Duration> = HashMap::new();
        let steps = runs.iter().flat_map(|it| &it.steps);
        for step in steps.filter(|it| it.outcome == log::StepOutcome::Done) {
            last.insert((&step.address, &step.action), Duration::from_millis(step.for_ms));
        }
        let mut steps = Vec::new();
        for change in &plan.changes {
            let address = change.address.to_string();
            for (action, word) in single(change.action) {
                let last = last.get(&(address.as_str(), *word)).copied();
                steps.push(Coming { address: address.clone(), action: *action, last });
            }
        }
        Ahead { steps, parallelism }
    }
}

/// The steps that an action consists of, with the log's words for them. What leaves the state alone is no step that is told.
fn single(action: Action) -> &'static [(Action, &'static str)] {
    const CREATE: (Action, &str) = (Action::Create, "create");
    const DELETE: (Action, &str) = (Action::Delete, "delete");
    match action {
        Action::NoOp | Action::Drop | Action::Forget => &[],
        Action::Create | Action::ForgetThenCreate => &[CREATE],
        Action::Read => &[(Action::Read, "read")],
        Action::Update => &[(Action::Update, "update")],
        Action::DeleteThenCreate => &[DELETE, CREATE],
        Action::CreateThenDelete => &[CREATE, DELETE],
        Action::Delete => &[DELETE],
    }
}

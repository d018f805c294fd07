//! One run as the log keeps it: a line of JSON.

use chrono::DateTime;
use serde::{Deserialize, Serialize};

use crate::address::Instance;
use crate::backend::LockInfo;
use crate::diagnostic::Diagnostics;
use crate::execute::{self, Done, StepNote};
use crate::plan::action_tokens;

/// The version of the lines that are written.
pub(super) const VERSION: u32 = 1;

/// A run that is over, or one that is in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version of the line.
    #[serde(rename = "entail_log")]
    pub version: u32,
    /// What it is called: eight digits of a digest of the rest.
    pub id: String,
    /// `apply`, `destroy`, `refresh` or `import`.
    pub operation: String,
    /// When it began to carry the plan out, RFC 3339.
    pub began: String,
    /// When its state was written; empty while it is in progress.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ended: String,
    /// `user@host`
    pub who: String,
    /// The program and its version.
    pub program: String,
    /// The command line, without values of sensitive variables.
    pub command: Vec<String>,
    /// The workspace.
    pub workspace: String,
    /// The plan that was carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanNote>,
    /// How many finished steps of an interrupted run were taken up first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub recovered: usize,
    /// Denials that were overruled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<Overridden>,
    /// The steps: those that ended in the order in which they did, then the others.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// What was done, in numbers.
    #[serde(default)]
    pub counts: Counts,
    /// How it ended.
    pub outcome: Outcome,
    /// The serial of the state that was written; none where it has not changed or was not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<u64>,
    /// The lineage of that state.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lineage: String,
    /// Stands for the journal of the run: how many lines it had, and the checksum of the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNote {
    /// Stands for what is done to which objects.
    pub digest: String,
    /// The file, where it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_sha256: Option<String>,
}

/// A denial that was overruled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overridden {
    /// The rule.
    pub rule: String,
    /// The object that it denied.
    pub address: String,
    /// Why.
    pub because: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Without errors.
    Complete,
    /// With errors.
    Failed,
    /// Somebody stopped it.
    Interrupted,
    /// It has not ended: its lock is held. No line of the log says so.
    Running,
}

impl Outcome {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Failed => "failed",
            Outcome::Interrupted => "interrupted",
            Outcome::Running => "running",
        }
    }
}

/// How many objects a run has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Counts {
    pub imported: usize,
    pub added: usize,
    pub changed: usize,
    pub destroyed: usize,
    pub forgotten: usize,
}

impl Counts {
    pub(super) fn of(done: &Done) -> Counts {
        Counts {
            imported: done.imported,
            added: done.added,
            changed: done.changed,
            destroyed: done.destroyed,
            forgotten: done.forgotten,
        }
    }
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The object.
    pub address: String,
    /// The key of a deposed object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    /// `create`, `update`, `delete`, `read`, `forget` or `import`.
    pub action: String,
    /// When it was begun, in milliseconds after the run.
    #[serde(default)]
    pub at_ms: u64,
    /// For how long it ran, in milliseconds.
    #[serde(default)]
    pub for_ms: u64,
    /// What came of it.
    pub outcome: StepOutcome,
    /// The summary of the error of a failed step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What has held back a step that was not attempted; none where the run was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The step that it waited for last: its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    /// It was done.
    #[serde(rename = "done")]
    Done,
    /// It failed.
    #[serde(rename = "failed")]
    Failed,
    /// It still ran when the run was ended.
    #[serde(rename = "abandoned")]
    Abandoned,
    /// It was not begun.
    #[serde(rename = "not attempted")]
    NotAttempted,
}

impl StepOutcome {
    /// Returns the words for it.
    pub fn name(self) -> &'static str {
        match self {
            StepOutcome::Done => "done",
            StepOutcome::Failed => "failed",
            StepOutcome::Abandoned => "abandoned",
            StepOutcome::NotAttempted => "not attempted",
        }
    }
}

impl Step {
    /// Returns the step of an import.
    pub(super) fn imported(address: &Instance, elapsed: u64) -> Step {
        Step {
            address: address.to_string(),
            deposed: None,
            action: "import".into(),
            at_ms: 0,
            for_ms: elapsed,
            outcome: StepOutcome::Done,
            error: None,
            because: None,
            after: None,
        }
    }

    /// Returns a step as it is kept.
    ///
    /// - `problems`: those of the run. The first error about the object is why it failed.
    pub fn of(note: &StepNote, problems: &Diagnostics) -> Step {
        let address = note.address.to_string();
        let about =
            || problems.iter().find(|it| it.is_error() && it.address.as_ref() == Some(&address));
        let (outcome, error, because) = match &note.outcome {
            execute::Outcome::Done => (StepOutcome::Done, None, None),
            execute::Outcome::Failed(summary) => {
                let summary = summary.clone().or_else(|| about().map(|it| it.summary.clone()));
                (StepOutcome::Failed, summary, None)
            }
            execute::Outcome::Abandoned => (StepOutcome::Abandoned, None, None),
            execute::Outcome::NotAttempted(because) => {
                (StepOutcome::NotAttempted, None, because.clone())
            }
        };
        let milliseconds =
            |it: std::time::Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        Step {
            deposed: note.deposed.as_deref().map(str::to_owned),
            action: action_tokens(note.action).join(" "),
            at_ms: milliseconds(note.started),
            for_ms: milliseconds(note.elapsed),
            after: note.after,
            address,
            outcome,
            error,
            because,
        }
    }
}

impl Run {
    /// Returns the run under the name that follows from what it is.
    pub(super) fn named(mut self) -> Run {
        self.id = super::file_digest(self.to_line().as_bytes())[..8].to_owned();
        self
    }

    /// Returns the run that holds a lock; `None` if it cannot change the state, as a plan.
    ///
    /// What it does and has done is not known before it ends.
    pub fn in_progress(holder: &LockInfo, workspace: &str) -> Option<Run> {
        let operation = holder.operation_name();
        if ["plan", "console"].contains(&&*operation) {
            return None;
        }
        let began = holder.created_at().map_or_else(|| holder.created.clone(), super::timestamp);
        let run = Run {
            version: VERSION,
            id: String::new(),
            command: vec![operation.clone()],
            operation,
            began,
            ended: String::new(),
            who: holder.who.clone(),
            program: format!("version {}", holder.version),
            workspace: workspace.to_owned(),
            plan: None,
            recovered: 0,
            overridden: Vec::new(),
            steps: Vec::new(),
            counts: Counts::default(),
            outcome: Outcome::Running,
            serial: None,
            lineage: String::new(),
            journal: None,
        };
        Some(run.named())
    }

    /// Returns whether a run of the log is this run in progress, which has ended since its lock was looked at.
    pub fn is_same(&self, logged: &Run) -> bool {
        let time = |it: &str| DateTime::parse_from_rfc3339(it).ok();
        let began = time(&self.began).zip(time(&logged.began));
        self.who == logged.who && began.is_some_and(|(locked, began)| began >= locked)
    }

    /// Returns it as a line, without the line feed.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a record is text and numbers")
    }

    /// Reads a line; `None` if it is none of this log.
    pub fn of_line(line: &str) -> Option<Run> {
        serde_json::from_str(line).ok()
    }

    /// Returns how many steps have come to this.
    pub fn count(&self, outcome: StepOutcome) -> usize {
        self.steps.iter().filter(|it| it.outcome == outcome).count()
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

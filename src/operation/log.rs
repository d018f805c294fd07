//! The log of runs: what is kept of an apply, a destroy, a refresh or an import beside the state, and what is asked of it later.
//!
//! No value of an attribute stands in it, and no value of a sensitive variable. It is written after the state, in one line, so that a
//! run that is killed leaves the state and the log as they are; what such a run had begun is told by its journal.

mod command;
mod find;
mod path;
mod record;
#[cfg(test)]
mod tests;

use chrono::{DateTime, SecondsFormat, Utc};
use sha2::Digest;

use crate::address::Instance;
use crate::backend::{LockInfo, Snapshots};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::execute::Done;
use crate::plan::{Plan, action_tokens};
use crate::request::PlanMode;
use crate::world::World;

pub use command::{shown, without_secrets};
pub use find::{Found, History, find};
pub use path::critical_path;
pub use record::{Counts, Outcome, Overridden, PlanNote, Run, Step, StepOutcome};

/// What a run's record needs besides what the run came to.
pub struct Origin<'a> {
    /// `apply`, `destroy`, `refresh` or `import`.
    pub operation: &'static str,
    /// When it began.
    pub began: DateTime<Utc>,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// The workspace.
    pub workspace: &'a str,
    /// The plan that was carried out.
    pub plan: Option<PlanNote>,
    /// How many finished steps of an interrupted run were taken up first.
    pub recovered: usize,
    /// Denials that were overruled.
    pub overridden: Vec<Overridden>,
}

impl Origin<'_> {
    /// Returns the record of a run that is over.
    pub fn record(self, world: &World, done: &Done) -> Run {
        let steps = done.steps.iter().map(|it| Step::of(it, &done.problems)).collect();
        self.with_steps(world, done, steps)
    }

    /// Returns the record of an import, which has one step.
    pub fn imported(self, world: &World, address: &Instance, serial: Option<u64>) -> Run {
        let elapsed = (world.now() - self.began).num_milliseconds();
        let done = Done { imported: 1, written: serial, ..Done::default() };
        let step = Step::imported(address, u64::try_from(elapsed).unwrap_or(0));
        self.with_steps(world, &done, vec![step])
    }

    fn with_steps(self, world: &World, done: &Done, steps: Vec<Step>) -> Run {
        let run = Run {
            version: record::VERSION,
            id: String::new(),
            operation: self.operation.into(),
            began: timestamp(self.began),
            ended: timestamp(world.now()),
            who: LockInfo::new(world, self.operation).who,
            program: format!("entail {}", env!("CARGO_PKG_VERSION")),
            command: self.command,
            workspace: self.workspace.into(),
            plan: self.plan,
            recovered: self.recovered,
            overridden: self.overridden,
            steps,
            counts: Counts::of(done),
            outcome: match (done.stopped, done.problems.has_errors()) {
                (true, _) => Outcome::Interrupted,
                (false, true) => Outcome::Failed,
                (false, false) => Outcome::Complete,
            },
            serial: done.written,
            lineage: done.state.lineage.clone(),
            journal: done.journal.clone(),
        };
        run.named()
    }
}

fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Adds a run to the log, unless it has done nothing.
///
/// # Errors
///
/// A warning, if it cannot be written.
pub fn append(backend: &Snapshots, run: &Run) -> Result<(), Diagnostic> {
    if run.steps.is_empty() && run.serial.is_none() && run.recovered == 0 {
        return Ok(());
    }
    backend.append_run(&run.to_line())
}

/// Reads the log, oldest run first. What of it cannot be read is told as a warning.
///
/// # Errors
///
/// If there is a log that cannot be read at all.
pub fn read(backend: &Snapshots) -> Result<(Vec<Run>, Diagnostics), Diagnostic> {
    let kept = backend.runs()?;
    let (mut runs, mut damaged) = (Vec::with_capacity(kept.lines.len()), kept.damaged);
    for line in &kept.lines {
        match Run::of_line(line) {
            Some(run) => runs.push(run),
            None => damaged += 1,
        }
    }
    let mut problems = Diagnostics::new();
    if damaged > 0 {
        problems.push(damaged_lines(&backend.log_file().display().to_string(), damaged));
    }
    Ok((runs, problems))
}

fn damaged_lines(file: &str, count: usize) -> Diagnostic {
    let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    Diagnostic::warning("Log damaged").detail(format!(
        "{lines} of the log {file:?} cannot be read: torn where a run was killed while it wrote, changed by hand, encrypted in another way, or written by a newer version. The other runs are listed."
    ))
}

/// Stands for a plan: the same for two that do the same to the same objects. No values go into it.
pub fn digest(plan: &Plan) -> String {
    let mut hash = sha2::Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    add(mode(plan.mode));
    add(&plan.workspace);
    for change in &plan.changes {
        add(&change.address.to_string());
        add(change.deposed.as_deref().unwrap_or_default());
        add(&action_tokens(change.action).join(" "));
    }
    hex(&hash.finalize())
}

/// Returns the digest of a file as `sha256sum` prints it.
pub fn file_digest(bytes: &[u8]) -> String {
    hex(&sha2::Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn mode(mode: PlanMode) -> &'static str {
    match mode {
        PlanMode::Normal => "normal",
        PlanMode::Destroy => "destroy",
        PlanMode::RefreshOnly => "refresh-only",
    }
}

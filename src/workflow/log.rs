//! `log`: what was done to a state, and what each run adds to that.

use std::path::Path;

use chrono::{DateTime, Utc};

use super::host::Host;
use super::state::OpenState;
use crate::backend::files;
use crate::backend::local::Choice;
use crate::backend::{LockState, Snapshot};
use crate::diagnostic::Diagnostics;
use crate::execute::Done;
use crate::operation::log::{self, Overridden, PlanNote, Run};
use crate::operation::session::Session;
use crate::plan::Plan;
use crate::policy::Report;
use crate::world::World;

/// Reads the log of the selected workspace, oldest run first. A run in progress that changes the state is the last one. Lines
/// that cannot be read are reported.
///
/// # Errors
///
/// If there is no place of states, or its log cannot be read at all.
pub fn runs(host: &Host<'_>, files: &Choice) -> Result<Vec<Run>, Diagnostics> {
    let opened = OpenState::open(host, files)?;
    // Looked at first: a run that ends in between is in the log.
    let state = opened.backend().lock_state();
    let (mut runs, problems) = log::read(opened.backend())?;
    host.tell.problems(problems);
    if let LockState::Held(holder) = state {
        host.tell.run_in_progress(holder.as_ref());
        let workspace = opened.backend().workspace();
        let running = holder.and_then(|it| Run::in_progress(&it, workspace));
        let is_logged = |it: &Run| runs.last().is_some_and(|last| it.is_same(last));
        let running = running.filter(|it| !is_logged(it));
        runs.extend(running);
    }
    Ok(runs)
}

/// What the log tells of a run besides what was done.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    overridden: Vec<Overridden>,
    file: Option<String>,
    file_sha256: Option<String>,
}

impl Origin {
    /// Returns the origin of a plan that was judged.
    pub(super) fn judged(report: Option<&Report>) -> Origin {
        let verdicts = report.into_iter().flat_map(|it| &it.verdicts);
        let overridden = verdicts.filter_map(|it| {
            Some(Overridden {
                rule: it.name.clone(),
                address: it.address.clone(),
                because: it.overridden.clone()?,
            })
        });
        Origin { overridden: overridden.collect(), ..Origin::default() }
    }

    /// Adds the file of a saved plan.
    pub(super) fn of_file(self, world: &World, path: &Path) -> Origin {
        let bytes = files::read(&world.root.join(path)).ok().flatten();
        Origin {
            file: Some(path.display().to_string()),
            file_sha256: bytes.map(|it| log::file_digest(&it)),
            ..self
        }
    }

    /// Returns the command line that goes on where a run has ended. A saved plan is spent: it is planned anew.
    pub(super) fn again(&self, session: &Session) -> Vec<String> {
        match self.file {
            Some(_) => vec!["apply".into()],
            None => command(session),
        }
    }

    /// Returns the record of a run, and of the plan that it has carried out.
    pub(super) fn record(
        &self,
        (session, snapshot): (&Session, &Snapshot),
        (plan, operation): (Option<&Plan>, &'static str),
        began: DateTime<Utc>,
        done: &Done,
    ) -> Run {
        let origin = log::Origin {
            operation,
            began,
            command: command(session),
            workspace: &session.workspace,
            plan: plan.map(|it| PlanNote {
                digest: log::digest(it),
                file: self.file.clone(),
                file_sha256: self.file_sha256.clone(),
            }),
            recovered: snapshot.recovered,
            overridden: self.overridden.clone(),
        };
        origin.record(&session.world, done)
    }
}

/// Returns the command line of this process. What nobody declares may be anything, secrets included.
pub(super) fn command(session: &Session) -> Vec<String> {
    let variables = &session.config.root().variables;
    let is_secret = |name: &str| variables.get(name).is_none_or(|it| it.sensitive || it.ephemeral);
    log::without_secrets(&session.world.given.command, is_secret)
}

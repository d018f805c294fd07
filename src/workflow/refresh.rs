//! `refresh`: looks at everything as a plan does, and records what was found. Nothing is asked, and nothing is carried out.

use super::apply::Applied;
use super::host::Host;
use super::judging::in_force;
use super::log::Origin;
use super::open::{lock, open_to_refresh, read_state, root_variables};
use super::options::ApplyOptions;
use super::plan::plan_and_warn;
use super::with_room;
use crate::address::{Instance, Mode};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::execute::Done;
use crate::operation::apply::nothing_to_keep;
use crate::operation::log;

/// Plans, and records the state that the changes would start from.
///
/// # Errors
///
/// If there is nothing that could be called a plan.
pub fn refresh(host: &Host<'_>, options: &ApplyOptions) -> Result<Applied, Diagnostics> {
    with_room(|runtime| runtime.block_on(refreshed(host, options)))?
}

async fn refreshed(host: &Host<'_>, options: &ApplyOptions) -> Result<Applied, Diagnostics> {
    let session = open_to_refresh(host, &options.state, &options.request).await?;
    let _lock = lock(host, &session.backend, options.state.lock, "OperationTypeRefresh")?;
    let snapshot = read_state(host, &session)?;
    let variables = root_variables(host, &session, &options.request)?;
    let state = snapshot.state.clone().unwrap_or_default();
    let run = in_force(&session, &options.policies, &options.request, &state, &variables)?;
    let is_managed = |it: &Instance| it.resource.mode == Mode::Managed;
    let nothing_exists = !state.instances().any(|it| is_managed(&it.0));
    let began = host.world.now();
    let planned = plan_and_warn(host, &session, &run.request, state, variables).await?;
    let state = planned.finished.plan.without_deferred().into_owned();
    let mut problems = planned.finished.problems;
    if nothing_exists {
        problems.0.insert(0, nothing_to_refresh());
    }
    if problems.has_errors() {
        host.tell.problems(problems);
        return Ok(Applied::Refused);
    }
    let mut done = Done { state, problems, ..Done::default() };
    match session.backend.write(&done.state) {
        Ok(stored) => {
            done.is_saved = true;
            done.written = Some(stored.serial).filter(|_| stored.is_written);
            done.problems.extend(session.backend.take_warnings());
        }
        Err(refused) => {
            done.problems.extend(refused.problems);
            done.problems.push(nothing_to_keep());
        }
    }
    let record = Origin::default().record((&session, &snapshot), (None, "refresh"), began, &done);
    done.problems.extend(log::append(&session.backend, &record).err());
    Ok(Applied::Done(Box::new(done)))
}

fn nothing_to_refresh() -> Diagnostic {
    Diagnostic::warning("Empty or non-existent state").detail(
        "No managed object is tracked in the state, so there is nothing to refresh. Data sources and outputs are recorded all the same.",
    )
}

//! `plan`: opens, locks, reads, plans, and saves the plan where asked.

use super::host::{Host, Schemas};
use super::judging::in_force;
use super::open::{lock, open_to_plan, read_state, root_variables, schemas};
use super::options::PlanOptions;
use super::with_room;
use crate::diagnostic::Diagnostics;
use crate::operation::plan::Planned;
use crate::operation::session::Session;
use crate::operation::variables::RootVariables;
use crate::operation::{generate, mocked, plan as operation, saved};
use crate::planner::Finished;
use crate::policy::Report;
use crate::policy::rules::RuleInfo;
use crate::request::Request;
use crate::state::State;
use tracing::Instrument;

/// A plan that was made and told.
pub struct Made {
    /// The plan and everything it rests on; its problems were told with it.
    pub finished: Finished,
    /// Whether configuration was written for objects that are imported.
    pub has_generated: bool,
    /// Whether a problem is an error.
    pub failed: bool,
    /// What its providers announce.
    pub schemas: Schemas,
    /// What policies say of it, and the rules that judged; nothing where none did.
    pub judged: Option<(Report, Vec<RuleInfo>)>,
    /// What is wrong with it, and with judging it.
    pub problems: Diagnostics,
}

/// Plans, tells the plan, and saves it where asked. Changes nothing else.
///
/// # Errors
///
/// If there is nothing that could be called a plan, or it cannot be saved. Problems of a plan that could be made in part
/// are told with it.
pub fn plan(host: &Host<'_>, options: &PlanOptions) -> Result<Made, Diagnostics> {
    with_room(|runtime| runtime.block_on(made(host, options)))?
}

async fn made(host: &Host<'_>, options: &PlanOptions) -> Result<Made, Diagnostics> {
    let request = &options.request;
    let mut session = open_to_plan(host, &options.state, request).await?;
    generate::declare(&mut session, request)?;
    if !options.mocks.is_empty() {
        session.mocks = std::sync::Arc::new(mocked::providers(&session, &options.mocks)?);
    }
    let _lock = lock(host, &session.backend, options.state.lock, "OperationTypePlan")?;
    let snapshot = read_state(host, &session)?;
    let variables = root_variables(host, &session, request)?;
    let state = snapshot.state.unwrap_or_default();
    let run = in_force(&session, &options.policies, request, &state, &variables)?;
    let planned = plan_and_warn(host, &session, &run.request, state, variables).await?;
    let mut problems = planned.finished.problems.clone();
    let judged = problems.take(run.judge(&session, &planned, &options.policies)).flatten();
    if let Some(path) = &options.out {
        let path = host.world.root.join(path);
        saved::save(&session, &planned, judged.as_ref(), &path, options.key.as_ref())?;
    }
    let plan = &planned.finished.plan;
    let has_generated = match request.generate_config_out.as_deref() {
        Some(path) => generate::write(host.world, plan, &host.world.root.join(path))?,
        None => false,
    };
    if has_generated {
        problems.push(generate::experimental());
    }
    let is_denied = judged.as_ref().is_some_and(|it| it.0.is_denied());
    let failed = problems.has_errors() || is_denied;
    let schemas = schemas(&planned.pool);
    host.tell.planned(plan, &schemas, problems.clone());
    if let Some((report, _)) = &judged {
        host.tell.judged(report);
        problems.extend(report.problems.iter().cloned());
    }
    let judged = judged.map(|(report, policies)| (report, policies.rules.clone()));
    Ok(Made { finished: planned.finished, has_generated, failed, schemas, judged, problems })
}

/// Plans; the warning that every filtered run carries comes first.
pub(super) async fn plan_and_warn(
    host: &Host<'_>,
    session: &Session,
    request: &Request,
    state: State,
    variables: RootVariables,
) -> Result<Planned, Diagnostics> {
    let filtered = !request.has_no_filters();
    let work = operation::plan(session, request, state, variables, host.tell);
    let work = work.instrument(tracing::info_span!("plan"));
    let result = host.unless_stopped(work).await;
    let complete = |mut problems: Diagnostics| {
        if filtered {
            problems.0.insert(0, operation::targeting());
        }
        problems.extend(session.warnings.iter().cloned());
        problems
    };
    match result {
        Ok(mut planned) => {
            planned.finished.problems = complete(planned.finished.problems);
            Ok(planned)
        }
        Err(problems) => Err(complete(problems)),
    }
}

//! Plans judged by policies: after they are made, before they are told, saved or carried out.

use entail_rules::Tables;

use super::host::Host;
use super::policy::Look;
use crate::datalog::Limits;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::Silence;
use crate::operation::plan::{self as operation, Planned};
use crate::operation::policies::{self, PolicyChoice};
use crate::operation::session::Session;
use crate::planner::Finished;
use crate::policy::model::{Model, Planned as PlannedModel};
use crate::policy::verdict::Overruling;
use crate::policy::{Policies, Report, judge, waivers};
use crate::request::Request;
use crate::state::State;

/// What a run is judged by.
#[derive(Clone, Debug, Default)]
pub struct PolicyOptions {
    /// Which policies.
    pub choice: PolicyChoice,
    /// Denials that are overruled.
    pub overruled: Vec<Overruling>,
    /// What the rules may take.
    pub limits: Limits,
}

/// Judges a plan. Nothing where there are no policies, or where the plan could not be made.
///
/// # Errors
///
/// If a policy is faulty, cannot be read, or takes too much: such a policy never passes a plan.
pub(super) fn judged(
    host: &Host<'_>,
    session: &Session,
    planned: &Planned,
    options: &PolicyOptions,
) -> Result<Option<(Report, Policies)>, Diagnostics> {
    let finished = &planned.finished;
    if finished.problems.has_errors() {
        return Ok(None);
    }
    let found = policies::find(session, &options.choice)?;
    if found.is_empty() {
        return Ok(None);
    }
    let (policies, faults) = Policies::read(found, host.sources);
    if faults.has_errors() {
        return Err(faults);
    }
    let (model, tables) = (model_of(session, planned, &policies), tables(finished));
    let (waivers, problems) = waivers::find(host.sources);
    if problems.has_errors() {
        return Err(problems);
    }
    let judged = judge(&policies, &model, &tables, &waivers, &options.limits)?;
    let mut report = judged.report;
    report.overrule(&options.overruled);
    Ok(Some((report, policies)))
}

/// Plans from a state in a session, judges the plan, and shows what came of it. Returns the problems of planning.
///
/// # Errors
///
/// If no plan can be made, or the policies take too much.
pub(super) async fn judge_plan(
    session: &Session,
    policies: &Policies,
    (request, state): (&Request, State),
    limits: &Limits,
    look: Look<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let (inputs, _, problems) = session.given_variables(request);
    if problems.has_errors() {
        return Err(problems);
    }
    let variables = session.variables(&inputs)?;
    let planned = operation::plan(session, request, state, variables, &Silence).await?;
    let problems = planned.finished.problems.clone();
    if problems.has_errors() {
        return Err(problems);
    }
    let (waivers, faults) = waivers::find(&session.sources);
    if faults.has_errors() {
        return Err(faults);
    }
    let model = model_of(session, &planned, policies);
    let tables = tables(&planned.finished);
    let by = |policies: &Policies| judge(policies, &model, &tables, &waivers, limits);
    look(&model, by(policies)?, &by);
    Ok(Diagnostics::new())
}

/// A plan as policies see it.
pub(super) fn model_of<'a>(
    session: &'a Session,
    planned: &'a Planned,
    policies: &Policies,
) -> Model<'a> {
    let finished = &planned.finished;
    Model {
        config: &session.config,
        structure: &finished.structure,
        sources: &session.sources,
        world: &session.world,
        workspace: &session.workspace,
        variables: &planned.variables.values,
        places: &finished.places,
        plan: Some(PlannedModel::new(&finished.plan, &finished.structure)),
        values: policies.values().clone(),
        memo: Default::default(),
    }
}

/// What was told and concluded of a plan.
fn tables(finished: &Finished) -> [&dyn Tables; 7] {
    [
        &finished.facts,
        &finished.instances,
        &finished.selection,
        &finished.decisions,
        &finished.outputs,
        &finished.violations,
        &finished.order,
    ]
}

/// The plan was saved though policies deny it.
pub(super) fn denied_plan(denials: u64) -> Diagnostic {
    Diagnostic::error("Cannot apply a plan that policies deny").detail(format!(
        "Policies denied this plan when it was made, {denials} times, so that it cannot be applied. Mend what they found, or overrule them with -override=RULE -because=REASON, and plan again."
    ))
}

//! Plans judged by policies: after they are made, before they are told, saved or carried out.

use entail_rules::Tables;

use super::host::Host;
use crate::datalog::Limits;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::operation::plan::Planned;
use crate::operation::policies::{self, PolicyChoice};
use crate::operation::session::Session;
use crate::policy::model::{Model, Planned as PlannedModel};
use crate::policy::verdict::Overruling;
use crate::policy::{Policies, Report, judge, waivers};

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
    let model = Model {
        config: &session.config,
        structure: &finished.structure,
        sources: host.sources,
        world: &session.world,
        workspace: &session.workspace,
        variables: &planned.variables.values,
        places: &finished.places,
        plan: Some(PlannedModel::new(&finished.plan, &finished.structure)),
        values: policies.values().clone(),
        memo: Default::default(),
    };
    let tables: [&dyn Tables; 7] = [
        &finished.facts,
        &finished.instances,
        &finished.selection,
        &finished.decisions,
        &finished.outputs,
        &finished.violations,
        &finished.order,
    ];
    let (waivers, problems) = waivers::find(host.sources);
    if problems.has_errors() {
        return Err(problems);
    }
    let judged = judge(&policies, &model, &tables, &waivers, &options.limits)?;
    let mut report = judged.report;
    report.overrule(&options.overruled);
    Ok(Some((report, policies)))
}

/// The plan was saved though policies deny it.
pub(super) fn denied_plan(denials: u64) -> Diagnostic {
    Diagnostic::error("Cannot apply a plan that policies deny").detail(format!(
        "Policies denied this plan when it was made, {denials} times, so that it cannot be applied. Mend what they found, or overrule them with -override=RULE -because=REASON, and plan again."
    ))
}

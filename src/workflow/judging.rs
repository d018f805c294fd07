//! Plans shaped by policies before they are made, and judged before they are told, saved or carried out.

use std::collections::BTreeMap;

use entail_rules::{Conclusions, Tables};

use super::policy::Look;
use crate::config::inputs::RootVariables;
use crate::datalog::Limits;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::Silence;
use crate::lower::ReadPlaces;
use crate::operation::models::{self, Basis};
use crate::operation::plan::{self as operation, Planned};
use crate::operation::policies::{self, PolicyChoice};
use crate::operation::saved::Loaded;
use crate::operation::session::Session;
use crate::planner::Finished;
use crate::policy::model::Model;
use crate::policy::rules::Level;
use crate::policy::shaping::{Asked, shape};
use crate::policy::verdict::Overruling;
use crate::policy::watch::Watch;
use crate::policy::{Policies, Report, Verdict, judge, waivers};
use crate::request::Request;
use crate::state::State;
use crate::value::{Str, Value};

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

/// The policies of a run: what they ask of it, and what they will judge.
pub(super) struct InForce {
    /// The policies; nothing where there are none.
    pub(super) policies: Option<Policies>,
    /// The request, with what the policies ask for.
    pub(super) request: Request,
    pub(super) asked: Vec<Asked>,
    problems: Diagnostics,
}

/// Reads the policies that are in force, and adds to a request what they ask for.
///
/// # Errors
///
/// If a policy is faulty, cannot be read, or takes too much, or what it asks for rests on what is not known yet.
pub(super) fn in_force(
    session: &Session,
    options: &PolicyOptions,
    request: &Request,
    state: &State,
    variables: &RootVariables,
) -> Result<InForce, Diagnostics> {
    let mut run = InForce {
        policies: None,
        request: request.clone(),
        asked: Vec::new(),
        problems: Diagnostics::new(),
    };
    let found = policies::find(session, &options.choice)?;
    if found.is_empty() {
        return Ok(run);
    }
    let (policies, faults) = Policies::read(found, &session.sources);
    if faults.has_errors() {
        return Err(faults);
    }
    for it in &options.overruled {
        policies.rules_of_name(&it.rule)?;
    }
    let shaped = shaped(session, &policies, (request, state, variables), &options.limits)?;
    (run.request, run.asked, run.problems) = shaped;
    run.problems.extend(faults);
    run.policies = Some(policies);
    // They ask where what they are told stands.
    run.request.only_shown = false;
    Ok(run)
}

/// Returns a request with what policies ask for, what that is, and warnings.
pub(super) fn shaped(
    session: &Session,
    policies: &Policies,
    (request, state, variables): (&Request, &State, &RootVariables),
    limits: &Limits,
) -> Result<(Request, Vec<Asked>, Diagnostics), Diagnostics> {
    let mut shaped = request.clone();
    if !policies.shape() {
        return Ok((shaped, Vec::new(), Diagnostics::new()));
    }
    let (known, state) = operation::known_before(session, request, state.clone(), variables)?;
    let lowered = &known.lowered;
    let model = Model {
        state: Some(&state),
        values: policies.values().clone(),
        ..models::of_lowered(session, lowered, &variables.values)
    };
    let tables: [&dyn Tables; 2] = [&lowered.facts, &known.providers];
    let (asked, problems) = shape(policies, &model, &tables, limits, &mut shaped)?;
    Ok((shaped, asked, problems))
}

/// A plan as policies see it, and what was told and concluded of it.
pub(super) struct Seen<'a> {
    model: Model<'a>,
    tables: Vec<&'a dyn Tables>,
}

impl<'a> Seen<'a> {
    /// Returns who judges, while a plan is carried out, what was only possible when it was made; nobody where nothing was.
    pub(super) fn watch<'s>(
        &'s self,
        (report, policies): (&Report, &'s Policies),
        options: &'s PolicyOptions,
        tell: &'s (dyn Fn(&Verdict) + Sync),
    ) -> Option<Watch<'s>> {
        let plan = (&self.model, &self.tables[..]);
        let asked = (&options.overruled[..], &options.limits);
        Watch::of(policies, plan, report, asked, tell)
    }
}

/// Policies of a saved plan, with what they conclude and what was overruled when it was made.
pub(super) struct Kept {
    policies: Policies,
    conclusions: Conclusions,
    options: PolicyOptions,
    places: ReadPlaces,
}

impl Kept {
    /// Reads the policies of a saved plan; nothing where it has none.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub(super) fn of(
        loaded: &Loaded,
        session: &Session,
        limits: &Limits,
    ) -> Result<Option<Kept>, Diagnostics> {
        let found = loaded.policies()?;
        if found.is_empty() || !loaded.has_possible_denials() {
            return Ok(None);
        }
        let (policies, faults) = Policies::read(found, &session.sources);
        if faults.has_errors() {
            return Err(faults);
        }
        let overruled = loaded.overruled();
        Ok(Some(Kept {
            policies,
            conclusions: session.engine().conclude_all(&loaded.facts),
            options: PolicyOptions {
                overruled,
                limits: limits.clone(),
                ..PolicyOptions::default()
            },
            places: loaded.spans(&session.sources),
        }))
    }

    /// Returns a saved plan as its policies see it.
    pub(super) fn see<'a>(
        &'a self,
        loaded: &'a Loaded,
        session: &'a Session,
        variables: &'a BTreeMap<Str, Value>,
    ) -> Seen<'a> {
        let basis = Basis {
            config: &session.config,
            sources: &session.sources,
            world: &session.world,
            variables,
            places: &self.places,
        };
        let values = self.policies.values().clone();
        let model = Model { values, ..models::of_saved(loaded, &basis) };
        let concluded = self.conclusions.tables().into_iter();
        Seen {
            model,
            tables: std::iter::once(&*loaded.facts as &dyn Tables).chain(concluded).collect(),
        }
    }

    /// Returns who judges what was only possible when the plan was made.
    ///
    /// # Errors
    ///
    /// If the policies take too much.
    pub(super) fn watch<'s>(
        &'s self,
        seen: &'s Seen<'_>,
        tell: &'s (dyn Fn(&Verdict) + Sync),
    ) -> Result<Option<Watch<'s>>, Diagnostics> {
        let (waivers, _) = waivers::find(seen.model.sources);
        let judged =
            judge(&self.policies, &seen.model, &seen.tables, &waivers, &self.options.limits)?;
        let mut report = judged.report;
        report.overrule(&self.options.overruled);
        Ok(seen.watch((&report, &self.policies), &self.options, tell))
    }
}

impl InForce {
    /// Returns a plan as its policies see it; nothing where there are none.
    pub(super) fn see<'a>(
        &'a self,
        session: &'a Session,
        planned: &'a Planned,
    ) -> Option<Seen<'a>> {
        let policies = self.policies.as_ref()?;
        let tables = tables(&planned.finished).to_vec();
        Some(Seen { model: model_of(session, planned, policies), tables })
    }

    /// Judges a plan. Nothing where there are no policies, or where the plan could not be made.
    ///
    /// # Errors
    ///
    /// If the policies take too much, or a waiver is faulty.
    pub(super) fn judge(
        &self,
        session: &Session,
        planned: &Planned,
        options: &PolicyOptions,
    ) -> Result<Option<(Report, &Policies)>, Diagnostics> {
        let finished = &planned.finished;
        let Some(policies) = self.policies.as_ref().filter(|_| !finished.problems.has_errors())
        else {
            return Ok(None);
        };
        let (model, tables) = (model_of(session, planned, policies), tables(finished));
        let waivers = waivers::written(&session.sources)?;
        let mut report = judge(policies, &model, &tables, &waivers, &options.limits)?.report;
        report.overrule(&options.overruled);
        report.asked = self.asked.clone();
        report.problems.extend(self.problems.iter().cloned());
        Ok(Some((report, policies)))
    }
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
    let given = (request, &state, &variables);
    let (request, _, _) = shaped(session, policies, given, limits)?;
    let planned = operation::plan(session, &request, state, variables, &Silence).await?;
    let problems = planned.finished.problems.clone();
    if problems.has_errors() {
        return Err(problems);
    }
    let waivers = waivers::written(&session.sources)?;
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
    Model { values: policies.values().clone(), ..models::of_planned(session, planned) }
}

/// What was told and concluded of a plan.
fn tables(finished: &Finished) -> [&dyn Tables; 8] {
    [
        &finished.facts,
        &finished.providers,
        &finished.instances,
        &finished.selection,
        &finished.decisions,
        &finished.outputs,
        &finished.violations,
        finished.order(),
    ]
}

/// The plan was saved though policies deny it.
pub(super) fn denied_plan(report: &Report) -> Diagnostic {
    let denials = report.verdicts.iter().filter(|it| it.level == Level::Deny && it.is_certain);
    let denials: Vec<String> = denials
        .filter(|it| it.counts())
        .map(|it| {
            let at = if it.address.is_empty() { "" } else { " on " };
            format!("  {}{at}{}: {}", it.name, it.address, it.message)
        })
        .collect();
    let shown = denials.iter().take(MOST_DENIALS).cloned().collect::<Vec<_>>().join("\n");
    let more = match denials.len().saturating_sub(MOST_DENIALS) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    Diagnostic::error("Cannot apply a plan that policies deny").detail(format!(
        "Policies denied this plan when it was made, so that it cannot be applied:\n{shown}{more}\n\nMend what they found, or overrule them with -override=RULE -because=REASON, and plan again."
    ))
}

/// How many denials of a plan are named where it is refused.
const MOST_DENIALS: usize = 10;

//! One run: prepared, planned, carried out where it is to be, and judged.

use std::collections::BTreeMap;

use super::expected::Expected;
use super::prepared::{Prepared, prepare};
use super::scope::{self, Outcome, TestScope};
use super::suite::Suite;
use super::variables::{Given, RunOutputs};
use super::{
    RunOutcome, Shown, Status, assertions, denied, expected, explained, overriding, snapshots,
};
use crate::address::Instance;
use crate::config::Config;
use crate::config::inputs::RootVariables;
use crate::config::testing::{Command, TestFile, TestRun, targeted};
use crate::diagnostic::{Diagnostic, Diagnostics, Sort};
use crate::event::{Event, Sink};
use crate::execute::Stop;
use crate::observe::pool::Pool;
use crate::operation::apply::{Approved, Conduct, apply_in_memory};
use crate::operation::plan::{Planned, plan};
use crate::operation::session::Session;
use crate::plan::Action;
use crate::request::{PlanMode, Replacement, Request, Selector};
use crate::state::State;
use crate::value::{Str, Value};

/// One run, and what surrounds it.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// All tests.
    pub suite: &'a Suite,
    /// The file.
    pub file: &'a TestFile,
    /// The run.
    pub run: &'a TestRun,
    /// The module that runs.
    pub config: &'a Config,
    /// The outputs of earlier runs.
    pub runs: &'a RunOutputs,
    /// The wish to stop what is carried out.
    pub stop: &'a Stop,
    /// Where it is told what is about to be made, for those who end it early.
    pub making: &'a parking_lot::Mutex<Vec<Instance>>,
}

/// What a run leaves to those after it.
pub struct Kept {
    /// The state.
    pub state: State,
    /// What it was made with, for the end.
    pub session: Session,
    /// The module's variables.
    pub variables: RootVariables,
    /// What its configuration was warned of.
    pub warnings: Diagnostics,
}

/// What came of a run, and what it leaves.
#[derive(Default)]
pub struct Done {
    /// How it went.
    pub outcome: RunOutcome,
    /// What it leaves, where it has changed its state.
    pub kept: Option<Kept>,
    /// The outputs that it has planned.
    pub planned: Option<BTreeMap<Str, Value>>,
}

/// Listens to nothing: tests tell of their runs when these are over.
pub struct Silent;

impl Sink for Silent {
    fn event(&self, _: Event) {}
}

impl Task<'_> {
    /// Carries the run out from a state.
    pub async fn execute(&self, state: State) -> Done {
        let mut done = Done::default();
        let mut told = Diagnostics::new();
        let status = match self.attempt(state, &mut done, &mut told).await {
            Ok(status) => status,
            Err(found) => {
                told.extend(found);
                Status::Error
            }
        };
        done.outcome.name = self.run.name.text.to_string();
        done.outcome.status = status;
        done.outcome.problems = told;
        done
    }

    async fn attempt(
        &self,
        state: State,
        done: &mut Done,
        told: &mut Diagnostics,
    ) -> Result<Status, Diagnostics> {
        for overrides in [&self.file.overrides, &self.run.overrides] {
            errors_of(overriding::check(overrides))?;
        }
        errors_of(expected::check(self.run))?;
        let (suite, file, run) = (self.suite, self.file, self.run);
        let given = Given { suite, file, run, config: self.config, runs: self.runs };
        let variables = given.variables()?;
        let scope = given.scope(&variables);
        let prepared = prepare(self.config, (file, run), &scope, suite.manner)?;
        let Prepared { config, mocks, warnings } = prepared;
        told.extend(warnings.clone());
        let place = (suite.world.clone(), suite.sources.clone());
        let workspace = suite.workspace.clone();
        let sources = suite.provider_sources.clone();
        let (session, named) = Session::of_test(place, workspace, config, sources, mocks)?;
        if named.has_errors() {
            return Err(self.all_problems(&session, named).await);
        }
        told.extend(named);
        let request = self.request()?;
        let planned = plan(&session, &request, state, variables, &Silent).await;
        let planned = planned.map_err(|found| with_targeting(&request, found))?;
        let mut found = with_targeting(&request, planned.finished.problems.clone());
        if let Some(judge) = suite.judge.as_ref().filter(|_| !run.expect_denied.is_empty()) {
            let denied = judge.judge(&session, &request, &planned)?;
            found.extend(denied::denials(run, &denied));
        }
        let judged = match run.command {
            Command::Plan => {
                let found = Expected::of(run).judge(found);
                let failed = found.has_errors();
                told.extend(found);
                if failed {
                    Status::Error
                } else {
                    self.judge_plan(&session, &planned, done, told)?
                }
            }
            Command::Apply => {
                let status = self.apply(session, (planned, &request), found, (done, told)).await;
                if let Some(kept) = &mut done.kept {
                    kept.warnings = warnings;
                }
                return status;
            }
        };
        planned.pool.give_back(&session.provider_sources);
        Ok(judged)
    }

    /// Returns what is wrong with names, and with the arguments of blocks.
    async fn all_problems(&self, session: &Session, named: Diagnostics) -> Diagnostics {
        let needed = session.needed_providers(&State::default());
        let (mut pool, mut found) = Pool::start(&session.provider_sources, needed).await;
        if !found.has_errors() {
            pool.mocks = session.mocks.clone();
            found.extend(crate::operation::validate::check(session, &pool, &named).await);
        }
        found.extend(named);
        pool.give_back(&session.provider_sources);
        found.once()
    }

    /// Returns what is asked of the plan.
    fn request(&self) -> Result<Request, Diagnostics> {
        let options = &self.run.options;
        let mut found = Diagnostics::new();
        let mut targets = Vec::new();
        for written in &options.target {
            if let Some(target) = found.take(targeted(written)) {
                let text = target.to_string();
                let origin = format!("target = [{text}]");
                targets.push(Selector { target, text, origin, is_of_policy: false });
            }
        }
        let replaced = found.take(options.replaced()).unwrap_or_default();
        let replaces = replaced.into_iter().map(|instance| {
            let origin = format!("replace = [{instance}]");
            Replacement { instance, origin }
        });
        errors_of(found)?;
        let mode = if options.refresh_only { PlanMode::RefreshOnly } else { PlanMode::Normal };
        Ok(Request {
            mode,
            skip_refresh: options.skip_refresh,
            targets,
            replaces: replaces.collect(),
            carried_out: self.run.command == Command::Apply,
            ..self.suite.request.clone()
        })
    }

    fn judge_plan(
        &self,
        session: &Session,
        planned: &Planned,
        done: &mut Done,
        told: &mut Diagnostics,
    ) -> Result<Status, Diagnostics> {
        let outcome = Outcome {
            session,
            finished: &planned.finished,
            pool: &planned.pool,
            variables: &planned.variables.values,
            applied: None,
        };
        done.planned = Some(scope::outputs(&planned.finished, None));
        self.judge(&outcome, planned, (done, told))
    }

    /// Evaluates assertions, and shows what is to be shown.
    fn judge(
        &self,
        outcome: &Outcome<'_>,
        planned: &Planned,
        (done, told): (&mut Done, &mut Diagnostics),
    ) -> Result<Status, Diagnostics> {
        let (suite, file, run) = (self.suite, self.file, self.run);
        let given = Given { suite, file, run, config: self.config, runs: self.runs };
        let variables = given.for_assertions();
        if suite.verbose {
            match Shown::of(outcome) {
                Ok(shown) => done.outcome.shown = Some(shown),
                Err(why) => told.push(why),
            }
        }
        let values = scope::values(outcome);
        if let Some(coverage) = &suite.coverage {
            coverage.record(run, &values);
        }
        let outputs = scope::outputs(outcome.finished, outcome.applied);
        let runs = suite.manner.runs_in_assertions.then_some(self.runs);
        let scope = TestScope::new(&values, outputs, variables, runs);
        let place = (&outcome.session.config, outcome.pool);
        let (status, mut found) = assertions::judge(&run.asserts, &scope, place);
        if suite.explains && found.has_errors() {
            explained::explain(run, outcome.session, planned, &mut found);
        }
        told.extend(found);
        let (differs, found) = snapshots::compare(suite, (file, run), &scope);
        let snapped = match (differs, found.has_errors()) {
            (true, _) => Status::Fail,
            (false, true) => Status::Error,
            (false, false) => Status::Pass,
        };
        told.extend(found);
        Ok(status.max(snapped))
    }

    async fn apply(
        &self,
        session: Session,
        (planned, request): (Planned, &Request),
        mut found: Diagnostics,
        (done, told): (&mut Done, &mut Diagnostics),
    ) -> Result<Status, Diagnostics> {
        let expected = Expected::of(self.run);
        expected.warn_of_variables(&mut found);
        let failed = found.has_errors();
        if !failed {
            // The apply tells of checks again, or has mended what they found.
            found.0.retain(|it| it.sort != Sort::CheckBlock && !is_of_check(it));
        }
        told.extend(found);
        if failed {
            return Ok(Status::Error);
        }
        *self.making.lock() = created(&planned);
        let approved = Approved::of(&planned)?;
        let conduct = Conduct {
            parallelism: request.parallelism.max(1),
            sink: &Silent,
            stop: self.stop,
            watch: None,
        };
        let mut applied = apply_in_memory(&session, &planned.pool, &approved, conduct).await;
        self.making.lock().clear();
        let mut found = std::mem::take(&mut applied.problems).once();
        if !request.targets.is_empty() {
            found.0.insert(0, incomplete());
        }
        let found = expected.judge(found);
        let failed = found.has_errors() || applied.stopped;
        told.extend(found);
        let status = match failed {
            true => Status::Error,
            false => {
                let outcome = Outcome {
                    session: &session,
                    finished: &planned.finished,
                    pool: &planned.pool,
                    variables: &planned.variables.values,
                    applied: Some(&applied.state),
                };
                self.judge(&outcome, &planned, (done, told))?
            }
        };
        planned.pool.give_back(&session.provider_sources);
        let variables = planned.variables;
        let warnings = Diagnostics::new();
        done.kept = Some(Kept { state: applied.state, session, variables, warnings });
        Ok(status)
    }
}

/// Returns what a plan makes, in the order in which it was planned.
fn created(planned: &Planned) -> Vec<Instance> {
    let finished = &planned.finished;
    let changes = finished.plan.changes.iter().filter(|it| it.action == Action::Create);
    let mut open: Vec<&Instance> = changes.map(|it| &it.address).collect();
    let mut found = Vec::new();
    for (node, _) in &finished.endings {
        let Some(address) = finished.structure.instance(*node) else { continue };
        if let Some(at) = open.iter().position(|it| **it == address) {
            found.push(open.remove(at).clone());
        }
    }
    found.extend(open.into_iter().cloned());
    found
}

fn errors_of(found: Diagnostics) -> Result<(), Diagnostics> {
    if found.has_errors() { Err(found) } else { Ok(()) }
}

fn is_of_check(it: &Diagnostic) -> bool {
    let object = it.condition.as_ref().map_or("", |it| &*it.object);
    object.starts_with("check.") || object.contains(".check.")
}

fn with_targeting(request: &Request, mut found: Diagnostics) -> Diagnostics {
    found.0.retain(|it| it.sort != Sort::Unmatched);
    if !request.has_no_filters() {
        found.0.insert(0, crate::operation::plan::targeting());
    }
    found
}

fn incomplete() -> Diagnostic {
    crate::operation::apply::incomplete()
}

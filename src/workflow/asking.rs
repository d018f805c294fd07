//! What rules are asked about: a plan that is made for it, a saved plan, a state alone, a configuration alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail_rules::{Facts, Tables};

use super::host::Host;
use super::judging::{model_of, shaped};
use super::open::{open_to_plan, read_state_to_answer, report_run_in_progress, root_variables};
use super::options::PlanOptions;
use super::policy::structure;
use super::{show, with_room};
use crate::backend::local::Choice;
use crate::datalog::Limits;
use crate::diagnostic::{Diagnostics, Sources};
use crate::event::Silence;
use crate::operation::explain::ExplainContext;
use crate::operation::models::{self, Basis};
use crate::operation::plan as operation;
use crate::operation::policies::{self, PolicyChoice};
use crate::operation::saved::{self, Loaded, Written};
use crate::operation::session::{Session, open_backend};
use crate::operation::state_commands::no_state;
use crate::plan::Plan;
use crate::planner::Structured;
use crate::policy::model::{Memo, Model, Planned as PlannedModel};
use crate::policy::query::{Scope, Subject};
use crate::policy::verdict::Overruling;
use crate::policy::{Policies, PolicySource, waivers};
use crate::request::{PlanMode, Request};
use crate::state::State;
use crate::value::{Str, Value};
use crate::world::{Files, World};

/// What rules are asked about.
#[derive(Clone, Debug)]
pub enum AskedOf {
    /// A plan that is made for it.
    Plan(Box<PlanOptions>),
    /// A saved plan. It needs no provider and no configuration.
    Saved(PathBuf),
    /// A state alone: the current one, or the one in a file. Nothing will be done with what it holds.
    State(Option<PathBuf>),
    /// The configuration alone, with these variables: no init, no provider, no state.
    Configuration(Box<Request>),
}

impl Default for AskedOf {
    fn default() -> AskedOf {
        AskedOf::Plan(Box::default())
    }
}

/// A question about rules and what they look at.
pub(super) trait Question: Send {
    /// Takes the policies in force, before anything is planned: what is wrong with the question is said here.
    fn prepare(&mut self, policies: &Policies) -> Result<(), Diagnostics>;

    /// Finds the answer.
    fn ask(&mut self, asked: &Asked<'_>) -> Result<(), Diagnostics>;
}

/// What a question sees.
pub(super) struct Asked<'a> {
    /// The policies in force.
    pub policies: &'a Policies,
    /// What they are about.
    pub subject: Subject<'a>,
    /// The denials that were overruled when a saved plan was made.
    pub overruled: &'a [Overruling],
    /// Makes what the planner's own decisions are explained from.
    pub context: &'a dyn Fn() -> Result<ExplainContext, Diagnostics>,
}

/// Asks a question. Changes nothing. Returns warnings met on the way.
///
/// # Errors
///
/// If a policy is faulty, if there is nothing that could be asked, or if the question is wrong.
pub(super) fn ask(
    host: &Host<'_>,
    of: &AskedOf,
    (choice, limits): (&PolicyChoice, &Limits),
    question: &mut dyn Question,
) -> Result<Diagnostics, Diagnostics> {
    with_room(|runtime| match of {
        AskedOf::Plan(options) => {
            runtime.block_on(Asking { host, choice, limits, question }.plan(options))
        }
        AskedOf::Saved(path) => Asking { host, choice, limits, question }.saved(path),
        AskedOf::State(file) => Asking { host, choice, limits, question }.state(file.as_deref()),
        AskedOf::Configuration(request) => {
            Asking { host, choice, limits, question }.configuration(request)
        }
    })?
}

struct Asking<'a> {
    host: &'a Host<'a>,
    choice: &'a PolicyChoice,
    limits: &'a Limits,
    question: &'a mut dyn Question,
}

impl Asking<'_> {
    /// Reads policies, and prepares the question. A faulty policy could take rows away, so that nothing is answered.
    fn read(&mut self, found: Vec<PolicySource>) -> Result<(Policies, Diagnostics), Diagnostics> {
        let (policies, faults) = Policies::read(found, self.host.sources);
        if faults.has_errors() {
            return Err(faults);
        }
        self.question.prepare(&policies)?;
        Ok((policies, faults))
    }

    async fn plan(mut self, options: &PlanOptions) -> Result<Diagnostics, Diagnostics> {
        let host = self.host;
        let session = open_to_plan(host, &options.state, &options.request).await?;
        let (policies, warnings) = self.read(policies::find(&session, self.choice)?)?;
        let state =
            read_state_to_answer(host, &session, options.state.lock)?.state.unwrap_or_default();
        let variables = root_variables(host, &session, &options.request)?;
        let given = (&options.request, &state, &variables);
        let (request, _, _) = shaped(&session, &policies, given, self.limits)?;
        let planned = operation::plan(&session, &request, state, variables, &Silence).await?;
        let finished = &planned.finished;
        if finished.problems.has_errors() {
            return Err(finished.problems.clone());
        }
        let conclusions = session.engine().conclude_all(&finished.facts);
        self.question.ask(&Asked {
            policies: &policies,
            subject: Subject {
                model: &model_of(&session, &planned, &policies),
                tables: &beside(&finished.facts, conclusions.tables()),
                waivers: &waivers::written(host.sources)?,
                scope: Scope::Plan,
            },
            overruled: &[],
            context: &|| Ok(ExplainContext::of_planned(&session, finished)),
        })?;
        Ok(warnings)
    }

    fn saved(mut self, path: &Path) -> Result<Diagnostics, Diagnostics> {
        let (world, sources) = (self.host.world, self.host.sources);
        let mut loaded = saved::load(world, sources, &world.root.join(path))?;
        let mut found = loaded.policies()?;
        if self.choice.none {
            found.retain(|it| it.is_required);
        }
        found.extend(policies::named(world, sources, &self.choice.named)?);
        let (policies, warnings) = self.read(found)?;
        see_saved(world, sources, &mut loaded, |loaded, model, tables| {
            self.question.ask(&Asked {
                policies: &policies,
                subject: Subject {
                    model: &Model { values: policies.values().clone(), ..model },
                    tables,
                    waivers: &waivers::written(sources)?,
                    scope: Scope::Plan,
                },
                overruled: &loaded.overruled(),
                context: &|| Ok(ExplainContext::of_saved(world, loaded)?),
            })
        })?;
        Ok(warnings)
    }

    fn state(mut self, file: Option<&Path>) -> Result<Diagnostics, Diagnostics> {
        let host = self.host;
        if file.is_none() {
            report_run_in_progress(
                host,
                &open_backend(host.world, host.sources, &Choice::default())?,
            );
        }
        let state = show::recorded(host, file)?.ok_or_else(no_state)?;
        // There need not be a configuration, and what there is says nothing of the state.
        let files = Files::of_texts(&host.world.root, []);
        let empty = Arc::new(World { files, ..(**host.world).clone() });
        let (mut session, _) = Session::open_in_place(empty, host.sources.clone())?;
        session.world = host.world.clone();
        let (policies, warnings) = self.read(policies::find(&session, self.choice)?)?;
        let variables = session.variables_or_unknown(&BTreeMap::new())?;
        let known = operation::whatif(&session, &Request::default(), state.clone(), &variables)?;
        let plan = unchanged(state, &session);
        let plan = PlannedModel::new(&plan, &known.lowered.structure, None);
        self.of_known(&session, &policies, (&known, &variables.values), Some(plan))?;
        Ok(warnings)
    }

    fn configuration(mut self, request: &Request) -> Result<Diagnostics, Diagnostics> {
        let host = self.host;
        let (session, mut warnings) =
            Session::open_in_place(host.world.clone(), host.sources.clone())?;
        if warnings.has_errors() {
            return Err(warnings);
        }
        let (policies, faults) = self.read(policies::find(&session, self.choice)?)?;
        warnings.extend(faults);
        let (inputs, _, problems) = session.given_variables(request);
        if problems.has_errors() {
            return Err(problems);
        }
        warnings.extend(problems);
        let variables = session.variables_or_unknown(&inputs)?;
        let known = structure(&session, request, &variables)?;
        self.of_known(&session, &policies, (&known, &variables.values), None)?;
        Ok(warnings)
    }

    /// Asks of what is known before any provider is asked.
    fn of_known(
        &mut self,
        session: &Session,
        policies: &Policies,
        (known, variables): (&Structured, &BTreeMap<Str, Value>),
        plan: Option<PlannedModel<'_>>,
    ) -> Result<(), Diagnostics> {
        let lowered = &known.lowered;
        let scope = if plan.is_some() { Scope::State } else { Scope::Configuration };
        self.question.ask(&Asked {
            policies,
            subject: Subject {
                model: &Model {
                    state: plan.as_ref().map(|it| &it.plan.previous_state),
                    plan,
                    values: policies.values().clone(),
                    memo: Memo::around(&session.graph),
                    ..models::of_lowered(session, lowered, variables)
                },
                tables: &beside(&lowered.facts, vec![&known.providers]),
                waivers: &waivers::written(&session.sources)?,
                scope,
            },
            overruled: &[],
            context: &|| Ok(ExplainContext::of_lowered(session, lowered)),
        })
    }
}

/// Facts, and what was concluded from them.
fn beside<'a>(facts: &'a Facts, mut concluded: Vec<&'a dyn Tables>) -> Vec<&'a dyn Tables> {
    concluded.insert(0, facts);
    concluded
}

/// Shows what rules see of a saved plan: its nodes, and what was told and concluded of them.
pub(super) fn see_saved<T>(
    world: &Arc<World>,
    sources: &Sources,
    loaded: &mut Loaded,
    see: impl FnOnce(&Loaded, Model<'_>, &[&dyn Tables]) -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    let Written { config, places, variables } = &loaded.written(world, sources)?;
    let basis = Basis { config, sources, world, variables, places };
    let conclusions = crate::reason::named(world)?.conclude_all(&loaded.facts);
    let tables = beside(&loaded.facts, conclusions.tables());
    see(loaded, models::of_saved(loaded, &basis), &tables)
}

/// The plan that does nothing with a state.
pub(super) fn unchanged(state: State, session: &Session) -> Plan {
    Plan {
        mode: PlanMode::default(),
        errored: false,
        changes: Default::default(),
        drift: Default::default(),
        outputs: BTreeMap::new(),
        prior_state: state.clone(),
        previous_state: state,
        variables: BTreeMap::new(),
        given_variables: BTreeMap::new(),
        targets: Vec::new(),
        excludes: Vec::new(),
        replaces: Vec::new(),
        timestamp: session.world.now(),
        left_out: Vec::new(),
        not_looked_at: Default::default(),
        checks: Vec::new(),
        relevant_attributes: Vec::new(),
        workspace: session.workspace.clone(),
    }
}

//! `plan`: asks what is to be done, and changes nothing.

use std::path::Path;

use entail_rules::order::Order;
use rustc_hash::{FxHashMap, FxHashSet};

use super::session::Session;
use crate::address::{Mode, Module as ModuleAddr};
use crate::config::inputs::RootVariables;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::Sink;
use crate::execute::provision;
use crate::install::{Plugins, Requirements};
use crate::lower::Moved;
use crate::lower::trace::{Followed, Repetitions};
use crate::observe::pool::Pool;
use crate::plan::{Action, Change};
use crate::planner::{self, Finished, Foreseen, Inputs, Structured};
use crate::reason::{self, shipped};
use crate::request::{PlanMode, Request};
use crate::state::State;
use crate::value::Value;
use crate::verify::{self, Documents};
use crate::world::{PRODUCT, PROGRAM};

/// A plan, and what it was made from.
pub struct Planned {
    /// The plan and everything it rests on.
    pub finished: Finished,
    /// The state it was made from, lineage and serial included; moves applied.
    pub state: State,
    /// The root variables.
    pub variables: RootVariables,
    /// The providers, still running.
    pub pool: Pool,
    /// The name of the file for which blocks were written.
    pub generated_file: Option<String>,
}

impl Planned {
    /// Lets go of the values of objects that stay and have no step: whoever asks for them while the plan is carried out is given the
    /// state's, and most are asked for by nobody.
    pub fn let_go(&mut self) {
        let structure = &self.finished.structure;
        let steps = self.finished.order().step.iter();
        let stepped: FxHashSet<_> = steps.filter_map(|it| structure.instance(it.0)).collect();
        let stays = |it: &&mut Change| {
            it.action == Action::NoOp && it.deposed.is_none() && !stepped.contains(&it.address)
        };
        for change in self.finished.plan.changes.iter_mut().filter(stays) {
            (change.before, change.after) = (Value::NULL, Value::NULL);
        }
    }

    /// Returns the steps and their order, held against what was decided: whoever carries the plan out, or saves it, asks for them.
    ///
    /// # Errors
    ///
    /// If they contradict it, which is a fault of the program.
    pub fn order(&self) -> Result<&Order, Diagnostics> {
        let faults = verify::steps(&self.finished);
        if faults.has_errors() { Err(faults) } else { Ok(self.finished.order()) }
    }
}

/// Makes a plan of a folder.
///
/// # Errors
///
/// If there is nothing that could be called a plan. Problems of a plan that could be made in part stand in it.
pub async fn plan(
    session: &Session,
    request: &Request,
    state: State,
    variables: RootVariables,
    sink: &dyn Sink,
) -> Result<Planned, Diagnostics> {
    let plugins = session.provider_sources.plugins()?;
    let (pool, validated) = prepared(session, request, &state, plugins).await?;
    let mut state = state;
    let moves = match request.adopts {
        Some(_) => Default::default(),
        None => crate::lower::moves::apply_moves(session.engine(), &session.config, &mut state),
    };
    let mut finished = match planner::refreshes_first(session.engine(), request, &state) {
        true => after_refresh(session, request, &state, (&moves, &variables), &pool, sink).await?,
        false => {
            let inputs = inputs(session, request, &state, &moves, &variables);
            verified(&inputs, &pool, sink).await?
        }
    };
    finished.problems = Diagnostics(validated.into_iter().chain(finished.problems).collect());
    finished.problems.extend(deprecated_inputs(session, &finished));
    finished.problems.extend(plugins.warning());
    let wrong = moves.check(&session.config, &finished.structure, &session.sources);
    if wrong.has_errors() {
        // They may be what the other problems come from.
        return Err(wrong);
    }
    finished.problems.extend(wrong);
    if !finished.problems.has_errors() {
        finished.problems.extend(moves.warning());
    }
    let generated_file = request.generate_config_out.as_deref().and_then(|it| it.file_name());
    let generated_file = generated_file.map(|it| it.to_string_lossy().into_owned());
    Ok(Planned { finished, state, variables, pool, generated_file })
}

/// Warns of calls that give a variable a value against advice, as often as they are carried out.
fn deprecated_inputs(session: &Session, finished: &Finished) -> Vec<Diagnostic> {
    let told = super::validate::deprecated_inputs(&session.config);
    let mut instances: FxHashMap<ModuleAddr, usize> = FxHashMap::default();
    for module in finished.structure.known_modules().filter(|_| !told.is_empty()) {
        *instances.entry(module.path.clone()).or_default() += 1;
    }
    let times = |module: &ModuleAddr| instances.get(module).copied().unwrap_or_default();
    told.iter().flat_map(|(at, it)| std::iter::repeat_n(it.clone(), times(at))).collect()
}

/// Complains of objects whose provider is nowhere, and is asked for by the state alone.
fn unreadable_objects(session: &Session, state: &State, plugins: &Plugins) -> Diagnostics {
    let (required, _) = Requirements::of(&session.config);
    let mut problems = Diagnostics::new();
    for (address, resource) in &state.resources {
        let provider = &resource.provider.provider;
        if address.resource.mode != Mode::Managed
            || required.0.contains_key(provider)
            || plugins.overridden().contains(provider)
            || plugins.locate(provider).is_ok()
        {
            continue;
        }
        let summary = format!(
            "failed to read schema for {address} in {provider}: failed to instantiate provider \"{provider}\" to obtain schema: unavailable provider \"{provider}\""
        );
        problems.push(Diagnostic::error(summary).detail(format!(
            "The state has objects of this provider, nothing in the configuration names it, and it is not installed. To install it, run:\n  {PROGRAM} init\n\nTo let go of the objects without destroying them, run:\n  {PROGRAM} state rm {address}"
        )));
    }
    problems
}

/// Starts the providers and checks the configuration with them: what must hold before anything is planned. Its warnings come
/// beside the providers.
async fn prepared(
    session: &Session,
    request: &Request,
    state: &State,
    plugins: &Plugins,
) -> Result<(Pool, Diagnostics), Diagnostics> {
    let (required, _) = Requirements::of(&session.config);
    let mut inconsistent = plugins.check(&required);
    if !inconsistent.has_errors() {
        inconsistent.extend(plugins.check_builtin(&required));
    }
    if inconsistent.has_errors() {
        return Err(inconsistent);
    }
    let unreadable = unreadable_objects(session, state, plugins);
    if unreadable.has_errors() {
        return Err(unreadable);
    }
    let (mut pool, mut problems) =
        Pool::start(&session.provider_sources, session.needed_providers(state)).await;
    pool.mocks = session.mocks.clone();
    let plugins = &pool.provisioners;
    problems.extend(provision::unknown_kinds(&session.config, &session.sources, plugins));
    if problems.has_errors() {
        return Err(problems);
    }
    // The block of an object that is adopted at once may be incomplete still.
    let mut validated = match request.adopts {
        Some(_) => Diagnostics::new(),
        None => super::validate::check(session, &pool, &Diagnostics::new()).await,
    };
    validated.extend(super::validate::lint::check(session, &pool, &request.lint));
    if validated.has_errors() {
        return Err(validated);
    }
    if request.mode == PlanMode::Normal {
        let missing = super::generate::missing_blocks(&session.config, request);
        if missing.has_errors() {
            return Err(missing);
        }
        // Blocks that are to be generated were not there when names were checked.
        let keyless = session.graph.check_keys(&session.config, &session.sources);
        if keyless.has_errors() {
            return Err(keyless);
        }
    }
    Ok((pool, validated))
}

/// Refreshes the state in a plan of its own, and plans from what that found.
async fn after_refresh(
    session: &Session,
    request: &Request,
    state: &State,
    (moves, variables): (&Moved, &RootVariables),
    pool: &Pool,
    sink: &dyn Sink,
) -> Result<Finished, Diagnostics> {
    let refresh = Request {
        mode: PlanMode::Normal,
        carried_out: true,
        precedes_destroy: true,
        ..request.clone()
    };
    let inputs = |request, state| inputs(session, request, state, moves, variables);
    let seen = verified(&inputs(&refresh, state), pool, sink).await?;
    if seen.problems.has_errors() {
        return Err(seen.problems);
    }
    // What was configured with unknown or ephemeral values is configured again.
    pool.turn(|_| true);
    let destroy = Request { follows_refresh: true, ..request.clone() };
    let finished = verified(&inputs(&destroy, &seen.plan.prior_state), pool, sink).await;
    Ok(starting_from(seen.plan.previous_state, finished?))
}

/// Makes a plan and holds it against what it was made from: one that contradicts itself is an error, and is not obeyed.
async fn verified(
    inputs: &Inputs<'_>,
    pool: &Pool,
    sink: &dyn Sink,
) -> Result<Finished, Diagnostics> {
    let mut finished = match planner::plan(inputs, pool, sink).await {
        Ok(finished) => finished,
        Err(refused) => {
            note_refused(inputs)?;
            return Err(refused);
        }
    };
    let documents =
        Documents { config: inputs.config, state: inputs.state, mode: inputs.request.mode };
    let mut faults = verify::plan(&finished, &documents);
    if let Some(asked) = inputs.world.variable("ENTAIL_SELF_CHECK") {
        let checked = verify::thorough(reason::engine(inputs.world), &finished);
        faults.extend(checked.problems);
        if asked.contains('/') {
            shipped::note_rules(Path::new(asked), &checked.rules_met)?;
        }
    }
    finished.plan.errored |= faults.has_errors();
    finished.problems.extend(faults);
    Ok(finished)
}

/// Notes the rules of a plan that was refused before any object was looked at.
fn note_refused(inputs: &Inputs<'_>) -> Result<(), Diagnostic> {
    match planner::structure(inputs) {
        Ok(known) => shipped::note_met(inputs.world, || known.lowered.facts),
        Err(_) => Ok(()),
    }
}

/// Puts the recorded state before a plan to destroy. What has changed since is told nowhere: it goes as it is.
fn starting_from(recorded: State, mut finished: Finished) -> Finished {
    finished.plan.previous_state = recorded;
    finished
}

/// Finds out what takes part in a run, without any provider.
pub fn whatif(
    session: &Session,
    request: &Request,
    state: State,
    variables: &RootVariables,
) -> Result<Structured, Diagnostics> {
    Ok(known_before(session, request, state, variables)?.0)
}

/// Finds out what takes part in a run, and what is known already of its plan, without any provider.
pub fn whatif_foreseen(
    session: &Session,
    request: &Request,
    state: State,
    variables: &RootVariables,
) -> Result<(Structured, Foreseen), Diagnostics> {
    let foreseen = with_inputs(session, request, state, variables, |inputs| {
        let known = planner::structure(&inputs)?;
        let foreseen = planner::foresee(&inputs, &known);
        Ok((known, foreseen))
    });
    Ok(foreseen?.0)
}

/// Finds out what is known before any provider is asked. Returns the state with it, moves applied.
pub fn known_before(
    session: &Session,
    request: &Request,
    state: State,
    variables: &RootVariables,
) -> Result<(Structured, State), Diagnostics> {
    with_inputs(session, request, state, variables, |it| planner::structure(&it))
}

/// Like [`whatif`], and records what keys and followed values are derived from.
pub fn whatif_followed(
    session: &Session,
    request: &Request,
    state: State,
    variables: &RootVariables,
    followed: &Followed,
) -> Result<Structured, Diagnostics> {
    let known = with_inputs(session, request, state, variables, |inputs| {
        planner::structure(&Inputs { followed: Some(followed), ..inputs })
    });
    Ok(known?.0)
}

/// Finds out what a configuration alone says, where some repetitions are known in advance.
pub fn whatif_repeated(
    session: &Session,
    request: &Request,
    variables: &RootVariables,
    repetitions: &Repetitions,
) -> Result<Structured, Diagnostics> {
    let known = with_inputs(session, request, State::default(), variables, |inputs| {
        planner::structure(&Inputs { repetitions, ..inputs })
    });
    Ok(known?.0)
}

/// Applies the moves to a state, and finds something out from there. Returns the moved state with it.
fn with_inputs<T>(
    session: &Session,
    request: &Request,
    mut state: State,
    variables: &RootVariables,
    find: impl FnOnce(Inputs<'_>) -> Result<T, Diagnostics>,
) -> Result<(T, State), Diagnostics> {
    let moves = crate::lower::moves::apply_moves(session.engine(), &session.config, &mut state);
    let found = find(inputs(session, request, &state, &moves, variables))?;
    Ok((found, state))
}

fn inputs<'a>(
    session: &'a Session,
    request: &'a Request,
    state: &'a State,
    moves: &'a Moved,
    variables: &'a RootVariables,
) -> Inputs<'a> {
    Inputs {
        repetitions: Repetitions::NONE,
        followed: None,
        config: &session.config,
        graph: &session.graph,
        state,
        moved: &moves.moved,
        moves,
        request,
        variables,
        world: &session.world,
        workspace: &session.workspace,
        sources: &session.sources,
    }
}

/// Something is left out of the run.
pub fn targeting() -> Diagnostic {
    Diagnostic::warning("Resource targeting is in effect").detail(
        format!("You are creating a plan with either the -target option or the -exclude option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe -target and -exclude options are not for routine use, and are provided only for exceptional situations such as recovering from errors or mistakes, or when {PRODUCT} specifically suggests to use it as part of an error message."),
    )
}

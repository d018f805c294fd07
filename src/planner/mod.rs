//! Planning: structure first, then the walk, then what follows from both.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use entail_rules::{Facts, Ledger, Node, ephemerals, instances, providers, selection, spread};

use crate::address::Instance;
use crate::config::Config;
use crate::config::inputs::RootVariables;
use crate::diagnostic::{Diagnostics, Sources};
use crate::event::Sink;
use crate::lower::serving::waits::Waits;
use crate::lower::structure::ResourceNode;
use crate::lower::trace::{Followed, Repetitions, Trace};
use crate::lower::{self, BlockGraph, Documents, Lowered, Moved, TraceInput};
use crate::observe::Observer;
use crate::observe::pool::Pool;
use crate::plan::EvaluatedValues;
use crate::reason::{self, EngineRef};
use crate::request::Request;
use crate::state::State;
use crate::world::{World, side_by_side};

mod alike;
mod answers;
mod assemble;
mod checks;
mod expand;
mod finished;
mod late;
mod outputs;
mod prior;
mod problems;
mod protection;
mod relevant;
mod results;
mod said;
mod serving;
mod start;
mod provider_removed;
mod walk;
pub use checks::Looks;
pub use checks::check_blocks;
pub use finished::Finished;
pub use problems::phase_name;
pub use progress::{Ending, Part};
pub use results::without_absent;
pub use serving::by_node;
pub use walk::subject;

mod parts;
mod progress;

/// Everything that a plan is made from.
pub struct Inputs<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Its blocks.
    pub graph: &'a BlockGraph,
    /// What exists, after moves.
    pub state: &'a State,
    /// Objects that were moved: where they are now, and where they were.
    pub moved: &'a BTreeMap<Instance, Instance>,
    /// The move statements that moved them.
    pub moves: &'a Moved,
    /// What is asked for.
    pub request: &'a Request,
    /// The root variables.
    pub variables: &'a RootVariables,
    /// Clock, environment, folders.
    pub world: &'a Arc<World>,
    /// `terraform.workspace`
    pub workspace: &'a str,
    /// The source files, for places in messages.
    pub sources: &'a Sources,
    /// Repetitions that are known besides.
    pub repetitions: &'a Repetitions,
    /// Values that are followed as objects are; `None` for a plan, which needs no provenance of keys, values and objects.
    pub followed: Option<&'a Followed>,
}

impl Inputs<'_> {
    /// Returns who concludes what the rules say.
    fn engine(&self) -> EngineRef {
        reason::engine(self.world)
    }
}

/// What is known before the walk.
pub struct Structured {
    /// The facts.
    pub lowered: Lowered,
    /// Orphans, and what is to be destroyed.
    pub instances: instances::Instances,
    /// Which objects take part.
    pub selection: selection::Selection,
    /// Which provider instance serves which object.
    pub providers: providers::Providers,
    /// Where `create_before_destroy` spreads.
    pub spread: spread::Spread,
}

impl Structured {
    /// Returns the facts, and what was concluded from them.
    fn ledger(&self) -> Ledger<'_> {
        Ledger::of(&self.lowered.facts)
            .with(&self.instances)
            .with(&self.selection)
            .with(&self.providers)
            .with(&self.spread)
    }
}

/// Finds out what can be known without providers: structure, selection, who serves whom.
///
/// # Errors
///
/// If blocks wait for each other.
pub fn structure(inputs: &Inputs<'_>) -> Result<Structured, Diagnostics> {
    Ok(structure_for_walk(inputs)?.0)
}

/// Like [`structure`], with what it takes to go on with the trace. Nothing of that where all keys are known: nothing more is found
/// then, and what the trace knows of a million values need not be kept.
fn structure_for_walk<'a>(
    inputs: &Inputs<'a>,
) -> Result<(Structured, Option<Trace<'a>>), Diagnostics> {
    let sorted = inputs.graph.sorted().ok_or_else(problems::no_order)?;
    let traced = lower::trace::trace(TraceInput {
        config: inputs.config,
        graph: inputs.graph,
        sorted,
        variables: &inputs.variables.values,
        workspace: inputs.workspace,
        world: inputs.world,
        sources: inputs.sources,
        state: inputs.state,
        request: inputs.request,
        repetitions: inputs.repetitions,
        followed: inputs.followed,
    });
    if traced.reads.problems.has_errors() {
        return Err(traced.reads.problems);
    }
    let trace = Some(traced.trace).filter(|_| traced.structure.has_pending());
    let mut lowered = lower::lower(&documents(inputs), traced.structure, traced.reads);
    inputs.moves.lower(&mut lowered.facts);
    let engine = inputs.engine();
    let ledger = Ledger::of(&lowered.facts).with(&inputs.graph.configured.concluded);
    let providers: providers::Providers = engine.conclude(&ledger);
    let instances: instances::Instances = engine.conclude(&ledger.with(&providers));
    let waits = Waits { providers: &providers, instances: &instances };
    waits.lower(&mut lowered, inputs.request.mode);
    let ledger = Ledger::of(&lowered.facts).with(&providers).with(&instances);
    let (selection, spread) =
        side_by_side(|| engine.conclude(&ledger), || engine.conclude(&ledger));
    Ok((Structured { lowered, instances, selection, providers, spread }, trace))
}

/// What is known of a plan before any provider is asked.
pub struct Foreseen {
    /// Which root outputs are recalculated, unless one cannot be evaluated.
    pub outputs: entail_rules::outputs::Outputs,
    /// What forbids the plan.
    pub problems: Diagnostics,
    /// The addresses that a plan with `-target` has to name because objects were moved.
    pub moved_targets: Vec<String>,
}

/// Returns what a structure says of its plan already.
pub fn foresee(inputs: &Inputs<'_>, known: &Structured) -> Foreseen {
    let outputs = inputs.engine().conclude(&known.ledger());
    let (problems, moved_targets) =
        (forbidden(inputs, known), problems::moved_targets(known, inputs));
    Foreseen { outputs, problems, moved_targets }
}

/// Returns what forbids the plan before any object is looked at.
fn forbidden(inputs: &Inputs<'_>, known: &Structured) -> Diagnostics {
    let violations = inputs.engine().conclude(&known.ledger());
    problems::before_walk(known, &violations, inputs)
}

/// Returns whether everything is looked at, as in a run that changes nothing, before the plan is made.
pub fn refreshes_first(engine: EngineRef, request: &Request, state: &State) -> bool {
    let facts = lower::of_run(request, state);
    let judged: instances::Instances = engine.conclude(&Ledger::of(&facts));
    !judged.refreshes_first.is_empty()
}

/// What facts are made from.
fn documents<'a>(inputs: &Inputs<'a>) -> Documents<'a> {
    Documents {
        config: inputs.config,
        graph: inputs.graph,
        state: inputs.state,
        moved: inputs.moved,
        request: inputs.request,
    }
}

/// Makes a plan. Problems come with it; where any is an error, the plan is marked as errored.
///
/// # Errors
///
/// What forbids the plan before any object is looked at, and imports for which nothing is declared.
pub async fn plan(
    inputs: &Inputs<'_>,
    pool: &Pool,
    sink: &dyn Sink,
) -> Result<Finished, Diagnostics> {
    problems::refuse_circles(inputs.graph)?;
    let (mut known, trace) = structure_for_walk(inputs)?;
    let problems = judge(&mut known, inputs)?;
    let mut observer = start::observer(inputs, &mut known, pool, sink);
    let mut progress = start::progress(&known, &observer);
    let mut tracing = trace.map(|it| late::Tracing::of(it, documents(inputs), &known));
    walk_all(&mut observer, &mut progress, tracing.as_mut()).await;
    // What was for the walk alone is let go of before a plan is made of it.
    drop(tracing);
    progress.schedule = Default::default();
    if inputs.request.imports() {
        settle_imports(&observer, &progress)?;
    }
    Ok(conclude(inputs, known, observer, progress, problems).await)
}

/// Puts together what follows from the walk: what outputs become, and the plan.
///
/// - `problems`: those from before the walk.
async fn conclude(
    inputs: &Inputs<'_>,
    mut known: Structured,
    mut observer: Observer<'_>,
    mut progress: progress::Progress,
    mut problems: Diagnostics,
) -> Finished {
    observer.values.report(problems::unmatched_replaces(inputs, &observer.values.structure));
    let failed = failed(&known.lowered.facts, &progress);
    progress.by_node.let_go();
    let mut facts = gather(inputs, &mut known, &mut progress, &mut observer);
    let structure = &observer.values.structure;
    observer.values.report(lower::requested::unmatched(structure, &facts, inputs.request));
    let Structured { mut lowered, instances, selection, providers, spread } = known;
    lowered.places.add(std::mem::take(&mut progress.places));
    progress.taken.decisions.tidy();
    let settled = settle_outputs(inputs, &mut facts, &selection, &mut observer, &progress);
    observer.close_all().await;
    problems.extend(observer.values.take_problems().settled(inputs.sources));
    // What failed, where nothing says why: a fault of the program, which must not pass for a plan.
    if !failed.is_empty() && !problems.has_errors() {
        problems.push(problems::unexplained(&failed, &observer.values.structure));
    }
    let found = std::mem::take(&mut progress.found);
    let called = called(&observer);
    let parts = parts::Parts {
        inputs,
        observer: &mut observer,
        progress: &progress,
        outputs: settled.listed,
        concluded: &settled.outputs,
        selection: &selection,
        flags: &lowered.flags,
        facts: &facts,
        spread: &spread,
        found,
    };
    let engine = inputs.engine();
    let ledger = Ledger::of(&facts).with(&providers).with(&instances).with(&selection);
    let ledger = ledger.with(&spread).with(&progress.taken.decisions);
    let violations = engine.conclude(&ledger);
    let calls = engine.conclude(&ledger);
    let errored = problems.has_errors();
    let ephemerals: ephemerals::Ephemerals = engine.conclude(&ledger);
    // Plan files, policies and questions ask for them; a plan that is only shown need not hold them.
    let evaluated = match inputs.request.only_shown {
        true => EvaluatedValues::default(),
        false => parts.observer.values.evaluated().collect(),
    };
    let plan = assemble::assemble(parts, errored);
    problems.extend(observer.values.take_problems());
    let mut finished = Finished {
        plan,
        evaluated,
        structure: observer.values.structure,
        facts,
        places: lowered.places,
        flags: lowered.flags,
        serving: lowered.serving,
        statements: inputs.moves.named(),
        providers,
        spread,
        instances,
        selection,
        calls,
        called,
        decisions: progress.taken.decisions,
        violations,
        outputs: settled.outputs,
        output_changes: settled.changes,
        ephemerals,
        endings: progress.endings,
        problems,
        engine,
        order: OnceLock::new(),
    };
    finished.refuse_circular_steps();
    finished
}

/// Returns the provider instances that were called in the walk, each with whether its arguments were wholly known.
fn called(observer: &Observer<'_>) -> Vec<(Node, bool)> {
    let structure = &observer.values.structure;
    let node =
        |instance| Some(structure.providers[structure.provider_ids.get(instance)?.index()].1);
    let called = observer.pool.called();
    called.iter().filter_map(|(instance, is_known)| Some((node(instance)?, *is_known))).collect()
}

/// Returns the objects that failed in the walk, or that something which failed blocks.
///
/// - `before`: the facts from before it.
fn failed(before: &Facts, progress: &progress::Progress) -> Vec<Node> {
    let by_node = &progress.by_node;
    let objects = before.object.iter().chain(&progress.facts.object).map(|it| it.0);
    objects.filter(|it| by_node.has_failed(*it) || by_node.is_blocked(*it)).collect()
}

/// Collects what is wrong before any object is looked at.
fn judge(known: &mut Structured, inputs: &Inputs<'_>) -> Result<Diagnostics, Diagnostics> {
    let mut problems = std::mem::take(&mut known.lowered.problems);
    let violations = forbidden(inputs, known);
    if violations.has_errors() {
        problems.extend(violations);
        return Err(problems);
    }
    problems.extend(serving::unreadable(known, inputs));
    Ok(problems)
}

/// Walks until every key set is expanded and every node is settled.
async fn walk_all(
    observer: &mut Observer<'_>,
    progress: &mut progress::Progress,
    mut tracing: Option<&mut late::Tracing<'_>>,
) {
    loop {
        tokio::select! {
            () = walk::run(observer, progress) => {}
            never = observer.keep_open() => match never {},
        }
        match &mut tracing {
            Some(tracing) if !progress.to_expand.is_empty() => {
                expand::expand(observer, progress, tracing);
            }
            _ => return,
        }
    }
}

/// Says what came of imports whose blocks are in this run.
fn settle_imports(
    observer: &Observer<'_>,
    progress: &progress::Progress,
) -> Result<(), Diagnostics> {
    let structure = &observer.values.structure;
    // Mostly nothing is imported.
    let resources = OnceCell::new();
    observer.resolve_imports(|block| {
        let resources = resources.get_or_init(|| structure.resources_by_config());
        let of = resources.get(block).into_iter().flatten();
        takes_part(progress, of.map(|it| structure.resource(*it)))
    });
    let undeclared = observer.check_imports();
    if undeclared.has_errors() { Err(undeclared) } else { Ok(()) }
}

/// Puts together what was known before the walk and what the walk found.
fn gather(
    inputs: &Inputs<'_>,
    known: &mut Structured,
    progress: &mut progress::Progress,
    observer: &mut Observer<'_>,
) -> Facts {
    let engine = inputs.engine();
    let learned = serving::learn(&mut known.lowered, observer);
    known.spread.absorb(&progress.spread);
    known.spread.tidy();
    let mut facts = std::mem::take(&mut known.lowered.facts);
    facts.absorb(&std::mem::take(&mut progress.facts));
    facts.absorb(&learned);
    facts.tidy();
    lower::leave_out(&mut facts, lower::When::Always);
    let has_late = !facts.pending.is_empty();
    if has_late || !learned.provider_key.is_empty() {
        let ledger = Ledger::of(&facts).with(&inputs.graph.configured.concluded);
        known.providers = engine.conclude(&ledger);
        observer.serving.known = by_node(&known.providers, &observer.values.structure);
    }
    // Batches of late instances have all outcomes, but not every cause of each.
    if has_late {
        let ledger = Ledger::of(&facts).with(&known.providers);
        known.instances = engine.conclude(&ledger);
        known.selection = engine.conclude(&ledger.with(&known.instances));
    }
    facts
}

/// Evaluates outputs and checks, as far as the rules say that they are recalculated.
fn settle_outputs(
    inputs: &Inputs<'_>,
    facts: &mut Facts,
    selection: &selection::Selection,
    observer: &mut Observer<'_>,
    progress: &progress::Progress,
) -> outputs::Settled {
    let settled = outputs::outputs(observer, inputs, facts, selection, &progress.taken.decisions);
    check_blocks(observer, |it| {
        if settled.changes.checked.binary_search(&(it,)).is_ok() {
            Looks::Now
        } else if settled.changes.check_blocked.binary_search(&(it,)).is_ok() {
            Looks::Unsound
        } else {
            Looks::Not
        }
    });
    let is_whole = !selection.evaluates_all.is_empty();
    checks::declare(inputs, observer, is_whole, &settled.changes.awaits_check);
    settled
}

/// Returns whether a block that imports name is in this run and nothing that it reads failed.
///
/// - `resources`: those of the block, in every module instance.
fn takes_part<'s>(
    progress: &progress::Progress,
    resources: impl Iterator<Item = &'s ResourceNode>,
) -> bool {
    let mut nodes = resources
        .filter(|it| it.declared)
        .flat_map(|it| it.collection.iter().chain(it.instances.values()));
    nodes.all(|node| {
        let part = progress.parts.get(node.0 as usize);
        !progress.by_node.is_blocked(*node)
            && !progress.by_node.has_failed(*node)
            && !matches!(part, Some(Part::Excluded | Part::Untargeted))
    })
}

//! Planning: structure first, then the walk, then what follows from both.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::{
    Facts, Node, ephemerals, instances, order, outputs, providers, selection, spread, violations,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::{Instance, InstanceKey};
use crate::config::Config;
use crate::diagnostic::{Diagnostics, Sources};
use crate::lower::structure::ResourceId;
use crate::lower::{self, BlockGraph, Documents, Lowered, TraceInput};
use crate::observe::ephemeral::Leases;
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::observe::{Observer, Told, conditions};
use crate::operation::event::Sink;
use crate::plan::Plan;
use crate::request::{PlanMode, Request};
use crate::state::State;
use crate::value::{Str, Value};
use crate::world::{World, side_by_side};

mod answers;
mod assemble;
mod expand;
mod problems;
mod relevant;
mod results;
mod serving;
mod stranded;
mod walk;

pub use results::{checks as check_blocks, without_absent};
pub use serving::by_node;
pub use walk::{Part, subject};

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
    /// What is asked for.
    pub request: &'a Request,
    /// Root variables, converted and marked.
    pub variables: &'a BTreeMap<Str, Value>,
    /// Clock, environment, folders.
    pub world: &'a Arc<World>,
    /// `terraform.workspace`
    pub workspace: &'a str,
    /// The source files, for places in messages.
    pub sources: &'a Sources,
}

/// What is known before the walk.
pub struct Structured {
    /// The facts, with the conclusions that later strata read.
    pub lowered: Lowered,
    /// Orphans, and what is doomed.
    pub instances: instances::Instances,
    /// Which objects take part.
    pub selection: selection::Selection,
    /// Which provider instance serves which object.
    pub providers: providers::Providers,
    /// Where `create_before_destroy` spreads.
    pub spread: spread::Spread,
}

/// A plan and everything it rests on.
pub struct Finished {
    /// The plan.
    pub plan: Plan,
    /// The expanded configuration.
    pub structure: lower::Structure,
    /// Every fact, answers included.
    pub facts: Facts,
    /// What each node's read stands at.
    pub places: BTreeMap<(Node, Node), crate::diagnostic::Span>,
    /// What each flag's number stands for.
    pub flags: Vec<String>,
    /// What the numbers of provider configurations, their keys and modules stand for.
    pub serving: lower::serving::Serving,
    /// Which provider instance serves which object.
    pub providers: providers::Providers,
    /// Steps and their order.
    pub order: order::Order,
    /// Which objects take part.
    pub selection: selection::Selection,
    /// What was decided.
    pub decisions: entail_rules::decide::Decisions,
    /// Problems, in the order in which they were found.
    pub problems: Diagnostics,
}

/// Finds out what can be known without providers: structure, selection, who serves whom.
///
/// # Errors
///
/// If blocks wait for each other.
pub fn structure(inputs: &Inputs<'_>) -> Result<Structured, Diagnostics> {
    let sorted = inputs.graph.sorted().ok_or_else(problems::no_order)?;
    let traced = lower::trace::trace(TraceInput {
        config: inputs.config,
        graph: inputs.graph,
        sorted: &sorted,
        variables: inputs.variables,
        workspace: inputs.workspace,
        world: inputs.world,
        sources: inputs.sources,
    });
    if traced.1.problems.has_errors() {
        return Err(traced.1.problems);
    }
    let documents = Documents {
        config: inputs.config,
        graph: inputs.graph,
        state: inputs.state,
        moved: inputs.moved,
        request: inputs.request,
    };
    let mut lowered = lower::lower(&documents, traced);
    let instances = instances::judge(&lowered.facts);
    lowered.facts.orphan = instances.orphan.clone();
    lowered.facts.doomed = instances.doomed.clone();
    let facts = &lowered.facts;
    let (selection, (providers, spread)) = side_by_side(
        || selection::select(facts),
        || (providers::serve(facts), spread::spread(facts)),
    );
    Ok(Structured { lowered, instances, selection, providers, spread })
}

/// Makes a plan. Problems come with it; where any is an error, the plan is marked as errored.
pub async fn plan(
    inputs: &Inputs<'_>,
    pool: &Pool,
    sink: &dyn Sink,
) -> Result<Finished, Diagnostics> {
    let mut known = structure(inputs)?;
    let mut problems = std::mem::take(&mut known.lowered.problems);
    let forbidden = violations::collect(
        &known.lowered.facts,
        &known.providers,
        &known.selection,
        &Default::default(),
    );
    let violations = problems::before_walk(&known, &forbidden, inputs);
    if violations.has_errors() {
        problems.extend(violations);
        return Err(problems);
    }
    problems.extend(serving::unreadable(&known, inputs));
    let structure = std::mem::take(&mut known.lowered.structure);
    let mut observer = observer(inputs, structure, pool, sink);
    observer.serving = serving::concluded(&known, &observer.values.structure);
    observer.leases =
        Leases::of(&known.lowered.facts, &known.providers, &observer.values.structure, &|_| {
            Some(1)
        });
    for index in 0..observer.values.structure.nodes.len() {
        let node = Node(index as u32);
        if walk::is_decided_late(observer.values.structure.kind(node)) {
            observer.values.wait_for(node);
        }
    }
    let mut progress = progress(inputs, &known, &observer);
    let mut real = expand::Real::default();
    loop {
        tokio::select! {
            () = walk::run(&observer, &mut progress) => {}
            never = observer.keep_open() => match never {},
        }
        if progress.to_expand.is_empty() {
            break;
        }
        expand::expand(&mut observer, &mut progress, &mut real);
    }
    if inputs.request.mode == PlanMode::Normal {
        let takes_part =
            |block: &crate::address::ConfigResource| takes_part(&observer, &progress, block);
        observer.resolve_imports(takes_part);
        let undeclared = observer.check_imports();
        if undeclared.has_errors() {
            return Err(undeclared);
        }
    }
    observer.values.report(unmatched_replaces(inputs, &observer.values.structure));
    let Structured { mut lowered, instances: _, selection, mut providers, spread } = known;
    let learned = serving::learn(&mut lowered, &observer);
    let mut facts = lowered.facts;
    facts.absorb(&progress.facts);
    facts.absorb(&learned);
    facts.cbd.extend(&spread.cbd);
    facts.kept.extend(&selection.kept);
    facts.guarded.extend(&selection.guarded);
    facts.excluded.extend(&selection.excluded);
    facts.untargeted.extend(&selection.untargeted);
    facts.tidy();
    if !(facts.late.is_empty() && learned.provider_key.is_empty()) {
        providers = providers::serve(&facts);
    }
    let settled = outputs::settle(&facts, &selection);
    observer.values.stopped = settled
        .recalculated
        .iter()
        .map(|it| it.0)
        .filter(|it| progress.by_node.is_blocked(*it) || progress.by_node.has_failed(*it))
        .collect();
    let found = results::outputs(&observer, &settled, inputs);
    results::checks(
        &observer,
        inputs.request.targets.is_empty() && inputs.request.excludes.is_empty(),
    );
    observer.close_all().await;
    progress.decisions.tidy();
    facts.step_asked.extend(results::conditioned(&observer, &progress.decisions));
    facts.step_asked.sort_unstable();
    // For the order only, what waits counts as what reads; what reads a pending node waits for the instances found in it.
    let reads = facts.reads.len();
    facts.reads.extend(&lowered.waits);
    facts.reads.extend(progress.facts.late.iter().map(|it| (it.1, it.0)));
    let flags = lowered.flags;
    problems.extend(observer.values.take_problems());
    let parts = assemble::Parts {
        inputs,
        observer: &observer,
        progress: &progress,
        outputs: found,
        selection: &selection,
        flags: &flags,
        facts: &facts,
        serving: by_node(&providers, &observer.values.structure),
        spread: &spread,
    };
    let errored = problems.has_errors();
    let lent = ephemerals::lend(&facts, &providers, &progress.decisions);
    let (order, plan) = side_by_side(
        || order::order(&facts, &providers, &spread, &progress.decisions, &lent),
        || assemble::assemble(parts, errored),
    );
    facts.reads.truncate(reads);
    problems.extend(observer.values.take_problems());
    Ok(Finished {
        plan,
        structure: observer.values.structure,
        facts,
        places: lowered.places,
        flags,
        serving: lowered.serving,
        providers,
        order,
        selection,
        decisions: progress.decisions,
        problems,
    })
}

/// What `-replace` names without a key, although its resource has keys.
fn unmatched_replaces(
    inputs: &Inputs<'_>,
    structure: &lower::Structure,
) -> Vec<crate::diagnostic::Diagnostic> {
    let keyless = inputs.request.replaces.iter().map(|it| &it.0);
    let unmatched = keyless.filter(|it| it.key == InstanceKey::None).filter_map(|address| {
        let resource = structure.resource(*structure.resource_ids.get(&address.of())?);
        let is_matched =
            resource.instances.len() == 1 && resource.instances.contains_key(&InstanceKey::None);
        if !resource.declared || is_matched {
            return None;
        }
        let declared: Vec<Instance> =
            resource.instances.keys().map(|it| resource.address.instance(it.clone())).collect();
        Some(problems::replace_lacks_key(address, &declared))
    });
    unmatched.collect()
}

/// Returns whether a block that imports name is in this run and nothing that it reads failed.
fn takes_part(
    observer: &Observer<'_>,
    progress: &walk::Progress,
    block: &crate::address::ConfigResource,
) -> bool {
    let resources = observer.values.structure.resources.iter();
    let mut nodes = resources
        .filter(|it| it.declared && it.address.config() == *block)
        .flat_map(|it| it.collection.iter().chain(it.instances.values()));
    nodes.all(|node| {
        let part = progress.parts.get(node.0 as usize);
        !progress.by_node.is_blocked(*node)
            && !progress.by_node.has_failed(*node)
            && !matches!(part, Some(Part::Excluded | Part::Untargeted))
    })
}

fn observer<'a>(
    inputs: &Inputs<'a>,
    structure: lower::Structure,
    pool: &'a Pool,
    sink: &'a dyn Sink,
) -> Observer<'a> {
    let mut values =
        Values::new(inputs.config, structure, inputs.variables, inputs.world, inputs.sources);
    values.workspace = inputs.workspace;
    values.pool = Some(pool);
    for id in 0..values.structure.resources.len() {
        let resource = &values.structure.resources[id];
        let name = &resource.address.resource;
        let schema = resource
            .provider
            .as_ref()
            .and_then(|it| pool.resource_schema(&it.provider, name.mode, &name.kind));
        if let Some(schema) = schema {
            values.learn(ResourceId(id as u32), schema);
        }
    }
    Observer {
        values,
        pool,
        state: inputs.state,
        moved: inputs.moved,
        request: inputs.request,
        events: Told(sink),
        imports: crate::observe::imports::Imports::of(inputs.config),
        validated: Default::default(),
        serving: Default::default(),
        checks: conditions::Results::default(),
        leases: Leases::default(),
        calls: tokio::sync::Semaphore::new(inputs.request.parallelism.max(1)),
    }
}

fn progress(inputs: &Inputs<'_>, known: &Structured, observer: &Observer<'_>) -> walk::Progress {
    let facts = &known.lowered.facts;
    let count = observer.values.structure.nodes.len();
    let mut parts = vec![Part::NoObject; count];
    known.selection.selected.iter().for_each(|it| parts[it.0.0 as usize] = Part::Selected);
    known.selection.excluded.iter().for_each(|it| parts[it.0.0 as usize] = Part::Excluded);
    known.selection.untargeted.iter().for_each(|it| parts[it.0.0 as usize] = Part::Untargeted);
    let edges = facts.reads.iter().chain(&known.lowered.waits).map(|it| (it.0.0, it.1.0));
    let schedule =
        crate::schedule::Schedule::holding(count, edges, facts.late.iter().map(|it| it.0.0));
    let earlier = answers::Earlier {
        orphan: &known.instances.orphan,
        kept: &known.selection.kept,
        guarded: &known.selection.guarded,
        cbd: &known.spread.cbd,
    };
    let mut triggers: FxHashMap<Node, Vec<_>> = FxHashMap::default();
    for trigger in known.lowered.triggers.iter().filter(|it| !it.path.is_empty()) {
        triggers.entry(trigger.node).or_default().push(trigger.clone());
    }
    let pending: FxHashSet<Node> = facts.pending.iter().map(|it| it.0).collect();
    let mut late: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    facts.late.iter().for_each(|it| late.entry(it.1).or_default().push(it.0));
    let mut data_waits: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    facts
        .data_waits
        .iter()
        .filter(|it| pending.contains(&it.0))
        .for_each(|it| data_waits.entry(it.0).or_default().push(it.1));
    let needed: FxHashSet<Node> =
        known.selection.wanted_by.iter().filter(|it| it.0 != it.1).map(|it| it.0).collect();
    let cbd: FxHashSet<Node> = known.spread.cbd.iter().map(|it| it.0).collect();
    walk::Progress {
        schedule,
        by_node: answers::ByNode::new(&known.lowered, earlier),
        parts,
        found: BTreeMap::new(),
        dropped: Vec::new(),
        gone: Vec::new(),
        results: BTreeMap::new(),
        facts: Facts::default(),
        decisions: Default::default(),
        to_expand: Vec::new(),
        triggers,
        evaluate_all: facts.filtered.is_empty() && inputs.request.mode != PlanMode::Destroy,
        expanded: FxHashSet::default(),
        only_named: if inputs.request.targets.is_empty() {
            FxHashSet::default()
        } else {
            pending.iter().copied().filter(|it| !needed.contains(it)).collect()
        },
        blocks: facts.of.iter().filter(|it| pending.contains(&it.0)).copied().collect(),
        cbd_blocks: pending.iter().copied().filter(|it| cbd.contains(it)).collect(),
        late,
        data_waits,
    }
}

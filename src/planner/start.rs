//! What the walk starts with: who answers questions, and what waits for what.

use std::collections::BTreeMap;

use entail_rules::{Facts, Ledger, Node, ephemeral_uses};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::Semaphore;

use super::answers::ByNode;
use super::late::Before;
use super::progress::{Found, Part, Progress, is_decided_late};
use super::{Inputs, Structured};
use crate::event::Sink;
use crate::lower::Structure;
use crate::lower::structure::ResourceId;
use crate::observe::awaiting::Awaiting;
use crate::observe::ephemeral::EphemeralUses;
use crate::observe::imports::Imports;
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::observe::{Observer, Told, conditions};
use crate::schedule::Schedule;

/// Returns who answers questions. The structure moves from what is known to its values.
pub(super) fn observer<'a>(
    inputs: &Inputs<'a>,
    known: &mut Structured,
    pool: &'a Pool,
    sink: &'a dyn Sink,
) -> Observer<'a> {
    let structure = std::mem::take(&mut known.lowered.structure);
    let mut values = Values::new(
        inputs.config,
        structure,
        &inputs.variables.values,
        inputs.world,
        inputs.sources,
    );
    values.workspace = inputs.workspace;
    values.pool = Some(pool);
    values.learn_run(&known.instances);
    for id in 0..values.structure.resources.len() {
        if let Some(schema) = pool.schema_of(&values.structure.resources[id]) {
            values.learn(ResourceId(id as u32), schema);
        }
    }
    let late = values.structure.nodes.iter().enumerate().filter(|it| is_decided_late(it.1));
    let late: Vec<Node> = late.map(|it| Node(it.0 as u32)).collect();
    late.into_iter().for_each(|it| values.wait_for(it));
    let serving = super::serving::concluded(known, &values.structure);
    let lifetimes = super::serving::lifetimes(inputs, known, &values.structure, &serving, pool);
    let facts = &known.lowered.facts;
    let ledger = Ledger::of(facts).with(&known.providers);
    let uses: ephemeral_uses::EphemeralUses = inputs.engine().conclude(&ledger);
    let ephemeral_uses = EphemeralUses::planning(&uses);
    let awaiting = awaiting(facts, &values.structure);
    Observer {
        values,
        pool,
        graph: inputs.graph,
        state: inputs.state,
        moved: inputs.moved,
        request: inputs.request,
        events: Told(sink),
        imports: match inputs.request.imports() {
            true => Imports::of(inputs.config),
            false => Imports::default(),
        },
        validated: Default::default(),
        serving,
        lifetimes,
        checks: conditions::Results::default(),
        ephemeral_uses,
        awaiting,
        former: None,
        calls: Semaphore::new(inputs.request.parallelism.max(1)),
    }
}

/// Returns the provider instances whose arguments read anything: they are called once that is settled.
fn awaiting(facts: &Facts, structure: &Structure) -> Awaiting {
    let reads = |rows: &[(Node, Node)], node| rows.binary_search_by_key(&node, |it| it.0).is_ok();
    let reads_any = |node| reads(&facts.reads, node) || reads(&facts.waits_for, node);
    let providers = structure.providers.iter().filter(|it| reads_any(it.1));
    Awaiting::of(providers.map(|it| it.0.clone()))
}

/// Returns what the walk starts with.
pub(super) fn progress(known: &Structured, observer: &Observer<'_>) -> Progress {
    let facts = &known.lowered.facts;
    let count = observer.values.structure.nodes.len();
    let mut parts = vec![Part::NoObject; count];
    known.selection.selected.iter().for_each(|it| parts[it.0.0 as usize] = Part::Selected);
    known.selection.excluded.iter().for_each(|it| parts[it.0.0 as usize] = Part::Excluded);
    known.selection.untargeted.iter().for_each(|it| parts[it.0.0 as usize] = Part::Untargeted);
    let edges = facts.reads.iter().chain(&facts.waits_for).map(|it| (it.0.0, it.1.0));
    let later = known.selection.delayed.iter().map(|it| (it.0.0, it.1.0));
    let held = facts.late.iter().map(|it| it.0.0);
    let schedule = Schedule::holding(count, edges.chain(later), held).nearest_first();
    let mut triggers: FxHashMap<Node, Vec<_>> = FxHashMap::default();
    for trigger in known.lowered.triggers.iter().filter(|it| it.is_particular()) {
        triggers.entry(trigger.node).or_default().push(trigger.clone());
    }
    let pending: FxHashSet<Node> = facts.pending.iter().map(|it| it.0).collect();
    let mut late: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    facts.late.iter().for_each(|it| late.entry(it.1).or_default().push(it.0));
    let before = match pending.is_empty() {
        true => Before::default(),
        false => Before::of(&known.selection, &known.spread, facts),
    };
    let mut progress = Progress {
        schedule,
        by_node: ByNode::new(known.lowered.structure.nodes.len(), &known.ledger()),
        parts,
        found: Found::with_room(count),
        dropped: Vec::new(),
        gone: Vec::new(),
        results: BTreeMap::new(),
        endings: Vec::new(),
        facts: Facts::default(),
        taken: Default::default(),
        alike: Default::default(),
        said: Vec::new(),
        to_expand: Vec::new(),
        triggers,
        asked: FxHashMap::default(),
        evaluate_all: false,
        wanted: FxHashSet::default(),
        recalled: FxHashSet::default(),
        asks_keys: FxHashSet::default(),
        requires_keys: FxHashSet::default(),
        expanded: FxHashSet::default(),
        blocks: facts.of.iter().filter(|it| pending.contains(&it.0)).copied().collect(),
        late,
        before,
        is_selection_open: !known.selection.selection_awaits.is_empty(),
        spread: Default::default(),
        places: Vec::new(),
    };
    progress.learn_asked(&known.instances);
    progress.learn_evaluated(&known.selection);
    progress.learn_recalled(&observer.engine().conclude(&known.ledger()));
    progress
}

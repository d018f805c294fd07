//! What the walk starts with: who answers questions, and what waits for what.

use std::collections::BTreeMap;

use entail_rules::{Facts, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::Semaphore;

use super::answers::ByNode;
use super::late::Before;
use super::walk::{Part, Progress, is_decided_late};
use super::{Inputs, Structured};
use crate::event::Sink;
use crate::lower::structure::ResourceId;
use crate::observe::ephemeral::Leases;
use crate::observe::imports::Imports;
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::observe::{Observer, Told, conditions};
use crate::request::PlanMode;
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
    values.only_existing = inputs.request.mode == PlanMode::RefreshOnly
        && inputs.request.adopts.is_none()
        && !inputs.request.precedes_destroy;
    values.all_goes = inputs.request.mode == PlanMode::Destroy || inputs.request.precedes_destroy;
    for id in 0..values.structure.resources.len() {
        if let Some(schema) = pool.schema_of(&values.structure.resources[id]) {
            values.learn(ResourceId(id as u32), schema);
        }
    }
    let late = values.structure.nodes.iter().enumerate().filter(|it| is_decided_late(it.1));
    let late: Vec<Node> = late.map(|it| Node(it.0 as u32)).collect();
    late.into_iter().for_each(|it| values.wait_for(it));
    let serving = super::serving::concluded(known, &values.structure);
    let upkeep = super::serving::upkeep(inputs, known, &values.structure, &serving, pool);
    let leases =
        Leases::of(&known.lowered.facts, &known.providers, &values.structure, &|_| Some(1));
    Observer {
        values,
        pool,
        graph: inputs.graph,
        state: inputs.state,
        moved: inputs.moved,
        request: inputs.request,
        events: Told(sink),
        imports: Imports::of(inputs.config),
        validated: Default::default(),
        serving,
        upkeep,
        checks: conditions::Results::default(),
        leases,
        calls: Semaphore::new(inputs.request.parallelism.max(1)),
    }
}

/// Returns what the walk starts with.
pub(super) fn progress(
    inputs: &Inputs<'_>,
    known: &Structured,
    observer: &Observer<'_>,
) -> Progress {
    let facts = &known.lowered.facts;
    let count = observer.values.structure.nodes.len();
    let mut parts = vec![Part::NoObject; count];
    known.selection.selected.iter().for_each(|it| parts[it.0.0 as usize] = Part::Selected);
    known.selection.excluded.iter().for_each(|it| parts[it.0.0 as usize] = Part::Excluded);
    known.selection.untargeted.iter().for_each(|it| parts[it.0.0 as usize] = Part::Untargeted);
    let edges = facts.reads.iter().chain(&facts.waits_for).map(|it| (it.0.0, it.1.0));
    let edges: Vec<(u32, u32)> = edges.collect();
    let later = judged_later(&known.selection.judged_after, &edges);
    let held = facts.late.iter().map(|it| it.0.0);
    let schedule = Schedule::holding(count, edges.into_iter().chain(later), held);
    let mut triggers: FxHashMap<Node, Vec<_>> = FxHashMap::default();
    for trigger in known.lowered.triggers.iter().filter(|it| !it.path.is_empty()) {
        triggers.entry(trigger.node).or_default().push(trigger.clone());
    }
    let pending: FxHashSet<Node> = facts.pending.iter().map(|it| it.0).collect();
    let mut late: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    facts.late.iter().for_each(|it| late.entry(it.1).or_default().push(it.0));
    let is_whole = facts.filtered.is_empty();
    let normal = inputs.request.mode != PlanMode::Destroy;
    let before = match pending.is_empty() {
        true => Before::default(),
        false => Before::of(&known.selection, &known.spread, facts),
    };
    Progress {
        schedule,
        by_node: ByNode::new(known.lowered.structure.nodes.len(), &known.ledger()),
        parts,
        found: BTreeMap::new(),
        dropped: Vec::new(),
        gone: Vec::new(),
        results: BTreeMap::new(),
        endings: Vec::new(),
        facts: Facts::default(),
        decisions: Default::default(),
        to_expand: Vec::new(),
        triggers,
        evaluate_all: is_whole && normal,
        wanted: known.selection.evaluated.iter().map(|it| it.0).collect(),
        expanded: FxHashSet::default(),
        blocks: facts.of.iter().filter(|it| pending.contains(&it.0)).copied().collect(),
        late,
        before,
        spread: Default::default(),
        places: BTreeMap::new(),
    }
}

/// Returns the values that nodes read, directly or through other values.
///
/// - `is_value`: whether a node is looked through; what it refuses is neither returned nor followed.
pub fn values_behind(
    facts: &Facts,
    is_value: impl Fn(Node) -> bool,
    mut open: Vec<Node>,
) -> FxHashSet<Node> {
    let mut reads: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    facts.reads.iter().for_each(|it| reads.entry(it.0).or_default().push(it.1));
    let mut seen = FxHashSet::default();
    while let Some(next) = open.pop() {
        let values = reads.get(&next).into_iter().flatten().filter(|it| is_value(**it));
        open.extend(values.filter(|it| seen.insert(**it)));
    }
    seen
}

/// Returns who waits for the keys of whom, that an instance may be found which holds it back – unless these keys wait for it.
fn judged_later(after: &[(Node, Node)], edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut later = Vec::new();
    if after.is_empty() {
        return later;
    }
    let mut waits: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    edges.iter().for_each(|it| waits.entry(it.0).or_default().push(it.1));
    for (node, pending) in after {
        let (mut seen, mut open) = (FxHashSet::default(), vec![pending.0]);
        while let Some(next) = open.pop() {
            let further = waits.get(&next).into_iter().flatten();
            open.extend(further.filter(|it| seen.insert(**it)));
        }
        if node != pending && !seen.contains(&node.0) {
            waits.entry(node.0).or_default().push(pending.0);
            later.push((node.0, pending.0));
        }
    }
    later
}

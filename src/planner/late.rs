//! Instances that the walk found: traced, lowered and selected by the same functions and rules as all others, and then
//! walked like them.

use std::collections::BTreeSet;

use entail_rules::instances::Instances;
use entail_rules::providers::Providers;
use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::{Block, Facts, Ledger, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Structured;
use super::progress::{Progress, is_decided_late};
use super::walk::serving_undeclared;
use crate::lower::serving::waits::is_undeclared;
use crate::lower::structure::{CallId, ModuleId, NodeKind, ResourceId, Structure};
use crate::lower::trace::{Entries, Trace, Trigger};
use crate::lower::{self, Documents, Lowered};
use crate::observe::Observer;
use crate::reachable::Reachable;
use crate::reason::EngineRef;
use crate::value::Value;

/// A block whose keys are known now.
#[derive(Clone, Copy)]
pub enum Repeats {
    /// `resource`, `data`, `ephemeral`
    Resource(ResourceId),
    /// `module`
    Call(CallId),
}

/// What keys turned out to be, or are taken to be where nothing in this run asks for them.
pub struct LateKeys {
    /// Which keys.
    pub entries: Entries,
    /// Whether they are only those that the state has.
    pub is_skipped: bool,
}

/// What it takes to go on with the trace.
pub struct Tracing<'a> {
    /// What traced the configuration, to trace instances that are found.
    pub trace: Trace<'a>,
    /// What facts are made from.
    pub documents: Documents<'a>,
    /// The facts from before the walk.
    pub facts: &'a Facts,
    /// Which provider instance serves which object, as concluded from these.
    pub providers: &'a Providers,
}

impl<'a> Tracing<'a> {
    /// Returns what goes on with a trace, from what is known before the walk.
    pub fn of(trace: Trace<'a>, documents: Documents<'a>, known: &'a Structured) -> Tracing<'a> {
        let (facts, providers) = (&known.lowered.facts, &known.providers);
        Tracing { trace, documents, facts, providers }
    }
}

/// What was concluded before the walk, as far as instances that are found in it look at it.
#[derive(Debug, Default)]
pub struct Before {
    out: FxHashSet<Node>,
    want: FxHashSet<Node>,
    kept: FxHashSet<Node>,
    needs: FxHashMap<Node, Vec<Node>>,
    cbd_blocks: FxHashSet<Block>,
}

impl Before {
    /// Indexes the conclusions.
    pub fn of(selection: &Selection, spread: &Spread, facts: &Facts) -> Before {
        let mut before = Before::default();
        if !facts.excluding.is_empty() {
            facts.needs.iter().for_each(|it| before.needs.entry(it.0).or_default().push(it.1));
        }
        before.learn(selection);
        before.cbd_blocks = spread.cbd_block.iter().map(|it| it.0).collect();
        before
    }

    /// Adds what was concluded of nodes since.
    pub fn learn(&mut self, selection: &Selection) {
        self.out.extend(selection.out.iter().map(|it| it.0));
        self.want.extend(selection.want.iter().map(|it| it.0));
        self.kept.extend(selection.kept.iter().map(|it| it.0));
    }

    /// What the objects that exist as these nodes rest on, and so on.
    fn needs(&self, nodes: &[(Node,)]) -> Vec<(Node, Node)> {
        let below = |it: Node| self.needs.get(&it).into_iter().flatten().copied();
        let all = Reachable::from(nodes.iter().map(|it| it.0), below);
        all.flat_map(|it| below(it).map(move |below| (it, below))).collect()
    }

    /// What was concluded of nodes.
    fn earlier(&self, nodes: &BTreeSet<Node>) -> Selection {
        let among = |all: &FxHashSet<Node>| {
            nodes.iter().filter(|it| all.contains(it)).map(|it| (*it,)).collect()
        };
        Selection {
            out: among(&self.out),
            want: among(&self.want),
            kept: among(&self.kept),
            ..Selection::default()
        }
    }

    /// The blocks of these instances that make the new object first.
    fn cbd_blocks(&self, facts: &Facts) -> Spread {
        let blocks: BTreeSet<Block> = facts.of.iter().map(|it| it.1).collect();
        let known = blocks.into_iter().filter(|it| self.cbd_blocks.contains(it));
        Spread { cbd_block: known.map(|it| (it,)).collect(), ..Spread::default() }
    }
}

/// Takes in the instances that keys make, and what of the state they leave behind. `node` is what waited for the keys.
pub fn take_in(
    observer: &mut Observer<'_>,
    progress: &mut Progress,
    tracing: &mut Tracing<'_>,
    (node, block): (Node, Repeats),
    LateKeys { entries, is_skipped }: LateKeys,
) {
    let known = stood_for(&observer.values.structure, node, block);
    progress.expanded.extend(&known);
    let waited: Vec<Node> =
        known.iter().flat_map(|it| progress.late.remove(it).unwrap_or_default()).collect();
    let mut lowered = lower(observer, progress, tracing, (block, entries), &waited);
    let rows = known.iter().map(|it| (*it,));
    match is_skipped {
        true => lowered.facts.skipped.extend(rows),
        false => lowered.facts.expanded.extend(rows),
    }
    observer.values.structure = std::mem::take(&mut lowered.structure);
    settle_values(observer, &lowered.facts, &known);
    wait_for_providers(observer, &mut lowered.facts);
    conclude(observer.engine(), progress, &mut lowered.facts);
    schedule(observer, progress, &lowered.facts, &waited);
    let by_block: FxHashMap<Block, Node> =
        known.iter().filter_map(|it| Some((*progress.blocks.get(it)?, *it))).collect();
    progress.blocks.extend(pending_blocks(&lowered.facts));
    for (instance, block) in &lowered.facts.of {
        if let Some(pending) = by_block.get(block) {
            observer.ephemeral_uses.as_pending(*instance, *pending);
        }
    }
    for trigger in lowered.triggers.into_iter().filter(Trigger::is_particular) {
        progress.triggers.entry(trigger.node).or_default().push(trigger);
    }
    progress.places.extend(lowered.places);
    progress.facts.absorb(&lowered.facts);
}

/// The pending nodes that stand for nothing any more: the one, or all in the module instance that stood in for a call.
fn stood_for(structure: &Structure, node: Node, block: Repeats) -> Vec<Node> {
    match block {
        Repeats::Resource(_) => vec![node],
        Repeats::Call(call) => {
            let mut all = Vec::new();
            let mut open: Vec<ModuleId> = structure.call(call).all_instances().collect();
            while let Some(module) = open.pop() {
                let module = structure.module(module);
                let resources = module.resources.iter();
                all.extend(resources.filter_map(|it| structure.resource(*it).besides.pending));
                let calls = module.besides.calls.all();
                open.extend(calls.flat_map(|it| structure.call(it).all_instances()));
            }
            all
        }
    }
}

/// Traces what was found, and lowers it.
fn lower(
    observer: &mut Observer<'_>,
    progress: &Progress,
    tracing: &mut Tracing<'_>,
    (block, entries): (Repeats, Entries),
    waited: &[Node],
) -> Lowered {
    let structure = std::mem::take(&mut observer.values.structure);
    let first = structure.nodes.len();
    let found = match block {
        Repeats::Resource(id) => tracing.trace.resource_found(structure, id, entries),
        Repeats::Call(id) => tracing.trace.call_found(structure, id, entries),
    };
    lower::lower_more(
        &tracing.documents,
        found,
        (first, waited),
        |node| progress.by_node.reads_of(node).to_vec(),
        &|node| progress.expanded.contains(&node),
    )
}

/// Makes room for values, and says which are still to come.
fn settle_values(observer: &mut Observer<'_>, facts: &Facts, known: &[Node]) {
    let values = &mut observer.values;
    let first = values.nodes();
    let first_resource = values.types.len();
    values.grow();
    for index in first..values.structure.nodes.len() {
        if is_decided_late(&values.structure.nodes[index]) {
            values.wait_for(Node(index as u32));
        }
    }
    let of_objects = facts.object.iter().filter_map(|it| match values.structure.kind(it.0) {
        NodeKind::Object(id, _) | NodeKind::Pending(id) => Some(*id),
        _ => None,
    });
    let new = (first_resource..values.structure.resources.len()).map(|it| ResourceId(it as u32));
    let resources: BTreeSet<ResourceId> = of_objects.chain(new).collect();
    for id in resources {
        if let Some(schema) = observer.pool.schema_of(values.structure.resource(id)) {
            values.learn(id, schema);
        }
        values.forget_whole(id);
    }
    known.iter().for_each(|it| values.record(*it, Value::NULL));
}

/// Lets objects that exist, and that these keys do not make, wait for the provider instance that serves them.
fn wait_for_providers(observer: &Observer<'_>, facts: &mut Facts) {
    let structure = &observer.values.structure;
    let in_state = facts.in_state.iter().map(|it| it.0);
    let gone: Vec<Node> = in_state.filter(|it| is_undeclared(structure, *it)).collect();
    let provider = |node: Node| Some((node, serving_undeclared(observer, node)?));
    facts.reads.extend(gone.into_iter().filter_map(provider));
    facts.reads.sort_unstable();
    facts.reads.dedup();
}

/// Lets the rules conclude who is gone, who takes part, and who makes the new object first.
fn conclude(engine: EngineRef, progress: &mut Progress, facts: &mut Facts) {
    let judged: Instances = engine.conclude(&Ledger::of(facts));
    let mut around: BTreeSet<Node> = BTreeSet::new();
    around.extend(facts.reads.iter().flat_map(|it| [it.0, it.1]));
    around.extend(facts.late.iter().flat_map(|it| [it.0, it.1]));
    around.extend(facts.in_state.iter().map(|it| it.0));
    facts.needs = progress.before.needs(&facts.in_state);
    let (earlier, blocks) = (progress.before.earlier(&around), progress.before.cbd_blocks(facts));
    let ledger = Ledger::of(facts).with(&judged);
    let selected = select(engine, progress, &ledger.with(&earlier));
    let spread: Spread = engine.conclude(&ledger.with(&blocks));
    progress.learn_asked(&judged);
    progress.by_node.extend(&ledger.with(&selected).with(&spread));
    progress.spread.absorb(&spread);
}

/// Lets the rules conclude who takes part, and whose prior state is loaded all the same.
fn select(engine: EngineRef, progress: &mut Progress, ledger: &Ledger<'_>) -> Selection {
    let selected: Selection = engine.conclude(ledger);
    progress.learn_selected(&selected);
    progress.learn_recalled(&engine.conclude(&ledger.with(&selected)));
    selected
}

/// Selects again, from everything that is known, where it was open whether an object is left out: an object that was selected
/// or left out before the walk stays so.
pub fn select_awaiting(observer: &Observer<'_>, progress: &mut Progress, tracing: &Tracing<'_>) {
    if !progress.is_selection_open {
        return;
    }
    let engine = observer.engine();
    let mut facts = tracing.facts.clone();
    facts.absorb(&progress.facts);
    facts.tidy();
    let ledger = Ledger::of(&facts).with(tracing.providers);
    let judged: Instances = engine.conclude(&ledger);
    let selected = select(engine, progress, &ledger.with(&judged));
    progress.by_node.learn_kept(&selected);
    progress.is_selection_open = !selected.selection_awaits.is_empty();
}

/// Lets what was found wait for what it reads, and releases what waited for these keys.
fn schedule(observer: &Observer<'_>, progress: &mut Progress, facts: &Facts, waited: &[Node]) {
    let count = observer.values.structure.nodes.len();
    let still: FxHashMap<Node, Node> =
        facts.late.iter().filter(|it| !progress.expanded.contains(&it.1)).copied().collect();
    let waited: FxHashSet<Node> = waited.iter().copied().collect();
    for (node, pending) in &still {
        progress.late.entry(*pending).or_default().push(*node);
    }
    let edges = facts.reads.iter().chain(&facts.waits_for).map(|it| (it.0.0, it.1.0));
    let held = still.keys().filter(|it| !waited.contains(it)).map(|it| it.0);
    let released = waited.iter().filter(|it| !still.contains_key(it)).map(|it| it.0);
    progress.schedule.extend(count, edges, held, released);
}

fn pending_blocks(facts: &Facts) -> impl Iterator<Item = (Node, Block)> {
    let pending: FxHashSet<Node> = facts.pending.iter().map(|it| it.0).collect();
    facts.of.iter().filter(move |it| pending.contains(&it.0)).copied()
}

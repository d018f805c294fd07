//! Answers to facts: what was learned of a batch, as the rows that `decide` reads.

use entail_rules::decide::Decisions;
use entail_rules::instances::Instances;
use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Fate, Flag, Ledger, Node, Reason, Seen};
use rustc_hash::FxHashMap;

use crate::lists::Lists;
use crate::lower::structure::NodeKind;

/// Base facts by node, so that a batch is put together without looking at the others.
///
/// What most nodes have lies in tables by number; the rest in maps.
pub struct ByNode {
    reads: Lists<Node>,
    waits: Lists<Node>,
    members: FxHashMap<Node, Vec<Node>>,
    /// What is true of each node: a bit per [`Trait`].
    traits: Vec<u16>,
    deposed_of: FxHashMap<Node, Node>,
    removed: FxHashMap<Node, Fate>,
    orphan: FxHashMap<Node, Reason>,
    /// The pending node that stands for each instance which is not known yet.
    late: FxHashMap<Node, Node>,
    replace: FxHashMap<Node, Flag>,
    triggers: FxHashMap<Node, Vec<Node>>,
    part_triggers: FxHashMap<Node, Vec<Node>>,
    data_waits: FxHashMap<Node, Vec<Node>>,
    data_waits_behind: FxHashMap<Node, Vec<Node>>,
    /// What was concluded of each node: a bit per word.
    seen: Vec<u8>,
    /// What of that the kept facts say.
    told: Vec<u8>,
    base: Facts,
}

/// What can be true of a node, as the position of its bit.
#[derive(Clone, Copy)]
enum Trait {
    Managed,
    Data,
    Ephemeral,
    Declared,
    InState,
    Keeps,
    StateKeeps,
    Conditions,
    InCheck,
    Protects,
    Moved,
    Kept,
    Guarded,
    Cbd,
}

/// The bit of a word.
fn bit(word: Seen) -> u8 {
    1 << Seen::ALL.iter().position(|it| *it == word).expect("every word is listed")
}

/// Adds a word to those of a node, and returns whether it is new there.
fn add(words: &mut Vec<u8>, node: Node, word: Seen) -> bool {
    let index = node.0 as usize;
    if words.len() <= index {
        words.resize(index + 1, 0);
    }
    let is_new = words[index] & bit(word) == 0;
    words[index] |= bit(word);
    is_new
}

fn pairs(rows: &[(Node, Node)]) -> FxHashMap<Node, Vec<Node>> {
    let mut map: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    rows.iter().for_each(|it| map.entry(it.0).or_default().push(it.1));
    map
}

/// What a batch of nodes is decided from: what is said of them, and what was concluded of them before.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What is said of them, answers included.
    pub facts: Facts,
    instances: Instances,
    selection: Selection,
    spread: Spread,
}

impl Batch {
    /// Returns it as rules read it.
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger::of(&self.facts).with(&self.instances).with(&self.selection).with(&self.spread)
    }
}

impl ByNode {
    /// Indexes the facts about so many nodes, and what was concluded of these.
    pub fn new(count: usize, ledger: &Ledger<'_>) -> ByNode {
        let facts = ledger.facts;
        let mut members: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        facts.member.iter().for_each(|it| members.entry(it.1).or_default().push(it.0));
        let mut known = ByNode {
            reads: Lists::of(facts.reads.iter().map(|it| (it.0.0, it.1))),
            waits: Lists::of(facts.waits_for.iter().map(|it| (it.0.0, it.1))),
            members,
            traits: vec![0; count],
            deposed_of: facts.deposed_of.iter().copied().collect(),
            removed: facts.removed_says.iter().copied().collect(),
            orphan: FxHashMap::default(),
            late: facts.late.iter().copied().collect(),
            replace: facts.replace_hit.iter().copied().collect(),
            triggers: pairs(&facts.triggers),
            part_triggers: pairs(&facts.triggers_by_part),
            data_waits: pairs(&facts.data_waits),
            data_waits_behind: pairs(&facts.data_waits_behind),
            seen: vec![0; count],
            told: vec![0; count],
            base: Facts {
                mode: facts.mode.clone(),
                excluding: facts.excluding.clone(),
                outputs_need_all: facts.outputs_need_all.clone(),
                ..Facts::default()
            },
        };
        known.note_all(ledger);
        known
    }

    fn note_all(&mut self, ledger: &Ledger<'_>) {
        let facts = ledger.facts;
        self.note(Trait::Managed, &facts.managed);
        self.note(Trait::Data, &facts.data);
        self.note(Trait::Ephemeral, &facts.ephemeral);
        self.note(Trait::Declared, &facts.declared);
        self.note(Trait::InState, &facts.in_state);
        self.note(Trait::Keeps, &facts.keeps_object);
        self.note(Trait::StateKeeps, &facts.state_keeps_object);
        self.note(Trait::Conditions, &facts.has_conditions);
        self.note(Trait::InCheck, &facts.in_check);
        self.note(Trait::Protects, &facts.protects);
        self.note(Trait::Moved, &facts.moved);
        self.note(Trait::Kept, &ledger.selection.kept);
        self.note(Trait::Guarded, &ledger.selection.guarded);
        self.note(Trait::Cbd, &ledger.spread.cbd);
        self.orphan.extend(ledger.instances.orphan.iter().copied());
    }

    fn note(&mut self, what: Trait, rows: &[(Node,)]) {
        for (node,) in rows {
            let index = node.0 as usize;
            if self.traits.len() <= index {
                self.traits.resize(index + 1, 0);
            }
            self.traits[index] |= 1 << what as u16;
        }
    }

    fn has(&self, node: Node, what: Trait) -> bool {
        self.traits.get(node.0 as usize).is_some_and(|it| it & (1 << what as u16) != 0)
    }

    fn seen(&self, node: Node) -> u8 {
        self.seen.get(node.0 as usize).copied().unwrap_or_default()
    }

    fn see(&mut self, node: Node, word: Seen) {
        add(&mut self.seen, node, word);
    }

    /// Returns an empty batch: what holds for every one.
    pub fn batch(&self) -> Batch {
        let facts = Facts {
            mode: self.base.mode.clone(),
            excluding: self.base.excluding.clone(),
            outputs_need_all: self.base.outputs_need_all.clone(),
            ..Facts::default()
        };
        Batch { facts, ..Batch::default() }
    }

    /// Returns whether something that a node reads, be it in part, failed or is blocked, so that nothing need be asked of it.
    pub fn is_blocked(&self, node: Node) -> bool {
        let stops = bit(Seen::Failed) | bit(Seen::Blocked);
        self.before(node).any(|it| self.seen(it) & stops != 0)
    }

    /// What is settled before a node is asked of, because it tells something of it.
    fn before(&self, node: Node) -> impl Iterator<Item = Node> {
        let read = self.reads.get(node.0).iter().chain(self.waits.get(node.0));
        read.chain(self.late.get(&node)).copied()
    }

    /// Returns whether a node's own question failed.
    pub fn has_failed(&self, node: Node) -> bool {
        self.seen(node) & bit(Seen::Failed) != 0
    }

    /// Returns whether a node is an instance that the configuration declares.
    pub fn is_declared(&self, node: Node) -> bool {
        self.has(node, Trait::Declared)
    }

    /// Returns whether anything was concluded of what a node reads, so that rules have something to say of it.
    pub fn matters(&self, node: Node) -> bool {
        let seen = |it: Node| self.seen(it) != 0;
        self.before(node).any(seen)
            || self.members.get(&node).is_some_and(|it| it.iter().copied().any(seen))
    }

    /// Writes what is known of a node apart from its answers.
    pub fn describe(&self, about: &mut Batch, node: Node, kind: &NodeKind) {
        let batch = &mut about.facts;
        for &other in self.reads.get(node.0) {
            if self.write_seen(batch, other) {
                batch.reads.push((node, other));
            }
        }
        for &other in self.waits.get(node.0) {
            if self.write_seen(batch, other) {
                batch.waits_for.push((node, other));
            }
        }
        if let Some(&pending) = self.late.get(&node)
            && self.write_seen(batch, pending)
        {
            batch.late.push((node, pending));
        }
        if matches!(kind, NodeKind::Collection(_)) {
            for &member in self.members.get(&node).into_iter().flatten() {
                if self.write_seen(batch, member) {
                    batch.member.push((member, node));
                }
            }
        }
        self.write_traits(about, node);
        let batch = &mut about.facts;
        batch.deposed_of.extend(self.deposed_of.get(&node).map(|it| (node, *it)));
        batch.removed_says.extend(self.removed.get(&node).map(|it| (node, *it)));
        about.instances.orphan.extend(self.orphan.get(&node).map(|it| (node, *it)));
        batch.replace_hit.extend(self.replace.get(&node).map(|it| (node, *it)));
        for (all, rows) in [
            (&self.triggers, &mut batch.triggers),
            (&self.data_waits, &mut batch.data_waits),
            (&self.data_waits_behind, &mut batch.data_waits_behind),
        ] {
            rows.extend(all.get(&node).into_iter().flatten().map(|it| (node, *it)));
        }
        batch
            .triggers_by_part
            .extend(self.part_triggers.get(&node).into_iter().flatten().map(|it| (node, *it)));
        for &other in self
            .triggers
            .get(&node)
            .into_iter()
            .flatten()
            .chain(self.part_triggers.get(&node).into_iter().flatten())
            .chain(self.data_waits.get(&node).into_iter().flatten())
            .chain(self.data_waits_behind.get(&node).into_iter().flatten())
        {
            self.write_seen(batch, other);
        }
    }

    /// Writes what was concluded of a node, and returns whether that was anything.
    fn write_seen(&self, batch: &mut Facts, node: Node) -> bool {
        let words = self.seen(node);
        if words != 0 {
            let concluded = Seen::ALL.iter().filter(|it| words & bit(**it) != 0);
            batch.seen.extend(concluded.map(|word| (node, *word)));
        }
        words != 0
    }

    /// Writes what a node is, one fact per trait.
    fn write_traits(&self, about: &mut Batch, node: Node) {
        let batch = &mut about.facts;
        for (what, rows) in [
            (Trait::Managed, &mut batch.managed),
            (Trait::Data, &mut batch.data),
            (Trait::Ephemeral, &mut batch.ephemeral),
            (Trait::Declared, &mut batch.declared),
            (Trait::InState, &mut batch.in_state),
            (Trait::Keeps, &mut batch.keeps_object),
            (Trait::StateKeeps, &mut batch.state_keeps_object),
            (Trait::Conditions, &mut batch.has_conditions),
            (Trait::InCheck, &mut batch.in_check),
            (Trait::Protects, &mut batch.protects),
            (Trait::Moved, &mut batch.moved),
            (Trait::Kept, &mut about.selection.kept),
            (Trait::Guarded, &mut about.selection.guarded),
            (Trait::Cbd, &mut about.spread.cbd),
        ] {
            if self.has(node, what) {
                rows.push((node,));
            }
        }
    }

    /// Remembers what a batch concluded, for those that read its nodes.
    pub fn learn(&mut self, batch: &Facts, decisions: &Decisions) {
        batch.failed.iter().for_each(|it| self.see(it.0, Seen::Failed));
        decisions.blocked.iter().for_each(|it| self.see(it.0, Seen::Blocked));
        decisions.changing.iter().for_each(|it| self.see(it.0, Seen::Changing));
        decisions.triggering.iter().for_each(|it| self.see(it.0, Seen::Triggering));
        decisions.unsettled.iter().for_each(|it| self.see(it.0, Seen::Unsettled));
    }

    /// Keeps what a batch was answered, and which conclusions it rests on, each once. What else it was told of its nodes was known
    /// before, or came with the instances that were found.
    pub fn keep(&mut self, kept: &mut Facts, batch: &mut Facts) {
        batch.seen.retain(|&(node, word)| add(&mut self.told, node, word));
        kept.absorb_group("answers", batch);
        kept.tainted.extend_from_slice(&batch.tainted);
        kept.recorded_result.extend_from_slice(&batch.recorded_result);
    }

    /// Says that a node failed after it was decided.
    pub fn fail(&mut self, node: Node) {
        self.see(node, Seen::Failed);
    }

    /// Takes in what is said and concluded of instances that were found in the walk.
    pub fn extend(&mut self, ledger: &Ledger<'_>) {
        self.note_all(ledger);
        let more = ledger.facts;
        for (node, collection) in &more.member {
            self.members.entry(*collection).or_default().push(*node);
        }
        for (all, rows) in [(&mut self.reads, &more.reads), (&mut self.waits, &more.waits_for)] {
            rows.iter().for_each(|(node, other)| all.push(node.0, *other));
        }
        for (rows, all) in [
            (&more.triggers, &mut self.triggers),
            (&more.triggers_by_part, &mut self.part_triggers),
            (&more.data_waits, &mut self.data_waits),
            (&more.data_waits_behind, &mut self.data_waits_behind),
        ] {
            rows.iter().for_each(|it| all.entry(it.0).or_default().push(it.1));
        }
        self.late.extend(more.late.iter().copied());
        self.replace.extend(more.replace_hit.iter().copied());
    }

    /// Lets go of what only a walk asks for.
    pub fn let_go(&mut self) {
        (self.reads, self.waits) = Default::default();
        self.members = FxHashMap::default();
    }

    /// Returns the nodes a node reads.
    pub fn reads_of(&self, node: Node) -> &[Node] {
        self.reads.get(node.0)
    }
}

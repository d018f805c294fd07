//! What is known by node: what can be said of one before it is decided, and what is kept of that.

use entail_rules::selection::Selection;
use entail_rules::{Facts, Fate, Flag, Ledger, Node, Reason, Seen};
use rustc_hash::FxHashMap;

use super::said::{Said, Trait, What, bit, words};
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
    of_run: Facts,
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
            of_run: Facts {
                mode: facts.mode.clone(),
                excluding: facts.excluding.clone(),
                outputs_need_all: facts.outputs_need_all.clone(),
                skips_refresh: facts.skips_refresh.clone(),
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
        self.note(Trait::ReadByProvider, &ledger.providers.read_by_provider);
        self.orphan.extend(ledger.instances.orphan.iter().copied());
    }

    /// Takes in which objects must stay as they are, as far as that was open before.
    pub fn learn_kept(&mut self, selection: &Selection) {
        self.note(Trait::Kept, &selection.kept);
        self.note(Trait::Guarded, &selection.guarded);
    }

    fn note(&mut self, what: Trait, rows: &[(Node,)]) {
        for (node,) in rows {
            let index = node.0 as usize;
            if self.traits.len() <= index {
                self.traits.resize(index + 1, 0);
            }
            self.traits[index] |= what.bit();
        }
    }

    fn has(&self, node: Node, what: Trait) -> bool {
        self.traits.get(node.0 as usize).is_some_and(|it| it & what.bit() != 0)
    }

    fn seen(&self, node: Node) -> u8 {
        self.seen.get(node.0 as usize).copied().unwrap_or_default()
    }

    fn see(&mut self, node: Node, word: Seen) {
        add(&mut self.seen, node, word);
    }

    /// Returns the facts that hold for every node.
    pub fn of_run(&self) -> &Facts {
        &self.of_run
    }

    /// Returns whether the rules concluded that nothing can be said of a node, which was decided.
    pub fn is_blocked(&self, node: Node) -> bool {
        self.seen(node) & bit(Seen::Blocked) != 0
    }

    /// Returns whether anything before a node failed or is blocked: otherwise the rules need not be asked whether the node is.
    pub fn may_be_blocked(&self, node: Node) -> bool {
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

    /// Returns whether the block of an object says that it stays when its block goes.
    pub fn keeps_object(&self, node: Node) -> bool {
        self.has(node, Trait::Keeps)
    }

    /// Returns whether anything was concluded of what a node reads, so that rules have something to say of it.
    pub fn matters(&self, node: Node) -> bool {
        let seen = |it: Node| self.seen(it) != 0;
        self.before(node).any(seen)
            || self.members.get(&node).is_some_and(|it| it.iter().copied().any(seen))
    }

    /// Says what is known of a node apart from its answers.
    pub fn describe(&self, said: &mut Vec<Said>, node: Node, kind: &NodeKind) {
        let traits = self.traits.get(node.0 as usize).copied().unwrap_or_default();
        said.extend((traits != 0).then_some(Said { what: What::Is(traits), other: node }));
        for (what, all) in [(What::Reads, &self.reads), (What::WaitsFor, &self.waits)] {
            for &other in all.get(node.0) {
                if self.say_seen(said, other) {
                    said.push(Said { what, other });
                }
            }
        }
        if let Some(&other) = self.late.get(&node)
            && self.say_seen(said, other)
        {
            said.push(Said { what: What::Late, other });
        }
        if matches!(kind, NodeKind::Collection(_)) {
            for &other in self.members.get(&node).into_iter().flatten() {
                if self.say_seen(said, other) {
                    said.push(Said { what: What::Member, other });
                }
            }
        }
        let own = |what| Said { what, other: node };
        let deposed = self.deposed_of.get(&node);
        said.extend(deposed.map(|it| Said { what: What::DeposedOf, other: *it }));
        said.extend(self.removed.get(&node).map(|it| own(What::Removed(*it))));
        said.extend(self.orphan.get(&node).map(|it| own(What::Orphan(*it))));
        said.extend(self.replace.get(&node).map(|it| own(What::ReplaceHit(*it))));
        for (what, all) in [
            (What::Triggers, &self.triggers),
            (What::TriggersByPart, &self.part_triggers),
            (What::DataWaits, &self.data_waits),
            (What::DataWaitsBehind, &self.data_waits_behind),
        ] {
            for &other in all.get(&node).into_iter().flatten() {
                said.push(Said { what, other });
                self.say_seen(said, other);
            }
        }
    }

    /// Returns what the rules look at to say what may be asked of the provider of a node. `None` if its configuration is known.
    pub fn premises(&self, node: Node) -> Option<Facts> {
        let half = bit(Seen::HalfConfigured);
        let is_half = |it: &Node| self.seen(*it) & half != 0;
        let pairs = |all: &Lists<Node>| {
            let read = all.get(node.0).iter().copied().filter(is_half);
            read.map(|it| (node, it)).collect::<Vec<_>>()
        };
        let (reads, waits_for) = (pairs(&self.reads), pairs(&self.waits));
        let providers: Vec<Node> = reads.iter().chain(&waits_for).map(|it| it.1).collect();
        if providers.is_empty() {
            return None;
        }
        let is = |what| self.has(node, what).then_some((node,)).into_iter().collect();
        Some(Facts {
            managed: is(Trait::Managed),
            in_state: is(Trait::InState),
            reads,
            waits_for,
            seen: providers.iter().map(|it| (*it, Seen::HalfConfigured)).collect(),
            provider_unknown: providers.into_iter().map(|it| (it,)).collect(),
            ..Facts::default()
        })
    }

    /// Says what was concluded of a node, and returns whether that was anything.
    fn say_seen(&self, said: &mut Vec<Said>, other: Node) -> bool {
        let words = self.seen(other);
        said.extend((words != 0).then_some(Said { what: What::Seen(words), other }));
        words != 0
    }

    /// Remembers what was concluded of nodes, for those that read them.
    pub fn learn(&mut self, told: &[(Node, Seen)]) {
        told.iter().for_each(|it| self.see(it.0, it.1));
    }

    /// Keeps what was answered of a node, and which conclusions its decision rests on, each once. What else was said of it was
    /// known before, or came with the instances that were found.
    pub fn keep(&mut self, kept: &mut Facts, node: Node, said: &[Said]) {
        for it in said {
            match it.what {
                What::Answered(answer) => answer.add(kept, node, it.other),
                What::Seen(bits) => {
                    let new = words(bits).filter(|word| add(&mut self.told, it.other, *word));
                    kept.seen.extend(new.map(|word| (it.other, word)));
                }
                _ => {}
            }
        }
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

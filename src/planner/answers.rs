//! Answers to facts: what was learned of a batch, as the rows that `decide` reads.

use entail_rules::decide::Decisions;
use entail_rules::{Action, Facts, Fate, Flag, Node, Reason, Seen};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lower::Lowered;
use crate::lower::structure::NodeKind;

/// Base facts by node, so that a batch is put together without looking at the others.
pub struct ByNode {
    reads: FxHashMap<Node, Vec<Node>>,
    members: FxHashMap<Node, Vec<Node>>,
    managed: FxHashSet<Node>,
    data: FxHashSet<Node>,
    declared: FxHashSet<Node>,
    in_state: FxHashSet<Node>,
    keeps: FxHashSet<Node>,
    state_keeps: FxHashSet<Node>,
    conditions: FxHashSet<Node>,
    in_check: FxHashSet<Node>,
    kept: FxHashSet<Node>,
    guarded: FxHashSet<Node>,
    cbd: FxHashSet<Node>,
    deposed_of: FxHashMap<Node, Node>,
    removed: FxHashMap<Node, Fate>,
    orphan: FxHashMap<Node, Reason>,
    replace: FxHashMap<Node, Flag>,
    triggers: FxHashMap<Node, Vec<Node>>,
    part_triggers: FxHashMap<Node, Vec<Node>>,
    data_waits: FxHashMap<Node, Vec<Node>>,
    seen: FxHashMap<Node, Vec<Seen>>,
    base: Facts,
}

fn set(rows: &[(Node,)]) -> FxHashSet<Node> {
    rows.iter().map(|it| it.0).collect()
}

fn pairs(rows: &[(Node, Node)]) -> FxHashMap<Node, Vec<Node>> {
    let mut map: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    rows.iter().for_each(|it| map.entry(it.0).or_default().push(it.1));
    map
}

/// What earlier strata concluded, as far as `decide` reads it.
pub struct Earlier<'a> {
    /// `orphan(n, r)`
    pub orphan: &'a [(Node, Reason)],
    /// `kept(n)`
    pub kept: &'a [(Node,)],
    /// `guarded(n)`
    pub guarded: &'a [(Node,)],
    /// `cbd(n)`
    pub cbd: &'a [(Node,)],
}

impl ByNode {
    /// Indexes the facts.
    pub fn new(lowered: &Lowered, earlier: Earlier<'_>) -> ByNode {
        let facts = &lowered.facts;
        let mut members: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        facts.member.iter().for_each(|it| members.entry(it.1).or_default().push(it.0));
        ByNode {
            reads: pairs(&facts.reads),
            members,
            managed: set(&facts.managed),
            data: set(&facts.data),
            declared: set(&facts.declared),
            in_state: set(&facts.in_state),
            keeps: set(&facts.keeps_object),
            state_keeps: set(&facts.state_keeps_object),
            conditions: set(&facts.has_conditions),
            in_check: set(&facts.in_check),
            kept: set(earlier.kept),
            guarded: set(earlier.guarded),
            cbd: set(earlier.cbd),
            deposed_of: facts.deposed_of.iter().copied().collect(),
            removed: facts.removed_says.iter().copied().collect(),
            orphan: earlier.orphan.iter().copied().collect(),
            replace: facts.replace_hit.iter().copied().collect(),
            triggers: pairs(&facts.triggers),
            part_triggers: pairs(&facts.triggers_by_part),
            data_waits: pairs(&facts.data_waits),
            seen: FxHashMap::default(),
            base: Facts {
                mode: facts.mode.clone(),
                excluding: facts.excluding.clone(),
                outputs_need_all: facts.outputs_need_all.clone(),
                ..Facts::default()
            },
        }
    }

    /// Returns an empty batch: what holds for every one.
    pub fn batch(&self) -> Facts {
        Facts {
            mode: self.base.mode.clone(),
            excluding: self.base.excluding.clone(),
            outputs_need_all: self.base.outputs_need_all.clone(),
            ..Facts::default()
        }
    }

    /// Returns whether something that a node reads failed or is blocked, so that nothing need be asked of it.
    pub fn is_blocked(&self, node: Node) -> bool {
        let stops = |it: &Node| self.seen.get(it).is_some_and(|it| it.iter().any(|it| matches!(it, Seen::Failed | Seen::Blocked)));
        self.reads.get(&node).is_some_and(|it| it.iter().any(stops))
    }

    /// Returns whether a node's own question failed.
    pub fn has_failed(&self, node: Node) -> bool {
        self.seen.get(&node).is_some_and(|it| it.contains(&Seen::Failed))
    }

    /// Returns whether a node is an instance that the configuration declares.
    pub fn is_declared(&self, node: Node) -> bool {
        self.declared.contains(&node)
    }

    /// Returns whether anything was concluded of what a node reads, so that rules have something to say of it.
    pub fn matters(&self, node: Node) -> bool {
        let seen = |it: &Node| self.seen.contains_key(it);
        self.reads.get(&node).is_some_and(|it| it.iter().any(seen)) || self.members.get(&node).is_some_and(|it| it.iter().any(seen))
    }

    /// Writes what is known of a node apart from its answers.
    pub fn describe(&self, batch: &mut Facts, node: Node, kind: &NodeKind) {
        let seen_of = |batch: &mut Facts, other: Node| {
            let words = self.seen.get(&other).map(Vec::as_slice).unwrap_or_default();
            batch.seen.extend(words.iter().map(|word| (other, *word)));
            !words.is_empty()
        };
        for &other in self.reads.get(&node).into_iter().flatten() {
            if seen_of(batch, other) {
                batch.reads.push((node, other));
            }
        }
        if matches!(kind, NodeKind::Collection(_)) {
            for &member in self.members.get(&node).into_iter().flatten() {
                if seen_of(batch, member) {
                    batch.member.push((member, node));
                }
            }
        }
        for (set, rows) in [
            (&self.managed, &mut batch.managed),
            (&self.data, &mut batch.data),
            (&self.declared, &mut batch.declared),
            (&self.in_state, &mut batch.in_state),
            (&self.keeps, &mut batch.keeps_object),
            (&self.state_keeps, &mut batch.state_keeps_object),
            (&self.conditions, &mut batch.has_conditions),
            (&self.in_check, &mut batch.in_check),
            (&self.kept, &mut batch.kept),
            (&self.guarded, &mut batch.guarded),
            (&self.cbd, &mut batch.cbd),
        ] {
            if set.contains(&node) {
                rows.push((node,));
            }
        }
        batch.deposed_of.extend(self.deposed_of.get(&node).map(|it| (node, *it)));
        batch.removed_says.extend(self.removed.get(&node).map(|it| (node, *it)));
        batch.orphan.extend(self.orphan.get(&node).map(|it| (node, *it)));
        batch.replace_hit.extend(self.replace.get(&node).map(|it| (node, *it)));
        batch.triggers.extend(self.triggers.get(&node).into_iter().flatten().map(|it| (node, *it)));
        batch.triggers_by_part.extend(self.part_triggers.get(&node).into_iter().flatten().map(|it| (node, *it)));
        for &other in self.data_waits.get(&node).into_iter().flatten() {
            batch.data_waits.push((node, other));
            seen_of(batch, other);
        }
        for &other in self.triggers.get(&node).into_iter().flatten().chain(self.part_triggers.get(&node).into_iter().flatten()) {
            seen_of(batch, other);
        }
    }

    /// Remembers what a batch concluded, for those that read its nodes.
    pub fn learn(&mut self, batch: &Facts, decisions: &Decisions) {
        let mut add = |node: Node, word: Seen| {
            let words = self.seen.entry(node).or_default();
            if !words.contains(&word) {
                words.push(word);
            }
        };
        batch.failed.iter().for_each(|it| add(it.0, Seen::Failed));
        decisions.blocked.iter().for_each(|it| add(it.0, Seen::Blocked));
        decisions.changing.iter().for_each(|it| add(it.0, Seen::Changing));
        decisions.triggering.iter().for_each(|it| add(it.0, Seen::Triggering));
        decisions.unsettled.iter().for_each(|it| add(it.0, Seen::Unsettled));
    }

    /// Says that a node failed after it was decided.
    pub fn fail(&mut self, node: Node) {
        self.seen.entry(node).or_default().push(Seen::Failed);
    }

    /// Takes in facts of instances that were found in the walk.
    pub fn extend(&mut self, more: &Facts, orphans: &[(Node, Reason)]) {
        for (node,) in &more.managed {
            self.managed.insert(*node);
        }
        for (node,) in &more.data {
            self.data.insert(*node);
        }
        for (node,) in &more.declared {
            self.declared.insert(*node);
        }
        for (node,) in &more.keeps_object {
            self.keeps.insert(*node);
        }
        for (node,) in &more.has_conditions {
            self.conditions.insert(*node);
        }
        for (node,) in &more.cbd {
            self.cbd.insert(*node);
        }
        for (node, collection) in &more.member {
            self.members.entry(*collection).or_default().push(*node);
        }
        for (node, other) in &more.reads {
            self.reads.entry(*node).or_default().push(*other);
        }
        for (node, other) in &more.data_waits {
            self.data_waits.entry(*node).or_default().push(*other);
        }
        self.orphan.extend(orphans.iter().copied());
    }

    /// Returns the nodes a node reads.
    pub fn reads_of(&self, node: Node) -> &[Node] {
        self.reads.get(&node).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns the plan's word for an action. `Drop` takes something out of the state without a change in the plan.
pub fn action(action: Action) -> crate::plan::Action {
    use crate::plan::Action as Planned;
    match action {
        Action::NoOp | Action::Drop => Planned::NoOp,
        Action::Create => Planned::Create,
        Action::Read => Planned::Read,
        Action::Update => Planned::Update,
        Action::DeleteThenCreate => Planned::DeleteThenCreate,
        Action::CreateThenDelete => Planned::CreateThenDelete,
        Action::Delete => Planned::Delete,
        Action::Forget => Planned::Forget,
        Action::ForgetThenCreate => Planned::ForgetThenCreate,
    }
}

/// Returns the plan's word for a reason.
pub fn reason(reason: Reason) -> Option<crate::plan::Reason> {
    use crate::plan::Reason as Planned;
    Some(match reason {
        Reason::Plain | Reason::KeptForAnother => return None,
        Reason::ReplaceBecauseTainted => Planned::ReplaceBecauseTainted,
        Reason::ReplaceBecauseCannotUpdate => Planned::ReplaceBecauseCannotUpdate,
        Reason::ReplaceByRequest => Planned::ReplaceByRequest,
        Reason::ReplaceByTriggers => Planned::ReplaceByTriggers,
        Reason::DeleteBecauseNoResourceConfig => Planned::DeleteBecauseNoResourceConfig,
        Reason::DeleteBecauseWrongRepetition => Planned::DeleteBecauseWrongRepetition,
        Reason::DeleteBecauseCountIndex => Planned::DeleteBecauseCountIndex,
        Reason::DeleteBecauseEachKey => Planned::DeleteBecauseEachKey,
        Reason::DeleteBecauseEnabledFalse => Planned::DeleteBecauseEnabledFalse,
        Reason::DeleteBecauseNoModule => Planned::DeleteBecauseNoModule,
        Reason::DeleteBecauseNoMoveTarget => Planned::DeleteBecauseNoMoveTarget,
        Reason::ReadBecauseConfigUnknown => Planned::ReadBecauseConfigUnknown,
        Reason::ReadBecauseDependencyPending => Planned::ReadBecauseDependencyPending,
        Reason::ReadBecauseCheckNested => Planned::ReadBecauseCheckNested,
        Reason::ForgotBecauseLifecycleDestroyInState => Planned::ForgotBecauseLifecycleDestroyInState,
        Reason::ForgotBecauseLifecycleDestroyInConfig => Planned::ForgotBecauseLifecycleDestroyInConfig,
    })
}

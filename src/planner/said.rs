//! What is said of one node before it is decided: the facts about it, and what was concluded of those it reads.
//!
//! A batch of nodes is an antichain: no rule relates two of them, so that each is decided from what is said of itself.

use entail_rules::instances::Instances;
use entail_rules::providers::Providers;
use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Fate, Flag, Ledger, Node, Reason, Seen};

/// Something that is said of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Said {
    /// What it is.
    pub what: What,
    /// The other node that it names; the node itself where it names none.
    pub other: Node,
}

/// What is said: a relation, and what stands in it besides nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Relations of one column: a bit per [`Trait`].
    Is(u16),
    /// `reads(n, m)`
    Reads,
    /// `waits_for(n, m)`
    WaitsFor,
    /// `late(n, m)`
    Late,
    /// `member(m, n)`
    Member,
    /// What was concluded of the other node: a bit per word.
    Seen(u8),
    /// `deposed_of(n, m)`
    DeposedOf,
    /// `removed_says(n, f)`
    Removed(Fate),
    /// `orphan(n, r)`
    Orphan(Reason),
    /// `replace_hit(n, f)`
    ReplaceHit(Flag),
    /// `triggers(n, m)`
    Triggers,
    /// `triggers_by_part(n, m)`
    TriggersByPart,
    /// `data_waits(n, m)`
    DataWaits,
    /// `data_waits_behind(n, m)`
    DataWaitsBehind,
    /// What was answered when somebody asked.
    Answered(Answered),
}

/// What can be answered of a node: relations of one column, and one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answered {
    /// `failed(n)`
    Failed,
    /// `prior(n)`
    Prior,
    /// `tainted(n)`
    Tainted,
    /// `changed_outside(n)`
    ChangedOutside,
    /// `gone_outside(n)`
    GoneOutside,
    /// `differs(n)`
    Differs,
    /// `marks_differ(n)`
    MarksDiffer,
    /// `must_replace(n)`
    MustReplace,
    /// `trigger_differs(n, m)`
    TriggerDiffers,
    /// `config_unknown(n)`
    ConfigUnknown,
    /// `recorded_result(n)`
    RecordedResult,
    /// `configuration_settled(n)`
    Configured,
    /// `provider_unknown(n)`
    ProviderUnknown,
}

/// What can be true of a node, as the position of its bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
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
    ReadByProvider,
}

impl Trait {
    /// Returns its bit.
    pub fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Returns the bit of a word.
pub fn bit(word: Seen) -> u8 {
    1 << Seen::ALL.iter().position(|it| *it == word).expect("every word is listed")
}

/// Returns the words whose bits are set.
pub fn words(bits: u8) -> impl Iterator<Item = Seen> {
    let set = Seen::ALL.iter().enumerate().filter(move |it| bits & (1 << it.0) != 0);
    set.map(|it| *it.1)
}

/// What nodes are decided from, as the rules read it.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What is said of them, answers included.
    pub facts: Facts,
    providers: Providers,
    instances: Instances,
    selection: Selection,
    spread: Spread,
}

impl Batch {
    /// Returns a batch of no nodes.
    ///
    /// - `of_run`: the facts that hold for every one.
    pub fn of(of_run: &Facts) -> Batch {
        Batch { facts: of_run.clone(), ..Batch::default() }
    }

    /// Returns it as rules read it.
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger::of(&self.facts)
            .with(&self.providers)
            .with(&self.instances)
            .with(&self.selection)
            .with(&self.spread)
    }

    /// Adds what is said of a node.
    pub fn add(&mut self, node: Node, said: &[Said]) {
        for it in said {
            self.add_one(node, *it);
        }
    }

    fn add_one(&mut self, node: Node, Said { what, other }: Said) {
        let facts = &mut self.facts;
        match what {
            What::Is(bits) => self.add_traits(node, bits),
            What::Reads => facts.reads.push((node, other)),
            What::WaitsFor => facts.waits_for.push((node, other)),
            What::Late => facts.late.push((node, other)),
            What::Member => facts.member.push((other, node)),
            What::Seen(bits) => facts.seen.extend(words(bits).map(|it| (other, it))),
            What::DeposedOf => facts.deposed_of.push((node, other)),
            What::Removed(fate) => facts.removed_says.push((node, fate)),
            What::Orphan(reason) => self.instances.orphan.push((node, reason)),
            What::ReplaceHit(flag) => facts.replace_hit.push((node, flag)),
            What::Triggers => facts.triggers.push((node, other)),
            What::TriggersByPart => facts.triggers_by_part.push((node, other)),
            What::DataWaits => facts.data_waits.push((node, other)),
            What::DataWaitsBehind => facts.data_waits_behind.push((node, other)),
            What::Answered(answer) => answer.add(facts, node, other),
        }
    }

    fn add_traits(&mut self, node: Node, bits: u16) {
        let facts = &mut self.facts;
        for (what, rows) in [
            (Trait::Managed, &mut facts.managed),
            (Trait::Data, &mut facts.data),
            (Trait::Ephemeral, &mut facts.ephemeral),
            (Trait::Declared, &mut facts.declared),
            (Trait::InState, &mut facts.in_state),
            (Trait::Keeps, &mut facts.keeps_object),
            (Trait::StateKeeps, &mut facts.state_keeps_object),
            (Trait::Conditions, &mut facts.has_conditions),
            (Trait::InCheck, &mut facts.in_check),
            (Trait::Protects, &mut facts.protects),
            (Trait::Moved, &mut facts.moved),
            (Trait::Kept, &mut self.selection.kept),
            (Trait::Guarded, &mut self.selection.guarded),
            (Trait::Cbd, &mut self.spread.cbd),
            (Trait::ReadByProvider, &mut self.providers.read_by_provider),
        ] {
            if bits & what.bit() != 0 {
                rows.push((node,));
            }
        }
    }
}

impl Answered {
    /// Writes the fact.
    pub fn add(self, facts: &mut Facts, node: Node, other: Node) {
        match self {
            Answered::TriggerDiffers => facts.trigger_differs.push((node, other)),
            Answered::Failed => facts.failed.push((node,)),
            Answered::Prior => facts.prior.push((node,)),
            Answered::Tainted => facts.tainted.push((node,)),
            Answered::ChangedOutside => facts.changed_outside.push((node,)),
            Answered::GoneOutside => facts.gone_outside.push((node,)),
            Answered::Differs => facts.differs.push((node,)),
            Answered::MarksDiffer => facts.marks_differ.push((node,)),
            Answered::MustReplace => facts.must_replace.push((node,)),
            Answered::ConfigUnknown => facts.config_unknown.push((node,)),
            Answered::Configured => facts.configuration_settled.push((node,)),
            Answered::ProviderUnknown => facts.provider_unknown.push((node,)),
            Answered::RecordedResult => facts.recorded_result.push((node,)),
        }
    }
}

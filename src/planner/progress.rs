//! What the walk has found so far, and how it left each object.

use std::collections::BTreeMap;

use entail_rules::instances::Instances;
use entail_rules::recall::Recall;
use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::{Action, Block, Facts, Node, Reason};
use rustc_hash::{FxHashMap, FxHashSet};

use super::alike::{Alike, Taken};
use super::answers::ByNode;
use super::late::Before;
use super::said::Said;
use crate::diagnostic::Span;
use crate::lower::structure::{NodeKind, NodeMap};
use crate::lower::trace::Trigger;
use crate::observe::object::Prior;
use crate::rarely::{Rarely, plain};
use crate::schedule::Schedule;
use crate::state::Private;
use crate::value::{MarkPaths, Path, Value};

/// Which part an object takes in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It is planned.
    Selected,
    /// It is left out because of an exclusion.
    Excluded,
    /// No target wants it.
    Untargeted,
    /// It is no object, or it is not known yet which part it takes.
    NoObject,
}

/// How the walk left an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The plan says what is to be done with it, and why.
    Planned(Action, Reason),
    /// As that, and nothing rests on it: something that has been told stands in the way.
    Refused(Action, Reason),
    /// It leaves the state without a change.
    Dropped,
    /// Its value is known, as far as it can be: data, or an ephemeral resource.
    Valued,
    /// There was nothing to ask.
    Silent,
    /// It takes no part.
    Left,
    /// Something that it reads failed.
    Blocked,
    /// A question about it failed.
    Failed,
}

/// What was learned and decided of objects.
pub type Found = NodeMap<Box<ObjectDecision>>;

/// What the walk keeps while it runs.
pub struct Progress {
    /// What waits for what.
    pub schedule: Schedule,
    /// Facts by node.
    pub by_node: ByNode,
    /// The part of each node.
    pub parts: Vec<Part>,
    /// What was found, by node.
    pub found: Found,
    /// Objects that are gone, or data that nothing declares: out of the state without a change.
    pub dropped: Vec<Node>,
    /// What the gone objects among them were.
    pub gone: Vec<(Node, Prior)>,
    /// Data that was read or reused: its value.
    pub results: BTreeMap<Node, Value>,
    /// How each object was left.
    pub endings: Vec<(Node, Ending)>,
    /// What the walk was answered, and the facts of instances that it found; for proofs.
    pub facts: Facts,
    /// All decisions.
    pub taken: Taken,
    /// What was decided of nodes of which the like is said.
    pub alike: Alike,
    /// Room for what is said of a node.
    pub said: Vec<Said>,
    /// Key sets to expand before going on.
    pub to_expand: Vec<Node>,
    /// `replace_triggered_by` by attribute, or by a key.
    pub triggers: FxHashMap<Node, Vec<Trigger>>,
    /// Of what only a part is asked, or nothing: that objects are only looked at, that others give no value.
    pub asked: FxHashMap<Node, Asked>,
    /// Whether values are evaluated even if nothing asks for them.
    pub evaluate_all: bool,
    /// Otherwise, the values that something in this run reads.
    pub wanted: FxHashSet<Node>,
    /// The objects that take no part, and of which the state is asked.
    pub recalled: FxHashSet<Node>,
    /// The pending nodes and module calls whose keys are asked for.
    pub asks_keys: FxHashSet<Node>,
    /// Those of them whose keys must be had.
    pub requires_keys: FxHashSet<Node>,
    /// Key sets that have been expanded.
    pub expanded: FxHashSet<Node>,
    /// The block of each pending node.
    pub blocks: FxHashMap<Node, Block>,
    /// Existing instances whose declaration waits for each pending node.
    pub late: FxHashMap<Node, Vec<Node>>,
    /// What was concluded before the walk, for instances that are found in it.
    pub before: Before,
    /// Whether there are objects of which it is not known yet whether they are left out.
    pub is_selection_open: bool,
    /// Which of these make the new object first.
    pub spread: Spread,
    /// Where their reads stand.
    pub places: Vec<(Node, Node, Span)>,
}

/// What is asked of an object that takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// What is planned for it; of data and ephemeral resources, what they give.
    #[default]
    Whole,
    /// What exists as it.
    Existing,
    /// What the state says of it.
    Recorded,
    /// Nothing.
    Nothing,
}

/// What this run wants of the keys of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeysAsked {
    /// They must be had.
    Required,
    /// They serve where they can be had.
    Welcome,
    /// Nothing.
    Not,
}

impl Progress {
    /// Takes in what was concluded of which objects are only looked at, and which are not asked.
    pub fn learn_asked(&mut self, concluded: &Instances) {
        let existing = concluded.only_refreshed.iter().map(|it| (it.0, Asked::Existing));
        let nothing = concluded.unasked.iter().map(|it| (it.0, Asked::Nothing));
        let recorded = concluded.only_forgotten.iter().map(|it| (it.0, Asked::Recorded));
        self.asked.extend(existing.chain(nothing).chain(recorded));
    }

    /// Takes in which objects take part and which do not, and what follows from that.
    pub fn learn_selected(&mut self, concluded: &Selection) {
        self.before.learn(concluded);
        for (rows, part) in [
            (&concluded.open, Part::NoObject),
            (&concluded.selected, Part::Selected),
            (&concluded.excluded, Part::Excluded),
            (&concluded.untargeted, Part::Untargeted),
        ] {
            rows.iter().for_each(|it| self.set_part(it.0, part));
        }
        self.learn_evaluated(concluded);
        self.is_selection_open |= !concluded.selection_awaits.is_empty();
    }

    /// Takes in what was concluded of what is evaluated, and whose keys are asked for.
    pub fn learn_evaluated(&mut self, concluded: &Selection) {
        self.evaluate_all |= !concluded.evaluates_all.is_empty();
        self.wanted.extend(concluded.evaluated.iter().map(|it| it.0));
        self.asks_keys.extend(concluded.asks_keys.iter().map(|it| it.0));
        self.requires_keys.extend(concluded.requires_keys.iter().map(|it| it.0));
    }

    /// Takes in whose prior state is loaded although it takes no part.
    pub fn learn_recalled(&mut self, concluded: &Recall) {
        self.recalled.extend(concluded.recalled.iter().map(|it| it.0));
    }

    /// Returns what was concluded of the keys that a node stands for.
    pub fn keys_asked(&self, node: Node) -> KeysAsked {
        match (self.requires_keys.contains(&node), self.asks_keys.contains(&node)) {
            (true, _) => KeysAsked::Required,
            (false, true) => KeysAsked::Welcome,
            (false, false) => KeysAsked::Not,
        }
    }

    /// Returns whether a node is no object.
    pub fn is_value(&self, node: Node) -> bool {
        self.parts.get(node.0 as usize).is_none_or(|it| *it == Part::NoObject)
    }

    /// Returns the part of a node.
    pub fn part(&self, node: Node) -> Part {
        self.parts.get(node.0 as usize).copied().unwrap_or(Part::NoObject)
    }

    /// Returns whether a node is an object that takes no part and that nobody asks for, so that it is not looked at.
    pub fn is_left(&self, node: Node) -> bool {
        matches!(self.part(node), Part::Excluded | Part::Untargeted)
            && !self.recalled.contains(&node)
    }

    /// Says which part a node takes.
    pub fn set_part(&mut self, node: Node, part: Part) {
        let index = node.0 as usize;
        if self.parts.len() <= index {
            self.parts.resize(index + 1, Part::NoObject);
        }
        self.parts[index] = part;
    }

    /// Returns whether a value is evaluated in this run, be it only for its checks.
    pub fn is_evaluated(&self, node: Node) -> bool {
        self.evaluate_all || self.wanted.contains(&node)
    }
}

/// What was learned and decided of one object.
#[derive(Clone, Debug)]
pub struct ObjectDecision {
    /// What is to be done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The object now; marked. Nothing where there is and was none.
    pub prior: Option<Prior>,
    /// The planned object, null when it goes; marked.
    pub after: Value,
    /// What else is decided, mostly nothing.
    pub details: Rarely<DecisionDetails>,
}

/// What is decided of an object besides what it becomes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionDetails {
    /// What the provider handed out.
    pub private: Private,
    /// What the object will be identified by.
    pub identity: Option<Value>,
    /// Paths that made it a replacement.
    pub replace_paths: Box<[Path]>,
    /// The configuration's own marks, where the plan is to record those and not the schema's: in replacements and reads.
    pub recorded_marks: Option<Box<MarkPaths>>,
}

plain!(DecisionDetails);

impl ObjectDecision {
    /// Returns what is decided where no provider planned anything.
    pub fn unplanned(
        action: Action,
        reason: Reason,
        prior: Option<Prior>,
        after: Value,
    ) -> ObjectDecision {
        ObjectDecision { action, reason, prior, after, details: Rarely::default() }
    }
}

/// Returns whether a node has its value, or its instances, only once the walk has been there.
pub fn is_decided_late(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Object(..) | NodeKind::Pending(_) | NodeKind::CallKeys(_))
}

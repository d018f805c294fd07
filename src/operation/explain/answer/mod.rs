//! Answers for people: the first line answers the question in one sentence, the causes follow.
//!
//! The rules decide, and their conclusions are looked up here. What a person cannot act on, such as a premise that holds for every
//! object, is left to the proof, which `-full` shows below the answer.

mod absent;
mod exclusion;
mod fit;
mod gone;
mod looked_at;
mod object;
mod outputs;
mod reasons;
mod refused;
mod served;

use std::cell::OnceCell;

use entail_rules::{Action, Atom, Hit, Mode, Node, Reason};
use rustc_hash::FxHashMap;

pub(super) use fit::{fit, shortened};
pub(super) use reasons::{Because, part};

use super::causes::Causes;
use super::context::ExplainContext;
use crate::explain::render::Line;
use crate::explain::{Known, Leaves};

/// The relations that answers look at, beside the decision itself. The first column of each is the node that it is about.
pub(super) const RELATIONS: &[&str] = &[
    "excluded_by",
    "doubted_by",
    "kept",
    "orphan",
    "deferred",
    "opens_later",
    "blocked",
    "untargeted",
    "out",
    "want",
];

/// Tells answers.
pub(super) struct Teller<'a> {
    pub context: &'a ExplainContext,
    /// Where values come from, if that is at hand.
    pub causes: Option<&'a Causes<'a>>,
    /// The first column of each of [`RELATIONS`] with the second, if there is one; sorted.
    rows: FxHashMap<&'static str, Vec<(Node, Option<u64>)>>,
    /// The flags that exclude each node, or a part of it.
    flags: FxHashMap<Node, Vec<&'a str>>,
    /// What depends on each node, says the state; collected where something asks.
    users: OnceCell<FxHashMap<Node, Vec<Node>>>,
}

impl<'a> Teller<'a> {
    /// Returns a teller of what follows from the facts of a plan.
    ///
    /// - `known`: the conclusions of [`RELATIONS`].
    pub fn new(
        context: &'a ExplainContext,
        causes: Option<&'a Causes<'a>>,
        known: &Known,
    ) -> Teller<'a> {
        let rows = RELATIONS.iter().map(|relation| {
            let pair = |row: &[u64]| Some((Node::from_word(*row.first()?)?, row.get(1).copied()));
            let mut pairs: Vec<_> = known.rows(relation).filter_map(pair).collect();
            pairs.sort_unstable();
            (*relation, pairs)
        });
        let mut flags: FxHashMap<Node, Vec<&str>> = FxHashMap::default();
        for (node, hit, flag) in &context.facts.hit {
            if matches!(hit, Hit::Exclude | Hit::Part) {
                flags.entry(*node).or_default().push(context.flag(*flag));
            }
        }
        Teller { context, causes, rows: rows.collect(), flags, users: OnceCell::new() }
    }

    /// Answers why something is decided about a node; nothing where only the proof can.
    ///
    /// - `row`: the row of `relation` that decides it.
    pub fn decision(&self, node: Node, relation: &str, row: &[u64]) -> Vec<Line> {
        let told = match relation {
            "violation" => self.refused(node, row),
            "blocked" => self.blocked(node),
            "excluded" | "untargeted" => self.frozen(node),
            "action" => self.action_of_row(node, row),
            "output_action" | "keeps_value" => self.output(node, relation, row),
            _ => self.looked_at(node, relation),
        };
        told.map_or_else(Vec::new, Because::lines)
    }

    fn action_of_row(&self, node: Node, row: &[u64]) -> Option<Because> {
        let (action, reason) = (Action::from_word(*row.get(1)?)?, Reason::from_word(*row.get(2)?)?);
        Some(self.action(node, action, reason))
    }

    fn name(&self, node: Node) -> String {
        self.context.name(node)
    }

    /// The nodes beside a node in a relation.
    fn nodes_beside(&self, relation: &str, node: Node) -> impl Iterator<Item = Node> {
        self.rows_of(relation, node).iter().filter_map(|it| Node::from_word(it.1?))
    }

    /// The rows of one of [`RELATIONS`] that are about a node.
    fn rows_of(&self, relation: &str, node: Node) -> &[(Node, Option<u64>)] {
        let rows = self.rows.get(relation).map_or(&[][..], Vec::as_slice);
        let from = rows.partition_point(|it| it.0 < node);
        let count = rows[from..].partition_point(|it| it.0 == node);
        &rows[from..from + count]
    }

    /// What depends on a node, says the state.
    fn users(&self, node: Node) -> impl Iterator<Item = Node> {
        let users = self.users.get_or_init(|| {
            let mut users: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
            let needs = &self.context.facts.needs;
            needs.iter().for_each(|it| users.entry(it.1).or_default().push(it.0));
            users
        });
        users.get(&node).into_iter().flatten().copied()
    }

    /// Whether the run is of a mode.
    fn runs_in(&self, mode: Mode) -> bool {
        self.context.facts.mode.iter().any(|it| it.0 == mode)
    }

    /// Whether a relation is about a node.
    pub fn holds(&self, relation: &str, node: Node) -> bool {
        !self.rows_of(relation, node).is_empty()
    }

    /// Why a node is not declared any more.
    fn orphan(&self, node: Node) -> Option<Reason> {
        Reason::from_word(self.rows_of("orphan", node).first()?.1?)
    }

    /// Says that a node could not be planned because planning others failed.
    fn blocked(&self, node: Node) -> Option<Because> {
        let reasons = self.nodes_beside("blocked", node).map(|cause| {
            let has_failed = self.context.facts.failed.binary_search(&(cause,)).is_ok();
            let what = if has_failed { "failed" } else { "could not be planned" };
            let link = self.link(node, cause);
            let mut told = Because::new(format!("{}, which {what}", link.text), link.place);
            let root = self.failed_behind(cause);
            if let Some((why, place)) = self.context.failures.why(root, &self.context.facts) {
                told.below.push(part(1, format!("{}: {why}", self.name(root)), place));
            }
            told
        });
        let reasons: Vec<Because> = reasons.collect();
        let head = format!("{} could not be planned", self.name(node));
        (!reasons.is_empty()).then(|| Because::of(&head, reasons))
    }

    /// What failed itself behind a node that could not be planned.
    fn failed_behind(&self, node: Node) -> Node {
        let (mut at, mut seen) = (node, vec![node]);
        while self.context.facts.failed.binary_search(&(at,)).is_err() {
            let Some(next) = self.nodes_beside("blocked", at).find(|it| !seen.contains(it)) else {
                break;
            };
            seen.push(next);
            at = next;
        }
        at
    }

    /// Says whether planning a node failed, itself or because of what it reads.
    pub fn failure(&self, node: Node) -> Option<&'static str> {
        if self.context.failures.why(node, &self.context.facts).is_some() {
            return Some("could not be planned");
        }
        self.holds("blocked", node)
            .then_some("could not be planned because something that it reads failed")
    }
}

#[cfg(test)]
mod tests;

//! What a context knows of values part by part, for who follows a change.

use entail_rules::{Node, beside};

use crate::lower::Lowered;
use crate::lower::structure::NodeKind;
use crate::operation::explain::{ExplainContext, MadeOf};

impl ExplainContext {
    /// Tells apart what keys are made of and, where values were followed in the trace, what each part of a value is made of.
    pub fn in_parts(mut self, lowered: &Lowered, follows_values: bool) -> ExplainContext {
        self.made_of = Some(MadeOf::of(&lowered.made_of));
        self.follows_values = follows_values;
        self
    }

    /// Returns the values through which something is made of another, the nearest to it first.
    pub fn between(&self, node: Node, of: Node) -> Vec<Node> {
        let Some(made_of) = self.made_of.as_ref().filter(|_| self.follows_values) else {
            return Vec::new();
        };
        let mut found: Vec<Node> = Vec::new();
        let mut at = node;
        loop {
            let read = beside(&self.facts.reads, at).chain(beside(&self.facts.waits_for, at));
            let mut on_the_way = read.filter(|it| *it != of && made_of.has(*it, of));
            let Some(next) = on_the_way.find(|it| self.is_value(*it) && !found.contains(it)) else {
                return found;
            };
            found.push(next);
            at = next;
        }
    }

    /// Iterates over the variables of the root module.
    pub fn root_variables(&self) -> impl Iterator<Item = Node> {
        let root = self.structure.modules.first();
        root.into_iter().flat_map(|it| it.variables.values().copied())
    }

    /// Returns whether a node is a variable, a local value or an output.
    pub fn is_value(&self, node: Node) -> bool {
        let kind = self.structure.kind(node);
        matches!(kind, NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..))
    }
}

//! The values between an object and a change that it depends on.

use entail_rules::{Node, beside};

use crate::lower::Lowered;
use crate::lower::structure::NodeKind;
use crate::operation::explain::{ExplainContext, Provenance};

impl ExplainContext {
    /// Adds what the trace has recorded of key sets and values.
    ///
    /// - `has_values`: whether values were followed in the trace.
    pub fn with_provenance(mut self, lowered: &Lowered, has_values: bool) -> ExplainContext {
        self.provenance = Some(Provenance::of(&lowered.provenance, has_values));
        self
    }

    /// Returns the values through which a node is derived from another, the nearest to it first.
    pub fn between(&self, node: Node, of: Node) -> Vec<Node> {
        let Some(provenance) = self.provenance.as_ref().filter(|it| it.has_values) else {
            return Vec::new();
        };
        let mut found: Vec<Node> = Vec::new();
        let mut at = node;
        loop {
            let read = beside(&self.facts.reads, at).chain(beside(&self.facts.waits_for, at));
            let mut on_the_way = read.filter(|it| *it != of && provenance.has(*it, of));
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

//! The values between an object and a change that it depends on.

use entail_rules::{Node, beside};

use crate::lower::Provenance;
use crate::lower::structure::NodeKind;
use crate::lower::trace::Followed;
use crate::operation::dependencies::Dependencies;
use crate::operation::explain::ExplainContext;
use crate::operation::impact::{Direction, Start};

impl ExplainContext {
    /// Adds what the trace has recorded of key sets, values and objects.
    pub fn with_provenance(mut self, mut provenance: Provenance) -> ExplainContext {
        provenance.rows.sort_unstable();
        provenance.rows.dedup();
        self.provenance = Some(provenance);
        self
    }

    /// Returns what depends on what.
    pub fn dependencies(&self) -> Dependencies {
        Dependencies::of(&self.facts, self.provenance.as_ref()).with_stand_ins(&self.structure)
    }

    /// Returns the values through which a node is derived from another, the nearest to it first.
    pub fn between(&self, node: Node, of: Node) -> Vec<Node> {
        let Some(provenance) = &self.provenance else { return Vec::new() };
        let mut found: Vec<Node> = Vec::new();
        let mut at = node;
        loop {
            let read = beside(&self.facts.reads, at).chain(beside(&self.facts.waits_for, at));
            let mut on_the_way =
                read.filter(|it| *it != of && provenance.rows.binary_search(&(*it, of)).is_ok());
            let Some(next) = on_the_way.find(|it| self.is_value(*it) && !found.contains(it)) else {
                return found;
            };
            found.push(next);
            at = next;
        }
    }

    /// Returns the values to follow: those that change or, in reverse, the variables of the root module.
    pub fn followed(&self, start: &Start, direction: Direction) -> Followed {
        let root = self.structure.modules.first();
        match direction.reverse {
            true => root.into_iter().flat_map(|it| it.variables.values().copied()).collect(),
            false => start.nodes.iter().copied().filter(|it| self.is_value(*it)).collect(),
        }
    }

    /// Returns whether a node is a variable, a local value or an output.
    pub fn is_value(&self, node: Node) -> bool {
        let kind = self.structure.kind(node);
        matches!(kind, NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..))
    }
}

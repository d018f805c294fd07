//! What key sets and values are derived from, part by part: for questions about the effect of a change.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Node;

/// What key sets and values are derived from.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// Whether it covers variables, local values and outputs, not only key sets.
    pub has_values: bool,
    by_node: BTreeMap<Node, BTreeSet<Node>>,
}

impl Provenance {
    /// Returns the provenance that a trace has recorded.
    ///
    /// - `rows`: `(n, m)` where `n` is derived from `m`.
    pub fn of(rows: &[(Node, Node)], has_values: bool) -> Provenance {
        let mut by_node: BTreeMap<Node, BTreeSet<Node>> = BTreeMap::new();
        for &(node, source) in rows {
            by_node.entry(node).or_default().insert(source);
        }
        Provenance { has_values, by_node }
    }

    /// Iterates over all pairs of a node and one that it is derived from.
    pub fn rows(&self) -> impl Iterator<Item = (Node, Node)> {
        self.by_node.iter().flat_map(|(node, all)| all.iter().map(|source| (*node, *source)))
    }

    /// Returns whether a node is derived from another.
    pub fn has(&self, node: Node, source: Node) -> bool {
        self.by_node.get(&node).is_some_and(|it| it.contains(&source))
    }
}

//! What values and keys are made of, part by part: told apart for those who ask what a change reaches.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Node;

/// What keys and values are made of, part by part.
#[derive(Clone, Debug, Default)]
pub struct MadeOf(BTreeMap<Node, BTreeSet<Node>>);

impl MadeOf {
    /// Returns what rows say: `(n, m)` where `n` is made of `m`.
    pub fn of(rows: &[(Node, Node)]) -> MadeOf {
        let mut all: BTreeMap<Node, BTreeSet<Node>> = BTreeMap::new();
        for &(node, of) in rows {
            all.entry(node).or_default().insert(of);
        }
        MadeOf(all)
    }

    /// Iterates over what everything is made of.
    pub fn rows(&self) -> impl Iterator<Item = (Node, Node)> {
        self.0.iter().flat_map(|(node, all)| all.iter().map(|it| (*node, *it)))
    }

    /// Returns whether a value is made of something.
    pub fn has(&self, node: Node, of: Node) -> bool {
        self.0.get(&node).is_some_and(|it| it.contains(&of))
    }
}

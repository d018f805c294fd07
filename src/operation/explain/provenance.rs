//! What key sets, values and objects are derived from, part by part: for questions about the effect of a change.

use entail_rules::Node;
use rustc_hash::FxHashSet;

use crate::lower;

/// What key sets, values and objects are derived from.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// What the trace has recorded.
    pub all: lower::Provenance,
    pairs: FxHashSet<(Node, Node)>,
}

impl Provenance {
    /// Returns the provenance that a trace has recorded.
    pub fn of(all: lower::Provenance) -> Provenance {
        let pairs = all.rows.iter().copied().collect();
        Provenance { all, pairs }
    }

    /// Returns whether a node is derived from another.
    pub fn has(&self, node: Node, source: Node) -> bool {
        self.pairs.contains(&(node, source))
    }
}

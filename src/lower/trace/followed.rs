//! Provenance of key sets, values and objects, for questions about the effect of a change.

use std::collections::BTreeSet;

use entail_rules::Node;

use super::{Each, Entry, Trace, TraceScope};
use crate::config::uses::{Role, Use};
use crate::expression;
use crate::lower::structure::ModuleId;
use crate::value::{Marks, Value};

/// The nodes of variables, local values and outputs that are followed, as another trace of the same documents has numbered
/// them. Everything that is derived from one of them then reads it, as it reads an object that it is derived from.
#[derive(Clone, Debug, Default)]
pub struct Followed(pub BTreeSet<Node>);

impl FromIterator<Node> for Followed {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Followed {
        Followed(nodes.into_iter().collect())
    }
}

/// What nodes are derived from, part by part.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// `(n, m)`: `n` is derived from `m`, an object or a followed value. `n` is a key set, a variable, a local value, an output or an
    /// object.
    pub rows: Vec<(Node, Node)>,
    /// `(n, m)`: `n` reads `m`, and the rows say which parts of `m` it is derived from.
    pub superseded: Vec<(Node, Node)>,
}

impl Trace<'_> {
    /// Returns whether the value of this node is followed.
    pub(super) fn is_followed(&self, node: Node) -> bool {
        self.input.followed.is_some_and(|it| it.0.contains(&node))
    }

    /// Records the reads of an expression whose value says more exactly what the node is derived from.
    pub(super) fn record_derived(&mut self, node: Node, log: Vec<Entry>) {
        let first = self.reads.reads.len();
        self.record(node, log);
        self.supersede_reads(first);
    }

    /// Keeps the value of a variable, local value or output.
    pub(super) fn keep_value(&mut self, node: Node, value: Value) {
        let value = if self.is_followed(node) {
            value.mark(&Marks::read(node.0))
        } else {
            if self.input.followed.is_some() {
                self.record_provenance(node, &value.deep_marks());
            }
            value
        };
        self.values.insert(node, value);
    }

    /// Records what the keys of a repetition are derived from. The values under the keys may be derived from more.
    pub(super) fn record_keys(&mut self, node: Node, value: &Value) {
        if self.input.followed.is_none() {
            return;
        }
        let marks = match value.bare() {
            Value::Map(_) | Value::Object(_) => value.marks(),
            _ => value.deep_marks(),
        };
        self.record_provenance(node, &marks);
    }

    /// Records what an argument of an object is derived from: the value of the expression says that more exactly than its reads.
    ///
    /// - `first`: the first read of the expression among all reads.
    pub(super) fn record_argument(
        &mut self,
        (node, module, each): (Node, ModuleId, &Each),
        argument: &Use<'_>,
        first: usize,
    ) {
        if self.input.followed.is_none() {
            return;
        }
        if argument.role == Role::Value && argument.bound.is_empty() {
            let scope = TraceScope::new(self, module, each);
            let (value, problems) = expression::evaluate(&argument.expression, &scope);
            drop(scope);
            if !problems.has_errors() {
                self.record_provenance(node, &value.deep_marks());
                self.supersede_reads(first);
                return;
            }
        }
        self.record_reads(first);
    }

    /// Records reads that nothing says more exactly.
    ///
    /// - `first`: the first of them among all reads.
    pub(super) fn record_reads(&mut self, first: usize) {
        if self.input.followed.is_some() {
            let reads = self.reads.reads[first..].iter().map(|it| (it.0, it.1));
            self.reads.provenance.rows.extend(reads);
        }
    }

    /// Records that the provenance says more exactly whether a node is derived from what it reads here.
    ///
    /// - `first`: the first of these reads among all reads.
    pub(super) fn supersede_reads(&mut self, first: usize) {
        if self.input.followed.is_some() {
            let reads = self.reads.reads[first..].iter().map(|it| (it.0, it.1));
            self.reads.provenance.superseded.extend(reads);
        }
    }

    fn record_provenance(&mut self, node: Node, marks: &Marks) {
        let rows = &mut self.reads.provenance.rows;
        marks.reads.visit(&mut |it| rows.push((node, Node(it))));
    }
}

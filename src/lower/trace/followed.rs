//! Provenance of variables, local values, outputs and key sets, for questions about the effect of a change.

use std::collections::BTreeSet;

use entail_rules::Node;

use super::Trace;
use crate::value::{Marks, Value};

/// The nodes of variables, local values and outputs that are followed, as another trace of the same documents has numbered
/// them. Everything that is derived from one of them then reads it, as it reads an object that it is derived from.
#[derive(Clone, Debug, Default)]
pub struct Followed(pub BTreeSet<Node>);

impl Trace<'_> {
    /// Returns whether the value of this node is followed.
    pub(super) fn is_followed(&self, node: Node) -> bool {
        self.input.followed.is_some_and(|it| it.0.contains(&node))
    }

    /// Keeps the value of a variable, local value or output.
    pub(super) fn keep_value(&mut self, node: Node, value: Value) {
        let follows_values = self.input.followed.is_some_and(|it| !it.0.is_empty());
        let value = if self.is_followed(node) {
            value.mark(&Marks::read(node.0))
        } else {
            if follows_values {
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

    fn record_provenance(&mut self, node: Node, marks: &Marks) {
        let provenance = &mut self.reads.provenance;
        marks.reads.visit(&mut |it| provenance.push((node, Node(it))));
    }
}

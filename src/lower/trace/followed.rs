//! Values that are followed besides objects: so that it shows in what is made of a variable, a local value or an output, part by part.

use std::collections::BTreeSet;

use entail_rules::Node;

use super::Trace;
use crate::value::{Marks, Value};

/// The nodes of variables, local values and outputs that are followed, as another trace of the same documents has numbered
/// them. Everything that is made of one of them then reads it, as it reads an object that it is made of.
#[derive(Clone, Debug, Default)]
pub struct Followed(pub BTreeSet<Node>);

impl Followed {
    /// None: a plan asks what objects are made of.
    pub const NONE: &'static Followed = &Followed(BTreeSet::new());
}

impl Trace<'_> {
    /// Keeps the value of a variable, local value or output.
    pub(super) fn keep_value(&mut self, node: Node, value: Value) {
        let followed = &self.input.followed.0;
        let is_followed = followed.contains(&node);
        if !followed.is_empty() && !is_followed {
            self.made_of(node, &value.deep_marks());
        }
        let value = if is_followed { value.mark(&Marks::read(node.0)) } else { value };
        self.values.insert(node, value);
    }

    /// Notes what the keys of a repetition are made of. The values beneath them may be made of more.
    pub(super) fn keys_made_of(&mut self, node: Node, value: &Value) {
        let marks = match value.bare() {
            Value::Map(_) | Value::Object(_) => value.marks(),
            _ => value.deep_marks(),
        };
        self.made_of(node, &marks);
    }

    fn made_of(&mut self, node: Node, marks: &Marks) {
        let made_of = &mut self.reads.made_of;
        marks.reads.visit(&mut |it| made_of.push((node, Node(it))));
    }
}

//! `dynamic` blocks: one block for each element of a collection.

use std::borrow::Cow;

use super::super::compose::elements;
use super::{Decoder, Frame, Instance, blame, labels_of, missing_at, problems};
use crate::diagnostic::Diagnostics;
use crate::schema::NestedBlock;
use crate::syntax::{AttributeSchema, Block, BlockSchema, Body, Expr, Expression};
use crate::value::convert::convert;
use crate::value::{Marks, Str, Type, Value};

/// A dynamic block, read.
pub(super) struct Dynamic<'b> {
    /// What is iterated over.
    pub for_each: Expression,
    /// The name of `{ key, value }` in the content.
    pub iterator: Str,
    /// The labels of each block.
    pub labels: Vec<Expression>,
    /// The inside of each block.
    pub content: Cow<'b, Body>,
}

/// Reads a `dynamic "name"` block whose blocks have `wanted` labels.
pub(super) fn read<'b>(
    block: &'b Block,
    name: &Str,
    wanted: usize,
    found: &mut Diagnostics,
) -> Option<Dynamic<'b>> {
    let attribute = |name, required| AttributeSchema { name, required };
    let mut attributes = vec![attribute("for_each", true), attribute("iterator", false)];
    if wanted > 0 {
        attributes.push(attribute("labels", true));
    }
    let (body, problems) =
        block.body.content(&attributes, &[BlockSchema { kind: "content", labels: &[] }]);
    let failed = problems.has_errors();
    found.extend(problems);
    if failed {
        return None;
    }
    let iterator = match block.body.bare("iterator") {
        Ok(None) => name.clone(),
        Ok(Some(it)) => match it.as_traversal() {
            Some((root, [])) => root.text.clone(),
            _ => {
                found.push(problems::bad_iterator(it.span));
                return None;
            }
        },
        Err(problems) => {
            found.extend(problems);
            return None;
        }
    };
    let labels = match body.attribute("labels") {
        None => Vec::new(),
        Some(it) => match &it.value.expr {
            Expr::Tuple(items) if items.len() == wanted => items.to_vec(),
            Expr::Tuple(items) if items.len() > wanted => {
                found.push(problems::wrong_label_count(name, wanted, true, items[wanted].span));
                return None;
            }
            _ => {
                found.push(problems::wrong_label_count(name, wanted, false, it.value.span));
                return None;
            }
        },
    };
    let for_each = body.attribute("for_each").map(|it| it.value.clone())?;
    let content = match &body.blocks[..] {
        [] => {
            found.push(problems::no_content(missing_at(&block.body)));
            return None;
        }
        [content] => content.body.clone(),
        [_, second, ..] => {
            found.push(problems::second_content(second.header));
            return None;
        }
    };
    Some(Dynamic { for_each, iterator, labels, content: Cow::Owned(content) })
}

impl Decoder<'_> {
    /// Writes a dynamic block out.
    pub(super) fn expand<'b>(
        &mut self,
        block: &'b Block,
        name: &Str,
        schema: &NestedBlock,
        frame: &Frame,
        into: &mut Vec<Instance<'b>>,
    ) {
        let Some(dynamic) = read(block, name, labels_of(schema).len(), &mut self.problems) else {
            return;
        };
        let at = &dynamic.for_each;
        if frame.unknown {
            self.scope.unevaluated(at, &names(frame));
            return self.unknown(&dynamic, block, frame, into);
        }
        let (collection, found) = self.value(at, frame);
        let failed = found.has_errors();
        self.problems.extend(found);
        if failed {
            return;
        }
        let mut marks = Marks::default();
        let collection = marks.take(collection.into_marked());
        if collection.is_null() {
            return self.problems.push(blame(
                problems::null_for_each(at.span),
                at,
                self.scope,
                frame,
            ));
        }
        if collection.ty().is_primitive() {
            return self.problems.push(blame(
                problems::bad_for_each(collection.ty(), at.span),
                at,
                self.scope,
                frame,
            ));
        }
        // What an unknown collection turns out to be need not be marked.
        let Some(items) = elements(&collection) else {
            return self.unknown(&dynamic, block, frame, into);
        };
        let frame = Frame { marks, ..frame.clone() };
        for (key, value) in items {
            let frame = iteration(&dynamic, &frame, key, value);
            if let Some(labels) = self.labels(&dynamic, &frame) {
                into.push(Instance {
                    labels,
                    body: dynamic.content.clone(),
                    header: block.header,
                    frame,
                });
            }
        }
    }

    /// One block whose inside is unknown, in place of those that will be there.
    fn unknown<'b>(
        &mut self,
        dynamic: &Dynamic<'b>,
        block: &'b Block,
        frame: &Frame,
        into: &mut Vec<Instance<'b>>,
    ) {
        let later = || Value::unknown(Type::DYNAMIC);
        let frame = Frame { unknown: true, ..iteration(dynamic, frame, later(), later()) };
        for label in &dynamic.labels {
            self.scope.unevaluated(label, &names(&frame));
        }
        into.push(Instance {
            labels: Vec::new(),
            body: dynamic.content.clone(),
            header: block.header,
            frame,
        });
    }

    fn labels(&mut self, dynamic: &Dynamic<'_>, frame: &Frame) -> Option<Vec<Str>> {
        let mut labels = Vec::new();
        for label in &dynamic.labels {
            let (value, found) = self.value(label, frame);
            let failed = found.has_errors();
            self.problems.extend(found);
            if failed {
                return None;
            }
            let marks = value.marks();
            let text = convert(&value, Type::STRING);
            let wrong = match &text {
                Err(error) => format!("Cannot use this value as a dynamic block label: {}.", error.message),
                Ok(it) if it.is_null() => "Cannot use a null value as a dynamic block label.".to_owned(),
                Ok(it) if !it.is_known() => {
                    "This value is not yet known. Dynamic block labels must be immediately-known values.".to_owned()
                }
                Ok(_) if marks.sensitive || marks.ephemeral => {
                    "This value has dynamic marks that make it unsuitable for use as a block label.".to_owned()
                }
                Ok(it) => {
                    labels.extend(it.as_str().map(Str::from));
                    continue;
                }
            };
            self.problems.push(blame(
                problems::bad_label(wrong, label.span),
                label,
                self.scope,
                frame,
            ));
            return None;
        }
        Some(labels)
    }
}

fn names(frame: &Frame) -> Vec<Str> {
    frame.bindings.iter().map(|it| it.0.clone()).collect()
}

/// The frame of one iteration.
fn iteration(dynamic: &Dynamic<'_>, frame: &Frame, key: Value, value: Value) -> Frame {
    let mut frame = frame.clone();
    let element = |key, value| Value::object([("key".into(), key), ("value".into(), value)]);
    let told = element(key.clone().mark(&frame.marks), value.clone().mark(&frame.marks));
    frame.shown.push((dynamic.iterator.clone(), told));
    frame.bindings.push((dynamic.iterator.clone(), element(key, value)));
    frame
}

//! A body looked at without a value: its structure, its references, its places.

use std::borrow::Cow;

use super::super::evaluate::evaluate_with;
use super::super::references_within;
use super::{Nesting, dynamic, is_dynamic_of, labels_of, missing_at, sorted};
use crate::diagnostic::{Diagnostics, Span};
use crate::expression::{Reference, Scope, compose::elements};
use crate::schema::BlockSchema;
use crate::syntax::{self, Attribute, Body, Expr, Expression, ObjectKey};
use crate::value::{Path, PathStep, Str, Type, Value};

/// Checks the structure of a body: unknown and missing arguments and blocks, labels, numbers of blocks. Evaluates nothing.
pub fn validate_body(body: &Body, schema: &BlockSchema) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut open: Vec<(Cow<'_, Body>, Cow<'_, BlockSchema>)> =
        vec![(Cow::Borrowed(body), Cow::Borrowed(schema))];
    while let Some((body, schema)) = open.pop() {
        let (sorted, as_blocks, problems) = sorted(&body, &schema);
        found.extend(problems);
        for (name, nested) in schema.blocks.iter().chain(&as_blocks) {
            let mut written = Vec::new();
            let mut dynamics = false;
            for block in &sorted.blocks {
                if block.kind.text == *name {
                    written.push(block.header);
                    open.push((Cow::Owned(block.body.clone()), Cow::Owned(nested.block.clone())));
                } else if is_dynamic_of(block, name) {
                    dynamics = true;
                    if let Some(dynamic) =
                        dynamic::read(block, name, labels_of(nested).len(), &mut found)
                    {
                        open.push((
                            Cow::Owned(dynamic.content.into_owned()),
                            Cow::Owned(nested.block.clone()),
                        ));
                    }
                }
            }
            let single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
            let count = written.len() as u64;
            if single && count > 1 {
                found.push(super::problems::one_block_only(name, written[1]));
            } else if single
                && count == 0
                && nested.min_items == 1
                && !dynamics
                && nested.nesting == Nesting::Single
            {
                found.push(super::problems::missing_block(name, missing_at(&body)));
            } else if !single && count < nested.min_items && !dynamics {
                found.push(super::problems::too_few_blocks(
                    name,
                    nested.min_items,
                    missing_at(&body),
                ));
            } else if !single && nested.max_items > 0 && count > nested.max_items {
                found.push(super::problems::too_many_blocks(
                    name,
                    nested.max_items,
                    written[nested.max_items as usize],
                ));
            }
        }
    }
    found
}

/// One part of a body that needs no schema to be read.
pub(super) enum Piece<'b> {
    /// The value of an argument.
    Value(Cow<'b, Expression>),
    /// A nested block.
    Block(Cow<'b, Body>),
    /// A dynamic block: what it iterates over and what is in it.
    Dynamic(Box<dynamic::Dynamic<'b>>),
}

/// Takes a body apart. In JSON a nested block is read as the value of an argument, which has the same references.
fn pieces(body: &Body) -> impl Iterator<Item = Piece<'_>> {
    named_pieces(body).into_iter().map(|it| it.1)
}

/// Takes a body apart, as [`pieces`] does, with the name of each argument and the type of each block.
pub(super) fn named_pieces(body: &Body) -> Vec<(Str, Piece<'_>)> {
    let name = |attribute: &Attribute| attribute.name.text.clone();
    let mut pieces: Vec<(Str, Piece<'_>)> = body
        .attributes
        .iter()
        .map(|it| (name(it), Piece::Value(Cow::Borrowed(&it.value))))
        .collect();
    let mut ignored = Diagnostics::new();
    for block in &body.blocks {
        let label = block.labels.first().filter(|_| &*block.kind.text == "dynamic");
        let read =
            |count, ignored: &mut Diagnostics| dynamic::read(block, &label?.text, count, ignored);
        match read(0, &mut ignored).or_else(|| read(1, &mut ignored)) {
            Some(dynamic) => {
                let name = label.map_or_else(Str::default, |it| it.text.clone());
                pieces.push((name, Piece::Dynamic(Box::new(dynamic))));
            }
            None => {
                let name = block.kind.text.clone();
                pieces.push((name, Piece::Block(Cow::Borrowed(&block.body))));
            }
        }
    }
    if body.json.is_some() {
        let dynamic = [syntax::BlockSchema { kind: "dynamic", labels: &["type"] }];
        let (dynamics, rest, _) = body.partial_content(&[], &dynamic);
        let (attributes, _) = rest.just_attributes();
        pieces.extend(
            attributes.into_iter().map(|it| (it.name.text, Piece::Value(Cow::Owned(it.value)))),
        );
        for block in dynamics.blocks {
            let Some(label) = block.labels.first().map(|it| it.text.clone()) else { continue };
            let read = dynamic::read(&block, &label, 0, &mut ignored)
                .or_else(|| dynamic::read(&block, &label, 1, &mut ignored));
            if let Some(it) = read {
                let content = Cow::Owned(it.content.into_owned());
                let dynamic = dynamic::Dynamic {
                    for_each: it.for_each,
                    iterator: it.iterator,
                    labels: it.labels,
                    content,
                };
                pieces.push((label, Piece::Dynamic(Box::new(dynamic))));
            }
        }
    }
    pieces
}

/// Calls `visit` for every expression of a body and of the blocks in it, with the iterators that are bound around it.
pub fn visit_expressions(body: &Body, visit: &mut dyn FnMut(&Expression, &[Str])) {
    visit_with(body, &mut Vec::new(), visit);
}

fn visit_with(body: &Body, bound: &mut Vec<Str>, visit: &mut dyn FnMut(&Expression, &[Str])) {
    for piece in pieces(body) {
        match piece {
            Piece::Value(it) => visit(&it, bound),
            Piece::Block(it) => visit_with(&it, bound, visit),
            Piece::Dynamic(it) => {
                visit(&it.for_each, bound);
                bound.push(it.iterator.clone());
                it.labels.iter().for_each(|label| visit(label, bound));
                visit_with(&it.content, bound, visit);
                bound.pop();
            }
        }
    }
}

/// Calls `visit` for every reference in a body; names of iterators are left out. Returns what is no possible reference.
pub fn body_references(body: &Body, visit: &mut dyn FnMut(Reference<'_>)) -> Diagnostics {
    let mut found = Diagnostics::new();
    visit_expressions(body, &mut |expression, bound| {
        let (references, problems) = references_within(expression, bound);
        references.into_iter().for_each(&mut *visit);
        found.extend(problems);
    });
    found
}

/// Evaluates every expression of a body for what it reads, without schema; `dynamic` blocks once for each element. The
/// values are dropped.
pub fn walk_body(body: &Body, scope: &dyn Scope, bindings: &[(Str, Value)]) -> Diagnostics {
    let mut found = Diagnostics::new();
    walk_with(body, scope, &mut bindings.to_vec(), &mut found);
    found
}

fn walk_with(
    body: &Body,
    scope: &dyn Scope,
    bindings: &mut Vec<(Str, Value)>,
    found: &mut Diagnostics,
) {
    for piece in pieces(body) {
        match piece {
            Piece::Value(it) => found.extend(evaluate_with(&it, scope, bindings).1),
            Piece::Block(it) => walk_with(&it, scope, bindings, found),
            Piece::Dynamic(it) => {
                let (collection, problems) = evaluate_with(&it.for_each, scope, bindings);
                found.extend(problems);
                match elements(&collection) {
                    Some(items) => {
                        let marks = collection.marks();
                        for (key, value) in items {
                            let each = Value::object([
                                ("key".into(), key),
                                ("value".into(), value.mark(&marks)),
                            ]);
                            bindings.push((it.iterator.clone(), each));
                            it.labels.iter().for_each(|label| {
                                found.extend(evaluate_with(label, scope, bindings).1)
                            });
                            walk_with(&it.content, scope, bindings, found);
                            bindings.pop();
                        }
                    }
                    None => {
                        let later = || Value::unknown(Type::DYNAMIC);
                        bindings.push((
                            it.iterator.clone(),
                            Value::object([("key".into(), later()), ("value".into(), later())]),
                        ));
                        let mut bound: Vec<Str> = bindings.iter().map(|it| it.0.clone()).collect();
                        for label in &it.labels {
                            scope.unevaluated(label, &bound);
                        }
                        visit_expressions(&it.content, &mut |expression, inner| {
                            let known = bound.len();
                            bound.extend_from_slice(inner);
                            scope.unevaluated(expression, &bound);
                            bound.truncate(known);
                        });
                        bindings.pop();
                    }
                }
            }
        }
    }
}

/// Returns the place that a path into a decoded value was written at, as OpenTofu finds it: the argument or, where the path
/// ends with a key, its element; else the beginning of the innermost body on the way, in which something is missing.
///
/// What is inside an argument further down, or a block as a whole, has no place of its own.
pub fn span_of_path(body: &Body, path: &Path) -> Span {
    let (steps, key) = match path.split_last() {
        Some((PathStep::Index(key), steps)) => (steps, Some(key)),
        _ => (&path[..], None),
    };
    let body = if steps.len() > 1 { block_at(body, steps) } else { Cow::Borrowed(body) };
    let argument = match steps.last() {
        Some(PathStep::Attribute(name)) => attribute_of(&body, name),
        _ => None,
    };
    match (argument, key) {
        (Some(argument), Some(key)) => element(&argument, key),
        (Some(argument), None) => argument.value.span,
        (None, _) => missing_at(&body),
    }
}

/// Follows a path from block to block as far as it leads. Steps that lead to no block are passed over.
fn block_at<'b>(body: &'b Body, steps: &[PathStep]) -> Cow<'b, Body> {
    let mut body = Cow::Borrowed(body);
    let mut steps = steps.iter().peekable();
    while let Some(PathStep::Attribute(name)) = steps.next() {
        let key = match steps.peek() {
            Some(PathStep::Index(key)) => Some(key),
            _ => None,
        };
        if key.is_some() {
            steps.next();
        }
        let labels: &[&str] =
            if key.is_some_and(|it| it.as_str().is_some()) { &["key"] } else { &[] };
        let (content, _, _) =
            body.partial_content(&[], &[syntax::BlockSchema { kind: name, labels }]);
        let mut blocks = content.blocks.into_iter().filter(|it| it.kind.text == *name).peekable();
        if blocks.peek().is_none() {
            continue;
        }
        let block = match key {
            Some(key) if key.as_str().is_some() => {
                blocks.find(|it| it.labels.first().map(|it| &*it.text) == key.as_str())
            }
            Some(key) => key.as_int().and_then(|at| blocks.nth(usize::try_from(at).ok()?)),
            None => blocks.next().filter(|_| blocks.peek().is_none()),
        };
        let Some(block) = block else { return body };
        body = Cow::Owned(block.body);
    }
    body
}

fn attribute_of(body: &Body, name: &str) -> Option<Attribute> {
    if body.json.is_none() {
        return body.attribute(name).cloned();
    }
    let (content, _, _) =
        body.partial_content(&[syntax::AttributeSchema { name, required: false }], &[]);
    content.attributes.into_iter().next()
}

/// The place of an element: its argument's name where that is written out and has no such element.
fn element(argument: &Attribute, key: &Value) -> Span {
    let found = match &argument.value.expr {
        Expr::Tuple(items) if key.as_str().is_none() => {
            key.as_int().and_then(|it| items.get(usize::try_from(it).ok()?))
        }
        Expr::Object(items) => {
            let Some(name) = key.as_str() else { return argument.value.span };
            items.iter().find(|it| is_key(&it.key, name)).map(|it| &it.value)
        }
        _ => return argument.value.span,
    };
    found.map_or(argument.name.span, |it| it.span)
}

fn is_key(key: &ObjectKey, name: &str) -> bool {
    match key {
        ObjectKey::Name(it) => &*it.text == name,
        ObjectKey::Expression(it) => matches!(&it.expr, Expr::String(text) if &**text == name),
    }
}

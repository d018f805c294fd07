//! A block's body as it is written, to one object, without any schema.

use std::collections::BTreeMap;

use super::super::compose::elements;
use super::super::evaluate::evaluate_with;
use super::outline::{Piece, named_pieces, visit_expressions};
use crate::diagnostic::Diagnostics;
use crate::expression::{Scope, Subject, references_within};
use crate::syntax::{Body, Expression};
use crate::value::{Str, Type, Value};

/// Evaluates the body of a block to an object of what is written in it, and nothing else. The blocks of one type are a tuple of
/// objects, in their order; blocks of which it is not known how many there will be are unknown.
pub fn written_body(
    body: &Body,
    scope: &dyn Scope,
    bindings: &[(Str, Value)],
) -> (Value, Diagnostics) {
    let mut problems = Diagnostics::new();
    let value = written(body, scope, &mut bindings.to_vec(), &mut problems);
    (value, problems)
}

/// The blocks of one type so far; nothing where their number is not known.
type Blocks = BTreeMap<Str, Option<Vec<Value>>>;

fn written(
    body: &Body,
    scope: &dyn Scope,
    bindings: &mut Vec<(Str, Value)>,
    problems: &mut Diagnostics,
) -> Value {
    let mut attributes: BTreeMap<Str, Value> = BTreeMap::new();
    let mut blocks = Blocks::new();
    let put = |blocks: &mut Blocks, name: &Str, value: Option<Value>| {
        let known = blocks.entry(name.clone()).or_insert_with(|| Some(Vec::new()));
        match value {
            Some(value) => known.iter_mut().for_each(|it| it.push(value.clone())),
            None => *known = None,
        }
    };
    for (name, piece) in named_pieces(body) {
        match piece {
            Piece::Value(it) => {
                let (value, found) = evaluate_with(&it, scope, bindings);
                problems.extend(found);
                attributes.insert(name, value);
            }
            Piece::Block(it) => {
                let value = written(&it, scope, bindings, problems);
                put(&mut blocks, &name, Some(value));
            }
            Piece::Dynamic(it) => {
                let (collection, found) = evaluate_with(&it.for_each, scope, bindings);
                problems.extend(found);
                let Some(items) = elements(&collection) else {
                    put(&mut blocks, &name, None);
                    continue;
                };
                let marks = collection.marks();
                for (key, value) in items {
                    let each = [("key".into(), key), ("value".into(), value.mark(&marks))];
                    bindings.push((it.iterator.clone(), Value::object(each)));
                    let value = written(&it.content, scope, bindings, problems).mark(&marks);
                    put(&mut blocks, &name, Some(value));
                    bindings.pop();
                }
            }
        }
    }
    for (name, known) in blocks {
        let value = known.map_or(Value::unknown(Type::DYNAMIC), Value::tuple);
        attributes.insert(name, value);
    }
    Value::object(attributes)
}

/// Calls `visit` for what the arguments and blocks of a body refer to, with the name of each at the top level.
pub fn named_references(body: &Body, visit: &mut dyn FnMut(&Str, Subject<'_>)) {
    let mut see = |name: &Str, expression: &Expression, bound: &[Str]| {
        let (references, _) = references_within(expression, bound);
        references.iter().for_each(|it| visit(name, it.subject));
    };
    for (name, piece) in named_pieces(body) {
        match piece {
            Piece::Value(it) => see(&name, &it, &[]),
            Piece::Block(it) => visit_expressions(&it, &mut |it, bound| see(&name, it, bound)),
            Piece::Dynamic(it) => {
                see(&name, &it.for_each, &[]);
                visit_expressions(&it.content, &mut |inner, bound| {
                    let mut bound = bound.to_vec();
                    bound.push(it.iterator.clone());
                    see(&name, inner, &bound);
                });
            }
        }
    }
}

//! The expressions of a body, at every depth, with the names that `dynamic` blocks bind around them.

use crate::syntax::{Body, Expr, Expression, ObjectKey};
use crate::value::Str;

/// Calls `each` for every expression of a body, nested blocks included, with the iterator names in force.
///
/// Needs no schema: it visits what is written, in source order.
pub fn visit_expressions<'a>(body: &'a Body, bound: &mut Vec<Str>, each: &mut dyn FnMut(&'a Expression, &[Str])) {
    if let Some(json) = &body.json {
        for (name, value) in &json.members {
            if &*name.text == "dynamic" { visit_json_dynamic(value, bound, each) } else { each(value, bound) }
        }
        return;
    }
    for attribute in &body.attributes {
        each(&attribute.value, bound);
    }
    for block in &body.blocks {
        let label = block.labels.first();
        if &*block.kind.text != "dynamic" || label.is_none() {
            visit_expressions(&block.body, bound, each);
            continue;
        }
        let Some(iterator) = iterator_name(&block.body).or_else(|| label.map(|it| it.text.clone())) else { continue };
        for attribute in block.body.attributes.iter().filter(|it| &*it.name.text != "iterator") {
            // `labels` sees the iterator, `for_each` does not.
            if &*attribute.name.text == "labels" {
                with(bound, &iterator, |bound| each(&attribute.value, bound));
            } else {
                each(&attribute.value, bound);
            }
        }
        for content in &block.body.blocks {
            with(bound, &iterator, |bound| visit_expressions(&content.body, bound, each));
        }
    }
}

fn with(bound: &mut Vec<Str>, name: &Str, inside: impl FnOnce(&mut Vec<Str>)) {
    bound.push(name.clone());
    inside(bound);
    bound.pop();
}

fn iterator_name(body: &Body) -> Option<Str> {
    let attribute = body.attributes.iter().find(|it| &*it.name.text == "iterator")?;
    match &*attribute.value.expr {
        Expr::Traversal { root, steps } if steps.is_empty() => Some(root.text.clone()),
        _ => None,
    }
}

/// In JSON, `dynamic` holds objects by block type; everything in them may see the iterator.
fn visit_json_dynamic<'a>(value: &'a Expression, bound: &mut Vec<Str>, each: &mut dyn FnMut(&'a Expression, &[Str])) {
    match &*value.expr {
        Expr::Tuple(items) => items.iter().for_each(|it| visit_json_dynamic(it, bound, each)),
        Expr::Object(items) => {
            for item in items {
                let name = match &item.key {
                    ObjectKey::Name(name) => Some(name.text.clone()),
                    ObjectKey::Expression(key) => match &*key.expr {
                        Expr::String(text) => Some(text.clone()),
                        _ => None,
                    },
                };
                match name {
                    Some(name) => with(bound, &name, |bound| each(&item.value, bound)),
                    None => each(&item.value, bound),
                }
            }
        }
        _ => each(value, bound),
    }
}

//! Short words for values and types, as diagnostics use them.

use crate::syntax::{self, Expression, Name, Step};
use crate::value::number::Notation;
use crate::value::{Kind, Str, Type, Value};

use super::Scope;
use super::evaluate::{Evaluator, Names};
use super::reference::literal_key;

/// Says how the two results of a conditional differ, the innermost difference first.
pub(super) fn type_mismatch(yes: Type, no: Type) -> String {
    match (yes.kind(), no.kind()) {
        (Kind::Object(a), Kind::Object(b)) => {
            for (name, ty, _) in a {
                match no.attribute_index(name) {
                    None => {
                        return format!(
                            "The 'true' value includes object attribute {name:?}, which is absent in the 'false' value"
                        );
                    }
                    Some(at) if b[at].1 != *ty => {
                        return format!(
                            "Type mismatch for object attribute {name:?}: {}",
                            type_mismatch(*ty, b[at].1)
                        );
                    }
                    Some(_) => {}
                }
            }
            if let Some((name, _, _)) = b.iter().find(|it| yes.attribute_index(&it.0).is_none()) {
                return format!(
                    "The 'false' value includes object attribute {name:?}, which is absent in the 'true' value"
                );
            }
        }
        (Kind::Tuple(a), Kind::Tuple(b)) => {
            if a.len() != b.len() {
                return format!(
                    "The 'true' tuple has length {}, but the 'false' tuple has length {}",
                    a.len(),
                    b.len()
                );
            }
            if let Some(at) = (0..a.len()).find(|&at| a[at] != b[at]) {
                return format!(
                    "Type mismatch for tuple element {at}: {}",
                    type_mismatch(a[at], b[at])
                );
            }
        }
        (Kind::List(a), Kind::List(b)) if same_structure(*a, *b) => {
            return format!("Mismatched list element types: {}", type_mismatch(*a, *b));
        }
        (Kind::Set(a), Kind::Set(b)) if same_structure(*a, *b) => {
            return format!("Mismatched set element types: {}", type_mismatch(*a, *b));
        }
        (Kind::Map(a), Kind::Map(b)) if same_structure(*a, *b) => {
            return format!("Mismatched map element types: {}", type_mismatch(*a, *b));
        }
        _ => {}
    }
    let (yes, no) = (yes.friendly_name(), no.friendly_name());
    if yes == no {
        return "At least one deeply-nested attribute or element is not compatible across both the 'true' and the 'false' value".to_owned();
    }
    format!("The 'true' value is {yes}, but the 'false' value is {no}")
}

fn same_structure(a: Type, b: Type) -> bool {
    matches!(
        (a.kind(), b.kind()),
        (Kind::Object(_), Kind::Object(_)) | (Kind::Tuple(_), Kind::Tuple(_))
    )
}

/// Says what a value is, to follow its name: `is "a"`, `is list of string with 2 elements`, `is a string`.
///
/// `None` where nothing may or can be said: sensitive, ephemeral, unknown of unknown type. Where the problem is `about_unknown`
/// it says that the value comes only after apply; where it is `about_secret` that there is a secret one.
pub fn describe_value(value: &Value, about_unknown: bool, about_secret: bool) -> Option<String> {
    let marks = value.marks();
    if marks.sensitive || marks.ephemeral {
        let words =
            if marks.sensitive { "has a sensitive value" } else { "has an ephemeral value" };
        return about_secret.then(|| words.to_owned());
    }
    let ty = value.ty();
    match value.bare() {
        Value::Unknown(_) if ty == Type::DYNAMIC => {
            about_unknown.then(|| "will be known only after apply".to_owned())
        }
        Value::Unknown(it) if about_unknown => {
            let (low, high) = (
                it.refinement.min_length.unwrap_or(0),
                it.refinement.max_length.filter(|it| *it <= 1024),
            );
            let ty = ty.friendly_name();
            Some(match (low, high) {
                (low, Some(high)) if low == high => {
                    format!("is a {ty} of length {low}, known only after apply")
                }
                (1.., Some(high)) => format!(
                    "is a {ty} with between {low} and {high} elements, known only after apply"
                ),
                (1.., None) => {
                    format!("is a {ty} with at least {low} elements, known only after apply")
                }
                (0, Some(high)) => {
                    format!("is a {ty} with up to {high} elements, known only after apply")
                }
                _ => format!("is a {ty}, known only after apply"),
            })
        }
        Value::Unknown(_) => Some(format!("is a {}", ty.friendly_name())),
        _ => Some(format!("is {}", compact(value))),
    }
}

/// A known value in a few words; elements are never shown, they may be secret.
fn compact(value: &Value) -> String {
    let ty = value.ty();
    match value.bare() {
        Value::Null(_) => "null".to_owned(),
        Value::Unknown(_) => "(not yet known)".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => it.text(Notation::General, Some(10)),
        Value::String(it) => crate::value::text::shown(it),
        Value::Object(_) => match ty.attributes() {
            [] => "object with no attributes".to_owned(),
            [(name, _, _)] => format!("object with 1 attribute {name:?}"),
            more => format!("object with {} attributes", more.len()),
        },
        it => match it.children().count() {
            0 => format!("empty {}", ty.friendly_name()),
            1 => format!("{} with 1 element", ty.friendly_name()),
            more => format!("{} with {more} elements", ty.friendly_name()),
        },
    }
}

/// Describes every value that `expression` refers to: for a diagnostic. Sorted by name; see [`describe_value`].
pub fn values_of(
    expression: &Expression,
    scope: &dyn Scope,
    bindings: &[(Str, Value)],
    about_unknown: bool,
    about_secret: bool,
) -> Vec<(String, String)> {
    referred(expression, scope, &Names::of(bindings), about_unknown, about_secret)
}

pub(super) fn referred(
    expression: &Expression,
    scope: &dyn Scope,
    names: &Names<'_>,
    about_unknown: bool,
    about_secret: bool,
) -> Vec<(String, String)> {
    let aside = Evaluator::aside(scope);
    let mut found: Vec<(String, String)> = Vec::new();
    syntax::references(expression, &mut |root, steps, _| {
        // What follows a step with a computed key is part of another expression.
        let fixed = steps
            .iter()
            .take_while(|it| matches!(it, Step::Attribute(_)) || literal_key(it).is_some())
            .count();
        for used in (0..=fixed).rev() {
            if let Some(value) = aside.traversal_value(root, &steps[..used], names) {
                if let Some(words) = describe_value(&value, about_unknown, about_secret) {
                    found.push((traversal_text(root, &steps[..used]), words));
                }
                break;
            }
        }
    });
    found.sort();
    found.dedup();
    found
}

/// Prints a traversal on one line.
fn traversal_text(root: &Name, steps: &[Step]) -> String {
    let mut text = root.text.to_string();
    for step in steps {
        match (step, literal_key(step)) {
            (Step::Attribute(name), _) => text.extend([".", &name.text]),
            (_, Some(key)) => text.extend(["[", &compact(&key), "]"]),
            _ => text.push_str("[...]"),
        }
    }
    text
}

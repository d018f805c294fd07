//! Short words for values and types, as diagnostics use them.

use crate::syntax::{self, Expression, Root, Step};
use crate::value::number::Notation;
use crate::value::{Str, Type, Value};

use super::Scope;
use super::evaluate::{Evaluator, Names};
use super::reference::literal_key;

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
fn traversal_text(root: &Root, steps: &[Step]) -> String {
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

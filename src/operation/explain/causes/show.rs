//! Causes and values as text and JSON.

use serde_json::{Value as Json, json};

use super::{Cause, WIDTH};
use crate::explain::render::Line;
use crate::expression::print::{format_beginning, format_value};
use crate::value::{PathStep, Value};

/// Returns causes as lines of a proof, so many steps further out than below what is decided.
pub fn lines(causes: &[Cause], out: usize) -> Vec<Line> {
    let line = |it: &Cause| Line {
        depth: it.depth.saturating_sub(out),
        text: it.text.clone(),
        is_reason: true,
        origins: it.place.iter().cloned().collect(),
    };
    causes.iter().map(line).collect()
}

/// Returns causes as JSON: each names the one that it stands behind by its number.
pub fn to_json(causes: &[Cause]) -> Json {
    let cause = |it: &Cause| {
        let mut value = json!({
            "kind": it.kind, "subject": it.subject, "sentence": it.text, "depth": it.depth, "of": it.of,
        });
        if let Some(attribute) = &it.attribute {
            value["attribute"] = attribute.as_str().into();
        }
        if let Some((before, after)) = &it.change {
            value["before"] = before.as_str().into();
            value["after"] = after.as_str().into();
            value["forces_replacement"] = it.forces.into();
        }
        if let Some(place) = &it.place {
            value["origin"] = place.as_str().into();
        }
        value
    };
    causes.iter().map(cause).collect()
}

/// A value as part of a sentence: `is "a"`, `is known after apply`.
pub(super) fn is(value: &Value) -> String {
    match value.is_known() {
        true => format!("is {}", shown(value)),
        false => "is known after apply".to_owned(),
    }
}

/// A value in a line; secrets stay hidden.
pub(in crate::operation) fn shown(value: &Value) -> String {
    if value.marks().is_secret() {
        return "(sensitive value)".to_owned();
    }
    // Of a large value the beginning is enough, unless that is blank.
    let beginning = format_beginning(value, BEGINNING);
    let is_whole = beginning.len() <= BEGINNING;
    let text = one_line(&beginning);
    match is_whole || text.chars().count() > WIDTH {
        true => cut(&text),
        false => cut(&one_line(&format_value(value))),
    }
}

/// The most lines of a text of which each is shown.
const LINES: usize = 3;

/// How a value changes, as the end of a sentence: `changes: "a" → "b"`; of a text of several lines, those that change.
pub(in crate::operation) fn change_shown(old: &Value, new: &Value) -> String {
    if !new.is_known() {
        return format!("changes: {} → (known after apply)", shown(old));
    }
    let is_secret = old.marks().is_secret() || new.marks().is_secret();
    if !is_secret
        && let (Some(before), Some(after)) = (old.as_str(), new.as_str())
        && (before.lines().nth(1).is_some() || after.lines().nth(1).is_some())
        && let Some(changed) = lines_shown(before, after)
    {
        return format!("changes: {changed}");
    }
    format!("changes: {} → {}", shown(old), shown(new))
}

/// The lines that differ between two texts; `None` if no line does.
fn lines_shown(before: &str, after: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|it| it.0 == it.1).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let ends =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|it| it.0 == it.1).count();
    let old = &old_rest[..old_rest.len() - ends];
    let new = &new_rest[..new_rest.len() - ends];
    let quoted = |it: &str| cut(&format!("{it:?}"));
    let mut told: Vec<String> = Vec::new();
    for at in 0..old.len().max(new.len()) {
        let number = same + at + 1;
        match (old.get(at), new.get(at)) {
            (Some(old), Some(new)) if old == new => {}
            (Some(old), Some(new)) => {
                told.push(format!("line {number} {} → {}", quoted(old), quoted(new)));
            }
            (Some(old), None) => told.push(format!("line {number} {} is removed", quoted(old))),
            (None, Some(new)) => told.push(format!("line {number} {} is added", quoted(new))),
            (None, None) => {}
        }
    }
    let more = told.len().saturating_sub(LINES);
    told.truncate(LINES);
    if more > 0 {
        told.push(format!("and {more} more lines"));
    }
    (!told.is_empty()).then(|| told.join(", "))
}

/// How much of a value is printed before it is cut, in bytes.
const BEGINNING: usize = 4096;

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A path as people write it: `input.image`, `triggers["a"]`.
pub(in crate::operation) fn shown_path(path: &[PathStep]) -> String {
    crate::value::ShowPath(path).to_string().trim_start_matches('.').to_owned()
}

/// Follows a path, whether its steps are written as names or as keys. Nothing where it leads nowhere.
pub(in crate::operation) fn look(value: &Value, path: &[PathStep]) -> Option<Value> {
    let mut at = value.clone();
    for step in path {
        let marks = at.marks();
        let step = match (at.bare(), step) {
            (Value::Object(_), PathStep::Index(key)) => PathStep::attribute(key.as_str()?),
            (Value::Map(_), PathStep::Attribute(name)) => PathStep::key(name),
            (Value::List(_) | Value::Tuple(_), PathStep::Index(key)) if key.as_str().is_some() => {
                PathStep::index(key.as_str()?.parse().ok()?)
            }
            _ => step.clone(),
        };
        at = crate::value::path::get(at.bare(), &[step])?.mark(&marks);
    }
    Some(at)
}

//! Texts that are not wholly known, and the JSON in them: what of a document is known although a part of its text is not.
//!
//! Where a scope asks for it ([`Scope::remembers_documents`](super::Scope::remembers_documents)), an unknown text remembers the document
//! that it will hold, with unknown parts in it; `jsondecode` gives that document. Plans do without: OpenTofu knows nothing of such a text.

use std::sync::Arc;

use crate::value::{Marks, Refinement, Type, Unknown, Value, json};

/// What stands in a text for a part that is not known. No text of a configuration has it: it means nothing.
pub(super) const GAP: char = '\u{f8fff}';

/// Returns the value of a call, where it makes or reads the document of an unknown text.
pub(super) fn of_call(function: &str, arguments: &[Value], value: Value) -> Value {
    match (function, arguments) {
        ("jsonencode", [argument]) if !value.is_known() && argument.bare().is_known() => {
            remembering(value, argument.clone())
        }
        ("jsondecode", [argument]) if !argument.is_known() => match document(argument) {
            Some(document) => document.mark(&argument.marks()),
            None => value,
        },
        _ => value,
    }
}

/// Returns an unknown text that remembers the document in `whole`, in which every part that is not known is a [`GAP`].
pub(super) fn of_text(value: Value, whole: &str) -> Value {
    if !whole.trim_start().starts_with(['{', '[']) {
        return value;
    }
    match json::from_json_implied(whole) {
        Ok(document) => match opened(&document) {
            Some(document) => remembering(value, document),
            None => value,
        },
        Err(_) => value,
    }
}

fn remembering(value: Value, document: Value) -> Value {
    let marks: Marks = value.marks();
    let Value::Unknown(it) = value.bare() else { return value };
    let refinement = Refinement { document: Some(Arc::new(document)), ..it.refinement.clone() };
    Value::Unknown(Arc::new(Unknown { ty: Type::STRING, refinement })).mark(&marks)
}

fn document(value: &Value) -> Option<Value> {
    match value.bare() {
        Value::Unknown(it) => it.refinement.document.as_deref().cloned(),
        _ => None,
    }
}

/// A document in which texts with gaps are unknown; nothing where a gap stands in a name.
fn opened(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(it) if it.contains(GAP) => Value::unknown_not_null(Type::STRING),
        Value::Object(_) | Value::Map(_) => {
            let mut entries = Vec::new();
            for (name, it) in value.entries() {
                if name.contains(GAP) {
                    return None;
                }
                entries.push((name, opened(it)?));
            }
            Value::object(entries)
        }
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            Value::tuple(value.children().map(opened).collect::<Option<Vec<_>>>()?)
        }
        other => other.clone(),
    })
}

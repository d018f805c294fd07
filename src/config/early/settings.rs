//! Settings blocks that count before there is a plan: the backend's arguments, and `cloud`.

use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::syntax::{Block, Body, Name};
use crate::value::Value;

use super::StaticModule;
use crate::config::Backend;

/// One argument of a settings block.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name.
    pub name: Name,
    /// Its value, without marks.
    pub value: Value,
    /// The place of the value.
    pub at: Span,
    /// Whether it is written as a block, or as several of this name; its value is a tuple of objects then.
    pub is_block: bool,
}

/// Refuses a value that must not be shown or kept where `needed_by` needs it.
pub(in crate::config) fn check_marks(
    value: &Value,
    needed_by: &str,
    at: Span,
) -> Result<(), Diagnostic> {
    let kind = match (value.contains_sensitive(), value.contains_ephemeral()) {
        (true, _) => "Sensitive",
        (_, true) => "Ephemeral",
        _ => return Ok(()),
    };
    Err(Diagnostic::error(format!("{kind} value not allowed"))
        .detail(format!(
            "{kind} values, or values derived from {} values, cannot be used as {needed_by}.",
            kind.to_lowercase()
        ))
        .at(at))
}

/// Evaluates the arguments of a `backend` or `cloud` block, and its nested blocks.
pub fn backend_arguments(
    place: &StaticModule,
    backend: &Backend,
) -> Result<Vec<Setting>, Diagnostics> {
    let mut found = Diagnostics::new();
    let needed_by = format!("backend.{}", backend.kind.text);
    let settings = evaluate_blocks(place, &backend.body, &needed_by, &mut found);
    let has = |marked: fn(&Value) -> bool| settings.iter().any(|it| marked(&it.value));
    for (kind, is_there) in [
        ("sensitive", has(Value::contains_sensitive)),
        ("ephemeral", has(Value::contains_ephemeral)),
    ] {
        if is_there {
            let detail = format!(
                "The arguments of the backend configuration are kept in the working directory, so they cannot be {kind}, nor derived from {kind} values."
            );
            found.push(
                Diagnostic::error(format!("Backend config contains {kind} values"))
                    .detail(detail)
                    .at(backend.declared),
            );
        }
    }
    if found.has_errors() { Err(found.once()) } else { Ok(settings) }
}

/// As [`evaluate_attributes`], and the nested blocks as one setting for each name.
fn evaluate_blocks(
    place: &StaticModule,
    body: &Body,
    needed_by: &str,
    found: &mut Diagnostics,
) -> Vec<Setting> {
    let mut settings = evaluate_attributes(place, body, needed_by, found);
    let mut blocks: Vec<(&Name, Vec<Value>)> = Vec::new();
    for Block { kind, body, .. } in &body.blocks {
        let members = evaluate_blocks(place, body, needed_by, found);
        let value = Value::object(members.into_iter().map(|it| (it.name.text, it.value)));
        match blocks.iter_mut().find(|it| it.0.text == kind.text) {
            Some((_, values)) => values.push(value),
            None => blocks.push((kind, vec![value])),
        }
    }
    settings.extend(blocks.into_iter().map(|(name, values)| Setting {
        name: name.clone(),
        value: Value::tuple(values),
        at: name.span,
        is_block: true,
    }));
    settings
}

/// In JSON, where blocks look like attributes, they are read as such.
fn evaluate_attributes(
    place: &StaticModule,
    body: &Body,
    needed_by: &str,
    found: &mut Diagnostics,
) -> Vec<Setting> {
    let attributes = match body.json {
        Some(_) => body.just_attributes().0,
        None => body.attributes.clone(),
    };
    let mut settings = Vec::new();
    for it in attributes {
        if let Some(value) = found.take(place.evaluate(&it.value, needed_by)) {
            settings.push(Setting { name: it.name, value, at: it.value.span, is_block: false });
        }
    }
    settings
}

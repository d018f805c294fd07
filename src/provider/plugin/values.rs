//! Values, paths and problems, between the protocol's form and ours.

use super::wire::entail::plugin as msg;
use super::wire::entail::plugin::attribute_path::step::Selector;
use super::wire::entail::plugin::diagnostic::Severity as Said;
use crate::diagnostic::Severity;
use crate::provider::ProviderDiagnostic;
use crate::value::json::from_json;
use crate::value::msgpack::{from_msgpack, from_msgpack_lossy, to_msgpack};
use crate::value::{Path, PathError, PathStep, Type, Value};

/// Writes an unmarked value of type `ty`.
pub(super) fn encode(value: &Value, ty: Type) -> Option<msg::DynamicValue> {
    Some(msg::DynamicValue { msgpack: to_msgpack(value, ty).into(), json: Default::default() })
}

/// Reads a value of type `ty`; one that is absent is null.
pub(super) fn decode(value: Option<msg::DynamicValue>, ty: Type) -> Result<Value, PathError> {
    match value {
        Some(it) if !it.msgpack.is_empty() => from_msgpack(&it.msgpack, ty),
        Some(it) if !it.json.is_empty() => match std::str::from_utf8(&it.json) {
            Ok(text) => from_json(text, ty),
            Err(_) => Err(PathError::new(&[], "the text is not UTF-8")),
        },
        _ => Ok(Value::Null(ty)),
    }
}

/// Like [`decode`], for what providers tell of objects: text need not be UTF-8. Returns also whether some was not.
pub(super) fn decode_object(
    value: Option<msg::DynamicValue>,
    ty: Type,
) -> Result<(Value, bool), PathError> {
    match value {
        Some(it) if !it.msgpack.is_empty() => from_msgpack_lossy(&it.msgpack, ty),
        other => decode(other, ty).map(|it| (it, false)),
    }
}

/// Reads the problems of an answer.
pub(super) fn diagnostics(said: Vec<msg::Diagnostic>) -> Vec<ProviderDiagnostic> {
    let one = |it: msg::Diagnostic| {
        let severity = match Said::try_from(it.severity) {
            Ok(Said::Error) => Severity::Error,
            // What is neither must not stop anything, and must not be lost.
            _ => Severity::Warning,
        };
        ProviderDiagnostic {
            severity,
            attribute: path(it.attribute.unwrap_or_default()),
            ..ProviderDiagnostic::error(it.summary, it.detail)
        }
    };
    said.into_iter().map(one).collect()
}

/// Reads a path.
pub(super) fn path(said: msg::AttributePath) -> Path {
    let step = |it: msg::attribute_path::Step| match it.selector? {
        Selector::AttributeName(name) => Some(PathStep::attribute(name)),
        Selector::ElementKeyString(key) => Some(PathStep::key(key)),
        Selector::ElementKeyInt(at) => Some(PathStep::Index(Value::int(at))),
    };
    said.steps.into_iter().map_while(step).collect()
}

/// Writes a path; it ends where a step cannot be told, as into a set.
pub(super) fn written_path(path: &[PathStep]) -> msg::AttributePath {
    let step = |it: &PathStep| {
        let selector = match it {
            PathStep::Attribute(name) => Selector::AttributeName(name.to_string()),
            PathStep::Index(Value::String(key)) => Selector::ElementKeyString(key.to_string()),
            PathStep::Index(Value::Number(at)) => Selector::ElementKeyInt(at.as_i64()?),
            PathStep::Index(_) => return None,
        };
        Some(msg::attribute_path::Step { selector: Some(selector) })
    };
    msg::AttributePath { steps: path.iter().map_while(step).collect() }
}

/// Writes problems.
pub(super) fn written_diagnostics(found: &[ProviderDiagnostic]) -> Vec<msg::Diagnostic> {
    let one = |it: &ProviderDiagnostic| msg::Diagnostic {
        severity: match it.severity {
            Severity::Error => Said::Error as i32,
            Severity::Warning => Said::Warning as i32,
        },
        summary: it.summary.clone(),
        detail: it.detail.clone(),
        attribute: (!it.attribute.is_empty()).then(|| written_path(&it.attribute)),
    };
    found.iter().map(one).collect()
}

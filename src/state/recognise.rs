//! What a state file is before it is read: its format's version, the program that wrote it, where it stops being JSON.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::problems;
use crate::diagnostic::Diagnostic;

/// Finds the format version without reading everything, if it stands first; otherwise by reading everything.
pub(super) fn format_version(source: &str) -> Result<u64, Diagnostic> {
    #[derive(Deserialize)]
    struct Sniff<'a> {
        #[serde(borrow, default)]
        version: Option<&'a RawValue>,
        #[serde(borrow, default)]
        encrypted_data: Option<&'a RawValue>,
    }
    let head = source
        .trim_start()
        .strip_prefix('{')
        .map(str::trim_start)
        .and_then(|it| it.strip_prefix("\"version\""));
    let head = head.map(str::trim_start).and_then(|it| it.strip_prefix(':')).map(str::trim_start);
    if head
        .is_some_and(|it| it.strip_prefix('4').is_some_and(|it| it.trim_start().starts_with(',')))
    {
        return Ok(4);
    }
    let sniff: Sniff<'_> = match serde_json::from_str(source) {
        Ok(sniff) => sniff,
        Err(error) if error.is_data() => return Err(problems::no_version()),
        Err(error) => return Err(problems::not_json(byte_offset(source, &error))),
    };
    match sniff.version.map(RawValue::get) {
        None if sniff.encrypted_data.is_some() => Err(problems::encrypted()),
        None => Err(problems::no_version()),
        Some(text) => text.parse().map_err(|_| problems::bad_version(json_kind(text))),
    }
}

fn json_kind(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'"') => "string",
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b't' | b'f') => "bool",
        _ => "number",
    }
}

/// Tells text that is no JSON from JSON that is no state.
pub(super) fn shape_problem(source: &str, error: &serde_json::Error) -> Diagnostic {
    match error.is_data() {
        true => problems::wrong_shape(error),
        false => problems::not_json(byte_offset(source, error)),
    }
}

fn byte_offset(source: &str, error: &serde_json::Error) -> usize {
    let before: usize =
        source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    before + error.column()
}

/// Finds the version of the writing program in a file of any format, for messages.
pub(super) fn writer_version(source: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Sniff {
        terraform_version: Option<String>,
    }
    let version = serde_json::from_str::<Sniff>(source).ok()?.terraform_version?;
    is_version(&version).then_some(version)
}

pub(super) fn is_version(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or(text);
    let number = number.split(['-', '+']).next().unwrap_or_default();
    !number.is_empty()
        && number
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()))
}

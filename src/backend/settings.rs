//! `.terraform/terraform.tfstate`: which backend `init` has set up in a working directory, and with which arguments.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::files::{self, Fresh};
use super::registry;
use super::shape::Arguments;
use crate::diagnostic::Diagnostic;
use crate::value::json::{from_json_implied, to_json};
use crate::value::{Kind, Value};

/// What `init` has set up.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The kind of backend.
    pub kind: String,
    /// Its arguments, those of the command line included.
    pub arguments: Arguments,
    /// Stands for the arguments of the configuration's block alone.
    pub hash: u64,
}

/// Returns a number that stands for the arguments of a block, the same as that of other programs, so that they find a working
/// directory set up which we have set up, and we one of theirs.
pub fn hash(kind: &str, arguments: &Arguments) -> u64 {
    let mut text = format!("<{};<", quoted(kind));
    for value in arguments.values() {
        write_value(&mut text, value);
        text.push(';');
    }
    text.push_str(">;>");
    u64::from(crc32fast::hash(text.as_bytes()))
}

/// Writes a value as the number is made of: members without their names, since they are sorted.
fn write_value(text: &mut String, value: &Value) {
    let ends = match value {
        _ if value.is_null() => return text.push('~'),
        _ if let Some(it) = value.as_str() => return text.push_str(&quoted(it)),
        _ if let Some(it) = value.as_bool() => return text.push(if it { 'T' } else { 'F' }),
        _ if let Some(it) = value.as_number() => return text.push_str(&it.to_string()),
        _ => match value.ty().kind() {
            Kind::Map(_) => ['{', '}'],
            Kind::List(_) | Kind::Set(_) => ['[', ']'],
            _ => ['<', '>'],
        },
    };
    text.push(ends[0]);
    match value.ty().kind() {
        Kind::Map(_) => {
            for (name, it) in value.entries() {
                text.push_str(&quoted(&name));
                text.push(':');
                write_value(text, it);
                text.push(';');
            }
        }
        _ => {
            for it in value.children() {
                write_value(text, it);
                text.push(';');
            }
        }
    }
    text.push(ends[1]);
}

/// Returns a text in quotes, as Go writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for it in text.chars() {
        match it {
            '"' | '\\' => quoted.extend(['\\', it]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            it if it.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", it as u32)),
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns arguments as they are written down: all of them, those that are not set as null.
fn config(arguments: &Arguments) -> Json {
    let json = |it: &Value| to_json(it).ok().and_then(|it| serde_json::from_str(&it).ok());
    let members = arguments.iter().map(|(name, it)| (name.clone(), json(it).unwrap_or_default()));
    Json::Object(members.collect())
}

fn path(data: &Path) -> PathBuf {
    data.join("terraform.tfstate")
}

/// Reads what was set up; nothing where nothing was, or only the usual file.
pub fn read(data: &Path) -> Result<Option<Settings>, Diagnostic> {
    let path = path(data);
    let bytes = files::read(&path).map_err(|it| unreadable(&path, &it.to_string()))?;
    let Some(bytes) = bytes.filter(|it| !it.is_empty()) else { return Ok(None) };
    let document: Json =
        serde_json::from_slice(&bytes).map_err(|it| unreadable(&path, &it.to_string()))?;
    let backend = &document["backend"];
    let Some(kind) = backend["type"].as_str().filter(|it| !it.is_empty()) else { return Ok(None) };
    // What another version had and this one has not stays as it is.
    let known = registry::kind(kind);
    let value = |name: &str, it: &Json| {
        let plain = from_json_implied(&it.to_string()).unwrap_or(Value::NULL);
        known.and_then(|kind| kind.setting(name, &plain).ok()).unwrap_or(plain)
    };
    let arguments = backend["config"].as_object().into_iter().flatten();
    let mut all = known.map(registry::Kind::unset).unwrap_or_default();
    all.extend(arguments.map(|(name, it)| (name.clone(), value(name, it))));
    Ok(Some(Settings {
        kind: kind.to_owned(),
        arguments: all,
        hash: backend["hash"].as_u64().unwrap_or_default(),
    }))
}

/// Writes what is set up, whole or not at all.
pub fn write(data: &Path, settings: Option<&Settings>) -> Result<(), Diagnostic> {
    let document = match settings {
        Some(it) => json!({
            "version": 3,
            "backend": { "type": it.kind, "config": config(&it.arguments), "hash": it.hash },
        }),
        None => json!({ "version": 3 }),
    };
    let path = path(data);
    let mut text = Vec::new();
    let style = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut writer = serde_json::Serializer::with_formatter(&mut text, style);
    serde::Serialize::serialize(&document, &mut writer).map_err(|it| unwritable(&path, &it))?;
    let written =
        std::fs::create_dir_all(data).and_then(|()| files::replace(&path, &text, Fresh::Private));
    written.map_err(|it| unwritable(&path, &it))
}

fn unreadable(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::error("Failed to load state").detail(format!(
        "The settings of the backend in {} cannot be read: {why}. Remove the file and run init again.",
        path.display()
    ))
}

fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error("Error saving the backend configuration").detail(format!(
        "{}: {error}. The settings are kept there for later commands. Make the file writable, then run init again.",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Str, Type};

    /// The number was taken from a working directory that OpenTofu 1.12.6 had set up.
    #[test]
    fn the_number_of_a_block_is_that_of_other_programs() {
        let Some(kind) = registry::kind("http") else { return };
        let mut arguments = kind.unset();
        let headers = Value::map(Type::STRING, [(Str::from("a"), Value::string("1"))]);
        arguments.insert("address".into(), Value::string("http://127.0.0.1:1/x"));
        arguments.insert("headers".into(), headers);
        arguments.insert("retry_max".into(), Value::int(4));
        assert_eq!(hash("http", &arguments), 207_029_467);
    }

    #[test]
    fn what_is_set_up_is_read_with_its_types() {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(kind) = registry::kind("http") else { return };
        let mut arguments = kind.unset();
        arguments.insert("address".into(), Value::string("http://127.0.0.1:1/x"));
        arguments.insert("retry_max".into(), Value::int(4));
        arguments.insert("skip_cert_verification".into(), Value::Bool(true));
        let hash = hash("http", &arguments);
        let settings = Settings { kind: "http".into(), arguments, hash };
        write(folder.path(), Some(&settings)).expect("it is written");
        assert_eq!(read(folder.path()).expect("it is read"), Some(settings));
        let text = std::fs::read_to_string(path(folder.path())).expect("it is there");
        for line in ["\"retry_max\": 4,", "\"skip_cert_verification\": true,", "\"headers\": null,"]
        {
            assert!(text.contains(line), "{text}");
        }
    }
}

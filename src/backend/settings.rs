//! `.terraform/terraform.tfstate`: which backend `init` has set up in a working directory, and with which arguments.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::files::{self, Fresh};
use super::registry;
use super::shape::Arguments;
use crate::diagnostic::Diagnostic;
use crate::value::Value;
use crate::value::json::{from_json_implied, to_json};

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

/// Returns a number that stands for the arguments of a block.
pub fn hash(kind: &str, arguments: &Arguments) -> u64 {
    let text = format!("{kind} {arguments:?}");
    // FNV-1a, so that every build finds the same number.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    u64::from(text.bytes().fold(0x811c_9dc5, step))
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
        std::fs::create_dir_all(data).and_then(|()| files::replace(&path, &text, Fresh::Usual));
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

//! Paths as JSON, as state files hold them: `[{"type":"get_attr","value":"a"},{"type":"index","value":{…}}]`.

use super::encode::{Escape, to_state_json, write_string};
use super::from_json;
use super::read::{Reader, Start};
use crate::error::Error;
use crate::value::{Path, PathError, PathStep, Type, nfc};

/// Writes paths as a JSON array of arrays of steps. Fails where the key of a step is unknown or marked.
pub fn paths_to_json(paths: &[Path]) -> Result<String, PathError> {
    let mut out = String::from("[");
    for (at, path) in paths.iter().enumerate() {
        out.push_str(if at == 0 { "[" } else { ",[" });
        for (at, step) in path.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            write_step(step, &mut out)?;
        }
        out.push(']');
    }
    out.push(']');
    Ok(out)
}

fn write_step(step: &PathStep, out: &mut String) -> Result<(), PathError> {
    match step {
        PathStep::Attribute(name) => {
            out.push_str("{\"type\":\"get_attr\",\"value\":");
            write_string(name, Escape::Html, out);
        }
        PathStep::Index(key) => {
            out.push_str("{\"type\":\"index\",\"value\":");
            out.push_str(&to_state_json(key, Type::DYNAMIC)?);
        }
    }
    out.push('}');
    Ok(())
}

/// Reads paths from a JSON array of arrays of steps. The error is a phrase without a full stop.
pub fn paths_from_json(text: &str) -> Result<Vec<Path>, Error> {
    let mut reader = Reader::new(text);
    let mut paths = Vec::new();
    reader.enter_array()?;
    while reader.next_item(paths.is_empty())? {
        let mut path = Path::new();
        reader.enter_array()?;
        while reader.next_item(path.is_empty())? {
            path.push(read_step(&mut reader)?);
        }
        paths.push(path);
    }
    reader.end()?;
    Ok(paths)
}

fn read_step(reader: &mut Reader<'_>) -> Result<PathStep, Error> {
    let (mut kind, mut value) = (None, None);
    reader.enter_object()?;
    let mut is_first = true;
    while let Some(key) = reader.next_key(is_first)? {
        is_first = false;
        match &*key {
            "type" if reader.start()? == Start::String => kind = Some(reader.string()?),
            "value" => value = Some(reader.skip()?),
            _ => drop(reader.skip()?),
        }
    }
    match (kind.as_deref(), value) {
        (Some("get_attr"), Some(text)) => match from_json(text, Type::STRING) {
            Ok(name) => name
                .as_str()
                .map(|it| PathStep::Attribute(nfc(it)))
                .ok_or_else(|| "missing name".into()),
            Err(error) => Err(error.message.into()),
        },
        (Some("index"), Some(text)) => {
            from_json(text, Type::DYNAMIC).map(PathStep::Index).map_err(|it| it.message.into())
        }
        (Some(kind), Some(_)) => Err(format!("unsupported path step {kind:?}").into()),
        _ => Err("path step without type or value".into()),
    }
}

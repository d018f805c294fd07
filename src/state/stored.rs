//! Values, types and paths as they stand in state files.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::text::{JsonWriter, Layout};
use crate::error::Error;
use crate::value::{Kind, Path, PathStep, Type, Value, json};

/// Reads a type.
pub(super) fn read_type(text: &RawValue) -> Result<Type, Error> {
    json::type_from_json(text.get())
}

/// Writes a type.
pub(super) fn write_type(ty: Type) -> String {
    json::type_to_json(ty)
}

/// Reads a value of a type.
pub(super) fn read_value(text: &str, ty: Type) -> Result<Value, Error> {
    Ok(json::from_stored_json(text, ty)?)
}

/// Writes a value of a type. What has no JSON – an unknown that was planned but never decided – is stored as null.
pub(super) fn write_value(value: &Value, ty: Type) -> String {
    json::to_state_json(&value.to_plain(), ty).unwrap_or_else(|_| "null".into())
}

/// Reads a value whose type is not recorded. Old states knew no tuples and objects, so like elements make a list or map.
pub(super) fn read_implied(text: &str) -> Result<(Value, Type), Error> {
    let ty = simplified(json::implied_type(text)?);
    Ok((json::from_json(text, ty)?, ty))
}

fn simplified(ty: Type) -> Type {
    match ty.kind() {
        Kind::Tuple(items) => match items.split_first() {
            Some((first, rest)) if rest.iter().all(|it| it == first) => {
                Type::list(simplified(*first))
            }
            _ => ty,
        },
        Kind::Object(items) => match items.split_first() {
            Some((first, rest)) if rest.iter().all(|it| it.1 == first.1) => {
                Type::map(simplified(first.1))
            }
            _ => ty,
        },
        _ => ty,
    }
}

/// Reads paths.
pub(super) fn read_paths(text: &str) -> Result<Vec<Path>, Error> {
    #[derive(Deserialize)]
    struct Step<'a> {
        #[serde(rename = "type")]
        kind: String,
        #[serde(borrow)]
        value: &'a RawValue,
    }
    let step = |step: &Step<'_>| match step.kind.as_str() {
        "get_attr" => {
            let name: String = serde_json::from_str(step.value.get())?;
            Ok(PathStep::Attribute(name.into()))
        }
        "index" => Ok(PathStep::Index(read_value(step.value.get(), Type::DYNAMIC)?)),
        other => Err(Error::from(format!("unsupported path step type {other:?}"))),
    };
    let paths: Vec<Vec<Step<'_>>> = serde_json::from_str(text)?;
    paths.iter().map(|path| path.iter().map(step).collect()).collect()
}

/// Writes paths.
pub(super) fn write_paths(paths: &[Path]) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('[');
    for path in paths {
        json.element();
        json.open('[');
        for step in path {
            json.element();
            json.open('{');
            match step {
                PathStep::Attribute(name) => {
                    json.member("type", "get_attr");
                    json.member("value", name);
                }
                PathStep::Index(key) => {
                    json.member("type", "index");
                    json.member_raw("value", &write_value(key, Type::DYNAMIC));
                }
            }
            json.close('}');
        }
        json.close(']');
    }
    json.close(']');
    json.finish()
}

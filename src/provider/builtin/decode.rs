//! Stored JSON to values of a declared type, as leniently as plugins read it: a number or bool written as text is
//! accepted, members that the type does not have are dropped, absent ones are null.

use serde_json::Value as Json;

use crate::value::{Kind, Number, Str, Type, Value};

/// Nesting beyond this is refused: no real state comes near, and recursion must end.
const DEEPEST: usize = 500;

/// Returns a JSON value as one of type `ty`. The error says what does not fit, and where.
pub(super) fn value(json: &Json, ty: Type) -> Result<Value, String> {
    at_depth(json, ty, 0)
}

fn at_depth(json: &Json, ty: Type, depth: usize) -> Result<Value, String> {
    if depth > DEEPEST {
        return Err("the value is nested too deeply".to_owned());
    }
    match ty.kind() {
        Kind::Dynamic if json.is_null() => Ok(Value::NULL),
        Kind::Dynamic => dynamic(json, depth),
        _ if json.is_null() => Ok(Value::Null(ty)),
        Kind::Bool => bool(json).ok_or_else(|| misfit(json, ty)),
        Kind::Number => number(json).map(Value::Number).ok_or_else(|| misfit(json, ty)),
        Kind::String => string(json).ok_or_else(|| misfit(json, ty)),
        Kind::List(element) => {
            Ok(Value::list(*element, items(json, ty, |_| Some(*element), depth)?))
        }
        Kind::Set(element) => Ok(Value::set(*element, items(json, ty, |_| Some(*element), depth)?)),
        Kind::Tuple(types) => {
            let items = items(json, ty, |index| types.get(index).copied(), depth)?;
            if items.len() == types.len() { Ok(Value::tuple(items)) } else { Err(misfit(json, ty)) }
        }
        Kind::Map(element) => {
            let members = json.as_object().ok_or_else(|| misfit(json, ty))?;
            let entry = |(key, it): (&String, &Json)| {
                Ok((crate::value::nfc(key), inside(key, at_depth(it, *element, depth + 1))?))
            };
            Ok(Value::map(
                *element,
                members.iter().map(entry).collect::<Result<Vec<(Str, Value)>, String>>()?,
            ))
        }
        Kind::Object(attributes) => {
            let members = json.as_object().ok_or_else(|| misfit(json, ty))?;
            let member = |name: &Str, ty: Type| {
                members
                    .get(&**name)
                    .map_or(Ok(Value::Null(ty)), |it| inside(name, at_depth(it, ty, depth + 1)))
            };
            let values = attributes
                .iter()
                .map(|(name, ty, _)| member(name, *ty))
                .collect::<Result<Vec<Value>, String>>()?;
            Ok(Value::object_of(ty, values.into()))
        }
    }
}

fn items(
    json: &Json,
    ty: Type,
    element: impl Fn(usize) -> Option<Type>,
    depth: usize,
) -> Result<Vec<Value>, String> {
    let items = json.as_array().ok_or_else(|| misfit(json, ty))?;
    let item = |(index, it): (usize, &Json)| {
        let element = element(index).ok_or_else(|| misfit(json, ty))?;
        inside(&index.to_string(), at_depth(it, element, depth + 1))
    };
    items.iter().enumerate().map(item).collect()
}

/// A value that carries its type: `{"value": …, "type": …}`.
fn dynamic(json: &Json, depth: usize) -> Result<Value, String> {
    let members =
        json.as_object().ok_or("a value of any type must be stored together with its type")?;
    let (Some(inner), Some(ty)) = (members.get("value"), members.get("type")) else {
        return Err("a value of any type must be stored together with its type".to_owned());
    };
    at_depth(inner, type_at_depth(ty, 0)?, depth + 1)
}

/// Returns the type that JSON such as `["list", "string"]` names.
pub(super) fn type_of(json: &Json) -> Result<Type, String> {
    type_at_depth(json, 0)
}

fn type_at_depth(json: &Json, depth: usize) -> Result<Type, String> {
    if depth > DEEPEST {
        return Err("the type is nested too deeply".to_owned());
    }
    let part = |json: &Json| type_at_depth(json, depth + 1);
    match json {
        Json::String(name) => match name.as_str() {
            "bool" => Ok(Type::BOOL),
            "number" => Ok(Type::NUMBER),
            "string" => Ok(Type::STRING),
            "dynamic" => Ok(Type::DYNAMIC),
            _ => Err(format!("there is no type {name:?}")),
        },
        Json::Array(parts) => match parts.as_slice() {
            [Json::String(kind), element] if kind == "list" => Ok(Type::list(part(element)?)),
            [Json::String(kind), element] if kind == "set" => Ok(Type::set(part(element)?)),
            [Json::String(kind), element] if kind == "map" => Ok(Type::map(part(element)?)),
            [Json::String(kind), Json::Array(items)] if kind == "tuple" => {
                Ok(Type::tuple(items.iter().map(part).collect::<Result<_, _>>()?))
            }
            [Json::String(kind), Json::Object(members), ..] if kind == "object" => {
                let member =
                    |(name, ty): (&String, &Json)| Ok((crate::value::nfc(name), part(ty)?));
                Ok(Type::object(members.iter().map(member).collect::<Result<_, String>>()?))
            }
            _ => Err("a stored type is not written as one".to_owned()),
        },
        _ => Err("a stored type is not written as one".to_owned()),
    }
}

fn bool(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(it) => Some(Value::Bool(*it)),
        Json::String(it) if it == "true" || it == "1" => Some(Value::Bool(true)),
        Json::String(it) if it == "false" || it == "0" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn string(json: &Json) -> Option<Value> {
    match json {
        Json::String(it) => Some(Value::string(it)),
        Json::Number(it) => Some(Value::string(it.to_string())),
        Json::Bool(it) => Some(Value::string(it.to_string())),
        _ => None,
    }
}

fn number(json: &Json) -> Option<Number> {
    match json {
        Json::Number(it) => parse_number(it.as_str()),
        Json::String(it) => parse_number(it),
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<Number> {
    text.parse().ok().map(Number::Int)
}

fn misfit(json: &Json, ty: Type) -> String {
    let found = match json {
        Json::Null => "null",
        Json::Bool(_) => "a bool",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    };
    format!("{found} stands where {ty} belongs")
}

/// Says where the trouble is.
fn inside<T>(name: &str, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|why| format!("{name}: {why}"))
}

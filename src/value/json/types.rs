//! Types as JSON: `"string"`, `["list","number"]`, `["object",{"a":"bool"},["a"]]`.

use super::encode::{Escape, write_string};
use super::read::{Reader, Start};
use crate::error::Error;
use crate::value::{Kind, Str, Type, nfc};

/// Writes a type as JSON.
pub fn type_to_json(ty: Type) -> String {
    let mut out = String::new();
    write_type(ty, &mut out);
    out
}

/// Reads a type from JSON. The error is a phrase without a full stop.
pub fn type_from_json(text: &str) -> Result<Type, Error> {
    let mut reader = Reader::new(text);
    let ty = read_type(&mut reader)?;
    reader.end()?;
    Ok(ty)
}

pub(super) fn write_type(ty: Type, out: &mut String) {
    match ty.kind() {
        Kind::Dynamic => out.push_str("\"dynamic\""),
        Kind::Bool => out.push_str("\"bool\""),
        Kind::Number => out.push_str("\"number\""),
        Kind::String => out.push_str("\"string\""),
        Kind::List(it) => write_collection("list", *it, out),
        Kind::Set(it) => write_collection("set", *it, out),
        Kind::Map(it) => write_collection("map", *it, out),
        Kind::Tuple(items) => {
            out.push_str("[\"tuple\",[");
            for (at, it) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write_type(*it, out);
            }
            out.push_str("]]");
        }
        Kind::Object(attributes) => write_object(attributes, out),
    }
}

fn write_collection(kind: &str, element: Type, out: &mut String) {
    out.push_str("[\"");
    out.push_str(kind);
    out.push_str("\",");
    write_type(element, out);
    out.push(']');
}

fn write_object(attributes: &[(Str, Type, bool)], out: &mut String) {
    out.push_str("[\"object\",{");
    for (at, (name, ty, _)) in attributes.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        write_string(name, Escape::Html, out);
        out.push(':');
        write_type(*ty, out);
    }
    out.push('}');
    let mut separator = ",[";
    for (name, ..) in attributes.iter().filter(|it| it.2) {
        out.push_str(separator);
        write_string(name, Escape::Html, out);
        separator = ",";
    }
    out.push_str(if separator == "," { "]]" } else { "]" });
}

pub(super) fn read_type(reader: &mut Reader<'_>) -> Result<Type, Error> {
    match reader.start()? {
        Start::String => match &*reader.string()? {
            "bool" => Ok(Type::BOOL),
            "number" => Ok(Type::NUMBER),
            "string" => Ok(Type::STRING),
            "dynamic" => Ok(Type::DYNAMIC),
            other => Err(format!("invalid primitive type name {other:?}").into()),
        },
        Start::Array => read_compound(reader),
        _ => Err("invalid type description".into()),
    }
}

fn read_compound(reader: &mut Reader<'_>) -> Result<Type, Error> {
    reader.enter_array()?;
    if !reader.next_item(true)? || reader.start()? != Start::String {
        return Err("invalid complex type kind name".into());
    }
    let kind = reader.string()?;
    if !reader.next_item(false)? {
        return Err("invalid complex type description".into());
    }
    let ty = match &*kind {
        "list" => Type::list(read_type(reader)?),
        "set" => Type::set(read_type(reader)?),
        "map" => Type::map(read_type(reader)?),
        "tuple" => Type::tuple(read_types(reader)?),
        "object" => return read_object(reader),
        _ => return Err("invalid complex type kind name".into()),
    };
    end_of_type(reader, ty)
}

fn end_of_type(reader: &mut Reader<'_>, ty: Type) -> Result<Type, Error> {
    if reader.next_item(false)? {
        Err("unexpected extra data in type description".into())
    } else {
        Ok(ty)
    }
}

fn read_types(reader: &mut Reader<'_>) -> Result<Vec<Type>, Error> {
    reader.enter_array()?;
    let mut types = Vec::new();
    while reader.next_item(types.is_empty())? {
        types.push(read_type(reader)?);
    }
    Ok(types)
}

fn read_object(reader: &mut Reader<'_>) -> Result<Type, Error> {
    let mut attributes: std::collections::BTreeMap<Str, (Type, bool)> = Default::default();
    reader.enter_object()?;
    let mut is_first = true;
    while let Some(name) = reader.next_key(is_first)? {
        is_first = false;
        attributes.insert(nfc(&name), (read_type(reader)?, false));
    }
    let has_optional = reader.next_item(false)?;
    if has_optional {
        reader.enter_array()?;
        let mut is_first = true;
        while reader.next_item(is_first)? {
            is_first = false;
            if reader.start()? == Start::String
                && let Some(attribute) = attributes.get_mut(&*reader.string()?)
            {
                attribute.1 = true;
            } else {
                return Err("invalid name of an optional attribute".into());
            }
        }
    }
    let attributes =
        attributes.into_iter().map(|(name, (ty, is_optional))| (name, ty, is_optional));
    let ty = Type::object_with_optional(attributes.collect());
    if has_optional { end_of_type(reader, ty) } else { Ok(ty) }
}

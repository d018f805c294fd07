//! Fits a value to a schema: what was not decoded from a block, but given as one object.

use super::types::{NestedBlock, Part};
use super::{AttributeSchema, BlockSchema, Nesting, items, sequence};
use crate::value::objects::object_like;
use crate::value::{Path, PathError, PathStep, Type, Value, convert};

/// Converts an object to the type of a block.
///
/// Attributes that it lacks are null if they need not be set, blocks that it lacks empty. Attributes that the schema
/// lacks are an error. Marks are kept.
pub fn coerce(value: &Value, schema: &BlockSchema) -> Result<Value, PathError> {
    coerce_block(value, schema, &mut Vec::new())
}

/// Returns everything that keeps a value from being of type `ty`, whose `Dynamic` parts accept anything.
pub fn conforms(value: &Value, ty: Type) -> Vec<PathError> {
    value.ty().conformance_errors(ty)
}

fn coerce_block(value: &Value, schema: &BlockSchema, path: &mut Path) -> Result<Value, PathError> {
    let ty = schema.ty();
    if value.ty() == ty && !ty.has_dynamic() {
        return Ok(value.clone());
    }
    let object = match value {
        Value::Marked(it) => return Ok(coerce_block(it.value(), schema, path)?.mark(it.marks())),
        Value::Null(_) => return Ok(Value::Null(ty)),
        Value::Unknown(_) => return Ok(Value::unknown(ty)),
        Value::Object(it) => it,
        _ => return Err(PathError::new(path, "an object is required")),
    };
    for (name, ..) in object.ty.attributes() {
        if !schema.attributes.contains_key(name) && !schema.blocks.contains_key(name) {
            return Err(PathError::new(path, format!("unexpected attribute {:?}", &**name)));
        }
    }
    let mut values = Vec::with_capacity(ty.attributes().len());
    for (name, part) in schema.parts() {
        let given = value.get(name);
        if let (Part::Attribute(attribute), None) = (part, given)
            && !attribute.optional
            && !attribute.computed
        {
            return Err(PathError::new(path, format!("attribute {:?} is required", &**name)));
        }
        path.push(PathStep::Attribute(name.clone()));
        values.push(match (part, given) {
            (Part::Attribute(attribute), Some(it)) => coerce_attribute(it, attribute, path)?,
            (Part::Attribute(attribute), None) => Value::Null(attribute.ty),
            (Part::Block(block), Some(it)) => coerce_blocks(it, block, path)?,
            (Part::Block(block), None) => block.empty_value(),
        });
        path.pop();
    }
    Ok(object_like(ty, values))
}

fn coerce_attribute(
    value: &Value,
    attribute: &AttributeSchema,
    path: &Path,
) -> Result<Value, PathError> {
    if value.ty() == attribute.ty {
        return Ok(value.clone());
    }
    convert(value, attribute.constraint()).map_err(|mut error| {
        error.path.splice(0..0, path.iter().cloned());
        error
    })
}

fn coerce_blocks(value: &Value, block: &NestedBlock, path: &mut Path) -> Result<Value, PathError> {
    let ty = block.block.ty();
    let (all, noun) = match block.nesting {
        Nesting::Single | Nesting::Group => return coerce_block(value, &block.block, path),
        Nesting::List => (Type::list(ty), "a list"),
        Nesting::Set => (Type::set(ty), "a set"),
        Nesting::Map => (Type::map(ty), "a map"),
    };
    let must_be = |path: &Path| PathError::new(&path[..path.len() - 1], format!("must be {noun}"));
    match value {
        Value::Marked(it) => Ok(coerce_blocks(it.value(), block, path)?.mark(it.marks())),
        Value::Null(_) => Ok(Value::Null(all)),
        Value::Unknown(_) => Ok(Value::unknown(all)),
        Value::List(_) | Value::Set(_) | Value::Tuple(_) if block.nesting != Nesting::Map => {
            let mut coerced = Vec::with_capacity(items(value).len());
            for (at, item) in items(value).iter().enumerate() {
                path.push(PathStep::index(at));
                coerced.push(coerce_block(item, &block.block, path)?);
                path.pop();
            }
            Ok(if block.nesting == Nesting::Set {
                Value::set(ty, coerced)
            } else {
                sequence(ty, coerced)
            })
        }
        Value::Map(_) | Value::Object(_) if block.nesting == Nesting::Map => {
            let mut coerced = Vec::new();
            for (key, item) in value.entries() {
                path.push(PathStep::key(&key));
                coerced.push((key, coerce_block(item, &block.block, path)?));
                path.pop();
            }
            let is_map = !matches!(value, Value::Object(_))
                && coerced.iter().all(|it| it.1.ty() == coerced[0].1.ty());
            Ok(if is_map || coerced.is_empty() {
                Value::map(ty, coerced)
            } else {
                Value::object(coerced)
            })
        }
        _ => Err(must_be(path)),
    }
}

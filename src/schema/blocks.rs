//! Nested blocks that a provider left out, put back: a collection of blocks is never null, only empty.

use super::types::{NestedBlock, Part};
use super::{BlockSchema, Nesting, empty_value, items, sequence};
use crate::value::Value;
use crate::value::objects::object_like;

/// Returns an object as read by a provider of the legacy SDK, with every collection of blocks there. Attributes stay.
pub fn with_blocks(value: &Value, schema: &BlockSchema) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let parts: Vec<_> = schema.parts().map(|it| it.1).collect();
    if schema.blocks.is_empty() || parts.len() != object.values.len() {
        return value.clone();
    }
    let values = parts.into_iter().zip(&object.values).map(|(part, value)| match part {
        Part::Attribute(_) => value.clone(),
        Part::Block(block) => complete(value, block),
    });
    object_like(schema.ty(), values.collect())
}

fn complete(value: &Value, block: &NestedBlock) -> Value {
    let each = |it: &Value| with_blocks(it, &block.block);
    match (block.nesting, value) {
        (Nesting::Single, it) => each(it),
        (Nesting::Group, Value::Null(_)) => empty_value(&block.block),
        (Nesting::Group, it) => each(it),
        (_, Value::Null(_)) => block.empty_value(),
        (_, Value::List(_) | Value::Tuple(_)) => {
            sequence(block.block.ty(), items(value).iter().map(each).collect())
        }
        (_, Value::Set(it)) => Value::set(it.element, it.items.iter().map(each).collect()),
        (_, Value::Map(it)) => {
            Value::map(it.element, it.entries.iter().map(|(name, it)| (name.clone(), each(it))))
        }
        (_, it) => it.clone(),
    }
}

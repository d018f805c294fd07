//! Merges what the user wrote with what already exists, before the provider is asked.

use std::collections::BTreeMap;

use super::types::{NestedBlock, Part};
use super::{
    AttributeSchema, BlockSchema, NestedAttributes, Nesting, attribute, element_or, empty_value,
    items, sequence,
};
use crate::value::objects::object_like;
use crate::value::{PathStep, Str, Type, Value};

/// Merges prior object and configuration into what the provider is asked to plan.
///
/// Attribute by attribute: the configured value where it is not null, else the prior value where the provider may
/// choose one (`computed`), else null. Blocks and nested attributes correspond by position or key, in sets by likeness.
///
/// - `config`: an object of the schema's type; null to destroy.
/// - `prior`: an object of the same type; null when creating.
///
/// Source: OpenTofu, `internal/plans/objchange`.
pub fn proposed_new(schema: &BlockSchema, prior: &Value, config: &Value) -> Value {
    match prior.bare() {
        Value::Null(_) if config.is_null() => prior.clone(),
        Value::Null(_) if schema.is_kept_when_new() && config.is_known() => config.bare().clone(),
        Value::Null(_) => merge_block(schema, &empty_value(schema), config),
        prior => merge_block(schema, prior, config),
    }
}

/// Returns what is known of an object before it is read: the configuration, and unknown where the provider chooses.
pub fn planned_unknown(schema: &BlockSchema, config: &Value) -> Value {
    merge_block(schema, &Value::unknown(schema.ty()), config)
}

/// What one element of a collection is made of.
#[derive(Clone, Copy)]
enum Inside<'a> {
    Block(&'a BlockSchema),
    Attributes(&'a NestedAttributes),
}

impl Inside<'_> {
    fn ty(self) -> Type {
        match self {
            Inside::Block(it) => it.ty(),
            Inside::Attributes(it) => it.element(),
        }
    }

    fn merge(self, prior: &Value, config: &Value) -> Value {
        match self {
            Inside::Block(it) => proposed_new(it, prior, config),
            Inside::Attributes(it) => merge_attributes(it, prior, config),
        }
    }

    fn attribute_at(&self, path: &[PathStep]) -> Option<&AttributeSchema> {
        match self {
            Inside::Block(it) => it.attribute_at(path),
            Inside::Attributes(it) => nested_attribute_at(&it.attributes, path),
        }
    }
}

fn nested_attribute_at<'a>(
    attributes: &'a BTreeMap<Str, AttributeSchema>,
    path: &[PathStep],
) -> Option<&'a AttributeSchema> {
    let at = path.iter().position(|it| matches!(it, PathStep::Attribute(_)))?;
    let PathStep::Attribute(name) = &path[at] else { return None };
    let (found, rest) = (attributes.get(name)?, &path[at + 1..]);
    if rest.is_empty() {
        Some(found)
    } else {
        nested_attribute_at(&found.nested.as_ref()?.attributes, rest)
    }
}

fn merge_block(schema: &BlockSchema, prior: &Value, config: &Value) -> Value {
    if config.is_null() || !config.is_known() {
        return prior.clone();
    }
    let values = schema.parts().enumerate().map(|(at, (name, part))| {
        let ty = part.ty();
        let (prior, config) = (attribute(prior, at, name, ty), attribute(config, at, name, ty));
        match part {
            Part::Attribute(it) => merge_attribute(it, &prior, &config),
            Part::Block(it) => merge_blocks(it, &prior, &config),
        }
    });
    object_like(schema.ty(), values.collect())
}

fn merge_attribute(schema: &AttributeSchema, prior: &Value, config: &Value) -> Value {
    match &schema.nested {
        _ if schema.computed && config.is_null() => match must_be_configured(schema, prior) {
            true => config.clone(),
            false => prior.clone(),
        },
        Some(nested) => merge_nested(nested, prior, config),
        None => config.clone(),
    }
}

/// Whether a nested attribute that the provider may choose holds what only the user can have set.
fn must_be_configured(schema: &AttributeSchema, prior: &Value) -> bool {
    let Some(nested) = schema.nested.as_ref().filter(|_| schema.optional) else { return false };
    has_configured_part(&nested.attributes, prior, &mut Vec::new())
}

fn has_configured_part(
    attributes: &BTreeMap<Str, AttributeSchema>,
    value: &Value,
    path: &mut Vec<PathStep>,
) -> bool {
    if value.is_null() {
        return false;
    }
    if nested_attribute_at(attributes, path).is_some_and(|it| !it.computed) {
        return true;
    }
    let mut found = false;
    value.bare().map_children(path, &mut |child, path| {
        found = found || has_configured_part(attributes, child, path);
        child.clone()
    });
    found
}

fn merge_nested(schema: &NestedAttributes, prior: &Value, config: &Value) -> Value {
    if !config.is_known() {
        return config.clone();
    }
    match schema.nesting {
        Nesting::Single | Nesting::Group => merge_attributes(schema, prior, config),
        Nesting::List => merge_list(Inside::Attributes(schema), prior, config),
        Nesting::Map => merge_map(Inside::Attributes(schema), prior, config),
        Nesting::Set => merge_set(Inside::Attributes(schema), prior, config),
    }
}

fn merge_attributes(schema: &NestedAttributes, prior: &Value, config: &Value) -> Value {
    if config.is_null() {
        return config.clone();
    }
    let values = schema.attributes.iter().enumerate().map(|(at, (name, it))| {
        merge_attribute(it, &attribute(prior, at, name, it.ty), &attribute(config, at, name, it.ty))
    });
    object_like(schema.element(), values.collect())
}

fn merge_blocks(schema: &NestedBlock, prior: &Value, config: &Value) -> Value {
    if !config.is_known() {
        return config.clone();
    }
    match schema.nesting {
        Nesting::Single if config.is_null() => config.clone(),
        Nesting::Single | Nesting::Group => proposed_new(&schema.block, prior, config),
        Nesting::List => merge_list(Inside::Block(&schema.block), prior, config),
        Nesting::Map => merge_map(Inside::Block(&schema.block), prior, config),
        Nesting::Set => merge_set(Inside::Block(&schema.block), prior, config),
    }
}

fn merge_list(schema: Inside<'_>, prior: &Value, config: &Value) -> Value {
    if items(config).is_empty() {
        return config.clone();
    }
    let unknown = (!prior.is_known()).then(|| Value::unknown(element_or(prior, schema.ty())));
    let merged = items(config).iter().enumerate().map(|(at, item)| {
        match unknown.as_ref().or(items(prior).get(at)) {
            Some(prior) => schema.merge(prior, item),
            None => item.clone(),
        }
    });
    let merged = merged.collect();
    if matches!(config.bare(), Value::Tuple(_)) {
        Value::tuple(merged)
    } else {
        sequence(schema.ty(), merged)
    }
}

fn merge_map(schema: Inside<'_>, prior: &Value, config: &Value) -> Value {
    let merged = config.entries().into_iter().map(|(key, item)| match prior.get(&key) {
        Some(prior) => (key, schema.merge(prior, item)),
        None => (key, item.clone()),
    });
    match config.bare() {
        Value::Map(it) if !it.entries.is_empty() => Value::map(schema.ty(), merged),
        Value::Object(it) if !it.values.is_empty() => Value::object(merged),
        config => config.clone(),
    }
}

fn merge_set(schema: Inside<'_>, prior: &Value, config: &Value) -> Value {
    if items(config).is_empty() {
        return config.clone();
    }
    let candidates = items(prior);
    let mut used = vec![false; candidates.len()];
    let merged = items(config).iter().map(|item| {
        let found = (0..candidates.len())
            .find(|at| !used[*at] && is_valid_prior(schema, &candidates[*at], item));
        match found {
            Some(at) => {
                used[at] = true;
                schema.merge(&candidates[at], item)
            }
            None => schema.merge(&Value::Null(element_or(config, schema.ty())), item),
        }
    });
    let merged = merged.collect();
    Value::set(element_or(config, schema.ty()), merged)
}

/// Whether a prior element of a set may be what a configured one became: they differ only where the provider chose.
fn is_valid_prior(schema: Inside<'_>, prior: &Value, config: &Value) -> bool {
    explains(schema, prior, config, &mut Vec::new())
}

fn explains(schema: Inside<'_>, prior: &Value, config: &Value, path: &mut Vec<PathStep>) -> bool {
    if is_equal_unrefined(prior, config) {
        return true;
    }
    if matches!(config.ty().kind(), crate::value::Kind::Set(_)) {
        return false;
    }
    if let Some(attribute) = schema.attribute_at(path)
        && attribute.nested.is_none()
    {
        return attribute.computed && config.is_null();
    }
    let mut is_valid = true;
    prior.bare().map_children(path, &mut |child, path| {
        let step = &path[path.len() - 1..];
        is_valid = is_valid
            && crate::value::path::get(config, step)
                .is_some_and(|config| explains(schema, child, &config, path));
        child.clone()
    });
    is_valid
}

/// Compares exactly, but for what is known about unknown values.
pub(super) fn is_equal_unrefined(a: &Value, b: &Value) -> bool {
    if a.is_same(b) {
        return true;
    }
    match (a, b) {
        (Value::Unknown(a), Value::Unknown(b)) => a.ty == b.ty,
        (Value::Object(a), Value::Object(b)) => a.ty == b.ty && all_equal(&a.values, &b.values),
        (Value::Tuple(a), Value::Tuple(b)) => a.ty == b.ty && all_equal(&a.items, &b.items),
        (Value::List(a), Value::List(b)) | (Value::Set(a), Value::Set(b)) => {
            a.element == b.element && all_equal(&a.items, &b.items)
        }
        (Value::Map(a), Value::Map(b)) => {
            let is_equal = |(a, b): (&(Str, Value), &(Str, Value))| {
                a.0 == b.0 && is_equal_unrefined(&a.1, &b.1)
            };
            a.element == b.element
                && a.entries.len() == b.entries.len()
                && a.entries.iter().zip(&b.entries).all(is_equal)
        }
        _ => a == b,
    }
}

fn all_equal(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal_unrefined(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(attributes: &[(&str, AttributeSchema)]) -> BlockSchema {
        let attributes = attributes.iter().map(|(name, it)| ((*name).into(), it.clone())).collect();
        BlockSchema { attributes, ..BlockSchema::default() }
    }

    #[test]
    fn a_new_object_is_proposed_as_if_it_were_merged_with_nothing() {
        let of = AttributeSchema::of;
        let plain = [
            ("given", AttributeSchema { optional: true, ..of(Type::DYNAMIC) }),
            ("id", AttributeSchema { computed: true, ..of(Type::STRING) }),
            ("name", AttributeSchema { optional: true, computed: true, ..of(Type::STRING) }),
        ];
        let open = AttributeSchema { optional: true, computed: true, ..of(Type::DYNAMIC) };
        let with_open = [plain[0].clone(), plain[1].clone(), ("name", open)];
        for (schema, is_kept) in [(schema(&plain), true), (schema(&with_open), false)] {
            assert_eq!(schema.is_kept_when_new(), is_kept);
            let null = Value::Null(schema.ty());
            let texts =
                [Value::Null(Type::STRING), Value::string("n"), Value::unknown(Type::STRING)];
            for (given, name) in
                texts.iter().flat_map(|it| texts.iter().map(move |name| (it, name)))
            {
                let values = vec![given.clone(), Value::Null(Type::STRING), name.clone()];
                let config = object_like(schema.ty(), values);
                let merged = merge_block(&schema, &empty_value(&schema), &config);
                assert_eq!(proposed_new(&schema, &null, &config), merged);
            }
        }
    }
}

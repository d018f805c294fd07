//! Defaults of optional object attributes: the second arguments of `optional(…)` in a type constraint.

use std::collections::BTreeMap;

use super::{Kind, Str, Type, Value, convert::convert, unify::unify, unknown};

/// Defaults of optional object attributes, along the type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeDefaults {
    /// The type these belong to, optional flags included.
    pub ty: Option<Type>,
    /// Default per attribute name of this object.
    pub values: BTreeMap<Str, Value>,
    /// Defaults within attributes by name, within tuple elements by index, or within elements of a collection under "".
    pub children: BTreeMap<Str, TypeDefaults>,
}

/// Puts defaults where an object lacks the attribute or has null there; done before the conversion to the type.
///
/// Null and unknown values stay. A list, set or map whose elements have no common type any more becomes a tuple or an
/// object, which the conversion then takes.
pub fn apply_defaults(value: &Value, defaults: &TypeDefaults) -> Value {
    if defaults.values.is_empty() && defaults.children.is_empty() {
        return value.clone();
    }
    match value {
        Value::Marked(it) => apply_defaults(&it.value, defaults).mark(&it.marks),
        Value::List(it) if !it.items.is_empty() => match unified(slice(&it.items, defaults)) {
            Ok((element, items)) => Value::list(element, items),
            Err(items) => Value::tuple(items),
        },
        Value::Set(it) if !it.items.is_empty() => match unified(slice(&it.items, defaults)) {
            Ok((element, items)) => Value::set(element, items),
            Err(items) => Value::tuple(items),
        },
        Value::Tuple(it) => Value::tuple(slice(&it.items, defaults)),
        Value::Object(_) => Value::object(attributes(value, defaults)),
        Value::Map(it) => map(value, it.element, defaults),
        it => it.clone(),
    }
}

fn map(value: &Value, element: Type, defaults: &TypeDefaults) -> Value {
    let entries = attributes(value, defaults);
    if entries.is_empty() {
        return Value::map(element, []);
    }
    let (keys, values): (Vec<Str>, Vec<Value>) = entries.into_iter().unzip();
    match unified(values) {
        Ok((element, values)) => Value::map(element, keys.into_iter().zip(values)),
        Err(values) => Value::object(keys.into_iter().zip(values)),
    }
}

fn slice(items: &[Value], defaults: &TypeDefaults) -> Vec<Value> {
    let is_tuple = matches!(defaults.ty.map(Type::kind), Some(Kind::Tuple(_)));
    let one = |(at, item): (usize, &Value)| {
        let child = if is_tuple {
            defaults.children.get(at.to_string().as_str())
        } else {
            defaults.children.get("")
        };
        child.map_or_else(|| item.clone(), |child| apply_defaults(item, child))
    };
    items.iter().enumerate().map(one).collect()
}

fn attributes(value: &Value, defaults: &TypeDefaults) -> BTreeMap<Str, Value> {
    let is_object = matches!(defaults.ty.map(Type::kind), Some(Kind::Object(_)));
    let child = |name: &str| defaults.children.get(if is_object { name } else { "" });
    let one = |(name, item): (Str, &Value)| {
        let item = child(&name).map_or_else(|| item.clone(), |child| apply_defaults(item, child));
        (name, item)
    };
    let mut attributes: BTreeMap<Str, Value> = value.entries().into_iter().map(one).collect();
    for (name, default) in &defaults.values {
        let present = attributes.get(name).filter(|it| !it.is_null());
        let value = match present {
            Some(it) if unknown::is_definitely_not_null(default) => unknown::not_null(it),
            Some(_) => continue,
            None => defaults
                .children
                .get(name)
                .map_or_else(|| default.clone(), |it| apply_defaults(default, it)),
        };
        attributes.insert(name.clone(), value);
    }
    attributes
}

/// The values converted to their common type, or as they were where there is none.
fn unified(values: Vec<Value>) -> Result<(Type, Vec<Value>), Vec<Value>> {
    let types: Vec<Type> = values.iter().map(Value::ty).collect();
    let Some(ty) = unify(&types).filter(|it| *it != Type::DYNAMIC) else { return Err(values) };
    let converted: Result<Vec<Value>, _> = values.iter().map(|it| convert(it, ty)).collect();
    converted.map(|it| (ty, it)).map_err(|_| values)
}

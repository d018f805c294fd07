//! Values as JSON documents show them: known parts, and the parallel shapes that say what is unknown and what sensitive.

use std::sync::Arc;

use crate::address::Provider;
use crate::schema::ProviderSchema;
use crate::state::text::{JsonWriter, Layout};
use crate::value::{Kind, Path, PathStep, Type, Value};

/// Finds what a provider announces.
pub type Schemas<'a> = dyn Fn(&Provider) -> Option<Arc<ProviderSchema>> + 'a;

/// Writes the known parts of a value as the next value: unknown attributes and elements of maps are left out, unknown
/// elements of lists are null. The value as a whole is known.
pub fn write_known(json: &mut JsonWriter, value: &Value) {
    match value.bare() {
        Value::Null(_) | Value::Unknown(_) | Value::Marked(_) => json.literal("null"),
        Value::Bool(it) => json.literal(it),
        Value::Number(it) => json.literal(it),
        Value::String(it) => json.string(it),
        Value::List(it) | Value::Set(it) => write_sequence(json, &it.items, write_known),
        Value::Tuple(it) => write_sequence(json, &it.items, write_known),
        it @ (Value::Map(_) | Value::Object(_)) => {
            write_members(json, it, |value| value.is_known(), write_known)
        }
    }
}

/// Writes `true` for each unknown part as the next value. See `is_trivial` for what is left out.
pub fn write_unknown(json: &mut JsonWriter, value: &Value) {
    match value.bare() {
        Value::Unknown(_) => json.literal(true),
        Value::List(it) | Value::Set(it) => write_sequence(json, &it.items, write_unknown),
        Value::Tuple(it) => write_sequence(json, &it.items, write_unknown),
        it @ (Value::Map(_) | Value::Object(_)) => {
            write_members(json, it, |value| !value.is_known() || !is_trivial(value), write_unknown);
        }
        _ => json.literal(false),
    }
}

/// Writes `true` for each sensitive part as the next value. See `is_trivial` for what is left out.
pub fn write_sensitive(json: &mut JsonWriter, value: &Value) {
    write_secrets(json, value, &[]);
}

/// As [`write_sensitive`], where the parts at `paths` are sensitive, too. A part may be an element of a set, which cannot
/// carry a mark itself.
pub fn write_sensitive_at(json: &mut JsonWriter, value: &Value, paths: &[Path]) {
    write_secrets(json, value, &paths.iter().map(Vec::as_slice).collect::<Vec<_>>());
}

fn write_secrets(json: &mut JsonWriter, value: &Value, paths: &[&[PathStep]]) {
    if is_sensitive(value) || paths.iter().any(|it| it.is_empty()) {
        return json.literal(true);
    }
    let each = |json: &mut JsonWriter, step: PathStep, value: &Value| {
        write_secrets(json, value, &behind(paths, &step));
    };
    match value.bare() {
        Value::List(it) => write_items(json, &it.items, |at, _| PathStep::index(at), each),
        Value::Tuple(it) => write_items(json, &it.items, |at, _| PathStep::index(at), each),
        Value::Set(it) => {
            write_items(json, &it.items, |_, item| PathStep::Index(item.clone()), each);
        }
        Value::Unknown(it) => json.literal(match it.ty.kind() {
            Kind::List(_) | Kind::Set(_) | Kind::Tuple(_) => "[]",
            Kind::Map(_) | Kind::Object(_) => "{}",
            _ => "false",
        }),
        it @ (Value::Map(_) | Value::Object(_)) => {
            let is_map = matches!(it, Value::Map(_));
            json.open('{');
            for (name, value) in it.entries() {
                let step = if is_map {
                    PathStep::Index(Value::String(name.clone()))
                } else {
                    PathStep::Attribute(name.clone())
                };
                let is_marked = is_sensitive(value) || paths.iter().any(|it| *it == [step.clone()]);
                if is_marked || !is_trivial_sensitive(value) {
                    json.key(&name);
                    each(json, step, value);
                }
            }
            json.close('}');
        }
        _ => json.literal(false),
    }
}

/// Returns the rest of the paths that begin with a step.
fn behind<'p>(paths: &[&'p [PathStep]], step: &PathStep) -> Vec<&'p [PathStep]> {
    let rest = |path: &&'p [PathStep]| path.split_first().filter(|it| it.0 == step).map(|it| it.1);
    paths.iter().filter_map(rest).collect()
}

fn write_items(
    json: &mut JsonWriter,
    items: &[Value],
    step: impl Fn(usize, &Value) -> PathStep,
    each: impl Fn(&mut JsonWriter, PathStep, &Value),
) {
    json.open('[');
    for (at, item) in items.iter().enumerate() {
        json.element();
        each(json, step(at, item), item);
    }
    json.close(']');
}

/// Returns whether the shape of a known value is a bare `false`, which objects leave out. Collections are not: even an
/// empty one leaves its brackets.
fn is_trivial(value: &Value) -> bool {
    use Value::{Bool, Null, Number, String};
    matches!(value.bare(), Null(_) | Bool(_) | Number(_) | String(_))
}

fn is_trivial_sensitive(value: &Value) -> bool {
    match value.bare() {
        Value::Unknown(it) => it.ty.is_primitive() || it.ty == Type::DYNAMIC,
        it => is_trivial(it),
    }
}

fn is_sensitive(value: &Value) -> bool {
    matches!(value, Value::Marked(it) if it.marks().sensitive)
}

fn write_sequence(json: &mut JsonWriter, items: &[Value], each: fn(&mut JsonWriter, &Value)) {
    json.open('[');
    for item in items {
        json.element();
        each(json, item);
    }
    json.close(']');
}

fn write_members(
    json: &mut JsonWriter,
    value: &Value,
    keep: impl Fn(&Value) -> bool,
    each: fn(&mut JsonWriter, &Value),
) {
    json.open('{');
    for (name, value) in value.entries() {
        if keep(value) {
            json.key(&name);
            each(json, value);
        }
    }
    json.close('}');
}

/// Writes a path as an array of names and keys, as the next value.
pub fn write_path(json: &mut JsonWriter, path: &[PathStep]) {
    json.open('[');
    for step in path {
        json.element();
        match step {
            PathStep::Attribute(name) => json.string(name),
            PathStep::Index(key) => write_known(json, key),
        }
    }
    json.close(']');
}

/// Returns two values as JSON documents set a change beside each other.
pub fn difference(before: &Value, after: &Value) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    for (name, value) in
        [("before", before), ("after", after)].into_iter().filter(|it| it.1.is_known())
    {
        json.key(name);
        write_known(&mut json, value);
    }
    json.key("after_unknown");
    match after.is_wholly_known() {
        true => json.literal(false),
        false => write_unknown(&mut json, after),
    }
    for (name, value) in [("before_sensitive", before), ("after_sensitive", after)] {
        json.key(name);
        write_sensitive(&mut json, value);
    }
    json.close('}');
    json.finish()
}

/// Returns the type of a value as it is: where an attribute may be anything, what it is.
pub fn concrete_type(value: &Value) -> Type {
    match value.bare() {
        Value::Object(it) if it.ty.has_dynamic() => {
            let names = it.ty.attributes().iter().map(|it| it.0.clone());
            Type::object(names.zip(it.values.iter().map(concrete_type)).collect())
        }
        Value::Tuple(it) if it.ty.has_dynamic() => {
            Type::tuple(it.items.iter().map(concrete_type).collect())
        }
        it => it.ty(),
    }
}

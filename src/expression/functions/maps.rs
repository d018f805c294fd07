//! Functions of maps and objects.

use std::collections::BTreeMap;

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::convert::convert;
use crate::value::{Kind, Marks, Str, Type, Value};

const MAP: Parameter = Parameter::any("inputMap").or_marked();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "keys",
        description: "Returns the keys of a map, or the attribute names of an object, sorted.",
        parameters: &[MAP
            .or_unknown()
            .about("A map, or an object; the keys of an object are a tuple.")],
        variadic: None,
        returns: Returns::Computed(keys_type),
        body: keys,
    },
    Function {
        name: "values",
        description: "Returns the elements of a map, or the attributes of an object, sorted by key.",
        parameters: &[Parameter::any("mapping").or_marked()],
        variadic: None,
        returns: Returns::Computed(values_type),
        body: values,
    },
    Function {
        name: "lookup",
        description: "Returns the element with a key, or a default.",
        parameters: &[MAP, Parameter::string("key").or_marked()],
        variadic: Some(Parameter::any("default").or_anything()),
        returns: Returns::NullableComputed(lookup_type),
        body: lookup,
    },
    Function {
        name: "merge",
        description: "Unites maps or objects; of equal keys the last one counts.",
        parameters: &[],
        variadic: Some(Parameter::any("maps").or_untyped().or_null().or_marked()),
        returns: Returns::Computed(merge_type),
        body: merge,
    },
    Function {
        name: "zipmap",
        description: "Makes a map, or an object, of keys and of values at the same positions.",
        parameters: &[
            Parameter::new("keys", Shape::ListOfString).or_marked(),
            Parameter::any("values").or_marked(),
        ],
        variadic: None,
        returns: Returns::Computed(zipmap_type),
        body: zipmap,
    },
    Function {
        name: "transpose",
        description: "Turns a map of lists of strings around: strings become keys, keys become elements.",
        parameters: &[Parameter::new("values", Shape::MapOfListOfString)],
        variadic: None,
        returns: Returns::Always(Shape::MapOfListOfString),
        body: transpose,
    },
];

fn keys_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].ty().kind() {
        Kind::Map(_) => Ok(Type::list(Type::STRING)),
        Kind::Object(attributes) => {
            Ok(Type::tuple(attributes.iter().map(|_| Type::STRING).collect()))
        }
        _ => Err(Failure::argument(0, "must have map or object type")),
    }
}

fn keys(call: &Call<'_>) -> CallResult {
    let map = call.argument(0);
    Ok(match map.ty().kind() {
        Kind::Object(attributes) => {
            Value::tuple(attributes.iter().map(|it| Value::String(it.0.clone())).collect())
        }
        _ if !map.is_known() => Value::unknown(call.ty),
        _ => Value::list(
            Type::STRING,
            map.entries().into_iter().map(|it| Value::String(it.0)).collect(),
        ),
    }
    .mark(&map.marks()))
}

fn values_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].ty().kind() {
        Kind::Map(element) => Ok(Type::list(*element)),
        Kind::Object(attributes) => Ok(Type::tuple(attributes.iter().map(|it| it.1).collect())),
        _ => Err(Failure::call("values() requires a map as the first argument")),
    }
}

fn values(call: &Call<'_>) -> CallResult {
    let map = call.argument(0);
    let items = map.children().cloned().collect();
    Ok(match call.ty.kind() {
        Kind::List(element) => Value::list(*element, items),
        _ => Value::tuple(items),
    }
    .mark(&map.marks()))
}

fn lookup_type(arguments: &[Value]) -> Result<Type, Failure> {
    if arguments.len() > 3 {
        return Err(Failure::call(format!(
            "lookup() takes two or three arguments, got {}",
            arguments.len()
        )));
    }
    let ty = arguments[0].ty();
    match ty.kind() {
        Kind::Object(_) => {
            let Some(key) = arguments[1].as_str() else { return Ok(Type::DYNAMIC) };
            match (ty.attribute(key), arguments.get(2)) {
                (Some(attribute), _) => Ok(attribute),
                (None, Some(default)) => Ok(default.ty()),
                (None, None) => {
                    Err(Failure::argument(0, format!("the given object has no attribute {key:?}")))
                }
            }
        }
        Kind::Map(element) => match arguments.get(2).map(|it| convert(it, *element)) {
            Some(Err(_)) => Err(Failure::argument(
                2,
                "the default value must have the same type as the map elements",
            )),
            _ => Ok(*element),
        },
        _ => Err(Failure::argument(0, "lookup() requires a map as the first argument")),
    }
}

fn lookup(call: &Call<'_>) -> CallResult {
    let (map, key) = (call.argument(0), call.argument(1));
    let marks = map.marks().union(&key.marks());
    let Some(name) = key.as_str() else { return Ok(Value::unknown(call.ty).mark(&marks)) };
    if !map.is_known() {
        return Ok(Value::unknown(call.ty).mark(&marks));
    }
    if let Some(found) = map.get(name) {
        return Ok(found.clone().mark(&marks));
    }
    match call.arguments.get(2) {
        Some(default) => convert(default, call.ty)
            .map(|it| it.mark(&marks))
            .map_err(|error| Failure::call(error.message)),
        None => Err(Failure::call(format!(
            "lookup failed to find key {}",
            redacted(&format!("{name:?}"), &key.marks())
        ))
        .discreet()),
    }
}

/// The text of a value in a message, or words that stand for a secret one.
pub(in crate::expression) fn redacted(text: &str, marks: &Marks) -> String {
    match (marks.sensitive, marks.ephemeral) {
        (true, true) => "(ephemeral sensitive value)".to_owned(),
        (true, false) => "(sensitive value)".to_owned(),
        (false, true) => "(ephemeral value)".to_owned(),
        _ => text.to_owned(),
    }
}

fn merge_type(arguments: &[Value]) -> Result<Type, Failure> {
    let Some(first) = arguments.first() else { return Ok(Type::object(Vec::new())) };
    let mut attributes: BTreeMap<Str, Type> = BTreeMap::new();
    let mut all_known = true;
    for argument in arguments {
        match argument.ty().kind() {
            Kind::Dynamic => return Ok(Type::DYNAMIC),
            Kind::Object(_) | Kind::Map(_) if argument.is_null() => {}
            Kind::Object(own) => attributes.extend(own.iter().map(|it| (it.0.clone(), it.1))),
            Kind::Map(_) if !argument.is_known() => all_known = false,
            Kind::Map(element) => {
                attributes.extend(argument.entries().into_iter().map(|it| (it.0, *element)))
            }
            _ => return Err(no_map(argument)),
        }
    }
    let same = arguments.iter().all(|it| it.ty() == first.ty());
    match first.ty().kind() {
        // All of them are null: there is nothing to have these attributes.
        Kind::Object(_) if same && arguments.iter().all(Value::is_null) => {
            Ok(Type::object(Vec::new()))
        }
        _ if same => Ok(first.ty()),
        _ if !all_known => Ok(Type::DYNAMIC),
        _ => Ok(Type::object(attributes.into_iter().collect())),
    }
}

fn no_map(argument: &Value) -> Failure {
    let name = argument.ty().friendly_name();
    Failure::call(format!("arguments must be maps or objects, got {name:?}"))
}

fn merge(call: &Call<'_>) -> CallResult {
    let mut entries: BTreeMap<Str, Value> = BTreeMap::new();
    let mut marks = Marks::default();
    for argument in call.arguments {
        if argument.is_null() && argument.ty() == Type::DYNAMIC {
            continue;
        }
        marks = marks.union(&argument.marks());
        // Beside an untyped null nobody has looked at the types yet: a sequence without members brings none, as in OpenTofu.
        let is_sequence =
            matches!(argument.ty().kind(), Kind::Tuple(_) | Kind::List(_) | Kind::Set(_));
        if is_sequence && argument.is_wholly_known() && argument.children().next().is_none() {
            continue;
        }
        if !matches!(argument.ty().kind(), Kind::Object(_) | Kind::Map(_) | Kind::Dynamic) {
            return Err(no_map(argument));
        }
        entries.extend(argument.entries().into_iter().map(|(name, value)| (name, value.clone())));
    }
    if call.arguments.iter().any(|it| !it.is_known()) {
        return Ok(Value::unknown(call.ty).mark(&marks));
    }
    Ok(match call.ty.kind() {
        Kind::Map(element) => Value::map(*element, entries),
        _ => Value::object(entries),
    }
    .mark(&marks))
}

fn zipmap_type(arguments: &[Value]) -> Result<Type, Failure> {
    let (keys, values) = (&arguments[0], &arguments[1]);
    match values.ty().kind() {
        Kind::List(element) => Ok(Type::map(*element)),
        Kind::Tuple(types) => {
            if !keys.is_wholly_known() {
                return Ok(Type::DYNAMIC);
            }
            let count = keys.children().count();
            if count != types.len() {
                return Err(uneven(count, types.len()));
            }
            let mut attributes = BTreeMap::new();
            for (at, (key, ty)) in keys.children().zip(types).enumerate() {
                let Some(name) = key.as_str() else {
                    return Err(Failure::call(format!("keys list has null value at index {at}")));
                };
                attributes.insert(Str::from(name), *ty);
            }
            Ok(Type::object(attributes.into_iter().collect()))
        }
        _ => Err(Failure::call("values argument must be a list or tuple value")),
    }
}

fn uneven(keys: usize, values: usize) -> Failure {
    Failure::call(format!("number of keys ({keys}) does not match number of values ({values})"))
}

fn zipmap(call: &Call<'_>) -> CallResult {
    let (keys, values) = (call.argument(0), call.argument(1));
    let mut marks = keys.marks().union(&values.marks());
    if !keys.is_wholly_known() {
        return Ok(Value::unknown(call.ty).mark(&marks));
    }
    let (count, given) = (keys.children().count(), values.children().count());
    if count != given {
        return Err(uneven(count, given));
    }
    let mut entries = Vec::with_capacity(count);
    for (at, (key, value)) in keys.children().zip(values.children()).enumerate() {
        let Some(name) = key.as_str() else {
            return Err(Failure::call(format!("keys list has null value at index {at}")));
        };
        marks = marks.union(&key.marks());
        entries.push((Str::from(name), value.clone()));
    }
    Ok(match call.ty.kind() {
        Kind::Map(element) => Value::map(*element, entries),
        _ => Value::object(entries),
    }
    .mark(&marks))
}

fn transpose(call: &Call<'_>) -> CallResult {
    let map = call.argument(0);
    if !map.is_wholly_known() {
        return Ok(Value::unknown(call.ty));
    }
    let mut turned: BTreeMap<Str, Vec<Str>> = BTreeMap::new();
    for (key, list) in map.entries() {
        if list.is_null() {
            return Err(Failure::argument(0, format!("cannot use null list for [{key:?}]")));
        }
        for (at, item) in list.children().enumerate() {
            let Some(text) = item.as_str() else {
                return Err(Failure::argument(
                    0,
                    format!("cannot use null string for [{key:?}][{at}]"),
                ));
            };
            turned.entry(text.into()).or_default().push(key.clone());
        }
    }
    let list = |mut keys: Vec<Str>| {
        keys.sort();
        Value::list(Type::STRING, keys.into_iter().map(Value::String).collect())
    };
    Ok(Value::map(
        Type::list(Type::STRING),
        turned.into_iter().map(|(text, keys)| (text, list(keys))),
    ))
}

//! Conversion of values between types.

use super::common_type::common_type;
pub use super::convertible::mismatch;
use super::convertible::{can_convert, common_element};
use super::objects::object_like;
use super::unify::{Mode, unify, unify_in};
use super::{
    Kind, Map, Number, Object, Path, PathError, PathStep, Refinement, Str, Tuple, Type, Unknown,
    Value, unknown,
};

/// What is wrong with a value that does not convert.
pub type ConversionError = PathError;

/// Converts a value to a type, also where that may fail for some values (`"5"` to a number).
///
/// - `want` may be a constraint with optional attributes, which are null where absent, and `Dynamic` parts, which take
///   what comes.
/// - Null stays null and unknown unknown, of the new type; refinements are kept where they still hold, marks always.
/// - Extra attributes of objects and keys of maps are dropped.
///
/// Source: go-cty 1.18, `convert.Convert`.
pub fn convert(value: &Value, want: Type) -> Result<Value, ConversionError> {
    let have = value.ty();
    if have == want.without_optional() {
        return Ok(value.clone());
    }
    if !can_convert(have, want, Mode::Unsafe) {
        return Err(PathError::new(&[], mismatch(have, want)));
    }
    convert_part(value, want, &mut Vec::new())
}

/// Words why a value does not convert to a type, as far as that may be told: which parts a secret value has is a secret, too.
pub fn reason(value: &Value, want: Type, why: impl std::fmt::Display) -> String {
    let has_parts = |ty: Type| !ty.is_primitive() && ty != Type::DYNAMIC;
    match has_parts(value.ty()) && has_parts(want) && value.deep_marks().is_secret() {
        true => format!(
            "{} is required; what is wrong with which part is not told, because the value is sensitive or ephemeral",
            want.friendly_name()
        ),
        false => why.to_string(),
    }
}

/// Returns whether values of a type may be converted to another; some values may still fail.
pub fn is_convertible(have: Type, want: Type) -> bool {
    have == want.without_optional() || can_convert(have, want, Mode::Unsafe)
}

fn convert_part(value: &Value, want: Type, path: &mut Path) -> Result<Value, ConversionError> {
    if let Value::Marked(it) = value {
        return Ok(convert_part(&it.value, want, path)?.mark(&it.marks));
    }
    let have = value.ty();
    if want == Type::DYNAMIC || have == want {
        return Ok(value.clone());
    }
    match (value, want.kind()) {
        (Value::Unknown(it), _) => Ok(convert_unknown(it, want.without_optional())),
        (Value::Null(ty), _) => Ok(Value::Null(fill_dynamic(*ty, want.without_optional()))),
        (Value::Bool(it), Kind::String) => Ok(Value::from(if *it { "true" } else { "false" })),
        (Value::Number(it), Kind::String) => Ok(Value::String(it.to_string().into())),
        (Value::String(it), Kind::Number) => {
            let number = Number::parse(it).map(Value::Number);
            number.ok_or_else(|| match Number::is_out_of_range(it) {
                true => PathError::new(path, "the number is too large or too small"),
                false => PathError::new(path, "a number is required"),
            })
        }
        (Value::String(it), Kind::Bool) => to_bool(it, path),
        (Value::List(_) | Value::Set(_) | Value::Tuple(_), Kind::List(element)) => {
            to_list(value, *element, path)
        }
        (Value::List(_) | Value::Set(_) | Value::Tuple(_), Kind::Set(element)) => {
            to_set(value, *element, path)
        }
        (Value::Map(_) | Value::Object(_), Kind::Map(element)) => to_map(value, *element, path),
        (Value::Tuple(it), Kind::Tuple(wanted)) => to_tuple(it, wanted, path),
        (Value::Object(it), Kind::Object(_)) => to_object(it, want, path),
        (Value::Map(it), Kind::Object(_)) => map_to_object(it, want, path),
        _ => Err(PathError::new(path, mismatch(have, want))),
    }
}

fn to_bool(text: &str, path: &Path) -> Result<Value, ConversionError> {
    let hint = match text {
        "true" | "1" => return Ok(Value::Bool(true)),
        "false" | "0" => return Ok(Value::Bool(false)),
        _ => match text.to_lowercase().as_str() {
            "true" => "; to convert from string, use lowercase \"true\"",
            "false" => "; to convert from string, use lowercase \"false\"",
            _ => "",
        },
    };
    Err(PathError::new(path, format!("a bool is required{hint}")))
}

/// Runs `then` with one more step on the path.
fn inside<T>(path: &mut Path, step: PathStep, then: impl FnOnce(&mut Path) -> T) -> T {
    path.push(step);
    let result = then(path);
    path.pop();
    result
}

fn convert_items(
    items: &[Value],
    element: Type,
    path: &mut Path,
) -> Result<Vec<Value>, ConversionError> {
    let each = |(at, item): (usize, &Value)| {
        inside(path, PathStep::index(at), |path| convert_part(item, element, path))
    };
    items.iter().enumerate().map(each).collect()
}

/// The elements of a list, set or tuple, converted, with the type that they then have in common.
fn elements(
    value: &Value,
    element: Type,
    path: &mut Path,
    noun: &str,
) -> Result<(Type, Vec<Value>), ConversionError> {
    let (items, had) = match value {
        Value::List(it) | Value::Set(it) => (&it.items, it.element),
        Value::Tuple(it) => (&it.items, Type::DYNAMIC),
        _ => return Err(PathError::new(path, mismatch(value.ty(), element))),
    };
    if items.is_empty() {
        let element = if element == Type::DYNAMIC { had } else { element };
        return Ok((element.without_optional(), Vec::new()));
    }
    let wanted = match value {
        Value::Tuple(it) => {
            common_element(tuple_types(it), element, Mode::Unsafe).unwrap_or(element)
        }
        _ => element,
    };
    let mut items = convert_items(items, wanted, path)?;
    if matches!(value, Value::Tuple(_)) && noun == "list" {
        items = unify_items(items, path)?;
    }
    match common_type(&mut items) {
        Some(element) => Ok((element, items)),
        None => Err(PathError::new(
            path,
            format!("element types must all match for conversion to {noun}"),
        )),
    }
}

fn tuple_types(tuple: &Tuple) -> &'static [Type] {
    match tuple.ty.kind() {
        Kind::Tuple(types) => types,
        _ => &[],
    }
}

/// Converts items to the type they have in common.
fn unify_items(items: Vec<Value>, path: &mut Path) -> Result<Vec<Value>, ConversionError> {
    let types: Vec<Type> = items.iter().map(Value::ty).collect();
    if types.iter().all(|it| *it == types[0]) {
        return Ok(items);
    }
    match unify(&types) {
        Some(ty) if ty == Type::DYNAMIC => Ok(items),
        Some(ty) => convert_items(&items, ty, path),
        None => Err(PathError::new(path, "cannot find a common base type for all elements")),
    }
}

fn to_list(value: &Value, element: Type, path: &mut Path) -> Result<Value, ConversionError> {
    if let Value::Set(it) = value
        && it.items.len() > 1
        && !value.is_wholly_known()
    {
        // Unknown elements may turn out equal, so even the length is open.
        let element = if element.has_dynamic() { it.element } else { element.without_optional() };
        return Ok(Value::unknown(Type::list(element)));
    }
    let (element, items) = elements(value, element, path, "list")?;
    Ok(Value::list(element, items))
}

fn to_set(value: &Value, element: Type, path: &mut Path) -> Result<Value, ConversionError> {
    let (element, items) = elements(value, element, path, "set")?;
    Ok(Value::set(element, items))
}

fn to_map(value: &Value, element: Type, path: &mut Path) -> Result<Value, ConversionError> {
    let (entries, had) = match value {
        Value::Map(it) => (value.entries(), it.element),
        _ => (value.entries(), Type::DYNAMIC),
    };
    if entries.is_empty() {
        let element = if element == Type::DYNAMIC { had } else { element };
        return Ok(Value::map(element.without_optional(), []));
    }
    let wanted = match value {
        Value::Object(it) => {
            let types: Vec<Type> = it.ty.attributes().iter().map(|it| it.1).collect();
            common_element(&types, element, Mode::Unsafe).unwrap_or(element)
        }
        _ => element,
    };
    let mut keys: Vec<Str> = Vec::with_capacity(entries.len());
    let mut items = Vec::with_capacity(entries.len());
    for (key, item) in entries {
        let step = PathStep::Index(Value::String(key.clone()));
        items.push(inside(path, step, |path| convert_part(item, wanted, path))?);
        keys.push(key);
    }
    if wanted.is_collection() || matches!(wanted.kind(), Kind::Object(_)) {
        items = unify_items(items, path)?;
    }
    let noun = if matches!(value, Value::Map(_)) { "element" } else { "attribute" };
    let Some(element) = common_type(&mut items) else {
        return Err(PathError::new(
            path,
            format!("{noun} types must all match for conversion to map"),
        ));
    };
    Ok(Value::Map(Map { element, entries: keys.into_iter().zip(items).collect() }.into()))
}

fn to_tuple(tuple: &Tuple, wanted: &[Type], path: &mut Path) -> Result<Value, ConversionError> {
    let each = |(at, (item, want)): (usize, (&Value, &Type))| {
        inside(path, PathStep::index(at), |path| convert_part(item, *want, path))
    };
    let items: Result<Vec<Value>, _> =
        tuple.items.iter().zip(wanted).enumerate().map(each).collect();
    items.map(Value::tuple)
}

fn to_object(object: &Object, want: Type, path: &mut Path) -> Result<Value, ConversionError> {
    let mut values = Vec::with_capacity(want.attributes().len());
    for (name, ty, _) in want.attributes() {
        values.push(match object.ty.attribute_index(name) {
            Some(at) => inside(path, PathStep::Attribute(name.clone()), |path| {
                convert_part(&object.values[at], *ty, path)
            })?,
            None => Value::Null(ty.without_optional()),
        });
    }
    Ok(object_like(want, values))
}

fn map_to_object(map: &Map, want: Type, path: &mut Path) -> Result<Value, ConversionError> {
    let mut values = Vec::with_capacity(want.attributes().len());
    let mut missing = None;
    for (name, ty, is_optional) in want.attributes() {
        let found = map
            .entries
            .binary_search_by(|entry| entry.0.cmp(name))
            .ok()
            .map(|at| &map.entries[at].1);
        let Some(item) = found else {
            if !is_optional {
                missing = missing.or(Some(name));
            }
            values.push(Value::Null(ty.without_optional()));
            continue;
        };
        // Only an optional attribute may have a type that no element fits.
        if map.element != *ty && !can_convert(map.element, *ty, Mode::Unsafe) {
            let reason = mismatch(item.ty(), *ty);
            let message =
                format!("map element type is incompatible with attribute {:?}: {reason}", &**name);
            return Err(PathError::new(path, message));
        }
        let step = PathStep::Index(Value::String(name.clone()));
        values.push(inside(path, step, |path| convert_part(item, *ty, path))?);
    }
    match missing {
        Some(name) => Err(PathError::new(
            path,
            format!("map has no element for required attribute {:?}", &**name),
        )),
        None => Ok(object_like(want, values)),
    }
}

/// An unknown value of the new type with what is still known about it.
fn convert_unknown(unknown: &Unknown, want: Type) -> Value {
    let ty = fill_dynamic(unknown.ty, want);
    let old = &unknown.refinement;
    let mut new = Refinement { not_null: old.not_null, ..Refinement::default() };
    let exactly = |length: usize| (Some(length as u64), Some(length as u64));
    let at_most_one = |length: Option<u64>| length.map(|it| it.min(1));
    (new.min_length, new.max_length) = match (unknown.ty.kind(), ty.kind()) {
        (Kind::Object(attributes), Kind::Map(_)) => exactly(attributes.len()),
        (Kind::Tuple(items), Kind::List(_)) => exactly(items.len()),
        (Kind::Tuple(items), Kind::Set(_)) => {
            (Some(items.len().min(1) as u64), Some(items.len() as u64))
        }
        (_, Kind::Set(_)) if unknown.ty.is_collection() => {
            (at_most_one(old.min_length), old.max_length)
        }
        (_, Kind::List(_) | Kind::Map(_)) if unknown.ty.is_collection() => {
            (old.min_length, old.max_length)
        }
        _ => (None, None),
    };
    unknown::refined(ty, new)
}

/// The wanted type with its `Dynamic` parts taken from the type at hand.
fn fill_dynamic(have: Type, want: Type) -> Type {
    if have == Type::DYNAMIC || !want.has_dynamic() {
        return want;
    }
    let unified = |types: &[Type]| unify_in(types, Mode::Unsafe).unwrap_or(Type::DYNAMIC);
    let attribute_types = || have.attributes().iter().map(|it| it.1).collect::<Vec<_>>();
    match (have.kind(), want.kind()) {
        (_, Kind::Dynamic) => have,
        (Kind::Map(a), Kind::Map(b)) => Type::map(fill_dynamic(*a, *b)),
        (Kind::Object(_), Kind::Map(b)) => Type::map(fill_dynamic(unified(&attribute_types()), *b)),
        (Kind::Set(a) | Kind::List(a), Kind::Set(b)) => Type::set(fill_dynamic(*a, *b)),
        (Kind::Set(a) | Kind::List(a), Kind::List(b)) => Type::list(fill_dynamic(*a, *b)),
        (Kind::Tuple(items), Kind::Set(b)) => Type::set(fill_dynamic(unified(items), *b)),
        (Kind::Tuple(items), Kind::List(b)) => Type::list(fill_dynamic(unified(items), *b)),
        (Kind::Tuple(a), Kind::Tuple(b)) if a.len() == b.len() => {
            Type::tuple(a.iter().zip(b).map(|(a, b)| fill_dynamic(*a, *b)).collect())
        }
        (Kind::Map(a), Kind::Object(wanted)) => Type::object(
            wanted.iter().map(|(name, ty, _)| (name.clone(), fill_dynamic(*a, *ty))).collect(),
        ),
        (Kind::Object(_), Kind::Object(wanted)) => {
            let each = |(name, ty, _): &(Str, Type, bool)| {
                (name.clone(), have.attribute(name).map_or(*ty, |had| fill_dynamic(had, *ty)))
            };
            Type::object(wanted.iter().map(each).collect())
        }
        _ => want,
    }
}

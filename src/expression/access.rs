//! Steps into values: `x[key]`, `x.name`, for every kind of value, null and unknown included.

use crate::diagnostic::{Diagnostic, Sort, Span};
use crate::error::Error;
use crate::value::convert::convert;
use crate::value::{Kind, Type, Value};

const INVALID_INDEX: &str = "Invalid index";
const UNSUPPORTED: &str = "Unsupported attribute";
const NO_ELEMENT: &str = "The given key does not identify an element in this collection value";

/// Returns `collection[key]`. The result has the marks of both; `span` is the place to blame, from bracket to bracket.
pub fn index(collection: &Value, key: &Value, span: Span) -> Result<Value, Diagnostic> {
    if collection.is_null() {
        return Err(Diagnostic::error("Attempt to index null value")
            .detail("This value is null, so it does not have any indices.")
            .at(span));
    }
    if key.is_null() {
        return Err(invalid_index("Can't use a null value as an indexing key.", span));
    }
    // The name of an attribute is no secret even where it was chosen by one; what is read to choose it counts.
    let key_marks = match collection.ty().kind() {
        Kind::Object(_) => key.marks().provenance(),
        _ => key.marks(),
    };
    let marks = collection.marks().union(&key_marks);
    // Which element it will be is not known, so it may be made of what any of them is.
    let marks = match key.is_known() {
        true => marks,
        false => marks.union(&collection.deep_marks().provenance()),
    };
    if collection.ty() == Type::DYNAMIC || key.ty() == Type::DYNAMIC {
        return Ok(Value::unknown(Type::DYNAMIC).mark(&marks));
    }
    element(collection, key, span).map(|it| it.mark(&marks))
}

fn invalid_index(detail: &str, span: Span) -> Diagnostic {
    Diagnostic::error(INVALID_INDEX).detail(detail).at(span).sort(Sort::InvalidIndex)
}

/// Returns the element under a key, without the marks of either.
fn element(collection: &Value, key: &Value, span: Span) -> Result<Value, Diagnostic> {
    let wrong = |detail: &str| invalid_index(detail, span);
    let (ty, bare) = (collection.ty(), collection.bare());
    let convert_key = |to| {
        convert(key.bare(), to).map_err(|error| wrong(&format!("{NO_ELEMENT}: {}.", error.message)))
    };
    Ok(match ty.kind() {
        Kind::List(element) => {
            let key = convert_key(Type::NUMBER)?;
            match bare {
                Value::List(it) if key.is_known() => position(&key, it.items.len())
                    .map(|at| it.items[at].clone())
                    .map_err(|it| wrong(it.words()))?,
                _ => Value::unknown(*element),
            }
        }
        Kind::Tuple(_) => {
            let key = convert_key(Type::NUMBER)?;
            tuple_element(bare, ty, &key).map_err(|it| wrong(it.words()))?
        }
        Kind::Map(element) => {
            let key = convert_key(Type::STRING)?;
            match (bare, key.as_str()) {
                (Value::Map(_), Some(name)) => {
                    bare.get(name).cloned().ok_or_else(|| wrong(&format!("{NO_ELEMENT}.")))?
                }
                _ => Value::unknown(*element),
            }
        }
        Kind::Object(_) => {
            let by_number = key.ty() == Type::NUMBER;
            let key = convert_key(Type::STRING)?;
            match (bare, key.as_str()) {
                (Value::Object(_), Some(name)) => bare.get(name).cloned().ok_or_else(|| {
                    let hint = if by_number { " An object only supports looking up attributes by name, not by numeric index." } else { "" };
                    wrong(&format!("{NO_ELEMENT}.{hint}"))
                })?,
                _ => Value::unknown(Type::DYNAMIC),
            }
        }
        Kind::Set(_) => {
            return Err(wrong(
                "Elements of a set are identified only by their value and don't have any separate index or key to select \
                 with, so it's only possible to perform operations across all elements of the set.",
            ));
        }
        _ => return Err(wrong("This value does not have any indices.")),
    })
}

/// An element of a tuple, whose length is known even where the tuple is not.
fn tuple_element(tuple: &Value, ty: Type, key: &Value) -> Result<Value, Error> {
    let Kind::Tuple(types) = ty.kind() else { return Ok(Value::unknown(Type::DYNAMIC)) };
    if !key.is_known() {
        return Ok(Value::unknown(Type::DYNAMIC));
    }
    let at = position(key, types.len())?;
    Ok(match tuple {
        Value::Tuple(it) => it.items[at].clone(),
        _ => Value::unknown(types[at]),
    })
}

/// Turns a known number into a position among `length` elements, or says what is wrong with it.
fn position(key: &Value, length: usize) -> Result<usize, Error> {
    let Some(number) = key.as_number() else { return Err(format!("{NO_ELEMENT}.").into()) };
    if !number.is_integer() {
        return Err(format!(
            "{NO_ELEMENT}: indexing a sequence requires a whole number, but the given index has a fractional part."
        ).into());
    }
    if number.sign() < 0 {
        return Err(format!(
            "{NO_ELEMENT}: a negative number is not a valid index for a sequence."
        )
        .into());
    }
    match number.as_i64().and_then(|it| usize::try_from(it).ok()) {
        Some(at) if at < length => Ok(at),
        _ if length == 0 => Err(format!("{NO_ELEMENT}: the collection has no elements.").into()),
        _ => Err(format!(
            "{NO_ELEMENT}: the given index is greater than or equal to the length of the collection."
        ).into()),
    }
}

/// Returns `value.name`. The result has the marks of `value`; `span` is the place to blame.
pub fn attribute(value: &Value, name: &str, span: Span) -> Result<Value, Diagnostic> {
    let wrong = |detail: String| Err(Diagnostic::error(UNSUPPORTED).detail(detail).at(span));
    if value.is_null() {
        return Err(Diagnostic::error("Attempt to get attribute from null value")
            .detail("This value is null, so it does not have any attributes.")
            .at(span));
    }
    let (ty, bare) = (value.ty(), value.bare());
    let found = match ty.kind() {
        Kind::Object(attributes) => match ty.attribute_index(name) {
            None => {
                return wrong(format!("This object does not have an attribute named {name:?}."));
            }
            Some(at) => bare.get(name).cloned().unwrap_or_else(|| Value::unknown(attributes[at].1)),
        },
        Kind::Map(element) => match bare {
            Value::Map(_) => match bare.get(name) {
                Some(it) => it.clone(),
                None => {
                    return Err(Diagnostic::error("Missing map element")
                        .detail(format!("This map does not have an element with the key {name:?}."))
                        .at(span));
                }
            },
            _ => Value::unknown(*element),
        },
        Kind::Dynamic => Value::unknown(Type::DYNAMIC),
        Kind::List(element) if matches!(element.kind(), Kind::Object(_)) => {
            let what = match element.attribute_index(name) {
                Some(_) => format!("attribute {name:?}"),
                None => "an attribute".to_owned(),
            };
            return wrong(format!(
                "Can't access attributes on a list of objects. Did you mean to access {what} for a specific element of the \
                 list, or across all elements of the list?"
            ));
        }
        Kind::Set(element) if matches!(element.kind(), Kind::Object(_)) => {
            return wrong(
                "Can't access attributes on a set of objects. Did you mean to access an attribute across all elements of the set?"
                    .to_owned(),
            );
        }
        _ if ty.is_primitive() => {
            return wrong(format!(
                "Can't access attributes on a primitive-typed value ({}).",
                ty.friendly_name()
            ));
        }
        _ => return wrong("This value does not have any attributes.".to_owned()),
    };
    Ok(found.mark(&value.marks()))
}

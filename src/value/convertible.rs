//! Which types convert to which, and why not.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::unify::{Mode, unify_in};
use super::{Kind, Type};

/// Returns whether values of type `have` convert to `want`; with [`Mode::Unsafe`] some values may still fail.
pub(super) fn can_convert(have: Type, want: Type, mode: Mode) -> bool {
    thread_local! {
        static KNOWN: RefCell<FxHashMap<(Type, Type, Mode), bool>> = RefCell::default();
    }
    if have.is_primitive() && want.is_primitive() {
        return can_convert_primitive(have, want, mode);
    }
    if let Some(known) = KNOWN.with_borrow(|it| it.get(&(have, want, mode)).copied()) {
        return known;
    }
    let answer = decide(have, want, mode);
    KNOWN.with_borrow_mut(|it| it.insert((have, want, mode), answer));
    answer
}

fn equal_or_convertible(have: Type, want: Type, mode: Mode) -> bool {
    have == want || can_convert(have, want, mode)
}

fn can_convert_primitive(have: Type, want: Type, mode: Mode) -> bool {
    match (have.kind(), want.kind()) {
        (Kind::Number | Kind::Bool, Kind::String) => true,
        (Kind::String, Kind::Number | Kind::Bool) => mode == Mode::Unsafe,
        _ => false,
    }
}

fn decide(have: Type, want: Type, mode: Mode) -> bool {
    match (have.kind(), want.kind()) {
        (_, Kind::Dynamic) => true,
        (Kind::Dynamic, _) => mode == Mode::Unsafe,
        (Kind::Object(attributes), Kind::Object(wanted)) => {
            wanted.iter().all(|(name, want, is_optional)| {
                match attributes.binary_search_by(|it| it.0.cmp(name)) {
                    Ok(at) => equal_or_convertible(attributes[at].1, *want, mode),
                    Err(_) => *is_optional,
                }
            })
        }
        (Kind::Tuple(items), Kind::Tuple(wanted)) => {
            items.len() == wanted.len()
                && items.iter().zip(wanted).all(|(a, b)| equal_or_convertible(*a, *b, mode))
        }
        (Kind::List(a) | Kind::Set(a), Kind::List(b)) | (Kind::Set(a), Kind::Set(b)) => {
            equal_or_convertible(*a, *b, mode)
        }
        // The order and equal elements get lost.
        (Kind::List(a), Kind::Set(b)) => mode == Mode::Unsafe && equal_or_convertible(*a, *b, mode),
        (Kind::Map(a), Kind::Map(b)) => equal_or_convertible(*a, *b, mode),
        (Kind::Tuple(items), Kind::List(b) | Kind::Set(b)) => parts_convert(items, *b, mode, true),
        (Kind::Object(attributes), Kind::Map(b)) => {
            let parts: Vec<Type> = attributes.iter().map(|it| it.1).collect();
            parts_convert(&parts, *b, mode, false)
        }
        (Kind::Map(a), Kind::Object(wanted)) => {
            mode == Mode::Unsafe
                && wanted.iter().all(|(_, want, is_optional)| {
                    *is_optional || equal_or_convertible(*a, *want, mode)
                })
        }
        _ => false,
    }
}

/// Whether parts of several types convert to one element type; `Dynamic` stands for whatever suits all.
fn parts_convert(parts: &[Type], element: Type, mode: Mode, is_sequence: bool) -> bool {
    if parts.is_empty() {
        return true;
    }
    let Some(element) = common_element(parts, element, mode) else { return false };
    if is_sequence && element == Type::DYNAMIC && parts.iter().any(|it| *it != Type::DYNAMIC) {
        return false;
    }
    parts.iter().all(|it| equal_or_convertible(*it, element, mode))
}

/// The element type that parts of a tuple or object take in a collection that asks for `element`.
pub(super) fn common_element(parts: &[Type], element: Type, mode: Mode) -> Option<Type> {
    if element == Type::DYNAMIC { unify_in(parts, mode) } else { Some(element) }
}

/// Says why values of type `have` do not convert to `want`; a phrase without a full stop.
///
/// The words are those of go-cty 1.18.
pub fn mismatch(have: Type, want: Type) -> String {
    match (have.kind(), want.kind()) {
        (Kind::Object(_), Kind::Object(_)) => mismatched_objects(have, want),
        (Kind::Tuple(_), Kind::List(it)) if *it == Type::DYNAMIC => {
            "all list elements must have the same type".to_owned()
        }
        (Kind::Tuple(_), Kind::Set(it)) if *it == Type::DYNAMIC => {
            "all set elements must have the same type".to_owned()
        }
        (Kind::Object(_), Kind::Map(it)) if *it == Type::DYNAMIC => {
            "all map elements must have the same type".to_owned()
        }
        (Kind::Tuple(_) | Kind::Object(_), Kind::List(_) | Kind::Set(_) | Kind::Map(_)) => {
            mismatched_parts(have, want)
        }
        _ if have.is_collection() && want.is_collection() => mismatched_collections(have, want),
        _ if !is_confusing(have, want) => {
            format!("{} required, but have {}", want.friendly_name(), have.friendly_name())
        }
        _ => required(want),
    }
}

fn required(want: Type) -> String {
    format!("{} required", want.friendly_constraint())
}

fn mismatched_objects(have: Type, want: Type) -> String {
    let mut missing: Vec<String> = Vec::new();
    let (mut by_value, mut by_type) = (None, None);
    for (name, wanted, is_optional) in want.attributes() {
        let Some(had) = have.attribute(name) else {
            if !is_optional {
                missing.push(format!("{:?}", &**name));
            }
            continue;
        };
        let explain = || format!("attribute {:?}: {}", &**name, mismatch(had, *wanted));
        if had == *wanted || by_type.is_some() {
            continue;
        }
        if !can_convert(had, *wanted, Mode::Unsafe) {
            by_type = Some(explain());
        } else if by_value.is_none() && !can_convert(had, *wanted, Mode::Safe) {
            by_value = Some(explain());
        }
    }
    match missing.as_slice() {
        [] => by_type.or(by_value).unwrap_or_else(|| "incorrect object attributes".to_owned()),
        [one] => format!("attribute {one} is required"),
        [one, two] => format!("attributes {one} and {two} are required"),
        [most @ .., last] => format!("attributes {}, and {last} are required", most.join(", ")),
    }
}

fn mismatched_parts(have: Type, want: Type) -> String {
    let element = want.element().unwrap_or(Type::DYNAMIC);
    let fails = |it: Type| !equal_or_convertible(it, element, Mode::Unsafe);
    let found = match (have.kind(), want.kind()) {
        (Kind::Tuple(items), Kind::List(_) | Kind::Set(_)) => {
            items.iter().enumerate().find(|it| fails(*it.1)).map(|(at, it)| (at.to_string(), *it))
        }
        (Kind::Object(items), Kind::Map(_)) => {
            items.iter().find(|it| fails(it.1)).map(|it| (format!("{:?}", &*it.0), it.1))
        }
        _ => return required(want),
    };
    match found {
        Some((at, it)) => format!("element {at}: {}", mismatch(it, element)),
        None => format!("all elements must be {}", element.friendly_constraint()),
    }
}

fn mismatched_collections(have: Type, want: Type) -> String {
    let noun = match (have.kind(), want.kind()) {
        (Kind::List(_) | Kind::Set(_), Kind::List(_)) => "list element type",
        (Kind::List(_) | Kind::Set(_), Kind::Set(_)) => "set element type",
        (Kind::Map(_), Kind::Map(_)) => "map element type",
        _ => return required(want),
    };
    let element = |it: Type| it.element().unwrap_or(Type::DYNAMIC);
    format!("incorrect {noun}: {}", mismatch(element(have), element(want)))
}

/// Whether naming both types would mislead: a string that is no number is a matter of its value, not of its type.
fn is_confusing(have: Type, want: Type) -> bool {
    have.is_primitive() == want.is_primitive()
        && want != Type::STRING
        && !matches!(
            (have.kind(), want.kind()),
            (Kind::Number, Kind::Bool) | (Kind::Bool, Kind::Number)
        )
        && !matches!((have.kind(), want.kind()), (Kind::Tuple(_), Kind::Object(_)))
}

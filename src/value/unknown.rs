//! What is known about a value that is not decided yet, and the language's `==`, which has to live with that.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Kind, Number, Str, Type, Value};

/// An unknown value: its type (perhaps `Dynamic`) and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// The type.
    pub ty: Type,
    /// What is known about it.
    pub refinement: Refinement,
}

/// What is known about an unknown value. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refinement {
    /// It will not be null.
    pub not_null: bool,
    /// It will start with this text (strings).
    pub prefix: Option<Str>,
    /// Its least value and whether that value itself is possible (numbers).
    pub lower: Option<(Number, bool)>,
    /// Its greatest value and whether that value itself is possible (numbers).
    pub upper: Option<(Number, bool)>,
    /// Its least length (collections).
    pub min_length: Option<u64>,
    /// Its greatest length (collections).
    pub max_length: Option<u64>,
    /// The JSON that it will hold, with unknown parts (strings); kept only for who asks for it.
    pub document: Option<Arc<Value>>,
}

/// A list of known length is written out with unknown elements up to this many.
const WRITTEN_OUT: u64 = 1024;

impl Value {
    /// Returns an unknown value of a type that will not be null.
    pub fn unknown_not_null(ty: Type) -> Value {
        refined(ty, Refinement { not_null: true, ..Refinement::default() })
    }
}

impl Refinement {
    /// Returns whether nothing is said but whether the value can be null.
    fn is_plain(&self) -> bool {
        let Refinement { not_null: _, prefix, lower, upper, min_length, max_length, document } =
            self;
        let bounds = lower.is_some() || upper.is_some();
        let lengths = min_length.is_some() || max_length.is_some();
        !(bounds || lengths || prefix.is_some() || document.is_some())
    }
}

/// Returns an unknown value with what is known about it, or the known value where only one is left.
///
/// A number between two equal bounds is that number, a list of known length a list of unknown elements. About a value
/// of no known type nothing is kept.
pub fn refined(ty: Type, refinement: Refinement) -> Value {
    if ty == Type::DYNAMIC {
        return Value::unknown(ty);
    }
    if refinement.is_plain() {
        return ty.unknown(refinement.not_null);
    }
    if refinement.not_null
        && let Some(value) = only_value(ty, &refinement)
    {
        return value;
    }
    Value::Unknown(Arc::new(Unknown { ty, refinement }))
}

fn only_value(ty: Type, refinement: &Refinement) -> Option<Value> {
    if let (Some((lower, true)), Some((upper, true))) = (&refinement.lower, &refinement.upper) {
        return (lower == upper).then(|| Value::Number(lower.clone()));
    }
    let length = refinement.max_length.filter(|it| refinement.min_length.unwrap_or(0) == *it)?;
    match (ty.kind(), length) {
        (Kind::List(it), ..=WRITTEN_OUT) => {
            Some(Value::list(*it, vec![Value::unknown(*it); length as usize]))
        }
        (Kind::Set(it), 0..=1) => Some(Value::set(*it, vec![Value::unknown(*it); length as usize])),
        (Kind::Map(it), 0) => Some(Value::map(*it, [])),
        _ => None,
    }
}

/// Adds to an unknown value that it will not be null; other values stay.
pub fn not_null(value: &Value) -> Value {
    match value {
        Value::Unknown(it) if !it.refinement.not_null => {
            refined(it.ty, Refinement { not_null: true, ..it.refinement.clone() })
        }
        Value::Marked(it) => not_null(&it.value).mark(&it.marks),
        it => it.clone(),
    }
}

/// Returns whether it is certain that the value is not null, now or later.
pub fn is_definitely_not_null(value: &Value) -> bool {
    match value.bare() {
        Value::Null(_) => false,
        Value::Unknown(it) => it.refinement.not_null,
        _ => true,
    }
}

/// Returns the text with which a string starts for certain.
pub fn known_prefix(value: &Value) -> Str {
    match value.bare() {
        Value::String(it) => it.clone(),
        Value::Unknown(it) => it.refinement.prefix.clone().unwrap_or_else(|| "".into()),
        _ => "".into(),
    }
}

/// Returns the least and the greatest length of a collection or tuple, as far as they are certain.
///
/// A set with unknown elements may shrink when they turn out equal.
pub fn length_bounds(value: &Value) -> (u64, Option<u64>) {
    let exactly = |length: usize| (length as u64, Some(length as u64));
    match value.bare() {
        Value::List(it) => exactly(it.items.len()),
        Value::Set(it) if it.items.len() > 1 && !value.is_wholly_known() => {
            (1, Some(it.items.len() as u64))
        }
        Value::Set(it) => exactly(it.items.len()),
        Value::Map(it) => exactly(it.entries.len()),
        Value::Tuple(it) => exactly(it.items.len()),
        Value::Object(it) => exactly(it.values.len()),
        Value::Unknown(it) => match it.ty.kind() {
            Kind::Tuple(items) => exactly(items.len()),
            _ => (it.refinement.min_length.unwrap_or(0), it.refinement.max_length),
        },
        _ => (0, None),
    }
}

/// Returns whether an unknown value can still become `value`. Both unmarked.
pub fn can_become(unknown: &Unknown, value: &Value) -> bool {
    let refinement = &unknown.refinement;
    if value.is_null() {
        return !refinement.not_null;
    }
    if !value.ty().conforms(unknown.ty) {
        return value.ty() == Type::DYNAMIC;
    }
    match value.bare() {
        Value::String(it) => {
            refinement.prefix.as_ref().is_none_or(|prefix| it.starts_with(&**prefix))
        }
        Value::Number(it) => is_within(refinement, it),
        Value::List(_) | Value::Set(_) | Value::Map(_) => {
            let (least, greatest) = length_bounds(value);
            refinement.max_length.is_none_or(|it| least <= it)
                && greatest.is_none_or(|it| it >= refinement.min_length.unwrap_or(0))
        }
        _ => true,
    }
}

fn is_within(refinement: &Refinement, number: &Number) -> bool {
    let above =
        refinement.lower.as_ref().is_none_or(|(bound, inclusive)| match number.compare(bound) {
            Ordering::Greater => true,
            Ordering::Equal => *inclusive,
            Ordering::Less => false,
        });
    let below =
        refinement.upper.as_ref().is_none_or(|(bound, inclusive)| match number.compare(bound) {
            Ordering::Less => true,
            Ordering::Equal => *inclusive,
            Ordering::Greater => false,
        });
    above && below
}

/// Compares as the language's `==` does: a bool, unknown where the answer rests on something unknown.
///
/// Nulls of all types are equal, values of different types are not. The marks of both, at every depth, join the
/// result; where exactly one is null, only the outermost.
pub fn equals(a: &Value, b: &Value) -> Value {
    let (bare_a, marks_a) = a.unmark_deep();
    let (bare_b, marks_b) = b.unmark_deep();
    let marks = match a.is_null() != b.is_null() {
        true => a.marks().union(&b.marks()),
        false => marks_a.union(&marks_b),
    };
    known_equality(&bare_a, &bare_b)
        .map_or_else(|| Value::unknown_not_null(Type::BOOL), Value::Bool)
        .mark(&marks)
}

/// Compares unmarked values as [`equals`] does; `None` where the answer is not known yet.
pub fn known_equality(a: &Value, b: &Value) -> Option<bool> {
    if a.is_null() && is_definitely_not_null(b) || b.is_null() && is_definitely_not_null(a) {
        return Some(false);
    }
    match (a, b) {
        (Value::Unknown(_), Value::Unknown(_)) => None,
        (Value::Unknown(unknown), known) | (known, Value::Unknown(unknown)) => {
            let is_open = can_become(unknown, known)
                && (known.is_null() || unknown.ty.has_dynamic() || unknown.ty == known.ty());
            if is_open { None } else { Some(false) }
        }
        (Value::Null(_), Value::Null(_)) => Some(true),
        _ => known_parts_equality(a, b),
    }
}

/// Compares values that are known and not null as a whole.
fn known_parts_equality(a: &Value, b: &Value) -> Option<bool> {
    if a.is_same(b) && a.is_wholly_known() {
        return Some(true);
    }
    let (ty, other) = (a.ty(), b.ty());
    if (ty.has_dynamic() || other.has_dynamic()) && !(has_known_type(a) && has_known_type(b)) {
        return if ty.conforms(other) || other.conforms(ty) { None } else { Some(false) };
    }
    if ty != other {
        return Some(false);
    }
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Some(a == b),
        (Value::Number(a), Value::Number(b)) => Some(a == b),
        (Value::String(a), Value::String(b)) => Some(a == b),
        (Value::List(a), Value::List(b)) => in_order(&a.items, &b.items),
        (Value::Tuple(a), Value::Tuple(b)) => in_order(&a.items, &b.items),
        (Value::Object(a), Value::Object(b)) => at_once(a.values.iter().zip(&b.values)),
        (Value::Map(a), Value::Map(b)) => {
            if a.entries.len() != b.entries.len()
                || a.entries.iter().zip(&b.entries).any(|(a, b)| a.0 != b.0)
            {
                return Some(false);
            }
            at_once(a.entries.iter().zip(&b.entries).map(|(a, b)| (&a.1, &b.1)))
        }
        (Value::Set(a), Value::Set(b)) => sets(&a.items, &b.items),
        _ => Some(false),
    }
}

/// Whether no part is unknown in its type.
fn has_known_type(value: &Value) -> bool {
    match value.bare() {
        Value::Null(_) => true,
        Value::Unknown(it) => !it.ty.has_dynamic(),
        it => it.children().all(has_known_type),
    }
}

/// The first pair that is not equal decides, be it different or unknown.
fn in_order(a: &[Value], b: &[Value]) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    for (a, b) in a.iter().zip(b) {
        match known_equality(a, b) {
            Some(true) => {}
            other => return other,
        }
    }
    Some(true)
}

/// One different pair decides, whatever is unknown beside it.
fn at_once<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    let mut result = Some(true);
    for (a, b) in pairs {
        match known_equality(a, b) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => result = None,
        }
    }
    result
}

fn sets(a: &[Value], b: &[Value]) -> Option<bool> {
    if a.iter().chain(b).any(|it| !it.is_known()) {
        return None;
    }
    // Both are sorted and free of duplicates.
    let is_equal = |(a, b): (&Value, &Value)| known_equality(a, b) == Some(true);
    Some(a.len() == b.len() && a.iter().zip(b).all(is_equal))
}

/// Returns an unknown string with a known beginning.
pub fn with_prefix(prefix: &str) -> Value {
    let prefix = safe_prefix(prefix);
    Value::Unknown(Arc::new(Unknown {
        ty: Type::STRING,
        refinement: Refinement { not_null: true, prefix, ..Refinement::default() },
    }))
}

/// Characters that never combine with what follows.
const DELIMITERS: &str = "-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'";

/// Returns as much of a known beginning as nothing that follows can change: a last character that might combine with
/// the next one is left out.
pub fn safe_prefix(text: &str) -> Option<Str> {
    use unicode_segmentation::UnicodeSegmentation;
    let text = super::nfc(text);
    let last = text.graphemes(true).next_back()?;
    let kept = if last.len() == 1 && DELIMITERS.contains(last) {
        &*text
    } else {
        &text[..text.len() - last.len()]
    };
    (!kept.is_empty()).then(|| kept.into())
}

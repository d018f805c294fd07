//! What is known of something that two say something of, each in part.

use crate::value::{Refinement, Type, Unknown, Value};

/// Returns what is known of a value that is this and that. Where they are known in different parts, both parts are.
///
/// - They may be equal.
pub(super) fn both(one: &Value, other: &Value) -> Value {
    let marks = one.marks().union(&other.marks());
    let bare = match (one.bare(), other.bare()) {
        (Value::Unknown(a), Value::Unknown(b)) => both_unknown(a, b),
        (Value::Unknown(_), known) => known.clone(),
        (known, Value::Unknown(_)) => known.clone(),
        (a @ Value::Object(_), b @ Value::Object(_)) => {
            let (a, b) = (a.entries(), b.entries());
            match a.iter().map(|it| &it.0).eq(b.iter().map(|it| &it.0)) {
                true => Value::object(
                    a.into_iter().zip(b).map(|((name, one), (_, other))| (name, both(one, other))),
                ),
                false => one.bare().clone(),
            }
        }
        (a @ Value::Tuple(_), b @ Value::Tuple(_))
            if a.children().count() == b.children().count() =>
        {
            Value::tuple(a.children().zip(b.children()).map(|it| both(it.0, it.1)).collect())
        }
        (a, _) => a.clone(),
    };
    bare.mark(&marks)
}

fn both_unknown(one: &Unknown, other: &Unknown) -> Value {
    let ty = if one.ty == Type::DYNAMIC { other.ty } else { one.ty };
    let (a, b) = (&one.refinement, &other.refinement);
    let longer = |a: &Option<crate::value::Str>, b: &Option<crate::value::Str>| {
        let length = |it: &Option<crate::value::Str>| it.as_ref().map_or(0, |it| it.len());
        if length(a) < length(b) { b.clone() } else { a.clone() }
    };
    // Where both bound it, the closer bound counts.
    let lower = match (&a.lower, &b.lower) {
        (Some(a), Some(b)) if a.0.compare(&b.0).is_lt() => Some(b.clone()),
        (a, b) => a.clone().or(b.clone()),
    };
    let upper = match (&a.upper, &b.upper) {
        (Some(a), Some(b)) if a.0.compare(&b.0).is_gt() => Some(b.clone()),
        (a, b) => a.clone().or(b.clone()),
    };
    let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let refinement = Refinement {
        not_null: a.not_null || b.not_null,
        prefix: longer(&a.prefix, &b.prefix),
        lower,
        upper,
        min_length: a.min_length.max(b.min_length),
        max_length: least(a.max_length, b.max_length),
        document: a.document.clone().or(b.document.clone()),
    };
    match ty == Type::DYNAMIC && refinement.not_null {
        true => Value::unknown_not_null(ty),
        false if ty == Type::DYNAMIC => Value::unknown(ty),
        false => Value::Unknown(Unknown { ty, refinement }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::both;
    use crate::value::{Str, Type, Value};

    #[test]
    fn what_either_knows_is_known() {
        let text = Value::unknown(Type::STRING);
        let any = Value::unknown(Type::DYNAMIC);
        assert_eq!(both(&text, &any), text);
        assert_eq!(both(&any, &text), text);
        assert_eq!(both(&any, &Value::int(1)), Value::int(1));
        let pair = |a: Value, b: Value| Value::object([(Str::from("a"), a), (Str::from("b"), b)]);
        let (one, other) = (pair(any.clone(), Value::int(1)), pair(Value::int(2), text.clone()));
        assert_eq!(both(&one, &other), pair(Value::int(2), Value::int(1)));
        assert_eq!(both(&other, &one), pair(Value::int(2), Value::int(1)));
        let sure = Value::unknown_not_null(Type::STRING);
        assert_eq!(both(&text, &sure), sure);
        assert_eq!(both(&sure, &text), sure);
    }
}

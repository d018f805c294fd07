//! Texts that may turn out to be bools or numbers: without a schema, nobody knows what a provider makes of `enabled = "false"`.

use crate::value::{Type, Unknown, Value, convert};

/// Returns whether a value is, or has in it, a text that reads exactly as a bool or a number.
pub(super) fn may_convert(value: &Value) -> bool {
    match value.bare() {
        Value::String(_) => !readings(value).is_empty(),
        Value::Unknown(it) => is_open_text(it),
        bare => bare.children().any(may_convert),
    }
}

/// Returns the values of other types that a text, a bool or a number may be equal to once a provider has converted it.
pub(super) fn twins(value: &Value) -> Vec<Value> {
    match value.bare() {
        Value::String(_) => readings(value),
        Value::Bool(it) => {
            let texts = if *it { ["true", "1"] } else { ["false", "0"] };
            texts.map(Value::string).to_vec()
        }
        bare @ Value::Number(_) => convert(bare, Type::STRING).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns a value with every such text converted: to a bool where it is a word, else to a number.
pub(super) fn converted(value: &Value) -> Value {
    if !may_convert(value) {
        return value.clone();
    }
    let marks = value.marks();
    let inside = match value.bare() {
        text @ Value::String(_) => readings(text).into_iter().next().unwrap_or(text.clone()),
        Value::Unknown(it) => unknown_as_written(it),
        it @ (Value::Object(_) | Value::Map(_)) => {
            Value::object(it.entries().into_iter().map(|(name, it)| (name, converted(it))))
        }
        it => Value::tuple(it.children().map(converted).collect()),
    };
    inside.mark(&marks)
}

/// Returns what is known of a value that is written for a provider: a text that is not known may become a bool or a number.
pub(super) fn unknown_as_written(it: &Unknown) -> Value {
    match is_open_text(it) {
        true if it.refinement.not_null => Value::unknown_not_null(Type::DYNAMIC),
        true => Value::unknown(Type::DYNAMIC),
        false => Value::Unknown(it.clone().into()),
    }
}

/// Whether it is a text of which nothing is known that no bool or number has.
fn is_open_text(it: &Unknown) -> bool {
    let begins_as = |prefix: &str| {
        let is_number = |it: char| it.is_ascii_digit() || "-.e".contains(it);
        "true".starts_with(prefix) || "false".starts_with(prefix) || prefix.chars().all(is_number)
    };
    it.ty == Type::STRING
        && it.refinement.document.is_none()
        && it.refinement.prefix.as_ref().is_none_or(|it| begins_as(it))
}

/// What a text reads as, the likeliest first.
fn readings(text: &Value) -> Vec<Value> {
    let bare = text.bare();
    let number = convert(bare, Type::NUMBER).ok();
    // `010` and `1.0` are numbers that one does not write so: they are names of something.
    let number = number.filter(|it| convert(it, Type::STRING).is_ok_and(|it| it == *bare));
    number.into_iter().chain(convert(bare, Type::BOOL).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{converted, may_convert, twins};
    use crate::value::{Str, Value};

    #[test]
    fn texts_that_read_exactly_as_something_else_may_be_that() {
        assert_eq!(twins(&Value::string("false")), [Value::Bool(false)]);
        assert_eq!(twins(&Value::string("22")), [Value::int(22)]);
        assert_eq!(twins(&Value::string("1")), [Value::int(1), Value::Bool(true)]);
        assert_eq!(twins(&Value::Bool(true)), [Value::string("true"), Value::string("1")]);
        assert_eq!(twins(&Value::int(22)), [Value::string("22")]);
        for other in ["", "022", "2.0", "True", "yes", "a"] {
            assert!(!may_convert(&Value::string(other)), "{other}");
        }
        let value = |it: Value| Value::object([(Str::from("a"), Value::tuple(vec![it]))]);
        assert!(may_convert(&value(Value::string("true"))));
        assert_eq!(converted(&value(Value::string("true"))), value(Value::Bool(true)));
        assert_eq!(converted(&value(Value::string("x"))), value(Value::string("x")));
    }
}

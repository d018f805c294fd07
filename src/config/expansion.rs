//! `count`, `for_each` and `enabled`: from a value to instance keys.

use crate::address::InstanceKey;
use crate::diagnostic::{Diagnostic, Sort};
use crate::expression::{Scope, values_of};
use crate::syntax::Expression;
use crate::value::convert::convert;
use crate::value::text::shell_word;
use crate::value::{Marks, Str, Type, Value};
use crate::world::PRODUCT;

use super::Repetition;

/// The most instances that one repetition may ask for, and that one plan can hold. Each takes a few thousand bytes while it is
/// planned, and is looked at several times: more would end in a want of memory, without a word.
pub const MOST: usize = 4_000_000;

/// The instance keys that a repetition's value gives.
#[derive(Debug)]
pub enum Keys {
    /// The keys in order, each with its `each.value` (`for_each` only).
    Known(Vec<(InstanceKey, Option<Value>)>),
    /// Not decided yet.
    Unknown,
    /// The value cannot be used: why, without a place.
    Invalid(Box<Diagnostic>),
}

/// Returns the keys that `value` gives for the kind of repetition.
pub fn keys(repetition: &Repetition, value: &Value) -> Keys {
    match repetition {
        Repetition::Single => Keys::Known(vec![(InstanceKey::None, None)]),
        Repetition::Count(_) => count(value),
        Repetition::ForEach(_) => for_each(value),
        Repetition::Enabled(_) => enabled(value),
    }
}

fn invalid(summary: &str, detail: impl Into<String>) -> Keys {
    Keys::Invalid(Box::new(Diagnostic::error(summary).detail(detail)))
}

/// Returns the problem that a repetition is not known even when everything it reads is settled; `what` is the address
/// that can be left out instead.
pub fn not_known(repetition: &Repetition, what: &str) -> Diagnostic {
    let way_out = format!(
        "To work around this, use the planning option -exclude={} to first apply without this object, and then apply normally to converge.",
        shell_word(what)
    );
    match repetition {
        Repetition::Count(_) => Diagnostic::error("Invalid count argument").detail(format!(
            "The \"count\" value depends on resource attributes that cannot be determined until apply, so {PRODUCT} cannot predict how many instances will be created.\n\n{way_out}"
        )),
        Repetition::Enabled(_) => Diagnostic::error("Invalid enabled argument").detail(
            format!("The \"enabled\" value depends on resource attributes that cannot be determined until apply, so {PRODUCT} cannot predict whether the object exists."),
        ),
        _ => Diagnostic::error("Invalid for_each argument").detail(format!(
            "The \"for_each\" value includes keys derived from resource attributes that cannot be determined until apply, so {PRODUCT} cannot determine the full set of keys that will identify the instances of this object.\n\nWhen working with unknown values in for_each, it's better to define the keys statically in your configuration and place apply-time results only in the map values.\n\n{way_out}"
        )),
    }
}

/// Returns the problem with its place, and with the values that it rests on, as far as they help and may be shown.
pub fn blamed(
    problem: Diagnostic,
    repetition: &Repetition,
    value: &Value,
    expression: &Expression,
    scope: &dyn Scope,
) -> Diagnostic {
    let value = value.to_marked();
    let is_secret = value.marks().is_secret();
    let is_shown = match repetition {
        Repetition::Count(_) => problem.sort == Sort::CountType,
        Repetition::Enabled(_) => !is_secret,
        _ => true,
    };
    let mut problem = problem.at(expression.span);
    if is_shown {
        let is_unknown = !is_secret && !value.value().is_wholly_known();
        problem.values = values_of(expression, scope, &[], is_unknown, is_secret);
    }
    problem
}

fn count(value: &Value) -> Keys {
    const SUMMARY: &str = "Invalid count argument";
    let value = value.to_marked();
    let (value, marks) = value.look();
    if marks.ephemeral {
        return invalid(
            SUMMARY,
            "The given \"count\" is ephemeral: which instances exist must be the same in every phase, so an ephemeral value cannot decide it.",
        );
    }
    if value.is_null() {
        return invalid(
            SUMMARY,
            "The given \"count\" argument value is null. An integer is required.",
        );
    }
    let number = match convert(value, Type::NUMBER) {
        Ok(number) => number,
        Err(why) => {
            let problem = Diagnostic::error("Incorrect value type")
                .detail(format!("Invalid expression value: {why}."))
                .sort(Sort::CountType);
            return Keys::Invalid(Box::new(problem));
        }
    };
    if !number.is_known() {
        return Keys::Unknown;
    }
    match number.as_int() {
        Some(it) if it < 0 => invalid(
            SUMMARY,
            "The given \"count\" argument value is unsuitable: must be greater than or equal to zero.",
        ),
        Some(it) if usize::try_from(it).is_ok_and(|it| it > MOST) => {
            Keys::Invalid(Box::new(too_many(it as usize)))
        }
        Some(it) => Keys::Known((0..it).map(|it| (InstanceKey::Int(it), None)).collect()),
        None => invalid(
            SUMMARY,
            "The given \"count\" argument value is unsuitable: a whole number is required.",
        ),
    }
}

/// Returns the problem that more instances are asked for than can be planned.
pub fn too_many(asked: usize) -> Diagnostic {
    Diagnostic::error("Too many instances").detail(format!(
        "{asked} instances are asked for, and one plan holds at most {MOST}. Check the value; objects that are so many are better \
         spread over several configurations, each with a state of its own."
    ))
}

fn enabled(value: &Value) -> Keys {
    const SUMMARY: &str = "Invalid enabled argument";
    let value = value.to_marked();
    let (value, marks) = value.look();
    if marks.ephemeral || marks.sensitive {
        let kind = if marks.ephemeral { "an ephemeral" } else { "a sensitive" };
        return invalid(
            SUMMARY,
            format!(
                "The given \"enabled\" value is derived from {kind} value, so it cannot decide whether the object exists."
            ),
        );
    }
    if value.is_null() {
        return invalid(
            SUMMARY,
            "The given \"enabled\" argument value is null. A boolean is required.",
        );
    }
    match convert(value, Type::BOOL) {
        Ok(value) => match value.as_bool() {
            Some(true) => Keys::Known(vec![(InstanceKey::None, None)]),
            Some(false) => Keys::Known(Vec::new()),
            None => Keys::Unknown,
        },
        Err(_) => invalid(
            SUMMARY,
            format!(
                "The given \"enabled\" argument value is unsuitable: bool required, but have {}.",
                friendly(value.ty())
            ),
        ),
    }
}

/// Returns the keys of a `for_each` value: a map, an object, or a set of strings.
pub fn for_each(value: &Value) -> Keys {
    const SUMMARY: &str = "Invalid for_each argument";
    let outer = value.marks();
    if outer.sensitive {
        return invalid(
            SUMMARY,
            "Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, the sensitive value could be exposed as a resource instance key.",
        );
    }
    if outer.ephemeral {
        return invalid(
            SUMMARY,
            "The given \"for_each\" value is derived from an ephemeral value: which instances exist must be the same in every phase.",
        );
    }
    match value.bare() {
        Value::Null(_) => invalid(
            SUMMARY,
            "The given \"for_each\" argument value is null. A map, or set of strings is allowed.",
        ),
        Value::Unknown(it) if is_possible(it.ty) => Keys::Unknown,
        Value::Map(it) => Keys::Known(
            it.entries
                .iter()
                .map(|(key, value)| (InstanceKey::Str(key.clone()), Some(carry(value, &outer))))
                .collect(),
        ),
        Value::Object(_) => Keys::Known(
            value
                .entries()
                .into_iter()
                .map(|(key, value)| (InstanceKey::Str(key), Some(carry(value, &outer))))
                .collect(),
        ),
        Value::Set(it) => set(&it.items, it.element, &outer),
        other => invalid(
            SUMMARY,
            format!(
                "The given \"for_each\" argument value is unsuitable: the \"for_each\" argument must be a map, or set of strings, and you have provided a value of type {}.",
                friendly(other.ty())
            ),
        ),
    }
}

/// Only the provenance of the container concerns each element.
fn carry(value: &Value, outer: &Marks) -> Value {
    value.clone().mark(&Marks { reads: outer.reads.clone(), ..Marks::default() })
}

fn set(items: &[Value], element: Type, outer: &Marks) -> Keys {
    const SUMMARY: &str = "Invalid for_each argument";
    if items.is_empty() {
        return Keys::Known(Vec::new());
    }
    if items.iter().any(|it| !it.is_known()) {
        return Keys::Unknown;
    }
    if element != Type::STRING {
        return invalid(
            SUMMARY,
            format!(
                "The given \"for_each\" argument value is unsuitable: \"for_each\" supports maps and sets of strings, but you have provided a set containing type {}.",
                friendly(element)
            ),
        );
    }
    let mut keys = Vec::with_capacity(items.len());
    for item in items {
        match item.as_str() {
            Some(text) => keys.push((InstanceKey::Str(text.into()), Some(carry(item, outer)))),
            None => {
                return invalid(
                    SUMMARY,
                    "The given \"for_each\" argument value is unsuitable: \"for_each\" sets must not contain null values.",
                );
            }
        }
    }
    Keys::Known(keys)
}

fn is_possible(ty: Type) -> bool {
    use crate::value::Kind;
    match ty.kind() {
        Kind::Dynamic | Kind::Map(_) | Kind::Object(_) => true,
        Kind::Set(element) => *element == Type::STRING || *element == Type::DYNAMIC,
        _ => false,
    }
}

/// Returns a type's name as messages write it: `list of string`, `object`.
pub fn friendly(ty: Type) -> String {
    use crate::value::Kind;
    match ty.kind() {
        Kind::Dynamic => "dynamic".into(),
        Kind::List(it) => format!("list of {}", friendly(*it)),
        Kind::Set(it) => format!("set of {}", friendly(*it)),
        Kind::Map(it) => format!("map of {}", friendly(*it)),
        Kind::Tuple(_) => "tuple".into(),
        Kind::Object(_) => "object".into(),
        _ => ty.to_string(),
    }
}

/// Returns the instance key that an index value means: a string, or a whole number.
pub fn key_of(value: &Value) -> Option<InstanceKey> {
    match value.bare() {
        Value::String(it) => Some(InstanceKey::Str(it.clone())),
        Value::Number(it) => it.as_i64().map(InstanceKey::Int),
        _ => None,
    }
}

/// Returns the instance key that an index value means for a kind of repetition: `a["0"]` of a counted resource is `a[0]`.
pub fn key_for(value: &Value, counted: bool) -> Option<InstanceKey> {
    let wanted = if counted { Type::NUMBER } else { Type::STRING };
    key_of(&convert(value, wanted).ok()?)
}

/// Returns the key of a provider instance that a value means, or why it means none.
///
/// # Errors
///
/// What is wrong with it, without a place; `None` where it is only not known yet.
pub fn provider_key(value: &Value) -> Result<InstanceKey, Option<String>> {
    let value = value.to_marked();
    let (value, marks) = value.look();
    let wrong = |what: &str| Err(Some(format!("A provider instance key must not be {what}.")));
    if marks.sensitive {
        return wrong("derived from a sensitive value");
    }
    if marks.ephemeral {
        return wrong("derived from an ephemeral value");
    }
    if value.is_null() {
        return wrong("null");
    }
    match convert(value, Type::STRING) {
        Ok(Value::String(text)) => Ok(InstanceKey::Str(text)),
        Ok(_) => Err(None),
        Err(why) => Err(Some(format!("The given instance key is unsuitable: {why}."))),
    }
}

/// Returns a key as a name among an object's attributes.
pub fn key_text(key: &InstanceKey) -> Str {
    match key {
        InstanceKey::None => "".into(),
        InstanceKey::Int(it) => it.to_string().into(),
        InstanceKey::Str(it) => it.clone(),
    }
}

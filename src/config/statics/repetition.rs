//! Calls that must be expanded before planning, because their instances may come from different places.

use crate::address::InstanceKey;
use crate::config::{ModuleCall, Repetition};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::{Subject, references_of};
use crate::value::{Kind, Type, Value, convert};

use super::{Each, StaticModule};

impl ModuleCall {
    /// Returns whether the source or the version differs from instance to instance.
    pub fn is_expanded_early(&self) -> bool {
        let mentions = |it: &crate::syntax::Expression| {
            references_of(it).0.iter().any(|it| {
                matches!(it.subject, Subject::EachKey | Subject::EachValue | Subject::CountIndex)
            })
        };
        matches!(self.repetition, Repetition::Count(_) | Repetition::ForEach(_))
            && self.source.iter().chain(&self.version).any(mentions)
    }
}

/// Returns the instances of a call that is expanded before planning.
///
/// # Errors
///
/// If its `for_each` or `count` is not known yet, with what made it so, or is nothing to repeat over.
pub fn instances(place: &StaticModule, call: &ModuleCall) -> Result<Vec<Each>, Diagnostics> {
    let name = &call.name.text;
    match &call.repetition {
        Repetition::ForEach(expression) => {
            let value = place.evaluate(expression, &format!("module.{name}.for_each"))?;
            for_each(&value).map_err(|why| invalid("for_each", &why, expression.span).into())
        }
        Repetition::Count(expression) => {
            let value = place.evaluate(expression, &format!("module.{name}.count"))?;
            count(&value).map_err(|why| invalid("count", &why, expression.span).into())
        }
        Repetition::Single | Repetition::Enabled(_) => Ok(Vec::new()),
    }
}

fn for_each(value: &Value) -> Result<Vec<Each>, String> {
    let refuse = |why: &str| Err(why.to_owned());
    let marks = value.marks();
    if marks.sensitive {
        return refuse(
            "sensitive values, or values derived from them, cannot be used as for_each arguments, since the keys are shown and are parts of addresses",
        );
    }
    if marks.ephemeral {
        return refuse(
            "ephemeral values, or values derived from them, cannot be used as for_each arguments",
        );
    }
    if value.is_null() {
        return refuse(
            "the given \"for_each\" argument value is null. A map, or set of strings is allowed",
        );
    }
    if !value.is_known() {
        return refuse(
            "the keys are not known before there is a plan, and modules are installed by them",
        );
    }
    let key = |name: &str| InstanceKey::Str(name.into());
    match value.ty().kind() {
        Kind::Map(_) | Kind::Object(_) => Ok(value
            .entries()
            .into_iter()
            .map(|(name, it)| Each { key: key(&name), value: Some(it.clone()) })
            .collect()),
        Kind::Set(element) if *element == Type::STRING || *element == Type::DYNAMIC => {
            let mut found = Vec::new();
            for it in value.bare().children() {
                match it.as_str() {
                    Some(text) => found.push(Each { key: key(text), value: Some(it.clone()) }),
                    None => return refuse("\"for_each\" sets must not contain null values"),
                }
            }
            Ok(found)
        }
        _ => Err(format!(
            "the given \"for_each\" argument value is unsuitable: the \"for_each\" argument must be a map, or set of strings, and you have provided a value of type {}",
            value.ty()
        )),
    }
}

fn count(value: &Value) -> Result<Vec<Each>, String> {
    let refuse = |why: &str| Err(why.to_owned());
    if value.marks().sensitive || value.marks().ephemeral {
        return refuse(
            "sensitive and ephemeral values cannot be used, since the number of instances is shown",
        );
    }
    let number = convert(value, Type::NUMBER).map_err(|it| it.to_string())?;
    let number = match &number {
        it if it.is_null() => {
            return refuse("the given \"count\" argument value is null. An integer is required");
        }
        Value::Number(it) => it.as_i64(),
        _ => {
            return refuse(
                "the number is not known before there is a plan, and modules are installed by it",
            );
        }
    };
    match number {
        Some(number) if number >= 0 => {
            Ok((0..number).map(|it| Each { key: InstanceKey::Int(it), value: None }).collect())
        }
        _ => refuse(
            "the given \"count\" argument value is unsuitable: it must be a whole number that is not negative",
        ),
    }
}

fn invalid(argument: &str, why: &str, at: Span) -> Diagnostic {
    let mut why = why.to_owned();
    if let Some(first) = why.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Diagnostic::error(format!("Invalid {argument} argument")).detail(format!("{why}.")).at(at)
}

//! Rules over configurations that several kinds share. What is unknown waits.

use super::fields::{Read, at};
use super::resource::Problem;
use crate::value::Value;

/// Exactly one of these must be set; reported at each.
pub(super) fn exactly_one(config: &Value, names: &[&str], found: &mut Vec<Problem>) {
    let set = names.iter().filter(|it| !config.member(it).is_null()).count();
    if set != 1 && !config.any_unknown(names) {
        let given = if set == 0 { "No attribute".to_owned() } else { format!("{set} attributes") };
        found.extend(names.iter().map(|name| {
            let others: Vec<&str> = names.iter().copied().filter(|it| it != name).collect();
            let detail = format!(
                "{given} specified when one (and only one) of [{}] is required",
                others.join(",")
            );
            Problem::error("Invalid Attribute Combination", detail).at(at(name))
        }));
    }
}

/// Returns whether all of these are known to be absent.
pub(super) fn none_set(config: &Value, names: &[&str]) -> bool {
    names.iter().all(|it| config.member(it).is_null())
}

/// A whole number that must be at least `least`.
pub(super) fn at_least(config: &Value, name: &str, least: i64, found: &mut Vec<Problem>) {
    if config.whole(name).is_some_and(|it| it < least) {
        found.push(invalid_value(name, format!("The argument {name} must be at least {least}.")));
    }
}

/// A value that breaks a rule.
pub(super) fn invalid_value(name: &str, detail: String) -> Problem {
    Problem::error("Invalid Attribute Value", detail).at(at(name))
}

//! Rules over configurations that several kinds share. What is unknown waits.

use super::fields::{Read, at};
use super::resource::Problem;
use crate::value::Value;

/// Exactly one of these must be set; reported at each.
pub(super) fn exactly_one(config: &Value, names: &[&str], found: &mut Vec<Problem>) {
    let set = names.iter().filter(|it| !config.member(it).is_null()).count();
    if set != 1 && !config.any_unknown(names) {
        let detail = format!("Exactly one of {} must be set; {set} are.", names.join(", "));
        found.extend(
            names.iter().map(|it| {
                Problem::error("Invalid Attribute Combination", detail.clone()).at(at(it))
            }),
        );
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

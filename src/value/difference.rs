//! Where two values differ.

use std::collections::BTreeSet;

use super::{Path, PathStep, Str, Value, unknown};

/// Returns the deepest paths at which two values differ, and whether they do for certain. What differs in a set differs as the set.
pub fn differences(before: &Value, after: &Value) -> Vec<(Path, bool)> {
    let mut found = Vec::new();
    walk(before, after, &mut Path::new(), &mut found);
    found
}

fn walk(before: &Value, after: &Value, path: &mut Path, found: &mut Vec<(Path, bool)>) {
    let (old, new) = (before.bare(), after.bare());
    if !new.is_known() {
        return found.push((path.clone(), false));
    }
    let is_keyed = |it: &Value| matches!(it, Value::Object(_) | Value::Map(_));
    let is_listed = |it: &Value| matches!(it, Value::List(_) | Value::Tuple(_));
    if is_keyed(old) && is_keyed(new) {
        let is_object = matches!(new, Value::Object(_));
        let (old, new) = (old.entries(), new.entries());
        let names = old.iter().chain(&new).map(|it| it.0.clone());
        for name in names.collect::<BTreeSet<_>>() {
            let at = |all: &[(Str, &Value)]| {
                all.iter().find(|it| it.0 == name).map_or(Value::NULL, |it| it.1.clone())
            };
            path.push(match is_object {
                true => PathStep::attribute(name.clone()),
                false => PathStep::key(&name),
            });
            walk(&at(&old), &at(&new), path, found);
            path.pop();
        }
        return;
    }
    if is_listed(old) && is_listed(new) {
        let (old, new): (Vec<&Value>, Vec<&Value>) =
            (old.children().collect(), new.children().collect());
        for index in 0..old.len().max(new.len()) {
            path.push(PathStep::index(index));
            let at = |all: &[&Value]| all.get(index).map_or(Value::NULL, |it| (*it).clone());
            walk(&at(&old), &at(&new), path, found);
            path.pop();
        }
        return;
    }
    if old.is_null() && new.is_null() {
        return;
    }
    match unknown::known_equality(&before.to_plain(), &after.to_plain()) {
        Some(true) => {}
        Some(false) => found.push((path.clone(), true)),
        None => found.push((path.clone(), false)),
    }
}

//! A saved plan held against the policies that are required where it is applied.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::policy::PolicySource;

/// Returns what keeps a plan from being applied: policies that are required now, and by which it was not judged, or not by this text.
///
/// - `of_plan`: those that the plan was judged by.
pub fn check_plan(of_plan: &[PolicySource], required: &[PolicySource]) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let judged = texts(of_plan);
    for (group, wanted) in texts(required) {
        // Where the plan is applied on another machine, files may lie elsewhere and have other names: their texts count.
        if judged.values().any(|had| texts_of(had) == texts_of(&wanted)) {
            continue;
        }
        problems.push(match judged.get(group) {
            None => made_without(group),
            Some(had) => made_with_others(group, &differing(had, &wanted)),
        });
    }
    problems
}

/// The files that are required, by group.
fn texts(all: &[PolicySource]) -> BTreeMap<&str, Vec<&PolicySource>> {
    let mut groups: BTreeMap<&str, Vec<&PolicySource>> = BTreeMap::new();
    for it in all.iter().filter(|it| it.is_required) {
        groups.entry(&it.group).or_default().push(it);
    }
    groups
}

fn texts_of<'a>(files: &[&'a PolicySource]) -> BTreeSet<&'a str> {
    files.iter().map(|it| it.text.as_str()).collect()
}

/// The names of the files that only one side has, or has with another text.
fn differing(had: &[&PolicySource], wanted: &[&PolicySource]) -> String {
    let (before, now) = (texts_of(had), texts_of(wanted));
    let only = |files: &[&PolicySource], other: &BTreeSet<&str>| -> Vec<String> {
        let only = files.iter().filter(|it| !other.contains(it.text.as_str()));
        only.map(|it| it.name.clone()).collect()
    };
    let names: BTreeSet<String> =
        only(had, &now).into_iter().chain(only(wanted, &before)).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

fn made_without(group: &str) -> Diagnostic {
    Diagnostic::error("Plan made without a required policy").detail(format!(
        "The CLI configuration here requires {group}, and this plan was made without it, so that it cannot be applied. Plan again where it is required, and apply that plan."
    ))
}

fn made_with_others(group: &str, files: &str) -> Diagnostic {
    Diagnostic::error("Plan judged by another text of a required policy").detail(format!(
        "The CLI configuration here requires {group}, and this plan was judged by another text of it, so that it cannot be applied: {files} differs. Plan again with the policies of today, and apply that plan."
    ))
}

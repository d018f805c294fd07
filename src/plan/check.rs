//! A linter for finished plans: what every plan holds to, whatever was planned.
//!
//! A plan that breaks one of these is a fault of the planner; tests run this on every plan they make.

use std::collections::BTreeSet;

use super::{Action, Change, ChangeList, OutputChange, Plan};
use crate::address::Mode;
use crate::request::PlanMode;

/// Returns what is wrong with a plan, one sentence each.
pub fn check(plan: &Plan) -> Vec<String> {
    let mut faults = Vec::new();
    check_order(&plan.changes, "changes", &mut faults);
    check_order(&plan.drift, "drift", &mut faults);
    plan.changes.iter().for_each(|it| check_change(it, &mut faults));
    plan.drift.iter().for_each(|it| check_drift(it, &mut faults));
    for (name, output) in &plan.outputs {
        if *name != output.name {
            faults.push(format!(
                "output.{name}: is listed under another name than its own, {}",
                output.name
            ));
        }
        check_output(output, &mut faults);
    }
    check_mode(plan, &mut faults);
    faults
}

/// Every object is decided once, and in the order of addresses.
fn check_order(changes: &ChangeList, list: &str, faults: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for change in changes {
        if !seen.insert(change.place()) {
            faults.push(format!("{}: stands twice among the {list}", name_of(change)));
        }
    }
    if !changes.is_sorted() {
        faults.push(format!("the {list} are not in the order of addresses"));
    }
}

fn name_of(change: &Change) -> String {
    match &change.deposed {
        Some(key) => format!("{} (deposed {key})", change.address),
        None => change.address.to_string(),
    }
}

fn check_change(change: &Change, faults: &mut Vec<String>) {
    let mut fault = |what: &str| faults.push(format!("{}: {what}", name_of(change)));
    let (has_before, has_after) = (!change.before.is_null(), !change.after.is_null());
    let mode = change.address.resource.mode;
    match change.action {
        Action::NoOp if has_before != has_after => fault("is kept, but there is only one side"),
        Action::Create if has_before => fault("is created, but is there already"),
        Action::Create | Action::Read if !has_after => {
            fault("is made or read, but there is nothing afterwards")
        }
        Action::Update if !has_before || !has_after => fault("is updated, but a side is missing"),
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate
            if !has_before || !has_after =>
        {
            fault("is replaced, but a side is missing");
        }
        Action::Delete | Action::Forget if has_after => {
            fault("goes, but there is something afterwards")
        }
        _ => {}
    }
    if change.action == Action::NoOp && change.before != change.after {
        fault("is kept, but its sides differ");
    }
    let is_replaced = matches!(
        change.action,
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate
    );
    if !change.details.replace_paths.is_empty() && !is_replaced {
        fault("has paths that force a replacement, but is not replaced");
    }
    if (change.action == Action::CreateThenDelete) != change.details.deposes.is_some() {
        fault(
            "must have a key for its old object if it is replaced by making the new one first, and only then",
        );
    }
    if change.deposed.is_some()
        && !matches!(change.action, Action::Delete | Action::Forget | Action::NoOp)
    {
        fault("is deposed, so it can only go or be gone");
    }
    if change.action == Action::Read && mode != Mode::Data {
        fault("is read, but is no data source");
    }
    let changes_world =
        !matches!(change.action, Action::NoOp | Action::Read | Action::Delete | Action::Forget);
    if mode == Mode::Data && changes_world {
        fault("is a data source, so nothing but a read can be planned for it");
    }
    if !change.before.is_wholly_known() {
        fault("is there, so all of it is known");
    }
    if change.before.contains_ephemeral() || change.after.contains_ephemeral() {
        fault("would be stored, so no part of it is ephemeral");
    }
    if change.details.previous_address.as_deref() == Some(&change.address) {
        fault("has moved to where it was");
    }
}

fn check_drift(change: &Change, faults: &mut Vec<String>) {
    let mut fault = |what: &str| faults.push(format!("{}: {what}", name_of(change)));
    match change.action {
        Action::Update | Action::Delete => {}
        Action::NoOp if change.details.previous_address.is_some() => {}
        _ => fault("has drifted, so it was changed, deleted or only moved"),
    }
    if change.address.resource.mode != Mode::Managed || change.deposed.is_some() {
        fault("is no current managed object, so it cannot drift");
    }
}

fn check_output(output: &OutputChange, faults: &mut Vec<String>) {
    let mut fault = |what: &str| faults.push(format!("output.{}: {what}", output.name));
    let (has_before, has_after) = (!output.before.is_null(), !output.after.is_null());
    match output.action {
        // A null has the type of what it stands for, and none where nothing was there.
        // Which part of it is sensitive does not count: the output is, or is not.
        Action::NoOp
            if (has_before || has_after) && output.before.to_plain() != output.after.to_plain() =>
        {
            fault("is kept, but its sides differ")
        }
        Action::Create if has_before => fault("is created, but is there already"),
        Action::Delete if has_after => fault("goes, but there is something afterwards"),
        Action::NoOp | Action::Create | Action::Update | Action::Delete => {}
        _ => fault("an output is only created, updated, deleted or kept"),
    }
    if !output.before.is_wholly_known() {
        fault("is there, so all of it is known");
    }
    let has_secret = output.before.contains_sensitive() || output.after.contains_sensitive();
    if has_secret && !output.sensitive {
        fault("holds something sensitive, so it is sensitive");
    }
}

/// What a mode never plans.
fn check_mode(plan: &Plan, faults: &mut Vec<String>) {
    for change in &plan.changes {
        let is_allowed = match plan.mode {
            PlanMode::Normal => true,
            PlanMode::Destroy => {
                matches!(change.action, Action::Delete | Action::Forget | Action::NoOp)
            }
            PlanMode::RefreshOnly => change.action == Action::NoOp,
        };
        if !is_allowed {
            faults.push(format!(
                "{}: {:?} is not planned in this mode",
                name_of(change),
                change.action
            ));
        }
    }
}

//! What follows the last step: root outputs, conditions, checks.

use std::collections::BTreeSet;

use entail_rules::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Context, Done, checks};
use crate::lower::Structure;
use crate::plan::{Action, Change};
use crate::planner::without_absent;
use crate::request::PlanMode;
use crate::state::journal::Record;
use crate::state::objects as record;
use crate::state::{OutputValue, ResourceState};

/// Evaluates the outputs that the plan lists, and checks what is checked at the end.
pub(super) fn finish(
    ctx: &Context<'_>,
    done: &mut Done,
    failed: &FxHashSet<Node>,
    unbegun: &[&Change],
) {
    let unsound = behind(ctx, failed);
    let root = ctx.observer.values.structure.module(Structure::ROOT);
    for (name, change) in &ctx.plan.outputs {
        if change.action == Action::NoOp || done.stopped {
            continue;
        }
        let Some(&node) = root.outputs.get(name).filter(|_| change.action != Action::Delete) else {
            // It goes whatever became of the objects that it was made of.
            set(ctx, done, Record::Output { name: name.clone(), value: None });
            continue;
        };
        if unsound.contains(&node) || !ctx.observer.output_conditions(node) {
            continue;
        }
        let output = &ctx.config.root().outputs[name];
        let (value, problems) =
            crate::expression::evaluate(&output.value, &ctx.observer.values.scope(Structure::ROOT));
        let has_errors = problems.has_errors();
        ctx.observer.values.report(problems);
        if has_errors {
            continue;
        }
        // What was not known when the plan was made is judged now.
        if let Some(problem) = crate::observe::problems::of_output(&value, output) {
            ctx.observer.values.report([problem]);
            continue;
        }
        let only_records = ctx.plan.mode == PlanMode::RefreshOnly;
        if only_records && ctx.keeps_undecided && !value.is_wholly_known() {
            continue;
        }
        let stored = match only_records {
            // What is gone is told as a null: the output is declared, and has no value now.
            true => Some(value.unmark_deep().0)
                .filter(|it| !it.is_null())
                .map(|it| record::known_only(&it)),
            false => Some(record::known_only(&without_absent(&value).unmark_deep().0))
                .filter(|it| !it.is_null()),
        };
        let stored = stored.map(|value| OutputValue {
            ty: value.ty(),
            value,
            sensitive: output.sensitive,
            deprecated: output.deprecated.clone(),
        });
        set(ctx, done, Record::Output { name: name.clone(), value: stored });
    }
    done.state.checks = Some(checks::settle(ctx, &unsound)).filter(|it| !it.is_empty());
    done.imported = ctx.plan.changes.iter().filter(|it| it.importing.is_some()).count();
    done.state.resources.retain(|_, it| !it.instances.is_empty());
    for change in unbegun {
        // As OpenTofu does, until a later run ends well.
        let fresh = || {
            ResourceState { provider: change.provider.clone(), instances: Default::default() }
                .into()
        };
        done.state.resources.entry(change.address.of()).or_insert_with(fresh);
    }
}

fn set(ctx: &Context<'_>, done: &mut Done, record: Record) {
    ctx.notes.note(vec![record]);
    ctx.notes.take_into(&mut done.state);
}

/// Everything that reads what failed, directly or not.
fn behind(ctx: &Context<'_>, failed: &FxHashSet<Node>) -> BTreeSet<Node> {
    if failed.is_empty() {
        return BTreeSet::new();
    }
    let mut readers: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    ctx.facts.reads.iter().for_each(|it| readers.entry(it.1).or_default().push(it.0));
    let mut found: BTreeSet<Node> = failed.iter().copied().collect();
    let mut open: Vec<Node> = found.iter().copied().collect();
    while let Some(node) = open.pop() {
        for &reader in readers.get(&node).into_iter().flatten() {
            if found.insert(reader) {
                open.push(reader);
            }
        }
    }
    found
}

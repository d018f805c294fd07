//! What follows the last step: root outputs, conditions, checks.

use std::collections::BTreeSet;

use entail_rules::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Context, Done};
use crate::lower::Structure;
use crate::plan::{Action, Change, Plan};
use crate::planner::without_absent;
use crate::request::PlanMode;
use crate::state::journal::Record;
use crate::state::objects as record;
use crate::state::{CheckResult, OutputValue, ResourceState};
use crate::value::Str;

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
            if failed.is_empty() {
                set(ctx, done, Record::Output { name: name.clone(), value: None });
            }
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
        if ctx.plan.mode == PlanMode::RefreshOnly && !value.is_wholly_known() {
            continue;
        }
        let (plain, _) = without_absent(&value).unmark_deep();
        let plain = record::known_only(&plain);
        let stored = (!plain.is_null()).then(|| OutputValue {
            ty: plain.ty(),
            value: plain,
            sensitive: output.sensitive,
            deprecated: output.deprecated.clone(),
        });
        set(ctx, done, Record::Output { name: name.clone(), value: stored });
    }
    if ctx.plan.mode != PlanMode::Destroy {
        crate::planner::check_blocks(ctx.observer, ctx.plan.is_unfiltered());
        validate_variables(ctx);
    }
    let checks = joined(ctx.plan, ctx.observer.checks.finish());
    done.state.checks = Some(checks).filter(|it| !it.is_empty());
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

/// Validations that rested on what was not known are decided now.
fn validate_variables(ctx: &Context<'_>) {
    if !ctx.plan.is_unfiltered() {
        return;
    }
    for module in &ctx.observer.values.structure.modules {
        let validated = module.config.variables.iter().filter(|it| !it.1.validations.is_empty());
        for node in validated.filter_map(|it| module.variables.get(it.0)) {
            ctx.observer.is_valid(*node);
        }
    }
}

/// Results of the plan stand where nothing was checked again – save those of data sources, which nobody looked at.
fn joined(plan: &Plan, mut now: Vec<CheckResult>) -> Vec<CheckResult> {
    let is_read_again = plan.mode == PlanMode::Normal;
    for old in plan.checks.iter().map(|it| if is_read_again { carried(it) } else { it.clone() }) {
        let known = now
            .iter_mut()
            .find(|it| it.kind == old.kind && it.config_address == old.config_address);
        match known {
            None => now.push(old),
            Some(new) => {
                let objects = new.objects.get_or_insert_default();
                let missing = old
                    .objects
                    .iter()
                    .flatten()
                    .filter(|it| !objects.iter().any(|known| known.0 == it.0));
                let missing: Vec<_> = missing.cloned().collect();
                objects.extend(missing);
            }
        }
    }
    now
}

/// What a plan found, as far as it holds after the run.
fn carried(old: &CheckResult) -> CheckResult {
    let address = old.config_address.rsplit("module.").next().unwrap_or_default();
    let is_data =
        &*old.kind == "resource" && (address.starts_with("data.") || address.contains(".data."));
    if !is_data {
        return old.clone();
    }
    let unknown = |it: &(Str, Str, Vec<Str>)| (it.0.clone(), Str::from("unknown"), Vec::new());
    CheckResult {
        status: "unknown".into(),
        objects: old.objects.as_ref().map(|it| it.iter().map(unknown).collect()),
        ..old.clone()
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

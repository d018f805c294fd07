//! Conditions when all steps are done: what is checked now, and what still holds of the plan's results.

use std::collections::BTreeSet;

use entail_rules::Node;
use entail_rules::closing::Closing;

use super::Context;
use crate::lower::Structure;
use crate::lower::structure::NodeKind;
use crate::planner::{Looks, check_blocks};
use crate::state::CheckResult;
use crate::value::Str;

/// Checks what is checked at the end and does not read what failed, and returns the results that go into the state.
pub(super) fn judge_last(ctx: &Context<'_>, closing: &Closing) -> Vec<CheckResult> {
    if !closing.judges_all.is_empty() {
        check_blocks(ctx.observer, |it| match closing.judged_last.binary_search(&(it,)) {
            Ok(_) => Looks::Now,
            Err(_) if ctx.facts.check_block.binary_search(&(it,)).is_ok() => Looks::Unsound,
            Err(_) => Looks::Not,
        });
        validate_variables(ctx);
    }
    let structure = &ctx.observer.values.structure;
    let passed_by: BTreeSet<String> =
        closing.passed_by.iter().map(|it| checked_name(structure, it.0)).collect();
    let mut now = ctx.observer.checks.finish();
    for old in ctx.plan.checks.iter().map(|it| carried(it, &passed_by)) {
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

/// Validations that rested on what was not known are decided now.
fn validate_variables(ctx: &Context<'_>) {
    for module in &ctx.observer.values.structure.modules {
        let validated = module.config.variables.iter().filter(|it| !it.1.validations.is_empty());
        for node in validated.filter_map(|it| module.variables.get(it.0)) {
            ctx.observer.is_valid(*node);
        }
    }
}

/// What the list of checks calls an object or an output.
fn checked_name(structure: &Structure, node: Node) -> String {
    match structure.kind(node) {
        NodeKind::Output(module, name) => {
            format!("{}.output.{name}", structure.module(*module).address)
        }
        _ => structure.name(node),
    }
}

/// What a plan found, as far as it holds after the run: of what was passed by, nothing is known any more.
fn carried(old: &CheckResult, passed_by: &BTreeSet<String>) -> CheckResult {
    let mut new = old.clone();
    let forgotten = new.objects.iter_mut().flatten().filter(|it| passed_by.contains(&*it.0));
    let forgotten: Vec<_> = forgotten.collect();
    let has_forgotten = !forgotten.is_empty();
    for it in forgotten {
        (it.1, it.2) = ("unknown".into(), Vec::new());
    }
    let is_bad = |it: &(Str, Str, Vec<Str>)| matches!(&*it.1, "fail" | "error");
    if has_forgotten && !new.objects.iter().flatten().any(is_bad) {
        new.status = "unknown".into();
    }
    new
}

//! Conditions when all steps are done: what is checked now, and what still holds of the plan's results.

use std::collections::BTreeSet;

use entail_rules::closing::Closing;

use super::Context;
use crate::planner::{Looks, check_blocks};
use crate::request::PlanMode;
use crate::state::CheckResult;
use crate::value::Str;

/// Checks what is checked at the end and does not read what failed, and returns the results that go into the state.
pub(super) fn settle(ctx: &Context<'_>, closing: &Closing) -> Vec<CheckResult> {
    if !closing.judges_all.is_empty() {
        check_blocks(ctx.observer, |it| match closing.judged_last.binary_search(&(it,)) {
            Ok(_) => Looks::Now,
            Err(_) if ctx.facts.check_block.binary_search(&(it,)).is_ok() => Looks::Unsound,
            Err(_) => Looks::Not,
        });
        validate_variables(ctx);
    }
    let unread = match ctx.plan.mode {
        PlanMode::Normal => unread(ctx, closing),
        _ => BTreeSet::new(),
    };
    let mut now = ctx.observer.checks.finish();
    for old in ctx.plan.checks.iter().map(|it| carried(ctx, it, &unread)) {
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

/// The addresses of module outputs that nothing in the run reads: OpenTofu does not evaluate them while it applies.
fn unread(ctx: &Context<'_>, closing: &Closing) -> BTreeSet<String> {
    let is_of_module =
        |it: &CheckResult| &*it.kind == "output" && it.config_address.starts_with("module.");
    if !ctx.plan.checks.iter().any(is_of_module) {
        return BTreeSet::new();
    }
    let structure = &ctx.observer.values.structure;
    let inner = structure.modules.iter().filter(|it| !it.address.is_root());
    let outputs = inner.flat_map(|module| module.outputs.iter().map(move |it| (module, it)));
    let unread = outputs.filter(|it| closing.looked_at.binary_search(&(*it.1.1,)).is_err());
    unread.map(|(module, (name, _))| format!("{}.output.{name}", module.address)).collect()
}

/// What a plan found, as far as it holds after the run: nobody looked again at data sources and at outputs that are not read.
fn carried(ctx: &Context<'_>, old: &CheckResult, unread: &BTreeSet<String>) -> CheckResult {
    let address = old.config_address.rsplit("module.").next().unwrap_or_default();
    let is_data = ctx.plan.mode == PlanMode::Normal
        && &*old.kind == "resource"
        && (address.starts_with("data.") || address.contains(".data."));
    let is_forgotten = |it: &Str| is_data || (&*old.kind == "output" && unread.contains(&**it));
    let mut new = old.clone();
    let forgotten: Vec<_> =
        new.objects.iter_mut().flatten().filter(|it| is_forgotten(&it.0)).collect();
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

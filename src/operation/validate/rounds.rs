//! Modules whose instances come from different places are looked at one after the other, each with the others that it
//! goes with.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::config::Module;
use crate::lower::blocks::{Modules, VariantId};
use crate::lower::structure::ModuleId;

/// One module for each path, all of which go together.
pub(super) struct Round {
    /// The modules, each behind the one that calls it.
    pub chosen: Vec<VariantId>,
    /// The module instance that stands for each module, unless another one is chosen for its path.
    pub ids: Vec<Option<ModuleId>>,
    /// Those that no earlier round looked at: each module under one of its addresses.
    pub fresh: FxHashSet<VariantId>,
}

/// Returns rounds in which every module is looked at once: a single one, unless some call is expanded before planning.
pub(super) fn rounds(modules: &Modules) -> Vec<Round> {
    let mut seen = FxHashSet::default();
    let mut rounds = vec![round(modules, None, &mut seen)];
    for (wanted, module) in modules.iter() {
        if !seen.contains(&identity(&module.config)) {
            rounds.push(round(modules, Some(wanted), &mut seen));
        }
    }
    rounds
}

fn identity(module: &Arc<Module>) -> usize {
    Arc::as_ptr(module).addr()
}

/// Chooses a module for each path, `wanted` among them, and else such as were not seen before.
fn round(modules: &Modules, wanted: Option<VariantId>, seen: &mut FxHashSet<usize>) -> Round {
    let ids = vec![None; modules.count()];
    let mut round = Round { chosen: Vec::new(), ids, fresh: FxHashSet::default() };
    for path in modules.by_path() {
        let goes_with_caller = |it: &VariantId| {
            modules[*it].caller.is_none_or(|(caller, _)| round.ids[caller.index()].is_some())
        };
        let fitting = || path.clone().map(VariantId).filter(goes_with_caller);
        let is_seen = |it: &VariantId| seen.contains(&identity(&modules[*it].config));
        let choice = wanted
            .and_then(|wanted| fitting().find(|it| modules.is_within(wanted, *it)))
            .or_else(|| fitting().find(|it| !is_seen(it)))
            .or_else(|| fitting().next());
        // A call that only another variant of the caller has leads nowhere in this round.
        let Some(module) = choice else { continue };
        if seen.insert(identity(&modules[module].config)) {
            round.fresh.insert(module);
        }
        round.ids[module.index()] = Some(ModuleId(round.chosen.len() as u32));
        round.chosen.push(module);
    }
    round
}

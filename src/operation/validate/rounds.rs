//! Modules whose instances come from different places are looked at one after the other, each with the others that it
//! goes with.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::{Module as ModuleAddr, ModuleInstance};
use crate::config::{Config, Module};

/// One module for each path, all of which go together.
pub(super) struct Round {
    /// The modules.
    pub modules: BTreeMap<ModuleAddr, Arc<Module>>,
    /// The paths of those that no earlier round looked at: each module under one of its addresses.
    pub fresh: FxHashSet<ModuleAddr>,
}

/// Returns rounds in which every module is looked at once: a single one, unless some call is expanded before planning.
pub(super) fn rounds(config: &Config) -> Vec<Round> {
    let mut paths: FxHashMap<ModuleAddr, Vec<(&ModuleInstance, &Arc<Module>)>> =
        FxHashMap::default();
    for (at, place) in &config.variants {
        paths.entry(at.module()).or_default().push((at, place.module()));
    }
    let mut seen = FxHashSet::default();
    let mut rounds = vec![round(config, &paths, None, &mut seen)];
    for (at, place) in &config.variants {
        if !seen.contains(&identity(place.module())) {
            rounds.push(round(config, &paths, Some(at), &mut seen));
        }
    }
    rounds
}

fn identity(module: &Arc<Module>) -> usize {
    Arc::as_ptr(module).addr()
}

/// Chooses a module for each path, `wanted` among them, and else such as were not seen before.
fn round(
    config: &Config,
    paths: &FxHashMap<ModuleAddr, Vec<(&ModuleInstance, &Arc<Module>)>>,
    wanted: Option<&ModuleInstance>,
    seen: &mut FxHashSet<usize>,
) -> Round {
    let mut round = Round { modules: BTreeMap::new(), fresh: FxHashSet::default() };
    let mut chosen: FxHashMap<&ModuleAddr, ModuleInstance> = FxHashMap::default();
    for (path, face) in &config.modules {
        let outer = path.parent().and_then(|it| chosen.get(&it.0).cloned());
        let goes_with_outer = |at: &ModuleInstance| match &outer {
            Some(outer) => at.parent().is_some_and(|it| it.0 == *outer),
            None => true,
        };
        let module = match paths.get(path) {
            None => Some(face),
            Some(all) => {
                let fitting = || all.iter().filter(|it| goes_with_outer(it.0));
                let is_wanted =
                    |at: &ModuleInstance| wanted.is_some_and(|it| it.0.starts_with(&at.0));
                let choice = fitting()
                    .find(|it| is_wanted(it.0))
                    .or_else(|| fitting().find(|it| !seen.contains(&identity(it.1))))
                    .or_else(|| fitting().next());
                choice.map(|(at, module)| {
                    chosen.insert(path, (*at).clone());
                    *module
                })
            }
        };
        // A call that only another variant of the caller has leads nowhere in this round.
        let Some(module) = module else { continue };
        if seen.insert(identity(module)) {
            round.fresh.insert(path.clone());
        }
        round.modules.insert(path.clone(), module.clone());
    }
    round
}

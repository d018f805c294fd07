//! Modules whose instances come from different places are looked at one after the other, each with the others that it
//! goes with.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::address::Module as ModuleAddr;
use crate::config::{Config, Module, Variant};

/// One module for each path, all of which go together.
pub(super) struct Round {
    /// The modules.
    pub modules: BTreeMap<ModuleAddr, Arc<Module>>,
    /// The same, by what they are among those of their path.
    pub chosen: FxHashSet<Variant>,
    /// Those that no earlier round looked at: each module under one of its addresses.
    pub fresh: FxHashSet<Variant>,
}

/// Returns rounds in which every module is looked at once: a single one, unless some call is expanded before planning.
pub(super) fn rounds(config: &Config) -> Vec<Round> {
    let mut seen = FxHashSet::default();
    let mut rounds = vec![round(config, None, &mut seen)];
    for (wanted, module) in config.all_variants() {
        if !seen.contains(&identity(module)) {
            rounds.push(round(config, Some(&wanted), &mut seen));
        }
    }
    rounds
}

fn identity(module: &Arc<Module>) -> usize {
    Arc::as_ptr(module).addr()
}

/// Chooses a module for each path, `wanted` among them, and else such as were not seen before.
fn round(config: &Config, wanted: Option<&Variant>, seen: &mut FxHashSet<usize>) -> Round {
    let mut round = Round {
        modules: BTreeMap::new(),
        chosen: FxHashSet::default(),
        fresh: FxHashSet::default(),
    };
    for path in config.modules.keys() {
        let goes_with_caller =
            |it: &Variant| config.caller(it).is_none_or(|it| round.chosen.contains(&it.0));
        let fitting = || config.variants_at(path).filter(|it| goes_with_caller(&it.0));
        let is_wanted = |it: &Variant| wanted.is_some_and(|wanted| config.is_within(wanted, it));
        let choice = fitting()
            .find(|it| is_wanted(&it.0))
            .or_else(|| fitting().find(|it| !seen.contains(&identity(it.1))))
            .or_else(|| fitting().next());
        // A call that only another variant of the caller has leads nowhere in this round.
        let Some((variant, module)) = choice else { continue };
        if seen.insert(identity(module)) {
            round.fresh.insert(variant.clone());
        }
        round.modules.insert(path.clone(), module.clone());
        round.chosen.insert(variant);
    }
    round
}

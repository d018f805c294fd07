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
    /// What each module is in this round.
    places: Vec<Place>,
    /// Those that no earlier round looked at: each module under one of its addresses.
    pub fresh: FxHashSet<VariantId>,
}

/// What a module is in a round.
#[derive(Clone, Copy)]
enum Place {
    /// Another one is chosen for its path.
    Absent,
    /// Nothing in it is looked at, only what it is given.
    Given,
    /// An instance stands for it.
    Standing(ModuleId),
}

impl Round {
    /// Returns the module instance that stands for a module, where something in it is looked at.
    pub fn module(&self, of: VariantId) -> Option<ModuleId> {
        match self.places[of.index()] {
            Place::Standing(id) => Some(id),
            Place::Absent | Place::Given => None,
        }
    }

    /// Returns whether a module is chosen.
    pub fn has(&self, module: VariantId) -> bool {
        !matches!(self.places[module.index()], Place::Absent)
    }

    /// Returns the modules in which something is looked at, each behind the one that calls it.
    pub fn standing(&self) -> impl Iterator<Item = VariantId> {
        self.chosen.iter().copied().filter(|it| self.module(*it).is_some())
    }
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
    let places = vec![Place::Absent; modules.count()];
    let mut round = Round { chosen: Vec::new(), places, fresh: FxHashSet::default() };
    let mut standing = (0..).map(ModuleId).peekable();
    for path in modules.by_path() {
        let goes_with_caller =
            |it: &VariantId| modules[*it].caller.is_none_or(|(caller, _)| round.has(caller));
        let fitting = || path.clone().map(VariantId).filter(goes_with_caller);
        let is_seen = |it: &VariantId| seen.contains(&identity(&modules[*it].config));
        let choice = wanted
            .and_then(|wanted| fitting().find(|it| modules.is_within(wanted, *it)))
            .or_else(|| fitting().find(|it| !is_seen(it)))
            .or_else(|| fitting().next());
        // A call that only another variant of the caller has leads nowhere in this round.
        let Some(module) = choice else { continue };
        let config = &modules[module].config;
        let is_fresh = seen.insert(identity(config));
        if is_fresh {
            round.fresh.insert(module);
        }
        let id = standing.next_if(|_| is_fresh || is_looked_into(config));
        round.places[module.index()] = id.map_or(Place::Given, Place::Standing);
        round.chosen.push(module);
    }
    round
}

/// Whether what a module gives to others or says of its variables may name something in it.
fn is_looked_into(module: &Module) -> bool {
    !module.calls.is_empty() || module.variables.values().any(|it| !it.validations.is_empty())
}

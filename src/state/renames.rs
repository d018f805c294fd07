//! What objects recorded of others that stand elsewhere now.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Object, State};
use crate::address::{Instance, ModuleInstance, Resource};
use crate::value::Str;

/// Where instances stand now that were elsewhere, as records name them.
#[derive(Debug, Default)]
pub struct Renames {
    instances: FxHashMap<String, Str>,
    /// Whole resources: where their instances are now, and themselves where some have stayed.
    resources: FxHashMap<String, BTreeSet<Str>>,
    /// The same without the keys of modules.
    blocks: FxHashMap<String, BTreeSet<Str>>,
}

impl Renames {
    /// Returns what `state`, in which all has moved, has to follow. `moved` has pairs: where an instance was, and where it is.
    pub fn of<'a>(
        state: &State,
        moved: impl Iterator<Item = (&'a Instance, &'a Instance)>,
    ) -> Renames {
        let mut renames = Renames::default();
        let left: FxHashSet<String> =
            state.resources.keys().map(|it| it.config().to_string()).collect();
        for (old, new) in moved {
            renames.instances.insert(old.to_string(), new.to_string().into());
            let (from, to) = (old.of(), new.of());
            if from != to {
                let places = renames.resources.entry(from.to_string()).or_default();
                places.insert(to.to_string().into());
                if state.resources.contains_key(&from) {
                    places.insert(from.to_string().into());
                }
            }
            let (from, to) = (old.config().to_string(), new.config().to_string());
            if from != to {
                let places = renames.blocks.entry(from.clone()).or_default();
                places.insert(to.into());
                places.extend(left.contains(&from).then(|| Str::from(from)));
            }
        }
        renames
    }

    /// Lets our own record of an object follow.
    pub fn follow_own(&self, object: &mut Object) {
        let Some(reads) = &mut object.reads else { return };
        let is_known =
            |it: &Str| self.instances.contains_key(&**it) || self.resources.contains_key(&**it);
        if !reads.iter().any(is_known) {
            return;
        }
        let places = |it: &Str| match (self.instances.get(&**it), self.resources.get(&**it)) {
            (Some(instance), _) => vec![instance.clone()],
            (None, Some(places)) => places.iter().cloned().collect(),
            (None, None) => vec![it.clone()],
        };
        let new: BTreeSet<Str> = reads.iter().flat_map(places).collect();
        *reads = new.into_iter().collect();
    }

    /// Returns whether OpenTofu's record of an object names what has moved.
    pub fn concern(&self, object: &Object) -> bool {
        object.dependencies.iter().any(|it| self.blocks.contains_key(&**it))
    }

    /// Returns what OpenTofu's record of an object names, as it would be now.
    pub fn dependencies(&self, object: &Object) -> BTreeSet<Str> {
        let places = |it: &Str| match self.blocks.get(&**it) {
            Some(places) => places.iter().cloned().collect(),
            None => vec![it.clone()],
        };
        object.dependencies.iter().flat_map(places).collect()
    }
}

/// The resources of a state by their addresses without the keys of modules.
pub struct ByBlock(FxHashMap<String, Vec<Resource>>);

impl ByBlock {
    /// Lists the resources of a state.
    pub fn of(state: &State) -> ByBlock {
        let mut all: FxHashMap<String, Vec<Resource>> = FxHashMap::default();
        for address in state.resources.keys() {
            all.entry(address.config().to_string()).or_default().push(address.clone());
        }
        ByBlock(all)
    }

    /// Returns what a name that OpenTofu recorded of an object in `module` means: the resource of the same module instance where it is
    /// in the same module, else those of every instance.
    pub fn named(&self, block: &str, module: &ModuleInstance) -> impl Iterator<Item = &Resource> {
        let all = self.0.get(block).into_iter().flatten();
        all.filter(move |it| it.module.module() != module.module() || it.module == *module)
    }
}

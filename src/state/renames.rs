//! What objects recorded of others that stand elsewhere now.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Object, State};
use crate::address::{Instance, ModuleInstance, Resource};
use crate::value::Str;

/// Where instances stand now that were elsewhere, as records name them.
pub struct Renames {
    instances: FxHashMap<String, Str>,
    /// Whole resources: where their instances are now, and themselves where some have stayed.
    resources: FxHashMap<String, BTreeSet<Str>>,
    /// The same without the keys of modules.
    blocks: FxHashMap<String, BTreeSet<Str>>,
    /// The resources that there are, by their addresses without the keys of modules.
    by_block: FxHashMap<String, Vec<Resource>>,
}

impl Renames {
    /// Returns what `state`, in which all has moved, has to follow. `moved` has pairs: where an instance was, and where it is.
    pub fn of<'a>(
        state: &State,
        moved: impl Iterator<Item = (&'a Instance, &'a Instance)>,
    ) -> Renames {
        let mut by_block: FxHashMap<String, Vec<Resource>> = FxHashMap::default();
        for address in state.resources.keys() {
            by_block.entry(address.config().to_string()).or_default().push(address.clone());
        }
        let mut instances = FxHashMap::default();
        let (mut resources, mut blocks) = (FxHashMap::default(), FxHashMap::default());
        for (old, new) in moved {
            instances.insert(old.to_string(), new.to_string().into());
            let (from, to) = (old.of(), new.of());
            let stays = state.resources.contains_key(&from);
            moves(&mut resources, (from.to_string(), to.to_string()), |_| stays);
            let names = (old.config().to_string(), new.config().to_string());
            moves(&mut blocks, names, |from| by_block.contains_key(from));
        }
        Renames { instances, resources, blocks, by_block }
    }

    /// Lets our own record of an object follow.
    pub fn follow_own(&self, object: &mut Object) {
        let Some(reads) = &mut object.reads else { return };
        let is_known =
            |it: &Str| self.instances.contains_key(&**it) || self.resources.contains_key(&**it);
        if !reads.iter().any(is_known) {
            return;
        }
        let (single, whole): (Vec<&Str>, Vec<&Str>) =
            reads.iter().partition(|it| self.instances.contains_key(&***it));
        let mut new = places(&self.resources, whole.into_iter());
        new.extend(single.into_iter().map(|it| self.instances[&**it].clone()));
        *reads = new.into_iter().collect();
    }

    /// Returns whether OpenTofu's record of an object names what has moved.
    pub fn concern(&self, object: &Object) -> bool {
        object.dependencies.iter().any(|it| self.blocks.contains_key(&**it))
    }

    /// Returns what OpenTofu's record of an object names, as it would be now.
    pub fn dependencies(&self, object: &Object) -> BTreeSet<Str> {
        places(&self.blocks, object.dependencies.iter())
    }

    /// Returns what a name that OpenTofu recorded of an object in `module` means: the resource of the same module instance where it is
    /// in the same module, else those of every instance.
    pub fn named(&self, block: &str, module: &ModuleInstance) -> impl Iterator<Item = &Resource> {
        let all = self.by_block.get(block).into_iter().flatten();
        all.filter(move |it| it.module.module() != module.module() || it.module == *module)
    }
}

/// Notes that what has a name stands under another one, or under both.
fn moves(
    known: &mut FxHashMap<String, BTreeSet<Str>>,
    (from, to): (String, String),
    stays: impl Fn(&str) -> bool,
) {
    if from != to {
        let kept = stays(&from).then(|| Str::from(from.as_str()));
        known.entry(from).or_default().extend([to.into()].into_iter().chain(kept));
    }
}

/// Returns names, each as what it stands for now.
fn places<'a>(
    known: &FxHashMap<String, BTreeSet<Str>>,
    names: impl Iterator<Item = &'a Str>,
) -> BTreeSet<Str> {
    let mut found = BTreeSet::new();
    for name in names {
        match known.get(&**name) {
            Some(places) => found.extend(places.iter().cloned()),
            None => drop(found.insert(name.clone())),
        }
    }
    found
}

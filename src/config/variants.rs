//! Modules whose instances come from different places: one face for all of them, and each for itself.

use std::sync::Arc;

use crate::address::{InstanceKey, Module as ModuleAddr, ModuleInstance};

use super::early::StaticModule;
use super::{Config, Module};

impl Config {
    /// Adds a module where it stands. What is inside a call that is expanded before planning is one of several.
    pub(super) fn add(&mut self, place: Arc<StaticModule>) {
        let address = place.address().clone();
        self.static_modules.entry(address.clone()).or_insert_with(|| place.clone());
        if !place.is_variant() {
            self.modules.insert(address, place.module().clone());
            return;
        }
        let all = self.kinds.entry(address.clone()).or_default();
        if !all.iter().any(|it| Arc::ptr_eq(it, place.module())) {
            all.push(place.module().clone());
            let face = self.modules.entry(address).or_insert_with(|| place.module().clone());
            if !Arc::ptr_eq(face, place.module()) {
                absorb(Arc::make_mut(face), place.module());
            }
        }
        self.variants.insert(place.at().clone(), place);
    }

    /// Returns every module with its path: those that share a path one after the other.
    pub fn all(&self) -> impl Iterator<Item = (&ModuleAddr, &Arc<Module>)> {
        self.modules.iter().flat_map(|(path, face)| {
            let all = match self.kinds.get(path) {
                Some(all) => &all[..],
                None => std::slice::from_ref(face),
            };
            all.iter().map(move |it| (path, it))
        })
    }

    /// Returns every module that has a path.
    pub fn all_at(&self, path: &ModuleAddr) -> &[Arc<Module>] {
        match (self.kinds.get(path), self.modules.get(path)) {
            (Some(all), _) => all,
            (None, Some(face)) => std::slice::from_ref(face),
            (None, None) => &[],
        }
    }

    /// Returns the module of an instance. Keys that are not known, as those of stand-ins, lead to the face of all of them.
    pub fn module_of(&self, instance: &ModuleInstance) -> Option<&Arc<Module>> {
        let path = instance.module();
        if !self.kinds.contains_key(&path) {
            return self.modules.get(&path);
        }
        let mut at = ModuleInstance::default();
        let mut has_stand_in = false;
        for (name, key) in instance.0.iter() {
            let exact = at.child(name, key.clone());
            has_stand_in |= *key == InstanceKey::None && !self.variants.contains_key(&exact);
            at = match self.variants.contains_key(&exact) {
                true => exact,
                false => at.child(name, InstanceKey::None),
            };
        }
        match self.variants.get(&at) {
            Some(place) => Some(place.module()),
            None if has_stand_in => self.modules.get(&path),
            None => None,
        }
    }

    /// Returns whether some call is expanded before planning.
    pub fn has_variants(&self) -> bool {
        !self.variants.is_empty()
    }
}

/// Adds what another module has and this one has not: names that somebody may ask for.
fn absorb(face: &mut Module, other: &Module) {
    fn add<K: Ord + Clone, V: Clone>(
        to: &mut std::collections::BTreeMap<K, V>,
        from: &std::collections::BTreeMap<K, V>,
    ) {
        for (key, value) in from {
            to.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    add(&mut face.variables, &other.variables);
    add(&mut face.locals, &other.locals);
    add(&mut face.outputs, &other.outputs);
    add(&mut face.resources, &other.resources);
    add(&mut face.calls, &other.calls);
    add(&mut face.required_providers, &other.required_providers);
    add(&mut face.checks, &other.checks);
    let known = |it: &super::ProviderBlock| {
        face.providers.iter().any(|own| own.local_name() == it.local_name())
    };
    let more: Vec<_> = other.providers.iter().filter(|it| !known(it)).cloned().collect();
    face.providers.extend(more);
    face.moved.extend(other.moved.iter().cloned());
    face.removed.extend(other.removed.iter().cloned());
}

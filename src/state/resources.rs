//! The resources of a state, which its copies have in common as far as none of them changed any.
//!
//! A plan holds three copies of a state that may have a million resources, and looks up each of them several times.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::hash::BuildHasher;
use std::iter::Peekable;
use std::slice;
use std::sync::{Arc, OnceLock};

use hashbrown::hash_table::HashTable;
use rustc_hash::FxBuildHasher;

use super::{ResourceState, Shared};
use crate::address::{
    Instance, InstanceKey, Keyed, Mode, ModuleInstance, ProviderConfig, Resource, ResourceName, Str,
};

/// What stands under an address.
type Entry = (Resource, Shared<ResourceState>);

/// Resources by address, in the order of addresses. A copy costs as much as what was changed one by one.
#[derive(Clone, Default)]
pub struct Resources {
    common: Arc<Table>,
    /// What is not as in `common`; nothing where a resource is gone.
    changed: BTreeMap<Resource, Option<Shared<ResourceState>>>,
}

/// Resources that do not change, in the order of their addresses.
#[derive(Debug, Default)]
struct Table {
    all: Vec<Entry>,
    /// Positions in `all`, made when first one is searched for.
    index: OnceLock<HashTable<u32>>,
}

fn hash_of(module: &ModuleInstance, name: &ResourceName) -> u64 {
    FxBuildHasher.hash_one((module, name))
}

impl Table {
    fn place(&self, module: &ModuleInstance, name: &ResourceName) -> Option<usize> {
        if self.all.is_empty() {
            return None;
        }
        let index = self.index.get_or_init(|| {
            let hash = |it: &Resource| hash_of(&it.module, &it.resource);
            let mut index = HashTable::with_capacity(self.all.len());
            for (place, (address, _)) in self.all.iter().enumerate() {
                let again = |it: &u32| hash(&self.all[*it as usize].0);
                index.insert_unique(hash(address), place as u32, again);
            }
            index
        });
        let is_it = |it: &u32| {
            let (address, _) = &self.all[*it as usize];
            address.resource == *name && address.module == *module
        };
        index.find(hash_of(module, name), is_it).map(|it| *it as usize)
    }
}

impl Resources {
    /// Returns what stands under an address.
    pub fn get(&self, address: &Resource) -> Option<&Shared<ResourceState>> {
        self.get_near(address, u32::MAX)
    }

    /// Returns the resource of an instance.
    pub fn of(&self, instance: &Instance) -> Option<&Shared<ResourceState>> {
        self.of_near(instance, u32::MAX)
    }

    /// Returns the resource of an instance, which is likely to be the one at the place `near` of all.
    pub fn of_near(&self, instance: &Instance, near: u32) -> Option<&Shared<ResourceState>> {
        if !self.changed.is_empty() {
            return self.get_near(&instance.of(), near);
        }
        self.in_common_near((&instance.module, &instance.resource), near)
    }

    /// Returns a resource, which is likely to be the one at the place `near` of all.
    pub fn get_near(&self, address: &Resource, near: u32) -> Option<&Shared<ResourceState>> {
        match self.changed.get(address) {
            Some(changed) => changed.as_ref(),
            None => self.in_common_near((&address.module, &address.resource), near),
        }
    }

    /// Returns what the state as it was read has at a place of all, be it changed since.
    pub fn placed(&self, place: u32) -> Option<(&Resource, &Shared<ResourceState>)> {
        self.common.all.get(place as usize).map(|it| (&it.0, &it.1))
    }

    fn in_common_near(
        &self,
        (module, name): (&ModuleInstance, &ResourceName),
        near: u32,
    ) -> Option<&Shared<ResourceState>> {
        match self.common.all.get(near as usize) {
            Some((it, resource)) if it.resource == *name && it.module == *module => Some(resource),
            _ => self.in_common(module, name),
        }
    }

    fn in_common(
        &self,
        module: &ModuleInstance,
        name: &ResourceName,
    ) -> Option<&Shared<ResourceState>> {
        self.common.place(module, name).map(|it| &self.common.all[it].1)
    }

    /// Returns what stands under an address, to be changed.
    pub fn get_mut(&mut self, address: &Resource) -> Option<&mut Shared<ResourceState>> {
        // Looked for twice: what is returned cannot be let go of again.
        if self.changed.contains_key(address) {
            return self.changed.get_mut(address)?.as_mut();
        }
        let place = self.common.place(&address.module, &address.resource)?;
        if Arc::get_mut(&mut self.common).is_none() {
            let own = self.common.all[place].1.clone();
            return self.changed.entry(address.clone()).or_insert(Some(own)).as_mut();
        }
        Arc::get_mut(&mut self.common).map(|it| &mut it.all[place].1)
    }

    /// Returns whether there is such a resource.
    pub fn contains_key(&self, address: &Resource) -> bool {
        self.get(address).is_some()
    }

    /// Puts a resource under an address; returns what stood there.
    pub fn insert(
        &mut self,
        address: Resource,
        resource: Shared<ResourceState>,
    ) -> Option<Shared<ResourceState>> {
        if let Some(known) = self.get_mut(&address) {
            return Some(std::mem::replace(known, resource));
        }
        self.changed.insert(address, Some(resource));
        None
    }

    /// Returns what stands under an address; where nothing does, a resource without instances that this serves.
    pub fn served_by<P: Clone + Into<Shared<ProviderConfig>>>(
        &mut self,
        address: Resource,
        provider: &P,
    ) -> &mut Shared<ResourceState> {
        if !self.contains_key(&address) {
            let provider = provider.clone().into();
            let fresh = ResourceState { provider, instances: Keyed::new() };
            self.changed.insert(address.clone(), Some(fresh.into()));
        }
        self.get_mut(&address).expect("it is there")
    }

    /// Like [`served_by`](Resources::served_by); what is there is served by it from now on.
    pub fn now_served_by(
        &mut self,
        address: Resource,
        provider: &ProviderConfig,
    ) -> &mut Shared<ResourceState> {
        let resource = self.served_by(address, provider);
        if *resource.provider != *provider {
            resource.provider = provider.clone().into();
        }
        resource
    }

    /// Takes away what stands under an address.
    pub fn remove(&mut self, address: &Resource) -> Option<Shared<ResourceState>> {
        let gone = self.get(address)?.clone();
        match self.in_common(&address.module, &address.resource) {
            Some(_) => drop(self.changed.insert(address.clone(), None)),
            None => drop(self.changed.remove(address)),
        }
        Some(gone)
    }

    /// Keeps what `wanted` wants.
    pub fn retain(&mut self, wanted: impl Fn(&Resource, &ResourceState) -> bool) {
        let gone = self.iter().filter(|it| !wanted(it.0, it.1));
        let gone: Vec<Resource> = gone.map(|it| it.0.clone()).collect();
        gone.iter().for_each(|it| drop(self.remove(it)));
    }

    /// Returns whether there is no resource.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns addresses and what stands under them, in the order of addresses.
    pub fn iter(&self) -> Iter<'_> {
        self.part(0, self.changed.range::<Resource, _>(..))
    }

    /// Returns those whose address is no less than the given one.
    pub fn since(&self, least: &Resource) -> Iter<'_> {
        let first = self.common.all.partition_point(|it| it.0 < *least);
        self.part(first, self.changed.range(least..))
    }

    /// Returns those that stand so deep, in a module to which these steps lead and then, where it is given, one of that name.
    pub fn behind<'a>(
        &'a self,
        steps: &[(Str, InstanceKey)],
        next: Option<&Str>,
        depth: usize,
    ) -> impl Iterator<Item = (&'a Resource, &'a Shared<ResourceState>)> + use<'a> {
        // Addresses are sorted by how deep they are, then by their steps.
        let least = steps.iter().cloned().chain(next.map(|it| (it.clone(), InstanceKey::None)));
        let least = least.chain(std::iter::repeat_with(Default::default)).take(depth);
        let resource = ResourceName { mode: Mode::Ephemeral, kind: Str::new(), name: Str::new() };
        let first = Resource { module: ModuleInstance(least.collect()), resource };
        let (steps, next) = (steps.to_vec(), next.cloned());
        self.since(&first).within(move |it| {
            let path = &it.module.0;
            let goes_on = |name: &Str| path.get(steps.len()).is_some_and(|it| it.0 == *name);
            path.len() == depth && path.starts_with(&steps) && next.as_ref().is_none_or(goes_on)
        })
    }

    fn part<'a>(
        &'a self,
        first: usize,
        changed: btree_map::Range<'a, Resource, Option<Shared<ResourceState>>>,
    ) -> Iter<'a> {
        Iter { common: self.common.all[first..].iter().peekable(), changed: changed.peekable() }
    }

    /// Returns in how many modules the deepest resource stands.
    pub fn deepest(&self) -> usize {
        let depth = |it: &Resource| it.module.0.len();
        // The deepest stand last; of what is gone this may be too much.
        let common = self.common.all.last().map_or(0, |it| depth(&it.0));
        common.max(self.changed.last_key_value().map_or(0, |it| depth(it.0)))
    }

    /// Returns the addresses in order.
    pub fn keys(&self) -> impl Iterator<Item = &Resource> {
        self.iter().map(|it| it.0)
    }

    /// Returns what stands under the addresses, in their order.
    pub fn values(&self) -> impl Iterator<Item = &Shared<ResourceState>> {
        self.iter().map(|it| it.1)
    }

    /// Returns what stands under the addresses, each to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Resource, &mut Shared<ResourceState>)> {
        if !self.changed.is_empty() || Arc::get_mut(&mut self.common).is_none() {
            *self = self.iter().map(|it| (it.0.clone(), it.1.clone())).collect();
        }
        let table = Arc::get_mut(&mut self.common).expect("nobody else has it");
        table.all.iter_mut().map(|it| (&it.0, &mut it.1))
    }

    /// Returns what stands under the addresses, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Shared<ResourceState>> {
        self.iter_mut().map(|it| it.1)
    }
}

/// Addresses and what stands under them, in the order of addresses.
pub struct Iter<'a> {
    common: Peekable<slice::Iter<'a, Entry>>,
    changed: Peekable<btree_map::Range<'a, Resource, Option<Shared<ResourceState>>>>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Resource, &'a Shared<ResourceState>);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_in(&|_| true)
    }
}

impl<'a> Iter<'a> {
    /// Goes on as long as addresses are within something; what was removed behind that is not gone through.
    fn within(
        mut self,
        is_within: impl Fn(&Resource) -> bool,
    ) -> impl Iterator<Item = (&'a Resource, &'a Shared<ResourceState>)> {
        std::iter::from_fn(move || self.next_in(&is_within).filter(|it| is_within(it.0)))
    }

    fn next_in(
        &mut self,
        is_within: &impl Fn(&Resource) -> bool,
    ) -> Option<(&'a Resource, &'a Shared<ResourceState>)> {
        loop {
            let Some((address, changed)) = self.changed.peek() else {
                return self.common.next().map(|it| (&it.0, &it.1));
            };
            if let Some(first) = self.common.next_if(|it| it.0 < **address) {
                return Some((&first.0, &first.1));
            }
            if !is_within(address) {
                return None;
            }
            // What was changed stands in the place of what it was.
            self.common.next_if(|it| it.0 == **address);
            let found = changed.as_ref().map(|it| (*address, it));
            self.changed.next();
            if found.is_some() {
                return found;
            }
        }
    }
}

impl<'a> IntoIterator for &'a Resources {
    type Item = (&'a Resource, &'a Shared<ResourceState>);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<Entry> for Resources {
    /// Of several that stand under one address, the last counts.
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Resources {
        let mut all: Vec<Entry> = entries.into_iter().collect();
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all.reverse();
            all.dedup_by(|a, b| a.0 == b.0);
            all.reverse();
        }
        let common = Arc::new(Table { all, index: OnceLock::new() });
        Resources { common, changed: BTreeMap::new() }
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::address::{Module, Provider};

    fn address(name: &str) -> Resource {
        let resource = ResourceName::managed("x_thing", name);
        Resource { module: ModuleInstance::default(), resource }
    }

    /// A resource that can be told from others.
    fn made_by(alias: u8) -> Shared<ResourceState> {
        let provider = ProviderConfig {
            module: Module::default(),
            provider: Provider::implied("x"),
            alias: Some(alias.to_string().into()),
        };
        ResourceState { provider: provider.into(), instances: Keyed::new() }.into()
    }

    fn alias(resource: &ResourceState) -> u8 {
        let alias = resource.provider.alias.as_deref().expect("it was given");
        alias.parse().expect("it is a number")
    }

    fn same(resources: &Resources, tree: &BTreeMap<Resource, u8>) -> bool {
        resources.iter().map(|it| (it.0, alias(it.1))).eq(tree.iter().map(|it| (it.0, *it.1)))
            && resources.is_empty() == tree.is_empty()
    }

    fn entries() -> impl Strategy<Value = Vec<(Resource, u8)>> {
        prop::collection::vec(("[a-d]".prop_map(|it| address(&it)), any::<u8>()), 0..6)
    }

    proptest! {
        #[test]
        fn copies_are_what_copies_of_a_tree_would_be(
            first in entries(),
            steps in prop::collection::vec((0..6u8, "[a-d]".prop_map(|it| address(&it)), any::<u8>()), 0..12),
        ) {
            let made = |it: &(Resource, u8)| (it.0.clone(), made_by(it.1));
            let mut resources: Resources = first.iter().map(made).collect();
            let mut tree: BTreeMap<Resource, u8> = first.into_iter().collect();
            let mut copies = Vec::new();
            for (step, at, new) in steps {
                match step {
                    0 => copies.push((resources.clone(), tree.clone())),
                    1 => {
                        let before = resources.insert(at.clone(), made_by(new));
                        prop_assert_eq!(before.map(|it| alias(&it)), tree.insert(at, new));
                    }
                    2 => {
                        let gone = resources.remove(&at);
                        prop_assert_eq!(gone.map(|it| alias(&it)), tree.remove(&at));
                    }
                    3 => {
                        let known = resources.served_by(at.clone(), &made_by(new).provider);
                        prop_assert_eq!(alias(known), *tree.entry(at).or_insert(new));
                    }
                    4 => {
                        resources.retain(|_, it| alias(it) > new);
                        tree.retain(|_, it| *it > new);
                    }
                    _ => {
                        resources.values_mut().for_each(|it| *it = made_by(alias(it) / 2));
                        tree.values_mut().for_each(|it| *it /= 2);
                    }
                }
                if let Some(known) = resources.get_mut(&address("a")) {
                    *known = made_by(new);
                    tree.insert(address("a"), new);
                }
                copies.push((resources.clone(), tree.clone()));
                copies.truncate(3);
                for (resources, tree) in copies.iter().chain([&(resources.clone(), tree.clone())]) {
                    prop_assert!(same(resources, tree));
                    for name in ["a", "b", "c", "d", "e"] {
                        let at = address(name);
                        prop_assert_eq!(resources.get(&at).map(|it| alias(it)), tree.get(&at).copied());
                        let since = resources.since(&at).map(|it| it.0);
                        prop_assert!(since.eq(tree.range(&at..).map(|it| it.0)));
                    }
                }
            }
        }
    }
}

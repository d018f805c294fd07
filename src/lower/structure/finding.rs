//! How resources are found by their addresses, and module instances by what they are instances of.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use super::{ModuleId, ModuleNode, ResourceId, ResourceNode, Structure};
use crate::address::{Module, ModuleInstance, Resource, ResourceNameRef};
use crate::config::{Config, Variant};
use crate::syntax::Near;
use crate::value::Str;

/// Where the last resource was found that somebody asked for.
#[derive(Debug, Default)]
pub struct Nearby {
    module: Option<ModuleId>,
    /// Where the block stands behind that of the last one.
    place: usize,
}

fn hash_of(module: &ModuleInstance, name: ResourceNameRef<'_>) -> u64 {
    FxBuildHasher.hash_one((module, name))
}

fn hash_of_module(address: &ModuleInstance) -> u64 {
    FxBuildHasher.hash_one(address)
}

fn hash_of_resource(it: &ResourceNode) -> u64 {
    hash_of(&it.address.module, it.address.resource.as_ref())
}

impl Structure {
    /// Returns the resource of that address.
    pub fn resource_id(&self, address: &Resource) -> Option<ResourceId> {
        self.find(&address.module, address.resource.as_ref(), &mut Nearby::default())
    }

    /// Returns the resource of that address, for who asks for one after the other in the order of addresses.
    pub fn resource_near(&self, address: &Resource, near: &mut Nearby) -> Option<ResourceId> {
        let Resource { module, resource: name } = address;
        self.find(module, name.as_ref(), near)
    }

    /// Returns the resource of that name in a module instance, where it has a block.
    pub fn resource_in(&self, module: ModuleId, name: ResourceNameRef<'_>) -> Option<ResourceId> {
        self.resource_named(module, name, &Near::default())
    }

    /// Returns the resource that a reference in a module instance names, where it has a block.
    pub fn resource_named(
        &self,
        module: ModuleId,
        name: ResourceNameRef<'_>,
        near: &Near,
    ) -> Option<ResourceId> {
        let mut behind = near.place();
        let found = self.placed(module, name, &mut behind);
        if found.is_some() {
            near.found_at(behind - 1);
        }
        let apart = || self.find(&self.module(module).address, name, &mut Nearby::default());
        let found = found.or_else(apart)?;
        self.resource(found).declared.then_some(found)
    }

    fn find(
        &self,
        module: &ModuleInstance,
        name: ResourceNameRef<'_>,
        near: &mut Nearby,
    ) -> Option<ResourceId> {
        // Of a module that another one took the place of, nothing has a place any more.
        let is_it = |it: &ModuleId| {
            let known = self.modules.get(it.index());
            known.is_some_and(|it| it.address == *module && !it.places.is_empty())
        };
        let (last, next) = (near.module, near.module.map(|it| ModuleId(it.0 + 1)));
        let nearby = last.filter(is_it).or_else(|| next.filter(is_it));
        near.module = nearby.or_else(|| self.module_id(module));
        let placed = near.module.and_then(|it| self.placed(it, name, &mut near.place));
        placed.or_else(|| self.find_apart(module, name))
    }

    /// The resource at the place that the block of that name has in its module; `near` is behind it then.
    fn placed(
        &self,
        module: ModuleId,
        name: ResourceNameRef<'_>,
        near: &mut usize,
    ) -> Option<ResourceId> {
        let module = self.module(module);
        if module.places.is_empty() {
            return None;
        }
        let (place, _) = module.config.resources.get_near(*near, name)?;
        *near = place + 1;
        module.places.get(place)
    }

    pub(super) fn find_apart(
        &self,
        module: &ModuleInstance,
        name: ResourceNameRef<'_>,
    ) -> Option<ResourceId> {
        if self.by_address.is_empty() {
            return None;
        }
        let is_it = |it: &ResourceId| {
            let address = &self.resource(*it).address;
            address.resource == name && address.module == *module
        };
        self.by_address.find(hash_of(module, name), is_it).copied()
    }

    /// Returns the module instance of that address, the one that was made last.
    pub fn module_id(&self, address: &ModuleInstance) -> Option<ModuleId> {
        let is_it = |it: &ModuleId| self.module(*it).address == *address;
        self.by_module.find(hash_of_module(address), is_it).copied()
    }

    /// Returns the module instance around another one that is so many calls below the root.
    pub fn outer_module(&self, inner: ModuleId, depth: usize) -> ModuleId {
        let mut at = inner;
        while self.module(at).path.0.len() > depth
            && let Some((caller, _)) = self.module(at).parent
        {
            at = caller;
        }
        at
    }

    /// Returns the module instances that are found by their addresses.
    pub fn known_modules(&self) -> impl Iterator<Item = &ModuleNode> {
        self.by_module.iter().map(|it| self.module(*it))
    }

    /// Returns the known instances of a module, the root among them; those whose keys are not known are left out.
    pub fn instances_of(&self, path: &[Str]) -> impl Iterator<Item = ModuleId> {
        let numbered = (0..).map(ModuleId).zip(&self.modules);
        let is_it = move |it: &(ModuleId, &ModuleNode)| !it.1.pending && *it.1.path.0 == *path;
        // There may be very many, and nearly always the root is asked for.
        let count = if path.is_empty() { 1 } else { self.modules.len() };
        numbered.take(count).filter(is_it).map(|it| it.0)
    }

    /// Lets a module instance be found by its address, and returns the one that was found by it before.
    pub(super) fn know_module(&mut self, id: ModuleId) -> Option<ModuleId> {
        let address = |it: &ModuleId| &self.modules[it.index()].address;
        let is_it = |it: &ModuleId| address(it) == address(&id);
        let hash = |it: &ModuleId| hash_of_module(address(it));
        match self.by_module.entry(hash(&id), is_it, hash) {
            Entry::Occupied(mut known) => Some(std::mem::replace(known.get_mut(), id)),
            Entry::Vacant(free) => {
                free.insert(id);
                None
            }
        }
    }

    /// Lets a resource be found by its address.
    pub(super) fn know(&mut self, id: ResourceId) {
        let resources = &self.resources;
        let hash = |it: &ResourceId| hash_of_resource(&resources[it.index()]);
        self.by_address.insert_unique(hash(&id), id, hash);
    }

    /// Returns the first instance of a module, wherever its source is.
    pub fn first_at(&self, path: &Module) -> Option<ModuleId> {
        self.first(|it| it.path == *path)
    }

    /// Returns the first instance of a module that is one of several of its path.
    pub fn first_of(&self, config: &Config, variant: &Variant) -> Option<ModuleId> {
        self.first(|it| {
            it.path == variant.path && config.variant_of(&it.address).as_ref() == Some(variant)
        })
    }

    fn first(&self, is_it: impl Fn(&ModuleNode) -> bool) -> Option<ModuleId> {
        self.modules.iter().position(is_it).map(|it| ModuleId(it as u32))
    }
}

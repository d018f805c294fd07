//! The blocks that are declared, and how they are found by their names.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{BlockGraph, BlockKey, BlockNode, VariantId};
use crate::config;

impl BlockNode<'_> {
    fn is(self, module: VariantId, key: &BlockKey) -> bool {
        *self.key == *key && self.module == module
    }
}

fn hash_of(module: VariantId, key: &BlockKey) -> u64 {
    FxBuildHasher.hash_one((module, key))
}

impl BlockGraph {
    /// Adds the blocks of a module.
    ///
    /// - `written`: where the keys of each folder begin that was met before.
    pub(super) fn declare(
        &mut self,
        id: VariantId,
        module: &Arc<config::Module>,
        written: &mut FxHashMap<*const config::Module, u32>,
    ) {
        let first = *written.entry(Arc::as_ptr(module)).or_insert_with(|| {
            let keys = (module.variables.keys().cloned().map(BlockKey::Variable))
                .chain(module.locals.keys().cloned().map(BlockKey::Local))
                .chain(module.outputs.keys().cloned().map(BlockKey::Output))
                .chain(module.resources.keys().cloned().map(BlockKey::Resource))
                .chain(module.calls.keys().cloned().map(BlockKey::Call))
                .chain(module.providers.iter().map(provider_key))
                .chain(module.checks.keys().cloned().map(BlockKey::Check));
            let first = self.keys.len();
            self.keys.reserve_exact(module.block_count());
            self.keys.extend(keys);
            first as u32
        });
        (first..first + module.block_count() as u32).for_each(|it| self.add(id, it));
    }

    /// Adds a block whose key stands at a place.
    pub(super) fn add(&mut self, module: VariantId, place: u32) {
        let (keys, blocks) = (&self.keys, &self.blocks);
        let key = &keys[place as usize];
        let found = |it: &u32| {
            let (module, key) = blocks[*it as usize];
            BlockNode { module, key: &keys[key as usize] }
        };
        let hash_again = |it: &u32| hash_of(found(it).module, found(it).key);
        let is_it = |it: &u32| found(it).is(module, key);
        if let Entry::Vacant(free) = self.index.entry(hash_of(module, key), is_it, hash_again) {
            free.insert(blocks.len() as u32);
        }
        self.blocks.push((module, place));
    }

    /// Returns the number of a block.
    pub fn find(&self, module: VariantId, key: &BlockKey) -> Option<usize> {
        let is_it = |it: &u32| self.block(*it as usize).is(module, key);
        self.index.find(hash_of(module, key), is_it).map(|it| *it as usize)
    }
}

fn provider_key(block: &config::ProviderBlock) -> BlockKey {
    BlockKey::Provider(block.name.text.clone(), block.alias.as_ref().map(|it| it.text.clone()))
}

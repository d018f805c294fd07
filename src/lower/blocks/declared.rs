//! The blocks that are declared, and how they are found by their names.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::hash_table::{Entry, HashTable};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{BlockGraph, BlockKey, ModuleCode, VariantId};
use crate::config;
use crate::value::Str;

/// Where the keys stand by which blocks of a folder are found that its module has no place of its own for.
///
/// All that call one folder share its keys, so that this grows with what is written, not with who calls it.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyIndex {
    /// Where the keys of a folder begin, and where the key stands.
    places: HashTable<(u32, u32)>,
    /// The blocks of everything inside of a call.
    inside: FxHashMap<(VariantId, Str), u32>,
}

fn hash_of(folder: u32, key: &BlockKey) -> u64 {
    FxBuildHasher.hash_one((folder, key))
}

impl KeyIndex {
    /// Notes where a key of a folder stands: of several that are the same, the first counts.
    fn note(&mut self, folder: u32, place: u32, keys: &[BlockKey]) {
        let key = &keys[place as usize];
        let is_it = |it: &(u32, u32)| it.0 == folder && keys[it.1 as usize] == *key;
        let hash_again = |it: &(u32, u32)| hash_of(it.0, &keys[it.1 as usize]);
        if let Entry::Vacant(free) = self.places.entry(hash_of(folder, key), is_it, hash_again) {
            free.insert((folder, place));
        }
    }
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
            let first = self.keys.len() as u32;
            self.keys.reserve_exact(module.block_count());
            self.keys.extend(keys);
            for place in first..self.keys.len() as u32 {
                // The module itself knows the places of these.
                if !matches!(self.keys[place as usize], BlockKey::Resource(_) | BlockKey::Call(_)) {
                    self.index.note(first, place, &self.keys);
                }
            }
            first
        });
        self.blocks.extend((first..first + module.block_count() as u32).map(|it| (id, it)));
    }

    /// Adds the block of everything inside of a call.
    pub(super) fn add_inside(&mut self, module: VariantId, call: &Str) -> usize {
        let number = self.count();
        self.index.inside.insert((module, call.clone()), number as u32);
        self.blocks.push((module, self.keys.len() as u32));
        self.keys.push(BlockKey::Inside(call.clone()));
        number
    }

    /// Returns the number of a block.
    pub fn find(&self, module: VariantId, key: &BlockKey) -> Option<usize> {
        let code = &self.modules[module];
        match key {
            BlockKey::Resource(name) => {
                let place = code.config.resources.position(name.as_ref())?;
                Some(code.first_resource() + place)
            }
            BlockKey::Call(name) => code.call(name),
            BlockKey::Inside(call) => {
                self.index.inside.get(&(module, call.clone())).map(|it| *it as usize)
            }
            _ => self.find_noted(code, key),
        }
    }

    fn find_noted(&self, code: &ModuleCode, key: &BlockKey) -> Option<usize> {
        let blocks = code.blocks();
        let (_, folder) = *self.blocks.get(blocks.clone())?.first()?;
        let is_it = |it: &(u32, u32)| it.0 == folder && self.keys[it.1 as usize] == *key;
        let (_, place) = self.index.places.find(hash_of(folder, key), is_it)?;
        Some(blocks.start + (place - folder) as usize)
    }
}

fn provider_key(block: &config::ProviderBlock) -> BlockKey {
    BlockKey::Provider(block.name.text.clone(), block.alias.as_ref().map(|it| it.text.clone()))
}

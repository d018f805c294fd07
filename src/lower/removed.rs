//! Which `removed` blocks are about an object.

use rustc_hash::FxHashMap;

use crate::address::{Instance, Module, ModuleInstance, ResourceName};
use crate::config::{Config, MoveEndpoint, Removed, Variant};

/// Every `removed` block with its module, found by what it names.
pub struct RemovedBlocks<'a> {
    config: &'a Config,
    /// All of them, in order.
    all: Vec<(Variant, &'a Removed)>,
    /// Their positions: by the module, and the resource in it where one is named.
    by_name: FxHashMap<(Module, Option<ResourceName>), Vec<usize>>,
}

impl<'a> RemovedBlocks<'a> {
    /// Collects the blocks of a configuration.
    pub fn of(config: &'a Config) -> RemovedBlocks<'a> {
        let modules = config.all_variants();
        let all =
            modules.flat_map(|(of, module)| module.removed.iter().map(move |it| (of.clone(), it)));
        let all: Vec<(Variant, &Removed)> = all.collect();
        let mut by_name: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (at, (of, block)) in all.iter().enumerate() {
            let (within, resource) = match &block.from.0 {
                MoveEndpoint::Module(it) => (it.module(), None),
                MoveEndpoint::Resource(it) => (it.module.module(), Some(it.resource.clone())),
            };
            let path = of.path.0.iter().chain(within.0.iter()).cloned().collect();
            by_name.entry((Module(path), resource)).or_default().push(at);
        }
        RemovedBlocks { config, all, by_name }
    }

    /// Returns the blocks that are about an instance, in order.
    pub fn about(&self, instance: &Instance) -> Vec<&'a Removed> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let own = instance.module.module();
        let around = (1..=own.0.len()).map(|it| (Module(own.0[..it].into()), None));
        let itself = (own.clone(), Some(instance.resource.clone()));
        let found = around.chain([itself]).filter_map(|it| self.by_name.get(&it));
        let mut found: Vec<usize> = found.flatten().copied().collect();
        found.sort_unstable();
        let speaking = found.into_iter().filter(|it| self.speaks_for(&self.all[*it].0, instance));
        speaking.map(|it| self.all[it].1).collect()
    }

    /// A source speaks for its own instances, and for those that are no source's any more.
    fn speaks_for(&self, of: &Variant, instance: &Instance) -> bool {
        let around = instance.module.0.get(..of.path.0.len()).unwrap_or_default();
        !self.config.kinds.contains_key(&of.path)
            || self.config.variant_of(&ModuleInstance(around.into())).is_none_or(|it| it == *of)
    }
}

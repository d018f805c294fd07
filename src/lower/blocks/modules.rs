//! The modules of a configuration, numbered: what is said of a module is said of its number, for its path may be long.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::hash_table::HashTable;
use rustc_hash::FxBuildHasher;

use crate::config::{self, Config, Variant};
use crate::lists::Lists;

/// The number of a module. Each stands behind the one that calls it; the root is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariantId(pub u32);

impl VariantId {
    /// The root module.
    pub const ROOT: VariantId = VariantId(0);

    /// Returns the position among all modules.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A module.
#[derive(Clone, Debug)]
pub struct ModuleCode {
    /// Its path and, where that has several, which of them it is.
    pub variant: Variant,
    /// What is written in it.
    pub config: Arc<config::Module>,
    /// The module that calls it, and the number of the block that does; nothing for the root.
    pub caller: Option<(VariantId, u32)>,
    /// The number of its first block. All that are declared in it stand there, by their kinds.
    pub(super) first: u32,
    /// How many calls there are in the modules before it.
    calls_before: u32,
}

impl ModuleCode {
    /// Returns the number of its first resource block, behind which its others stand in their order.
    pub fn first_resource(&self) -> usize {
        let it = &self.config;
        self.first as usize + it.variables.len() + it.locals.len() + it.outputs.len()
    }

    /// Returns the number of the block of its first call, behind which its others stand in their order.
    pub fn first_call(&self) -> usize {
        self.first_resource() + self.config.resources.len()
    }

    /// Returns the number of the block of a call.
    pub fn call(&self, name: &str) -> Option<usize> {
        self.config.calls.position(name).map(|it| self.first_call() + it)
    }

    /// Returns the number of the block of a call that is likely to stand at a place among its calls.
    pub fn call_near(&self, name: &str, near: usize) -> Option<usize> {
        self.config.calls.get_near(near, name).map(|it| self.first_call() + it.0)
    }

    /// Returns what is written as a call, by the number of its block.
    pub fn written_call(&self, block: usize) -> Option<&config::ModuleCall> {
        self.config.calls.at(block - self.first_call()).map(|it| &**it)
    }

    /// Returns the numbers of the blocks of its calls.
    pub(super) fn calls(&self) -> std::ops::Range<usize> {
        self.first_call()..self.first_call() + self.config.calls.len()
    }

    /// Returns the numbers of all its blocks.
    pub(super) fn blocks(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.config.block_count()
    }
}

/// The modules of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    all: Vec<ModuleCode>,
    /// The number of each: numbers alone, for what they are stands in the list.
    index: HashTable<u32>,
    /// The modules to which each call leads, calls counted one after the other.
    called: Lists<u32>,
}

fn hash_of(variant: &Variant) -> u64 {
    FxBuildHasher.hash_one(variant)
}

impl Modules {
    /// Returns the modules of a configuration without their callers. Their blocks are numbered in the same order.
    pub(super) fn of(config: &Config) -> Modules {
        let mut modules = Modules::default();
        let (mut first, mut calls_before) = (0, 0);
        for (variant, config) in config.all_variants() {
            let (blocks, calls) = (config.block_count() as u32, config.calls.len() as u32);
            let config = config.clone();
            modules.all.push(ModuleCode { variant, config, caller: None, first, calls_before });
            first += blocks;
            calls_before += calls;
        }
        let Modules { all, index, .. } = &mut modules;
        index.reserve(all.len(), |_| 0);
        for (number, it) in (0..).zip(&*all) {
            index.insert_unique(hash_of(&it.variant), number, |at| {
                hash_of(&all[*at as usize].variant)
            });
        }
        modules
    }

    /// Notes by which block each module is called.
    pub(super) fn connect(&mut self, config: &Config) {
        // Those that one module calls come in the order of its calls.
        let mut near = 0;
        let mut caller = |it: &ModuleCode| {
            let (caller, call) = config.caller(&it.variant)?;
            let caller = self.number(&caller)?;
            let block = self[caller].call_near(&call, near)?;
            near = block + 1 - self[caller].first_call();
            Some((caller, block as u32))
        };
        let callers: Vec<_> = self.all.iter().map(&mut caller).collect();
        self.all.iter_mut().zip(callers).for_each(|(it, caller)| it.caller = caller);
        let called = (0..).zip(&self.all).filter_map(|(number, it)| {
            let (caller, block) = it.caller?;
            Some((self.count_of_call(caller, block as usize), number))
        });
        self.called = Lists::of(called);
    }

    fn count_of_call(&self, caller: VariantId, block: usize) -> u32 {
        let caller = &self[caller];
        caller.calls_before + (block - caller.first_call()) as u32
    }

    /// Returns the number of a module.
    pub fn number(&self, variant: &Variant) -> Option<VariantId> {
        let is_it = |it: &u32| self.all[*it as usize].variant == *variant;
        self.index.find(hash_of(variant), is_it).map(|it| VariantId(*it))
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns all modules with their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (VariantId, &ModuleCode)> {
        (0..).map(VariantId).zip(&self.all)
    }

    /// Returns the numbers of the modules of each path, in order: of all but few there is one.
    pub fn by_path(&self) -> impl Iterator<Item = std::ops::Range<u32>> {
        let mut at = 0;
        self.all.chunk_by(|one, other| one.variant.path == other.variant.path).map(move |it| {
            let first = at;
            at += it.len() as u32;
            first..at
        })
    }

    /// Returns whether a module is another one, or is called in it.
    pub fn is_within(&self, mut module: VariantId, outer: VariantId) -> bool {
        // Whoever calls a module stands before it.
        while module > outer
            && let Some((caller, _)) = self[module].caller
        {
            module = caller;
        }
        module == outer
    }

    /// Returns the modules to which a call leads, given by the number of its block: several where its instances come from different
    /// places.
    pub fn called(&self, caller: VariantId, block: usize) -> impl Iterator<Item = VariantId> {
        self.called.get(self.count_of_call(caller, block)).iter().map(|it| VariantId(*it))
    }

    /// Returns the call that leads to a module; nothing for the root.
    pub fn call(&self, module: VariantId) -> Option<&config::ModuleCall> {
        let (caller, block) = self[module].caller?;
        self[caller].written_call(block as usize)
    }
}

impl std::ops::Index<VariantId> for Modules {
    type Output = ModuleCode;

    fn index(&self, id: VariantId) -> &ModuleCode {
        &self.all[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::config::tests::{folder, load_folder};
    use crate::diagnostic::Sources;
    use crate::lower::blocks::BlockGraph;

    #[test]
    fn who_calls_a_module_leads_to_it() {
        let folder = folder(
            r#"
            -- main.tf --
            variable "v" { default = 1 }
            resource "terraform_data" "r" {}
            module "a" { source = "./m" }
            module "b" { source = "./m" }
            -- m/main.tf --
            locals { l = 1 }
            resource "terraform_data" "r" {}
            module "deep" { source = "../deep" }
            -- deep/main.tf --
            resource "terraform_data" "r" {}
            "#,
        );
        let (config, _) = load_folder(folder.path(), &Sources::default());
        let config = config.expect("a configuration");
        let graph = BlockGraph::of(crate::reason::ENGINES[0], &config);
        let modules = &graph.modules;
        let mut told = Vec::new();
        for (id, module) in modules.iter() {
            assert_eq!(modules.number(&module.variant), Some(id));
            assert!(module.blocks().all(|it| graph.block(it).module == id));
            let resources = module.first_resource()..module.first_resource() + 1;
            assert!(resources.clone().all(|it| graph.resource(it).is_some()), "{resources:?}");
            let Some((caller, call)) = module.caller else { continue };
            assert!(modules.called(caller, call as usize).any(|it| it == id));
            assert!(caller < id && modules.is_within(id, caller) && !modules.is_within(caller, id));
            told.push(format!("{} by {}", module.variant.path, graph.name(call as usize)));
        }
        expect![[r#"
            module.a by module.a (expand)
            module.b by module.b (expand)
            module.a.module.deep by module.a.module.deep (expand)
            module.b.module.deep by module.b.module.deep (expand)"#]]
        .assert_eq(&told.join("\n"));
        assert!(modules.by_path().eq((0..5).map(|it| it..it + 1)));
    }
}

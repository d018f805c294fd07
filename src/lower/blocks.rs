//! The blocks of the whole configuration and what each refers to: the graph before anything is expanded.
//!
//! It gives the order in which structure is traced, and the resource-level dependencies that OpenTofu records in the state.
//! Blocks that wait for each other are the subject of `config/check/cycles.rs`.

use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use hashbrown::hash_table::{Entry, HashTable};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::serving::Configured;
use super::structure::{ResourceNode, Structure};
use crate::address::{ConfigResource, Module, ProviderConfig, Resource, ResourceName};
use crate::config::serving::BlocksServed;
use crate::config::{self, Config, Variant};
use crate::diagnostic::Span;
use crate::lists::Lists;
use crate::reason::Engine;
use crate::value::Str;

mod circles;
mod connect;
mod inside;

pub use circles::Circles;
use connect::Builder;

/// The most `dependencies` that are recorded transitively; beyond that, the nearest ones only.
pub const MOST_DEPENDENCIES: usize = 256;

/// What a block is, within its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKey {
    /// `variable`
    Variable(Str),
    /// One name of `locals`
    Local(Str),
    /// `output`
    Output(Str),
    /// `resource`, `data`, `ephemeral`
    Resource(ResourceName),
    /// `module`: its repetition and what hangs on it.
    Call(Str),
    /// `provider`: local name and alias.
    Provider(Str, Option<Str>),
    /// `check`
    Check(Str),
    /// Everything inside of what a `module` calls, which the `depends_on` of some block names: it refers to all of that, and
    /// whoever depends on it to this alone.
    Inside(Str),
}

/// A block: where it stands, what it is, what it refers to.
#[derive(Clone, Debug)]
pub struct BlockNode {
    /// The module.
    pub module: Variant,
    /// What it is.
    pub key: BlockKey,
    /// The blocks it refers to, with the place of the reference; each target once.
    pub edges: Vec<(usize, Span)>,
}

impl BlockNode {
    fn is(&self, module: &Variant, key: &BlockKey) -> bool {
        self.key == *key && self.module == *module
    }

    fn hash(&self) -> u64 {
        hash_of(&self.module, &self.key)
    }
}

fn hash_of(module: &Variant, key: &BlockKey) -> u64 {
    FxBuildHasher.hash_one((module, key))
}

/// All blocks of a configuration.
#[derive(Clone, Debug, Default)]
pub struct BlockGraph {
    /// The blocks, in no particular order.
    pub blocks: Vec<BlockNode>,
    /// What the configuration says of providers, and who serves which block.
    pub configured: Configured,
    /// The circles of blocks that were opened: none, unless somebody asks for it.
    pub circles: Circles,
    /// How many are declared. Behind them stand those of everything inside a module.
    declared: usize,
    /// The modules that a block refers to as a whole, or by keys that are not written out. It reads only their outputs, and
    /// OpenTofu records that it rests on everything inside.
    wholes: FxHashMap<usize, Vec<Variant>>,
    /// The outputs of calls that `depends_on` names.
    depended_on: FxHashMap<(Variant, Str), BTreeSet<Str>>,
    /// The first block of each name: numbers alone, for the names stand in the blocks.
    index: HashTable<u32>,
    /// The first resource block of each module, behind which its others stand in their order.
    first_resource: FxHashMap<Variant, usize>,
    /// The callers of modules that share a path with others, by their numbers.
    callers: FxHashMap<Module, Vec<u32>>,
    /// What tells such modules apart.
    sources: FxHashMap<Variant, String>,
    /// Of each block, whether it is a resource that reads just the blocks it refers to, all of each, whatever the values are.
    plain: Vec<bool>,
    names: OnceLock<Vec<Option<(u32, Str)>>>,
    sorted: OnceLock<Option<Arc<[usize]>>>,
}

impl BlockGraph {
    /// Builds the graph. Undeclared references are left to the configuration's own checks.
    pub fn of(engine: &dyn Engine, config: &Config) -> BlockGraph {
        BlockGraph::unconnected(engine, config).connected(config)
    }

    /// Returns the blocks, and who serves them, before what they refer to is searched for.
    pub fn unconnected(engine: &dyn Engine, config: &Config) -> BlockGraph {
        let mut graph = BlockGraph::default();
        // An index that grows hashes all the names again each time.
        let blocks = config.all_variants().map(|it| it.1.block_count()).sum();
        graph.blocks.reserve_exact(blocks);
        graph.index.reserve(blocks, |_| 0);
        for (variant, module) in config.all_variants() {
            graph.sources.extend(config.source_text(&variant).map(|it| (variant.clone(), it)));
            graph.declare(&variant, module);
        }
        graph.declared = graph.blocks.len();
        let callers = config.kinds.iter();
        let callers = callers.map(|(path, all)| (path.clone(), all.iter().map(|it| it.caller)));
        graph.callers = callers.map(|(path, all)| (path, all.collect())).collect();
        graph.configured = Configured::of(engine, config, &graph);
        graph
    }

    /// Draws the edges.
    pub fn connected(mut self, config: &Config) -> BlockGraph {
        let mut start = 0;
        self.plain = vec![false; self.blocks.len()];
        for (variant, module) in config.all_variants() {
            let own = self.blocks[start..].iter().take_while(|it| it.module == variant).count();
            let mut builder = Builder { graph: &mut self, config, variant: &variant, module };
            builder.connect(start..start + own);
            start += own;
        }
        for block in self.blocks.iter_mut().filter(|it| !it.edges.is_empty()) {
            each_once(&mut block.edges);
            block.edges.shrink_to_fit();
        }
        self
    }

    /// Returns who serves the resource blocks, for the checks of the configuration.
    pub fn blocks_served(&self) -> BlocksServed {
        self.configured.blocks(self)
    }

    fn declare(&mut self, variant: &Variant, module: &config::Module) {
        let before = module.variables.len() + module.locals.len() + module.outputs.len();
        self.first_resource.insert(variant.clone(), self.blocks.len() + before);
        let keys = (module.variables.keys().cloned().map(BlockKey::Variable))
            .chain(module.locals.keys().cloned().map(BlockKey::Local))
            .chain(module.outputs.keys().cloned().map(BlockKey::Output))
            .chain(module.resources.keys().cloned().map(BlockKey::Resource))
            .chain(module.calls.keys().cloned().map(BlockKey::Call))
            .chain(module.providers.iter().map(provider_key))
            .chain(module.checks.keys().cloned().map(BlockKey::Check));
        keys.for_each(|it| self.add(variant, it));
    }

    fn add(&mut self, variant: &Variant, key: BlockKey) {
        let (hash, blocks) = (hash_of(variant, &key), &self.blocks);
        let is_it = |it: &u32| blocks[*it as usize].is(variant, &key);
        let hash_again = |it: &u32| blocks[*it as usize].hash();
        if let Entry::Vacant(free) = self.index.entry(hash, is_it, hash_again) {
            free.insert(blocks.len() as u32);
        }
        self.blocks.push(BlockNode { module: variant.clone(), key, edges: Vec::new() });
    }

    /// Returns the resource blocks of a module, in the order in which the module has them.
    pub fn resources_of(&self, module: &Variant) -> std::ops::RangeFrom<usize> {
        self.first_resource.get(module).copied().unwrap_or_default()..
    }

    /// Returns the place of a resource block among those of its module.
    pub fn place(&self, block: usize) -> usize {
        block.saturating_sub(self.resources_of(&self.blocks[block].module).start)
    }

    /// Returns the blocks that a block reads, each as a whole, and where it names them: nothing where that depends on values.
    pub fn plain_reads(&self, block: usize) -> Option<&[(usize, Span)]> {
        self.plain.get(block)?.then(|| &self.blocks[block].edges[..])
    }

    /// Returns the number of a block.
    pub fn find(&self, module: &Variant, key: BlockKey) -> Option<usize> {
        let is_it = |it: &u32| self.blocks[*it as usize].is(module, &key);
        self.index.find(hash_of(module, &key), is_it).map(|it| *it as usize)
    }

    /// Returns the block of a resource. Where no source has an instance of that key any more, that is the block which the
    /// same configuration serves as made the objects: one that another serves is that of another source.
    ///
    /// - `made_by`: what the state says, or who serves it. Where that is not known, or gone, the first of that name counts.
    fn find_resource(
        &self,
        config: &Config,
        address: &Resource,
        made_by: Option<&ProviderConfig>,
    ) -> Option<usize> {
        let key = || BlockKey::Resource(address.resource.clone());
        if let Some(variant) = config.variant_of(&address.module) {
            return self.find(&variant, key());
        }
        let all = config.variants_at(&address.module.module());
        let all: Vec<usize> = all.filter_map(|it| self.find(&it.0, key())).collect();
        match made_by.filter(|it| self.configured.has(it)) {
            Some(made_by) => all
                .into_iter()
                .find(|it| self.configured.serves(*it).is_some_and(|it| **it.config == *made_by)),
            None => all.first().copied(),
        }
    }

    /// Returns the block of a resource; where its module instance is gone, that which is served as its objects were made.
    pub fn block_of(&self, config: &Config, resource: &ResourceNode) -> Option<usize> {
        let ResourceNode { address, provider, .. } = resource;
        let find = || self.find_resource(config, address, provider.as_deref());
        resource.number.map(|it| it as usize).or_else(find)
    }

    /// Returns the block of the resource at an address, whose objects may be made by whom the structure says.
    pub fn block_at(
        &self,
        config: &Config,
        structure: &Structure,
        address: &Resource,
    ) -> Option<usize> {
        match structure.resource_id(address) {
            Some(id) => self.block_of(config, structure.resource(id)),
            None => self.find_resource(config, address, None),
        }
    }

    /// Returns what is written as a resource block.
    pub fn written<'c>(&self, config: &'c Config, block: usize) -> Option<&'c config::Resource> {
        let BlockNode { module, key, .. } = &self.blocks[block];
        let BlockKey::Resource(_) = key else { return None };
        let place = block - self.resources_of(module).start;
        config.variant(module)?.resources.at(place).map(|it| &**it)
    }

    /// Returns the blocks so that each stands behind everything it refers to; nothing where some wait for each other, which
    /// the configuration's own check tells.
    pub fn sorted(&self) -> Option<Arc<[usize]>> {
        self.sorted.get_or_init(|| self.in_order()).clone()
    }

    fn in_order(&self) -> Option<Arc<[usize]>> {
        let mut waiting: Vec<usize> = self.blocks.iter().map(|it| it.edges.len()).collect();
        let edges = self.blocks.iter().enumerate();
        let edges = edges.flat_map(|(user, it)| it.edges.iter().map(move |it| (it.0 as u32, user)));
        let users = Lists::of(edges);
        let mut sorted: Vec<usize> = (0..waiting.len()).filter(|&it| waiting[it] == 0).collect();
        let mut at = 0;
        while at < sorted.len() {
            for &user in users.get(sorted[at] as u32) {
                waiting[user] -= 1;
                if waiting[user] == 0 {
                    sorted.push(user);
                }
            }
            at += 1;
        }
        (sorted.len() == self.blocks.len()).then(|| sorted.into())
    }

    /// Returns the name of a block as drawings of the graph write it.
    pub fn name(&self, block: usize) -> String {
        let BlockNode { module: variant, key, .. } = &self.blocks[block];
        let name = match key {
            BlockKey::Variable(name) => format!("var.{name}"),
            BlockKey::Local(name) => format!("local.{name} (expand)"),
            BlockKey::Output(name) => format!("output.{name} (expand)"),
            BlockKey::Resource(name) => format!("{name} (expand)"),
            BlockKey::Call(name) => format!("module.{name} (expand)"),
            BlockKey::Provider(name, None) => format!("provider.{name}"),
            BlockKey::Provider(name, Some(alias)) => {
                format!("provider.{}", config::provider::local_name(name, Some(alias)))
            }
            BlockKey::Check(name) => format!("check.{name}"),
            BlockKey::Inside(name) => format!("module.{name} (everything inside)"),
        };
        let module = &variant.path;
        let name = if module.is_root() { name } else { format!("{module}.{name}") };
        self.told_apart(variant, name)
    }

    /// Returns the name of something in a module, with the source where the path of the module has several.
    pub fn told_apart(&self, module: &Variant, name: String) -> String {
        match (self.sources.get(module), name.strip_suffix(')')) {
            (None, _) => name,
            (Some(source), Some(open)) => format!("{open}, {source})"),
            (Some(source), None) => format!("{name} ({source})"),
        }
    }

    /// Returns the resources that a resource block rests on, as OpenTofu records them: every one it refers to, directly
    /// or through anything, up to [`MOST_DEPENDENCIES`]; beyond that only the nearest ones. Sorted by text.
    pub fn dependencies(&self, start: usize) -> Vec<Str> {
        let all = self.search(start, Some(MOST_DEPENDENCIES), true, |_| true);
        let blocks = all.unwrap_or_else(|| self.nearest_resources(start));
        if blocks.is_empty() {
            return Vec::new();
        }
        let known = self.resource_names();
        let mut names: Vec<&(u32, Str)> =
            blocks.into_iter().filter_map(|it| known[it].as_ref()).collect();
        names.sort_unstable_by_key(|it| it.0);
        names.dedup_by(|a, b| a.1 == b.1);
        names.into_iter().map(|it| it.1.clone()).collect()
    }

    /// The name of each block that is a resource, with its place among all of them: every name is made once.
    fn resource_names(&self) -> &[Option<(u32, Str)>] {
        self.names.get_or_init(|| {
            let name = |block: usize| Some((block, Str::from(self.resource(block)?.to_string())));
            let mut sorted: Vec<(usize, Str)> = (0..self.blocks.len()).filter_map(name).collect();
            sorted.sort_unstable_by(|a, b| a.1.cmp(&b.1));
            let mut names = vec![None; self.blocks.len()];
            sorted
                .into_iter()
                .enumerate()
                .for_each(|(place, (block, name))| names[block] = Some((place as u32, name)));
            names
        })
    }

    /// Returns the resource that a block is.
    pub fn resource(&self, block: usize) -> Option<ConfigResource> {
        let node = &self.blocks[block];
        match &node.key {
            BlockKey::Resource(name) => {
                Some(ConfigResource { module: node.module.path.clone(), resource: name.clone() })
            }
            _ => None,
        }
    }

    /// Returns the resource blocks that a block refers to, directly or through values, calls and providers.
    pub fn nearest_resources(&self, start: usize) -> Vec<usize> {
        self.search(start, None, false, |key| !matches!(key, BlockKey::Resource(_)))
            .unwrap_or_default()
    }

    fn search(
        &self,
        start: usize,
        limit: Option<usize>,
        with_wholes: bool,
        through: impl Fn(&BlockKey) -> bool,
    ) -> Option<Vec<usize>> {
        if self.blocks[start].edges.is_empty() && !self.wholes.contains_key(&start) {
            return Some(Vec::new());
        }
        let mut seen = FxHashSet::from_iter([start]);
        let mut open = vec![start];
        let mut found = Vec::new();
        while let Some(block) = open.pop() {
            let node = &self.blocks[block];
            let wholes = self.wholes.get(&block).filter(|_| with_wholes);
            let inside = wholes.into_iter().flatten().flat_map(|it| self.inside(it));
            for next in node.edges.iter().map(|it| it.0).chain(inside) {
                if !seen.insert(next) {
                    continue;
                }
                let key = &self.blocks[next].key;
                if matches!(key, BlockKey::Resource(_)) {
                    found.push(next);
                    if limit.is_some_and(|limit| found.len() > limit) {
                        return None;
                    }
                }
                if through(key) {
                    open.push(next);
                }
            }
        }
        Some(found)
    }
}

/// Keeps the first edge to each block.
fn each_once(edges: &mut Vec<(usize, Span)>) {
    /// So many are compared with each other.
    const FEW: usize = 16;
    if edges.len() > FEW {
        let mut seen = FxHashSet::default();
        return edges.retain(|edge| seen.insert(edge.0));
    }
    let mut kept = 0;
    for at in 0..edges.len() {
        if !edges[..kept].iter().any(|it| it.0 == edges[at].0) {
            edges.swap(kept, at);
            kept += 1;
        }
    }
    edges.truncate(kept);
}

fn provider_key(block: &config::ProviderBlock) -> BlockKey {
    BlockKey::Provider(block.name.text.clone(), block.alias.as_ref().map(|it| it.text.clone()))
}

#[cfg(test)]
mod tests;

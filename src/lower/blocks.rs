//! The blocks of the whole configuration and what each refers to: the graph before anything is expanded.
//!
//! It gives the order in which structure is traced, and the resource-level dependencies that OpenTofu records in the state.
//! Blocks that wait for each other are the subject of `config/check/cycles.rs`.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::serving::Configured;
use super::structure::{ResourceNode, Structure};
use crate::address::{ConfigResource, ProviderConfig, Resource, ResourceName};
use crate::config::serving::BlocksServed;
use crate::config::{self, Config, Variant};
use crate::diagnostic::Span;
use crate::lists::Lists;
use crate::reason::Engine;
use crate::value::Str;

mod circles;
mod connect;
mod declared;
mod dependencies;
mod inside;
mod lookalikes;
mod modules;
mod sound;

pub use circles::Circles;
use connect::Builder;
use declared::KeyIndex;
use dependencies::Known;
pub use dependencies::MOST_DEPENDENCIES;
use lookalikes::Lookalikes;
pub use modules::{ModuleCode, Modules, VariantId};

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

/// A block: where it stands and what it is.
#[derive(Clone, Copy, Debug)]
pub struct BlockNode<'g> {
    /// The module.
    pub module: VariantId,
    /// What it is.
    pub key: &'g BlockKey,
}

/// A block that another one refers to, by its number, and the place of the reference.
pub type Edge = (u32, Span);

/// All blocks of a configuration.
#[derive(Debug, Default)]
pub struct BlockGraph {
    /// The blocks: those that are declared, module by module, and behind them those of everything inside of a module. Each as its
    /// module, and where its key stands.
    blocks: Vec<(VariantId, u32)>,
    /// What they are: once for all calls of one folder.
    keys: Vec<BlockKey>,
    /// What the configuration says of providers, and who serves which block.
    pub configured: Configured,
    /// The circles of blocks that were opened: none, unless somebody asks for it.
    pub circles: Circles,
    /// The modules in which they are.
    pub modules: Arc<Modules>,
    /// What the blocks refer to, block after block.
    edges: Vec<Edge>,
    /// Where the edges of each block begin, and at last where those of the last one end; nothing before they are drawn.
    starts: Vec<u32>,
    /// The modules that a block refers to as a whole, or by keys that are not written out. It reads only their outputs, and
    /// OpenTofu records that it rests on everything inside.
    wholes: FxHashMap<u32, Vec<VariantId>>,
    /// The modules within calls that `depends_on` names as a whole.
    depended_on_within: FxHashSet<VariantId>,
    /// The outputs of calls that `depends_on` names, by the blocks of the calls.
    depended_on: FxHashMap<u32, BTreeSet<Str>>,
    /// How they are found.
    index: KeyIndex,
    /// What tells modules apart that share a path with others.
    sources: FxHashMap<VariantId, String>,
    /// Of each block, whether it is a resource that reads just the blocks it refers to, all of each, whatever the values are.
    plain: Vec<bool>,
    /// Of each declared block, whether it is a resource or call whose references were all found right.
    sound: Vec<bool>,
    /// Which of the plain ones are alike but for names.
    lookalikes: Lookalikes,
    /// What was asked of them before.
    known: Known,
    sorted: OnceLock<Option<Arc<[u32]>>>,
}

impl BlockGraph {
    /// Builds the graph. Undeclared references are left to the configuration's own checks.
    pub fn of(engine: &dyn Engine, config: &Config) -> BlockGraph {
        BlockGraph::unconnected(engine, config).connected(config)
    }

    /// Returns the blocks, and who serves them, before what they refer to is searched for.
    pub fn unconnected(engine: &dyn Engine, config: &Config) -> BlockGraph {
        let mut graph = BlockGraph::default();
        let mut modules = Modules::of(config);
        let blocks = modules.iter().map(|it| it.1.config.block_count()).sum();
        graph.blocks.reserve_exact(blocks);
        let mut written = FxHashMap::default();
        for (id, it) in modules.iter() {
            graph.sources.extend(config.source_text(&it.variant).map(|it| (id, it)));
            graph.declare(id, &it.config, &mut written);
        }
        modules.connect(config);
        graph.modules = Arc::new(modules);
        graph.configured = Configured::of(engine, config, &graph);
        graph
    }

    /// Draws the edges.
    pub fn connected(mut self, config: &Config) -> BlockGraph {
        self.plain = vec![false; self.count()];
        self.sound = vec![false; self.count()];
        Builder::of(&mut self, config).connect();
        self.edges.shrink_to_fit();
        self
    }

    /// Returns how many blocks there are.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Returns a block.
    pub fn block(&self, number: usize) -> BlockNode<'_> {
        let (module, key) = self.blocks[number];
        BlockNode { module, key: &self.keys[key as usize] }
    }

    /// Returns all blocks with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (usize, BlockNode<'_>)> {
        (0..self.count()).map(|it| (it, self.block(it)))
    }

    /// Returns the blocks that a block refers to, with the place of the reference; each target once.
    pub fn edges(&self, block: usize) -> &[Edge] {
        match self.starts.get(block..block + 2) {
            Some(&[from, to]) => &self.edges[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Notes what the next block refers to: of a place that it names several times, the first time counts.
    fn end_block(&mut self, edges: &mut Vec<Edge>) {
        each_once(edges);
        if self.starts.is_empty() {
            self.starts.reserve_exact(self.count() + 1);
            self.starts.push(0);
        }
        self.edges.append(edges);
        self.starts.push(self.edges.len() as u32);
    }

    /// Returns what is known of the module of a block.
    pub fn module_of(&self, block: usize) -> &ModuleCode {
        &self.modules[self.block(block).module]
    }

    /// Returns who serves the resource blocks, for the checks of the configuration.
    pub fn blocks_served(&self) -> BlocksServed {
        self.configured.blocks(self)
    }

    /// Returns the place of a resource block among those of its module.
    pub fn place(&self, block: usize) -> usize {
        block.saturating_sub(self.module_of(block).first_resource())
    }

    /// Returns the blocks that a block reads, each as a whole, and where it names them: nothing where that depends on values.
    pub fn plain_reads(&self, block: usize) -> Option<&[Edge]> {
        self.plain.get(block)?.then(|| self.edges(block))
    }

    /// Returns the block that stands for all plain ones that differ from a plain one in nothing but the resources they name, which are
    /// of the same kinds; nothing where that was not looked for.
    ///
    /// Looked at with nothing decided, they are all found right where one of them is.
    pub fn first_alike(&self, block: usize) -> Option<u32> {
        self.plain_reads(block)?;
        self.lookalikes.first(block)
    }

    /// Returns the number of a block of a module.
    pub fn find_in(&self, module: &Variant, key: &BlockKey) -> Option<usize> {
        self.find(self.modules.number(module)?, key)
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
        let key = BlockKey::Resource(address.resource.clone());
        if let Some(variant) = config.variant_of(&address.module) {
            return self.find_in(&variant, &key);
        }
        let all = config.variants_at(&address.module.module());
        let all: Vec<usize> = all.filter_map(|it| self.find_in(&it.0, &key)).collect();
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
    pub fn written(&self, block: usize) -> Option<&config::Resource> {
        let BlockKey::Resource(_) = self.block(block).key else { return None };
        self.module_of(block).config.resources.at(self.place(block)).map(|it| &**it)
    }

    /// Returns what is written as a call.
    pub fn written_call(&self, block: usize) -> Option<&config::ModuleCall> {
        let BlockKey::Call(_) = self.block(block).key else { return None };
        self.module_of(block).written_call(block)
    }

    /// Returns the blocks so that each stands behind everything it refers to; nothing where some wait for each other, which
    /// the configuration's own check tells.
    pub fn sorted(&self) -> Option<Arc<[u32]>> {
        let sort = || {
            let sorted = self.in_order(|_, _| true);
            (sorted.len() == self.count()).then(|| sorted.into())
        };
        self.sorted.get_or_init(sort).clone()
    }

    /// Returns the blocks so that each stands behind everything it refers to by edges that count, without those that wait for
    /// each other, or for such.
    pub fn in_order(&self, counts: impl Fn(usize, &Edge) -> bool) -> Vec<u32> {
        let counts = &counts;
        let edges = |it: usize| self.edges(it).iter().filter(move |edge| counts(it, edge));
        let all = || 0..self.count();
        let mut waiting: Vec<u32> = all().map(|it| edges(it).count() as u32).collect();
        let users = |it: usize| edges(it).map(move |edge| (edge.0, it as u32));
        let users = Lists::of(all().flat_map(users));
        let mut sorted = Vec::with_capacity(self.count());
        let free: Vec<u32> = (0..).zip(&waiting).filter(|it| *it.1 == 0).map(|it| it.0).collect();
        // What a block frees comes before all that was free: it is mostly of the same module.
        for block in free {
            let mut at = sorted.len();
            sorted.push(block);
            while at < sorted.len() {
                for &user in users.get(sorted[at]) {
                    waiting[user as usize] -= 1;
                    if waiting[user as usize] == 0 {
                        sorted.push(user);
                    }
                }
                at += 1;
            }
        }
        sorted
    }

    /// Returns the name of a block as drawings of the graph write it.
    pub fn name(&self, block: usize) -> String {
        let BlockNode { module: id, key } = self.block(block);
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
        let module = &self.module_of(block).variant.path;
        let name = if module.is_root() { name } else { format!("{module}.{name}") };
        self.told_apart(id, name)
    }

    /// Returns the name of something in a module, with the source where the path of the module has several.
    pub fn told_apart(&self, module: VariantId, name: String) -> String {
        match (self.sources.get(&module), name.strip_suffix(')')) {
            (None, _) => name,
            (Some(source), Some(open)) => format!("{open}, {source})"),
            (Some(source), None) => format!("{name} ({source})"),
        }
    }

    /// Returns the resource that a block is.
    pub fn resource(&self, block: usize) -> Option<ConfigResource> {
        let BlockKey::Resource(name) = self.block(block).key else { return None };
        let module = self.module_of(block).variant.path.clone();
        Some(ConfigResource { module, resource: name.clone() })
    }
}

/// Keeps the first edge to each block.
fn each_once(edges: &mut Vec<Edge>) {
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

#[cfg(test)]
mod tests;

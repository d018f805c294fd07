//! `validate`: what can be said of a configuration without state, without values of variables, and without the world.
//!
//! Every block is looked at once, module by module, as if nothing were decided yet: variables, objects, keys and module
//! outputs are unknown, of their types. Whatever is wrong all the same is wrong whatever they become. Every plan begins
//! with this, before anything is left out.

mod blocks;
mod discarded;
mod keys;
pub mod lint;
mod problems;
mod resource;
mod rounds;
#[cfg(test)]
mod tests;
mod undecided;
mod unread;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::session::Session;
use crate::address::Module as ModuleAddr;
use crate::config::{Config, uses};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::lower::blocks::{BlockKey, BlockNode, Edge, VariantId};
use crate::lower::structure::ModuleId;
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::schedule::begin;
use crate::value::Deprecation;
use blocks::BlockProblems;
use rounds::Round;

pub use keys::missing_keys;

/// How many providers' answers are waited for at once.
const OPEN: usize = 16;

/// Checks every block of a configuration; errors and warnings, each once, in the order of files and lines.
///
/// What rests on a block with an error is not looked at: its problems may all come from that one.
///
/// - `told`: what is wrong with the configuration's references, as [`Session::open_for_validation`] found it.
pub async fn check(session: &Session, pool: &Pool, told: &Diagnostics) -> Diagnostics {
    look(session, pool, told).await.0
}

/// Like [`check`], and gives what was told with it: less what stands where nobody looks, because no schema knows an argument
/// or a block rests on one with an error.
pub async fn check_with(session: &Session, pool: &Pool, told: Diagnostics) -> Diagnostics {
    let told = unread::without_unread(session, pool, told);
    let (mut problems, idle) = look(session, pool, &told).await;
    problems.extend(missing_keys(session));
    let named = unread::without(told, &idle).beyond(&problems);
    problems.extend(named);
    problems
}

/// Returns what is wrong, and the expressions of blocks that were not looked at.
async fn look(session: &Session, pool: &Pool, told: &Diagnostics) -> (Diagnostics, Vec<Span>) {
    let variables = undecided::variables(session.config.root());
    let (mut problems, mut idle) = (Diagnostics::new(), Vec::new());
    for round in rounds::rounds(&session.graph.modules) {
        let values = undecided::values(session, &round, pool, &variables);
        let check = Check { session, pool, told, values, round, right: Mutex::default() };
        let (found, spoilt) = check.walk().await;
        problems.extend(found);
        for block in spoilt {
            idle.extend(check.expressions_of(block));
        }
        problems.extend(check.values.take_problems());
        problems.extend(crate::observe::imports::invalid_ids(&check.values));
    }
    problems = problems.once();
    problems.extend(deprecated_variables(&session.config));
    problems.0.sort_by_key(|it| it.subject.map(|it| (it.file(), it.start())));
    (problems, idle)
}

/// Warns of every call that gives a variable a value against the advice of the called module's author: once for each module that it is in.
pub fn deprecated_variables(config: &Config) -> Diagnostics {
    deprecated_inputs(config).into_iter().map(|it| it.1).collect::<Vec<_>>().into()
}

/// Like [`deprecated_variables`], with the called module.
pub fn deprecated_inputs(config: &Config) -> Vec<(ModuleAddr, Diagnostic)> {
    let mut found = Vec::new();
    let is_asked =
        |it: &crate::config::Module| it.variables.values().any(|it| it.deprecated.is_some());
    if !config.written().any(is_asked) {
        return found;
    }
    for (variant, module) in config.all_variants() {
        for (name, call) in &module.calls {
            for (at, called) in config.called(&variant, name) {
                found.extend(call.inputs.iter().filter_map(|(name, input)| {
                    let advice = called.variables.get(name)?.deprecated.as_ref()?;
                    let (source, advice) = (name.clone(), advice.clone());
                    let variable = Deprecation { source, advice, is_remote: called.is_remote };
                    let problem = problems::deprecated_variable(variable, input.value.span);
                    Some((at.path.clone(), problem))
                }));
            }
        }
    }
    found
}

/// One validation.
struct Check<'a> {
    session: &'a Session,
    pool: &'a Pool,
    told: &'a Diagnostics,
    values: Values<'a>,
    /// The modules. Fresh ones are looked at; of others only what they are given, and they are there for what they give.
    round: Round,
    /// Resource blocks with nothing wrong that stand for all that are like them.
    right: Mutex<FxHashSet<u32>>,
}

/// How far a validation has come.
#[derive(Default)]
struct Walk {
    problems: Diagnostics,
    /// Blocks with an error, or that rest on one.
    failed: FxHashSet<usize>,
    /// Those that rest on one, and are not looked at.
    spoilt: Vec<usize>,
    /// Those of which a provider has not answered yet.
    open: FxHashSet<usize>,
}

impl Walk {
    fn end(&mut self, ended: Option<(usize, BlockProblems)>) {
        let Some((block, found)) = ended else { return };
        self.open.remove(&block);
        if found.failed {
            self.failed.insert(block);
        }
        self.problems.extend(found.problems);
    }
}

impl Check<'_> {
    /// Looks at block after block, each behind those that it refers to. Those that rest on one with an error are not looked
    /// at, and come beside the problems.
    ///
    /// Blocks that refer to each other in a circle are left out: that is told elsewhere.
    async fn walk(&self) -> (Diagnostics, Vec<usize>) {
        let graph = &self.session.graph;
        let used = self.used_providers();
        let mut walk = Walk::default();
        let mut open = FuturesUnordered::new();
        // Few refer to themselves, or in circles where nobody reads it.
        let in_order = graph.sorted();
        let in_order =
            in_order.unwrap_or_else(|| graph.in_order(|it, edge| self.rests(it, edge)).into());
        for block in in_order.iter().map(|it| *it as usize) {
            while !walk.open.is_empty() && self.waits(&walk, block) {
                walk.end(open.next().await);
            }
            if self.is_spoilt(&walk.failed, block) {
                walk.failed.insert(block);
                walk.spoilt.push(block);
                continue;
            }
            if !self.is_looked_at(block) || self.is_known_right(block) {
                continue;
            }
            let looked_at = self.block(block, used.contains(&block)).map(move |it| (block, it));
            match begin(looked_at, &mut open).await {
                None => _ = walk.open.insert(block),
                ended => walk.end(ended),
            }
            if open.len() >= OPEN {
                walk.end(open.next().await);
            }
        }
        while !open.is_empty() {
            walk.end(open.next().await);
        }
        (walk.problems, walk.spoilt)
    }

    /// Returns whether a block has something that is wrong or not by itself.
    fn is_looked_at(&self, block: usize) -> bool {
        let BlockNode { module, key } = self.session.graph.block(block);
        matches!(key, BlockKey::Variable(_)) || self.round.fresh.contains(&module)
    }

    /// Returns whether nothing is wrong with a block because nothing is with one that is like it.
    fn is_known_right(&self, block: usize) -> bool {
        self.first_alike(block).is_some_and(|it| self.right.lock().contains(&it))
    }

    /// Returns the block that stands for all that are like a block, where all that is told of one holds for the others: of what
    /// should not be used it is said whose it is.
    fn first_alike(&self, block: usize) -> Option<u32> {
        let first = self.session.graph.first_alike(block)?;
        (!self.told.has_errors() && !self.values.has_deprecated).then_some(first)
    }

    /// Returns whether a block refers to one of which it is not known yet whether it has errors.
    fn waits(&self, walk: &Walk, block: usize) -> bool {
        self.session.graph.edges(block).iter().any(|it| walk.open.contains(&(it.0 as usize)))
    }

    /// Returns whether looking at a block is idle, because it rests on one with an error.
    fn is_spoilt(&self, failed: &FxHashSet<usize>, block: usize) -> bool {
        if failed.is_empty() {
            return false;
        }
        let edges = self.session.graph.edges(block).iter();
        let mut used = edges.filter(|it| failed.contains(&(it.0 as usize)));
        used.any(|it| self.spoils(it.0 as usize, block) && self.rests(block, it))
    }

    /// Returns the provider blocks that something refers to.
    fn used_providers(&self) -> FxHashSet<usize> {
        let graph = &self.session.graph;
        let is_provider = |it: usize| matches!(graph.block(it).key, BlockKey::Provider(..));
        let all = 0..graph.count();
        if !all.clone().any(is_provider) {
            return FxHashSet::default();
        }
        let refers = |it: usize| graph.edges(it).iter().map(move |edge| (it, edge));
        let all = all.flat_map(refers).filter(|it| is_provider(it.1.0 as usize));
        all.filter(|it| self.rests(it.0, it.1)).map(|it| it.1.0 as usize).collect()
    }

    /// Returns whether a block rests on one that it refers to: not where no schema knows what refers to it.
    fn rests(&self, block: usize, (used, place): &Edge) -> bool {
        // What a resource says of itself, in a provisioner for one, keeps nobody from looking at it.
        let is_itself = *used as usize == block
            && matches!(self.session.graph.block(block).key, BlockKey::Resource(_));
        !is_itself && !unread::is_within(*place, &self.unread(block))
    }

    /// Returns the arguments and blocks inside of a block that no schema knows.
    fn unread(&self, block: usize) -> Vec<Span> {
        let graph = &self.session.graph;
        match graph.block(block).key {
            BlockKey::Resource(_) => {
                graph.written(block).map(|it| unread::of_resource(self.pool, it))
            }
            BlockKey::Provider(name, alias) => graph
                .module_of(block)
                .config
                .provider_block(name, alias.as_deref())
                .map(|it| unread::of_provider(self.pool, it)),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// Returns where the expressions of a block are.
    fn expressions_of(&self, block: usize) -> Vec<Span> {
        let graph = &self.session.graph;
        let node = graph.block(block);
        let Some(module) = self.module(node.module) else { return Vec::new() };
        let config = &self.values.structure.module(module).config;
        let uses = match node.key {
            BlockKey::Local(name) => vec![uses::of_value(&config.locals[name].value)],
            BlockKey::Output(name) => uses::of_output(&config.outputs[name]),
            BlockKey::Resource(_) => {
                let written = graph.written(block);
                written.map(uses::of_resource).unwrap_or_default()
            }
            BlockKey::Call(_) => {
                graph.written_call(block).map(uses::of_call_itself).unwrap_or_default()
            }
            BlockKey::Inside(_) => Vec::new(),
            BlockKey::Check(name) => uses::of_check(&config.checks[name]),
            BlockKey::Provider(name, alias) => config
                .provider_block(name, alias.as_deref())
                .map(uses::of_provider)
                .unwrap_or_default(),
            BlockKey::Variable(name) => {
                let input = graph.modules.call(node.module).and_then(|it| it.inputs.get(name));
                input.map(|it| uses::of_value(&it.value)).into_iter().collect()
            }
        };
        uses.iter().map(|it| it.expression.span).collect()
    }

    /// Returns whether a block's failure makes looking at its user idle. That of a call itself spoils what is in the
    /// module alone: what the module gives is unknown anyway.
    fn spoils(&self, block: usize, user: usize) -> bool {
        let (block, user) = (self.session.graph.block(block), self.session.graph.block(user));
        !matches!(block.key, BlockKey::Call(_)) || block.module != user.module
    }

    fn module(&self, module: VariantId) -> Option<ModuleId> {
        self.round.module(module)
    }
}

//! `validate`: what can be said of a configuration without state, without values of variables, and without the world.
//!
//! Every block is looked at once, module by module, as if nothing were decided yet: variables, objects, keys and module
//! outputs are unknown, of their types. Whatever is wrong all the same is wrong whatever they become. Every plan begins
//! with this, before anything is left out.

mod blocks;
mod discarded;
mod keys;
mod problems;
mod resource;
mod rounds;
#[cfg(test)]
mod tests;
mod undecided;
mod unread;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rustc_hash::FxHashSet;

use super::session::Session;
use crate::address::Module as ModuleAddr;
use crate::config::{Config, uses};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::lists::Lists;
use crate::lower::blocks::{BlockKey, Edge, VariantId};
use crate::lower::structure::ModuleId;
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::schedule::begin;
use crate::value::Deprecation;

pub use keys::missing_keys;

/// How many providers' answers are waited for at once.
const OPEN: usize = 16;

/// Waits for answers, of which most are there as soon as they are asked for.
async fn all<F: Future>(answers: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut found: Vec<Option<F::Output>> = Vec::with_capacity(answers.size_hint().0);
    let mut open = FuturesUnordered::new();
    for (place, answer) in answers.enumerate() {
        found.push(None);
        let mut ended = begin(answer.map(move |it| (place, it)), &mut open).await;
        if open.len() >= OPEN && ended.is_none() {
            ended = open.next().await;
        }
        if let Some((place, it)) = ended {
            found[place] = Some(it);
        }
    }
    while let Some((place, it)) = open.next().await {
        found[place] = Some(it);
    }
    found.into_iter().flatten().collect()
}

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
    let modules = &session.graph.modules;
    for round in rounds::rounds(modules) {
        let values = undecided::values(session, &round, pool, &variables);
        let mut module_ids = vec![None; modules.count()];
        for (id, module) in (0..).zip(&round.chosen) {
            module_ids[module.index()] = Some(ModuleId(id));
        }
        let check = Check { session, pool, told, values, module_ids, fresh: round.fresh };
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
    problems.0.sort_by_key(|it| it.subject.map(|it| (it.file, it.start)));
    (problems, idle)
}

/// Warns of every call that gives a variable a value against the advice of the called module's author: once for each module that it is in.
pub fn deprecated_variables(config: &Config) -> Diagnostics {
    deprecated_inputs(config).into_iter().map(|it| it.1).collect::<Vec<_>>().into()
}

/// Like [`deprecated_variables`], with the called module.
pub fn deprecated_inputs(config: &Config) -> Vec<(ModuleAddr, Diagnostic)> {
    let mut found = Vec::new();
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
    /// The module instance that stands for each module, unless another one stands for its path.
    module_ids: Vec<Option<ModuleId>>,
    /// Those to be looked at; of others only what they are given, and they are there for what they give.
    fresh: FxHashSet<VariantId>,
}

impl Check<'_> {
    /// Looks at block after block, each behind those that it refers to. Those that rest on one with an error are not looked
    /// at, and come beside the problems.
    ///
    /// Blocks that refer to each other in a circle are left out: that is told elsewhere.
    async fn walk(&self) -> (Diagnostics, Vec<usize>) {
        let graph = &self.session.graph;
        let blocks = &graph.blocks;
        let (mut problems, mut spoilt) = (Diagnostics::new(), Vec::new());
        let mut failed = vec![false; blocks.len()];
        let mut waiting = vec![0; blocks.len()];
        let mut uses: Vec<(u32, usize)> = Vec::new();
        for (user, block) in blocks.iter().enumerate() {
            let edges = graph.edges(user);
            if edges.is_empty() {
                continue;
            }
            let unread = self.unread(user);
            // What a resource says of itself, in a provisioner for one, keeps nobody from looking at it.
            let is_itself =
                |used: u32| used as usize == user && matches!(block.key, BlockKey::Resource(_));
            let is_idle = |it: &&Edge| is_itself(it.0) || unread::is_within(it.1, &unread);
            for (used, _) in edges.iter().filter(|it| !is_idle(it)) {
                uses.push((*used, user));
                waiting[user] += 1;
            }
        }
        let users = Lists::of(uses.into_iter());
        let mut ready: Vec<usize> = (0..blocks.len()).filter(|&it| waiting[it] == 0).collect();
        while !ready.is_empty() {
            let (idle, sound): (Vec<usize>, Vec<usize>) = ready.iter().partition(|&&it| failed[it]);
            spoilt.extend(idle);
            let is_used = |block: usize| !users.get(block as u32).is_empty();
            let looked_at = sound.iter().map(|&it| self.block(it, is_used(it)));
            for (&block, found) in sound.iter().zip(all(looked_at).await) {
                failed[block] = found.failed;
                problems.extend(found.problems);
            }
            let mut next = Vec::new();
            for &block in &ready {
                for &user in users.get(block as u32) {
                    failed[user] |= failed[block] && self.spoils(block, user);
                    waiting[user] -= 1;
                    if waiting[user] == 0 {
                        next.push(user);
                    }
                }
            }
            ready = next;
        }
        (problems, spoilt)
    }

    /// Returns the arguments and blocks inside of a block that no schema knows.
    fn unread(&self, block: usize) -> Vec<Span> {
        let graph = &self.session.graph;
        match &graph.blocks[block].key {
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
        let node = &graph.blocks[block];
        let Some(module) = self.module(node.module) else { return Vec::new() };
        let config = &self.values.structure.module(module).config;
        let uses = match &node.key {
            BlockKey::Local(name) => vec![uses::of_value(&config.locals[name].value)],
            BlockKey::Output(name) => uses::of_output(&config.outputs[name]),
            BlockKey::Resource(_) => {
                let written = graph.written(block);
                written.map(uses::of_resource).unwrap_or_default()
            }
            BlockKey::Call(name) => uses::of_call_itself(&config.calls[name]),
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
        let (block, user) = (&self.session.graph.blocks[block], &self.session.graph.blocks[user]);
        !matches!(block.key, BlockKey::Call(_)) || block.module != user.module
    }

    fn module(&self, module: VariantId) -> Option<ModuleId> {
        self.module_ids[module.index()]
    }
}

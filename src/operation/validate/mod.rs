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

use futures_util::stream::{self, StreamExt};
use rustc_hash::FxHashSet;

use super::session::Session;
use crate::config::{Config, Variant};
use crate::diagnostic::Diagnostics;
use crate::lower::blocks::BlockKey;
use crate::lower::structure::ModuleId;
use crate::observe::pool::Pool;
use crate::observe::values::Values;

pub use keys::missing_keys;

/// How many providers' answers are waited for at once.
const OPEN: usize = 16;

/// Checks every block of a configuration; errors and warnings, each once, in the order of files and lines.
///
/// What rests on a block with an error is not looked at: its problems may all come from that one.
///
/// - `told`: what is wrong with the configuration's references, as [`Session::open_for_validation`] found it.
pub async fn check(session: &Session, pool: &Pool, told: &Diagnostics) -> Diagnostics {
    let variables = undecided::variables(session.config.root());
    let mut problems = Diagnostics::new();
    for round in rounds::rounds(&session.config) {
        let values = undecided::values(session, &round.modules, pool, &variables);
        let (chosen, fresh) = (round.chosen, round.fresh);
        let check = Check { session, pool, told, values, chosen, fresh };
        problems.extend(check.walk().await);
        problems.extend(check.values.take_problems());
        problems.extend(crate::observe::imports::invalid_ids(&check.values));
    }
    problems.extend(deprecated_variables(&session.config));
    problems.0.sort_by_key(|it| it.subject.map(|it| (it.file, it.start)));
    problems.once()
}

/// Warns of every call that gives a variable a value against the advice of the called module's author.
pub fn deprecated_variables(config: &Config) -> Diagnostics {
    let mut found = Diagnostics::new();
    for (variant, module) in config.all_variants() {
        for (name, call) in &module.calls {
            for (_, called) in config.called(&variant, name) {
                found.extend(call.inputs.iter().filter_map(|(name, input)| {
                    let advice = called.variables.get(name)?.deprecated.as_ref()?;
                    Some(problems::deprecated_variable(name, advice, input.value.span))
                }));
            }
        }
    }
    found.once()
}

/// One validation.
struct Check<'a> {
    session: &'a Session,
    pool: &'a Pool,
    told: &'a Diagnostics,
    values: Values<'a>,
    /// Which module stands for each path.
    chosen: FxHashSet<Variant>,
    /// Those to be looked at; others are there for what they give.
    fresh: FxHashSet<Variant>,
}

impl Check<'_> {
    /// Looks at block after block, each behind those that it refers to.
    ///
    /// Blocks that refer to each other in a circle are left out: that is told elsewhere.
    async fn walk(&self) -> Diagnostics {
        let blocks = &self.session.graph.blocks;
        let mut problems = Diagnostics::new();
        let mut failed = vec![false; blocks.len()];
        let mut waiting: Vec<usize> = blocks.iter().map(|it| it.edges.len()).collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
        for (user, block) in blocks.iter().enumerate() {
            block.edges.iter().for_each(|edge| users[edge.0].push(user));
        }
        let mut ready: Vec<usize> = (0..blocks.len()).filter(|&it| waiting[it] == 0).collect();
        while !ready.is_empty() {
            let sound: Vec<usize> = ready.iter().copied().filter(|&it| !failed[it]).collect();
            let looked_at =
                stream::iter(&sound).map(|&block| self.block(block, !users[block].is_empty()));
            let found: Vec<blocks::BlockProblems> = looked_at.buffered(OPEN).collect().await;
            for (&block, found) in sound.iter().zip(found) {
                failed[block] = found.failed;
                problems.extend(found.problems);
            }
            let mut next = Vec::new();
            for &block in &ready {
                for &user in &users[block] {
                    failed[user] |= failed[block] && self.spoils(block, user);
                    waiting[user] -= 1;
                    if waiting[user] == 0 {
                        next.push(user);
                    }
                }
            }
            ready = next;
        }
        problems
    }

    /// Returns whether a block's failure makes looking at its user idle. That of a call itself spoils what is in the
    /// module alone: what the module gives is unknown anyway.
    fn spoils(&self, block: usize, user: usize) -> bool {
        let (block, user) = (&self.session.graph.blocks[block], &self.session.graph.blocks[user]);
        !matches!(block.key, BlockKey::Call(_)) || block.module != user.module
    }

    fn module(&self, module: &Variant) -> Option<ModuleId> {
        let path = self.chosen.get(module).map(|it| &it.path)?;
        self.values.structure.module_ids.get(&undecided::instance(path)).copied()
    }
}

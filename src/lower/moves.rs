//! Move statements: which there are, carried out on what is recorded, and what is wrong with them.
//!
//! The rules only say which statement comes after which; whether a move is blocked depends on what earlier ones left
//! behind, so they are carried out in a loop, before anything else of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use entail_rules::moves::Moves;
use entail_rules::{Facts, Ledger, Statement as StatementId};

use crate::address::{Instance, ModuleInstance, Resource, Str};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::reason::Engine;
use crate::state::State;

use super::structure::Structure;

mod apply;
mod ends;
mod pairs;
mod problems;
mod statements;
#[cfg(test)]
mod tests;
mod validate;

use statements::Statement;

/// What the move statements of a configuration did to what is recorded.
#[derive(Debug, Default)]
pub struct Moved {
    /// Each object that moved: where it is now, and where it was.
    pub moved: BTreeMap<Instance, Instance>,
    /// Where those are now that a `moved` block moved last. Others only gained or lost `count`.
    pub explicit: BTreeSet<Instance>,
    /// What could not move, and where to, because something is there already.
    pub blocked: BTreeMap<Movable, Movable>,
    /// The statements, written ones first. The position is the number in the facts.
    statements: Vec<Statement>,
    order: Order,
}

/// What the rules are told about the statements, and what they say.
#[derive(Debug, Default)]
struct Order {
    facts: Facts,
    after: Vec<(StatementId, StatementId)>,
    cyclic: Vec<StatementId>,
}

/// Anything that a statement can name, in one module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Movable {
    /// Every instance of a module call.
    Call(ModuleInstance, Str),
    /// A module instance.
    Module(ModuleInstance),
    /// Every instance of a resource.
    Resource(Resource),
    /// A resource instance.
    Instance(Instance),
}

impl fmt::Display for Movable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Movable::Call(parent, name) if parent.is_root() => write!(f, "module.{name}"),
            Movable::Call(parent, name) => write!(f, "{parent}.module.{name}"),
            Movable::Module(it) => it.fmt(f),
            Movable::Resource(it) => it.fmt(f),
            Movable::Instance(it) => it.fmt(f),
        }
    }
}

/// Carries out every move statement, written and implied, on `state`. Statements in a circle move nothing.
pub fn apply_moves(engine: &dyn Engine, config: &Config, state: &mut State) -> Moved {
    let statements = statements::collect(config, state);
    if statements.is_empty() {
        return Moved::default();
    }
    let facts = statements::lower(config, &statements);
    let arranged: Moves = engine.conclude(&Ledger::of(&facts));
    let sequence = arranged.sequence(&facts.statement).unwrap_or_default();
    let mut moved =
        apply::carry_out(config, sequence.iter().map(|it| &statements[it.0 as usize]), state);
    moved.order = Order {
        facts,
        cyclic: arranged.move_cycle.iter().map(|it| it.0).collect(),
        after: arranged.move_after,
    };
    moved.statements = statements;
    moved
}

impl Moved {
    /// Returns what is wrong with the statements, given what the configuration expands to.
    ///
    /// Called after the walk: only then is every instance known. Its errors replace those of the plan, which may be
    /// their consequences.
    pub fn check(&self, config: &Config, structure: &Structure, sources: &Sources) -> Diagnostics {
        let against = validate::Against { config, structure, sources };
        let problems = validate::validate(&self.statements, &against);
        if problems.has_errors() {
            return problems;
        }
        validate::cycles(&self.statements, &self.order, sources)
    }

    /// Returns the warning about what could not move, if anything. It belongs to plans without errors.
    pub fn warning(&self) -> Option<Diagnostic> {
        (!self.blocked.is_empty()).then(|| problems::blocked(&self.blocked))
    }

    /// Writes `statement`, `chains` and `nests`.
    pub fn lower(&self, facts: &mut Facts) {
        facts.statement.extend(&self.order.facts.statement);
        facts.chains.extend(&self.order.facts.chains);
        facts.nests.extend(&self.order.facts.nests);
    }

    /// Returns what each statement says, as `from → to`, and where it stands, by its number in the facts.
    pub fn named(&self) -> Vec<(String, Span)> {
        self.statements.iter().map(|it| (it.to_string(), it.declared)).collect()
    }
}

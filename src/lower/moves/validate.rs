//! Whether move statements agree with what is declared, and with each other, instance by instance.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Statement as StatementId;

use super::statements::Statement;
use super::{Movable, Order, problems};
use crate::address::{Module, ModuleInstance};
use crate::config::{Config, Repetition};
use crate::diagnostic::{Diagnostics, Sources, Span};
use crate::lower::structure::Structure;
use crate::reachable::Reachable;

/// What statements are compared with.
pub(super) struct Against<'a> {
    pub config: &'a Config,
    pub structure: &'a Structure,
    pub sources: &'a Sources,
}

/// Complains of statements that move nothing, move what is still declared, or contradict each other. A statement is
/// compared in every instance of its module.
pub(super) fn validate(statements: &[Statement], against: &Against<'_>) -> Diagnostics {
    let mut problems = Diagnostics::new();
    if statements.is_empty() {
        return problems;
    }
    let instances = against.instances();
    let (mut to_of, mut from_of) = (Ends::new(), Ends::new());
    for statement in statements {
        let bases = instances.get(&statement.from.base()).into_iter().flatten();
        for base in bases.filter(|it| statement.speaks_for(against.config, it)) {
            let (from, to) = (statement.from.within(base), statement.to.within(base));
            let at = statement.declared;
            if from == to {
                problems.push(problems::redundant(&from, at));
                continue;
            }
            if against.is_declared(&from) {
                let place = against.place(&from);
                problems.push(problems::still_exists((&from, &to), place, at));
            }
            let first = to_of.entry(from.clone()).or_insert_with(|| (to.clone(), at));
            if first.0 != to {
                let place = against.sources.place(first.1);
                problems.push(problems::two_destinations((&from, &to), (&first.0, &place), at));
            }
            let first = from_of.entry(to.clone()).or_insert_with(|| (from.clone(), at));
            if first.0 != from {
                let place = against.sources.place(first.1);
                problems.push(problems::two_sources((&from, &to), (&first.0, &place), at));
            }
        }
    }
    problems
}

/// What each address is paired with, and by which statement.
type Ends = BTreeMap<Movable, (Movable, Span)>;

impl Against<'_> {
    fn instances(&self) -> BTreeMap<Module, Vec<&ModuleInstance>> {
        let mut instances: BTreeMap<Module, Vec<&ModuleInstance>> = BTreeMap::new();
        for module in self.structure.modules.iter().filter(|it| !it.pending) {
            instances.entry(module.path.clone()).or_default().push(&module.address);
        }
        instances
    }

    fn is_declared(&self, address: &Movable) -> bool {
        let module = |it: &ModuleInstance| {
            let id = self.structure.module_id(it)?;
            Some(self.structure.module(id)).filter(|it| !it.pending)
        };
        match address {
            Movable::Call(parent, name) => {
                module(parent).is_some_and(|it| it.config.calls.contains_key(name))
            }
            Movable::Module(it) => module(it).is_some(),
            Movable::Resource(it) => module(&it.module)
                .is_some_and(|module| module.config.resources.contains_key(&it.resource)),
            Movable::Instance(it) => {
                let resource = self.structure.resource_id(&it.of());
                resource.is_some_and(|id| {
                    let resource = self.structure.resource(id);
                    resource.declared && resource.instances.contains_key(&it.key)
                })
            }
        }
    }

    /// Returns where something is declared: its repetition where one instance is meant, else the block.
    fn place(&self, address: &Movable) -> Option<String> {
        let call =
            |parent: &ModuleInstance, name: &str| self.config.module_of(parent)?.calls.get(name);
        let block = |it: &crate::address::Resource| {
            self.config.module_of(&it.module)?.resources.get(&it.resource)
        };
        let span = match address {
            Movable::Call(parent, name) => call(parent, name)?.declared,
            Movable::Module(it) => {
                let (parent, name, _) = it.parent()?;
                let call = call(&parent, &name)?;
                repetition(&call.repetition).unwrap_or(call.declared)
            }
            Movable::Resource(it) => block(it)?.declared,
            Movable::Instance(it) => {
                let block = block(&it.of())?;
                repetition(&block.besides.repetition).unwrap_or(block.declared)
            }
        };
        Some(self.sources.place(span))
    }
}

fn repetition(repetition: &Repetition) -> Option<Span> {
    match repetition {
        Repetition::Count(it) | Repetition::ForEach(it) => Some(it.span),
        Repetition::Single | Repetition::Enabled(_) => None,
    }
}

/// Complains of every circle of statements.
pub(super) fn cycles(statements: &[Statement], order: &Order, sources: &Sources) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let mut told: BTreeSet<StatementId> = BTreeSet::new();
    for &start in &order.cyclic {
        if told.contains(&start) {
            continue;
        }
        let ahead = reached(start, order, |it| *it);
        let behind = reached(start, order, |it| (it.1, it.0));
        let circle: BTreeSet<StatementId> = ahead.intersection(&behind).copied().collect();
        let line = |it: &StatementId| {
            let statement = &statements[it.0 as usize];
            format!("{}: {statement}", sources.place(statement.declared))
        };
        let mut lines: Vec<String> = circle.iter().map(line).collect();
        lines.sort();
        problems.push(problems::cycle(&lines));
        told.extend(circle);
    }
    problems
}

/// Returns everything that `start` leads to, over the rows of `move_after` as `turn` reads them.
fn reached(
    start: StatementId,
    order: &Order,
    turn: fn(&(StatementId, StatementId)) -> (StatementId, StatementId),
) -> BTreeSet<StatementId> {
    let following = |it: StatementId| {
        order.after.iter().map(turn).filter(move |row| row.0 == it).map(|row| row.1)
    };
    Reachable::from(following(start), following).collect()
}

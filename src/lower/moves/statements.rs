//! Which move statements there are: the written ones, and those that adding or removing `count` implies.

use std::collections::BTreeSet;
use std::fmt;

use entail_rules::{Facts, Statement as StatementId};

use super::ends::{End, unify};
use super::pairs::{Naming, candidates};
use crate::address::{InstanceKey, ModuleInstance, Resource};
use crate::config::{Config, Repetition, Variant};
use crate::diagnostic::Span;
use crate::lower::{When, leave_out};
use crate::state::State;

/// One move statement.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub from: End,
    pub to: End,
    /// The block, or what implied the statement.
    pub declared: Span,
    pub implied: bool,
    /// The module that holds a written one: it speaks for the instances of that source alone.
    pub of: Option<Variant>,
}

impl Statement {
    /// Returns whether the statement is about what is in a module instance, or was, where no source has it any more.
    pub fn speaks_for(&self, config: &Config, instance: &ModuleInstance) -> bool {
        let Some(of) = self.of.as_ref().filter(|it| config.kinds.contains_key(&it.path)) else {
            return true;
        };
        let Some(base) = instance.0.get(..of.path.0.len()) else { return true };
        config.variant_of(&ModuleInstance(base.into())).is_none_or(|it| it == *of)
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}", self.from, self.to)
    }
}

/// Returns the statements of every module, and behind them the implied ones.
pub(super) fn collect(config: &Config, state: &State) -> Vec<Statement> {
    let mut statements = Vec::new();
    for (of, block) in config.all_variants() {
        statements.extend(block.moved.iter().map(|it| {
            let (from, to) = unify(&of.path, &it.from.0, &it.to.0);
            let of = Some(of.clone());
            Statement { from, to, declared: it.declared, implied: false, of }
        }));
    }
    let counts = config.written().any(|it| it.calls.values().any(|it| has_count(&it.repetition)));
    let may_move =
        |it: &&ModuleInstance| it.0.last().is_some_and(|it| may_have_moved(&it.1, counts));
    let modules = state.resources.keys().map(|it| &it.module).filter(may_move);
    let modules: BTreeSet<&ModuleInstance> = modules.collect();
    let written = Written { statements: &statements, naming: Naming::of(&statements) };
    let calls: Vec<_> =
        modules.into_iter().filter_map(|it| implied_by_call(config, it, &written)).collect();
    let resources = implied_by_resources(config, state, &written);
    statements.extend(calls);
    statements.extend(resources);
    statements
}

/// The written statements, found by what they name.
struct Written<'a> {
    statements: &'a [Statement],
    naming: Naming,
}

impl Written<'_> {
    /// Returns whether one leads to a module instance, be it for a resource in it.
    fn leads_to(&self, config: &Config, module: &ModuleInstance) -> bool {
        self.naming.module(module).into_iter().map(|it| &self.statements[it]).any(|it| {
            (it.from.selects_module(module) || it.to.selects_module(module))
                && it.speaks_for(config, module)
        })
    }

    /// Returns whether one names a resource, or an instance of it.
    fn names(&self, config: &Config, address: &Resource) -> bool {
        self.naming.resource(address).into_iter().map(|it| &self.statements[it]).any(|it| {
            (it.from.selects_resource(address) || it.to.selects_resource(address))
                && it.speaks_for(config, &address.module)
        })
    }
}

/// Where a repetition puts what a block without keys made, or `[0]` of one with `count`.
fn first_key(repetition: &Repetition) -> Option<InstanceKey> {
    match repetition {
        Repetition::Count(_) => Some(InstanceKey::Int(0)),
        Repetition::Single | Repetition::Enabled(_) => Some(InstanceKey::None),
        Repetition::ForEach(_) => None,
    }
}

fn has_count(repetition: &Repetition) -> bool {
    matches!(repetition, Repetition::Count(_))
}

/// Whether what has this key may have come to have another one, by `count` that came or went.
///
/// - `counts`: whether anything of its kind has `count` now.
fn may_have_moved(key: &InstanceKey, counts: bool) -> bool {
    match key {
        InstanceKey::None => counts,
        InstanceKey::Int(number) => *number == 0,
        InstanceKey::Str(_) => false,
    }
}

/// What is blamed for an implied statement: the number of `count`, else the whole block.
fn blame(repetition: &Repetition, declared: Span) -> Span {
    match repetition {
        Repetition::Count(it) => it.span,
        _ => declared,
    }
}

/// Returns the move of a recorded module instance whose call gained or lost `count`.
fn implied_by_call(
    config: &Config,
    module: &ModuleInstance,
    written: &Written<'_>,
) -> Option<Statement> {
    let (parent, name, key) = module.parent()?;
    let call = config.module_of(&parent)?.calls.get(&name)?;
    let first = first_key(&call.repetition)?;
    if key == first {
        return None;
    }
    // A statement about a resource of that module counts too, as in OpenTofu.
    if written.leads_to(config, module) {
        return None;
    }
    Some(Statement {
        from: End::module(module),
        to: End::module(&parent.child(&name, first)),
        declared: blame(&call.repetition, call.declared),
        implied: true,
        of: None,
    })
}

/// Returns the moves of recorded instances whose blocks gained or lost `count`.
fn implied_by_resources(config: &Config, state: &State, written: &Written<'_>) -> Vec<Statement> {
    let counts = config
        .written()
        .any(|it| it.resources.values().any(|it| has_count(&it.besides.repetition)));
    let may_move = [InstanceKey::None, InstanceKey::Int(0)];
    let may_move: Vec<_> = may_move.iter().filter(|it| may_have_moved(it, counts)).collect();
    let mut implied = Vec::new();
    let mut near = 0;
    for (address, recorded) in &state.resources {
        if !may_move.iter().any(|it| recorded.instances.contains_key(it)) {
            continue;
        }
        let Some(module) = config.module_of(&address.module) else { continue };
        // Both stand in the order of their names.
        let found = module.resources.get_near(near, address.resource.as_ref());
        let Some((place, block)) = found else { continue };
        near = place + 1;
        let Some(to) = first_key(&block.besides.repetition) else { continue };
        let from = if to == InstanceKey::None { InstanceKey::Int(0) } else { InstanceKey::None };
        if !recorded.instances.contains_key(&from) || written.names(config, address) {
            continue;
        }
        implied.push(Statement {
            from: End::instance(&address.instance(from)),
            to: End::instance(&address.instance(to)),
            declared: blame(&block.besides.repetition, block.declared),
            implied: true,
            of: None,
        });
    }
    implied
}

/// Writes `statement`, `chains` and `nests`.
pub(super) fn lower(config: &Config, statements: &[Statement]) -> Facts {
    let mut facts = Facts::default();
    let number = |index: usize| StatementId(index as u32);
    facts.statement = (0..statements.len()).map(|it| (number(it),)).collect();
    // Implied moves of resources are each about a resource of its own that no other statement names: only modules that
    // hold them matter to them.
    let is_plain = |it: &Statement| it.implied && !it.from.names_module();
    let are_apart = |a: &Statement, b: &Statement| {
        a.of.as_ref().zip(b.of.as_ref()).is_some_and(|(a, b)| config.are_apart(a, b))
    };
    for (s, t) in candidates(statements) {
        let (after, before) = (&statements[s], &statements[t]);
        if is_plain(after) && is_plain(before) || are_apart(before, after) {
            continue;
        }
        if after.from.can_equal(&before.to) {
            facts.chains.push((number(s), number(t)));
        }
        if nests(after, before) {
            facts.nests.push((number(s), number(t)));
        }
    }
    leave_out(&mut facts, When::Always);
    facts
}

/// Whether `after` is about something inside what `before` moves to, or `before` about something inside what `after` moves.
pub(super) fn nests(after: &Statement, before: &Statement) -> bool {
    let is_inside = after.from.lies_within(&before.to)
        || after.to.lies_within(&before.to)
        || before.from.lies_within(&after.from)
        || before.to.lies_within(&after.from);
    // A module that only changes its key matches whatever is said of its contents at both ends: no order follows.
    is_inside && (after.to.base >= before.to.base || !after.from.only_changes_keys(&after.to))
}

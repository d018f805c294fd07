//! Whether `moved` and `removed` blocks agree with what is declared, and with each other, where no instance need be known.

use std::collections::BTreeMap;

use crate::address::{Instance, InstanceKey, Module as ModuleAddr, ModuleInstance};
use crate::diagnostic::{Diagnostics, Sources, Span};

use super::super::{Config, Module, MoveEndpoint, Moved, Resource, Variant};
use super::problems;

/// Complains of `removed` blocks whose target is still declared.
pub(super) fn check_removed(
    config: &Config,
    variant: &Variant,
    module: &Module,
    problems: &mut Diagnostics,
) {
    for removed in &module.removed {
        match absolute(&variant.path, &removed.from.0) {
            MoveEndpoint::Module(it) if config.reached(variant, &it.module()).next().is_some() => {
                problems.push(problems::removed_still_exists(
                    "module",
                    &it.to_string(),
                    removed.declared,
                ));
            }
            MoveEndpoint::Resource(it) if resource(config, variant, &it).is_some() => {
                problems.push(problems::removed_still_exists(
                    "resource",
                    &it.to_string(),
                    removed.declared,
                ));
            }
            _ => {}
        }
    }
}

/// Complains of `moved` blocks that move nothing, move what is still declared, or contradict one another.
///
/// Addresses with instance keys are compared where both ends stand in modules without keys; whether an instance is
/// still declared is known only when it is planned.
pub(super) fn check_moved(config: &Config, sources: &Sources, problems: &mut Diagnostics) {
    let (mut to_of, mut from_of) = (Partners::new(), Partners::new());
    for (variant, module) in config.all_variants() {
        let address = &variant.path;
        for moved in &module.moved {
            let (from, to) = (absolute(address, &moved.from.0), absolute(address, &moved.to.0));
            let (from_text, to_text) = (text(&from), text(&to));
            if from_text == to_text {
                push_once(problems, problems::redundant_move(&from_text, moved.declared));
                continue;
            }
            let keyed = has_key(&from) || has_key(&to);
            let nouns = nouns(&from, keyed);
            if let (false, Some(declared)) = (keyed, declared_at(config, &variant, &from)) {
                let problem = problems::moved_still_exists(
                    (&from_text, &to_text),
                    nouns,
                    &sources.place(declared),
                    moved.declared,
                );
                push_once(problems, problem);
            }
            check_agreement(
                &mut to_of,
                (&variant, moved),
                End { this: &from_text, other: &to_text, side: Side::From, nouns },
                (config, sources),
                problems,
            );
            check_agreement(
                &mut from_of,
                (&variant, moved),
                End { this: &to_text, other: &from_text, side: Side::To, nouns },
                (config, sources),
                problems,
            );
        }
    }
}

/// What each end of the `moved` blocks so far is paired with, and where. The same text means all instances of a block
/// in one statement, and the one without a key in another that names keys: the noun tells.
type Partners = BTreeMap<(String, &'static str), Vec<(Variant, String, Span)>>;

#[derive(Clone, Copy)]
enum Side {
    From,
    To,
}

/// One end of a `moved` block: what it names, what the other end names, and the words for such a thing.
struct End<'m> {
    this: &'m str,
    other: &'m str,
    side: Side,
    nouns: (&'static str, &'static str),
}

/// Remembers what one end is paired with, and complains where it was paired with something else.
fn check_agreement(
    known: &mut Partners,
    (variant, moved): (&Variant, &Moved),
    end: End<'_>,
    (config, sources): (&Config, &Sources),
    problems: &mut Diagnostics,
) {
    let End { this, other, side, nouns: (noun, short) } = end;
    let all = known.entry((this.to_owned(), noun)).or_default();
    let Some((_, first, at)) = all.iter().find(|it| !config.are_apart(&it.0, variant)) else {
        all.push((variant.clone(), other.to_owned(), moved.declared));
        return;
    };
    if first == other {
        return;
    }
    let place = sources.place(*at);
    let why = match side {
        Side::From => format!(
            "A statement at {place} declared that {this} moved to {first}, but this statement instead declares that it moved to {other}.\n\nEach {noun} can move to only one destination {short}."
        ),
        Side::To => format!(
            "A statement at {place} declared that {first} moved to {this}, but this statement instead declares that {other} moved there.\n\nEach {noun} can have moved from only one source {short}."
        ),
    };
    push_once(problems, problems::ambiguous_moves(why, moved.declared));
}

/// A module called twice holds its `moved` blocks twice; what is wrong with one is told once.
fn push_once(problems: &mut Diagnostics, problem: crate::diagnostic::Diagnostic) {
    let is_same = |it: &&crate::diagnostic::Diagnostic| {
        it.summary == problem.summary && it.subject == problem.subject
    };
    if problems.0.iter().find(is_same).is_none() {
        problems.push(problem);
    }
}

fn absolute(base: &ModuleAddr, end: &MoveEndpoint) -> MoveEndpoint {
    let place = |path: &ModuleInstance| {
        let base = base.0.iter().map(|name| (name.clone(), InstanceKey::None));
        ModuleInstance(base.chain(path.0.iter().cloned()).collect())
    };
    match end {
        MoveEndpoint::Module(path) => MoveEndpoint::Module(place(path)),
        MoveEndpoint::Resource(it) => {
            MoveEndpoint::Resource(Instance { module: place(&it.module), ..it.clone() })
        }
    }
}

fn text(end: &MoveEndpoint) -> String {
    match end {
        MoveEndpoint::Module(it) => it.to_string(),
        MoveEndpoint::Resource(it) => it.to_string(),
    }
}

fn has_key(end: &MoveEndpoint) -> bool {
    let in_path = |it: &ModuleInstance| it.0.iter().any(|it| it.1 != InstanceKey::None);
    match end {
        MoveEndpoint::Module(path) => in_path(path),
        MoveEndpoint::Resource(it) => it.key != InstanceKey::None || in_path(&it.module),
    }
}

fn nouns(end: &MoveEndpoint, keyed: bool) -> (&'static str, &'static str) {
    match (end, keyed) {
        (MoveEndpoint::Module(_), true) => ("module instance", "instance"),
        (MoveEndpoint::Module(_), false) => ("module call", "call"),
        (MoveEndpoint::Resource(_), true) => ("resource instance", "instance"),
        (MoveEndpoint::Resource(_), false) => ("resource", "resource"),
    }
}

/// Returns where the block of an end is, if it is still declared.
fn declared_at(config: &Config, of: &Variant, end: &MoveEndpoint) -> Option<Span> {
    match end {
        MoveEndpoint::Module(it) => {
            let (caller, name) = it.module().parent()?;
            let mut callers = config.reached(of, &caller);
            callers.find_map(|it| it.1.calls.get(&name)).map(|it| it.declared)
        }
        MoveEndpoint::Resource(it) => resource(config, of, it).map(|it| it.declared),
    }
}

/// Returns the block of a resource that a module names, in itself or in what it calls.
fn resource<'c>(config: &'c Config, of: &Variant, it: &Instance) -> Option<&'c Resource> {
    let path = it.module.module();
    let mut modules = config.reached(of, &path);
    modules.find_map(|module| module.1.resources.get(&it.resource)).map(|it| &**it)
}

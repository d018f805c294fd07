//! References to resources: whether the resource is declared, and whether its key fits how it repeats.

use super::super::super::uses::Role;
use super::super::super::{Module, Repetition, Resource, suggest};
use super::super::{module_text, problems};
use super::{Scope, no_value};
use crate::address::{Mode, ResourceName, ResourceNameRef};
use crate::diagnostic::{Diagnostics, Span};
use crate::expression::{Reference, missing_resource_key};
use crate::syntax::Step;

pub(super) fn check_resource(
    scope: &Scope,
    role: Role,
    resource: ResourceNameRef<'_>,
    reference: &Reference,
    problems: &mut Diagnostics,
) {
    let at = reference.subject_span;
    let Some((_, block)) = scope.module.resources.named(resource, reference.near()) else {
        match (role, scope.owner) {
            (Role::Trigger, Some(owner)) => {
                problems.push(problems::undeclared_trigger(
                    &owner.to_string(),
                    &resource.to_string(),
                    reference.span,
                ));
            }
            _ => {
                let hint = hint_for(scope.module, &resource.to_owned());
                let names = (resource.kind.as_str(), resource.name.as_str());
                problems.push(problems::undeclared_resource(
                    adjective(resource.mode),
                    names,
                    &module_text(scope.address),
                    &hint,
                    at,
                ));
            }
        }
        return;
    };
    if block.besides.check.is_some() && block.besides.check.as_deref() != scope.check {
        problems.push(problems::scoped_resource((resource.kind, resource.name), at));
    }
    check_key(role, block, reference, problems);
}

/// Returns whether there is nothing to tell of a single resource that is read by these names, wherever in its module that is.
pub fn may_be_named(block: &Resource, names: &[Step]) -> bool {
    block.besides.check.is_none() && !names_count(names)
}

fn names_count(steps: &[Step]) -> bool {
    matches!(steps.first(), Some(Step::Attribute(name)) if &*name.text == "count")
}

fn check_key(role: Role, block: &Resource, reference: &Reference, problems: &mut Diagnostics) {
    let whole: Span = reference.subject_span;
    let address = || block.name.to_string();
    match (reference.rest, &block.besides.repetition) {
        (steps, _) if names_count(steps) => {
            problems.push(problems::count_attribute(&address(), whole))
        }
        ([Step::Attribute(_), ..], Repetition::Count(_)) if role != Role::DependsOn => {
            problems.push(missing_resource_key(&address(), "count", whole));
        }
        ([Step::Attribute(_), ..], Repetition::ForEach(_)) if role != Role::DependsOn => {
            problems.push(missing_resource_key(&address(), "for_each", whole));
        }
        ([Step::Index(it), ..], Repetition::Single | Repetition::Enabled(_))
            if it.key.is_literal() =>
        {
            problems.push(problems::unexpected_key(&address(), whole.to(it.span)));
        }
        ([Step::LegacyIndex(it), ..], Repetition::Single | Repetition::Enabled(_)) => {
            problems.push(problems::unexpected_key(&address(), whole.to(it.span)));
        }
        _ => {}
    }
}

fn adjective(mode: Mode) -> &'static str {
    match mode {
        Mode::Managed => "managed",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
    }
}

/// Returns a sentence that names what was probably meant: the same name in another mode, or a name that is nearly the same.
fn hint_for(module: &Module, wanted: &ResourceName) -> String {
    let block = |mode| match mode {
        Mode::Managed => "resource",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
    };
    if let Some(provider) = module.provider_block(&wanted.kind, Some(&wanted.name)) {
        let key = if provider.repetition.expression().is_some() { "[each.key]" } else { "" };
        return no_value(&format!("{}{key}", provider.local_name()));
    }
    for mode in [Mode::Managed, Mode::Data, Mode::Ephemeral] {
        let candidate = ResourceName { mode, ..wanted.clone() };
        if module.resources.contains_key(&candidate) {
            return format!("\n\nDid you mean the {} resource {candidate}?", block(mode));
        }
    }
    let same_mode = module
        .resources
        .keys()
        .filter(|it| it.mode == wanted.mode && it.kind == wanted.kind)
        .map(|it| &*it.name);
    // Of a name of one or two letters nothing would be left.
    let resembles = |it: &&str| strsim::levenshtein(&wanted.name, it) < wanted.name.chars().count();
    if let Some(name) = suggest(&wanted.name, same_mode).filter(resembles) {
        return format!(
            "\n\nDid you mean {}?",
            ResourceName { name: name.into(), ..wanted.clone() }
        );
    }
    let kinds = module
        .resources
        .keys()
        .filter(|it| it.mode == wanted.mode && it.name == wanted.name)
        .map(|it| &*it.kind);
    match suggest(&wanted.kind, kinds) {
        Some(kind) => {
            format!("\n\nDid you mean {}?", ResourceName { kind: kind.into(), ..wanted.clone() })
        }
        None => String::new(),
    }
}

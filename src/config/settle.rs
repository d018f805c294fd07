//! What constant variables may decide of a module's providers before there is a plan: aliases, and versions in `required_providers`.
//!
//! Which provider a local name means cannot be decided by variables: everything that is read of a module rests on it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::{Subject, references_of};
use crate::syntax::{Expression, is_identifier, references};
use crate::value::{Str, Type, Value, convert};

use super::early::StaticModule;
use super::version::Constraints;
use super::{Module, Name, problems};

/// Returns whether an expression refers to anything, so that it has no value until its module is in its place.
pub(super) fn is_open(expression: &Expression) -> bool {
    let mut refers = false;
    references(expression, &mut |_, _, _| refers = true);
    refers
}

/// Returns a module in its place with the aliases and versions that its variables decide there.
pub(super) fn settled(place: StaticModule) -> (StaticModule, Diagnostics) {
    let module = place.module();
    let has_aliases = module.providers.iter().any(|it| it.alias_from.is_some());
    let has_versions = module.required_providers.values().any(|it| it.version_from.is_some());
    if !has_aliases && !has_versions {
        return (place, Diagnostics::new());
    }
    let mut module = Module::clone(module);
    let mut found = Diagnostics::new();
    for block in &mut module.providers {
        let Some(expression) = block.alias_from.take() else { continue };
        let name = format!("provider.{}.alias", block.name.text);
        let text = found.take(text(&place, &expression, &name));
        let Some(text) = text else { continue };
        if !is_identifier(&text) {
            found.push(problems::invalid_alias(expression.span));
        }
        block.alias = Some(Name::new(text, expression.span));
    }
    for entry in module.required_providers.values_mut() {
        let Some(expression) = entry.version_from.take() else { continue };
        let name = format!("required_providers.{}.version", entry.name.text);
        let Some(text) = found.take(text(&place, &expression, &name)) else { continue };
        if Constraints::parse(&text).is_none() {
            found.push(problems::invalid_constraint(expression.span));
        }
        entry.version = Some((text.to_string(), expression.span));
    }
    if !found.has_errors() {
        found.extend(twice(&module));
    }
    (place.with(Arc::new(module)), found)
}

/// Returns a variable that an expression rests on, through locals too, and that is not declared to be constant.
fn open_variable(
    module: &Module,
    expression: &Expression,
    seen: &mut BTreeSet<Str>,
) -> Option<(Str, Span)> {
    for it in references_of(expression).0 {
        match it.subject {
            Subject::Variable(name) => {
                let variable = module.variables.get(name);
                if variable.is_some_and(|it| it.constant != Some(true)) {
                    return Some((name.clone(), it.span));
                }
            }
            Subject::Local(name) if seen.insert(name.clone()) => {
                let value = module.locals.get(name).map(|it| &it.value);
                let found = value.and_then(|it| open_variable(module, it, seen));
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
    }
    None
}

/// Evaluates what must be a text that anybody may see, and the same whenever the configuration is read.
fn text(place: &StaticModule, expression: &Expression, name: &str) -> Result<Str, Diagnostics> {
    if let Some((name, at)) = open_variable(place.module(), expression, &mut BTreeSet::new()) {
        let detail = format!(
            "Of variables, only those with const = true may decide this: they have their values before anything is planned. var.{name} is not declared so."
        );
        return Err(problems::invalid("Variables not allowed", detail, at).into());
    }
    let value = place.evaluate(expression, name)?;
    let problem = |detail: &str| {
        Err(problems::invalid("Invalid provider setting", detail, expression.span).into())
    };
    if value.contains_sensitive() || value.contains_ephemeral() {
        return problem("A sensitive or ephemeral value cannot name or choose a provider.");
    }
    let text = convert(&value, Type::STRING).ok();
    match text.as_ref().and_then(Value::as_str) {
        Some(text) => Ok(text.into()),
        None => problem("This must be a text, and not null."),
    }
}

/// Two blocks for which the same alias was decided.
fn twice(module: &Module) -> Diagnostics {
    let mut found = Diagnostics::new();
    for (at, block) in module.providers.iter().enumerate() {
        let is_same = |it: &&super::ProviderBlock| it.local_name() == block.local_name();
        if module.providers[..at].iter().find(is_same).is_some() {
            found.push(duplicate(block));
        }
    }
    found
}

fn duplicate(block: &super::ProviderBlock) -> Diagnostic {
    let detail = format!(
        "There is another configuration {}. Each configuration for the same provider must have a distinct alias, also where variables decide it.",
        block.local_name()
    );
    problems::invalid("Duplicate provider configuration", &detail, block.declared)
}

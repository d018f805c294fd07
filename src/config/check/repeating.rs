//! Provider configurations that repeat: their collection must be known before anything is planned, and should not be the one
//! that their resources repeat over.

use crate::address::Module as ModuleAddr;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::syntax::{self, Expr, Expression};
use crate::world::PROGRAM;

use super::super::early::Each;
use super::super::provider::local_name;
use super::super::{Config, Module, ProviderBlock, Repetition};
use super::distinct;

/// Checks every provider configuration that repeats.
pub fn check(config: &Config, sources: &Sources) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for (address, module) in &config.modules {
        for block in &module.providers {
            problems.take(instances(config, address, block));
        }
    }
    for (_, module) in distinct(config) {
        for block in &module.providers {
            if let Some(expression) = block.repetition.expression() {
                shared(module, block, expression, sources, &mut problems);
            }
        }
    }
    problems
}

/// Returns the repetitions of a provider configuration; none where it does not repeat.
pub fn instances(
    config: &Config,
    address: &ModuleAddr,
    block: &ProviderBlock,
) -> Result<Vec<Each>, Diagnostics> {
    let Some(place) = config.static_module(address) else { return Ok(Vec::new()) };
    let why = "Which instances a provider configuration has must be known before anything is planned: its collection can be made from variables, local values and functions only.";
    place.repeat(&block.repetition, &name_of(block), why)
}

fn name_of(block: &ProviderBlock) -> String {
    match &block.alias {
        Some(alias) if !alias.text.is_empty() => {
            format!("provider.{}.{}", block.name.text, alias.text)
        }
        _ => format!("provider.{}", block.name.text),
    }
}

/// Warns where a resource or a module call that is served by the instances repeats over the same collection.
fn shared(
    module: &Module,
    block: &ProviderBlock,
    collection: &Expression,
    sources: &Sources,
    problems: &mut Diagnostics,
) {
    let mut refers = false;
    syntax::references(collection, &mut |_, _, _| refers = true);
    let Some(text) = bare_text(collection, sources).filter(|_| refers) else { return };
    let name = block.local_name();
    let is_same = |it: &Repetition| match it {
        Repetition::ForEach(it) => bare_text(it, sources).as_ref() == Some(&text),
        _ => false,
    };
    let is_used = |it: &super::super::ProviderRef| {
        local_name(&it.name.text, it.alias.as_ref().map(|it| &*it.text)) == name
    };
    for resource in module.resources.values() {
        let is_managed = resource.name.mode == crate::address::Mode::Managed;
        if is_managed
            && resource.besides.provider.as_deref().is_some_and(is_used)
            && is_same(&resource.besides.repetition)
        {
            problems.push(warning(
                "resource",
                "a resource",
                &resource.name.to_string(),
                &resource.besides.repetition,
            ));
        }
    }
    for call in module.calls.values() {
        if call.besides.providers.iter().any(|it| is_used(&it.1)) && is_same(&call.repetition) {
            let address = format!("module.{}", call.name.text);
            problems.push(warning("module", "a module", &address, &call.repetition));
        }
    }
}

/// The text of an expression without blanks and outer parentheses.
fn bare_text(expression: &Expression, sources: &Sources) -> Option<String> {
    let mut inner = expression;
    while let Expr::Parentheses(it) | Expr::Wrapped(it) = &inner.expr {
        inner = it;
    }
    if sources.get(inner.span.file()).is_some_and(|it| it.name.ends_with(".json")) {
        // The other program compares no expressions in JSON.
        return None;
    }
    let text = sources.text(inner.span)?;
    let mut in_quotes = false;
    let kept = text.chars().filter(|it| {
        in_quotes ^= *it == '"';
        in_quotes || !it.is_whitespace()
    });
    Some(kept.collect())
}

fn warning(kind: &str, what: &str, address: &str, repetition: &Repetition) -> Diagnostic {
    let problem = Diagnostic::warning(format!("Provider configuration for_each matches {kind}"))
        .detail(format!(
            "This provider configuration uses the same for_each expression as {what}. A provider instance destroys the objects that it made, so it must outlive them by one run: where an element leaves this collection, both go at once, and the next plan is an error unless the arguments of the provider need no more than the key.\n\nLet the provider's for_each give the keys of everything that exists, and this one the keys of what shall exist. To destroy an object before its key goes:\n    {PROGRAM} apply -destroy -target={address}"
        ));
    match repetition.expression() {
        Some(it) => problem.at(it.span),
        None => problem,
    }
}

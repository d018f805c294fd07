//! Provider configurations that repeat: their collection must be known before anything is planned, and should not be the one
//! that their resources repeat over.

use std::collections::BTreeSet;

use crate::address::Module as ModuleAddr;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::expression::{Subject, parse_reference};
use crate::syntax::{self, Expr, Expression};
use crate::value::Str;

use super::super::provider::local_name;
use super::super::{Config, Module, ProviderBlock, Repetition};
use super::distinct;

/// Checks every provider configuration that repeats.
pub fn check(config: &Config, sources: &Sources) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for (address, module) in distinct(config) {
        for block in &module.providers {
            let Some(expression) = block.repetition.expression() else { continue };
            let mut search = Search { config, problems: Diagnostics::new(), open: BTreeSet::new() };
            search.expression(address, module, expression, &name_of(block));
            problems.extend(search.problems);
            shared(module, block, expression, sources, &mut problems);
        }
    }
    problems
}

fn name_of(block: &ProviderBlock) -> String {
    let argument =
        if matches!(block.repetition, Repetition::Count(_)) { "count" } else { "for_each" };
    match &block.alias {
        Some(alias) if !alias.text.is_empty() => {
            format!("provider.{}.{}.{argument}", block.name.text, alias.text)
        }
        _ => format!("provider.{}.{argument}", block.name.text),
    }
}

/// Follows what a collection is made from, to the first thing that is not known yet.
struct Search<'a> {
    config: &'a Config,
    problems: Diagnostics,
    /// What is being followed.
    open: BTreeSet<(ModuleAddr, String)>,
}

impl Search<'_> {
    /// Returns whether the expression can be evaluated; `user` needs it.
    fn expression(
        &mut self,
        address: &ModuleAddr,
        module: &Module,
        expression: &Expression,
        user: &str,
    ) -> bool {
        let mut found: Vec<(Subject, String, Span)> = Vec::new();
        syntax::references(expression, &mut |root, steps, span| {
            if let Ok(reference) = parse_reference(root, steps) {
                found.push((reference.subject.clone(), written(root, steps), span));
            }
        });
        let mut is_known = true;
        syntax::calls(expression, &mut |name, _, span| {
            if name.text.starts_with("provider::") {
                is_known = false;
                let detail = format!(
                    "{} cannot be called here: no provider is started yet, and {user} must be known before.",
                    name.text
                );
                self.report("Provider function in static context", detail, span);
            }
        });
        for (subject, text, span) in found {
            is_known &= self.reference(address, module, (&subject, &text, span), user);
        }
        is_known
    }

    fn reference(
        &mut self,
        address: &ModuleAddr,
        module: &Module,
        (subject, text, span): (&Subject, &str, Span),
        user: &str,
    ) -> bool {
        match subject {
            Subject::Path(_) | Subject::Terraform(_) => true,
            Subject::Local(name) => {
                let Some(local) = module.locals.get(name) else {
                    self.report("Undefined local", format!("Undefined local {text}"), span);
                    return false;
                };
                self.follow(address, module, (&format!("local.{name}"), &local.value), span, user)
            }
            Subject::Variable(name) => {
                if !module.variables.contains_key(name) {
                    self.report("Undefined variable", format!("Undefined variable {text}"), span);
                    return false;
                }
                self.variable(address, name, span, user)
            }
            Subject::Module(_) => {
                let detail = format!(
                    "{text} is known only when the module's objects are planned, and {user} must be known before."
                );
                self.report("Module output not supported in static context", detail, span);
                false
            }
            _ => {
                let detail =
                    format!("Unable to use {text} in static context, which is required by {user}");
                self.report("Dynamic value in static context", detail, span);
                false
            }
        }
    }

    fn variable(&mut self, address: &ModuleAddr, name: &Str, span: Span, user: &str) -> bool {
        let Some((parent, call)) = address.parent() else { return true };
        let config = self.config;
        let Some(caller) = config.module(&parent) else { return true };
        let input = caller.calls.get(&call).and_then(|it| it.inputs.get(name));
        let Some(input) = input else { return true };
        let own = format!("{address}:var.{name}");
        self.follow(&parent, caller, (&own, &input.value), span, user)
    }

    fn follow(
        &mut self,
        address: &ModuleAddr,
        module: &Module,
        (name, value): (&str, &Expression),
        span: Span,
        user: &str,
    ) -> bool {
        let here = (address.clone(), name.to_owned());
        if !self.open.insert(here.clone()) {
            // What depends on itself is told with the other references.
            return true;
        }
        let is_known = self.expression(address, module, value, name);
        self.open.remove(&here);
        if !is_known {
            let detail = format!("{user} depends on {name} which is not available");
            self.report("Unable to compute static value", detail, span);
        }
        is_known
    }

    fn report(&mut self, summary: &str, detail: String, at: Span) {
        self.problems.push(Diagnostic::error(summary).detail(detail).at(at));
    }
}

/// A reference as it is written, without what is chosen from it.
fn written(root: &syntax::Name, steps: &[syntax::Step]) -> String {
    let most = if matches!(&*root.text, "data" | "ephemeral") { 2 } else { 1 };
    let names = steps.iter().take(most).map_while(|it| match it {
        syntax::Step::Attribute(name) => Some(format!(".{}", name.text)),
        _ => None,
    });
    std::iter::once(root.text.to_string()).chain(names).collect()
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
            && resource.provider.as_ref().is_some_and(is_used)
            && is_same(&resource.repetition)
        {
            problems.push(warning(
                "resource",
                "a resource",
                &resource.name.to_string(),
                &resource.repetition,
            ));
        }
    }
    for call in module.calls.values() {
        if call.providers.iter().any(|it| is_used(&it.1)) && is_same(&call.repetition) {
            let address = format!("module.{}", call.name.text);
            problems.push(warning("module", "a module", &address, &call.repetition));
        }
    }
}

/// The text of an expression without blanks and outer parentheses.
fn bare_text(expression: &Expression, sources: &Sources) -> Option<String> {
    let mut inner = expression;
    while let Expr::Parentheses(it) | Expr::Wrapped(it) = &*inner.expr {
        inner = it;
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
            "This provider configuration uses the same for_each expression as {what}. A provider instance destroys the objects that it made, so it must outlive them by one run: where an element leaves this collection, both go at once, and the next plan is an error.\n\nLet the provider's for_each give the keys of everything that exists, and this one the keys of what shall exist. To destroy an object before its key goes:\n    entail apply -destroy -target={address}"
        ));
    match repetition.expression() {
        Some(it) => problem.at(it.span),
        None => problem,
    }
}

//! Blocks of one name in modules that share a path: instances that come from different places. Who serves a block is
//! concluded once for all of them, so they must name the same provider configurations.

use std::collections::BTreeMap;

use crate::address::Module as ModuleAddr;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};

use super::super::{Config, Module, ProviderRef};

/// Complains of blocks that name different provider configurations, each block once.
pub(in crate::config) fn check(config: &Config, sources: &Sources) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for path in config.modules.keys() {
        let mut known: BTreeMap<String, (String, Span)> = BTreeMap::new();
        let all = config.all_at(path);
        for module in all.iter().filter(|_| all.len() > 1) {
            for (name, says, at) in said(module, sources) {
                let (first, first_at) = known.entry(name.clone()).or_insert((says.clone(), at));
                if *first != says {
                    let places = [(&**first, *first_at), (&*says, at)];
                    problems.push(differ(path, &name, places, sources));
                }
            }
        }
    }
    problems
}

/// What each block of a module says of providers, as text.
fn said(module: &Module, sources: &Sources) -> Vec<(String, String, Span)> {
    let resources = module.resources.iter().map(|(name, it)| {
        let reference = it.provider.as_deref();
        let written = reference.map_or_else(|| "no configuration".to_owned(), shape);
        let says = format!("{written} of {}", it.provider_source);
        (name.to_string(), says, reference.map_or(it.declared, |it| it.span))
    });
    let calls = module.calls.iter().map(|(name, it)| {
        let passed = it.providers.iter().map(|(child, own)| {
            let key = own.key.as_ref().and_then(|it| sources.text(it.span)).unwrap_or_default();
            format!(
                "{} = {}{key} of {}",
                child.local_name(),
                shape(own),
                module.provider_of(&own.name.text)
            )
        });
        let mut passed: Vec<String> = passed.collect();
        passed.sort();
        (format!("module.{name}"), format!("{{ {} }}", passed.join(", ")), it.declared)
    });
    resources.chain(calls).collect()
}

/// A reference without its key, which each block evaluates for itself.
fn shape(reference: &ProviderRef) -> String {
    let key = if reference.key.is_some() { "[…]" } else { "" };
    format!("{}{key}", reference.local_name().trim_end_matches("[]"))
}

fn differ(
    path: &ModuleAddr,
    name: &str,
    [(first, first_at), (other, other_at)]: [(&str, Span); 2],
    sources: &Sources,
) -> Diagnostic {
    Diagnostic::error("Module instances use different providers")
        .detail(format!(
            "The instances of {path} come from different places, and {name} names different provider configurations in them:\n  - {first}, {}\n  - {other}, {}\n\nLet both name the same, or give one of the two another name.",
            sources.place(first_at),
            sources.place(other_at),
        ))
        .at(other_at)
}

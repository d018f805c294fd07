//! Whether there is a provider configuration wherever one is asked for or passed on, and which of those that are written
//! anything asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::{Config, Module, ProviderBlock, Variant, uses};
use super::{module_text, problems};
use crate::address::{Provider, ProviderConfig};
use crate::config::serving::BlocksServed;
use crate::diagnostic::Diagnostics;
use crate::syntax::Name;
use crate::value::Str;

/// The `provider` blocks that something uses. The others are not evaluated, so that nothing in them is wrong.
pub(super) struct UsedProviders(BTreeSet<(usize, String)>);

impl UsedProviders {
    pub(super) fn of(config: &Config, served: &BlocksServed) -> UsedProviders {
        let mut used = BTreeSet::new();
        for (variant, name) in served.by.values() {
            used.extend(config.variant(variant).map(|it| (identity(it), name.clone())));
        }
        for (_, module) in config.all() {
            let called = uses::called_providers(module).into_iter().map(|it| it.to_string());
            let imports =
                module.imports.iter().filter_map(|it| Some(it.provider.as_ref()?.local_name()));
            used.extend(called.chain(imports).map(|it| (identity(module), it)));
        }
        UsedProviders(used)
    }

    pub(super) fn has(&self, module: &Arc<Module>, block: &ProviderBlock) -> bool {
        self.0.contains(&(identity(module), block.local_name()))
    }
}

fn identity(module: &Arc<Module>) -> usize {
    Arc::as_ptr(module).addr()
}

/// Complains of resources whose provider configuration is nowhere.
pub(super) fn check_presence(config: &Config, served: &BlocksServed, problems: &mut Diagnostics) {
    if served.unconfigured.is_empty() {
        return;
    }
    let mut found = Diagnostics::new();
    for (variant, module) in config.all_variants() {
        let address = &variant.path;
        for resource in module.resources.values() {
            let block = (variant.clone(), resource.name.clone());
            let has_own_error = served.without_key.contains_key(&block);
            if has_own_error || !served.unconfigured.contains(&block) {
                continue;
            }
            let alias = resource
                .besides
                .provider
                .as_ref()
                .and_then(|it| it.alias.as_ref())
                .map(|it| it.text.clone());
            let wanted = ProviderConfig {
                module: address.clone(),
                provider: Provider::clone(&resource.provider_source),
                alias,
            };
            let address = if address.is_root() {
                resource.name.to_string()
            } else {
                format!("{address}.{}", resource.name)
            };
            let detail = format!(
                "To work with {address} its original provider configuration at {wanted} is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy {address}, after which you can remove the provider configuration again."
            );
            found.push(problems::provider_problem(
                "Provider configuration not present",
                detail,
                resource.besides.provider.as_ref().map_or(resource.declared, |it| it.span),
            ));
        }
    }
    problems.extend(found.once());
}

/// Complains of calls that pass a provider configuration which their module does not have: nobody wrote it there, passed it
/// in, or requires it. That a resource implies one does not count.
pub(super) fn check_given(config: &Config, problems: &mut Diagnostics) {
    for (caller, call, (_, module)) in config.passing_calls() {
        for (child, own) in &call.besides.providers {
            let provider = module.provider_of(&child.name.text);
            let alias = own.alias.as_ref().map(|it| it.text.clone());
            if !has_to_pass(config, &caller, &provider, alias.as_ref()) {
                let wanted = ProviderConfig { module: caller.path.clone(), provider, alias };
                problems.push(problems::nothing_to_pass(
                    &wanted,
                    (&own.local_name(), &module_text(&caller.path)),
                    own.span,
                ));
            }
        }
    }
}

fn has_to_pass(config: &Config, of: &Variant, provider: &Provider, alias: Option<&Str>) -> bool {
    let Some(module) = config.variant(of) else { return false };
    let is_it =
        |it: &Provider, other: Option<&Name>| it == provider && other.map(|it| &it.text) == alias;
    if module.providers.iter().any(|it| is_it(&it.source, it.alias.as_ref())) {
        return true;
    }
    match config.caller(of).and_then(|(caller, name)| config.variant(&caller)?.calls.get(&name)) {
        Some(call) => {
            let mut passed = call.besides.providers.iter().map(|it| &it.0);
            passed.any(|it| is_it(&module.provider_of(&it.name.text), it.alias.as_ref()))
        }
        None => module.required_providers.values().any(|it| is_it(&it.source, None)),
    }
}

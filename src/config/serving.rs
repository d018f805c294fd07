//! Which provider configuration serves what: local names and aliases are followed through module calls.

use crate::address::{Module as ModuleAddr, Provider, ProviderConfig};
use crate::syntax::Expression;
use crate::value::Str;

use super::provider::implied_provider;
use super::{Config, Resource};

/// The provider configuration that a name leads to.
#[derive(Clone, Debug)]
pub struct Resolved<'a> {
    /// The configuration. Its block need not be written: a default configuration may be implied.
    pub config: ProviderConfig,
    /// The local name in the module that holds the configuration.
    pub local_name: Str,
    /// Whether the block is there.
    pub is_written: bool,
    /// The key expression on the way, and the module in which it is evaluated.
    pub key: Option<(&'a Expression, ModuleAddr)>,
}

/// Follows a local name and alias of a module to the configuration that serves it: through what callers pass, or, for
/// default configurations, up to the root. Nothing is found where an alias has no configuration.
pub fn resolve<'a>(
    config: &'a Config,
    module: &ModuleAddr,
    name: &str,
    alias: Option<&str>,
) -> Option<Resolved<'a>> {
    let (mut at, mut name, mut alias) = (module.clone(), Str::from(name), alias.map(Str::from));
    let mut key = None;
    loop {
        let here = config.module(&at)?;
        let provider = here.provider_of(&name);
        let found = |is_written| Resolved {
            config: ProviderConfig {
                module: at.clone(),
                provider: provider.clone(),
                alias: alias.clone(),
            },
            local_name: name.clone(),
            is_written,
            key: key.clone(),
        };
        let block = here.provider_block(&name, alias.as_deref());
        let caller = at.parent();
        let passed = caller.as_ref().and_then(|(parent, call)| {
            let call = config.module(parent)?.calls.get(call)?;
            call.providers.iter().find(|it| {
                it.0.name.text == name && it.0.alias.as_ref().map(|it| &it.text) == alias.as_ref()
            })
        });
        let next = match (passed, block, caller) {
            (Some((_, own)), _, Some((parent, _))) => {
                if let Some(expression) = &own.key {
                    key = Some((expression, parent.clone()));
                }
                (parent, own.name.text.clone(), own.alias.as_ref().map(|it| it.text.clone()))
            }
            (_, Some(_), _) => return Some(found(true)),
            (_, None, None) => return if alias.is_none() { Some(found(false)) } else { None },
            // Default configurations are inherited, whatever the caller calls the provider.
            (_, None, Some((parent, _))) if alias.is_none() => {
                let known = config.module(&parent)?;
                let same = known
                    .required_providers
                    .values()
                    .find(|it| it.source == provider)
                    .map(|it| it.name.text.clone());
                (parent, same.unwrap_or_else(|| implied_name(&provider, &name)), None)
            }
            (_, None, Some(_)) => return None,
        };
        (at, name, alias) = next;
    }
}

/// Returns the name under which a caller that requires nothing knows a provider.
fn implied_name(provider: &Provider, name: &Str) -> Str {
    if Provider::implied(&provider.kind) == *provider {
        provider.kind.clone()
    } else {
        name.clone()
    }
}

/// Returns the configuration that serves a resource, with the key it is asked for by.
pub fn resolve_resource<'a>(
    config: &'a Config,
    module: &ModuleAddr,
    resource: &'a Resource,
) -> Option<Resolved<'a>> {
    let Some(reference) = &resource.provider else {
        return resolve(config, module, implied_provider(&resource.name.kind), None);
    };
    let alias = reference.alias.as_ref().map(|it| &*it.text);
    let found = resolve(config, module, &reference.name.text, alias)?;
    let own = reference.key.as_ref().map(|it| (it, module.clone()));
    Some(Resolved { key: own.or(found.key), ..found })
}

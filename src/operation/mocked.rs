//! Providers that are mocked for a plan: nothing is asked of them that needs credentials, and what they would decide is unknown.

use std::collections::BTreeSet;

use super::session::Session;
use crate::address::{Module as ModuleAddr, Provider, ProviderConfig};
use crate::config::suggest;
use crate::diagnostic::Diagnostic;
use crate::provider::mock::{Fill, MockedProvider, Mocks};

/// Returns mocks for every configuration of providers.
///
/// - `wanted`: their types, as local names of the root module or as source addresses.
///
/// # Errors
///
/// If the configuration uses no such provider.
pub fn providers(session: &Session, wanted: &[String]) -> Result<Mocks, Diagnostic> {
    let mut used: BTreeSet<Provider> = BTreeSet::new();
    for (_, module) in session.config.all() {
        used.extend(module.resource_providers().cloned());
        used.extend(module.providers.iter().map(|it| it.source.clone()));
    }
    let mut mocks = Mocks::default();
    for name in wanted {
        let meant = session.config.root().provider_of(name);
        let is_meant = |it: &&Provider| **it == meant || *it.kind == **name || it.short() == *name;
        let found: Vec<&Provider> = used.iter().filter(is_meant).collect();
        if found.is_empty() {
            return Err(unknown(name, &used));
        }
        for provider in found {
            for at in configurations(session, provider) {
                let empty = MockedProvider {
                    defaults: Default::default(),
                    overrides: Default::default(),
                    fill: Fill::Unknown,
                };
                mocks.providers.insert(at, empty);
            }
        }
    }
    Ok(mocks)
}

/// Returns every configuration of a provider: the root module's own without a block, and every block.
fn configurations(session: &Session, provider: &Provider) -> Vec<ProviderConfig> {
    let usual =
        ProviderConfig { module: ModuleAddr::default(), provider: provider.clone(), alias: None };
    let mut found = vec![usual];
    for (module, config) in session.config.all() {
        let blocks = config.providers.iter().filter(|it| it.source == *provider);
        found.extend(blocks.map(|it| ProviderConfig {
            module: module.clone(),
            provider: provider.clone(),
            alias: it.alias.as_ref().map(|it| it.text.clone()),
        }));
    }
    found
}

fn unknown(name: &str, used: &BTreeSet<Provider>) -> Diagnostic {
    let known: Vec<String> = used.iter().map(|it| it.kind.to_string()).collect();
    let hint = match suggest(name, known.iter().map(String::as_str)) {
        Some(it) => format!(" Did you mean {it:?}?"),
        None => format!(" It uses: {}.", known.join(", ")),
    };
    Diagnostic::error("Unknown provider to mock")
        .detail(format!("-mock names {name:?}, and the configuration uses no such provider.{hint}"))
}

//! The provider configurations of all modules in one table, as a plan's document lists them: what a module only passes on
//! points at where it is written.

use std::collections::BTreeMap;

use crate::address::{Module as ModuleAddr, Provider};
use crate::config::version::normal_text;
use crate::config::{Config, Module, ProviderRef, Resource};
use crate::value::Str;

/// A provider configuration as the document lists it.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) full_name: String,
    pub(super) alias: Option<Str>,
    pub(super) version: String,
    pub(super) module: ModuleAddr,
    /// The entry of a calling module that this one only passes on.
    pub(super) parent: Option<String>,
}

/// Returns the key of a provider configuration: `module.a:null.x`.
pub(super) fn key_of(module: &ModuleAddr, name: &str) -> String {
    if module.is_root() { name.into() } else { format!("{module}:{name}") }
}

fn reference_name(it: &ProviderRef) -> String {
    it.local_name()
}

/// The local name of the provider that a resource uses.
pub(super) fn local_name(resource: &Resource) -> String {
    match &resource.besides.provider {
        Some(it) => reference_name(it),
        None => resource.name.kind.split('_').next().unwrap_or_default().into(),
    }
}

/// Lists every provider configuration of every module, those that are passed on with where they come from.
pub(super) fn provider_table(config: &Config) -> BTreeMap<String, Entry> {
    let mut table = BTreeMap::new();
    // Callers come before what they call.
    for (address, module) in &config.modules {
        add_own(&mut table, address, module);
        for (name, call) in &module.calls {
            let child = address.child(name);
            let Some(called) = config.modules.get(&child) else { continue };
            for (inner, outer) in &call.besides.providers {
                let full_name = called.provider_of(&inner.name.text).to_string();
                let name = reference_name(inner);
                let parent = origin(&table, key_of(address, &reference_name(outer)), &full_name);
                let entry = Entry {
                    name: name.clone(),
                    full_name,
                    module: child.clone(),
                    parent,
                    ..Entry::default()
                };
                table.insert(key_of(&child, &name), entry);
            }
        }
    }
    table
}

fn add_own(table: &mut BTreeMap<String, Entry>, address: &ModuleAddr, module: &Module) {
    let needs = module.needs();
    let entry = |name: &str, provider: &Provider| Entry {
        name: name.into(),
        full_name: provider.to_string(),
        version: needs.get(provider).map(|it| normal_text(it)).unwrap_or_default(),
        module: address.clone(),
        ..Entry::default()
    };
    for block in &module.providers {
        let alias = block.alias.as_ref().map(|it| it.text.clone());
        let own = Entry { alias, ..entry(&block.name.text, &block.source) };
        table.insert(key_of(address, &block.local_name()), own);
    }
    for (name, required) in &module.required_providers {
        for (_, alias, _) in &required.configuration_aliases {
            table
                .entry(key_of(address, &format!("{name}.{alias}")))
                .or_insert_with(|| entry(name, &required.source));
        }
    }
    // What nobody names is known by its type, and stands beside configurations that have aliases.
    let required = module.required_providers.iter().map(|(name, it)| (name, &it.source));
    for (name, provider) in required.chain(needs.keys().map(|it| (&it.kind, it))) {
        let key = key_of(address, name);
        if !table.contains_key(&key) {
            let own = entry(name, provider);
            let parent = address
                .parent()
                .and_then(|(caller, _)| origin(table, key_of(&caller, name), &own.full_name));
            table.insert(key, Entry { parent, ..own });
        }
    }
}

/// Follows a configuration through the calls that pass it on, to where it is written.
fn origin(table: &BTreeMap<String, Entry>, start: String, full_name: &str) -> Option<String> {
    let mut found = None;
    let mut next = Some(start);
    while let Some(key) = next {
        let Some(entry) = table.get(&key).filter(|it| it.full_name == full_name) else { break };
        next = entry.parent.clone();
        found = Some(key);
    }
    found
}

//! The provider configurations of all modules in one table, as a plan's document lists them: what a module only passes on
//! points at where it is written.

use std::collections::BTreeMap;

use crate::address::Module as ModuleAddr;
use crate::config::version::{Constraint, Constraints, normal};
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
    match &resource.provider {
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
            for (inner, outer) in &call.providers {
                let full_name = source_of(called, &inner.name.text);
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

fn source_of(module: &Module, local_name: &str) -> String {
    match module.required_providers.get(local_name) {
        Some(required) => required.source.to_string(),
        None => crate::address::Provider::implied(local_name).to_string(),
    }
}

/// Returns what a module demands of a provider's version, in `required_providers` and `provider` blocks.
fn conditions_of(module: &Module, local_name: &str) -> String {
    let required = module.required_providers.get(local_name).and_then(|it| it.version.as_ref());
    let blocks = module.providers.iter().filter(|it| *it.name.text == *local_name);
    let texts = required.into_iter().chain(blocks.filter_map(|it| it.version.as_ref()));
    let conditions: Vec<Constraint> =
        texts.filter_map(|it| Constraints::parse(&it.0)).flat_map(|it| it.0).collect();
    normal(&conditions)
}

fn add_own(table: &mut BTreeMap<String, Entry>, address: &ModuleAddr, module: &Module) {
    let entry = |name: &str| Entry {
        name: name.into(),
        full_name: source_of(module, name),
        version: conditions_of(module, name),
        module: address.clone(),
        ..Entry::default()
    };
    for block in &module.providers {
        let alias = block.alias.as_ref().map(|it| it.text.clone());
        let name = block.local_name();
        table.insert(key_of(address, &name), Entry { alias, ..entry(&block.name.text) });
    }
    let inherited = |table: &BTreeMap<String, Entry>, name: &str| {
        let (caller, _) = address.parent()?;
        origin(table, key_of(&caller, name), &source_of(module, name))
    };
    for (name, required) in &module.required_providers {
        for (_, alias, _) in &required.configuration_aliases {
            table.entry(key_of(address, &format!("{name}.{alias}"))).or_insert_with(|| entry(name));
        }
    }
    let used = module.resources.values().map(|it| it.provider_source.kind.clone());
    for name in module.required_providers.keys().cloned().chain(used) {
        let key = key_of(address, &name);
        if !table.contains_key(&key) {
            let parent = inherited(table, &name);
            table.insert(key, Entry { parent, ..entry(&name) });
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

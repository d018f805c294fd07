//! Provider configurations: who declares, passes and asks for which.

use std::collections::BTreeMap;

use entail_rules::{
    Alias, Block, Config as ConfigAtom, Facts, Family, Key, Keying, Module as ModuleAtom,
};

use super::blocks::BlockKey;
use super::structure::NodeKind;
use super::{Documents, Lowered};
use crate::address::{InstanceKey, Module, Provider, ProviderConfig, ProviderInstance};
use crate::config;
use crate::value::Str;

#[derive(Default)]
struct Numbers {
    modules: BTreeMap<Module, u32>,
    families: BTreeMap<Provider, u32>,
    aliases: BTreeMap<Str, u32>,
    configs: BTreeMap<ProviderConfig, u32>,
    keys: BTreeMap<InstanceKey, u32>,
}

fn number<T: Ord>(map: &mut BTreeMap<T, u32>, key: T, first: u32) -> u32 {
    let next = map.len() as u32 + first;
    *map.entry(key).or_insert(next)
}

impl Numbers {
    fn module(&mut self, module: &Module) -> ModuleAtom {
        if module.is_root() {
            ModuleAtom::ROOT
        } else {
            ModuleAtom(number(&mut self.modules, module.clone(), 1))
        }
    }
    fn family(&mut self, provider: &Provider) -> Family {
        Family(number(&mut self.families, provider.clone(), 0))
    }
    fn alias(&mut self, alias: Option<&Str>) -> Alias {
        alias.map_or(Alias::DEFAULT, |it| Alias(number(&mut self.aliases, it.clone(), 1)))
    }
    fn config(&mut self, config: &ProviderConfig) -> ConfigAtom {
        ConfigAtom(number(&mut self.configs, config.clone(), 0))
    }
    fn key(&mut self, key: &InstanceKey) -> Key {
        if *key == InstanceKey::None {
            Key::NONE
        } else {
            Key(number(&mut self.keys, key.clone(), 1))
        }
    }
}

/// Writes the group `providers`.
pub(super) fn lower(lowered: &mut Lowered, documents: &Documents<'_>) {
    let mut numbers = Numbers::default();
    for (path, module) in &documents.config.modules {
        let atom = numbers.module(path);
        if let Some((parent, call)) = path.parent() {
            let parent_atom = numbers.module(&parent);
            lowered.facts.module_parent.push((atom, parent_atom));
            passes(&mut lowered.facts, &mut numbers, documents, path, &parent, &call);
        }
        for block in &module.providers {
            let alias = block.alias.as_ref().map(|it| it.text.clone());
            let config = ProviderConfig {
                module: path.clone(),
                provider: block.source.clone(),
                alias: alias.clone(),
            };
            let row = (
                atom,
                numbers.family(&block.source),
                numbers.alias(alias.as_ref()),
                numbers.config(&config),
            );
            lowered.facts.provider_block.push(row);
        }
        for (name, resource) in &module.resources {
            let Some(block) = documents.graph.find(path, BlockKey::Resource(name.clone())) else {
                continue;
            };
            let block = Block(block as u32);
            lowered.facts.in_module.push((block, atom));
            let alias = resource
                .provider
                .as_ref()
                .and_then(|it| it.alias.as_ref())
                .map(|it| it.text.clone());
            let keying = if resource.provider.as_ref().is_some_and(|it| it.key.is_some()) {
                Keying::Keyed
            } else {
                Keying::Plain
            };
            let row = (
                block,
                numbers.family(&resource.provider_source),
                numbers.alias(alias.as_ref()),
                keying,
            );
            lowered.facts.asks_provider.push(row);
        }
    }
    implied(lowered, &mut numbers);
    recorded(lowered, documents, &mut numbers);
}

fn passes(
    facts: &mut Facts,
    numbers: &mut Numbers,
    documents: &Documents<'_>,
    child: &Module,
    parent: &Module,
    call: &Str,
) {
    let config = documents.config;
    let (Some(above), Some(here)) = (config.module(parent), config.module(child)) else { return };
    let Some(call) = above.calls.get(call) else { return };
    for (name, given) in &call.providers {
        let own = source_of(here, &name.name.text);
        let theirs = source_of(above, &given.name.text);
        let alias = name.alias.as_ref().map(|it| it.text.clone());
        let given_alias = given.alias.as_ref().map(|it| it.text.clone());
        let keying = if given.key.is_some() { Keying::Keyed } else { Keying::Plain };
        let row = (
            numbers.module(child),
            numbers.family(&own),
            numbers.alias(alias.as_ref()),
            numbers.family(&theirs),
            numbers.alias(given_alias.as_ref()),
            keying,
        );
        facts.passes.push(row);
    }
}

fn source_of(module: &config::Module, name: &str) -> Provider {
    module
        .required_providers
        .get(name)
        .map_or_else(|| Provider::implied(name), |it| it.source.clone())
}

/// A provider that is used and that the root module does not configure has an empty configuration there.
fn implied(lowered: &mut Lowered, numbers: &mut Numbers) {
    for provider in numbers.families.clone().into_keys() {
        let config =
            ProviderConfig { module: Module::default(), provider: provider.clone(), alias: None };
        let row = (numbers.family(&provider), numbers.config(&config));
        lowered.facts.implied_config.push(row);
    }
    for config in numbers.configs.clone().into_keys() {
        let instance = ProviderInstance { config: config.clone(), key: InstanceKey::None };
        let (_, node) = lowered.structure.add_provider(instance);
        let row = (node, numbers.config(&config), Key::NONE);
        lowered.facts.provider_instance.push(row);
    }
}

/// What the state says served each object, where that configuration is still there.
fn recorded(lowered: &mut Lowered, documents: &Documents<'_>, numbers: &mut Numbers) {
    let gone: Vec<_> = lowered.facts.block_gone.iter().map(|it| it.0).collect();
    for node in gone {
        let NodeKind::Object(id, key) = lowered.structure.kind(node).clone() else { continue };
        record(lowered, documents, numbers, node, id, &key);
    }
    for (node, current) in lowered.facts.deposed_of.clone() {
        let NodeKind::Deposed(id, key, _) = lowered.structure.kind(node).clone() else { continue };
        if lowered.facts.block_gone.contains(&(current,)) {
            lowered.facts.block_gone.push((node,));
            record(lowered, documents, numbers, node, id, &key);
        } else if let Some(&(_, block)) = lowered.facts.of.iter().find(|it| it.0 == current) {
            lowered.facts.of.push((node, block));
        }
    }
}

fn record(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    numbers: &mut Numbers,
    node: entail_rules::Node,
    id: super::structure::ResourceId,
    key: &InstanceKey,
) {
    let address = lowered.structure.resource(id).address.clone();
    let Some(resource) = documents.state.resources.get(&address) else { return };
    let provider = &resource.provider;
    let is_there = provider.module.is_root() && provider.alias.is_none()
        || numbers.configs.contains_key(provider);
    if !is_there {
        return;
    }
    let provider_key =
        resource.instances.get(key).map(|it| it.provider_key.clone()).unwrap_or_default();
    let row = (node, numbers.config(provider), numbers.key(&provider_key));
    lowered.facts.recorded_provider.push(row);
    let (_, provider_node) = lowered
        .structure
        .add_provider(ProviderInstance { config: provider.clone(), key: provider_key });
    lowered.facts.provider_instance.push((provider_node, row.1, row.2));
}

//! Provider configurations: who declares, repeats, passes and asks for which, and what the state says served what.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{
    Alias, Block, Config as ConfigAtom, Facts, Family, Key, Keying, Module as ModuleAtom, Node,
};

use super::blocks::BlockKey;
use super::structure::{NodeKind, ResourceId};
use super::{Documents, Lowered};
use crate::address::{InstanceKey, Module, Provider, ProviderConfig, ProviderInstance};
use crate::config;
use crate::config::expansion::key_text;
use crate::diagnostic::Span;
use crate::value::Str;

/// What the numbers of modules, providers, aliases, configurations and keys stand for, and where they stand.
#[derive(Clone, Debug, Default)]
pub struct Serving {
    modules: BTreeMap<Module, u32>,
    families: BTreeMap<Provider, u32>,
    aliases: BTreeMap<Str, u32>,
    configs: BTreeMap<ProviderConfig, u32>,
    keys: BTreeMap<InstanceKey, u32>,
    /// The `provider` block of each configuration.
    pub blocks: BTreeMap<ConfigAtom, Span>,
    /// The `for_each` or `count` of each configuration that repeats.
    pub repetitions: BTreeMap<ConfigAtom, Span>,
    /// Where the call of each module stands.
    pub calls: BTreeMap<ModuleAtom, Span>,
}

fn number<T: Ord>(map: &mut BTreeMap<T, u32>, key: T, first: u32) -> u32 {
    let next = map.len() as u32 + first;
    *map.entry(key).or_insert(next)
}

impl Serving {
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
        match alias {
            None => Alias::DEFAULT,
            Some(alias) if alias.is_empty() => Alias::KEYS,
            Some(alias) => Alias(number(&mut self.aliases, alias.clone(), 2)),
        }
    }

    fn config(&mut self, config: &ProviderConfig) -> ConfigAtom {
        ConfigAtom(number(&mut self.configs, config.clone(), 0))
    }

    /// Returns the number of a key, given where it is new.
    pub fn key(&mut self, key: &InstanceKey) -> Key {
        if *key == InstanceKey::None {
            Key::NONE
        } else {
            Key(number(&mut self.keys, key.clone(), 1))
        }
    }

    /// Returns the provider instance of a configuration and a key.
    pub fn instance(&self, config: ConfigAtom, key: Key) -> Option<ProviderInstance> {
        let (config, _) = self.configs.iter().find(|it| *it.1 == config.0)?;
        let key = match key {
            Key::NONE => InstanceKey::None,
            _ => self.keys.iter().find(|it| *it.1 == key.0)?.0.clone(),
        };
        Some(ProviderInstance { config: config.clone(), key })
    }

    /// Returns where a configuration says how it repeats.
    pub fn place_of(&self, config: &ProviderConfig) -> Option<Span> {
        self.repetitions.get(&ConfigAtom(*self.configs.get(config)?)).copied()
    }

    /// Returns what each number stands for, by the kind of column.
    pub fn words(&self) -> BTreeMap<String, BTreeMap<u64, String>> {
        fn of<T>(map: &BTreeMap<T, u32>, text: impl Fn(&T) -> String) -> BTreeMap<u64, String> {
            map.iter().map(|(thing, number)| (u64::from(*number), text(thing))).collect()
        }
        let mut aliases = of(&self.aliases, ToString::to_string);
        aliases.insert(Alias::DEFAULT.0.into(), "none".into());
        aliases.insert(Alias::KEYS.0.into(), "each key".into());
        let mut modules = of(&self.modules, ToString::to_string);
        modules.insert(ModuleAtom::ROOT.0.into(), "the root module".into());
        let mut keys = of(&self.keys, |key| format!("{:?}", key_text(key)));
        keys.insert(Key::NONE.0.into(), "none".into());
        BTreeMap::from([
            ("Module".to_owned(), modules),
            ("Family".to_owned(), of(&self.families, ToString::to_string)),
            ("Alias".to_owned(), aliases),
            ("Config".to_owned(), of(&self.configs, ToString::to_string)),
            ("Key".to_owned(), keys),
        ])
    }
}

/// Writes the group `providers`.
pub(super) fn lower(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    repeated: &[(ProviderConfig, Vec<InstanceKey>)],
    choices: &[(Node, InstanceKey)],
) {
    let mut serving = Serving::default();
    for (path, module) in &documents.config.modules {
        declared(lowered, &mut serving, documents, path, module);
    }
    implied(lowered, &mut serving);
    for (config, keys) in repeated {
        repeats(lowered, &mut serving, config, keys);
    }
    for (node, key) in choices {
        lowered.facts.provider_key.push((*node, serving.key(key)));
    }
    recorded(lowered, documents, &mut serving);
    lowered.serving = serving;
}

fn declared(
    lowered: &mut Lowered,
    serving: &mut Serving,
    documents: &Documents<'_>,
    path: &Module,
    module: &config::Module,
) {
    let atom = serving.module(path);
    if let Some((parent, call)) = path.parent() {
        let parent_atom = serving.module(&parent);
        lowered.facts.module_parent.push((atom, parent_atom));
        passes(&mut lowered.facts, serving, documents, path, &parent, &call);
    }
    for block in &module.providers {
        let alias = block.alias.as_ref().map(|it| it.text.clone());
        let config = ProviderConfig {
            module: path.clone(),
            provider: block.source.clone(),
            alias: alias.clone(),
        };
        let config = serving.config(&config);
        let row = (atom, serving.family(&block.source), serving.alias(alias.as_ref()), config);
        lowered.facts.provider_block.push(row);
        serving.blocks.insert(config, block.declared);
        if let Some(expression) = block.repetition.expression() {
            lowered.facts.repeats_provider.push((config,));
            serving.repetitions.insert(config, expression.span);
        }
    }
    for (name, resource) in &module.resources {
        let Some(block) = documents.graph.find(path, BlockKey::Resource(name.clone())) else {
            continue;
        };
        let block = Block(block as u32);
        lowered.facts.in_module.push((block, atom));
        let reference = resource.provider.as_ref();
        let alias = reference.and_then(|it| it.alias.as_ref()).map(|it| it.text.clone());
        let keying = match reference.is_some_and(|it| it.key.is_some()) {
            true => Keying::Keyed,
            false => Keying::Plain,
        };
        let family = serving.family(&resource.provider_source);
        let row = (block, family, serving.alias(alias.as_ref()), keying);
        lowered.facts.asks_provider.push(row);
    }
}

fn passes(
    facts: &mut Facts,
    serving: &mut Serving,
    documents: &Documents<'_>,
    child: &Module,
    parent: &Module,
    call: &Str,
) {
    let config = documents.config;
    let (Some(above), Some(here)) = (config.module(parent), config.module(child)) else { return };
    let Some(call) = above.calls.get(call) else { return };
    let atom = serving.module(child);
    serving.calls.insert(atom, call.declared);
    for (name, given) in &call.providers {
        let own = here.provider_of(&name.name.text);
        let theirs = above.provider_of(&given.name.text);
        let alias = name.alias.as_ref().map(|it| it.text.clone());
        let given_alias = given.alias.as_ref().map(|it| it.text.clone());
        let keying = if given.key.is_some() { Keying::Keyed } else { Keying::Plain };
        let row = (
            atom,
            serving.family(&own),
            serving.alias(alias.as_ref()),
            serving.family(&theirs),
            serving.alias(given_alias.as_ref()),
            keying,
        );
        facts.passes.push(row);
    }
}

/// A provider that is used and that the root module does not configure has an empty configuration there.
fn implied(lowered: &mut Lowered, serving: &mut Serving) {
    for provider in serving.families.clone().into_keys() {
        let config =
            ProviderConfig { module: Module::default(), provider: provider.clone(), alias: None };
        let row = (serving.family(&provider), serving.config(&config));
        lowered.facts.implied_config.push(row);
    }
    let repeating: BTreeSet<ConfigAtom> =
        lowered.facts.repeats_provider.iter().map(|it| it.0).collect();
    for config in serving.configs.clone().into_keys() {
        let atom = serving.config(&config);
        if !repeating.contains(&atom) {
            stands_for(lowered, serving, ProviderInstance { config, key: InstanceKey::None });
        }
    }
}

/// The keys of a configuration, and a node for each of its instances.
fn repeats(
    lowered: &mut Lowered,
    serving: &mut Serving,
    config: &ProviderConfig,
    keys: &[InstanceKey],
) {
    let atom = serving.config(config);
    let is_alias = config.alias.as_ref().is_some_and(|it| it.is_empty());
    for key in keys {
        let number = serving.key(key);
        lowered.facts.each_key.push((atom, number));
        if is_alias {
            let alias = serving.alias(Some(&key_text(key)).filter(|it| !it.is_empty()));
            lowered.facts.key_names.push((number, alias));
        }
        stands_for(lowered, serving, ProviderInstance { config: config.clone(), key: key.clone() });
    }
}

fn stands_for(lowered: &mut Lowered, serving: &mut Serving, instance: ProviderInstance) {
    let (config, key) = (serving.config(&instance.config), serving.key(&instance.key));
    let (_, node) = lowered.structure.add_provider(instance);
    lowered.facts.provider_node.push((node, config, key));
}

/// What the state says served each object, where that configuration is still there.
fn recorded(lowered: &mut Lowered, documents: &Documents<'_>, serving: &mut Serving) {
    let keyed: BTreeSet<Block> = keyed_blocks(&lowered.facts);
    let gone: BTreeSet<Node> = lowered.facts.block_gone.iter().map(|it| it.0).collect();
    let of: BTreeMap<Node, Block> = lowered.facts.of.iter().copied().collect();
    let in_state = lowered.facts.in_state.iter().map(|it| it.0);
    // Of an instance whose block is gone, nothing but deposed objects may be left.
    let with_deposed =
        lowered.facts.deposed_of.iter().map(|it| it.1).filter(|it| gone.contains(it));
    let existing: BTreeSet<Node> = in_state.chain(with_deposed).collect();
    for node in existing {
        let is_open = of.get(&node).is_some_and(|it| keyed.contains(it));
        if let NodeKind::Object(id, key) = lowered.structure.kind(node).clone()
            && (is_open || gone.contains(&node))
        {
            record(lowered, documents, serving, node, id, &key);
        }
    }
    for (node, current) in lowered.facts.deposed_of.clone() {
        let NodeKind::Deposed(id, key, _) = lowered.structure.kind(node).clone() else { continue };
        if gone.contains(&current) {
            lowered.facts.block_gone.push((node,));
            record(lowered, documents, serving, node, id, &key);
        } else if let Some(&block) = of.get(&current) {
            lowered.facts.of.push((node, block));
            if keyed.contains(&block) {
                record(lowered, documents, serving, node, id, &key);
            }
        }
    }
}

/// Blocks whose provider instance may depend on a key: their own, or one that some call passes.
fn keyed_blocks(facts: &Facts) -> BTreeSet<Block> {
    let is_passed = facts.passes.iter().any(|it| it.5 == Keying::Keyed);
    let all = facts.asks_provider.iter();
    all.filter(|it| is_passed || it.3 == Keying::Keyed).map(|it| it.0).collect()
}

fn record(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    serving: &mut Serving,
    node: Node,
    id: ResourceId,
    key: &InstanceKey,
) {
    let address = lowered.structure.resource(id).address.clone();
    let Some(resource) = documents.state.resources.get(&address) else { return };
    let provider_key =
        resource.instances.get(key).map(|it| it.provider_key.clone()).unwrap_or_default();
    let instance = ProviderInstance { config: resource.provider.clone(), key: provider_key };
    let Some(instance) = today(serving, instance) else { return };
    // Nothing in the configuration uses this provider any more.
    if !serving.configs.contains_key(&instance.config) {
        let config = instance.config.clone();
        let row = (serving.family(&config.provider), serving.config(&config));
        lowered.facts.implied_config.push(row);
        stands_for(lowered, serving, ProviderInstance { config, key: InstanceKey::None });
    }
    let row = (node, serving.config(&instance.config), serving.key(&instance.key));
    lowered.facts.recorded_provider.push(row);
}

/// A recorded provider instance as the configuration names it now: an alias may have become a key, or a key an alias.
fn today(serving: &Serving, recorded: ProviderInstance) -> Option<ProviderInstance> {
    let ProviderInstance { config, key } = &recorded;
    let is_there = |it: &ProviderConfig| serving.configs.contains_key(it);
    if is_there(config) || (config.module.is_root() && config.alias.is_none()) {
        return Some(recorded);
    }
    let under = |alias: Option<Str>| ProviderConfig { alias, ..config.clone() };
    let other = match (&config.alias, key) {
        (Some(alias), InstanceKey::None) => ProviderInstance {
            config: under(Some("".into())),
            key: InstanceKey::Str(alias.clone()),
        },
        (Some(alias), key) if alias.is_empty() => {
            ProviderInstance { config: under(Some(key_text(key))), key: InstanceKey::None }
        }
        _ => return None,
    };
    is_there(&other.config).then_some(other)
}

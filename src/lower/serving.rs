//! Provider configurations: who declares, repeats, passes and asks for which, and what the state says served what.
//!
//! It says what is written, and numbers it; which of it counts is concluded by `configurations` and `providers`.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::{Alias, Choice, Config as ConfigAtom, Family, Key, Module as ModuleAtom, Node};

use super::{Documents, Lowered};
use crate::address::{InstanceKey, Module, Provider, ProviderConfig, ProviderInstance};
use crate::config::Variant;
use crate::config::expansion::key_text;
use crate::diagnostic::Span;
use crate::lower::blocks::{Modules, VariantId};
use crate::syntax::Expression;
use crate::value::Str;

pub mod configured;
mod recorded;
pub mod waits;

use configured::ChoiceAt;
pub use configured::Configured;

/// What the numbers of modules, providers, aliases, configurations and keys stand for, and where they stand.
#[derive(Clone, Debug, Default)]
pub struct Serving {
    modules: Arc<Modules>,
    /// Modules that only the state knows.
    gone: Numbers<Variant>,
    families: Numbers<Provider>,
    aliases: Numbers<Str>,
    configs: Numbers<Arc<ProviderConfig>>,
    keys: Numbers<InstanceKey>,
    choices: Vec<ChoiceAt>,
    /// The `provider` block of each configuration.
    pub blocks: BTreeMap<ConfigAtom, Span>,
    /// The module of each configuration that is written, and the local name by which it is known there.
    pub local_names: BTreeMap<ConfigAtom, (VariantId, Str)>,
    /// The `for_each` or `count` of each configuration that repeats.
    pub repetitions: BTreeMap<ConfigAtom, Span>,
    /// Names of modules that share their path with others.
    module_names: BTreeMap<ModuleAtom, String>,
}

/// Things in the order in which they were first met.
#[derive(Clone, Debug)]
struct Numbers<T> {
    numbers: BTreeMap<T, u32>,
    things: Vec<T>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { numbers: BTreeMap::new(), things: Vec::new() }
    }
}

impl<T: Ord + Clone> Numbers<T> {
    fn of(&mut self, thing: &T) -> u32 {
        if let Some(number) = self.numbers.get(thing) {
            return *number;
        }
        let number = self.things.len() as u32;
        self.numbers.insert(thing.clone(), number);
        self.things.push(thing.clone());
        number
    }

    fn all(&self) -> &[T] {
        &self.things
    }

    fn get(&self, number: u32) -> Option<&T> {
        self.things.get(number as usize)
    }
}

impl Serving {
    /// Returns the number of a module, given where only the state knows it.
    fn module(&mut self, module: &Variant) -> ModuleAtom {
        match self.modules.number(module) {
            Some(it) => ModuleAtom(it.0),
            None => ModuleAtom(self.modules.count() as u32 + self.gone.of(module)),
        }
    }

    /// Returns where the call of each module stands.
    pub fn calls(&self) -> impl Iterator<Item = (ModuleAtom, Span)> {
        let modules = self.modules.iter().map(|it| it.0);
        modules.filter_map(|it| Some((ModuleAtom(it.0), self.modules.call(it)?.declared)))
    }

    fn family(&mut self, provider: &Provider) -> Family {
        Family(self.families.of(provider))
    }

    fn alias(&mut self, alias: Option<&Str>) -> Alias {
        match alias {
            None => Alias::DEFAULT,
            Some(alias) if alias.is_empty() => Alias::KEYS,
            Some(alias) => Alias(self.aliases.of(alias) + 2),
        }
    }

    fn config(&mut self, config: &ProviderConfig) -> ConfigAtom {
        let known = self.number_of(config);
        known.unwrap_or_else(|| ConfigAtom(self.configs.of(&Arc::new(config.clone()))))
    }

    /// Numbers the empty configuration that the root module has of a provider unless a block configures it.
    ///
    /// `None` if a block of the root module repeats without an alias: each use of the provider must name a key then.
    fn implied(&mut self, provider: &Provider) -> Option<(ProviderConfig, ConfigAtom)> {
        let of_root =
            |alias| ProviderConfig { module: Module::default(), provider: provider.clone(), alias };
        if self.number_of(&of_root(Some("".into()))).is_some() {
            return None;
        }
        let config = of_root(None);
        let number = self.config(&config);
        Some((config, number))
    }

    /// Numbers a key expression of a block or of a call in `module`.
    fn choice(&mut self, key: Option<&Expression>, module: &Variant, is_own: bool) -> Choice {
        let Some(expression) = key.cloned() else { return Choice::NONE };
        self.choices.push(ChoiceAt { module: module.clone(), is_own, expression });
        Choice(self.choices.len() as u32)
    }

    /// Returns the number of a key, given where it is new.
    pub fn key(&mut self, key: &InstanceKey) -> Key {
        match key {
            InstanceKey::None => Key::NONE,
            key => Key(self.keys.of(key) + 1),
        }
    }

    /// Returns the number of a key; where nothing else has the key, one that stands for no other.
    pub fn key_at(&self, key: &InstanceKey) -> Key {
        match key {
            InstanceKey::None => Key::NONE,
            key => self.keys.numbers.get(key).map_or(Key(u32::MAX), |it| Key(it + 1)),
        }
    }

    /// Returns a configuration by its number.
    pub fn config_at(&self, config: ConfigAtom) -> Option<&Arc<ProviderConfig>> {
        self.configs.get(config.0)
    }

    /// Returns a key expression by its number.
    pub fn choice_at(&self, choice: Choice) -> Option<&ChoiceAt> {
        self.choices.get(choice.0.checked_sub(1)? as usize)
    }

    /// Returns the provider instance of a configuration and a key.
    pub fn instance(&self, config: ConfigAtom, key: Key) -> Option<ProviderInstance> {
        let key = match key {
            Key::NONE => InstanceKey::None,
            _ => self.keys.get(key.0 - 1)?.clone(),
        };
        Some(ProviderInstance { config: ProviderConfig::clone(self.config_at(config)?), key })
    }

    /// Returns the number of a configuration that is written, or implied.
    fn number_of(&self, config: &ProviderConfig) -> Option<ConfigAtom> {
        self.configs.numbers.get(config).map(|it| ConfigAtom(*it))
    }

    /// Returns where a configuration says how it repeats.
    pub fn place_of(&self, config: &ProviderConfig) -> Option<Span> {
        self.repetitions.get(&self.number_of(config)?).copied()
    }

    /// Returns what each number stands for, by the kind of column.
    pub fn words(&self) -> BTreeMap<String, BTreeMap<u64, String>> {
        fn of<T>(
            all: &Numbers<T>,
            first: u64,
            text: impl Fn(&T) -> String,
        ) -> BTreeMap<u64, String> {
            (first..).zip(all.things.iter().map(text)).collect()
        }
        let mut aliases = of(&self.aliases, 2, ToString::to_string);
        aliases.insert(Alias::DEFAULT.0.into(), "none".into());
        aliases.insert(Alias::KEYS.0.into(), "each key".into());
        let modules = self.modules.iter().map(|it| (it.0.0.into(), it.1.variant.path.to_string()));
        let mut modules: BTreeMap<u64, String> = modules.collect();
        let gone = of(&self.gone, self.modules.count() as u64, |it| it.path.to_string());
        modules.extend(gone);
        let named = self.module_names.iter();
        modules.extend(named.map(|(atom, name)| (u64::from(atom.0), name.clone())));
        modules.insert(ModuleAtom::ROOT.0.into(), "the root module".into());
        let mut keys = of(&self.keys, 1, |key| format!("{:?}", key_text(key)));
        keys.insert(Key::NONE.0.into(), "none".into());
        BTreeMap::from([
            ("Module".to_owned(), modules),
            ("Family".to_owned(), of(&self.families, 0, ToString::to_string)),
            ("Alias".to_owned(), aliases),
            ("Config".to_owned(), of(&self.configs, 0, ToString::to_string)),
            ("Key".to_owned(), keys),
        ])
    }
}

/// Writes the group `providers`: what is said of the configuration alone stands already in its graph of blocks.
pub(super) fn lower(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    repeated: &[Repeated],
    choices: &[(Node, InstanceKey)],
) {
    let configured = &documents.graph.configured;
    lowered.facts.absorb(&configured.facts);
    let mut serving = configured.serving.clone();
    for config in serving.configs.all().to_vec() {
        if serving.place_of(&config).is_none() {
            let config = Arc::unwrap_or_clone(config);
            let instance = ProviderInstance { config, key: InstanceKey::None };
            stands_for(lowered, &mut serving, instance);
        }
    }
    for it in repeated {
        repeats(lowered, &mut serving, it);
    }
    for (node, key) in choices {
        lowered.facts.provider_key.push((*node, serving.key(key)));
    }
    recorded::lower(lowered, documents, &mut serving);
    lowered.serving = serving;
}

/// What the repetition of a provider configuration gives.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The configuration.
    pub config: ProviderConfig,
    /// Its keys.
    pub keys: Vec<InstanceKey>,
    /// Keys that it gave once and that objects in the state still name, for which its arguments have values all the same.
    pub former: Vec<InstanceKey>,
}

/// Writes `each_key`, `key_names` and `key_suffices` of a configuration, and a node for each of its instances.
fn repeats(lowered: &mut Lowered, serving: &mut Serving, it: &Repeated) {
    let atom = serving.config(&it.config);
    let is_alias = it.config.alias.as_ref().is_some_and(|it| it.is_empty());
    for key in &it.former {
        let number = serving.key(key);
        lowered.facts.key_suffices.push((atom, number));
        let instance = ProviderInstance { config: it.config.clone(), key: key.clone() };
        stands_for(lowered, serving, instance);
    }
    for key in &it.keys {
        let number = serving.key(key);
        lowered.facts.each_key.push((atom, number));
        if is_alias {
            let alias = serving.alias(Some(&key_text(key)).filter(|it| !it.is_empty()));
            lowered.facts.key_names.push((number, alias));
        }
        let instance = ProviderInstance { config: it.config.clone(), key: key.clone() };
        stands_for(lowered, serving, instance);
    }
}

/// Writes `provider_node`.
fn stands_for(lowered: &mut Lowered, serving: &mut Serving, instance: ProviderInstance) {
    let (config, key) = (serving.config(&instance.config), serving.key(&instance.key));
    let (_, node) = lowered.structure.add_provider(instance);
    lowered.facts.provider_node.push((node, config, key));
}

//! Provider configurations that repeat, and the key by which each instance of a resource asks for one of theirs.

use std::collections::BTreeSet;
use std::sync::Arc;

use entail_rules::Node;

use super::{Each, Entry, Trace, TraceScope};
use crate::address::{InstanceKey, Module, Provider, ProviderConfig, ProviderInstance};
use crate::config::check::repeating;
use crate::config::expansion;
use crate::config::uses::{self, Role};
use crate::config::{self, Config, Repetition, Variant};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::expression::{self, Scope};
use crate::lower::blocks::BlockKey;
use crate::lower::serving::Repeated;
use crate::lower::structure::{ModuleId, ResourceId};
use crate::syntax::{Expression, Step};
use crate::value::{Kind, Str, Type, Value};

/// How the instances of a resource come to their provider instance.
pub(super) struct Asked {
    config: Arc<ProviderConfig>,
    key: KeyAt,
}

/// Where the key is written.
enum KeyAt {
    /// Nowhere: there is one instance.
    None,
    /// In the block itself.
    Own(Expression),
    /// In a module call on the way: it is the same for all instances in one module instance.
    Above(Arc<Chosen>),
}

/// A key, as far as it is known before the walk, and what it was computed from.
pub(super) struct Chosen {
    key: Option<InstanceKey>,
    log: Vec<Entry>,
}

impl Trace<'_> {
    /// Expands a provider configuration, and traces the arguments of each of its instances.
    pub(super) fn provider(
        &mut self,
        variant: &Variant,
        name: &Str,
        alias: Option<&Str>,
        module: Option<ModuleId>,
    ) {
        let Some(module_config) = self.input.config.variant(variant).cloned() else { return };
        let path = &variant.path;
        let block = module_config.provider_block(name, alias.map(|it| &**it));
        let (Some(block), Some(module)) = (block, module) else { return };
        let config = ProviderConfig {
            module: path.clone(),
            provider: block.source.clone(),
            alias: alias.cloned(),
        };
        let whole = ProviderInstance { config: config.clone(), key: InstanceKey::None };
        let (_, whole) = self.structure.add_provider(whole);
        let Some(expression) = block.repetition.expression() else {
            return self.provider_body(whole, module, &Each::None, block);
        };
        let scope = TraceScope::new(self, module, &Each::None);
        // The keys are those of the static evaluation; this one is for what they were computed from.
        let (collection, _) = expression::evaluate(expression, &scope);
        let log = scope.into_log();
        let keys = match keys_of(self.input.config, path, block, self.input.sources) {
            Ok(keys) => keys,
            Err(problems) => return self.reads.problems.extend(problems),
        };
        for (key, each_value) in &keys {
            let instance = ProviderInstance { config: config.clone(), key: key.clone() };
            let (_, node) = self.structure.add_provider(instance);
            self.reads.reads.push((whole, node, block.declared));
            self.record(node, log.clone());
            let each = Each::Known(own_key(&block.repetition, key), each_value.clone());
            self.provider_body(node, module, &each, block);
        }
        self.record(whole, log);
        let keys: Vec<InstanceKey> = keys.into_iter().map(|it| it.0).collect();
        let is_set = matches!(collection.ty().kind(), Kind::Set(_));
        let former = match is_set || !uses_value(block) {
            true => self.former((module, block), &config, &keys, is_set),
            false => Vec::new(),
        };
        self.reads.provider_keys.push(Repeated { config, keys, former });
    }

    /// Traces the arguments of instances that the state still names, and returns the keys for which all of them have values.
    fn former(
        &mut self,
        (module, block): (ModuleId, &config::ProviderBlock),
        config: &ProviderConfig,
        keys: &[InstanceKey],
        is_set: bool,
    ) -> Vec<InstanceKey> {
        let resources = self.input.state.resources.values().filter(|it| *it.provider == *config);
        let named =
            resources.flat_map(|it| it.instances.values().map(|it| it.provider_key.clone()));
        let named: BTreeSet<InstanceKey> =
            named.filter(|it| *it != InstanceKey::None && !keys.contains(it)).collect();
        let mut found = Vec::new();
        for key in named {
            let value = is_set.then(|| Value::string(expansion::key_text(&key)));
            let each = Each::Known(own_key(&block.repetition, &key), value);
            let Some(log) = self.arguments(module, &each, block) else { continue };
            let instance = ProviderInstance { config: config.clone(), key: key.clone() };
            let (_, node) = self.structure.add_provider(instance);
            self.record(node, log);
            found.push(key);
        }
        found
    }

    /// Returns what the arguments of an instance read; nothing where one of them has no value.
    fn arguments(
        &self,
        module: ModuleId,
        each: &Each,
        block: &config::ProviderBlock,
    ) -> Option<Vec<Entry>> {
        let mut read = Vec::new();
        for it in uses::of_body(&block.body, Role::Value) {
            let scope = TraceScope::new(self, module, each);
            let unknown = |name: &Str| (name.clone(), Value::unknown(Type::DYNAMIC));
            let bound: Vec<(Str, Value)> = it.bound.iter().map(unknown).collect();
            let (_, problems) = expression::evaluate_with(&it.expression, &scope, &bound);
            if problems.has_errors() {
                return None;
            }
            read.extend(scope.into_log());
        }
        Some(read)
    }

    fn provider_body(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        block: &config::ProviderBlock,
    ) {
        for it in uses::of_body(&block.body, Role::Value) {
            self.go_through(node, module, each, &it.expression, &it.bound);
        }
    }

    /// Returns which configuration serves a resource of a module instance, and how it comes to its instance.
    pub(super) fn asks(
        &mut self,
        module: ModuleId,
        id: ResourceId,
        block: &config::Resource,
    ) -> Asked {
        let graph = self.input.graph;
        let find = || {
            let code = self.codes[module.index()]?;
            graph.find(code, &BlockKey::Resource(block.name.clone()))
        };
        let number = self.structure.resource(id).number.map(|it| it as usize).or_else(find);
        let Some(served) = number.and_then(|it| graph.configured.serves(it)) else {
            let path = self.structure.module(module).path.clone();
            // Only what is not planned, as in a console, has blocks that nothing serves.
            let alias = block.besides.provider.as_ref().and_then(|it| it.alias.as_ref());
            let (provider, alias) =
                (Provider::clone(&block.provider_source), alias.map(|it| it.text.clone()));
            let config = ProviderConfig { module: path, provider, alias };
            return Asked { config: config.into(), key: KeyAt::None };
        };
        let key = match served.choice {
            None => KeyAt::None,
            Some(it) if it.is_own => KeyAt::Own(it.expression.clone()),
            Some(it) => KeyAt::Above(self.key_of_call(module, &it.module.path, &it.expression)),
        };
        Asked { config: served.config.clone(), key }
    }

    /// The key that a module call passes: evaluated where the call stands, once for each instance of it.
    fn key_of_call(&mut self, module: ModuleId, caller: &Module, key: &Expression) -> Arc<Chosen> {
        let mut child = module;
        while let Some((parent, _)) = self.structure.module(child).parent {
            if self.structure.module(parent).path == *caller {
                break;
            }
            child = parent;
        }
        if let Some(known) = self.call_keys.get(&(child, key.span)) {
            return known.clone();
        }
        let parent = self.structure.module(child).parent.map_or(child, |it| it.0);
        let each = self.each_of_module(child);
        let chosen = Arc::new(self.choose(parent, &each, key));
        self.call_keys.insert((child, key.span), chosen.clone());
        chosen
    }

    fn choose(&self, module: ModuleId, each: &Each, expression: &Expression) -> Chosen {
        let scope = TraceScope::new(self, module, each);
        let (value, problems) = expression::evaluate(expression, &scope);
        let key = match problems.has_errors() {
            // What is wrong with it is said in the walk, if it is reached.
            true => None,
            false => expansion::provider_key(&value).ok(),
        };
        if key.is_none() {
            scope.unevaluated(expression, &[]);
        }
        Chosen { key, log: scope.into_log() }
    }

    /// The configuration of a resource; the node is that of all its instances together.
    pub(super) fn configuration_of(&mut self, resource: ResourceId, asked: &Asked) -> Node {
        let config = &asked.config;
        self.structure.resources[resource.index()].provider = Some(config.clone());
        if let Some((last, node)) = &self.last_served
            && Arc::ptr_eq(last, config)
        {
            return *node;
        }
        let key = InstanceKey::None;
        let whole = ProviderInstance { config: ProviderConfig::clone(config), key };
        let (_, whole) = self.structure.add_provider(whole);
        self.last_served = Some((config.clone(), whole));
        whole
    }

    /// An instance reads its own provider instance; all of them where its key is not known yet.
    pub(super) fn served(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        block: &config::Resource,
        (asked, whole): (&Asked, Node),
    ) {
        let chosen = match &asked.key {
            KeyAt::None => None,
            // What it reads is traced with the rest of the block.
            KeyAt::Own(expression) => self.choose(module, each, expression).key,
            KeyAt::Above(chosen) => {
                self.record(node, chosen.log.clone());
                chosen.key.clone()
            }
        };
        let place = block.besides.provider.as_ref().map_or(block.declared, |it| it.span);
        let instance = chosen.as_ref().and_then(|key| {
            let config = ProviderConfig::clone(&asked.config);
            let instance = ProviderInstance { config, key: key.clone() };
            let id = self.structure.provider_ids.get(&instance)?;
            Some(self.structure.providers[id.index()].1)
        });
        self.reads.reads.push((node, instance.unwrap_or(whole), place));
        self.reads.provider_choices.extend(chosen.map(|key| (node, key)));
    }

    /// What stands for instances that are not known yet reads what the key of a call is computed from.
    pub(super) fn served_as_pending(&mut self, node: Node, asked: &Asked) {
        if let KeyAt::Above(chosen) = &asked.key {
            self.record(node, chosen.log.clone());
        }
    }
}

/// Returns what the provider configurations that repeat give, as far as nothing is wrong with their collections.
pub fn repeated(config: &Config, sources: &Sources) -> Vec<Repeated> {
    let mut found = Vec::new();
    for (path, module) in &config.modules {
        for block in module.providers.iter().filter(|it| it.repetition.expression().is_some()) {
            let Ok(keys) = keys_of(config, path, block, sources) else { continue };
            let alias = block.alias.as_ref().map(|it| it.text.clone());
            let config =
                ProviderConfig { module: path.clone(), provider: block.source.clone(), alias };
            let keys = keys.into_iter().map(|it| it.0).collect();
            found.push(Repeated { config, keys, former: Vec::new() });
        }
    }
    found
}

/// Returns what is wrong with the collections that provider configurations repeat over.
pub fn problems(config: &Config, sources: &Sources) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for (path, module) in &config.modules {
        for block in module.providers.iter().filter(|it| it.repetition.expression().is_some()) {
            problems.take(keys_of(config, path, block, sources));
        }
    }
    problems.once()
}

type Keyed = Vec<(InstanceKey, Option<Value>)>;

/// The keys of a provider configuration, always texts, none of which names what another block names.
fn keys_of(
    config: &Config,
    path: &Module,
    block: &config::ProviderBlock,
    sources: &Sources,
) -> Result<Keyed, Diagnostics> {
    let Some(module) = config.module(path) else { return Ok(Vec::new()) };
    let keys: Keyed = repeating::instances(config, path, block)?
        .into_iter()
        .map(|it| (InstanceKey::Str(expansion::key_text(&it.key)), it.value))
        .collect();
    let mut problems = Diagnostics::new();
    for (key, _) in &keys {
        if let Some(other) = clash(module, block, key) {
            problems.push(two_of_one_name(block, key, other, sources));
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(keys) }
}

/// Returns whether the arguments name `each.value`.
fn uses_value(block: &config::ProviderBlock) -> bool {
    let mut uses = false;
    for it in uses::of_body(&block.body, Role::Value) {
        crate::syntax::references(&it.expression, &mut |root, steps, _| {
            let is_key =
                matches!(steps.first(), Some(Step::Attribute(name)) if *name.text == *"key");
            uses |= *root.text == *"each" && !is_key;
        });
    }
    uses
}

/// Returns the key as `each.key` and `count.index` give it.
fn own_key(repetition: &Repetition, key: &InstanceKey) -> InstanceKey {
    match (repetition, key) {
        (Repetition::Count(_), InstanceKey::Str(text)) => {
            text.parse().map_or_else(|_| key.clone(), InstanceKey::Int)
        }
        _ => key.clone(),
    }
}

/// Returns the configuration whose alias is a key of one that repeats without an alias.
fn clash<'m>(
    module: &'m config::Module,
    block: &config::ProviderBlock,
    key: &InstanceKey,
) -> Option<&'m config::ProviderBlock> {
    let has_own_alias = block.alias.as_ref().is_some_and(|it| !it.text.is_empty());
    let InstanceKey::Str(text) = key else { return None };
    if has_own_alias || text.is_empty() {
        return None;
    }
    module.provider_block(&block.name.text, Some(text))
}

fn two_of_one_name(
    block: &config::ProviderBlock,
    key: &InstanceKey,
    other: &config::ProviderBlock,
    sources: &Sources,
) -> Diagnostic {
    let (name, key) = (&block.name.text, expansion::key_text(key));
    let problem = Diagnostic::error("Duplicate provider configuration").detail(format!(
        "{name}.{key} names two configurations: {name}[{key:?}] of the block at {}, which repeats without an alias so that each key is one, and the block at {} with alias = {key:?}. Give the block that repeats an alias, or rename one of the two.",
        sources.place(block.declared),
        sources.place(other.declared),
    ));
    problem.at(block.repetition.expression().map_or(block.declared, |it| it.span))
}

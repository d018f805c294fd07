//! Which provider instance serves an instance of a resource: as the rules concluded, else by its key, as it evaluates now.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::{Observer, problems};
use crate::address::{Instance, InstanceKey, ProviderConfig, ProviderInstance};
use crate::config::ProviderBlock;
use crate::config::expansion;
use crate::config::serving::resolve_resource;
use crate::diagnostic::Diagnostic;
use crate::expression;
use crate::lower::structure::{ModuleId, ResourceId};
use crate::syntax::Expression;
use crate::value::Value;

/// Who serves whom, and what is learned of it on the way.
#[derive(Debug, Default)]
pub struct Serving {
    /// What was concluded before: the provider instance of each node.
    pub known: FxHashMap<Node, ProviderInstance>,
    asked: Mutex<BTreeMap<Node, Option<ProviderInstance>>>,
    collections: Mutex<BTreeMap<ProviderConfig, std::sync::Arc<OnceLock<Option<Value>>>>>,
}

impl Serving {
    /// Returns serving as it was concluded.
    pub fn of(known: FxHashMap<Node, ProviderInstance>) -> Serving {
        Serving { known, ..Serving::default() }
    }

    /// Takes what was learned: the provider instance of nodes whose key was not known before.
    pub fn take_learned(&self) -> Vec<(Node, ProviderInstance)> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(|it| it.into_inner()));
        asked.into_iter().filter_map(|(node, it)| Some((node, it?))).collect()
    }
}

impl Observer<'_> {
    /// Returns the provider instance that serves an instance of a resource with a block.
    ///
    /// `None` where its key cannot be used, which has been reported.
    pub fn serving(&self, resource: ResourceId, key: &InstanceKey) -> Option<ProviderInstance> {
        let node = self.values.structure.resource(resource).instance(key);
        if let Some(known) = node.and_then(|it| self.serving.known.get(&it)) {
            return Some(known.clone());
        }
        let asked = |node: &Node| {
            let asked = self.serving.asked.lock().unwrap_or_else(|it| it.into_inner());
            asked.get(node).cloned()
        };
        if let Some(answer) = node.as_ref().and_then(asked) {
            return answer;
        }
        let answer = self.ask_serving(resource, key);
        if let Some(node) = node {
            let mut asked = self.serving.asked.lock().unwrap_or_else(|it| it.into_inner());
            asked.insert(node, answer.clone());
        }
        answer
    }

    fn ask_serving(&self, resource: ResourceId, key: &InstanceKey) -> Option<ProviderInstance> {
        let structure = &self.values.structure;
        let node = structure.resource(resource);
        let config = node.provider.clone()?;
        let (block, module) = (structure.block(resource)?, node.module?);
        let found = resolve_resource(self.values.config, &structure.module(module).path, block);
        let Some((expression, caller)) = found.and_then(|it| it.key) else {
            return Some(ProviderInstance { config, key: InstanceKey::None });
        };
        let address = node.address.instance(key.clone());
        let is_own = block.provider.as_ref().is_some_and(|it| it.key.is_some());
        let chosen = match is_own {
            true => self.key_in(&self.instance_scope(module, resource, key), expression, &address),
            false => {
                let scope = self.values.call_scope(self.child_of(module, &caller))?;
                self.key_in(&scope, expression, &address)
            }
        }?;
        let instance = ProviderInstance { config, key: chosen };
        if !self.is_instance(&instance) {
            let place = self.block_of(&instance.config).map(|it| it.0.clone());
            self.values.report([problems::no_provider_instance(
                &address,
                &instance,
                place.as_ref(),
            )]);
            return None;
        }
        Some(instance)
    }

    fn key_in(
        &self,
        scope: &dyn expression::Scope,
        expression: &Expression,
        address: &Instance,
    ) -> Option<InstanceKey> {
        let (value, found) = expression::evaluate(expression, scope);
        let failed = found.has_errors();
        self.values.report(found.into_iter().map(|it| it.about(address)));
        if failed {
            return None;
        }
        match expansion::provider_key(&value) {
            Ok(key) => Some(key),
            Err(why) => {
                let detail = why.unwrap_or_else(|| format!(
                    "The provider instance key for {address} depends on values that cannot be determined until apply, and so OpenTofu cannot select a provider instance to create a plan for this resource instance."
                ));
                let problem = Diagnostic::error("Invalid provider instance key").detail(detail);
                self.values.report([problem.about(address).at(expression.span)]);
                None
            }
        }
    }

    /// The module instance on the way up whose call stands in `caller`.
    fn child_of(&self, module: ModuleId, caller: &crate::address::Module) -> ModuleId {
        let structure = &self.values.structure;
        let mut child = module;
        while let Some((parent, _)) = structure.module(child).parent {
            if structure.module(parent).path == *caller {
                break;
            }
            child = parent;
        }
        child
    }

    /// Returns the block of a provider configuration, where one is written, and an instance of its module.
    pub fn block_of(&self, config: &ProviderConfig) -> Option<(&ProviderBlock, Option<ModuleId>)> {
        let module = self.values.config.module(&config.module)?;
        let alias = config.alias.as_deref();
        let block = module.providers.iter().find(|it| {
            it.source == config.provider && it.alias.as_ref().map(|it| &*it.text) == alias
        })?;
        let modules = &self.values.structure.modules;
        let id = modules.iter().position(|it| it.path == config.module);
        Some((block, id.map(|it| ModuleId(it as u32))))
    }

    fn is_instance(&self, instance: &ProviderInstance) -> bool {
        let Some((block, _)) = self.block_of(&instance.config) else {
            return instance.key == InstanceKey::None;
        };
        match block.repetition.expression() {
            Some(_) => self.values.structure.provider_ids.contains_key(instance),
            None => instance.key == InstanceKey::None,
        }
    }

    /// Returns the key of a provider instance as its arguments see it, and its `each.value`.
    pub fn each_of_provider(
        &self,
        instance: &ProviderInstance,
        block: &ProviderBlock,
        module: ModuleId,
    ) -> (InstanceKey, Option<Value>) {
        let key = match (&block.repetition, &instance.key) {
            (crate::config::Repetition::Count(_), InstanceKey::Str(text)) => {
                text.parse().map_or_else(|_| instance.key.clone(), InstanceKey::Int)
            }
            _ => instance.key.clone(),
        };
        let cell = {
            let mut known = self.serving.collections.lock().unwrap_or_else(|it| it.into_inner());
            known.entry(instance.config.clone()).or_default().clone()
        };
        let whole = cell.get_or_init(|| {
            let crate::config::Repetition::ForEach(expression) = &block.repetition else {
                return None;
            };
            let (value, problems) = expression::evaluate(expression, &self.values.scope(module));
            (!problems.has_errors()).then_some(value)
        });
        let value = whole.as_ref().and_then(|it| super::values::each_of(it, &key));
        (key, value)
    }
}

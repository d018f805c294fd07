//! Which provider instance serves an object: as the rules concluded; and the keys that only the walk can evaluate.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use entail_rules::{Facts, Node};
use parking_lot::Mutex;

use super::Observer;
use crate::address::{Instance, InstanceKey, ProviderConfig, ProviderInstance};
use crate::config::ProviderBlock;
use crate::config::expansion::{self, key_text};
use crate::diagnostic::Diagnostic;
use crate::expression;
use crate::lower;
use crate::lower::serving::configured::ChoiceAt;
use crate::lower::structure::{ModuleId, NodeMap, ResourceId};
use crate::syntax::Expression;
use crate::value::{Kind, Value};
use crate::world::PRODUCT;

/// The provider instance of each node; those that one serves share it.
pub type Served = NodeMap<Arc<ProviderInstance>>;

/// Who serves whom, and what is learned of it on the way.
#[derive(Debug, Default)]
pub struct Serving {
    /// What was concluded before: the provider instance of each node.
    pub known: Served,
    /// What a conclusion rests on that must wait for a key.
    pub grounds: Grounds,
    asked: Mutex<BTreeMap<Node, Asked>>,
    collections: Mutex<BTreeMap<ProviderConfig, Arc<OnceLock<Option<Value>>>>>,
}

/// What is concluded in the walk rests on.
#[derive(Debug, Default)]
pub struct Grounds {
    /// What is said of providers, and of who made what.
    pub facts: Facts,
    /// What the numbers in them stand for.
    pub names: lower::serving::Serving,
}

/// What came of asking who serves a node.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The key that was evaluated for it.
    pub key: Option<InstanceKey>,
    /// The instance that was concluded; none where that was told as a problem.
    pub instance: Option<Arc<ProviderInstance>>,
}

impl Serving {
    /// Returns serving as it was concluded, with what further conclusions rest on.
    pub fn of(known: Served, grounds: Grounds) -> Serving {
        Serving { known, grounds, ..Serving::default() }
    }

    /// Returns what came of asking about a node earlier in the walk.
    pub fn answer(&self, node: Node) -> Option<Asked> {
        self.asked.lock().get(&node).cloned()
    }

    /// Keeps what came of asking about a node.
    pub fn keep(&self, node: Node, asked: Asked) {
        self.asked.lock().insert(node, asked);
    }

    /// Takes the keys that were evaluated in the walk.
    pub fn take_keys(&self) -> Vec<(Node, InstanceKey)> {
        let asked = std::mem::take(&mut *self.asked.lock());
        asked.into_iter().filter_map(|(node, it)| Some((node, it.key?))).collect()
    }
}

impl Observer<'_> {
    /// Evaluates the key expression that chooses the provider instance of an instance of a resource with a block.
    ///
    /// `None` where it cannot be used, which has been reported.
    pub fn provider_key(
        &self,
        resource: ResourceId,
        key: &InstanceKey,
        choice: &ChoiceAt,
    ) -> Option<InstanceKey> {
        let structure = &self.values.structure;
        let node = structure.resource(resource);
        let address = node.address.instance(key.clone());
        let module = node.module?;
        if !choice.is_own {
            let scope = self.values.call_scope(self.child_of(module, &choice.module.path))?;
            return self.key_in(&scope, &choice.expression, &address);
        }
        let scope = self.instance_scope(module, resource, key);
        self.key_in(&scope, &choice.expression, &address)
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
                    "The provider instance key for {address} depends on values that cannot be determined until apply, and so {PRODUCT} cannot select a provider instance to create a plan for this resource instance."
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
        Some((block, self.values.structure.first_at(&config.module)))
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
            let mut known = self.serving.collections.lock();
            known.entry(instance.config.clone()).or_default().clone()
        };
        let whole = cell.get_or_init(|| {
            let crate::config::Repetition::ForEach(expression) = &block.repetition else {
                return None;
            };
            let (value, problems) = expression::evaluate(expression, &self.values.scope(module));
            (!problems.has_errors()).then_some(value)
        });
        let value = whole.as_ref().and_then(|it| {
            match (super::values::each_of(it, &key), it.ty().kind()) {
                // An instance whose key is gone: an element of a set is its own key.
                (None, Kind::Set(_)) => Some(Value::string(key_text(&key))),
                (value, _) => value,
            }
        });
        (key, value)
    }
}

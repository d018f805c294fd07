//! Provider instances that destroy with the values from before the plan is carried out: objects are destroyed where they exist.

use entail_rules::Node;
use rustc_hash::FxHashMap;
use tokio::sync::Mutex;

use super::Observer;
use super::object::ObjectContext;
use super::pool::Era;
use super::values::Values;
use crate::address::ProviderInstance;
use crate::expression::body::decode_body;
use crate::value::Value;

/// The values from before the plan is carried out, for provider instances whose arguments change in it.
pub struct Former<'a> {
    values: Values<'a>,
    /// The instances, each with the ephemeral resources that its arguments draw on.
    instances: FxHashMap<ProviderInstance, Vec<Node>>,
    /// The instances that were asked for, each with the values that it destroys with.
    decided: Mutex<FxHashMap<ProviderInstance, Era>>,
}

impl<'a> Former<'a> {
    /// Returns what provider instances destroy with.
    ///
    /// - `values`: every object as the state has it.
    /// - `instances`: each with the ephemeral resources that its arguments draw on; one that draws on another comes after
    ///   it. No state has them: they are opened again.
    pub fn new(
        values: Values<'a>,
        instances: FxHashMap<ProviderInstance, Vec<Node>>,
    ) -> Former<'a> {
        instances.values().flatten().for_each(|it| values.wait_for(*it));
        Former { values, instances, decided: Mutex::default() }
    }

    /// Returns the values from before the plan is carried out.
    pub(super) fn values(&self) -> &Values<'a> {
        &self.values
    }
}

impl Observer<'_> {
    /// Returns the values that the arguments of an instance are evaluated with when it destroys. Opens the ephemeral
    /// resources that they draw on, as they were before the plan is carried out.
    pub(super) async fn era_to_destroy(&self, instance: &ProviderInstance) -> Era {
        let Some(former) = &self.former else { return Era::Current };
        let Some(ephemeral) = former.instances.get(instance) else { return Era::Current };
        let mut decided = former.decided.lock().await;
        if let Some(era) = decided.get(instance) {
            return *era;
        }
        for &node in ephemeral.iter().filter(|it| former.values.object(**it).is_none()) {
            if let Some(value) = self.open_as_before(former, node).await {
                former.values.record(node, value);
                former.values.decide(node);
            }
        }
        let era = self.era_of(former, instance);
        decided.insert(instance.clone(), era);
        era
    }

    /// Returns the former era where an instance has arguments in it that are wholly known.
    fn era_of(&self, former: &Former<'_>, instance: &ProviderInstance) -> Era {
        let is_known = || {
            self.provider_arguments(instance, Era::Former)
                .is_some_and(|it| it.0.is_wholly_known() && !it.1.has_errors())
        };
        match former.instances.contains_key(instance) && is_known() {
            true => Era::Former,
            false => Era::Current,
        }
    }

    /// Opens an ephemeral resource with the arguments from before the plan is carried out. One that is open with the same
    /// arguments is used as it is. `None` where these are not known or it cannot be opened.
    async fn open_as_before(&self, former: &Former<'_>, node: Node) -> Option<Value> {
        let structure = &self.values.structure;
        let (resource, key, _) = structure.kind(node).object()?;
        let of = structure.resource(resource);
        let (module, block) = (of.module?, structure.block(resource)?);
        let schema = self.pool.schema_of(of)?;
        let each = former.values.each_value(resource, key);
        let scope = former.values.scope(module).with_each(key.clone(), each);
        let (config, found) = decode_body(&block.body, &schema.block, &scope, &[]);
        if found.has_errors() || !config.is_wholly_known() {
            return None;
        }
        let address = of.address.instance(key.clone());
        let instance = self.serving.known.get(node)?;
        let era = self.era_of(former, instance);
        if era == Era::Current && self.is_open_with(node, &config) {
            return self.values.object(node).cloned();
        }
        let provider = self.provider_in(instance, &address, era).await?;
        let subject =
            ObjectContext { resource, module, key: key.clone(), address, block, schema, provider };
        self.open((node, Era::Former), &subject, &config).await
    }
}

//! Provider instances that destroy with the values from before the plan is carried out: objects are destroyed where they exist.

use entail_rules::Node;
use rustc_hash::FxHashSet;

use super::pool::Era;
use super::values::Values;
use crate::address::ProviderInstance;

/// The values from before the plan is carried out, for provider instances whose arguments change in it.
pub struct Former<'a> {
    values: Values<'a>,
    instances: FxHashSet<ProviderInstance>,
    /// Ephemeral resources: nothing records them, they are opened again.
    ephemeral: Vec<Node>,
}

impl<'a> Former<'a> {
    /// Returns what provider instances destroy with.
    ///
    /// - `values`: every object as the state has it.
    /// - `ephemeral`: the ephemeral resources of the configuration.
    pub fn new(
        values: Values<'a>,
        instances: FxHashSet<ProviderInstance>,
        ephemeral: Vec<Node>,
    ) -> Former<'a> {
        ephemeral.iter().for_each(|it| values.wait_for(*it));
        Former { values, instances, ephemeral }
    }

    /// Returns the values that the arguments of an instance are evaluated with when it destroys.
    pub fn era(&self, instance: &ProviderInstance) -> Era {
        if self.instances.contains(instance) { Era::Former } else { Era::Current }
    }

    /// Returns the values, with the ephemeral resources that are open now.
    pub(super) fn values(&self, now: &Values<'a>) -> &Values<'a> {
        for &node in &self.ephemeral {
            if let Some(value) = now.object(node) {
                self.values.record(node, value.clone());
                self.values.decide(node);
            }
        }
        &self.values
    }
}

//! How long provider instances are kept: each is let go when the last step that it serves is done.

use std::collections::BTreeMap;
use std::sync::Mutex;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use crate::address::ProviderInstance;

/// The provider instances that steps still need.
#[derive(Debug, Default)]
pub struct Upkeep {
    serves: FxHashMap<Node, ProviderInstance>,
    left: Mutex<BTreeMap<ProviderInstance, usize>>,
}

impl Upkeep {
    /// Returns who is needed how often: `steps` has a node once for each step, `serves` who serves it.
    pub fn of(
        steps: impl Iterator<Item = Node>,
        serves: &FxHashMap<Node, ProviderInstance>,
    ) -> Upkeep {
        let mut upkeep = Upkeep::default();
        let mut left: BTreeMap<ProviderInstance, usize> = BTreeMap::new();
        for node in steps {
            if let Some(instance) = serves.get(&node) {
                *left.entry(instance.clone()).or_default() += 1;
                upkeep.serves.insert(node, instance.clone());
            }
        }
        upkeep.left = Mutex::new(left);
        upkeep
    }

    /// Returns whether any step needs a provider instance.
    pub fn needs(&self, instance: &ProviderInstance) -> bool {
        self.left.lock().unwrap_or_else(|it| it.into_inner()).contains_key(instance)
    }

    /// Says that a step of a node is done, and returns the provider instance that no step needs any more.
    pub fn done(&self, node: Node) -> Option<&ProviderInstance> {
        let instance = self.serves.get(&node)?;
        let mut left = self.left.lock().unwrap_or_else(|it| it.into_inner());
        let count = left.get_mut(instance)?;
        *count -= 1;
        if *count > 0 {
            return None;
        }
        left.remove(instance);
        Some(instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{InstanceKey, Module, Provider, ProviderConfig};

    fn instance(key: i64) -> ProviderInstance {
        let config = ProviderConfig {
            module: Module::default(),
            provider: Provider::implied("x"),
            alias: None,
        };
        ProviderInstance { config, key: InstanceKey::Int(key as _) }
    }

    #[test]
    fn an_instance_is_let_go_after_its_last_step() {
        let serves = [(Node(1), instance(1)), (Node(2), instance(2)), (Node(3), instance(1))];
        let serves = serves.into_iter().collect();
        let upkeep = Upkeep::of([1, 2, 3, 3, 9].into_iter().map(Node), &serves);
        let done = |node| upkeep.done(Node(node)).cloned();
        assert_eq!([done(1), done(9), done(3)], [None, None, None]);
        assert_eq!([done(2), done(3)], [Some(instance(2)), Some(instance(1))]);
        assert!(!upkeep.needs(&instance(1)) && done(3).is_none());
    }
}

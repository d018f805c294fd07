//! How long provider instances are kept: each is let go when the last thing that it serves is done.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::Node;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::serving::Served;
use crate::address::{Provider, ProviderInstance};

/// The provider instances that are still needed.
#[derive(Debug, Default)]
pub struct ProviderLifetimes {
    needs: FxHashMap<Node, Need>,
    left: Mutex<Left>,
}

/// What has to be kept until something is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The instance that serves it.
    Instance(Arc<ProviderInstance>),
    /// Every instance of a provider: which of them serves it is not known, or any of them does.
    Any(Provider),
}

/// How often each is still needed.
#[derive(Debug, Default)]
struct Left {
    instances: BTreeMap<Arc<ProviderInstance>, usize>,
    any: BTreeMap<Provider, usize>,
}

impl ProviderLifetimes {
    /// Returns who is needed how often: `steps` has a node once for each step, `serves` who serves it.
    pub fn of_steps(steps: impl Iterator<Item = Node>, serves: &Served) -> ProviderLifetimes {
        let need = |node| Some((node, Need::Instance(serves.get(node)?.clone())));
        ProviderLifetimes::of(steps.filter_map(need), [])
    }

    /// Returns who is needed until which nodes are done.
    ///
    /// - `always`: providers of which no instance is let go.
    pub fn of(
        needs: impl Iterator<Item = (Node, Need)>,
        always: impl IntoIterator<Item = Provider>,
    ) -> ProviderLifetimes {
        let (mut lifetimes, mut left) = (ProviderLifetimes::default(), Left::default());
        for (node, need) in needs {
            match &need {
                Need::Instance(it) => *left.instances.entry(it.clone()).or_default() += 1,
                Need::Any(it) => *left.any.entry(it.clone()).or_default() += 1,
            }
            lifetimes.needs.insert(node, need);
        }
        for provider in always {
            *left.any.entry(provider).or_default() += 1;
        }
        lifetimes.left = Mutex::new(left);
        lifetimes
    }

    /// Returns whether anything needs a provider instance.
    pub fn needs(&self, instance: &ProviderInstance) -> bool {
        let left = self.left.lock();
        left.instances.contains_key(instance) || left.any.contains_key(&instance.config.provider)
    }

    /// Returns whether anything needs any instance of a provider.
    pub fn needs_any(&self, provider: &Provider) -> bool {
        let left = self.left.lock();
        let serves = |it: &Arc<ProviderInstance>| it.config.provider == *provider;
        left.any.contains_key(provider) || left.instances.keys().any(serves)
    }

    /// Says that a step of a node is done, and returns the provider instances that nothing needs any more.
    pub fn done(&self, node: Node) -> Vec<Arc<ProviderInstance>> {
        let Some(need) = self.needs.get(&node) else { return Vec::new() };
        self.left.lock().less(need)
    }
}

impl Left {
    fn less(&mut self, need: &Need) -> Vec<Arc<ProviderInstance>> {
        match need {
            Need::Instance(instance) => {
                let Some(count) = self.instances.get_mut(instance) else { return Vec::new() };
                *count = count.saturating_sub(1);
                if *count > 0 || self.any.contains_key(&instance.config.provider) {
                    return Vec::new();
                }
                self.instances.remove(instance);
                vec![instance.clone()]
            }
            Need::Any(provider) => {
                let Some(count) = self.any.get_mut(provider) else { return Vec::new() };
                *count -= 1;
                if *count > 0 {
                    return Vec::new();
                }
                self.any.remove(provider);
                let is_idle = |it: &Arc<ProviderInstance>, count: &mut usize| {
                    *count == 0 && it.config.provider == *provider
                };
                self.instances.extract_if(.., is_idle).map(|it| it.0).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{InstanceKey, Module, ProviderConfig};

    fn instance(key: i64) -> Arc<ProviderInstance> {
        let config = ProviderConfig {
            module: Module::default(),
            provider: Provider::implied("x"),
            alias: None,
        };
        ProviderInstance { config, key: InstanceKey::Int(key as _) }.into()
    }

    #[test]
    fn an_instance_is_let_go_after_its_last_step() {
        let serves = [(Node(1), instance(1)), (Node(2), instance(2)), (Node(3), instance(1))];
        let serves = serves.into_iter().collect();
        let lifetimes = ProviderLifetimes::of_steps([1, 2, 3, 3, 9].into_iter().map(Node), &serves);
        let done = |node| lifetimes.done(Node(node));
        assert_eq!([done(1), done(9), done(3)], [const { Vec::new() }; 3]);
        assert_eq!([done(2), done(3)], [vec![instance(2)], vec![instance(1)]]);
        assert!(!lifetimes.needs(&instance(1)) && done(3).is_empty());
    }

    #[test]
    fn what_may_be_served_by_any_instance_keeps_all_of_them() {
        let any = || Need::Any(Provider::implied("x"));
        let needs = || {
            let served = [(1, Need::Instance(instance(1))), (2, Need::Instance(instance(2)))];
            served.into_iter().chain([(3, any())]).map(|it| (Node(it.0), it.1))
        };
        let lifetimes = ProviderLifetimes::of(needs(), []);
        assert!(lifetimes.done(Node(1)).is_empty());
        assert_eq!(lifetimes.done(Node(3)), [instance(1)]);
        assert_eq!(lifetimes.done(Node(2)), [instance(2)]);
        let lifetimes = ProviderLifetimes::of(needs(), [Provider::implied("x")]);
        assert!([1, 2, 3].into_iter().all(|it| lifetimes.done(Node(it)).is_empty()));
    }
}

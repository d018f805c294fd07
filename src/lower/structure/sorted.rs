//! Objects in the order of their addresses, in which a plan names them.

use entail_rules::Node;

use super::{ModuleId, ResourceId, Structure};
use crate::address::InstanceKey;
use crate::value::Str;

impl Structure {
    /// Returns the nodes of all objects in the order of their addresses, deposed ones behind the current one.
    pub fn objects_in_order(&self) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(self.resources.len());
        for id in self.resources_in_order() {
            let it = self.resource(id);
            if it.besides.others.is_empty() && it.besides.deposed.is_empty() {
                nodes.extend(it.instances.values());
                continue;
            }
            let current = it.instances.iter().chain(it.besides.others.iter());
            let current = current.map(|(key, node)| (key, None, *node));
            let deposed =
                it.besides.deposed.iter().map(|((key, own), node)| (key, Some(own), *node));
            let mut all: Vec<(&InstanceKey, Option<&Str>, Node)> = current.chain(deposed).collect();
            all.sort_unstable();
            nodes.extend(all.into_iter().map(|it| it.2));
        }
        nodes
    }

    /// Returns the resources in the order of their addresses. In a module instance blocks stand in that order; where some have no
    /// block, all are compared.
    fn resources_in_order(&self) -> Vec<ResourceId> {
        let mut modules: Vec<ModuleId> = (0..self.modules.len() as u32).map(ModuleId).collect();
        modules.sort_unstable_by(|one, other| {
            self.module(*one).address.cmp(&self.module(*other).address)
        });
        let mut sorted: Vec<ResourceId> = Vec::with_capacity(self.resources.len());
        sorted.extend(modules.iter().flat_map(|it| self.module(*it).places.all()));
        if sorted.len() < self.resources.len() {
            sorted = (0..self.resources.len() as u32).map(ResourceId).collect();
            sorted.sort_unstable_by_key(|it| &self.resource(*it).address);
        }
        debug_assert!(sorted.is_sorted_by_key(|it| &self.resource(*it).address));
        sorted
    }
}

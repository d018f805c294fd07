//! Reads between blocks that wait for each other: no order of the trace finds them all.

use entail_rules::Node;

use super::Trace;
use crate::lower::blocks::{BlockKey, BlockNode};
use crate::lower::structure::{ModuleId, ModuleNode};
use crate::value::Str;

impl Trace<'_> {
    /// Writes what the references read that were taken out of the graph of blocks: each all that it names.
    pub(super) fn reads_in_circles(&mut self) {
        let graph = self.input.graph;
        for &(from, to, at) in &graph.circles.opened {
            let (from, to) = (graph.block(from), graph.block(to));
            let mut found = Vec::new();
            for user in self.made.of(from.module) {
                for used in self.made.of(to.module) {
                    if self.are_near(user, used) {
                        let (users, used) = (self.users(user, from), self.used(used, to));
                        found.extend(users.into_iter().flat_map(|it| used.map(|to| (it, to))));
                    }
                }
            }
            let other = found.into_iter().filter(|it| it.0 != it.1);
            self.reads.reads.extend(other.map(|(from, to)| (from, to, at)));
        }
    }

    /// Whether one of two module instances is the other, or is called in it.
    fn are_near(&self, one: ModuleId, other: ModuleId) -> bool {
        let (one, other) =
            (&self.structure.module(one).address, &self.structure.module(other).address);
        one.0.starts_with(&other.0) || other.0.starts_with(&one.0)
    }

    /// The nodes of a block that read what it refers to.
    fn users(&self, module: ModuleId, block: BlockNode<'_>) -> Vec<Node> {
        let BlockKey::Resource(name) = block.key else {
            return self.value_of_block(module, block).into_iter().collect();
        };
        let id = self.structure.resource_in(module, name.as_ref());
        let Some(resource) = id.map(|it| self.structure.resource(it)) else { return Vec::new() };
        resource.instances.values().chain(&resource.besides.pending).copied().collect()
    }

    /// The node of all that a reference to a block names.
    fn used(&self, module: ModuleId, block: BlockNode<'_>) -> Option<Node> {
        let BlockKey::Resource(name) = block.key else {
            return self.value_of_block(module, block);
        };
        let id = self.structure.resource_in(module, name.as_ref())?;
        self.structure.resource(id).collection
    }

    fn value_of_block(&self, module: ModuleId, block: BlockNode<'_>) -> Option<Node> {
        let call =
            |name: &Str| self.structure.call_in(module, name).map(|it| self.structure.call(it));
        let module: &ModuleNode = self.structure.module(module);
        match block.key {
            BlockKey::Variable(name) => module.variables.get(name).copied(),
            BlockKey::Local(name) => module.besides.locals.get(name).copied(),
            BlockKey::Output(name) => module.outputs.get(name).copied(),
            BlockKey::Call(name) => call(name).map(|it| it.keys),
            BlockKey::Inside(name) => call(name)?.inside,
            BlockKey::Check(name) => module.besides.checks.get(name).copied(),
            BlockKey::Resource(_) | BlockKey::Provider(..) => None,
        }
    }
}

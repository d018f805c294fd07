//! `minimal`: the fewest flags that bring certain changes and no others that are not needed for them, or that keep certain objects as they are.
//!
//! What the flags do is not guessed here: a plan is made with them. Here is only which addresses to name.

use std::collections::BTreeSet;

use entail_rules::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use super::explain::{Asked, ExplainContext};
use crate::address::ModuleInstance;
use crate::diagnostic::Diagnostic;
use crate::explain::Leaves;
use crate::lower::structure::{NodeKind, ResourceId};

/// What the flags are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To bring changes: what is targeted brings along what it reads.
    Change,
    /// To keep objects as they are: what is excluded takes along what reads it.
    Keep,
}

/// The objects that are asked for.
pub struct Wanted {
    /// Their nodes.
    pub nodes: BTreeSet<Node>,
}

impl Wanted {
    /// Finds the objects that addresses name.
    ///
    /// # Errors
    ///
    /// If nothing has an address, or there is no object in what has it.
    pub fn read(addresses: &[String], context: &ExplainContext) -> Result<Wanted, Diagnostic> {
        let mut nodes = BTreeSet::new();
        for text in addresses {
            let found = Asked::read(text, context)?.objects(context);
            if found.is_empty() {
                return Err(Diagnostic::error("No object has that address").detail(format!(
                    "{text} is no resource instance, no resource and no module with any."
                )));
            }
            nodes.extend(found);
        }
        Ok(Wanted { nodes })
    }

    /// Returns the addresses to name, as few as do.
    pub fn addresses(&self, context: &ExplainContext, purpose: Purpose) -> Vec<String> {
        let first = self.first(context, purpose);
        let folded = Folding { context, wanted: &self.nodes }.folded(first);
        folded.into_iter().collect()
    }

    /// Those that no other one of them brings along.
    fn first(&self, context: &ExplainContext, purpose: Purpose) -> BTreeSet<Node> {
        let mut next: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        for (reader, read, ..) in &context.facts.reads {
            let (from, to) = match purpose {
                Purpose::Change => (*reader, *read),
                Purpose::Keep => (*read, *reader),
            };
            next.entry(from).or_default().push(to);
        }
        // What is met from one is brought along by it; each node is gone through once.
        let mut brought: FxHashSet<Node> = FxHashSet::default();
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        for &node in &self.nodes {
            let mut todo: Vec<Node> = next.get(&node).cloned().unwrap_or_default();
            while let Some(at) = todo.pop() {
                if at == node || !seen.insert(at) {
                    continue;
                }
                brought.insert(at);
                todo.extend(next.get(&at).into_iter().flatten());
            }
        }
        self.nodes.iter().copied().filter(|it| !brought.contains(it)).collect()
    }
}

/// Names a resource or a module in place of all that is in it.
struct Folding<'a> {
    context: &'a ExplainContext,
    wanted: &'a BTreeSet<Node>,
}

impl Folding<'_> {
    fn folded(&self, first: BTreeSet<Node>) -> BTreeSet<String> {
        let structure = &self.context.structure;
        let mut left: Vec<(String, Option<ResourceId>, ModuleInstance)> = Vec::new();
        for node in first {
            let (NodeKind::Object(id, _) | NodeKind::Pending(id)) = structure.kind(node) else {
                continue;
            };
            let resource = structure.resource(*id);
            let name = match structure.kind(node) {
                NodeKind::Pending(_) => resource.address.to_string(),
                _ => self.context.name(node),
            };
            left.push((name, Some(*id), resource.address.module.clone()));
        }
        let resources: BTreeSet<ResourceId> = left.iter().filter_map(|it| it.1).collect();
        for id in resources {
            let own = left.iter().filter(|it| it.1 == Some(id)).count();
            if own > 1 && self.is_whole(&Asked::Resource(id)) {
                let address = &structure.resource(id).address;
                left.retain(|it| it.1 != Some(id));
                left.push((address.to_string(), None, address.module.clone()));
            }
        }
        // From the innermost modules outwards.
        let mut modules: Vec<ModuleInstance> = structure
            .modules
            .iter()
            .map(|it| it.address.clone())
            .filter(|it| !it.is_root())
            .collect();
        modules.sort_by_key(|it| std::cmp::Reverse(it.0.len()));
        for module in modules {
            let own = left.iter().filter(|it| it.2.0.starts_with(&module.0)).count();
            let Some(id) = structure.module_id(&module) else { continue };
            if own > 1 && self.is_whole(&Asked::Module(id)) {
                left.retain(|it| !it.2.0.starts_with(&module.0));
                left.push((module.to_string(), None, module.clone()));
            }
        }
        left.into_iter().map(|it| it.0).collect()
    }

    /// Whether all that something stands for is wanted.
    fn is_whole(&self, asked: &Asked) -> bool {
        asked.objects(self.context).iter().all(|it| self.wanted.contains(it))
    }
}

//! What a plan must say something of, read from the configuration and the state alone.

use std::collections::BTreeSet;

use entail_rules::Node;

use super::Documents;
use crate::address::ConfigResource;
use crate::config::Repetition;
use crate::lower::Structure;
use crate::lower::structure::{ModuleId, ModuleNode, Nearby, ResourceNode};
use crate::planner::Finished;
use crate::syntax::Near;

/// Returns the nodes of everything that is declared or recorded, sorted. What has none is a fault.
pub(super) fn domain(
    finished: &Finished,
    documents: &Documents<'_>,
    faults: &mut Vec<String>,
) -> Vec<Node> {
    let mut nodes = Vec::new();
    declared(finished, documents, &mut nodes, faults);
    recorded(&finished.structure, documents, &mut nodes, faults);
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Goes through the modules as they call each other, from the root.
fn declared(
    finished: &Finished,
    documents: &Documents<'_>,
    nodes: &mut Vec<Node>,
    faults: &mut Vec<String>,
) {
    let structure = &finished.structure;
    let (mut unexpanded, mut last) = (None, 0);
    let mut open = vec![Structure::ROOT];
    while let Some(id) = open.pop() {
        let module = structure.module(id);
        let config = documents.config.module_in_order(&module.path, &module.address, &mut last);
        let config = config.unwrap_or(&module.config);
        let near = Near::default();
        for (place, (name, block)) in config.resources.into_iter().enumerate() {
            near.found_at(place);
            let known = structure.resource_named(id, name.as_ref(), &near);
            let known = known.map(|it| structure.resource(it));
            match known.filter(|it| it.declared && has_all(it, &block.besides.repetition)) {
                Some(resource) => {
                    nodes.extend(
                        resource.instances.values().copied().chain(resource.besides.pending),
                    );
                }
                // Where the keys of a module are found and those inside are not, the plan has failed and says so.
                None => {
                    let open = unexpanded.get_or_insert_with(|| unexpanded_in(structure));
                    let block =
                        ConfigResource { module: module.path.clone(), resource: name.clone() };
                    if !(finished.plan.errored && open.contains(&block)) {
                        faults.push(format!(
                            "{} is declared, and the plan knows nothing of it",
                            within(module, &name.to_string())
                        ));
                    }
                }
            }
        }
        for (place, name) in config.calls.keys().enumerate() {
            near.found_at(place);
            match structure.call_named(id, name, &near) {
                Some(call) => {
                    open.extend(children(structure, structure.call(call).instances.values()))
                }
                None if finished.plan.errored => {}
                None => faults.push(format!(
                    "{} is called, and the plan knows nothing of it",
                    within(module, &format!("module.{name}"))
                )),
            }
        }
    }
}

fn children<'s>(
    structure: &'s Structure,
    all: impl Iterator<Item = &'s ModuleId>,
) -> impl Iterator<Item = ModuleId> {
    all.copied().filter(|it| it.index() < structure.modules.len())
}

/// Whether a resource has an instance wherever its block alone says that there is one.
fn has_all(resource: &ResourceNode, repetition: &Repetition) -> bool {
    repetition.expression().is_some()
        || resource.besides.pending.is_some()
        || resource.instances.len() == 1
}

/// The blocks whose keys only the walk could know.
fn unexpanded_in(structure: &Structure) -> BTreeSet<ConfigResource> {
    let pending = structure.resources.iter().filter(|it| it.besides.pending.is_some());
    pending.map(|it| it.address.config()).collect()
}

fn within(module: &ModuleNode, name: &str) -> String {
    if module.address.is_root() { name.to_owned() } else { format!("{}.{name}", module.address) }
}

/// Goes through the state: current and deposed objects.
fn recorded(
    structure: &Structure,
    documents: &Documents<'_>,
    nodes: &mut Vec<Node>,
    faults: &mut Vec<String>,
) {
    let mut near = Nearby::default();
    for (address, resource) in &documents.state.resources {
        let known = structure.resource_near(address, &mut near).map(|it| structure.resource(it));
        for (key, instance) in &resource.instances {
            let current = instance.current.as_ref().map(|_| None);
            for object in current.into_iter().chain(instance.deposed.keys().map(Some)) {
                let node = known.and_then(|known| match object {
                    None => known.instance(key),
                    Some(deposed) => {
                        known.besides.deposed.get(&(key.clone(), deposed.clone())).copied()
                    }
                });
                match node {
                    Some(node) => nodes.push(node),
                    None => faults.push(format!(
                        "{} is in the state, and the plan knows nothing of it",
                        address.instance(key.clone())
                    )),
                }
            }
        }
    }
}

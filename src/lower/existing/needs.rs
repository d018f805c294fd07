//! What recorded objects rest on: what the state says of it, as far as it leads to nodes and to no cycle.

use std::collections::BTreeSet;
use std::str::FromStr;

use entail_rules::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::configuration::block_of;
use super::super::cyclic_core::cyclic_core;
use super::super::structure::{NodeKind, NodeMap, ResourceId};
use super::super::{Documents, Lowered, Reads};
use crate::address::{ConfigResource, Instance, Mode, Resource};
use crate::diagnostic::Diagnostic;
use crate::lists::Lists;
use crate::state::Object;
use crate::value::Str;

/// What each existing object rests on: our own record, else today's reads where OpenTofu's record still fits, else whole resources
/// and, of a declared object, today's reads as far as they are in no circle with that.
///
/// - `reads`: what is read today, whatever the run is for.
pub(super) fn needs(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    reads: &Reads,
    existing: &[(Node, ResourceId, &Object)],
) {
    let mut wholes: FxHashMap<ResourceId, Node> = FxHashMap::default();
    // The instances of a resource stand one after the other.
    let mut today: (Option<ResourceId>, Vec<Str>) = (None, Vec::new());
    if existing.is_empty() {
        return;
    }
    let reads = Lists::of(reads.reads.iter().map(|it| (it.0.0, it.1)));
    let mut by_config: Option<FxHashMap<ConfigResource, Vec<ResourceId>>> = None;
    let exist: NodeMap<()> = lowered.facts.in_state.iter().map(|it| (it.0, ())).collect();
    let mut meant = recorded_names(lowered, existing);
    let (mut needs, mut today_besides) = (Vec::new(), Vec::new());
    for (node, id, object) in existing {
        // What was read goes with nothing that is destroyed, and leads nowhere: who reads it has a record of what is behind.
        if lowered.structure.resource(*id).address.resource.mode != Mode::Managed {
            continue;
        }
        if let Some(record) = &object.reads {
            let own = needs.len();
            for address in record {
                // Who names the same has the same text.
                let named = meant.entry(address.as_ptr());
                let named = *named.or_insert_with(|| recorded(lowered, &mut wholes, address));
                needs.extend(named.map(|it| (*node, it)));
            }
            needs[own..].sort_unstable();
            continue;
        }
        if today.0 != Some(*id) {
            let block = block_of(lowered, documents, *id).map(|it| it.0 as usize);
            let named = block.map(|it| documents.graph.dependencies(it));
            today = (Some(*id), named.unwrap_or_default());
        }
        let key = lowered.structure.kind(*node).object().map(|it| it.1);
        let instances = &lowered.structure.resource(*id).instances;
        let declared = key.is_some_and(|it| instances.contains_key(it));
        if declared {
            let fits = today.1 == *object.dependencies;
            let found = if fits { &mut needs } else { &mut today_besides };
            found.extend(
                nearest(lowered, (&reads, &exist), *node).into_iter().map(|it| (*node, it)),
            );
            if fits {
                continue;
            }
        }
        let by_config = by_config.get_or_insert_with(|| lowered.structure.resources_by_config());
        for dependency in &object.dependencies {
            for target in resources_named(lowered, by_config, *id, dependency) {
                needs.push((*node, whole(lowered, &mut wholes, target)));
            }
        }
    }
    for (id, whole) in wholes {
        let resource = lowered.structure.resource(id);
        let members = resource.instances.values().chain(resource.besides.others.values());
        // Nothing was made from an instance that is not there, be it declared.
        needs.extend(members.filter(|it| exist.get(**it).is_some()).map(|it| (whole, *it)));
    }
    let needs = with_today(needs, today_besides);
    lowered.facts.needs = without_cycles(lowered, needs);
}

/// The objects that still stand where our own record has them, by the texts that name them there.
fn recorded_names(
    lowered: &Lowered,
    existing: &[(Node, ResourceId, &Object)],
) -> FxHashMap<*const u8, Option<Node>> {
    let moved: FxHashSet<Node> = lowered.facts.moved.iter().map(|it| it.0).collect();
    let mut names = FxHashMap::default();
    for (node, _, object) in existing {
        let Some(recorded) = &object.recorded_as else { continue };
        let is_current = matches!(lowered.structure.kind(*node), NodeKind::Object(..));
        if is_current && !moved.contains(node) {
            if names.is_empty() {
                names.reserve(existing.len());
            }
            names.insert(recorded.as_ptr(), Some(*node));
        }
    }
    names
}

/// Adds what objects rest on today to what the state says of them, but for what would close a circle: there it is the state that counts.
fn with_today(mut needs: Vec<(Node, Node)>, today: Vec<(Node, Node)>) -> Vec<(Node, Node)> {
    let tidied = |mut rows: Vec<(Node, Node)>| {
        rows.retain(|it| it.0 != it.1);
        rows.sort_unstable();
        rows.dedup();
        rows
    };
    if today.is_empty() {
        return tidied(needs);
    }
    let all = tidied(needs.iter().copied().chain(today.iter().copied()).collect());
    let core: FxHashSet<Node> = cyclic_core(&all).into_iter().collect();
    needs.extend(today.iter().filter(|it| !(core.contains(&it.0) && core.contains(&it.1))));
    tidied(needs)
}

/// The objects that exist and that an instance reads, through whatever else there is.
fn nearest(
    lowered: &Lowered,
    (reads, exist): (&Lists<Node>, &NodeMap<()>),
    node: Node,
) -> Vec<Node> {
    let mut seen = FxHashSet::default();
    let mut open = reads.get(node.0).to_vec();
    let mut found = Vec::new();
    while let Some(next) = open.pop() {
        if !seen.insert(next) {
            continue;
        }
        match lowered.structure.kind(next) {
            NodeKind::Object(resource, _)
                if lowered.structure.resource(*resource).address.resource.mode == Mode::Managed
                    && exist.get(next).is_some() =>
            {
                found.push(next)
            }
            _ => open.extend(reads.get(next.0)),
        }
    }
    found
}

/// The node of a recorded address: an instance, or a whole resource.
fn recorded(
    lowered: &mut Lowered,
    wholes: &mut FxHashMap<ResourceId, Node>,
    address: &str,
) -> Option<Node> {
    if let Ok(instance) = Instance::from_str(address)
        && let Some(id) = lowered.structure.resource_id(&instance.of())
        && let Some(node) = lowered.structure.resource(id).instance(&instance.key)
    {
        return Some(node);
    }
    let resource = Resource::from_str(address).ok()?;
    let id = lowered.structure.resource_id(&resource)?;
    Some(whole(lowered, wholes, id))
}

/// The resources that a recorded address without keys means: those of the same module instance where it is in the same
/// module, else of every instance.
fn resources_named(
    lowered: &Lowered,
    by_config: &FxHashMap<ConfigResource, Vec<ResourceId>>,
    of: ResourceId,
    address: &str,
) -> Vec<ResourceId> {
    let Ok(named) = Resource::from_str(address) else { return Vec::new() };
    // OpenTofu records ephemeral resources, too: they do not exist, so that nothing is destroyed before them.
    if named.resource.mode == Mode::Ephemeral {
        return Vec::new();
    }
    let own = &lowered.structure.resource(of).address.module;
    if own.module() == named.module.module() {
        let here = Resource { module: own.clone(), resource: named.resource };
        return lowered.structure.resource_id(&here).into_iter().collect();
    }
    by_config.get(&named.config()).cloned().unwrap_or_default()
}

fn whole(lowered: &mut Lowered, wholes: &mut FxHashMap<ResourceId, Node>, id: ResourceId) -> Node {
    if let Some(&node) = wholes.get(&id) {
        return node;
    }
    let resource = lowered.structure.resource(id);
    let node = match resource.collection.filter(|_| resource.besides.pending.is_none()) {
        Some(node) => node,
        None => lowered.structure.add(NodeKind::Collection(id)),
    };
    wholes.insert(id, node);
    node
}

/// A record that goes in a circle cannot be right; what lies on the circle is left out, and said.
fn without_cycles(lowered: &mut Lowered, needs: Vec<(Node, Node)>) -> Vec<(Node, Node)> {
    let cyclic_core: BTreeSet<Node> = cyclic_core(&needs).into_iter().collect();
    if cyclic_core.is_empty() {
        return needs;
    }
    let names: Vec<String> = cyclic_core
        .iter()
        .filter_map(|it| lowered.structure.instance(*it))
        .map(|it| it.to_string())
        .collect();
    lowered.problems.push(Diagnostic::warning("Circular dependencies in the state").detail(format!(
        "The state says that these objects rest on each other: {}. Their recorded dependencies are not used in this run.",
        names.join(", ")
    )));
    needs
        .into_iter()
        .filter(|it| !(cyclic_core.contains(&it.0) && cyclic_core.contains(&it.1)))
        .collect()
}

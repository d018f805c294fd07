//! Which objects exist because of which key set: their own, or that of a call around their module.

use std::collections::BTreeSet;

use entail_rules::Node;
use rustc_hash::FxHashSet;

use super::structure::{ModuleId, NodeKind, ResourceId, ResourceNode, Structure, Style};
use super::{Documents, Lowered, Reads};
use crate::address::Mode;
use crate::request::PlanMode;

/// Writes `keyed_by` of the key sets that a value reads: outputs can depend on no others.
pub(super) fn lower(lowered: &mut Lowered, documents: &Documents<'_>, reads: &Reads) {
    if !is_asked(documents) {
        return;
    }
    let read = read_by_values(lowered, reads);
    if read.is_empty() {
        return;
    }
    let (structure, facts) = (&lowered.structure, &mut lowered.facts);
    let exist: FxHashSet<Node> = facts.in_state.iter().map(|it| it.0).collect();
    for resource in &structure.resources {
        let rows = rows(structure, &exist, resource);
        facts.keyed_by.extend(rows.into_iter().filter(|it| read.contains(&it.1)));
    }
}

/// Writes `keyed_by` of instances that were found in the walk, and of those that waited for their keys.
pub(super) fn lower_more(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    resources: &[ResourceId],
    waited: &[Node],
) {
    if !is_asked(documents) {
        return;
    }
    let (structure, facts) = (&lowered.structure, &mut lowered.facts);
    let exist: FxHashSet<Node> = facts.in_state.iter().map(|it| it.0).collect();
    let of_waited = waited.iter().filter_map(|it| Some(structure.kind(*it).object()?.0));
    let all: BTreeSet<ResourceId> = resources.iter().copied().chain(of_waited).collect();
    for id in all {
        facts.keyed_by.extend(rows(structure, &exist, structure.resource(id)));
    }
}

/// Returns whether the run leaves out something, and outputs may change.
fn is_asked(documents: &Documents<'_>) -> bool {
    !documents.request.is_unfiltered() && documents.request.mode != PlanMode::Destroy
}

/// Returns the key sets that something other than what they make reads.
fn read_by_values(lowered: &Lowered, reads: &Reads) -> BTreeSet<Node> {
    let structure = &lowered.structure;
    let is_key_set =
        |it: Node| matches!(structure.kind(it), NodeKind::Repetition(_) | NodeKind::CallKeys(_));
    let is_made = |it: Node| {
        matches!(
            structure.kind(it),
            NodeKind::Object(..) | NodeKind::Pending(_) | NodeKind::Collection(_)
        )
    };
    let read = reads.reads.iter().filter(|it| is_key_set(it.1) && !is_made(it.0));
    read.map(|it| it.1).collect()
}

/// Pairs the instances of a managed resource, existing ones too, with each key set that they come from.
///
/// - `exist`: what is in the state.
fn rows(
    structure: &Structure,
    exist: &FxHashSet<Node>,
    resource: &ResourceNode,
) -> Vec<(Node, Node)> {
    let is_gone = !resource.declared && resource.module.is_some();
    if is_gone || resource.address.resource.mode != Mode::Managed {
        return Vec::new();
    }
    let others = resource.besides.others.values().filter(|it| exist.contains(it));
    let made = resource.instances.values().chain(others).chain(&resource.besides.pending);
    let keys = key_sets(structure, resource);
    made.flat_map(|it| keys.iter().map(|key_set| (*it, *key_set))).collect()
}

/// Returns the key set of a resource, and those of the calls around it.
fn key_sets(structure: &Structure, resource: &ResourceNode) -> Vec<Node> {
    let mut found: Vec<Node> = resource.besides.repetition.into_iter().collect();
    let mut at: ModuleId = Structure::ROOT;
    for (name, key) in resource.address.module.0.iter() {
        let Some(call) = structure.call_in(at, name).map(|it| structure.call(it)) else { break };
        if call.style != Style::Single {
            found.push(call.keys);
        }
        let next = call.instances.get(key).or_else(|| call.named.get(key));
        let Some(next) = next else { break };
        at = *next;
    }
    found
}

//! What data sources and ephemeral resources wait for, beyond the values that they are made of.

use entail_rules::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowered;
use super::structure::{ModuleId, NodeKind, ResourceId, Structure};
use crate::address::Mode;
use crate::config::uses::{self, Role};
use crate::expression::{Reference, Subject, parse_reference};
use crate::syntax::Expression;

/// Writes `data_waits` and `data_waits_behind`.
///
/// A block waits for the managed objects that it names itself, in `depends_on` and in its keys too, and for everything
/// behind the modules that its `depends_on` names and behind what the `depends_on` of a call around it names. What is
/// opened for a while does not wait for what its keys name.
///
/// - `read_by`: what a node reads.
pub(super) fn lower(lowered: &mut Lowered, read_by: impl Fn(Node) -> Vec<Node>) {
    let structure = &lowered.structure;
    let facts = &mut lowered.facts;
    let data = facts.data.iter().map(|it| (it.0, true));
    let lent = facts.ephemeral.iter().map(|it| (it.0, false));
    let mut known: FxHashMap<ResourceId, Named> = FxHashMap::default();
    for (node, waits_for_keys) in data.chain(lent) {
        let Some(resource) = resource_of(structure, node) else { continue };
        let named =
            known.entry(resource).or_insert_with(|| named(structure, resource, waits_for_keys));
        let keys = structure.resource(resource).besides.repetition.filter(|_| waits_for_keys);
        let read = read_by(node).into_iter().chain(keys.into_iter().flat_map(&read_by));
        let objects = read
            .filter(|it| resource_of(structure, *it).is_some_and(|it| named.objects.contains(&it)));
        facts.data_waits.extend(objects.map(|it| (node, it)));
        facts.data_waits_behind.extend(named.behind.iter().map(|it| (node, *it)));
    }
}

/// What a block waits for, by name.
#[derive(Default)]
struct Named {
    /// The managed resources.
    objects: FxHashSet<ResourceId>,
    /// Things that count with all that they rest on.
    behind: Vec<Node>,
}

fn resource_of(structure: &Structure, node: Node) -> Option<ResourceId> {
    match structure.kind(node) {
        NodeKind::Object(id, _) | NodeKind::Collection(id) | NodeKind::Pending(id) => Some(*id),
        _ => None,
    }
}

fn named(structure: &Structure, id: ResourceId, keys_too: bool) -> Named {
    let (Some(block), Some(module)) = (structure.block(id), structure.resource(id).module) else {
        return Named::default();
    };
    let mut named = Named::default();
    for it in uses::of_resource(block).iter().filter(|it| keys_too || it.role != Role::Repetition) {
        named_in(&it.expression, |reference| {
            if let Subject::Resource(name) = reference.subject
                && name.mode == Mode::Managed
            {
                named.objects.extend(structure.resource_in(module, name));
            }
        });
    }
    let own = behind(structure, module, &block.besides.depends_on);
    named.behind.extend(own.into_iter().filter(|it| resource_of(structure, *it).is_none()));
    let mut inner = module;
    while let Some((outer, call)) = structure.module(inner).parent {
        let depends_on = structure.call_block(call).map_or(&[][..], |it| &it.besides.depends_on);
        named.behind.extend(behind(structure, outer, depends_on));
        inner = outer;
    }
    named
}

/// The nodes that items of `depends_on` name.
fn behind(structure: &Structure, module: ModuleId, depends_on: &[Expression]) -> Vec<Node> {
    let mut found = Vec::new();
    for item in depends_on {
        named_in(item, |it| found.extend(structure.depended_on(module, &it)));
    }
    found
}

/// Visits what an expression refers to.
fn named_in(expression: &Expression, mut visit: impl FnMut(Reference<'_>)) {
    crate::syntax::references(expression, &mut |root, steps, _| {
        parse_reference(root, steps).into_iter().for_each(&mut visit);
    });
}

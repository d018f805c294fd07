//! What policies ask for that no flag can: which successors come first, what is done before what, what runs one at a time.

use entail_rules::{Facts, Flag, Hit, Node};

use super::{Index, named, selector_count};
use crate::address::target::Target;
use crate::lower::Lowered;
use crate::lower::structure::ResourceId;
use crate::request::Request;

/// Writes `first_hit`, `ordered`, `one_at_a_time`.
pub(super) fn lower(lowered: &mut Lowered, index: &Index<'_>, request: &Request) {
    let shape = &request.shape;
    lowered.flags.extend(shape.first.iter().map(|it| it.origin.clone()));
    lowered.flags.extend(shape.ordered.iter().map(|it| it.0.origin.clone()));
    lowered.flags.extend(shape.groups.iter().map(|it| it.origin.clone()));
    let nodes = |target: &Target| {
        let hits = index.hits(target, Hit::Target, Flag(0)).into_iter();
        hits.filter(|it| it.1 == Hit::Target).map(|it| it.0).collect::<Vec<Node>>()
    };
    write(&mut lowered.facts, request, &nodes, &|_| true);
}

/// Writes what policies ask for of resources whose instances have just become known.
pub(super) fn lower_more(lowered: &mut Lowered, request: &Request, resources: &[ResourceId]) {
    let shape = &request.shape;
    if shape.first.is_empty() && shape.ordered.is_empty() && shape.groups.is_empty() {
        return;
    }
    let structure = std::mem::take(&mut lowered.structure);
    let index = Index::of(&structure);
    let nodes = |target: &Target| {
        let hits = index.hits(target, Hit::Target, Flag(0)).into_iter();
        hits.filter(|it| it.1 == Hit::Target).map(|it| it.0).collect::<Vec<Node>>()
    };
    let is_new = |target: &Target| {
        let mut found = false;
        for id in resources {
            let resource = structure.resource(*id);
            named(&structure, target, resource, Hit::Target, &mut |_, _| found = true);
        }
        found
    };
    write(&mut lowered.facts, request, &nodes, &is_new);
    drop(index);
    lowered.structure = structure;
}

/// - `nodes`: what a target names.
/// - `is_new`: whether a target names something that nothing was said of yet.
fn write(
    facts: &mut Facts,
    request: &Request,
    nodes: &dyn Fn(&Target) -> Vec<Node>,
    is_new: &dyn Fn(&Target) -> bool,
) {
    let shape = &request.shape;
    let mut number = (selector_count(request) + request.replaces.len()) as u32;
    let mut flag = || {
        number += 1;
        Flag(number - 1)
    };
    for it in &shape.first {
        let flag = flag();
        if is_new(&it.target) {
            facts.first_hit.extend(nodes(&it.target).into_iter().map(|it| (it, flag)));
        }
    }
    for (first, second) in &shape.ordered {
        let flag = flag();
        if !is_new(&first.target) && !is_new(second) {
            continue;
        }
        let seconds = nodes(second);
        for node in nodes(&first.target) {
            facts.ordered.extend(seconds.iter().map(|it| (node, *it, flag)));
        }
    }
    for group in &shape.groups {
        let flag = flag();
        for it in group.members.iter().filter(|it| is_new(it)) {
            facts.one_at_a_time.extend(nodes(it).into_iter().map(|it| (it, flag)));
        }
    }
}

//! Where the blocks and arguments that questions are about stand.

use std::collections::BTreeMap;

use entail_rules::Node;

use super::super::session::Session;
use crate::address::Instance;
use crate::config;
use crate::diagnostic::Span;
use crate::lower::Structure;
use crate::lower::structure::{NodeKind, ResourceId};
use crate::plan::Plan;

/// The name and place of each block.
pub(in crate::operation) fn blocks(session: &Session) -> Vec<(String, String)> {
    (0..session.graph.count())
        .map(|it| {
            let place = session.graph.written(it).map(|it| session.sources.place(it.declared));
            let name = session.graph.name(it).replace(" (expand, ", " (");
            (name.trim_end_matches(" (expand)").to_owned(), place.unwrap_or_default())
        })
        .collect()
}

/// The attributes whose change a provider cannot make in place, by the object it would be made to.
pub(super) fn forced(structure: &Structure, plan: &Plan) -> BTreeMap<Node, String> {
    let replaced = plan
        .changes
        .iter()
        .filter(|it| !it.details.replace_paths.is_empty() && it.deposed.is_none());
    replaced
        .filter_map(|it| {
            let node = structure
                .resource(structure.resource_id(&it.address.of())?)
                .instance(&it.address.key)?;
            let paths: Vec<String> = it
                .details
                .replace_paths
                .iter()
                .map(|it| crate::value::ShowPath(it).to_string().trim_start_matches('.').to_owned())
                .collect();
            Some((node, paths.join(", ")))
        })
        .collect()
}

/// The block of a resource, even if its module instance is gone.
pub(super) fn block_of<'s>(
    session: &'s Session,
    structure: &Structure,
    id: ResourceId,
) -> Option<&'s config::Resource> {
    let graph = &session.graph;
    let block = graph.block_of(&session.config, structure.resource(id))?;
    graph.written(block)
}

/// Where each declared node stands.
pub(in crate::operation) fn declared(
    session: &Session,
    structure: &Structure,
) -> BTreeMap<Node, Span> {
    let mut places = BTreeMap::new();
    for (index, kind) in structure.nodes.iter().enumerate() {
        let span = match kind {
            NodeKind::Object(resource, _)
            | NodeKind::Pending(resource)
            | NodeKind::Collection(resource) => {
                block_of(session, structure, *resource).map(|it| it.declared)
            }
            NodeKind::Repetition(resource) => {
                let block = block_of(session, structure, *resource);
                block.and_then(|it| it.besides.repetition.expression()).map(|it| it.span)
            }
            NodeKind::Output(module, name) => {
                structure.module(*module).config.outputs.get(name).map(|it| it.declared)
            }
            NodeKind::Local(module, name) => {
                structure.module(*module).config.locals.get(name).map(|it| it.name.span)
            }
            NodeKind::Variable(module, name) => {
                structure.module(*module).config.variables.get(name).map(|it| it.declared)
            }
            _ => None,
        };
        if let Some(span) = span {
            places.insert(Node(index as u32), span);
        }
    }
    places
}

/// Where the argument stands that may forbid to destroy each object.
pub(in crate::operation) fn protected(
    session: &Session,
    structure: &Structure,
) -> BTreeMap<Node, Span> {
    let argument = |kind: &NodeKind| {
        let NodeKind::Object(resource, _) = kind else { return None };
        let block = block_of(session, structure, *resource)?;
        block.besides.lifecycle.prevent_destroy.as_ref().map(|it| it.span)
    };
    let all = structure.nodes.iter().enumerate();
    all.filter_map(|(index, kind)| Some((Node(index as u32), argument(kind)?))).collect()
}

/// The former address of each object that a `moved` block renames, with its address in the plan.
pub(super) fn formerly(plan: &Plan) -> Vec<(Instance, Instance)> {
    let moved = |it: &crate::plan::Change| {
        Some(((**it.details.previous_address.as_ref()?).clone(), it.address.clone()))
    };
    plan.changes.iter().filter(|it| it.deposed.is_none()).filter_map(moved).collect()
}

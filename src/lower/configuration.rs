//! What the configuration says: nodes by kind, reads, lifecycle.

use entail_rules::{Block, Mode as RunMode, Node, Repetition};

use super::blocks::BlockKey;
use super::structure::{NodeKind, ResourceId, Style};
use super::{Documents, Lowered};
use crate::address::Mode;
use crate::diagnostic::Span;
use crate::request::PlanMode;

/// Writes `mode`, the kinds of nodes, `of`, `declared`, `pending`, `reads`, `block_reads`, `repeats`, `asks_cbd`,
/// `keeps_object`, `triggers`, `triggers_by_part`, `has_conditions`, `in_check`, `evaluated_last`.
pub(super) fn lower(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    reads: &[(Node, Node, Span)],
) {
    let mode = match documents.request.mode {
        PlanMode::Normal => RunMode::Normal,
        PlanMode::Destroy => RunMode::Destroy,
        PlanMode::RefreshOnly => RunMode::RefreshOnly,
    };
    lowered.facts.mode.push((mode,));
    blocks(lowered, documents);
    for resource in 0..lowered.structure.resources.len() {
        declared(lowered, documents, ResourceId(resource as u32));
    }
    for (index, kind) in lowered.structure.nodes.iter().enumerate() {
        let node = Node(index as u32);
        match kind {
            NodeKind::Variable(..)
            | NodeKind::Local(..)
            | NodeKind::Output(..)
            | NodeKind::Call(_) => lowered.facts.value.push((node,)),
            NodeKind::Collection(_) => {
                lowered.facts.value.push((node,));
                lowered.facts.collection.push((node,));
            }
            NodeKind::Repetition(resource)
                if lowered.structure.resource(*resource).address.resource.mode == Mode::Managed =>
            {
                lowered.facts.repetition.push((node,));
            }
            _ => {}
        }
    }
    let root = lowered.structure.module(super::Structure::ROOT);
    lowered.facts.output.extend(root.outputs.values().map(|it| (*it,)));
    lowered.facts.declared.extend(root.outputs.values().map(|it| (*it,)));
    lowered.facts.evaluated_last.extend(root.outputs.values().map(|it| (*it,)));
    let checks = lowered.structure.modules.iter().flat_map(|it| it.checks.values());
    lowered.facts.evaluated_last.extend(checks.map(|it| (*it,)));
    // In a destroy run nothing is made from the configuration: only what exists rests on what exists.
    if documents.request.mode != PlanMode::Destroy {
        lowered.facts.reads.extend(reads.iter().map(|it| (it.0, it.1)));
    }
    lowered.places.extend(reads.iter().map(|it| ((it.0, it.1), it.2)));
    for trigger in &lowered.triggers {
        match trigger.path.is_empty() {
            true => lowered.facts.triggers.push((trigger.node, trigger.target)),
            false => lowered.facts.triggers_by_part.push((trigger.node, trigger.target)),
        }
    }
}

fn blocks(lowered: &mut Lowered, documents: &Documents<'_>) {
    let facts = &mut lowered.facts;
    for (number, node) in documents.graph.blocks.iter().enumerate() {
        let block = Block(number as u32);
        facts.block_reads.extend(node.edges.iter().map(|edge| (block, Block(edge.0 as u32))));
        let BlockKey::Resource(name) = &node.key else {
            continue;
        };
        let Some(resource) =
            documents.config.module(&node.module).and_then(|it| it.resources.get(name))
        else {
            continue;
        };
        let repetition = match Style::of(&resource.repetition) {
            Style::Single => Repetition::Single,
            Style::Count => Repetition::Count,
            Style::ForEach => Repetition::ForEach,
            Style::Enabled => Repetition::Enabled,
        };
        facts.repeats.push((block, repetition));
        if resource.lifecycle.create_before_destroy == Some(true) {
            facts.asks_cbd.push((block,));
        }
    }
}

/// Returns the block of a resource, where the configuration has it (its module instance may be gone).
pub(super) fn block_of(
    lowered: &Lowered,
    documents: &Documents<'_>,
    resource: ResourceId,
) -> Option<Block> {
    let address = &lowered.structure.resource(resource).address;
    let number = documents
        .graph
        .find(&address.module.module(), BlockKey::Resource(address.resource.clone()))?;
    Some(Block(number as u32))
}

fn declared(lowered: &mut Lowered, documents: &Documents<'_>, id: ResourceId) {
    let Some(block) = block_of(lowered, documents, id) else { return };
    let resource = lowered.structure.resource(id);
    let mode = resource.address.resource.mode;
    let Some(config) = lowered.structure.block(id) else { return };
    let nodes = resource.instances.values().copied().chain(resource.pending);
    for node in nodes {
        lowered.facts.object.push((node,));
        lowered.facts.of.push((node, block));
        match mode {
            Mode::Managed => lowered.facts.managed.push((node,)),
            Mode::Data => lowered.facts.data.push((node,)),
            Mode::Ephemeral => lowered.facts.ephemeral.push((node,)),
        }
        if Some(node) == resource.pending {
            lowered.facts.pending.push((node,));
        } else {
            lowered.facts.declared.push((node,));
        }
        if config.lifecycle.destroy.is_some_and(|it| !it.0) {
            lowered.facts.keeps_object.push((node,));
        }
        if config.lifecycle.has_conditions() {
            lowered.facts.has_conditions.push((node,));
        }
        if config.check.is_some() {
            lowered.facts.in_check.push((node,));
        }
    }
    if let (Some(collection), None) =
        (resource.collection.filter(|_| resource.repetition.is_some()), resource.pending)
    {
        lowered.facts.member.extend(resource.instances.values().map(|it| (*it, collection)));
    }
}

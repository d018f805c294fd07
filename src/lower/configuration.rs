//! What the configuration says: nodes by kind, reads, lifecycle.

use std::collections::BTreeSet;

use entail_rules::{Block, Facts, Mode as RunMode, Node, Repetition};

use super::structure::{CallId, ModuleId, NodeKind, ResourceId, Structure, Style};
use super::{Documents, Lowered, Part, Reads};
use crate::address::Mode;
use crate::config::{Config, Variant};
use crate::expression::references_of;
use crate::request::{PlanMode, Request};
use crate::value::Str;

/// Writes `mode`, `filtered`, `targeting`, `excluding`, `skips_refresh`, `adopts`, `precedes_destroy`, `outputs_need_all`: what holds for the whole run.
pub(super) fn request(facts: &mut Facts, request: &Request) {
    facts.mode.push((match request.mode {
        PlanMode::Normal => RunMode::Normal,
        PlanMode::Destroy => RunMode::Destroy,
        PlanMode::RefreshOnly => RunMode::RefreshOnly,
    },));
    if !request.targets.is_empty() {
        facts.targeting.push(());
    }
    if !request.excludes.is_empty() {
        facts.excluding.push(());
    }
    if !request.is_unfiltered() {
        facts.filtered.push(());
    }
    if request.skip_refresh {
        facts.skips_refresh.push(());
    }
    if request.adopts.is_some() {
        facts.adopts.push(());
    }
    if request.precedes_destroy {
        facts.precedes_destroy.push(());
    }
    if request.compat_opentofu {
        facts.outputs_need_all.push(());
    }
}

/// Writes the kinds of nodes, `of`, `declared`, `pending`, `keys_from`, `call_keys`, `late`, `reads`, `may_read`, `waits_for`, `member`, `keeps_object`,
/// `protects`, `triggers`, `triggers_by_part`, `has_conditions`, `module_output`, `in_check`, `check_gate`, `evaluated_last`, `check_block`, `ephemeral_resource`.
pub(super) fn lower(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    part: &Part<'_>,
    reads: &Reads,
) {
    for resource in part.resources {
        declared(lowered, documents, *resource);
    }
    kinds(lowered, documents.config, part.first);
    for &id in part.modules {
        let module = lowered.structure.module(id);
        let config = &module.config.outputs;
        let has_conditions =
            |name: &Str| config.get(name).is_some_and(|it| !it.preconditions.is_empty());
        let judged = module.outputs.iter().filter(|it| has_conditions(it.0)).map(|it| (*it.1,));
        if id == Structure::ROOT {
            lowered.facts.has_conditions.extend(judged);
            lowered.facts.output.extend(module.outputs.values().map(|it| (*it,)));
        } else {
            lowered.facts.module_output.extend(judged);
        }
    }
    let outputs = lowered.facts.output.clone();
    lowered.facts.declared.extend(&outputs);
    lowered.facts.evaluated_last.extend(outputs);
    for module in part.modules.iter().map(|it| lowered.structure.module(*it)) {
        let checks = module.besides.checks.values().map(|it| (*it,));
        lowered.facts.evaluated_last.extend(checks.clone());
        let calls = module.besides.calls.all().map(|it| lowered.structure.call(it));
        lowered.facts.call_keys.extend(calls.filter(|it| it.pending).map(|it| (it.keys,)));
        // What stands in for module instances that are not known has nothing to judge.
        lowered.facts.check_block.extend(checks.filter(|_| !module.pending));
    }
    // In a destroy run nothing is made from the configuration: only what exists rests on what exists.
    if documents.request.mode != PlanMode::Destroy {
        lowered.facts.reads.extend(reads.reads.iter().map(|it| (it.0, it.1)));
        lowered.facts.may_read.extend(reads.may_read.iter().map(|it| (it.0, it.1)));
    }
    lowered.facts.waits_for.extend(&reads.waits);
    if documents.request.mode == PlanMode::Destroy {
        protected(lowered, reads);
        super::serving::waits::of_arguments(lowered, reads);
    }
    for trigger in &reads.triggers {
        match trigger.path.is_empty() {
            true => lowered.facts.triggers.push((trigger.node, trigger.target)),
            false => lowered.facts.triggers_by_part.push((trigger.node, trigger.target)),
        }
    }
}

/// Writes `waits_for` of what everything goes for, all the same: an object whose `prevent_destroy` is computed is looked
/// at after what that reads.
fn protected(lowered: &mut Lowered, reads: &Reads) {
    let structure = &lowered.structure;
    let is_computed = |id: &ResourceId| {
        let argument =
            structure.block(*id).and_then(|it| it.besides.lifecycle.prevent_destroy.as_ref());
        argument.is_some_and(|it| !references_of(it).0.is_empty())
    };
    let ids = (0..structure.resources.len() as u32).map(ResourceId);
    let computed: BTreeSet<ResourceId> = ids.filter(is_computed).collect();
    if computed.is_empty() {
        return;
    }
    let looks = |node: Node| match structure.kind(node) {
        NodeKind::Object(id, _) => computed.contains(id),
        NodeKind::Deposed(..) => false,
        _ => true,
    };
    let waits = reads.reads.iter().filter(|it| looks(it.0)).map(|it| (it.0, it.1));
    lowered.facts.waits_for.extend(waits);
}

/// Writes `value`, `collection` and `repetition`, from node number `first` on.
fn kinds(lowered: &mut Lowered, config: &Config, first: usize) {
    let structure = &lowered.structure;
    let waits = |it: &ModuleId| {
        let (_, call) = structure.module(*it).parent?;
        Some(!structure.call_block(call)?.besides.depends_on.is_empty())
    };
    for (index, kind) in structure.nodes.iter().enumerate().skip(first) {
        let node = Node(index as u32);
        match kind {
            NodeKind::Variable(..)
            | NodeKind::Local(..)
            | NodeKind::Output(..)
            | NodeKind::Call(_)
            | NodeKind::Given(..)
            | NodeKind::Inside(_) => lowered.facts.value.push((node,)),
            NodeKind::Collection(_) => {
                lowered.facts.value.push((node,));
                lowered.facts.collection.push((node,));
            }
            NodeKind::Module(module) if waits(module) == Some(true) => {
                lowered.facts.value.push((node,));
            }
            NodeKind::CallKeys(call) if repeats_managed(structure, config, *call) => {
                lowered.facts.repetition.push((node,));
            }
            NodeKind::Repetition(resource)
                if lowered.structure.resource(*resource).address.resource.mode == Mode::Managed =>
            {
                lowered.facts.repetition.push((node,));
            }
            _ => {}
        }
    }
}

/// Returns whether a call repeats, and there are managed resources in what it leads to.
fn repeats_managed(structure: &Structure, config: &Config, call: CallId) -> bool {
    let call = structure.call(call);
    let caller = config.variant_of(&structure.module(call.parent).address);
    call.style != Style::Single
        && caller.is_some_and(|it| leads_to_managed(config, &it, &call.name))
}

fn leads_to_managed(config: &Config, caller: &Variant, call: &str) -> bool {
    config.called(caller, call).any(|(variant, module)| {
        module.resources.keys().any(|it| it.mode == Mode::Managed)
            || module.calls.keys().any(|it| leads_to_managed(config, &variant, it))
    })
}

/// Writes `reads_open`: what is read before it is known what it is. `is_known` tells of what was pending and is so no longer.
pub(super) fn open(lowered: &mut Lowered, is_known: &dyn Fn(Node) -> bool) {
    let structure = &lowered.structure;
    let is_open = |node: Node| match structure.kind(node) {
        NodeKind::Pending(_) => !is_known(node),
        NodeKind::Object(id, key) => {
            let resource = structure.resource(*id);
            resource.besides.pending.is_some_and(|it| !is_known(it))
                && resource.besides.others.get(key) == Some(&node)
        }
        _ => false,
    };
    let open = lowered.facts.reads.iter().filter(|it| is_open(it.1));
    lowered.facts.reads_open.extend(open);
}

/// Writes `block_reads`, `value_block`, `repeats`, `asks_cbd`, `cyclic_core`.
pub(super) fn blocks(lowered: &mut Lowered, documents: &Documents<'_>) {
    let facts = &mut lowered.facts;
    for number in 0..documents.graph.count() {
        let block = Block(number as u32);
        let edges = documents.graph.edges(number);
        facts.block_reads.extend(edges.iter().map(|edge| (block, Block(edge.0))));
        let Some(resource) = documents.graph.written(number) else { continue };
        let repetition = repetition(Style::of(&resource.besides.repetition));
        facts.repeats.push((block, repetition));
        if resource.besides.lifecycle.create_before_destroy == Some(true) {
            facts.asks_cbd.push((block,));
        }
    }
}

/// Returns the rules' word for how a block repeats.
pub(super) fn repetition(style: Style) -> Repetition {
    match style {
        Style::Single => Repetition::Single,
        Style::Count => Repetition::Count,
        Style::ForEach => Repetition::ForEach,
        Style::Enabled => Repetition::Enabled,
    }
}

/// Returns the block of a resource, where the configuration has it (its module instance may be gone).
pub(super) fn block_of(
    lowered: &Lowered,
    documents: &Documents<'_>,
    resource: ResourceId,
) -> Option<Block> {
    let resource = lowered.structure.resource(resource);
    let number = documents.graph.block_of(documents.config, resource)?;
    Some(Block(number as u32))
}

fn declared(lowered: &mut Lowered, documents: &Documents<'_>, id: ResourceId) {
    let Some(block) = block_of(lowered, documents, id) else { return };
    let resource = lowered.structure.resource(id);
    let mode = resource.address.resource.mode;
    let Some(config) = lowered.structure.block(id) else { return };
    let facts = &mut lowered.facts;
    if let Some(pending) = resource.besides.pending {
        facts.object.push((pending,));
        facts.pending.push((pending,));
        facts.of.push((pending, block));
        facts.late.extend(resource.besides.others.values().map(|it| (*it, pending)));
        let from = lowered.structure.keys_from(id).unwrap_or(pending);
        facts.keys_from.push((pending, from));
    }
    for &node in resource.instances.values() {
        facts.object.push((node,));
        facts.of.push((node, block));
        facts.declared.push((node,));
        match mode {
            Mode::Managed => facts.managed.push((node,)),
            Mode::Data => facts.data.push((node,)),
            Mode::Ephemeral => facts.ephemeral.push((node,)),
        }
    }
    for &node in resource.instances.values().chain(resource.besides.others.values()) {
        if config.besides.lifecycle.keeps_objects() {
            facts.keeps_object.push((node,));
        }
        if config.besides.lifecycle.prevent_destroy.is_some() {
            facts.protects.push((node,));
        }
    }
    for &node in resource.instances.values() {
        if config.besides.lifecycle.has_conditions() {
            facts.has_conditions.push((node,));
        }
        if config.besides.check.is_some() {
            if facts.in_check.is_empty() {
                facts.check_gate.push((node,));
            }
            facts.in_check.push((node,));
        }
    }
    if mode == Mode::Ephemeral {
        let some = resource.instances.values().chain(resource.besides.others.values()).copied();
        let all = some.chain(resource.collection).chain(resource.besides.pending);
        facts.ephemeral_resource.extend(all.map(|it| (it,)));
    }
    if let Some(collection) = resource.collection.filter(|_| resource.besides.repetition.is_some())
    {
        facts.member.extend(resource.instances.values().map(|it| (*it, collection)));
    }
}

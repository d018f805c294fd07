//! What the state says: which objects exist, what is gone of their blocks, and what each rests on.

use entail_rules::{Fate, KeyKind, Node};
use rustc_hash::FxHashMap;

use super::configuration::{block_of, repetition};
use super::gone::{self, GoneModule};
use super::removed::RemovedBlocks;
use super::structure::{ModuleId, Nearby, NodeKind, ResourceId, Structure};
use super::{Documents, Lowered, Reads};
use crate::address::{Instance, InstanceKey, Mode, ModuleInstance, Resource};
use crate::request::PlanMode;
use crate::state::{Object, ResourceState, Status};
use crate::syntax::Expression;

mod needs;

use self::needs::needs;

/// Writes `in_state`, `deposed_of`, `block_gone`, `module_gone`, `key_kind`, `moved`, `needs`, `state_cbd`,
/// `state_keeps_object`, `tainted`, `removed_says`, `late`, `recorded_output`, and the nodes of what is declared no more.
pub(super) fn lower(lowered: &mut Lowered, documents: &Documents<'_>, reads: &Reads) {
    let mut existing = Vec::new();
    let known = Known::of(lowered, documents);
    let mut near = Nearby::default();
    for (place, (address, resource)) in documents.state.resources.iter().enumerate() {
        let found = lowered.structure.resource_near(address, &mut near);
        let id = found.unwrap_or_else(|| recorded_alone(lowered, address, resource));
        lowered.structure.resources[id.index()].recorded = place as u32;
        for (key, instance) in &resource.instances {
            let node = current(lowered, documents, &known, id, key);
            if let Some(object) = &instance.current {
                exists(lowered, node, object);
                existing.push((node, id, &**object));
            }
            for (deposed, object) in &instance.deposed {
                let kind = NodeKind::Deposed(id, Box::new(key.clone()), deposed.clone());
                let old = lowered.structure.add(kind);
                lowered.structure.resources[id.index()]
                    .besides
                    .deposed
                    .insert((key.clone(), deposed.clone()), old);
                let facts = &mut lowered.facts;
                facts.object.push((old,));
                facts.managed.push((old,));
                facts.deposed_of.push((old, node));
                exists(lowered, old, object);
                known.removed(lowered, &address.instance(key.clone()), old);
                existing.push((old, id, &**object));
            }
        }
    }
    outputs(lowered, documents);
    for (new, old) in documents.moved {
        let node = lowered
            .structure
            .resource_id(&new.of())
            .and_then(|it| lowered.structure.resource(it).instance(&new.key));
        node.into_iter().for_each(|node| moved(lowered, node, new, old));
    }
    needs(lowered, documents, reads, &existing);
}

fn moved(lowered: &mut Lowered, node: Node, new: &Instance, old: &Instance) {
    lowered.facts.moved.push((node,));
    if new.resource.kind != old.resource.kind {
        lowered.facts.retyped.push((node,));
    }
}

/// Writes of instances that waited for keys which are known now, and that these keys do not make, what is gone; and what
/// the state says of all of them: `managed`, `data`, `in_state`, `key_kind`, `repeats`, `moved`.
pub(super) fn lower_more(lowered: &mut Lowered, documents: &Documents<'_>, waited: &[Node]) {
    let pending = read_by_pending(lowered);
    for &node in waited {
        let NodeKind::Object(id, key) = lowered.structure.kind(node).clone() else { continue };
        let resource = lowered.structure.resource(id);
        let address = resource.address.instance(key.clone());
        let is_declared = resource.instances.get(&key) == Some(&node);
        let style = resource.style;
        // What stood in for its module instance does so no longer.
        if resource.module.is_some_and(|it| lowered.structure.module(it).pending) {
            lowered.structure.resources[id.index()].is_declared_no_more();
        }
        if lowered.structure.resource(id).module.is_none() {
            let pending = pending_above(&lowered.structure, &address.of());
            lowered.structure.resources[id.index()].set_pending(pending);
        }
        lowered.facts.key_kind.push((node, kind_of(&key)));
        if let Some(block) = block_of(lowered, documents, id) {
            lowered.facts.repeats.push((block, repetition(style)));
        }
        if let Some(old) = documents.moved.get(&address) {
            moved(lowered, node, &address, old);
        }
        if let Some(object) = documents.state.current(&address) {
            exists(lowered, node, object);
        }
        if documents.state.instance(&address).is_some() {
            lowered.facts.object.push((node,));
            match address.resource.mode {
                Mode::Managed => lowered.facts.managed.push((node,)),
                Mode::Data => lowered.facts.data.push((node,)),
                Mode::Ephemeral => {}
            }
            if !is_declared {
                undeclared(lowered, documents, &pending, id, node);
            }
        }
    }
}

fn kind_of(key: &InstanceKey) -> KeyKind {
    match key {
        InstanceKey::None => KeyKind::Bare,
        InstanceKey::Int(_) => KeyKind::Number,
        InstanceKey::Str(_) => KeyKind::Text,
    }
}

/// What is looked up for one object after another, collected once.
struct Known<'a> {
    /// What each pending node reads, or may read.
    pending: ReadByPending,
    removed: RemovedBlocks<'a>,
}

/// What each pending node reads, or may read.
type ReadByPending = FxHashMap<Node, Vec<Node>>;

fn read_by_pending(lowered: &Lowered) -> ReadByPending {
    let mut pending: ReadByPending =
        lowered.facts.pending.iter().map(|it| (it.0, Vec::new())).collect();
    if !pending.is_empty() {
        for &(reader, read) in lowered.facts.reads.iter().chain(&lowered.facts.may_read) {
            pending.entry(reader).and_modify(|it| it.push(read));
        }
    }
    pending
}

impl<'a> Known<'a> {
    fn of(lowered: &Lowered, documents: &Documents<'a>) -> Known<'a> {
        let removed = RemovedBlocks::of(documents.config);
        Known { pending: read_by_pending(lowered), removed }
    }

    /// What a `removed` block wants to happen to an object; the last such block where there are several.
    fn removed(&self, lowered: &mut Lowered, address: &Instance, node: Node) {
        if let Some(block) = self.removed.about(address).last() {
            let fate = if block.destroy == Some(true) { Fate::Destroy } else { Fate::Forget };
            lowered.facts.removed_says.push((node, fate));
        }
    }
}

fn exists(lowered: &mut Lowered, node: Node, object: &Object) {
    let facts = &mut lowered.facts;
    facts.in_state.push((node,));
    if object.status == Status::Tainted {
        facts.tainted.push((node,));
    }
    if object.create_before_destroy {
        facts.state_cbd.push((node,));
    }
    if object.skip_destroy {
        facts.state_keeps_object.push((node,));
    }
}

/// Makes the resource of a state entry that has no block, or whose module instance is gone.
fn recorded_alone(
    lowered: &mut Lowered,
    address: &Resource,
    recorded: &ResourceState,
) -> ResourceId {
    let pending = pending_above(&lowered.structure, address);
    let id = lowered.structure.add_recorded(address);
    let resource = &mut lowered.structure.resources[id.index()];
    resource.set_pending(pending);
    resource.provider = Some(recorded.provider.clone().into_inner().into());
    id
}

/// A resource within a module call whose keys are not known yet: the call's one stand-in owns it.
fn pending_above(structure: &Structure, address: &Resource) -> Option<Node> {
    let mut at = Structure::ROOT;
    for (name, key) in address.module.0.iter() {
        let call = structure.call(structure.call_in(at, name)?);
        at = *if call.pending {
            call.instances.get(&InstanceKey::None)?
        } else {
            call.instances.get(key)?
        };
    }
    structure.resource(structure.resource_in(at, address.resource.as_ref())?).besides.pending
}

/// The node of an existing instance, and the facts that do not depend on whether an object is current.
fn current(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    known: &Known<'_>,
    id: ResourceId,
    key: &InstanceKey,
) -> Node {
    let kind = kind_of(key);
    if let Some(&node) = lowered.structure.resource(id).instances.get(key) {
        lowered.facts.key_kind.push((node, kind));
        return node;
    }
    let named = lowered.structure.resource(id).besides.others.get(key).copied();
    let node = named.unwrap_or_else(|| {
        let node = lowered.structure.add(NodeKind::Object(id, key.clone()));
        lowered.structure.resources[id.index()].besides.others.insert(key.clone(), node);
        node
    });
    lowered.facts.key_kind.push((node, kind));
    let address = lowered.structure.resource(id).address.instance(key.clone());
    lowered.facts.object.push((node,));
    match address.resource.mode {
        Mode::Managed => lowered.facts.managed.push((node,)),
        Mode::Data => lowered.facts.data.push((node,)),
        Mode::Ephemeral => {}
    }
    undeclared(lowered, documents, &known.pending, id, node);
    known.removed(lowered, &address, node);
    node
}

/// What is gone of an instance that nothing declares (or whose declaration is not known yet), and what it still reads.
fn undeclared(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    read: &ReadByPending,
    id: ResourceId,
    node: Node,
) {
    let destroying = documents.request.mode == PlanMode::Destroy;
    let resource = lowered.structure.resource(id);
    if let Some(pending) = resource.besides.pending {
        open(lowered, documents, read, (id, pending), node);
        return;
    }
    let Some(block) = block_of(lowered, documents, id) else {
        lowered.facts.block_gone.push((node,));
        return;
    };
    lowered.facts.of.push((node, block));
    if let Some(config) = documents.graph.written(block.0 as usize) {
        if config.besides.lifecycle.keeps_objects() {
            lowered.facts.keeps_object.push((node,));
        }
        if let Some(argument) = &config.besides.lifecycle.prevent_destroy {
            lowered.facts.protects.push((node,));
            let waits = protection_waits(&lowered.structure, documents, id, argument);
            lowered.facts.waits_for.extend(waits.into_iter().map(|it| (node, it)));
        }
    }
    let resource = lowered.structure.resource(id);
    if resource.declared {
        if let Some(repetition) = resource.besides.repetition.filter(|_| !destroying) {
            lowered.facts.reads.push((node, repetition));
        }
        if let Some(collection) =
            resource.collection.filter(|_| resource.besides.repetition.is_some())
        {
            lowered.facts.member.push((node, collection));
        }
        return;
    }
    lowered.facts.module_gone.push((node,));
    if let Some(keys) =
        deepest_call(&lowered.structure, &resource.address.module).filter(|_| !destroying)
    {
        lowered.facts.reads.push((node, keys));
    }
}

/// What the `prevent_destroy` of an object that nothing declares depends on: it is judged after that.
fn protection_waits(
    structure: &Structure,
    documents: &Documents<'_>,
    id: ResourceId,
    argument: &Expression,
) -> Vec<Node> {
    let resource = structure.resource(id);
    let mut found = Vec::new();
    match resource.module {
        Some(module) => found.extend(gone::named_in(structure, module, argument)),
        None => {
            let gone = GoneModule::at(structure, documents.config, &resource.address.module);
            gone.iter().for_each(|it| it.depends_on(structure, argument, &mut found));
        }
    }
    found
}

/// An instance of the state whose declaration is not known yet: a trace has told what it may read, unless the keys of a
/// call around it are not known either.
fn open(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    read: &ReadByPending,
    (id, pending): (ResourceId, Node),
    node: Node,
) {
    lowered.facts.late.push((node, pending));
    let block = block_of(lowered, documents, id);
    lowered.facts.of.extend(block.map(|it| (node, it)));
    let resource = lowered.structure.resource(id);
    let config = block.and_then(|it| documents.graph.written(it.0 as usize));
    if config.is_some_and(|it| it.besides.lifecycle.prevent_destroy.is_some()) {
        lowered.facts.protects.push((node,));
    }
    if resource.declared && !resource.module.is_some_and(|it| lowered.structure.module(it).pending)
    {
        return;
    }
    let address = lowered.structure.resource(id).address.module.clone();
    let keys = deepest_call(&lowered.structure, &address);
    let all = read.get(&pending).into_iter().flatten().copied().chain(keys);
    lowered.facts.may_read.extend(all.map(|it| (node, it)));
}

/// The key set of the call that no longer makes the module instance.
fn deepest_call(structure: &Structure, address: &ModuleInstance) -> Option<Node> {
    let mut at: ModuleId = Structure::ROOT;
    let mut keys = None;
    for (name, key) in address.0.iter() {
        let Some(call) = structure.call_in(at, name).map(|it| structure.call(it)) else { break };
        keys = Some(call.keys);
        let Some(next) = call.instances.get(key) else { break };
        at = *next;
    }
    keys
}

/// Writes `recorded_output`, and `output` where nothing declares it.
fn outputs(lowered: &mut Lowered, documents: &Documents<'_>) {
    for name in documents.state.outputs.keys() {
        let declared = lowered.structure.module(Structure::ROOT).outputs.get(name).copied();
        let node = declared.unwrap_or_else(|| {
            let node = lowered.structure.add(NodeKind::Recorded(name.clone()));
            lowered.facts.output.push((node,));
            node
        });
        lowered.facts.recorded_output.push((node,));
    }
}

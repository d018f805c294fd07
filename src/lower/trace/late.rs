//! What is known late: instances of blocks whose keys only the walk can know. Named ones are nodes from the start; all are
//! traced as any other instance once their keys are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use entail_rules::Node;

use super::{Each, Memory, Trace, Traced, providers};
use crate::address::target::Target;
use crate::address::{InstanceKey, ModuleInstance};
use crate::config::Repetition;
use crate::expression;
use crate::lower::blocks::BlockKey;
use crate::lower::structure::{CallId, ModuleId, NodeKind, ResourceId, Structure, Style};
use crate::request::PlanMode;
use crate::value::Value;

/// Keys, each with its `each.value` where there is one.
pub type Entries = Vec<(InstanceKey, Option<Value>)>;

/// What a trace of late instances added to the structure.
#[derive(Debug, Default)]
pub struct Added {
    /// Resources that have instances now, or a pending node of their own.
    pub resources: Vec<ResourceId>,
    /// Module instances.
    pub modules: Vec<ModuleId>,
}

impl<'a> Traced<'a> {
    /// Goes on with a trace.
    fn resume<T>(
        structure: Structure,
        memory: Memory<'a>,
        work: impl FnOnce(&mut Trace<'a>) -> T,
    ) -> (Traced<'a>, T) {
        let mut trace = Trace::resume(structure, memory);
        let result = work(&mut trace);
        (trace.finish(), result)
    }

    /// Traces the instances of a resource whose keys became known. Its pending node stands for it no longer.
    pub fn resource(
        structure: Structure,
        memory: Memory<'a>,
        id: ResourceId,
        entries: Entries,
    ) -> (Traced<'a>, Added) {
        Traced::resume(structure, memory, |trace| {
            trace.late_resource(id, entries);
            Added { resources: vec![id], modules: Vec::new() }
        })
    }

    /// Traces the instances of a module call whose keys became known, and everything in them.
    pub fn call(
        structure: Structure,
        memory: Memory<'a>,
        id: CallId,
        entries: Entries,
    ) -> (Traced<'a>, Added) {
        Traced::resume(structure, memory, |trace| trace.late_call(id, entries))
    }
}

impl Trace<'_> {
    /// What is traced by `work` is only what may be read: which of it is, is known once the keys are.
    pub(super) fn perhaps(&mut self, work: impl FnOnce(&mut Self)) {
        let reads = std::mem::take(&mut self.reads.reads);
        let (waits, triggers) = (self.reads.waits.len(), self.reads.triggers.len());
        let choices = self.reads.provider_choices.len();
        work(self);
        let perhaps = std::mem::replace(&mut self.reads.reads, reads);
        self.reads.may_read.extend(perhaps);
        // What is only waited for is waited for by the instances, once they are there.
        self.reads.waits.truncate(waits);
        self.reads.triggers.truncate(triggers);
        self.reads.provider_choices.truncate(choices);
    }

    /// Instances of pending blocks that the state holds or the request names are nodes from the start, so that what they
    /// may read is known as far as their key decides it.
    pub(super) fn likely_instances(&mut self) {
        self.likely_calls();
        let mut likely: BTreeSet<(ResourceId, InstanceKey)> = BTreeSet::new();
        let targets = self.input.request.targets.iter().chain(&self.input.request.excludes);
        let named = targets.filter_map(|it| match &it.target {
            Target::Instance(it) => Some(it),
            _ => None,
        });
        for instance in named.chain(self.input.request.replaces.iter().map(|it| &it.0)) {
            if let Some(&id) = self.structure.resource_ids.get(&instance.of()) {
                likely.insert((id, instance.key.clone()));
            }
        }
        for (index, resource) in self.structure.resources.iter().enumerate() {
            if resource.pending.is_some()
                && let Some(known) = self.input.state.resources.get(&resource.address)
            {
                let id = ResourceId(index as u32);
                likely.extend(known.instances.keys().map(|it| (id, it.clone())));
            }
        }
        likely.retain(|(id, key)| self.may_have(*id, key));
        for (id, key) in likely {
            self.name(id, key);
        }
    }

    /// The same for module instances.
    fn likely_calls(&mut self) {
        let targets = self.input.request.targets.iter().chain(&self.input.request.excludes);
        let named = targets.map(|it| match &it.target {
            Target::Module(it) => it,
            Target::Resource(it) => &it.module,
            Target::Instance(it) => &it.module,
        });
        let replaced = self.input.request.replaces.iter().map(|it| &it.0.module);
        let existing = self.input.state.resources.keys().map(|it| &it.module);
        let all: BTreeSet<&ModuleInstance> = named.chain(replaced).chain(existing).collect();
        let mut likely = BTreeSet::new();
        for module in all {
            let mut at = Structure::ROOT;
            for (name, key) in module.0.iter() {
                let Some(&id) = self.structure.module(at).calls.get(name) else { break };
                let call = self.structure.call(id);
                if call.pending {
                    likely.insert((id, key.clone()));
                    break;
                }
                let Some(&next) = call.instances.get(key) else { break };
                at = next;
            }
        }
        for (id, key) in likely {
            self.name_call(id, key);
        }
    }

    /// Returns whether a pending resource may turn out to have an instance of that key.
    pub(super) fn may_have(&self, id: ResourceId, key: &InstanceKey) -> bool {
        let resource = self.structure.resource(id);
        let is_open = resource.pending.is_some()
            && resource.module.is_some_and(|it| !self.structure.module(it).pending);
        let fits = matches!(
            (resource.style, key),
            (Style::Count, InstanceKey::Int(_))
                | (Style::ForEach, InstanceKey::Str(_))
                | (Style::Enabled, InstanceKey::None)
        );
        is_open && fits
    }

    /// Remembers that an expression names an instance of a pending resource.
    pub(super) fn named_by(&self, id: ResourceId, key: &InstanceKey) {
        self.named.lock().unwrap_or_else(|it| it.into_inner()).insert((id, key.clone()));
    }

    /// Remembers that an expression names an instance of a pending call.
    pub(super) fn call_named_by(&self, id: CallId, key: InstanceKey) {
        self.named_calls.lock().unwrap_or_else(|it| it.into_inner()).insert((id, key));
    }

    /// Makes nodes of the instances that an expression has just named; returns whether there were any.
    pub(super) fn name_all(&mut self) -> bool {
        let named = std::mem::take(self.named.get_mut().unwrap_or_else(|it| it.into_inner()));
        let calls = std::mem::take(self.named_calls.get_mut().unwrap_or_else(|it| it.into_inner()));
        let mut is_new = false;
        for (id, key) in named {
            is_new |= self.name(id, key).is_some();
        }
        for (id, key) in calls {
            is_new |= self.name_call(id, key);
        }
        is_new
    }

    /// Lets a module instance of its own stand in for what may be the instance of a call under that key.
    fn name_call(&mut self, id: CallId, key: InstanceKey) -> bool {
        let call = self.structure.call(id);
        let fits = matches!(
            (call.style, &key),
            (Style::Count, InstanceKey::Int(_)) | (Style::ForEach, InstanceKey::Str(_))
        );
        let is_open = call.pending && !self.structure.module(call.parent).pending;
        if !fits || !is_open || call.named.contains_key(&key) {
            return false;
        }
        let (module, name) = (call.parent, call.name.clone());
        let config = self.structure.module(module).config.clone();
        let repetition = &config.calls[&name].repetition;
        let each_value = self.value_by_key(module, repetition, &key);
        // Whoever names it is not what is traced here.
        let reads = std::mem::take(&mut self.reads.reads);
        self.in_new_modules(id, |trace| {
            trace.call_instances(id, vec![(key.clone(), each_value)], true, true);
        });
        let found = std::mem::replace(&mut self.reads.reads, reads);
        self.firm.extend(found);
        self.structure.call(id).named.contains_key(&key)
    }

    /// Traces the blocks of the module instances that `make` makes of a call.
    fn in_new_modules(&mut self, id: CallId, make: impl FnOnce(&mut Self)) {
        let call = self.structure.call(id);
        let path = self.structure.module(call.parent).path.child(&call.name);
        // Blocks are traced for the module instances that are listed: for now, those found here.
        let known = std::mem::take(&mut self.instances_of);
        make(self);
        let (sorted, graph) = (self.input.sorted.clone(), self.input.graph);
        for &block in &*sorted {
            let block = &graph.blocks[block];
            if block.module.0.starts_with(&path.0) && !matches!(block.key, BlockKey::Provider(..)) {
                self.block(&block.module, &block.key);
            }
        }
        for (path, more) in std::mem::replace(&mut self.instances_of, known) {
            self.instances_of.entry(path).or_default().extend(more);
        }
    }

    /// Makes an instance of a pending resource a node, and traces what it may read.
    fn name(&mut self, id: ResourceId, key: InstanceKey) -> Option<Node> {
        let resource = self.structure.resource(id);
        let (module, repetition) = (resource.module?, resource.repetition);
        let config = self.structure.module(module).config.clone();
        let block = config.resources.get(&resource.address.resource)?;
        if let Some(&known) = resource.others.get(&key) {
            return Some(known);
        }
        let node = self.structure.add(NodeKind::Object(id, key.clone()));
        self.structure.resources[id.index()].others.insert(key.clone(), node);
        let place = block.repetition.expression().map_or(block.declared, |it| it.span);
        // Whatever it is, it reads these.
        let above = self.structure.module(module).node;
        self.firm.extend(repetition.into_iter().chain(above).map(|it| (node, it, place)));
        let each_value = self.value_by_key(module, &block.repetition, &key);
        let asked = self.asks(module, block);
        let whole = self.configuration_of(id, &asked);
        self.perhaps(|trace| {
            let each = Each::Known(key, each_value);
            trace.served(node, module, &each, block, (&asked, whole));
            trace.trace_block(node, module, &each, block);
        });
        Some(node)
    }

    /// `each.value` where the key alone tells it: in a set.
    fn value_by_key(
        &self,
        module: ModuleId,
        repetition: &Repetition,
        key: &InstanceKey,
    ) -> Option<Value> {
        let (expression, InstanceKey::Str(text)) = (repetition.expression()?, key) else {
            return None;
        };
        let scope = super::TraceScope::new(self, module, &Each::None);
        let (value, _) = expression::evaluate(expression, &scope);
        let is_set = matches!(value.ty().kind(), crate::value::Kind::Set(_));
        is_set.then(|| Value::String(text.clone()))
    }

    /// In a destroy run, keys that cannot be known are those of the state.
    pub(super) fn destroyed_instances(&self, id: ResourceId) -> Option<Entries> {
        if self.input.request.mode != PlanMode::Destroy {
            return None;
        }
        let known = self.input.state.resources.get(&self.structure.resource(id).address);
        let keys = known.into_iter().flat_map(|it| it.instances.keys());
        Some(keys.map(|it| (it.clone(), None)).collect())
    }

    /// In a destroy run, module instances that cannot be known are those of the state.
    pub(super) fn destroyed_modules(&self, parent: ModuleId, name: &str) -> Option<Entries> {
        if self.input.request.mode != PlanMode::Destroy {
            return None;
        }
        let above = &self.structure.module(parent).address;
        Some(existing_modules(self.input.state, above, name))
    }

    fn late_resource(&mut self, id: ResourceId, entries: Entries) {
        let Some(module) = self.structure.resource(id).module else { return };
        let config = self.structure.module(module).config.clone();
        let Some(block) = config.resources.get(&self.structure.resource(id).address.resource)
        else {
            return;
        };
        let asked: providers::Asked = self.asks(module, block);
        let whole = self.configuration_of(id, &asked);
        self.expanded(id, module, block, entries, (&asked, whole));
        self.structure.resources[id.index()].pending = None;
        self.wholes[id.index()] = OnceLock::new();
        self.wholes_read_members([id], []);
    }

    fn late_call(&mut self, id: CallId, entries: Entries) -> Added {
        let first_module = self.structure.modules.len();
        let (first_resource, first_call) =
            (self.structure.resources.len(), self.structure.calls.len());
        let call = &mut self.structure.calls[id.index()];
        call.pending = false;
        call.instances.clear();
        let named = std::mem::take(&mut call.named);
        self.in_new_modules(id, |trace| trace.call_instances(id, entries, false, true));
        self.instead_of(id, &named);
        self.likely_instances();
        let modules: Vec<ModuleId> =
            (first_module..self.structure.modules.len()).map(|it| ModuleId(it as u32)).collect();
        let own = modules.iter().flat_map(|it| self.structure.module(*it).resources.values());
        let mut resources: Vec<ResourceId> = own.copied().collect();
        resources.extend(
            (first_resource..self.structure.resources.len()).map(|it| ResourceId(it as u32)),
        );
        resources.sort();
        resources.dedup();
        let calls = (first_call..self.structure.calls.len()).map(|it| CallId(it as u32));
        self.wholes_read_members(resources.iter().copied(), calls.chain([id]));
        Added { resources, modules }
    }
}

impl Trace<'_> {
    /// What read the outputs of a stand-in reads those of the instance that it stood in for.
    fn instead_of(&mut self, id: CallId, named: &BTreeMap<InstanceKey, ModuleId>) {
        let no_place = crate::diagnostic::Span::default();
        for (key, stand_in) in named {
            let Some(real) = self.structure.call(id).instances.get(key) else { continue };
            let real = &self.structure.module(*real).outputs;
            for (name, output) in &self.structure.module(*stand_in).outputs {
                let pair = real.get(name).map(|it| (*output, *it, no_place));
                self.reads.reads.extend(pair);
            }
        }
    }
}

/// The instances of a call that the state knows.
pub fn existing_modules(
    state: &crate::state::State,
    above: &ModuleInstance,
    name: &str,
) -> Entries {
    let steps =
        state.resources.keys().filter_map(|it| it.module.0.strip_prefix(&above.0[..])?.first());
    let keys: BTreeSet<InstanceKey> =
        steps.filter(|it| *it.0 == *name).map(|it| it.1.clone()).collect();
    keys.into_iter().map(|it| (it, None)).collect()
}

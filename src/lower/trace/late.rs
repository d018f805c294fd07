//! What is known late: instances of blocks whose keys only the walk can know. Named ones are nodes from the start; all are
//! traced as any other instance once their keys are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use entail_rules::Node;

use super::{Each, Reads, Trace, TraceScope};
use crate::address::target::Target;
use crate::address::{Instance, InstanceKey, Module, ModuleInstance, Resource};
use crate::config::Repetition;
use crate::diagnostic::Span;
use crate::expression;
use crate::lower::blocks::BlockKey;
use crate::lower::structure::{CallId, ModuleId, NodeKind, ResourceId, Structure};
use crate::request::PlanMode;
use crate::state::State;
use crate::value::{Kind, Str, Value};

/// Keys, each with its `each.value` where there is one.
pub type Entries = Vec<(InstanceKey, Option<Value>)>;

/// What a trace of late instances found.
pub struct Late {
    /// The expanded configuration.
    pub structure: Structure,
    /// What reads what in it, as far as it was traced now.
    pub reads: Reads,
    /// Resources that have instances now, or a pending node of their own.
    pub resources: Vec<ResourceId>,
    /// Module instances that there are now.
    pub modules: Vec<ModuleId>,
}

impl Trace<'_> {
    /// Traces the instances of a resource whose keys became known. Its pending node stands for it no longer.
    pub fn resource_found(&mut self, structure: Structure, id: ResourceId, keys: Entries) -> Late {
        self.structure = structure;
        self.late_resource(id, keys);
        let (structure, reads) = self.finish();
        Late { structure, reads, resources: vec![id], modules: Vec::new() }
    }

    /// Traces the instances of a module call whose keys became known, and everything in them.
    pub fn call_found(&mut self, structure: Structure, id: CallId, keys: Entries) -> Late {
        self.structure = structure;
        let (resources, modules) = self.late_call(id, keys);
        let (structure, reads) = self.finish();
        Late { structure, reads, resources, modules }
    }

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
        if self.structure.calls.iter().any(|it| it.pending) {
            let existing = self.input.state.resources.keys();
            let modules: BTreeSet<&ModuleInstance> =
                self.named_modules().chain(existing.map(|it| &it.module)).collect();
            let likely: BTreeSet<(CallId, InstanceKey)> =
                modules.into_iter().filter_map(|it| self.pending_call(it)).collect();
            for (id, key) in likely {
                self.name_call(id, key);
            }
        }
        let all = (0..self.structure.resources.len() as u32).map(ResourceId);
        self.likely_in(all);
    }

    /// The same for what was found in the walk: in these module instances, and these resources.
    fn likely_among(&mut self, modules: &[ModuleId], resources: &[ResourceId]) {
        let calls = modules.iter().flat_map(|it| self.structure.module(*it).besides.calls.all());
        let pending: Vec<CallId> = calls.filter(|it| self.structure.call(*it).pending).collect();
        for id in pending {
            let call = self.structure.call(id);
            let (name, above) = (&call.name, &self.structure.module(call.parent).address);
            let key_in = |it: &ModuleInstance| {
                let step = it.0.strip_prefix(&above.0[..])?.first()?;
                (step.0 == *name).then(|| step.1.clone())
            };
            let named = self.named_modules().filter_map(key_in);
            let existing = existing_modules(self.input.state, above, name);
            let keys: BTreeSet<InstanceKey> =
                named.chain(existing.into_iter().map(|it| it.0)).collect();
            for key in keys {
                self.name_call(id, key);
            }
        }
        self.likely_in(resources.iter().copied());
    }

    fn likely_in(&mut self, resources: impl Iterator<Item = ResourceId>) {
        let is_open = |it: &ResourceId| self.structure.resource(*it).besides.pending.is_some();
        for id in resources.filter(is_open).collect::<Vec<_>>() {
            let resource = self.structure.resource(id);
            let existing = existing_instances(self.input.state, &resource.address);
            let is_here = |it: &&Instance| it.of() == resource.address;
            let named = self.named_instances().filter(is_here).map(|it| it.key.clone());
            let keys: BTreeSet<InstanceKey> =
                named.chain(existing.into_iter().map(|it| it.0)).collect();
            for key in keys {
                if self.may_have(id, &key) {
                    self.name(id, key);
                }
            }
        }
    }

    /// The instances that the request names.
    fn named_instances(&self) -> impl Iterator<Item = &Instance> {
        let request = self.input.request;
        let selectors = request.targets.iter().chain(&request.excludes);
        let named = selectors.filter_map(|it| match &it.target {
            Target::Instance(it) => Some(it),
            _ => None,
        });
        named.chain(request.replaces.iter().map(|it| &it.instance))
    }

    /// The module instances that the request names, or something in them.
    fn named_modules(&self) -> impl Iterator<Item = &ModuleInstance> {
        let request = self.input.request;
        let selectors = request.targets.iter().chain(&request.excludes);
        let named = selectors.map(|it| match &it.target {
            Target::Module(it) => it,
            Target::Resource(it) => &it.module,
            Target::Instance(it) => &it.module,
        });
        named.chain(request.replaces.iter().map(|it| &it.instance.module))
    }

    /// The first call on the way to a module instance whose keys are not known, and the key that it is asked for.
    fn pending_call(&self, module: &ModuleInstance) -> Option<(CallId, InstanceKey)> {
        let mut at = Structure::ROOT;
        for (name, key) in module.0.iter() {
            let id = self.structure.call_in(at, name)?;
            let call = self.structure.call(id);
            if call.pending {
                return Some((id, key.clone()));
            }
            at = *call.instances.get(key)?;
        }
        None
    }

    /// Returns whether a pending resource may turn out to have an instance of that key.
    pub(super) fn may_have(&self, id: ResourceId, key: &InstanceKey) -> bool {
        let resource = self.structure.resource(id);
        let is_open = resource.besides.pending.is_some()
            && resource.module.is_some_and(|it| !self.structure.module(it).pending);
        is_open && resource.style.may_have(key)
    }

    /// Remembers that an expression names an instance of a pending resource.
    pub(super) fn named_by(&self, id: ResourceId, key: &InstanceKey) {
        self.named.lock().insert((id, key.clone()));
    }

    /// Remembers that an expression names an instance of a pending call.
    pub(super) fn call_named_by(&self, id: CallId, key: InstanceKey) {
        self.named_calls.lock().insert((id, key));
    }

    /// Makes nodes of the instances that an expression has just named; returns whether there were any.
    pub(super) fn name_all(&mut self) -> bool {
        let named = std::mem::take(self.named.get_mut());
        let calls = std::mem::take(self.named_calls.get_mut());
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
        // Without a key there is but one instance, for which one stands in anyway.
        let fits = key != InstanceKey::None && call.style.may_have(&key);
        let is_open = call.pending && !self.structure.module(call.parent).pending;
        if !fits || !is_open || call.named.contains_key(&key) {
            return false;
        }
        let (module, place) = (call.parent, call.place as usize);
        let config = self.structure.module(module).config.clone();
        let Some(block) = config.calls.at(place) else { return false };
        let repetition = &block.repetition;
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
        // Blocks are traced for the module instances that count: here, only for those that are made now.
        let before = self.made.count_from(self.structure.modules.len());
        make(self);
        for block in self.blocks_within(&path) {
            self.block(block);
        }
        self.made.count_from(before);
    }

    /// The blocks of a module and of those it calls, in their order. Providers are configured once, whatever is found.
    fn blocks_within(&self, path: &Module) -> Vec<usize> {
        let (sorted, graph) = (&self.input.sorted, self.input.graph);
        let blocks_in = self.blocks_in.get_or_init(|| {
            let mut blocks_in: BTreeMap<Arc<[Str]>, Vec<usize>> = BTreeMap::new();
            for (position, block) in sorted.iter().enumerate() {
                let block = *block as usize;
                if !matches!(graph.block(block).key, BlockKey::Provider(..)) {
                    let path = &graph.module_of(block).variant.path;
                    blocks_in.entry(path.0.clone()).or_default().push(position);
                }
            }
            blocks_in
        });
        let further = blocks_in.range(path.0.clone()..);
        let within = further.take_while(|it| it.0.starts_with(&path.0));
        let mut positions: Vec<usize> = within.flat_map(|it| it.1).copied().collect();
        positions.sort_unstable();
        positions.into_iter().map(|it| sorted[it] as usize).collect()
    }

    /// Makes an instance of a pending resource a node, and traces what it may read.
    fn name(&mut self, id: ResourceId, key: InstanceKey) -> Option<Node> {
        let resource = self.structure.resource(id);
        let (module, repetition) = (resource.module?, resource.besides.repetition);
        let config = self.structure.module(module).config.clone();
        let block = config.resources.get(&resource.address.resource)?;
        if let Some(&known) = resource.besides.others.get(&key) {
            return Some(known);
        }
        let node = self.structure.add(NodeKind::Object(id, key.clone()));
        self.structure.resources[id.index()].besides.others.insert(key.clone(), node);
        let place = block.besides.repetition.expression().map_or(block.declared, |it| it.span);
        // Whatever it is, it reads these.
        let above = self.structure.module(module).node;
        self.firm.extend(repetition.into_iter().chain(above).map(|it| (node, it, place)));
        let each_value = self.value_by_key(module, &block.besides.repetition, &key);
        let asked = self.asks(module, id, block);
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
        let scope = TraceScope::new(self, module, &Each::None);
        let (value, _) = expression::evaluate(expression, &scope);
        let is_set = matches!(value.ty().kind(), Kind::Set(_));
        is_set.then(|| Value::String(text.clone()))
    }

    /// In a destroy run, keys that cannot be known are those of the state.
    pub(super) fn destroyed_instances(&self, id: ResourceId) -> Option<Entries> {
        if self.input.request.mode != PlanMode::Destroy {
            return None;
        }
        Some(existing_instances(self.input.state, &self.structure.resource(id).address))
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
        let asked = self.asks(module, id, block);
        let whole = self.configuration_of(id, &asked);
        self.expanded(id, module, block, entries, (&asked, whole));
        self.structure.resources[id.index()].besides.pending = None;
        self.wholes[id.index()] = OnceLock::new();
        self.wholes_read_members([id], []);
    }

    fn late_call(&mut self, id: CallId, entries: Entries) -> (Vec<ResourceId>, Vec<ModuleId>) {
        let first_module = self.structure.modules.len();
        let (first_resource, first_call) =
            (self.structure.resources.len(), self.structure.calls.len());
        let call = &mut self.structure.calls[id.index()];
        call.pending = false;
        let stand_in = std::mem::take(&mut call.instances).values().next().copied();
        let named = std::mem::take(&mut call.named);
        self.in_new_modules(id, |trace| trace.call_instances(id, entries, false, true));
        self.instead_of(id, stand_in, &named);
        let made = (first_module..self.structure.modules.len()).map(|it| ModuleId(it as u32));
        let made: Vec<ModuleId> = made.collect();
        let own = made.iter().flat_map(|it| &self.structure.module(*it).resources);
        let mut resources: Vec<ResourceId> = own.copied().collect();
        self.likely_among(&made, &resources);
        // What stands in for instances of calls within is new, too.
        let modules = (first_module..self.structure.modules.len()).map(|it| ModuleId(it as u32));
        resources.extend(
            (first_resource..self.structure.resources.len()).map(|it| ResourceId(it as u32)),
        );
        resources.sort();
        resources.dedup();
        let calls = (first_call..self.structure.calls.len()).map(|it| CallId(it as u32));
        self.wholes_read_members(resources.iter().copied(), calls.chain([id]));
        (resources, modules.collect())
    }

    /// What read the outputs of a stand-in reads those of the instances that it stood in for: of all, or of one key.
    fn instead_of(
        &mut self,
        id: CallId,
        stand_in: Option<ModuleId>,
        named: &BTreeMap<InstanceKey, ModuleId>,
    ) {
        let instances = &self.structure.call(id).instances;
        let by_key = named.iter().filter_map(|(key, it)| Some((*it, *instances.get(key)?)));
        let of_all =
            stand_in.into_iter().flat_map(|it| instances.values().map(move |real| (it, *real)));
        let pairs: Vec<(ModuleId, ModuleId)> = by_key.chain(of_all).collect();
        for (stand_in, real) in pairs {
            let real = &self.structure.module(real).outputs;
            for (name, output) in self.structure.module(stand_in).outputs.iter() {
                let pair = real.get(name).map(|it| (*output, *it, Span::default()));
                self.reads.reads.extend(pair);
            }
        }
    }
}

/// The instances of a resource that the state knows.
pub fn existing_instances(state: &State, address: &Resource) -> Entries {
    let keys = state.resources.get(address).into_iter().flat_map(|it| it.instances.keys());
    keys.map(|it| (it.clone(), None)).collect()
}

/// The instances of a call that the state knows.
pub fn existing_modules(state: &State, above: &ModuleInstance, name: &str) -> Entries {
    let deepest = state.resources.deepest();
    let mut keys = BTreeSet::new();
    let (place, name) = (above.0.len(), Str::from(name));
    for depth in place + 1..=deepest {
        let further = state.resources.behind(&above.0, Some(&name), depth);
        keys.extend(further.map(|it| it.0.module.0[place].1.clone()));
    }
    keys.into_iter().map(|it| (it, None)).collect()
}

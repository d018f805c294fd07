//! The structure trace: expands what can be known without providers, and finds what reads what, instance by instance.
//!
//! Every attribute of a resource is unknown here, also where the state knows it: a refresh may change it. Provenance
//! travels with values as a mark, so that an element of a local value reads only what that element was made of.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::sync::{Arc, OnceLock};

use entail_rules::Node;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::blocks::{BlockGraph, BlockKey, ModuleCode, VariantId};
use super::read_places::{in_order, read_by};
use super::serving::Repeated;
use super::structure::{
    CallId, CallNode, ModuleId, ModuleNode, NodeKind, NodeMap, ResourceId, Structure, Style,
};
use crate::address::{InstanceKey, Keyed, Module, ModuleInstance, ProviderConfig, RareMap};
use crate::config::{Config, ImportTargets, Variant, inputs};
use crate::diagnostic::{Diagnostics, Sources, Span};
use crate::request::Request;
use crate::state::State;
use crate::value::{PathStep, Str, Value};
use crate::world::World;

mod circles;
mod followed;
mod late;
mod made;
pub mod providers;
mod reading;
mod repetitions;
mod resource;
mod scope;

pub use followed::{Followed, Provenance};
pub use late::{Entries, Late, existing_instances, existing_modules};
use made::Made;
pub use repetitions::{Repeated as KnownRepetition, Repetitions};
use scope::{Each, Entry, How, TraceScope};

/// What reads what, before selection.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    /// `(n, m, place)`: node `n` reads node `m`; what selection looks at. Sorted, each pair once.
    pub reads: Vec<(Node, Node, Span)>,
    /// `(n, m)`: further, `n` cannot be evaluated before `m` (a value of which only a part is read). Sorted.
    pub waits: Vec<(Node, Node)>,
    /// `(n, m, place)`: what `n` stands for, an instance that is not known yet or all of them, may read `m`. Sorted, each pair once.
    pub may_read: Vec<(Node, Node, Span)>,
    /// What key sets, values and objects are derived from. Empty if nothing is followed.
    pub provenance: Provenance,
    /// What `replace_triggered_by` names.
    pub triggers: Vec<Trigger>,
    /// What each provider configuration that repeats gives.
    pub provider_keys: Vec<Repeated>,
    /// `(n, k)`: node `n` asks for the provider instance under key `k`, as far as that is known before the walk.
    pub provider_choices: Vec<(Node, InstanceKey)>,
    /// What is wrong with how provider configurations repeat.
    pub problems: Diagnostics,
}

impl Reads {
    /// Returns what a node reads.
    pub fn of(&self, node: Node) -> impl Iterator<Item = Node> {
        read_by(&self.reads, node)
    }
}

/// One expression of `replace_triggered_by`, for one instance.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// The instance that is to be replaced.
    pub node: Node,
    /// What it watches: an object or a collection.
    pub target: Node,
    /// The instance that is named by its key, be there one or not.
    pub named: Option<(ResourceId, InstanceKey)>,
    /// The attribute it watches; empty for the whole.
    pub path: Vec<PathStep>,
    /// Where that is written.
    pub place: Span,
}

impl Trigger {
    /// Returns whether more has to be known than which objects change.
    pub fn is_particular(&self) -> bool {
        self.named.is_some() || !self.path.is_empty()
    }
}

/// What the trace starts from.
#[derive(Clone)]
pub struct TraceInput<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Its blocks.
    pub graph: &'a BlockGraph,
    /// The blocks in order.
    pub sorted: Arc<[u32]>,
    /// The root module's variables, converted and marked.
    pub variables: &'a BTreeMap<Str, Value>,
    /// `terraform.workspace`
    pub workspace: &'a str,
    /// Clock, environment, folders.
    pub world: &'a World,
    /// The source files, for places in messages.
    pub sources: &'a Sources,
    /// What exists, after moves.
    pub state: &'a State,
    /// What is asked for.
    pub request: &'a Request,
    /// Repetitions that are known besides.
    pub repetitions: &'a Repetitions,
    /// Values that are followed as objects are; `None` if the caller does not need the provenance of keys, values and objects.
    pub followed: Option<&'a Followed>,
}

/// What a trace found, and itself, to go on with.
pub struct Traced<'a> {
    /// The expanded configuration.
    pub structure: Structure,
    /// What reads what in it.
    pub reads: Reads,
    /// What traced it.
    pub trace: Trace<'a>,
}

/// Expands and traces a configuration.
pub fn trace(input: TraceInput<'_>) -> Traced<'_> {
    let sorted = input.sorted.clone();
    let structure = Structure::with_room(input.config.all_variants().map(|it| &**it.1));
    let modules = input.graph.modules.count();
    let mut trace = Trace {
        imports: input.config.import_targets(),
        values: NodeMap::with_room(structure.nodes.capacity()),
        structure,
        input,
        reads: Reads::default(),
        wholes: Vec::new(),
        codes: Vec::with_capacity(modules),
        made: Made::of_modules(modules),
        listed: Vec::new(),
        call_keys: FxHashMap::default(),
        blocks_in: OnceLock::new(),
        named: Mutex::default(),
        named_calls: Mutex::default(),
        last_served: None,
        firm: Vec::new(),
    };
    trace.root();
    for &block in &*sorted {
        trace.block(block as usize);
    }
    trace.likely_instances();
    trace.reads_in_circles();
    let (resources, calls) = (trace.structure.resources.len(), trace.structure.calls.len());
    trace.wholes_read_members((0..resources as u32).map(ResourceId), (0..calls as u32).map(CallId));
    let (structure, reads) = trace.finish();
    Traced { structure, reads, trace }
}

/// What traces. It is kept while the walk may find instances, so that they are traced as all others are.
pub struct Trace<'a> {
    input: TraceInput<'a>,
    /// Here while a trace is under way.
    structure: Structure,
    /// What this trace has found so far.
    reads: Reads,
    /// What is known of variables, locals and outputs.
    values: NodeMap<Value>,
    /// What a whole resource looks like, made when first asked for.
    wholes: Vec<OnceLock<Value>>,
    /// The code of each module instance.
    codes: Vec<Option<VariantId>>,
    /// The instances of each module.
    made: Made,
    /// Room to list instances in.
    listed: Vec<ModuleId>,
    /// The provider key that each instance of a call passes, by the place of its expression.
    call_keys: FxHashMap<(ModuleId, Span), Arc<providers::Chosen>>,
    /// The blocks of each module, as positions in their order; found when first asked for.
    blocks_in: OnceLock<BTreeMap<Arc<[Str]>, Vec<usize>>>,
    /// Instances of blocks whose keys are not known yet that something names.
    named: Mutex<BTreeSet<(ResourceId, InstanceKey)>>,
    /// Instances of calls whose keys are not known yet that something names.
    named_calls: Mutex<BTreeSet<(CallId, InstanceKey)>>,
    /// The blocks that imports are for.
    imports: ImportTargets,
    /// The configuration that served the last resource, and the node of all its instances together.
    last_served: Option<(Arc<ProviderConfig>, Node)>,
    /// What these read in any case.
    firm: Vec<(Node, Node, Span)>,
}

impl Trace<'_> {
    /// Hands out what was traced.
    fn finish(&mut self) -> (Structure, Reads) {
        let mut reads = take(&mut self.reads);
        reads.reads.append(&mut self.firm);
        for reads in [&mut reads.reads, &mut reads.may_read] {
            in_order(reads);
        }
        reads.waits.sort_unstable();
        reads.waits.dedup();
        (take(&mut self.structure), reads)
    }

    fn root(&mut self) {
        let root = self.input.graph.modules[VariantId::ROOT].config.clone();
        let root = ModuleNode::new(ModuleInstance::default(), Module::default(), root);
        let root = self.module_node(root, Some(VariantId::ROOT));
        for (name, value) in self.input.variables {
            if let Some(&node) = self.structure.module(root).variables.get(name) {
                self.keep_value(node, value.clone());
            }
        }
    }

    /// Makes a module instance. Where its code is one of several and it is not known which, it stands for the first.
    fn module_node(&mut self, node: ModuleNode, code: Option<VariantId>) -> ModuleId {
        let modules = &self.input.graph.modules;
        let first = || modules.number(&Variant { path: node.path.clone(), number: 0 });
        let traced = code.or_else(first);
        let id = self.structure.add_module(node);
        self.codes.resize(id.index() + 1, None);
        self.codes[id.index()] = code;
        if let Some(traced) = traced {
            self.made.add(traced, id);
        }
        id
    }

    /// Returns the code of the instance that a call makes at an address, and what is written in it; nothing where there is none of
    /// that key.
    fn called(
        &self,
        (caller, call): (ModuleId, CallId),
        address: &ModuleInstance,
    ) -> Option<(Option<VariantId>, ModuleNode)> {
        let BlockGraph { modules, .. } = self.input.graph;
        let written = self.structure.call(call);
        let node = |path, config| ModuleNode::new(address.clone(), path, config);
        let of_code = |it: VariantId| {
            let ModuleCode { variant, config, .. } = &modules[it];
            (Some(it), node(variant.path.clone(), config.clone()))
        };
        // Nearly every call leads to one module, whatever the key.
        let config = self.input.config;
        if let Some(caller) = self.codes[caller.index()]
            && let Some(block) = modules[caller].call_near(&written.name, written.place as usize)
            && let Some(first) = modules.called(caller, block).next()
            && !config.kinds.contains_key(&modules[first].variant.path)
        {
            return Some(of_code(first));
        }
        match config.variant_of(address) {
            Some(variant) => modules.number(&variant).map(of_code),
            None => Some((None, node(address.module(), config.module_of(address)?.clone()))),
        }
    }

    fn block(&mut self, number: usize) {
        let graph = self.input.graph;
        let block = graph.block(number);
        // What is called in a module is no instance of it.
        let mut modules = take(&mut self.listed);
        modules.extend(self.made.of(block.module));
        modules.reverse();
        if let BlockKey::Provider(name, alias) = &block.key {
            let first = modules.first().copied();
            self.provider(&graph.module_of(number).variant, name, alias.as_ref(), first);
        }
        for &module in &modules {
            match block.key {
                BlockKey::Variable(name) => self.variable(module, name),
                BlockKey::Local(name) => self.local(module, name),
                BlockKey::Output(name) => self.output(module, name),
                BlockKey::Resource(name) => self.resource(module, name, number),
                BlockKey::Call(name) => self.call(module, name, number),
                BlockKey::Check(name) => self.check(module, name),
                BlockKey::Inside(_) | BlockKey::Provider(..) => {}
            }
        }
        modules.clear();
        self.listed = modules;
    }

    fn variable(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).variables[name];
        let variable = self.structure.module(module).config.clone();
        let Some(variable) = variable.variables.get(name) else { return };
        if let Some((parent, call)) = self.structure.module(module).parent {
            let config = self.structure.module(parent).config.clone();
            let place = self.structure.call(call).place as usize;
            let input = config.calls.at(place).and_then(|it| it.inputs.get(name));
            let value = match input {
                Some(input) => {
                    let each = self.each_of_module(module);
                    let value = self.evaluate(node, parent, &each, &input.value);
                    let marks = value.marks();
                    // What does not fit is told once it is evaluated for good.
                    let taken = inputs::taken(variable, Some(&value));
                    taken.unwrap_or_else(|_| value.mark(&variable.marks())).mark(&marks)
                }
                None => {
                    inputs::taken(variable, None).unwrap_or_else(|_| inputs::unknown_of(variable))
                }
            };
            self.keep_value(node, value);
        }
        let first = self.reads.reads.len();
        self.conditions(node, module, &variable.validations);
        self.record_reads(first);
        self.hang(node, module);
    }

    fn local(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).besides.locals[name];
        let config = self.structure.module(module).config.clone();
        let value = self.evaluate(node, module, &Each::None, &config.locals[name].value);
        self.keep_value(node, value);
        self.hang(node, module);
    }

    fn output(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).outputs[name];
        let config = self.structure.module(module).config.clone();
        let output = &config.outputs[name];
        let value = self.evaluate(node, module, &Each::None, &output.value);
        self.keep_value(node, value.mark(&output.marks()));
        let first = self.reads.reads.len();
        self.conditions(node, module, &output.preconditions);
        self.depends_on(node, module, &output.depends_on);
        self.record_reads(first);
        self.hang(node, module);
    }

    fn check(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).besides.checks[name];
        let config = self.structure.module(module).config.clone();
        self.conditions(node, module, &config.checks[name].asserts);
        self.hang(node, module);
    }

    /// What is in a module instance hangs on the instance.
    fn hang(&mut self, node: Node, module: ModuleId) {
        if let Some(module) = self.structure.module(module).node {
            self.reads.reads.push((node, module, Span::default()));
        }
    }

    fn call(&mut self, module: ModuleId, name: &Str, number: usize) {
        let config = self.structure.module(module).config.clone();
        let near = number - self.input.graph.module_of(number).first_call();
        let (place, block) =
            config.calls.get_near(near, name).expect("the call is one of its module");
        let id = CallId(self.structure.calls.len() as u32);
        let style = Style::of(&block.repetition);
        let has_node = style != Style::Single
            || !block.besides.depends_on.is_empty()
            || self.structure.module(module).node.is_some();
        let keys = has_node.then(|| self.structure.add(NodeKind::CallKeys(id)));
        let all = self.structure.add(NodeKind::Call(id));
        // What is there once, and hangs on nothing, has no keys to ask for.
        let keys = keys.unwrap_or(all);
        let is_whole = self.is_depended_on(module, name);
        let inside = is_whole.then(|| self.structure.add(NodeKind::Inside(id)));
        let given = self.input.graph.outputs_depended_on(number);
        let given =
            given.map(|it| (it.clone(), self.structure.add(NodeKind::Given(id, it.clone()))));
        let given = given.collect();
        self.structure.add_call(CallNode {
            parent: module,
            name: name.clone(),
            place: place as u32,
            style,
            keys,
            all,
            inside,
            given,
            instances: Keyed::new(),
            pending: false,
            named: RareMap::new(),
        });
        self.hang(keys, module);
        let outer_pending = self.structure.module(module).pending;
        let known = self.repetition(keys, module, &block.repetition);
        // What comes from different places has its keys, whatever is known of the module around.
        let early = self.input.config.keys_of_call(&self.structure.module(module).address, name);
        let known = known.filter(|_| !outer_pending || early.is_some());
        let known = known.or_else(|| Some(early?.into_iter().map(|it| (it, None)).collect()));
        let known = known.or_else(|| self.destroyed_modules(module, name));
        let pending = known.is_none();
        self.structure.calls[id.index()].pending = pending;
        let entries = known.unwrap_or_else(|| vec![(InstanceKey::None, None)]);
        let pending = pending || outer_pending;
        self.call_instances(id, entries, pending, has_node);
    }

    /// Whether a `depends_on` may name everything in a call of a module instance, or in a call around it.
    fn is_depended_on(&self, module: ModuleId, call: &Str) -> bool {
        let code = self.codes[module.index()];
        code.is_none_or(|it| self.input.graph.is_depended_on(it, call))
    }

    /// The module instances that the keys of a call make.
    fn call_instances(
        &mut self,
        id: CallId,
        entries: Vec<(InstanceKey, Option<Value>)>,
        pending: bool,
        has_node: bool,
    ) {
        let CallNode { parent, keys, place, ref name, .. } = *self.structure.call(id);
        let name = name.clone();
        let config = self.structure.module(parent).config.clone();
        let block = config.calls.at(place as usize).expect("the call is one of its module");
        let place = block.repetition.expression().map_or(block.declared, |it| it.span);
        for (key, each_value) in entries {
            let address = self.structure.module(parent).address.child(&name, key.clone());
            let Some((code, called)) = self.called((parent, id), &address) else { continue };
            let is_named = self.structure.call(id).pending && key != InstanceKey::None;
            let (above, key_of) = (Some((parent, id)), key.clone());
            let mut made = ModuleNode { parent: above, key: key_of, pending, ..called };
            if each_value.is_some() {
                made.besides.each_value = each_value;
            }
            let child = self.module_node(made, code);
            if has_node {
                let node = self.structure.add(NodeKind::Module(child));
                self.structure.modules[child.index()].node = Some(node);
                self.reads.reads.push((node, keys, place));
                let value = self.structure.module(child).besides.each_value.clone();
                self.read_marks(node, value.as_ref(), block.declared);
                // Which instances there are does not rest on it: only what is in them does.
                self.depends_on(node, parent, &block.besides.depends_on);
            }
            let call = &mut self.structure.calls[id.index()];
            match is_named {
                true => call.named.insert(key, child),
                false => call.instances.insert(key, child),
            };
        }
    }
}

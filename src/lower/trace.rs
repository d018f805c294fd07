//! The structure trace: expands what can be known without providers, and finds what reads what, instance by instance.
//!
//! Every attribute of a resource is unknown here, also where the state knows it: a refresh may change it. Provenance
//! travels with values as a mark, so that an element of a local value reads only what that element was made of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use entail_rules::Node;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::blocks::{BlockGraph, BlockKey};
use super::read_places::read_by;
use super::serving::Repeated;
use super::structure::{
    CallId, CallNode, ModuleId, ModuleNode, NodeKind, ResourceId, Structure, Style,
};
use crate::address::{ConfigResource, InstanceKey, Keyed, ModuleInstance, ProviderConfig, RareMap};
use crate::config::{self, Config, Variant, inputs};
use crate::diagnostic::{Diagnostics, Sources, Span};
use crate::request::Request;
use crate::state::State;
use crate::value::{PathStep, Str, Value};
use crate::world::World;

mod circles;
mod late;
pub mod providers;
mod reading;
mod repetitions;
mod resource;
mod scope;

pub use late::{Entries, Late, existing_instances, existing_modules};
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
    pub sorted: Arc<[usize]>,
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
    let mut trace = Trace {
        imports: input.config.root().imports_by_target(),
        structure: Structure::with_room(input.config.all_variants().map(|it| &**it.1)),
        input,
        reads: Reads::default(),
        values: FxHashMap::default(),
        wholes: Vec::new(),
        instances_of: FxHashMap::default(),
        call_keys: FxHashMap::default(),
        blocks_in: OnceLock::new(),
        named: Mutex::default(),
        named_calls: Mutex::default(),
        last_served: None,
        firm: Vec::new(),
    };
    trace.root();
    for &block in &*sorted {
        trace.block(block);
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
    values: FxHashMap<Node, Value>,
    /// What a whole resource looks like, made when first asked for.
    wholes: Vec<OnceLock<Value>>,
    /// The instances of each module.
    instances_of: FxHashMap<Variant, Vec<ModuleId>>,
    /// The provider key that each instance of a call passes, by the place of its expression.
    call_keys: FxHashMap<(ModuleId, Span), Arc<providers::Chosen>>,
    /// The blocks of each module, as positions in their order; found when first asked for.
    blocks_in: OnceLock<BTreeMap<Arc<[Str]>, Vec<usize>>>,
    /// Instances of blocks whose keys are not known yet that something names.
    named: Mutex<BTreeSet<(ResourceId, InstanceKey)>>,
    /// Instances of calls whose keys are not known yet that something names.
    named_calls: Mutex<BTreeSet<(CallId, InstanceKey)>>,
    /// The `import` blocks by what they are for, as positions.
    imports: FxHashMap<ConfigResource, Vec<usize>>,
    /// The configuration that served the last resource, and the node of all its instances together.
    last_served: Option<(Arc<ProviderConfig>, Node)>,
    /// What these read in any case.
    firm: Vec<(Node, Node, Span)>,
}

impl Trace<'_> {
    /// Hands out what was traced.
    fn finish(&mut self) -> (Structure, Reads) {
        let mut reads = std::mem::take(&mut self.reads);
        reads.reads.append(&mut self.firm);
        for reads in [&mut reads.reads, &mut reads.may_read] {
            reads.sort();
            reads.dedup_by_key(|it| (it.0, it.1));
        }
        reads.waits.sort();
        reads.waits.dedup();
        (std::mem::take(&mut self.structure), reads)
    }

    fn root(&mut self) {
        let config = self.input.config.module_of(&ModuleInstance::default());
        let config = config.expect("a configuration has a root module").clone();
        let no_call = (None, InstanceKey::None, None);
        let root = self.module_node(ModuleInstance::default(), config, no_call, false);
        for (name, value) in self.input.variables {
            if let Some(&node) = self.structure.module(root).variables.get(name) {
                self.values.insert(node, value.clone());
            }
        }
    }

    fn module_node(
        &mut self,
        address: ModuleInstance,
        config: Arc<config::Module>,
        (parent, key, each_value): (Option<(ModuleId, CallId)>, InstanceKey, Option<Value>),
        pending: bool,
    ) -> ModuleId {
        let path = address.module();
        let variant = self.input.config.variant_of(&address);
        let variant = variant.unwrap_or_else(|| Variant { path: path.clone(), number: 0 });
        let id = self.structure.add_module(ModuleNode {
            parent,
            key,
            each_value,
            pending,
            ..ModuleNode::new(address, path, config)
        });
        self.instances_of.entry(variant).or_default().push(id);
        id
    }

    fn block(&mut self, number: usize) {
        let graph = self.input.graph;
        let block = &graph.blocks[number];
        let modules = self.instances_of.get(&block.module).cloned().unwrap_or_default();
        if let BlockKey::Provider(name, alias) = &block.key {
            let first = modules.first().copied();
            return self.provider(&block.module, name, alias.as_ref(), first);
        }
        for module in modules {
            match &block.key {
                BlockKey::Variable(name) => self.variable(module, name),
                BlockKey::Local(name) => self.local(module, name),
                BlockKey::Output(name) => self.output(module, name),
                BlockKey::Resource(name) => self.resource(module, name, number),
                BlockKey::Call(name) => self.call(module, &block.module, name),
                BlockKey::Check(name) => self.check(module, name),
                BlockKey::Inside(_) | BlockKey::Provider(..) => {}
            }
        }
    }

    fn variable(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).variables[name];
        let variable = self.structure.module(module).config.clone();
        let Some(variable) = variable.variables.get(name) else { return };
        if let Some((parent, call)) = self.structure.module(module).parent {
            let config = self.structure.module(parent).config.clone();
            let input = config
                .calls
                .get(&self.structure.call(call).name)
                .and_then(|it| it.inputs.get(name));
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
            self.values.insert(node, value);
        }
        self.conditions(node, module, &variable.validations);
        self.hang(node, module);
    }

    fn local(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).locals[name];
        let config = self.structure.module(module).config.clone();
        let value = self.evaluate(node, module, &Each::None, &config.locals[name].value);
        self.values.insert(node, value);
        self.hang(node, module);
    }

    fn output(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).outputs[name];
        let config = self.structure.module(module).config.clone();
        let output = &config.outputs[name];
        let value = self.evaluate(node, module, &Each::None, &output.value);
        self.values.insert(node, value.mark(&output.marks()));
        self.conditions(node, module, &output.preconditions);
        self.depends_on(node, module, &output.depends_on);
        self.hang(node, module);
    }

    fn check(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).checks[name];
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

    fn call(&mut self, module: ModuleId, variant: &Variant, name: &Str) {
        let config = self.structure.module(module).config.clone();
        let block = &config.calls[name];
        let id = CallId(self.structure.calls.len() as u32);
        let keys = self.structure.add(NodeKind::CallKeys(id));
        let all = self.structure.add(NodeKind::Call(id));
        let inside = self.structure.add(NodeKind::Inside(id));
        let given = self.input.graph.outputs_depended_on(variant, name);
        let given =
            given.map(|it| (it.clone(), self.structure.add(NodeKind::Given(id, it.clone()))));
        let given = given.collect();
        let style = Style::of(&block.repetition);
        self.structure.calls.push(CallNode {
            parent: module,
            name: name.clone(),
            style,
            keys,
            all,
            inside,
            given,
            instances: Keyed::new(),
            pending: false,
            named: RareMap::new(),
        });
        self.structure.modules[module.index()].calls.insert(name.clone(), id);
        self.hang(keys, module);
        let outer_pending = self.structure.module(module).pending;
        let known = self.repetition(keys, module, &block.repetition);
        // What comes from different places has its keys, whatever is known of the module around.
        let early = self.input.config.keys_of_call(&self.structure.module(module).address, name);
        let known = known.filter(|_| !outer_pending || early.is_some());
        let known = known.or_else(|| Some(early?.into_iter().map(|it| (it, None)).collect()));
        let known = known.or_else(|| self.destroyed_modules(module, name));
        let has_node = style != Style::Single
            || !block.depends_on.is_empty()
            || self.structure.module(module).node.is_some();
        let pending = known.is_none();
        self.structure.calls[id.index()].pending = pending;
        let entries = known.unwrap_or_else(|| vec![(InstanceKey::None, None)]);
        let pending = pending || outer_pending;
        self.call_instances(id, entries, pending, has_node);
    }

    /// The module instances that the keys of a call make.
    fn call_instances(
        &mut self,
        id: CallId,
        entries: Vec<(InstanceKey, Option<Value>)>,
        pending: bool,
        has_node: bool,
    ) {
        let CallNode { parent, name, keys, .. } = self.structure.call(id).clone();
        let config = self.structure.module(parent).config.clone();
        let block = &config.calls[&name];
        let place = block.repetition.expression().map_or(block.declared, |it| it.span);
        for (key, each_value) in entries {
            let address = self.structure.module(parent).address.child(&name, key.clone());
            let Some(called) = self.input.config.module_of(&address).cloned() else { continue };
            let is_named = self.structure.call(id).pending && key != InstanceKey::None;
            let above = Some((parent, id));
            let child =
                self.module_node(address, called, (above, key.clone(), each_value), pending);
            if has_node {
                let node = self.structure.add(NodeKind::Module(child));
                self.structure.modules[child.index()].node = Some(node);
                self.reads.reads.push((node, keys, place));
                let value = self.structure.module(child).each_value.clone();
                self.read_marks(node, value.as_ref(), block.declared);
                // Which instances there are does not rest on it: only what is in them does.
                self.depends_on(node, parent, &block.depends_on);
            }
            let call = &mut self.structure.calls[id.index()];
            match is_named {
                true => call.named.insert(key, child),
                false => call.instances.insert(key, child),
            };
        }
    }
}

//! The structure trace: expands what can be known without providers, and finds what reads what, instance by instance.
//!
//! Every attribute of a resource is unknown here, also where the state knows it: a refresh may change it. Provenance
//! travels with values as a mark, so that an element of a local value reads only what that element was made of.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::blocks::{BlockGraph, BlockKey};
use super::structure::{
    CallId, CallNode, ModuleId, ModuleNode, NodeKind, ResourceId, Structure, Style,
};
use crate::address::{
    InstanceKey, Mode, Module, ModuleInstance, ProviderConfig, Resource, ResourceName,
};
use crate::config::uses::{self, Role, Use};
use crate::config::{Config, Repetition};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::expression::functions::Failure;
use crate::expression::{self, Scope, Subject, parse_reference};
use crate::observe::repetition::{self, Keys};
use crate::schema::FunctionSignature;
use crate::syntax::{Expression, Name, Step};
use crate::value::{Marks, Str, Type, Value};
use crate::world::World;

pub mod providers;

/// What reads what, before selection.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    /// `(n, m, place)`: node `n` reads node `m`; what selection looks at. Sorted, each pair once.
    pub reads: Vec<(Node, Node, Span)>,
    /// `(n, m)`: further, `n` cannot be evaluated before `m` (a value of which only a part is read). Sorted.
    pub waits: Vec<(Node, Node)>,
    /// What `replace_triggered_by` names.
    pub triggers: Vec<Trigger>,
    /// The keys of each provider configuration that repeats.
    pub provider_keys: Vec<(ProviderConfig, Vec<InstanceKey>)>,
    /// `(n, k)`: node `n` asks for the provider instance under key `k`, as far as that is known before the walk.
    pub provider_choices: Vec<(Node, InstanceKey)>,
    /// What is wrong with how provider configurations repeat.
    pub problems: Diagnostics,
}

/// One expression of `replace_triggered_by`, for one instance.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// The instance that is to be replaced.
    pub node: Node,
    /// What it watches: an object or a collection.
    pub target: Node,
    /// The attribute it watches; empty for the whole.
    pub path: Vec<Step>,
}

/// What the trace starts from.
#[derive(Clone, Copy)]
pub struct TraceInput<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Its blocks.
    pub graph: &'a BlockGraph,
    /// The blocks in order.
    pub sorted: &'a [usize],
    /// The root module's variables, converted and marked.
    pub variables: &'a BTreeMap<Str, Value>,
    /// `terraform.workspace`
    pub workspace: &'a str,
    /// Clock, environment, folders.
    pub world: &'a World,
    /// The source files, for places in messages.
    pub sources: &'a Sources,
}

/// Expands and traces a configuration.
pub fn trace(input: TraceInput<'_>) -> (Structure, Reads) {
    let mut trace = Trace {
        input,
        structure: Structure::default(),
        values: FxHashMap::default(),
        wholes: Vec::new(),
        instances_of: FxHashMap::default(),
        call_keys: FxHashMap::default(),
        reads: Reads::default(),
    };
    trace.root();
    for &block in input.sorted {
        let node = &input.graph.blocks[block];
        trace.block(&node.module, &node.key);
    }
    trace.wholes_read_members();
    let mut reads = trace.reads;
    reads.reads.sort();
    reads.reads.dedup_by_key(|it| (it.0, it.1));
    reads.waits.sort();
    reads.waits.dedup();
    (trace.structure, reads)
}

fn has(module: &crate::config::Module, key: &BlockKey) -> bool {
    match key {
        BlockKey::Variable(name) => module.variables.contains_key(name),
        BlockKey::Local(name) => module.locals.contains_key(name),
        BlockKey::Output(name) => module.outputs.contains_key(name),
        BlockKey::Resource(name) => module.resources.contains_key(name),
        BlockKey::Call(name) => module.calls.contains_key(name),
        BlockKey::Check(name) => module.checks.contains_key(name),
        BlockKey::Provider(..) => true,
    }
}

struct Trace<'a> {
    input: TraceInput<'a>,
    structure: Structure,
    /// What is known of variables, locals and outputs.
    values: FxHashMap<Node, Value>,
    /// What a whole resource looks like, made when first asked for.
    wholes: Vec<OnceLock<Value>>,
    /// The instances of each module.
    instances_of: FxHashMap<Module, Vec<ModuleId>>,
    /// The provider key that each instance of a call passes, by the place of its expression.
    call_keys: FxHashMap<(ModuleId, Span), Arc<providers::Chosen>>,
    reads: Reads,
}

impl Trace<'_> {
    fn root(&mut self) {
        let root =
            self.module_node(ModuleInstance::default(), None, InstanceKey::None, None, false, None);
        for (name, value) in self.input.variables {
            if let Some(&node) = self.structure.module(root).variables.get(name) {
                self.values.insert(node, value.clone());
            }
        }
    }

    fn module_node(
        &mut self,
        address: ModuleInstance,
        parent: Option<(ModuleId, CallId)>,
        key: InstanceKey,
        each_value: Option<Value>,
        pending: bool,
        node: Option<Node>,
    ) -> ModuleId {
        let path = address.module();
        let config = self.input.config.module_of(&address);
        let config = config.expect("a called module is loaded").clone();
        let id = self.structure.add_module(ModuleNode {
            address,
            path: path.clone(),
            config,
            parent,
            key,
            each_value,
            pending,
            node,
            variables: FxHashMap::default(),
            locals: FxHashMap::default(),
            outputs: BTreeMap::new(),
            resources: BTreeMap::new(),
            calls: BTreeMap::new(),
            checks: BTreeMap::new(),
        });
        self.instances_of.entry(path).or_default().push(id);
        id
    }

    fn block(&mut self, path: &Module, key: &BlockKey) {
        let modules = self.instances_of.get(path).cloned().unwrap_or_default();
        if let BlockKey::Provider(name, alias) = key {
            return self.provider(path, name, alias.as_ref(), modules.first().copied());
        }
        for module in modules {
            // Instances that come from different places have different blocks.
            if self.input.config.has_variants() && !has(&self.structure.module(module).config, key)
            {
                continue;
            }
            match key {
                BlockKey::Variable(name) => self.variable(module, name),
                BlockKey::Local(name) => self.local(module, name),
                BlockKey::Output(name) => self.output(module, name),
                BlockKey::Resource(name) => self.resource(module, name),
                BlockKey::Call(name) => self.call(module, name),
                BlockKey::Check(name) => self.check(module, name),
                BlockKey::Provider(..) => {}
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
                    crate::value::convert::convert(&value, variable.ty).unwrap_or(value)
                }
                None => variable.default.clone().unwrap_or(Value::unknown(variable.ty)),
            };
            let value = if variable.sensitive { value.mark(&Marks::sensitive()) } else { value };
            self.values.insert(node, value);
        }
        for condition in &variable.validations {
            self.evaluate(node, module, &Each::None, &condition.condition);
            self.evaluate(node, module, &Each::None, &condition.error_message);
        }
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
        self.values.insert(node, value);
        for condition in &output.preconditions {
            self.evaluate(node, module, &Each::None, &condition.condition);
            self.evaluate(node, module, &Each::None, &condition.error_message);
        }
        self.depends_on(node, module, &output.depends_on);
        self.hang(node, module);
    }

    fn check(&mut self, module: ModuleId, name: &Str) {
        let node = self.structure.module(module).checks[name];
        let config = self.structure.module(module).config.clone();
        for condition in &config.checks[name].asserts {
            self.evaluate(node, module, &Each::None, &condition.condition);
            self.evaluate(node, module, &Each::None, &condition.error_message);
        }
        self.hang(node, module);
    }

    /// What is in a module instance hangs on the instance.
    fn hang(&mut self, node: Node, module: ModuleId) {
        if let Some(module) = self.structure.module(module).node {
            self.reads.reads.push((node, module, Span::default()));
        }
    }

    fn call(&mut self, module: ModuleId, name: &Str) {
        let config = self.structure.module(module).config.clone();
        let block = &config.calls[name];
        let id = CallId(self.structure.calls.len() as u32);
        let keys = self.structure.add(NodeKind::CallKeys(id));
        let all = self.structure.add(NodeKind::Call(id));
        let inside = self.structure.add(NodeKind::Inside(id));
        let style = Style::of(&block.repetition);
        self.structure.calls.push(CallNode {
            parent: module,
            name: name.clone(),
            style,
            keys,
            all,
            inside,
            instances: BTreeMap::new(),
            pending: false,
        });
        self.structure.modules[module.index()].calls.insert(name.clone(), id);
        self.hang(keys, module);
        self.depends_on(keys, module, &block.depends_on);
        let outer_pending = self.structure.module(module).pending;
        let known = self.repetition(keys, module, &block.repetition).filter(|_| !outer_pending);
        let has_node = style != Style::Single
            || !block.depends_on.is_empty()
            || self.structure.module(module).node.is_some();
        let pending = known.is_none();
        self.structure.calls[id.index()].pending = pending;
        let entries = known.unwrap_or_else(|| vec![(InstanceKey::None, None)]);
        for (key, each_value) in entries {
            let address = self.structure.module(module).address.child(name, key.clone());
            if self.input.config.module_of(&address).is_none() {
                continue;
            }
            let child = self.module_node(
                address,
                Some((module, id)),
                key.clone(),
                each_value,
                pending || outer_pending,
                None,
            );
            if has_node {
                let node = self.structure.add(NodeKind::Module(child));
                self.structure.modules[child.index()].node = Some(node);
                self.reads.reads.push((
                    node,
                    keys,
                    block.repetition.expression().map_or(block.declared, |it| it.span),
                ));
                let value = self.structure.module(child).each_value.clone();
                self.read_marks(node, value.as_ref(), block.declared);
            }
            self.structure.calls[id.index()].instances.insert(key, child);
        }
    }

    fn resource(&mut self, module: ModuleId, name: &ResourceName) {
        let config = self.structure.module(module).config.clone();
        let block = &config.resources[name];
        let style = Style::of(&block.repetition);
        let address = Resource {
            module: self.structure.module(module).address.clone(),
            resource: name.clone(),
        };
        let id = self.structure.add_resource(address, Some(module), style, true);
        self.wholes.resize_with(self.structure.resources.len(), OnceLock::new);
        let asked = self.asks(module, block);
        let whole = self.configuration_of(id, &asked);
        let outer_pending = self.structure.module(module).pending;
        let repetition =
            (style != Style::Single).then(|| self.structure.add(NodeKind::Repetition(id)));
        self.structure.resources[id.index()].repetition = repetition;
        let known = match repetition {
            Some(node) => {
                self.hang(node, module);
                self.repetition(node, module, &block.repetition)
            }
            None => Some(vec![(InstanceKey::None, None)]),
        };
        match known.filter(|_| !outer_pending) {
            Some(entries) => self.expanded(id, module, block, entries, (&asked, whole)),
            None => {
                let pending = self.structure.add(NodeKind::Pending(id));
                self.structure.resources[id.index()].pending = Some(pending);
                self.structure.resources[id.index()].collection = Some(pending);
                repetition
                    .into_iter()
                    .for_each(|it| self.reads.reads.push((pending, it, block.declared)));
                self.reads.reads.push((pending, whole, block.declared));
                self.served_as_pending(pending, &asked);
                self.trace_block(pending, module, &Each::Unknown, block, true);
                self.hang(pending, module);
            }
        }
    }

    fn expanded(
        &mut self,
        id: ResourceId,
        module: ModuleId,
        block: &crate::config::Resource,
        entries: Vec<(InstanceKey, Option<Value>)>,
        asked: (&providers::Asked, Node),
    ) {
        let repetition = self.structure.resource(id).repetition;
        let alike = repetition.is_some() && !uses_repetition(block);
        let mut pattern: Option<Pattern> = None;
        for (key, each_value) in entries {
            let node = self.structure.add_instance(id, key.clone());
            let place = block.repetition.expression().map_or(block.declared, |it| it.span);
            repetition.into_iter().for_each(|it| self.reads.reads.push((node, it, place)));
            let each = Each::Known(key.clone(), each_value.clone());
            self.served(node, module, &each, block, asked);
            self.read_marks(node, each_value.as_ref(), place);
            self.hang(node, module);
            match &pattern {
                Some(pattern) => self.copy_reads(pattern, node),
                None => {
                    let (reads, waits) = (self.reads.reads.len(), self.reads.waits.len());
                    self.trace_block(node, module, &each, block, false);
                    if alike {
                        pattern = Some(Pattern {
                            reads: reads..self.reads.reads.len(),
                            waits: waits..self.reads.waits.len(),
                        });
                    }
                }
            }
            if let Some(value) = each_value {
                self.structure.resources[id.index()].each_values.insert(key, value);
            }
        }
        let collection = match (repetition, self.structure.resource(id).instances.values().next()) {
            (None, Some(&only)) => only,
            _ => self.structure.add(NodeKind::Collection(id)),
        };
        self.structure.resources[id.index()].collection = Some(collection);
    }

    /// An instance whose block names neither `each` nor `count` reads what the first one reads.
    fn copy_reads(&mut self, pattern: &Pattern, node: Node) {
        for at in pattern.reads.clone() {
            let (_, to, span) = self.reads.reads[at];
            self.reads.reads.push((node, to, span));
        }
        for at in pattern.waits.clone() {
            let (_, to) = self.reads.waits[at];
            self.reads.waits.push((node, to));
        }
    }

    fn trace_block(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        block: &crate::config::Resource,
        pending: bool,
    ) {
        let address = crate::address::ConfigResource {
            module: self.structure.module(module).path.clone(),
            resource: block.name.clone(),
        };
        let imports = self
            .input
            .config
            .root()
            .imports
            .iter()
            .filter(|it| it.target().as_ref() == Some(&address));
        for it in imports.flat_map(crate::config::Import::expressions) {
            self.static_reads(node, Structure::ROOT, it, &[]);
        }
        for it in traced_uses(block) {
            if pending {
                self.static_reads(node, module, &it.expression, &it.bound);
            } else {
                self.evaluate_bound(node, module, each, &it.expression, &it.bound);
            }
        }
        if !pending {
            block
                .lifecycle
                .replace_triggered_by
                .iter()
                .for_each(|it| self.trigger(node, module, each, it));
        }
        self.depends_on(node, module, &block.depends_on);
    }

    /// A trigger is read, and remembered with the attribute it names.
    fn trigger(&mut self, node: Node, module: ModuleId, each: &Each, expression: &Expression) {
        let Some((root, steps)) = expression.as_traversal() else { return };
        let Ok(reference) = parse_reference(root, steps) else { return };
        let Subject::Resource(mode, kind, name) = &reference.subject else { return };
        let scope = TraceScope::new(self, module, each);
        let (key, path) = match reference.rest.split_first() {
            Some((Step::Index(key, _), path)) => (Some(expression::evaluate(key, &scope).0), path),
            Some((Step::LegacyIndex(index, _), path)) => (Some(Value::int(*index as i64)), path),
            _ => (None, reference.rest),
        };
        if let Some(id) = scope.resource_id(*mode, kind, name) {
            scope.resource(id, key.as_ref(), expression.span);
        }
        let log = scope.into_log();
        let targets = log.iter().map(|it| Trigger { node, target: it.target, path: path.to_vec() });
        self.reads.triggers.extend(targets.filter(|it| it.target != node));
        self.record(node, log);
    }

    fn repetition(
        &mut self,
        node: Node,
        module: ModuleId,
        repetition: &Repetition,
    ) -> Option<Vec<(InstanceKey, Option<Value>)>> {
        let Some(expression) = repetition.expression() else {
            return Some(vec![(InstanceKey::None, None)]);
        };
        let value = match self.key_set_of_bare(node, module, repetition, expression) {
            Some(value) => value,
            None => self.evaluate(node, module, &Each::None, expression),
        };
        match repetition::keys(repetition, &value) {
            Keys::Known(entries) => Some(entries),
            Keys::Unknown | Keys::Invalid(_) => None,
        }
    }

    /// `for_each = other_resource` reads the other's key set; its instances read the other's, key by key.
    fn key_set_of_bare(
        &mut self,
        node: Node,
        module: ModuleId,
        repetition: &Repetition,
        expression: &Expression,
    ) -> Option<Value> {
        let (Repetition::ForEach(_), Some((root, steps))) = (repetition, expression.as_traversal())
        else {
            return None;
        };
        let reference = parse_reference(root, steps).ok().filter(|it| it.rest.is_empty())?;
        let scope = TraceScope::new(self, module, &Each::None);
        let value = scope.key_set(&reference.subject, expression.span)?.ok();
        let log = scope.into_log();
        self.record(node, log);
        value
    }

    fn each_of_module(&self, module: ModuleId) -> Each {
        let node = self.structure.module(module);
        if node.pending {
            Each::Unknown
        } else {
            Each::Known(node.key.clone(), node.each_value.clone())
        }
    }

    fn evaluate(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        expression: &Expression,
    ) -> Value {
        self.evaluate_bound(node, module, each, expression, &[])
    }

    fn evaluate_bound(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        expression: &Expression,
        bound: &[Str],
    ) -> Value {
        let scope = TraceScope::new(self, module, each);
        let bindings: Vec<(Str, Value)> =
            bound.iter().map(|it| (it.clone(), Value::unknown(Type::DYNAMIC))).collect();
        let (mut value, problems) = expression::evaluate_with(expression, &scope, &bindings);
        if problems.has_errors() {
            // What is wrong with it is said in the walk, if it is reached; until then it may be anything.
            scope.unevaluated(expression, bound);
            let mut marks = Marks::default();
            scope
                .log
                .lock()
                .unwrap_or_else(|it| it.into_inner())
                .iter()
                .for_each(|it| marks = marks.union(&Marks::read(it.target.0)));
            value = Value::unknown(Type::DYNAMIC).mark(&marks);
        }
        let log = scope.into_log();
        self.record(node, log);
        value
    }

    fn static_reads(
        &mut self,
        node: Node,
        module: ModuleId,
        expression: &Expression,
        bound: &[Str],
    ) {
        let scope = TraceScope::new(self, module, &Each::Unknown);
        scope.unevaluated(expression, bound);
        let log = scope.into_log();
        self.record(node, log);
    }

    fn depends_on(&mut self, node: Node, module: ModuleId, expressions: &[Expression]) {
        for expression in expressions {
            let mut targets = Vec::new();
            crate::syntax::references(expression, &mut |root, steps, span| {
                if let Ok(reference) = parse_reference(root, steps) {
                    targets.push((self.whole(module, &reference.subject, true), span));
                }
            });
            for (target, span) in targets {
                target.into_iter().for_each(|it| self.reads.reads.push((node, it, span)));
            }
        }
    }

    /// The node of a whole subject.
    fn whole(&self, module: ModuleId, subject: &Subject, everything: bool) -> Option<Node> {
        let module = self.structure.module(module);
        match subject {
            Subject::Variable(name) => module.variables.get(name).copied(),
            Subject::Local(name) => module.locals.get(name).copied(),
            Subject::Module(name) => {
                let call = self.structure.call(*module.calls.get(name)?);
                Some(if everything { call.inside } else { call.all })
            }
            Subject::Resource(mode, kind, name) => {
                let name = ResourceName { mode: *mode, kind: kind.clone(), name: name.clone() };
                self.structure.resource(*module.resources.get(&name)?).collection
            }
            _ => None,
        }
    }

    /// A value's provenance is read by `node`.
    fn read_marks(&mut self, node: Node, value: Option<&Value>, place: Span) {
        if let Some(value) = value {
            value
                .deep_marks()
                .reads
                .visit(&mut |it| self.reads.reads.push((node, Node(it), place)));
        }
    }

    fn record(&mut self, node: Node, mut log: Vec<Entry>) {
        log.sort_by_key(|it| (it.target, it.how != How::Both, it.span));
        log.dedup_by_key(|it| (it.target, it.how));
        for entry in log.into_iter().filter(|it| it.target != node) {
            match entry.how {
                How::Both | How::Part => self.reads.reads.push((node, entry.target, entry.span)),
                How::Waits => self.reads.waits.push((node, entry.target)),
            }
        }
    }

    /// A collection reads its members and its key set; a whole call its outputs; everything in a call all of it.
    fn wholes_read_members(&mut self) {
        let no_place = Span::default();
        for id in 0..self.structure.resources.len() {
            let resource = &self.structure.resources[id];
            let Some(collection) = resource
                .collection
                .filter(|_| resource.pending.is_none() && resource.repetition.is_some())
            else {
                continue;
            };
            let members = resource.instances.values().copied().chain(resource.repetition);
            self.reads.reads.extend(members.map(|it| (collection, it, no_place)));
        }
        for id in 0..self.structure.calls.len() {
            let call = &self.structure.calls[id];
            let (all, inside, keys) = (call.all, call.inside, call.keys);
            self.reads.reads.extend([(all, keys, no_place), (inside, keys, no_place)]);
            for &module in call.instances.values() {
                let module = &self.structure.modules[module.index()];
                self.reads.reads.extend(module.outputs.values().map(|&it| (all, it, no_place)));
                self.reads.reads.extend(module.outputs.values().map(|&it| (inside, it, no_place)));
                let nested =
                    module.calls.values().map(|it| self.structure.calls[it.index()].inside);
                self.reads.reads.extend(nested.map(|it| (inside, it, no_place)));
                let resources = module
                    .resources
                    .values()
                    .filter_map(|it| self.structure.resources[it.index()].collection);
                self.reads.reads.extend(resources.map(|it| (inside, it, no_place)));
            }
        }
    }
}

/// Where the reads of an instance stand that its siblings share.
struct Pattern {
    reads: std::ops::Range<usize>,
    waits: std::ops::Range<usize>,
}

/// Returns whether a block's instances can differ: it names `each` or `count`.
fn uses_repetition(block: &crate::config::Resource) -> bool {
    let mut uses = false;
    for it in uses::of_resource(block)
        .iter()
        .filter(|it| !matches!(it.role, Role::Repetition | Role::DependsOn))
    {
        crate::syntax::references(&it.expression, &mut |root, _, _| {
            uses |= matches!(&*root.text, "each" | "count" | "self")
        });
    }
    uses
}

/// What an instance reads by itself: not its key set, and not what it only waits for.
fn traced_uses(block: &crate::config::Resource) -> Vec<Use<'_>> {
    let mut uses = uses::of_resource(block);
    uses.retain(|it| !matches!(it.role, Role::Repetition | Role::DependsOn | Role::Trigger));
    uses
}

/// What `each` and `count` are.
enum Each {
    None,
    Unknown,
    Known(InstanceKey, Option<Value>),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// Read as a whole.
    Both,
    /// What a part of a value was made of: read, not waited for by itself.
    Part,
    /// The value whose part is read: waited for.
    Waits,
}

#[derive(Clone)]
struct Entry {
    target: Node,
    span: Span,
    how: How,
}

struct TraceScope<'a> {
    trace: &'a Trace<'a>,
    module: ModuleId,
    each: &'a Each,
    log: Mutex<Vec<Entry>>,
}

impl<'a> TraceScope<'a> {
    fn new(trace: &'a Trace<'a>, module: ModuleId, each: &'a Each) -> TraceScope<'a> {
        TraceScope { trace, module, each, log: Mutex::default() }
    }

    fn into_log(self) -> Vec<Entry> {
        self.log.into_inner().unwrap_or_else(|it| it.into_inner())
    }

    fn note(&self, target: Node, span: Span, how: How) {
        self.log.lock().unwrap_or_else(|it| it.into_inner()).push(Entry { target, span, how });
    }

    fn resource_id(&self, mode: Mode, kind: &Str, name: &Str) -> Option<ResourceId> {
        let name = ResourceName { mode, kind: kind.clone(), name: name.clone() };
        self.trace.structure.module(self.module).resources.get(&name).copied()
    }

    fn resource(&self, id: ResourceId, key: Option<&Value>, span: Span) -> Value {
        let resource = self.trace.structure.resource(id);
        let key = key.and_then(repetition::key_of);
        if let Some(node) = key
            .as_ref()
            .filter(|_| resource.repetition.is_some())
            .and_then(|it| resource.instances.get(it))
        {
            self.note(*node, span, How::Both);
            return Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0));
        }
        let Some(collection) = resource.collection else { return Value::unknown(Type::DYNAMIC) };
        self.note(collection, span, How::Both);
        let whole =
            self.trace.wholes[id.index()].get_or_init(|| whole_resource(resource, collection));
        match key {
            // A key that is not declared: the walk says so. Here, it may be anything.
            Some(_) if resource.repetition.is_some() => {
                Value::unknown(Type::DYNAMIC).mark(&Marks::read(collection.0))
            }
            _ => whole.clone(),
        }
    }

    fn module_call(&self, name: &Str, key: Option<&Value>) -> Value {
        let structure = &self.trace.structure;
        let Some(&id) = structure.module(self.module).calls.get(name) else {
            return Value::unknown(Type::DYNAMIC);
        };
        let call = structure.call(id);
        let object = |module: &ModuleId| {
            let outputs = structure.module(*module).outputs.iter();
            Value::object(outputs.map(|(name, node)| {
                let value = self.trace.values.get(node).cloned();
                (
                    name.clone(),
                    value.unwrap_or(Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0))),
                )
            }))
        };
        if call.pending {
            return Value::unknown(Type::DYNAMIC).mark(&Marks::read(call.all.0));
        }
        if let Some(key) = key {
            return match repetition::key_of(key).and_then(|it| call.instances.get(&it)) {
                Some(module) => object(module),
                None => Value::unknown(Type::DYNAMIC).mark(&Marks::read(call.all.0)),
            };
        }
        let whole = match call.style {
            Style::Single | Style::Enabled => {
                call.instances.values().next().map_or(Value::NULL, object)
            }
            Style::Count => Value::tuple(call.instances.values().map(object).collect()),
            Style::ForEach => Value::object(
                call.instances
                    .iter()
                    .map(|(key, module)| (repetition::key_text(key), object(module))),
            ),
        };
        if call.style == Style::Single { whole } else { whole.mark(&Marks::read(call.keys.0)) }
    }
}

/// A whole resource: its keys known, everything else unknown.
fn whole_resource(resource: &super::structure::ResourceNode, collection: Node) -> Value {
    let unknown = |node: &Node| Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0));
    let Some(repetition) = resource.repetition.filter(|_| resource.pending.is_none()) else {
        return unknown(&collection);
    };
    let whole = match resource.style {
        Style::Count => Value::tuple(resource.instances.values().map(unknown).collect()),
        Style::ForEach => Value::object(
            resource.instances.iter().map(|(key, node)| (repetition::key_text(key), unknown(node))),
        ),
        Style::Single | Style::Enabled => {
            resource.instances.values().next().map_or(Value::NULL, unknown)
        }
    };
    whole.mark(&Marks::read(repetition.0))
}

impl Scope for TraceScope<'_> {
    fn lookup(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        span: Span,
    ) -> Result<Value, Diagnostics> {
        let structure = &self.trace.structure;
        let module = structure.module(self.module);
        let known = |node: Option<&Node>| {
            let value = node.and_then(|it| self.trace.values.get(it));
            value.cloned().unwrap_or(Value::unknown(Type::DYNAMIC))
        };
        Ok(match subject {
            Subject::Variable(name) => known(module.variables.get(name)),
            Subject::Local(name) => known(module.locals.get(name)),
            Subject::Module(name) => self.module_call(name, key),
            Subject::Resource(mode, kind, name) => match self.resource_id(*mode, kind, name) {
                Some(id) => self.resource(id, key, span),
                None => Value::unknown(Type::DYNAMIC),
            },
            Subject::EachKey | Subject::EachValue | Subject::CountIndex => match self.each {
                Each::Known(key, value) => repetition::each(subject, key, value.as_ref()),
                _ => Value::unknown(Type::DYNAMIC),
            },
            Subject::Path(name) => {
                repetition::path(name, &module.config.directory, self.trace.input.world)
            }
            Subject::Terraform(name) if &**name == "workspace" => {
                Value::string(self.trace.input.workspace)
            }
            Subject::Terraform(_) | Subject::SelfObject | Subject::Unknown(_) => {
                Value::unknown(Type::DYNAMIC)
            }
        })
    }

    /// Only the type matters: nothing is read.
    fn lookup_aside(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        span: Span,
    ) -> Result<Value, Diagnostics> {
        TraceScope::new(self.trace, self.module, self.each).lookup(subject, key, span)
    }

    fn reached(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        rest: &[Step],
        value: &Value,
        span: Span,
    ) {
        let structure = &self.trace.structure;
        let module = structure.module(self.module);
        let part = |whole: Node, steps_left: usize| {
            if steps_left == 0 {
                return self.note(whole, span, How::Both);
            }
            self.note(whole, span, How::Waits);
            value.deep_marks().reads.visit(&mut |it| self.note(Node(it), span, How::Part));
        };
        match subject {
            Subject::Variable(name) => {
                module.variables.get(name).into_iter().for_each(|&it| part(it, rest.len()))
            }
            Subject::Local(name) => {
                module.locals.get(name).into_iter().for_each(|&it| part(it, rest.len()))
            }
            Subject::EachValue => {
                value.deep_marks().reads.visit(&mut |it| self.note(Node(it), span, How::Part))
            }
            Subject::Module(name) => {
                let Some(&id) = module.calls.get(name) else { return };
                let call = structure.call(id);
                let instance = match key {
                    Some(key) => repetition::key_of(key).and_then(|it| call.instances.get(&it)),
                    None if call.style == Style::Single => call.instances.values().next(),
                    None => None,
                };
                let output = match rest.first() {
                    Some(Step::Attribute(name)) => {
                        instance.and_then(|it| structure.module(*it).outputs.get(&name.text))
                    }
                    _ => None,
                };
                match output.filter(|_| !call.pending) {
                    Some(&output) => part(output, rest.len() - 1),
                    None => self.note(call.all, span, How::Both),
                }
            }
            _ => {}
        }
    }

    fn unevaluated(&self, expression: &Expression, bound: &[Str]) {
        crate::syntax::references(expression, &mut |root, steps, span| {
            if bound.contains(&root.text) {
                return;
            }
            if let Ok(reference) = parse_reference(root, steps)
                && let Some(node) = self.trace.whole(self.module, &reference.subject, false)
            {
                self.note(node, span, How::Both);
            }
        });
    }

    fn key_set(&self, subject: &Subject, span: Span) -> Option<Result<Value, Diagnostics>> {
        let Subject::Resource(mode, kind, name) = subject else { return None };
        let id = self.resource_id(*mode, kind, name)?;
        let resource = self.trace.structure.resource(id);
        let repetition = resource.repetition.filter(|_| resource.pending.is_none())?;
        self.note(repetition, span, How::Both);
        Some(Ok(self.trace.wholes[id.index()]
            .get_or_init(|| whole_resource(resource, repetition))
            .clone()))
    }

    /// What a provider's function gives is only known once providers run.
    fn provider_function(&self, _: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        Ok(Arc::new(FunctionSignature {
            parameters: Vec::new(),
            variadic: Some(("arguments".into(), Type::DYNAMIC, true, true)),
            returns: Type::DYNAMIC,
            description: None,
        }))
    }

    fn call_provider_function(&self, _: &Name, _: &[Value]) -> Result<Value, Failure> {
        Ok(Value::unknown(Type::DYNAMIC))
    }

    fn world(&self) -> &World {
        self.trace.input.world
    }
}

//! What has been learned so far: the value of every object, and of every variable, local value and output on demand.
//!
//! The scheduler sees to it that whatever an expression reads is settled first; so a value, once asked for, is kept.
//! Planning and applying each fill a table of their own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use entail_rules::Node;
use entail_rules::instances::Instances;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::InstanceKey;
use crate::config::inputs::{Origin, VariableInput};
use crate::config::{self, Config};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::{self, Scope};
use crate::lower::structure::{CallId, ModuleId, NodeKind, ResourceId, Structure, Style};
use crate::schema::{self, Schema};
use crate::syntax::Expression;
use crate::value::{Deprecation, Marks, Str, Type, Value};
use crate::world::World;

mod lookup;
mod scope;

pub use scope::ValueScope;

/// What a resource that repeats is as a whole, and what it repeats over.
#[derive(Default)]
struct Repeated {
    whole: OnceLock<Value>,
    keys: OnceLock<Option<Value>>,
}

impl Repeated {
    fn of(style: Style) -> Option<Box<Repeated>> {
        matches!(style, Style::Count | Style::ForEach).then(Box::default)
    }
}

/// Returns whether a node is evaluated: a variable, a local value or an output.
fn is_evaluated(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..))
}

/// Gives the value of an object that a run leaves as it is. It is asked when somebody wants it: of most, nobody does.
pub type Settled<'a> = Box<dyn Fn(Node) -> Option<Value> + Send + Sync + 'a>;

/// Everything that expressions can refer to, as far as it is known.
pub struct Values<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The expanded configuration.
    pub structure: Structure,
    /// The root module's variables, converted and marked.
    pub variables: &'a BTreeMap<Str, Value>,
    /// Clock, environment, folders.
    pub world: &'a World,
    /// The source files, for places in messages.
    pub sources: &'a crate::diagnostic::Sources,
    /// `terraform.workspace`
    pub workspace: &'a str,
    /// The time of `plantimestamp()`; `None` while it is not decided.
    pub plan_time: Option<chrono::DateTime<chrono::Utc>>,
    /// Whether this is the walk that plans.
    pub planning: bool,
    /// Whether no provider is configured: then they may have more functions than their schemas tell.
    pub is_validating: bool,
    /// Whether the run changes no object: it records what exists.
    pub only_records: bool,
    /// Whether an instance without an object counts for nothing, for none will be made: the run only records.
    pub only_existing: bool,
    /// Whether everything is to go: an instance that is not there any more is unknown then, not wrong.
    pub all_goes: bool,
    /// The type of each resource's objects, for those that do not exist.
    pub types: Vec<Type>,
    /// The type of all outputs of each module call, for those whose instances are not known.
    pub call_types: Vec<Type>,
    /// Whether anything should not be used any more: an output of a module, a part of a resource.
    pub has_deprecated: bool,
    /// Whether a module has anything to say to a provider.
    pub has_provider_meta: bool,
    /// The schemas of resources that have parts which should not be used.
    deprecated: FxHashMap<ResourceId, Arc<Schema>>,
    /// Whether each schema, by its place in memory, has such parts: many resources share one.
    checked: FxHashMap<usize, bool>,
    /// The providers whose functions expressions may call.
    pub pool: Option<&'a super::pool::Pool>,
    /// Gives objects that are not recorded.
    pub settled: Option<Settled<'a>>,
    /// The value of each object; that of each variable, local value and output once everything that it rests on is decided.
    known: Vec<OnceLock<Value>>,
    /// Those that have no value, as has been reported.
    failed: Mutex<FxHashSet<Node>>,
    /// The values before that, and how often something had been decided then.
    early: Mutex<FxHashMap<Node, (u64, Value)>>,
    /// What is still to be decided in this run: a value that rests on it is not kept.
    waiting: Vec<AtomicBool>,
    /// How often something was decided.
    decided: AtomicU64,
    /// Of resources that repeat: most do not.
    repeated: Vec<Option<Box<Repeated>>>,
    call_keys: Vec<OnceLock<Option<Value>>>,
    problems: Mutex<Diagnostics>,
}

impl<'a> Values<'a> {
    /// Takes in what was concluded of the run as a whole.
    pub fn learn_run(&mut self, judged: &Instances) {
        self.only_records = !judged.only_records.is_empty();
        self.only_existing = !judged.only_existing.is_empty();
        self.all_goes = !judged.all_goes.is_empty();
    }

    /// Returns an empty table for a structure.
    pub fn new(
        config: &'a Config,
        structure: Structure,
        variables: &'a BTreeMap<Str, Value>,
        world: &'a World,
        sources: &'a crate::diagnostic::Sources,
    ) -> Values<'a> {
        let mut values = Values {
            config,
            structure,
            variables,
            world,
            sources,
            workspace: "default",
            plan_time: Some(world.now()),
            planning: true,
            is_validating: false,
            only_records: false,
            only_existing: false,
            all_goes: false,
            types: Vec::new(),
            call_types: Vec::new(),
            has_deprecated: config
                .written()
                .any(|it| it.outputs.values().any(|it| it.deprecated.is_some())),
            has_provider_meta: config.written().any(|it| !it.provider_metas.is_empty()),
            deprecated: FxHashMap::default(),
            checked: FxHashMap::default(),
            pool: None,
            settled: None,
            known: Vec::new(),
            failed: Mutex::default(),
            early: Mutex::default(),
            waiting: Vec::new(),
            decided: AtomicU64::new(0),
            repeated: Vec::new(),
            call_keys: Vec::new(),
            problems: Mutex::default(),
        };
        values.grow();
        values
    }

    /// Makes room for nodes and resources that were added to the structure.
    pub fn grow(&mut self) {
        self.known.resize_with(self.structure.nodes.len(), OnceLock::new);
        self.waiting.resize_with(self.structure.nodes.len(), Default::default);
        let new = self.structure.resources[self.repeated.len()..].iter();
        self.repeated.extend(new.map(|it| Repeated::of(it.style)));
        self.call_keys.resize_with(self.structure.calls.len(), OnceLock::new);
        self.types.resize(self.structure.resources.len(), Type::DYNAMIC);
        self.call_types.resize(self.structure.calls.len(), Type::DYNAMIC);
    }

    /// Notes what the schema of a resource says of its objects: their type, and what should not be used of them.
    pub fn learn(&mut self, id: ResourceId, schema: &Arc<Schema>) {
        self.types[id.index()] = schema.block.ty();
        let is_deprecated = *self
            .checked
            .entry(Arc::as_ptr(schema) as usize)
            .or_insert_with(|| schema::has_deprecations(&schema.block));
        if is_deprecated {
            self.has_deprecated = true;
            self.deprecated.insert(id, schema.clone());
        }
    }

    /// Returns what was evaluated: local values, and variables and outputs of called modules, by number.
    pub fn evaluated(&self) -> impl Iterator<Item = (Node, Value)> {
        let known = self.structure.nodes.iter().zip(&self.known).enumerate();
        known.filter_map(|(number, (kind, value))| {
            let is_wanted = match kind {
                NodeKind::Variable(module, _) | NodeKind::Output(module, _) => {
                    *module != Structure::ROOT
                }
                kind => is_evaluated(kind),
            };
            let value = value.get().filter(|_| is_wanted)?;
            Some((Node(number as u32), value.clone()))
        })
    }

    /// Lets go of all values, when nobody asks for one any more.
    pub fn let_go(&mut self) {
        self.known = Vec::new();
    }

    /// Returns for how many nodes there is room.
    pub fn nodes(&self) -> usize {
        self.known.len()
    }

    /// Records an object's value, or what a variable, local value or output is taken for; the first one stays.
    pub fn record(&self, node: Node, value: Value) {
        let _ = self.known[node.0 as usize].set(value);
    }

    /// Records null for everything that stands for instances which are not known yet: it is no object.
    pub fn record_pending(&self) {
        for (id, kind) in self.structure.nodes.iter().enumerate() {
            if matches!(kind, NodeKind::Pending(_)) {
                self.record(Node(id as u32), Value::NULL);
            }
        }
        let pending = self.structure.resources.iter().filter_map(|it| it.besides.pending);
        pending.for_each(|it| self.record(it, Value::NULL));
    }

    /// Says that something is still to be decided in this run.
    pub fn wait_for(&self, node: Node) {
        self.waiting[node.0 as usize].store(true, Ordering::Relaxed);
    }

    /// Says that something is decided: it has its value, or will have none.
    pub fn decide(&self, node: Node) {
        if self.waiting[node.0 as usize].swap(false, Ordering::Relaxed) {
            self.decided.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn is_waiting(&self, node: Node) -> bool {
        self.waiting[node.0 as usize].load(Ordering::Relaxed)
    }

    /// Returns an object's value, if it has one.
    pub fn object(&self, node: Node) -> Option<&Value> {
        let object = &self.known[node.0 as usize];
        match (object.get(), &self.settled) {
            (None, Some(settled)) => {
                let value = settled(node)?;
                Some(object.get_or_init(|| value))
            }
            (known, _) => known,
        }
    }

    /// Forgets what was computed from a pending resource or call that has now been expanded.
    pub fn forget_whole(&mut self, resource: ResourceId) {
        let style = self.structure.resource(resource).style;
        self.repeated[resource.index()] = Repeated::of(style);
    }

    /// Takes the problems that were met while evaluating variables, local values and outputs.
    pub fn take_problems(&self) -> Diagnostics {
        std::mem::take(&mut self.problems.lock())
    }

    /// Adds a problem that was met on the way.
    pub fn report(&self, problems: impl IntoIterator<Item = Diagnostic>) {
        let mut problems = problems.into_iter().peekable();
        // Mostly there is none, of a million objects.
        if problems.peek().is_some() {
            self.problems.lock().extend(problems);
        }
    }

    /// Returns the scope of a module instance.
    pub fn scope(&self, module: ModuleId) -> ValueScope<'_, 'a> {
        ValueScope { values: self, module, each: None, own: None, given: None, is_console: false }
    }

    /// Returns the scope of a module instance's inputs: the calling module, with the call's `each` and `count`.
    pub fn call_scope(&self, module: ModuleId) -> Option<ValueScope<'_, 'a>> {
        let node = self.structure.module(module);
        let (parent, call) = node.parent?;
        let each_value = self.module_each_value(module, call);
        Some(self.scope(parent).with_each(node.key.clone(), each_value))
    }

    fn module_each_value(&self, module: ModuleId, call: CallId) -> Option<Value> {
        let parent = self.structure.call(call).parent;
        let block = self.structure.call_block(call)?;
        let whole =
            kept(&self.call_keys[call.index()], || self.for_each_value(parent, &block.repetition));
        each_of(whole.as_ref()?, &self.structure.module(module).key)
    }

    /// Returns `each.value` of an instance of a resource, from the `for_each` expression as it evaluates now.
    pub fn each_value(&self, resource: ResourceId, key: &InstanceKey) -> Option<Value> {
        let module = self.structure.resource(resource).module?;
        let block = self.structure.block(resource)?;
        let whole = || self.for_each_value(module, &block.besides.repetition);
        match &self.repeated[resource.index()] {
            Some(it) => each_of(kept(&it.keys, whole).as_ref()?, key),
            None => each_of(&whole()?, key),
        }
    }

    fn for_each_value(&self, module: ModuleId, repetition: &config::Repetition) -> Option<Value> {
        let config::Repetition::ForEach(expression) = repetition else { return None };
        let (value, problems) = expression::evaluate(expression, &self.scope(module));
        (!problems.has_errors()).then_some(value)
    }

    /// Returns the value of a variable, local value or output, evaluated when first asked for.
    ///
    /// The error is empty: the problem has been reported.
    pub fn value(&self, node: Node) -> Result<Value, Diagnostics> {
        if !is_evaluated(self.structure.kind(node)) {
            return Ok(Value::unknown(Type::DYNAMIC));
        }
        let known = &self.known[node.0 as usize];
        if let Some(value) = known.get() {
            return Ok(value.clone());
        }
        if self.failed.lock().contains(&node) {
            return Err(Diagnostics::new());
        }
        let decided = self.decided.load(Ordering::Relaxed);
        if let Some(early) = self.early.lock().get(&node).filter(|it| it.0 == decided) {
            return Ok(early.1.clone());
        }
        match self.evaluate_value(node) {
            // Nothing that waits for it asks for it now: it came along with something else.
            Ok(value) if value.is_early() => {
                self.early.lock().insert(node, (decided, value.clone()));
                Ok(value)
            }
            Ok(value) => {
                self.early.lock().remove(&node);
                Ok(known.get_or_init(|| value).clone())
            }
            Err(problems) => {
                self.report(problems);
                self.failed.lock().insert(node);
                Err(Diagnostics::new())
            }
        }
    }

    fn evaluate_value(&self, node: Node) -> Result<Value, Diagnostics> {
        match self.structure.kind(node) {
            NodeKind::Variable(module, name) => self.variable(*module, name),
            NodeKind::Local(module, name) => {
                let local = &self.structure.module(*module).config.locals[name];
                evaluate(self, &local.value, &self.scope(*module))
            }
            NodeKind::Output(module, name) => {
                let output = &self.structure.module(*module).config.outputs[name];
                let value = evaluate(self, &output.value, &self.scope(*module))?;
                let marks = Marks {
                    sensitive: output.sensitive,
                    ephemeral: output.ephemeral,
                    ..match (&output.deprecated, self.structure.module(*module).parent) {
                        (Some(advice), Some((_, call))) => {
                            let key = &self.structure.module(*module).key;
                            let call = &self.structure.call(call).name;
                            Marks::deprecated(Deprecation {
                                source: format!("module.{call}{key}.{name}").into(),
                                advice: advice.clone(),
                                is_remote: self.structure.module(*module).config.is_remote,
                            })
                        }
                        _ => Marks::default(),
                    }
                };
                Ok(value.mark(&marks))
            }
            _ => Ok(Value::unknown(Type::DYNAMIC)),
        }
    }

    fn variable(&self, module: ModuleId, name: &Str) -> Result<Value, Diagnostics> {
        let node = self.structure.module(module);
        if node.parent.is_none() {
            return Ok(self.variables.get(name).cloned().unwrap_or(Value::unknown(Type::DYNAMIC)));
        }
        let variable = &node.config.variables[name];
        let node_of_variable = node.variables[name];
        let (_, call) = node.parent.expect("not the root");
        let input = self.structure.call_block(call).and_then(|it| it.inputs.get(name));
        let value = match (input, self.call_scope(module)) {
            (Some(input), Some(scope)) => Some(evaluate(self, &input.value, &scope)?),
            _ => None,
        };
        let address = self.structure.named(node_of_variable);
        let input = value.map(|value| VariableInput {
            value,
            origin: Origin::Call(input.map_or(variable.declared, |it| it.value.span)),
        });
        config::inputs::finish(variable, &address, input.as_ref(), self.sources)
    }
}

/// Returns what a cell holds, or computes it and keeps it unless something that it rests on is still to be decided.
fn kept(cell: &OnceLock<Option<Value>>, compute: impl FnOnce() -> Option<Value>) -> Option<Value> {
    if let Some(known) = cell.get() {
        return known.clone();
    }
    let value = compute();
    match value.as_ref().is_some_and(Value::is_early) {
        true => value,
        false => cell.get_or_init(|| value).clone(),
    }
}

/// Returns `each.value` of a key in a collection.
pub(super) fn each_of(whole: &Value, key: &InstanceKey) -> Option<Value> {
    let InstanceKey::Str(key) = key else { return None };
    match whole.bare() {
        Value::Set(_) => Some(Value::String(key.clone())),
        _ => whole.get(key).cloned(),
    }
}

/// Evaluates; errors as the error, warnings to the table.
fn evaluate(
    values: &Values<'_>,
    expression: &Expression,
    scope: &dyn Scope,
) -> Result<Value, Diagnostics> {
    let (value, problems) = expression::evaluate(expression, scope);
    if problems.has_errors() {
        return Err(problems);
    }
    values.report(problems);
    Ok(value)
}

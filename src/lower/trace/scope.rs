//! What names mean while the structure is traced: what can be known is, and every lookup is noted.

use std::sync::Arc;

use entail_rules::Node;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::Trace;
use crate::address::{InstanceKey, ResourceNameRef};
use crate::config::expansion;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::functions::Failure;
use crate::expression::{Around, Ask, Declared, Reached, Scope, Subject, free_reference};
use crate::lower::Structure;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId, ResourceNode, Style};
use crate::schema::FunctionSignature;
use crate::syntax::{Expression, Name, Step};
use crate::value::{Marks, Str, Type, Value};
use crate::world::World;

/// What `each` and `count` are.
pub(super) enum Each {
    None,
    Unknown,
    Known(InstanceKey, Option<Value>),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// Read as a whole.
    Both,
    /// What a part of a value was made of: read, not waited for by itself.
    Part,
    /// The value whose part is read: waited for.
    Waits,
}

#[derive(Clone)]
pub(super) struct Entry {
    pub target: Node,
    pub span: Span,
    pub how: How,
}

pub(super) struct TraceScope<'a> {
    trace: &'a Trace<'a>,
    module: ModuleId,
    each: &'a Each,
    log: Mutex<Vec<Entry>>,
    gone_through: Mutex<GoneThrough>,
}

/// What a `for` or a splat goes through.
#[derive(Default)]
struct GoneThrough {
    /// Resources that are read as a whole.
    resources: FxHashSet<ResourceId>,
    /// Values, each with all that its elements are derived from.
    values: Vec<(Node, Span, Marks)>,
}

impl<'a> TraceScope<'a> {
    pub fn new(trace: &'a Trace<'a>, module: ModuleId, each: &'a Each) -> TraceScope<'a> {
        TraceScope { trace, module, each, log: Mutex::default(), gone_through: Mutex::default() }
    }

    /// Returns what was read. Where all elements of a value were looked at, the value was read as a whole: that is one read
    /// instead of one for each element.
    pub fn into_log(self) -> Vec<Entry> {
        let mut log = self.log.into_inner();
        let GoneThrough { resources, values } = self.gone_through.into_inner();
        let parts: FxHashSet<Node> =
            log.iter().filter(|it| it.how == How::Part).map(|it| it.target).collect();
        if parts.is_empty() && values.is_empty() {
            return log;
        }
        let mut covered = FxHashSet::default();
        let mut wholes = Vec::new();
        for (target, span, marks) in values {
            let mut sources = Vec::new();
            marks.reads.visit(&mut |it| sources.push(Node(it)));
            if sources.iter().all(|it| parts.contains(it)) {
                covered.extend(sources);
                wholes.push(Entry { target, span, how: How::Both });
            }
        }
        let structure = &self.trace.structure;
        covered
            .extend(resources.iter().filter_map(|it| structure.resource(*it).besides.repetition));
        let is_covered = |it: &Entry| {
            let object = structure.kind(it.target).object();
            covered.contains(&it.target) || object.is_some_and(|it| resources.contains(&it.0))
        };
        log.retain(|it| it.how != How::Part || !is_covered(it));
        log.extend(wholes);
        log
    }

    pub fn note(&self, target: Node, span: Span, how: How) {
        self.log.lock().push(Entry { target, span, how });
    }

    /// Notes what a part of a value is derived from.
    fn note_parts(&self, marks: &Marks, span: Span) {
        marks.reads.visit(&mut |it| self.note(Node(it), span, How::Part));
    }

    pub fn resource_id(&self, name: ResourceNameRef<'_>) -> Option<ResourceId> {
        self.trace.structure.resource_in(self.module, name)
    }

    pub fn resource(&self, id: ResourceId, ask: Ask<'_>) -> Value {
        let note = |node: Node| {
            if !ask.is_aside {
                self.note(node, ask.span, How::Both);
            }
        };
        let resource = self.trace.structure.resource(id);
        let counted = resource.style == Style::Count;
        let key = ask.key.and_then(|it| expansion::key_for(it, counted));
        if let Some(key) = key.as_ref().filter(|_| resource.besides.repetition.is_some()) {
            match self.instance(id, key) {
                Some(node) => {
                    note(node);
                    return Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0));
                }
                None if self.trace.may_have(id, key) => self.trace.named_by(id, key),
                None => {}
            }
        }
        let Some(collection) = resource.collection else { return Value::unknown(Type::DYNAMIC) };
        note(collection);
        if !ask.is_aside {
            self.gone_through.lock().resources.insert(id);
        }
        let whole =
            self.trace.wholes[id.index()].get_or_init(|| whole_resource(resource, collection));
        match key {
            // A key that is not declared: the walk says so. Here, it may be anything.
            Some(_) if resource.besides.repetition.is_some() => {
                Value::unknown(Type::DYNAMIC).mark(&Marks::read(collection.0))
            }
            _ => whole.clone(),
        }
    }

    /// The node of an instance that is declared, or may be.
    fn instance(&self, id: ResourceId, key: &InstanceKey) -> Option<Node> {
        let resource = self.trace.structure.resource(id);
        let open = resource.besides.others.get(key).filter(|_| resource.besides.pending.is_some());
        resource.instances.get(key).or(open).copied()
    }

    /// The outputs of a module instance; where only one of them is wanted, no other.
    fn outputs(&self, module: ModuleId, part: Option<&Str>) -> Value {
        let outputs = &self.trace.structure.module(module).outputs;
        let value = |(name, node): (&Str, &Node)| {
            let value = self.trace.values.get(*node).cloned();
            let unknown = || Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0));
            (name.clone(), value.unwrap_or_else(unknown))
        };
        match part.and_then(|it| Some((it, outputs.get(it)?))) {
            Some(only) => Value::object([value(only)]),
            None => Value::object(outputs.iter().map(value)),
        }
    }

    fn module_call(&self, name: &Str, ask: Ask<'_>) -> Value {
        let structure = &self.trace.structure;
        let Some(id) = structure.call_named(self.module, name, ask.near) else {
            return Value::unknown(Type::DYNAMIC);
        };
        let (call, key) = (structure.call(id), ask.key);
        if call.pending {
            let key = key.and_then(|it| expansion::key_for(it, call.style == Style::Count));
            if let Some(module) = key.as_ref().and_then(|it| call.named.get(it)) {
                return self.outputs(*module, ask.part);
            }
            key.into_iter().for_each(|it| self.trace.call_named_by(id, it));
            return Value::unknown(Type::DYNAMIC).mark(&Marks::read(call.all.0));
        }
        if let Some(key) = key {
            let wanted = expansion::key_for(key, call.style == Style::Count);
            return match wanted.and_then(|it| call.instances.get(&it)) {
                Some(module) => self.outputs(*module, ask.part),
                None => Value::unknown(Type::DYNAMIC).mark(&Marks::read(call.all.0)),
            };
        }
        let whole = |module: &ModuleId| self.outputs(*module, None);
        let whole = match call.style {
            Style::Single | Style::Enabled => {
                let only = call.instances.values().next();
                only.map_or(Value::NULL, |it| self.outputs(*it, ask.part))
            }
            Style::Count => Value::tuple(call.instances.values().map(whole).collect()),
            Style::ForEach => Value::object(
                call.instances
                    .iter()
                    .map(|(key, module)| (expansion::key_text(key), whole(module))),
            ),
        };
        if call.style == Style::Single { whole } else { whole.mark(&Marks::read(call.keys.0)) }
    }
}

/// A whole resource: its keys known, everything else unknown.
fn whole_resource(resource: &ResourceNode, collection: Node) -> Value {
    let unknown = |node: &Node| Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0));
    let Some(repetition) =
        resource.besides.repetition.filter(|_| resource.besides.pending.is_none())
    else {
        return unknown(&collection);
    };
    let whole = match resource.style {
        Style::Count => Value::tuple(resource.instances.values().map(unknown).collect()),
        Style::ForEach => Value::object(
            resource.instances.iter().map(|(key, node)| (expansion::key_text(key), unknown(node))),
        ),
        Style::Single | Style::Enabled => {
            resource.instances.values().next().map_or(Value::NULL, unknown)
        }
    };
    whole.mark(&Marks::read(repetition.0))
}

impl Scope for TraceScope<'_> {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let module = self.trace.structure.module(self.module);
        let value = |node: Option<&Node>| node.and_then(|it| self.trace.values.get(*it)).cloned();
        let found = match what {
            Declared::Variable(name) => value(module.variables.get(name)),
            Declared::Local(name) => value(module.besides.locals.get(name)),
            Declared::Module(name) => Some(self.module_call(name, ask)),
            Declared::Resource(name) => {
                let id = self.trace.structure.resource_named(self.module, name, ask.near);
                id.map(|it| self.resource(it, ask))
            }
        };
        Ok(found.unwrap_or(Value::unknown(Type::DYNAMIC)))
    }

    fn around(&self) -> Around<'_> {
        Around {
            directory: Some(&self.trace.structure.module(self.module).config.directory),
            root: Some(&self.trace.structure.module(Structure::ROOT).config.directory),
            workspace: Some(self.trace.input.workspace),
            each: match self.each {
                Each::Known(key, value) => Some((key, value.as_ref())),
                Each::None | Each::Unknown => None,
            },
            ..Around::default()
        }
    }

    /// The walk says what is wrong with it. Here, it may be anything.
    fn absent(&self, _: Subject<'_>, _: Span) -> Result<Value, Diagnostics> {
        Ok(Value::unknown(Type::DYNAMIC))
    }

    fn reached(&self, reached: &Reached<'_>) {
        let Reached { reference, key, rest, value, by_element } = *reached;
        let span = reference.span;
        // Of what is gone through, the keys are read here, and the elements where they are looked at.
        let marks = || match by_element {
            true => self.stand_in(value).map_or_else(|| value.marks(), |it| it.1),
            false => value.deep_marks(),
        };
        let structure = &self.trace.structure;
        let module = structure.module(self.module);
        let part = |whole: Node, steps_left: usize| {
            if steps_left == 0 && !by_element {
                return self.note(whole, span, How::Both);
            }
            self.note(whole, span, How::Waits);
            self.note_parts(&marks(), span);
            if by_element && steps_left == 0 {
                self.gone_through.lock().values.push((whole, span, value.deep_marks()));
            }
        };
        match reference.subject {
            Subject::Variable(name) => {
                module.variables.get(name).into_iter().for_each(|&it| part(it, rest.len()))
            }
            Subject::Local(name) => {
                module.besides.locals.get(name).into_iter().for_each(|&it| part(it, rest.len()))
            }
            Subject::EachValue => self.note_parts(&marks(), span),
            Subject::Module(name) => {
                let found = structure.call_named(self.module, name, reference.near());
                let Some(id) = found else { return };
                let call = structure.call(id);
                let instance = match key {
                    Some(key) => expansion::key_for(key, call.style == Style::Count)
                        .and_then(|it| call.instances.get(&it).or(call.named.get(&it))),
                    None if call.style == Style::Single => call.instances.values().next(),
                    None => None,
                };
                let output = match rest.first() {
                    Some(Step::Attribute(name)) => {
                        instance.and_then(|it| structure.module(*it).outputs.get(&name.text))
                    }
                    _ => None,
                };
                match output.filter(|_| !call.pending || key.is_some()) {
                    Some(&output) => part(output, rest.len() - 1),
                    None if by_element && rest.is_empty() && !call.pending => part(call.all, 0),
                    None if by_element && self.stand_in(value).is_some() => {
                        self.note(call.all, span, How::Waits);
                        self.note(call.keys, span, How::Part);
                    }
                    None => self.note(call.all, span, How::Both),
                }
            }
            _ => {}
        }
    }

    fn reached_of_element(&self, value: &Value, span: Span) {
        self.note_parts(&value.deep_marks(), span);
    }

    /// Of a module call whose keys are not known yet, the outputs of what stands for its instances.
    fn stand_in(&self, collection: &Value) -> Option<(Value, Marks)> {
        let structure = &self.trace.structure;
        matches!(collection.bare(), Value::Unknown(_)).then_some(())?;
        let mut read = Vec::new();
        collection.marks().reads.visit(&mut |it| read.push(Node(it)));
        let [only] = read[..] else { return None };
        let NodeKind::Call(id) = structure.kind(only) else { return None };
        let call = structure.call(*id);
        let is_several = matches!(call.style, Style::Count | Style::ForEach);
        let module = call.instances.values().next().filter(|_| call.pending && is_several)?;
        let unknown = |node: &Node| Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0));
        let outputs = structure.module(*module).outputs.iter();
        let element = Value::object(outputs.map(|(name, node)| (name.clone(), unknown(node))));
        Some((element, Marks::read(call.keys.0)))
    }

    fn unevaluated(&self, expression: &Expression, bound: &[Str]) -> Marks {
        let mut marks = Marks::default();
        crate::syntax::references(expression, &mut |root, steps, span| {
            if let Some(Ok(reference)) = free_reference(root, steps, bound)
                && let Some(node) = self.trace.structure.whole(self.module, reference.subject)
            {
                self.note(node, span, How::Both);
                marks = marks.union(&Marks::read(node.0));
            }
        });
        marks
    }

    fn key_set(&self, subject: Subject<'_>, span: Span) -> Option<Result<Value, Diagnostics>> {
        let Subject::Resource(name) = subject else { return None };
        let id = self.resource_id(name)?;
        let resource = self.trace.structure.resource(id);
        let repetition = resource.besides.repetition?;
        self.note(repetition, span, How::Both);
        if let Some(pending) = resource.besides.pending {
            // Its keys are there once they have been expanded.
            self.note(pending, span, How::Waits);
            return Some(Ok(Value::unknown(Type::DYNAMIC).mark(&Marks::read(repetition.0))));
        }
        if resource.collection.is_none() {
            // It asks for its own keys: they are not there yet.
            return Some(Ok(Value::unknown(Type::DYNAMIC).mark(&Marks::read(repetition.0))));
        }
        Some(Ok(self.trace.wholes[id.index()]
            .get_or_init(|| whole_resource(resource, repetition))
            .clone()))
    }

    /// What a provider's function gives is only known once providers run.
    fn provider_function(&self, _: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        Ok(Arc::new(FunctionSignature::anything()))
    }

    fn call_provider_function(&self, _: &Name, _: &[Value]) -> Result<Value, Failure> {
        Ok(Value::unknown(Type::DYNAMIC))
    }

    fn world(&self) -> &World {
        self.trace.input.world
    }
}

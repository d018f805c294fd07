//! What one expression reads, and what hangs on what.

use entail_rules::Node;

use super::{Each, Entry, How, Trace, TraceScope};
use crate::address::InstanceKey;
use crate::config::expansion::{self, Keys};
use crate::config::{Condition, Repetition};
use crate::diagnostic::Span;
use crate::expression::{self, Scope, parse_reference};
use crate::lower::structure::{CallId, ModuleId, ResourceId};
use crate::syntax::Expression;
use crate::value::{Marks, Str, Type, Value};

impl Trace<'_> {
    pub(super) fn repetition(
        &mut self,
        node: Node,
        module: ModuleId,
        repetition: &Repetition,
    ) -> Option<Vec<(InstanceKey, Option<Value>)>> {
        let Some(expression) = repetition.expression() else {
            return Some(vec![(InstanceKey::None, None)]);
        };
        if self.reads.problems.has_errors() {
            // There will be no plan; what is too much already does not become more.
            return Some(Vec::new());
        }
        let value = match self.key_set_of_bare(node, module, repetition, expression) {
            Some(value) => value,
            None => self.evaluate(node, module, &Each::None, expression),
        };
        let value = self.known_repetition(module, expression.span).unwrap_or(value);
        self.record_keys(node, &value);
        match expansion::keys(repetition, &value) {
            Keys::Known(entries) => Some(match self.structure.has_room_for(entries.len()) {
                true => entries,
                false => self.too_many(entries.len(), expression.span),
            }),
            Keys::Unknown | Keys::Invalid(_) => None,
        }
    }

    /// Says once that there are more instances than a plan holds, and goes on without those that do not fit.
    fn too_many(&mut self, asked: usize, at: Span) -> Vec<(InstanceKey, Option<Value>)> {
        if !self.reads.problems.has_errors() {
            let asked = self.structure.size() + asked;
            self.reads.problems.push(expansion::too_many(asked).at(at));
        }
        Vec::new()
    }

    /// `for_each = other_resource` reads the other's key set; its instances read the other's, key by key.
    pub(super) fn key_set_of_bare(
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
        let value = scope.key_set(reference.subject, expression.span)?.ok();
        let log = scope.into_log();
        self.record_derived(node, log);
        value
    }

    pub(super) fn each_of_module(&self, module: ModuleId) -> Each {
        let node = self.structure.module(module);
        if node.pending && node.key == InstanceKey::None {
            Each::Unknown
        } else {
            Each::Known(node.key.clone(), node.besides.each_value.clone())
        }
    }

    pub(super) fn evaluate(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        expression: &Expression,
    ) -> Value {
        let scope = TraceScope::new(self, module, each);
        let (value, problems) = expression::evaluate(expression, &scope);
        if !problems.has_errors() {
            let log = scope.into_log();
            if self.name_all() {
                return self.evaluate(node, module, each, expression);
            }
            self.record_derived(node, log);
            return value;
        }
        // What is wrong with it is said in the walk, if it is reached; until then it may be anything.
        scope.unevaluated(expression, &[]);
        let log = scope.into_log();
        let marks: Marks = log.iter().map(|it| Marks::read(it.target.0)).collect();
        self.record_derived(node, log);
        Value::unknown(Type::DYNAMIC).mark(&marks)
    }

    /// Notes what is read by an expression whose value nobody asks for.
    pub(super) fn go_through(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        expression: &Expression,
        bound: &[Str],
    ) {
        let scope = TraceScope::new(self, module, each);
        let unknown = |it: &Str| (it.clone(), Value::unknown(Type::DYNAMIC));
        let bindings: Vec<(Str, Value)> = bound.iter().map(unknown).collect();
        if expression::go_through(expression, &scope, &bindings).has_errors() {
            scope.unevaluated(expression, bound);
        }
        let log = scope.into_log();
        if self.name_all() {
            return self.go_through(node, module, each, expression, bound);
        }
        self.record(node, log);
    }

    /// Notes what conditions read.
    pub(super) fn conditions(&mut self, node: Node, module: ModuleId, conditions: &[Condition]) {
        for expression in conditions.iter().flat_map(|it| [&it.condition, &it.error_message]) {
            self.go_through(node, module, &Each::None, expression, &[]);
        }
    }

    pub(super) fn static_reads(
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

    pub(super) fn depends_on(&mut self, node: Node, module: ModuleId, expressions: &[Expression]) {
        for expression in expressions {
            let mut targets = Vec::new();
            crate::syntax::references(expression, &mut |root, steps, span| {
                if let Ok(reference) = parse_reference(root, steps) {
                    targets.push((self.structure.depended_on(module, &reference), span));
                }
            });
            for (target, span) in targets {
                target.into_iter().for_each(|it| self.reads.reads.push((node, it, span)));
            }
        }
    }

    /// The objects that a value was made of are read by `node`.
    pub(super) fn read_marks(&mut self, node: Node, value: Option<&Value>, place: Span) {
        if let Some(value) = value {
            value.deep_marks().reads.visit(&mut |it| {
                if !self.is_followed(Node(it)) {
                    self.reads.reads.push((node, Node(it), place));
                }
            });
        }
    }

    pub(super) fn record(&mut self, node: Node, mut log: Vec<Entry>) {
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
    pub(super) fn wholes_read_members(
        &mut self,
        resources: impl IntoIterator<Item = ResourceId>,
        calls: impl IntoIterator<Item = CallId>,
    ) {
        let no_place = Span::default();
        for id in resources {
            let resource = self.structure.resource(id);
            let Some(collection) = resource
                .collection
                .filter(|_| resource.besides.repetition.or(resource.besides.pending).is_some())
            else {
                continue;
            };
            let members = resource.instances.values().chain(&resource.besides.pending).copied();
            let members = members.chain(resource.besides.repetition).filter(|it| *it != collection);
            self.reads.reads.extend(members.map(|it| (collection, it, no_place)));
        }
        for id in calls {
            let call = self.structure.call(id);
            let (all, inside, keys) = (call.all, call.inside, call.keys);
            let wholes = [all].into_iter().chain(inside).chain(call.given.values().copied());
            self.reads.reads.extend(wholes.filter(|it| *it != keys).map(|it| (it, keys, no_place)));
            for &module in call.instances.values() {
                let module = &self.structure.modules[module.index()];
                self.reads.reads.extend(module.outputs.values().map(|&it| (all, it, no_place)));
                let given = |it: (&Str, &Node)| Some((*it.1, *module.outputs.get(it.0)?, no_place));
                self.reads.reads.extend(call.given.iter().filter_map(given));
                let Some(inside) = inside else { continue };
                self.reads.reads.extend(module.outputs.values().map(|&it| (inside, it, no_place)));
                let calls = module.besides.calls.all();
                let nested = calls.filter_map(|it| self.structure.calls[it.index()].inside);
                self.reads.reads.extend(nested.map(|it| (inside, it, no_place)));
                let resources = module
                    .resources
                    .iter()
                    .filter_map(|it| self.structure.resources[it.index()].collection);
                self.reads.reads.extend(resources.map(|it| (inside, it, no_place)));
            }
        }
    }
}

//! Calls of functions that give another value each time, and the arguments of managed resources that are computed from them.

use std::borrow::Cow;

use entail_rules::Definition;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Argument, Lowered, Session};
use crate::address::Mode;
use crate::config::uses::{self, Role, Use};
use crate::config::{IgnoreChanges, Resource};
use crate::expression::{Reference, Subject, base_name, free_reference};
use crate::lower::BlockGraph;
use crate::lower::blocks::{BlockKey, VariantId};
use crate::observe::pool::Pool;
use crate::syntax::{Body, Expr, Expression, Found, Item, Name, Step, found};
use crate::value::Str;

/// Writes `calls_impure`, `computed_from`, `item_of`, `managed_argument` and `ignored_argument`.
pub(super) fn lower(session: &Session, pool: &Pool, lowered: &mut Lowered) {
    let graph = &session.graph;
    let mut defined = Vec::new();
    for (module, _) in graph.modules.iter() {
        define_values(graph, module, &mut defined);
    }
    let items = defined.iter().filter(|it| it.key.part.is_some()).map(|it| it.key.clone());
    let items = items.collect();
    let values = defined.len();
    for (module, _) in graph.modules.iter() {
        define_arguments(graph, module, &mut defined);
    }
    let mut writer = Writer { graph, items, numbers: FxHashMap::default(), lowered };
    for (at, it) in defined.iter().enumerate() {
        let number = writer.number(&it.key);
        if at < values {
            writer.item(it, number);
        } else {
            writer.argument(it, number, pool);
        }
        it.uses.iter().for_each(|expression| writer.expression(it.module, number, expression));
    }
}

/// What a definition belongs to: a local value, an output or a variable, or one item of the object that is written there; or an
/// argument of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The number of the block.
    block: usize,
    /// The key of the item, or the name of the argument.
    part: Option<Str>,
}

/// A definition with its expressions.
struct Defined<'a> {
    key: Key,
    /// The module in which the expressions are evaluated.
    module: VariantId,
    uses: Vec<Use<'a>>,
}

/// Adds the values of a module: local values, outputs, and what its calls give to variables.
fn define_values<'a>(graph: &'a BlockGraph, module: VariantId, all: &mut Vec<Defined<'a>>) {
    let code = &graph.modules[module];
    for (name, it) in &code.config.locals {
        let block = graph.find(module, &BlockKey::Local(name.clone()));
        block.into_iter().for_each(|block| define(block, module, &it.value, all));
    }
    for (name, it) in &code.config.outputs {
        let block = graph.find(module, &BlockKey::Output(name.clone()));
        block.into_iter().for_each(|block| define(block, module, &it.value, all));
    }
    for (place, call) in code.config.calls.values().enumerate() {
        for called in graph.modules.called(module, code.first_call() + place) {
            for (name, input) in call.inputs.iter() {
                let block = graph.find(called, &BlockKey::Variable(name.clone()));
                block.into_iter().for_each(|block| define(block, module, &input.value, all));
            }
        }
    }
}

/// Adds a value. The items of an object that is written out are definitions of their own, as far as their keys are.
fn define<'a>(
    block: usize,
    module: VariantId,
    expression: &'a Expression,
    all: &mut Vec<Defined<'a>>,
) {
    let mut whole = Vec::new();
    match object(expression) {
        None => whole.push(uses::of_value(expression)),
        Some(items) => {
            for item in items {
                let value = uses::of_value(&item.value);
                match item.key.as_static_string() {
                    Some(name) => {
                        let key = Key { block, part: Some(name.clone()) };
                        all.push(Defined { key, module, uses: vec![value] });
                    }
                    None => whole.push(value),
                }
            }
        }
    }
    all.push(Defined { key: Key { block, part: None }, module, uses: whole });
}

/// Returns the items of an object that is written out.
fn object(expression: &Expression) -> Option<&[Item]> {
    match &expression.expr {
        Expr::Object(items) => Some(items),
        Expr::Parentheses(inner) => object(inner),
        _ => None,
    }
}

/// Adds the arguments of the managed resources of a module.
fn define_arguments<'a>(graph: &'a BlockGraph, module: VariantId, all: &mut Vec<Defined<'a>>) {
    let code = &graph.modules[module];
    for (place, it) in code.config.resources.values().enumerate() {
        if it.name.mode == Mode::Managed && !it.besides.generated {
            let block = code.first_resource() + place;
            let defined =
                |(name, uses)| Defined { key: Key { block, part: Some(name) }, module, uses };
            all.extend(arguments(&it.body).into_iter().map(defined));
        }
    }
}

/// Returns the expressions of each argument and block of a body, at the top level.
fn arguments(body: &Body) -> Vec<(Str, Vec<Use<'_>>)> {
    let mut all: Vec<(Str, Vec<Use<'_>>)> = Vec::new();
    for it in &body.attributes {
        all.push((it.name.text.clone(), vec![uses::of_value(&it.value)]));
    }
    for block in &body.blocks {
        // A `dynamic` block makes blocks of the type that its label says.
        let label = block.labels.first().filter(|_| &*block.kind.text == "dynamic");
        let name = label.unwrap_or(&block.kind).text.clone();
        all.push((name, uses::of_body(&block.body, Role::Value)));
    }
    if let Some(json) = &body.json {
        let members = Body { json: Some(json.clone()), span: body.span, ..Body::default() };
        for it in members.just_attributes().0 {
            let expression = Cow::Owned(it.value);
            let value = Use { expression, role: Role::Value, bound: Vec::new() };
            all.push((it.name.text, vec![value]));
        }
    }
    all
}

/// Writes facts about definitions.
struct Writer<'a> {
    graph: &'a BlockGraph,
    /// The items of objects that are definitions of their own.
    items: FxHashSet<Key>,
    numbers: FxHashMap<Key, Definition>,
    lowered: &'a mut Lowered,
}

impl Writer<'_> {
    fn number(&mut self, key: &Key) -> Definition {
        let next = Definition(self.numbers.len() as u32);
        *self.numbers.entry(key.clone()).or_insert(next)
    }

    fn item(&mut self, it: &Defined<'_>, number: Definition) {
        if it.key.part.is_some() {
            let whole = self.number(&Key { block: it.key.block, part: None });
            self.lowered.facts.item_of.push((number, whole));
        }
    }

    fn argument(&mut self, it: &Defined<'_>, number: Definition, pool: &Pool) {
        let address = self.graph.resource(it.key.block);
        let block = self.graph.written(it.key.block);
        let (Some(address), Some(block), Some(name)) = (address, block, &it.key.part) else {
            return;
        };
        let facts = &mut self.lowered.facts;
        facts.managed_argument.push((number,));
        if is_ignored(block, name) || is_write_only(block, name, pool) {
            facts.ignored_argument.push((number,));
        }
        let argument = Argument { resource: address.to_string(), name: name.clone() };
        self.lowered.arguments.insert(number, argument);
    }

    /// Writes what an expression calls and refers to.
    fn expression(&mut self, module: VariantId, number: Definition, it: &Use<'_>) {
        let (mut calls, mut sources) = (Vec::new(), Vec::new());
        found(&it.expression, &mut |part| match part {
            Found::Call(call, place) if is_impure(&call.name) => calls.push(place),
            Found::Reference(root, steps, _) => {
                if let Some(Ok(reference)) = free_reference(root, steps, &it.bound) {
                    self.sources(module, &reference, &mut sources);
                }
            }
            _ => {}
        });
        for place in calls {
            let site = self.lowered.sites.number(place);
            self.lowered.facts.calls_impure.push((number, site));
        }
        for key in sources {
            let source = self.number(&key);
            self.lowered.facts.computed_from.push((number, source));
        }
    }

    /// Adds the definitions that a reference reads. What the attributes of an object are computed from is not followed.
    fn sources(&self, module: VariantId, reference: &Reference<'_>, all: &mut Vec<Key>) {
        let graph = self.graph;
        let value = |key| graph.find(module, &key).map(|it| self.read(it, reference.rest));
        match reference.subject {
            Subject::Variable(name) => all.extend(value(BlockKey::Variable(name.clone()))),
            Subject::Local(name) => all.extend(value(BlockKey::Local(name.clone()))),
            Subject::Module(name) => {
                let Some(call) = graph.modules[module].call(name) else { return };
                for called in graph.modules.called(module, call) {
                    self.outputs(called, reference, all);
                }
            }
            _ => {}
        }
    }

    /// Adds the outputs of a module that a reference to its call reads.
    fn outputs(&self, called: VariantId, reference: &Reference<'_>, all: &mut Vec<Key>) {
        let find = |name: &Str| self.graph.find(called, &BlockKey::Output(name.clone()));
        match (reference.output(), reference.rest) {
            (Some(name), [Step::Attribute(_), rest @ ..] | [_, Step::Attribute(_), rest @ ..]) => {
                all.extend(find(name).map(|it| self.read(it, rest)));
            }
            _ => {
                let names = self.graph.modules[called].config.outputs.keys();
                all.extend(names.filter_map(find).map(|block| Key { block, part: None }));
            }
        }
    }

    /// Returns what is read of a value by the steps into it: one item, or all of it.
    fn read(&self, block: usize, steps: &[Step]) -> Key {
        let part = match steps.first() {
            Some(Step::Attribute(name)) => Some(name.text.clone()),
            Some(Step::Index(it)) => it.key.as_static_string().cloned(),
            _ => None,
        };
        let item = Key { block, part };
        match self.items.contains(&item) {
            true => item,
            false => Key { block, part: None },
        }
    }
}

/// Returns whether a function gives another value in each run.
fn is_impure(name: &Name) -> bool {
    matches!(base_name(&name.text), "timestamp" | "uuid" | "bcrypt")
}

/// Returns whether `ignore_changes` names an argument, or everything.
fn is_ignored(block: &Resource, name: &str) -> bool {
    match &block.besides.lifecycle.ignore_changes {
        IgnoreChanges::None => false,
        IgnoreChanges::All => true,
        IgnoreChanges::Paths(paths) => {
            paths.iter().filter_map(Expression::as_traversal).any(|it| &*it.0.text == name)
        }
    }
}

/// Returns whether a provider never stores an argument.
fn is_write_only(block: &Resource, name: &str, pool: &Pool) -> bool {
    let schema = pool.resource_schema(&block.provider_source, block.name.mode, &block.name.kind);
    schema.and_then(|it| it.block.attributes.get(name)).is_some_and(|it| it.write_only)
}

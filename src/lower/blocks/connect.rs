//! What refers to what: every reference that a block makes is an edge of the graph.

use super::{BlockGraph, BlockKey, provider_key};
use crate::config::uses::{self, Role, Use};
use crate::config::{self, Condition, Config, Variant};
use crate::diagnostic::Span;
use crate::expression::{Reference, Subject, free_reference, parse_reference, reads_its_arguments};
use crate::syntax::{Body, Expression, Found, Step, found, references};
use crate::value::Str;

/// Draws the edges of one module's blocks.
pub(super) struct Builder<'a> {
    pub graph: &'a mut BlockGraph,
    pub config: &'a Config,
    pub variant: &'a Variant,
    pub module: &'a config::Module,
}

impl Builder<'_> {
    pub fn connect(&mut self, own: std::ops::Range<usize>) {
        let module = self.module;
        for (name, it) in &module.variables {
            let from = self.block(BlockKey::Variable(name.clone()));
            // A validation may name the variable itself: that is no cycle.
            let before = self.graph.blocks[from].edges.len();
            self.conditions(from, &it.validations);
            self.forget_own(from, before);
            self.input(from, name);
        }
        for (name, it) in &module.locals {
            let from = self.block(BlockKey::Local(name.clone()));
            self.expression(from, &it.value);
        }
        for (name, it) in &module.outputs {
            let from = self.block(BlockKey::Output(name.clone()));
            self.expression(from, &it.value);
            self.conditions(from, &it.preconditions);
            self.depends_on(from, &it.depends_on);
        }
        let numbers = self.graph.resources_of(self.variant);
        for (from, it) in numbers.zip(module.resources.values()) {
            self.resource(from, it);
        }
        for (name, it) in &module.calls {
            let from = self.block(BlockKey::Call(name.clone()));
            it.repetition.expression().into_iter().for_each(|it| self.expression(from, it));
            self.depends_on(from, &it.depends_on);
        }
        for it in &module.providers {
            let from = self.block(provider_key(it));
            it.repetition.expression().into_iter().for_each(|it| self.expression(from, it));
            self.body(from, &it.body);
        }
        for it in &module.imports {
            self.import(it);
        }
        for (name, it) in &module.checks {
            let from = self.block(BlockKey::Check(name.clone()));
            self.conditions(from, &it.asserts);
        }
        if let Some((caller, call)) = self.config.caller(self.variant)
            && let Some(call) = self.graph.find(&caller, BlockKey::Call(call))
        {
            for block in &mut self.graph.blocks[own] {
                block.edges.push((call, Span::default()));
            }
        }
    }

    fn resource(&mut self, from: usize, it: &config::Resource) {
        // Postconditions may name their own resource, as `self` does.
        let before = self.graph.blocks[from].edges.len();
        self.conditions(from, &it.lifecycle.postconditions);
        self.forget_own(from, before);
        it.repetition.expression().into_iter().for_each(|it| self.expression(from, it));
        let is_plain = self.body(from, &it.body);
        self.graph.plain[from] = is_plain && has_only_a_body(it);
        self.depends_on(from, &it.depends_on);
        self.conditions(from, &it.lifecycle.preconditions);
        it.lifecycle.replace_triggered_by.iter().for_each(|it| self.expression(from, it));
        // Evaluated of an object that is there: both may name their own resource.
        let before = self.graph.blocks[from].edges.len();
        it.lifecycle.prevent_destroy.iter().for_each(|it| self.expression(from, it));
        it.connection.iter().for_each(|it| _ = self.body(from, it));
        self.forget_own(from, before);
        for provisioner in it.provisioners.iter().filter(|it| !it.on_destroy) {
            self.body(from, &provisioner.body);
            provisioner.connection.iter().for_each(|it| _ = self.body(from, it));
        }
        self.provider(from, it.provider.as_ref().map_or(it.declared, |it| it.span));
    }

    /// A resource refers to the provider block that serves it, and to what chooses the instance, in the block itself or in
    /// the call that passes the configuration.
    fn provider(&mut self, from: usize, span: Span) {
        let configured = &self.graph.configured;
        let to = configured.block_of(from).and_then(|(module, key)| self.graph.find(&module, key));
        let choice = configured.serves(from).and_then(|it| it.choice).cloned();
        self.graph.blocks[from].edges.extend(to.map(|it| (it, span)));
        let Some(choice) = choice else { return };
        let (config, variant) = (self.config, &choice.module);
        if let Some(module) = config.variant(variant) {
            Builder { graph: self.graph, config, variant, module }
                .expression(from, &choice.expression);
        }
    }

    /// What adopts an object waits for what names that object. An id that names its own resource is told where it is evaluated.
    /// Which instance it is for is not known yet: of several blocks of that name, each waits.
    fn import(&mut self, it: &config::Import) {
        let Some(target) = it.target() else { return };
        let (config, key) = (self.config, BlockKey::Resource(target.resource));
        let own = config.variants_at(&target.module);
        let own: Vec<usize> = own.filter_map(|of| self.graph.find(&of.0, key.clone())).collect();
        for from in own {
            let before = self.graph.blocks[from].edges.len();
            it.expressions().into_iter().for_each(|it| self.expression(from, it));
            self.graph.plain[from] = false;
            self.forget_own(from, before);
        }
    }

    fn forget_own(&mut self, from: usize, since: usize) {
        let mut at = since;
        let edges = &mut self.graph.blocks[from].edges;
        while at < edges.len() {
            if edges[at].0 == from {
                edges.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// A child's variable rests on what the call gives it, in the calling module.
    fn input(&mut self, from: usize, name: &Str) {
        let config = self.config;
        let Some((caller, call)) = config.caller(self.variant) else { return };
        let Some(module) = config.variant(&caller) else { return };
        if let Some(attribute) = module.calls.get(&call).and_then(|it| it.inputs.get(name)) {
            Builder { graph: self.graph, config, variant: &caller, module }
                .expression(from, &attribute.value);
        }
    }

    fn block(&self, key: BlockKey) -> usize {
        self.graph.find(self.variant, key).expect("every block was declared first")
    }

    fn conditions(&mut self, from: usize, conditions: &[Condition]) {
        for it in conditions {
            self.expression(from, &it.condition);
            self.expression(from, &it.error_message);
        }
    }

    /// Returns whether all that it names is read as a whole, whatever the values are.
    fn body(&mut self, from: usize, body: &Body) -> bool {
        let mut is_plain = true;
        for Use { expression, bound, .. } in &uses::of_body(body, Role::Value) {
            found(expression, &mut |part| match part {
                Found::Reference(root, steps, _) => {
                    let reference = free_reference(root, steps, bound).and_then(Result::ok);
                    is_plain &= reference.is_some_and(|it| self.reference(from, &it, false));
                }
                Found::Call(call, _) => is_plain &= reads_its_arguments(call),
                Found::Broken(_) => is_plain = false,
                Found::Other(other) => is_plain &= other.takes_all_parts(),
            });
        }
        is_plain
    }

    fn expression(&mut self, from: usize, expression: &Expression) {
        self.references(from, expression, false);
    }

    fn depends_on(&mut self, from: usize, expressions: &[Expression]) {
        expressions.iter().for_each(|it| self.references(from, it, true));
    }

    fn references(&mut self, from: usize, expression: &Expression, everything: bool) {
        references(expression, &mut |root, steps, _| {
            if let Ok(reference) = parse_reference(root, steps) {
                self.reference(from, &reference, everything);
            }
        });
    }

    /// Returns whether what reads it reads all of a block, whichever attributes it looks at: not one of several instances.
    fn reference(&mut self, from: usize, it: &Reference<'_>, everything: bool) -> bool {
        let is_whole = it.rest.is_empty();
        let (to, is_whole) = match it.subject {
            Subject::Variable(name) => (self.named(BlockKey::Variable(name.clone())), is_whole),
            Subject::Local(name) => (self.named(BlockKey::Local(name.clone())), is_whole),
            Subject::Resource(name) => match self.module.resources.named(name, it.near()) {
                Some((place, block)) => {
                    let to = self.graph.resources_of(self.variant).start + place;
                    let is_single = block.repetition.expression().is_none();
                    (Some(to), is_whole || is_single && it.rest.iter().all(is_name))
                }
                None => (None, false),
            },
            Subject::Module(call) => {
                self.call(from, call, it, everything);
                (None, false)
            }
            Subject::Path(_) | Subject::Terraform(_) => (None, true),
            _ => (None, false),
        };
        self.graph.blocks[from].edges.extend(to.map(|to| (to, it.subject_span)));
        is_whole
    }

    fn named(&self, key: BlockKey) -> Option<usize> {
        self.graph.find(self.variant, key)
    }

    /// `module.m.out` is that output, `module.m` all outputs; in `depends_on` everything inside.
    fn call(&mut self, from: usize, call: &Str, it: &Reference<'_>, everything: bool) {
        let (config, span) = (self.config, it.span);
        if everything && it.output().is_none() {
            let inside = self.graph.inside_of(config, self.variant, call);
            self.graph.blocks[from].edges.extend(inside.map(|it| (it, span)));
            return;
        }
        if let Some(output) = it.output().filter(|_| everything) {
            let depended_on = self.graph.depended_on.entry((self.variant.clone(), call.clone()));
            depended_on.or_default().insert(output.clone());
        }
        let mut targets = vec![self.graph.find(self.variant, BlockKey::Call(call.clone()))];
        let named = it.rest.iter().find_map(|it| match it {
            Step::Attribute(name) => Some(&name.text),
            _ => None,
        });
        let is_one_output = match it.rest {
            [Step::Attribute(_), ..] => true,
            [key, Step::Attribute(_), ..] => key.as_written().is_some(),
            _ => false,
        };
        for (child, module) in config.called(self.variant, call) {
            let output = |name: &Str| self.graph.find(&child, BlockKey::Output(name.clone()));
            match named.filter(|it| module.outputs.contains_key(*it)) {
                Some(name) => targets.push(output(name)),
                None => targets.extend(module.outputs.keys().map(output)),
            }
            if !is_one_output {
                self.graph.wholes.entry(from).or_default().push(child);
            }
        }
        self.graph.blocks[from].edges.extend(targets.into_iter().flatten().map(|it| (it, span)));
    }
}

/// Whether nothing of a resource is evaluated but its body, once.
fn has_only_a_body(it: &config::Resource) -> bool {
    let lifecycle = &it.lifecycle;
    let has_key = it.provider.as_ref().is_some_and(|it| it.key.is_some());
    let is_conditional = lifecycle.has_conditions() || lifecycle.prevent_destroy.is_some();
    let is_run = it.connection.is_some() || !it.provisioners.is_empty();
    let waits = !it.depends_on.is_empty() || !lifecycle.replace_triggered_by.is_empty();
    it.repetition.expression().is_none() && !(has_key || is_conditional || is_run || waits)
}

fn is_name(step: &Step) -> bool {
    matches!(step, Step::Attribute(_))
}

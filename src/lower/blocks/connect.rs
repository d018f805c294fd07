//! What refers to what: every reference that a block makes is an edge of the graph.

use std::mem::{replace, take};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::lookalikes::Comparison;
use super::{BlockGraph, BlockKey, BlockNode, Edge, ModuleCode, Modules, VariantId};
use crate::address::ResourceNameRef;
use crate::config::check::may_be_named;
use crate::config::uses::{self, Role, Use};
use crate::config::{self, Condition, Config, Passed};
use crate::diagnostic::Span;
use crate::expression::{
    Reference, Subject, free_reference, is_of_provider, parse_reference, reads_its_arguments,
};
use crate::syntax::{Body, Expression, Found, Step, found};
use crate::value::Str;

/// Draws the edges, block after block.
pub(super) struct Builder<'a> {
    graph: &'a mut BlockGraph,
    config: &'a Config,
    modules: Arc<Modules>,
    /// In which module names are looked up.
    at: VariantId,
    /// The block whose references are looked for.
    from: usize,
    /// Whether something was seen, since this was last set back, that the check of references has to look at.
    in_doubt: bool,
    /// What it refers to, as far as that was found.
    found: Vec<Edge>,
    /// What blocks refer to because of an `import` block.
    imports: FxHashMap<usize, Vec<Edge>>,
    /// What the blocks refer to that were added behind the others.
    further: Vec<Vec<Edge>>,
    /// Where the resources stand that were looked at last.
    passed: Passed,
    /// Where the calls stand that lead to the modules that were looked at last.
    passed_calls: Passed,
    alike: Comparison,
}

impl<'a> Builder<'a> {
    pub fn of(graph: &'a mut BlockGraph, config: &'a Config) -> Builder<'a> {
        let (at, modules) = (VariantId::ROOT, graph.modules.clone());
        Builder {
            graph,
            config,
            modules,
            at,
            from: 0,
            in_doubt: false,
            found: Vec::new(),
            imports: FxHashMap::default(),
            further: Vec::new(),
            passed: Passed::default(),
            passed_calls: Passed::default(),
            alike: Comparison::default(),
        }
    }

    pub fn connect(mut self) {
        let modules = self.modules.clone();
        for (id, module) in modules.iter() {
            self.at = id;
            module.config.imports.iter().for_each(|it| self.import(it));
        }
        for (id, module) in modules.iter() {
            self.at = id;
            self.from = module.blocks().start;
            self.module(module);
            debug_assert_eq!(self.from, module.blocks().end, "blocks are declared in this order");
        }
        for mut edges in take(&mut self.further) {
            self.graph.end_block(&mut edges);
        }
    }

    /// Draws the edges of a module's blocks, in the order in which they were declared.
    fn module(&mut self, code: &ModuleCode) {
        let module = &*code.config;
        let modules = self.modules.clone();
        let call = modules.call(self.at);
        let mut sound = 0;
        if let (Some((caller, block)), Some(call)) = (code.caller, call) {
            self.passed_calls.pass(block as usize - modules[caller].first_call(), call);
        }
        for (name, it) in &module.variables {
            // A validation may name the variable itself: that is no cycle.
            self.conditions(&it.validations);
            self.forget_own(0);
            let input = call.and_then(|it| it.inputs.get(name));
            self.in_doubt = input.is_none();
            self.input(code, input.map(|it| &it.value));
            sound += usize::from(!self.in_doubt);
            self.end(code);
        }
        self.called(code, call, sound);
        for it in module.locals.values() {
            self.expression(&it.value);
            self.end(code);
        }
        for it in module.outputs.values() {
            self.expression(&it.value);
            self.conditions(&it.preconditions);
            self.depends_on(&it.depends_on);
            self.end(code);
        }
        self.alike.enter();
        for (place, it) in module.resources.values().enumerate() {
            self.resource(it);
            if self.graph.plain[self.from] {
                let lookalikes = &mut self.graph.lookalikes;
                self.alike.compare((self.from, place), &module.resources, lookalikes);
            }
            self.passed.pass(place, &**it);
            self.end(code);
        }
        for it in module.calls.values() {
            it.repetition.expression().into_iter().for_each(|it| self.expression(it));
            self.depends_on(&it.besides.depends_on);
            self.end(code);
        }
        for it in &module.providers {
            it.repetition.expression().into_iter().for_each(|it| self.expression(it));
            self.body(&it.body);
            self.end(code);
        }
        for it in module.checks.values() {
            self.conditions(&it.asserts);
            self.end(code);
        }
    }

    /// A call of which nothing but its inputs is evaluated, so many of them sound, is sound where these are all.
    fn called(&mut self, code: &ModuleCode, call: Option<&config::ModuleCall>, sound: usize) {
        if let (Some((_, block)), Some(call)) = (code.caller, call) {
            // Where it leads to several modules, their variables may differ.
            let is_sound = sound == call.inputs.values().count()
                && uses::of_call_itself(call).is_empty()
                && self.config.kinds.is_empty();
            self.graph.sound[block as usize] = is_sound;
        }
    }

    /// Everything that the block refers to was found; all that is in a module waits for the call.
    fn end(&mut self, code: &ModuleCode) {
        if let Some(imports) = self.imports.get(&self.from) {
            self.found.extend(imports);
            self.graph.plain[self.from] = false;
        }
        self.found.extend(code.caller.map(|(_, call)| (call, Span::default())));
        self.graph.end_block(&mut self.found);
        self.from += 1;
    }

    fn resource(&mut self, it: &config::Resource) {
        // Postconditions may name their own resource, as `self` does.
        self.conditions(&it.besides.lifecycle.postconditions);
        self.forget_own(0);
        it.besides.repetition.expression().into_iter().for_each(|it| self.expression(it));
        self.in_doubt = false;
        let is_plain = self.body(&it.body) && has_only_a_body(it);
        self.graph.plain[self.from] = is_plain;
        self.graph.sound[self.from] = is_plain && !self.in_doubt;
        self.depends_on(&it.besides.depends_on);
        self.conditions(&it.besides.lifecycle.preconditions);
        it.besides.lifecycle.replace_triggered_by.iter().for_each(|it| self.expression(it));
        // Evaluated of an object that is there: both may name their own resource.
        let before = self.found.len();
        it.besides.lifecycle.prevent_destroy.iter().for_each(|it| self.expression(it));
        it.besides.connection.iter().for_each(|it| _ = self.body(it));
        self.forget_own(before);
        for provisioner in it.besides.provisioners.iter().filter(|it| !it.on_destroy) {
            self.body(&provisioner.body);
            provisioner.connection.iter().for_each(|it| _ = self.body(it));
        }
        self.provider(it.besides.provider.as_ref().map_or(it.declared, |it| it.span));
    }

    /// A resource refers to the provider block that serves it, and to what chooses the instance, in the block itself or in
    /// the call that passes the configuration.
    fn provider(&mut self, span: Span) {
        let configured = &self.graph.configured;
        let to = configured.block_of(self.from).and_then(|(id, key)| self.graph.find(id, &key));
        let choice = configured.serves(self.from).and_then(|it| it.choice).cloned();
        self.add(to, span);
        let Some(choice) = choice else { return };
        if let Some(id) = self.modules.number(&choice.module) {
            self.within(id, |it| it.expression(&choice.expression));
        }
    }

    /// What adopts an object waits for what names that object. An id that names its own resource is told where it is evaluated.
    /// Which instance it is for is not known yet: of several blocks of that name, each waits.
    fn import(&mut self, it: &config::Import) {
        let own = self.code().variant.path.clone();
        let Some(target) = it.target_from(&own) else { return };
        let key = BlockKey::Resource(target.resource);
        for (of, _) in self.config.variants_at(&target.module) {
            let Some(from) = self.graph.find_in(&of, &key) else { continue };
            self.from = from;
            it.expressions().into_iter().for_each(|it| self.expression(it));
            self.forget_own(0);
            self.imports.entry(from).or_default().append(&mut self.found);
        }
    }

    fn forget_own(&mut self, since: usize) {
        let mut at = 0;
        let from = self.from as u32;
        self.found.retain(|edge| {
            at += 1;
            at <= since || edge.0 != from
        });
    }

    /// A child's variable rests on what the call gives it, in the calling module.
    fn input(&mut self, code: &ModuleCode, input: Option<&Expression>) {
        if let (Some((caller, _)), Some(input)) = (code.caller, input) {
            self.within(caller, |it| it.expression(input));
        }
    }

    /// Looks something up in another module.
    fn within(&mut self, module: VariantId, look: impl FnOnce(&mut Self)) {
        let own = replace(&mut self.at, module);
        look(self);
        self.at = own;
    }

    fn add(&mut self, to: Option<usize>, span: Span) {
        self.found.extend(to.map(|it| (it as u32, span)));
    }

    fn conditions(&mut self, conditions: &[Condition]) {
        for it in conditions {
            self.expression(&it.condition);
            self.expression(&it.error_message);
        }
    }

    /// Returns whether all that it names is read as a whole, whatever the values are.
    fn body(&mut self, body: &Body) -> bool {
        let mut is_plain = true;
        for Use { expression, bound, .. } in &uses::of_body(body, Role::Value) {
            found(expression, &mut |part| match part {
                Found::Reference(root, steps, _) => {
                    let reference = free_reference(root, steps, bound).and_then(Result::ok);
                    is_plain &= reference.is_some_and(|it| self.reference(&it, false));
                }
                Found::Call(call, _) => is_plain &= reads_its_arguments(call),
                Found::Broken(_) => is_plain = false,
                Found::Other(other) => is_plain &= other.takes_all_parts(),
            });
        }
        is_plain
    }

    fn expression(&mut self, expression: &Expression) {
        self.references(expression, false);
    }

    fn depends_on(&mut self, expressions: &[Expression]) {
        expressions.iter().for_each(|it| self.references(it, true));
    }

    fn references(&mut self, expression: &Expression, everything: bool) {
        found(expression, &mut |part| match part {
            Found::Reference(root, steps, _) => match parse_reference(root, steps) {
                Ok(reference) => _ = self.reference(&reference, everything),
                Err(_) => self.in_doubt = true,
            },
            Found::Call(call, _) => self.in_doubt |= is_of_provider(&call.name),
            Found::Broken(_) => self.in_doubt = true,
            Found::Other(_) => {}
        });
    }

    /// Returns whether what reads it reads all of a block, whichever attributes it looks at: not one of several instances.
    fn reference(&mut self, it: &Reference<'_>, everything: bool) -> bool {
        let is_whole = it.rest.is_empty();
        let (to, is_whole, is_right) = match it.subject {
            Subject::Variable(name) => self.value(BlockKey::Variable(name.clone()), is_whole),
            Subject::Local(name) => self.value(BlockKey::Local(name.clone()), is_whole),
            Subject::Resource(name) => match self.resource_named(name, it) {
                Some((place, block)) => {
                    let to = self.code().first_resource() + place;
                    let is_single = block.besides.repetition.expression().is_none();
                    let is_named = is_single && it.rest.iter().all(is_name);
                    (Some(to), is_whole || is_named, is_named && may_be_named(block, it.rest))
                }
                None => (None, false, false),
            },
            Subject::Module(call) => (None, false, self.call(call, it, everything)),
            Subject::Path(_) | Subject::Terraform(_) => (None, true, false),
            _ => (None, false, false),
        };
        self.in_doubt |= !is_right;
        self.add(to, it.subject_span);
        is_whole
    }

    fn resource_named(
        &self,
        name: ResourceNameRef<'_>,
        it: &Reference<'_>,
    ) -> Option<(usize, &config::Resource)> {
        let resources = &self.code().config.resources;
        let (place, block) = resources.named_lately(name, it.near(), &self.passed)?;
        Some((place, block))
    }

    /// What is read of a variable or local value; it is right where there is one.
    fn value(&self, key: BlockKey, is_whole: bool) -> (Option<usize>, bool, bool) {
        let to = self.named(key);
        (to, is_whole, to.is_some())
    }

    fn named(&self, key: BlockKey) -> Option<usize> {
        self.graph.find(self.at, &key)
    }

    /// `module.m.out` is that output, `module.m` all outputs; in `depends_on` everything inside. Returns whether there is such a call.
    fn call(&mut self, call: &Str, it: &Reference<'_>, everything: bool) -> bool {
        let calls = &self.code().config.calls;
        let Some((place, _)) = calls.named_lately(call, it.near(), &self.passed_calls) else {
            return false;
        };
        let block = self.code().first_call() + place;
        if everything && it.output().is_none() {
            let inside = self.inside_of(block, call);
            self.add(Some(inside), it.span);
            return true;
        }
        if let Some(output) = it.output().filter(|_| everything) {
            let depended_on = self.graph.depended_on.entry(block as u32);
            depended_on.or_default().insert(output.clone());
        }
        self.add(Some(block), it.span);
        let named = it.rest.iter().find_map(|it| match it {
            Step::Attribute(name) => Some(&name.text),
            _ => None,
        });
        let is_one_output = match it.rest {
            [Step::Attribute(_), ..] => true,
            [key, Step::Attribute(_), ..] => key.as_written().is_some(),
            _ => false,
        };
        let modules = self.modules.clone();
        for child in modules.called(self.at, block) {
            let outputs = &modules[child].config.outputs;
            match named.filter(|it| outputs.contains_key(*it)) {
                Some(name) => self.output(child, name, it.span),
                None => outputs.keys().for_each(|name| self.output(child, name, it.span)),
            }
            if !is_one_output {
                self.graph.wholes.entry(self.from as u32).or_default().push(child);
            }
        }
        true
    }

    fn output(&mut self, module: VariantId, name: &Str, span: Span) {
        self.add(self.graph.find(module, &BlockKey::Output(name.clone())), span);
    }

    /// Returns the block of everything inside of what a call leads to; the first who asks for it lets it be made.
    fn inside_of(&mut self, block: usize, call: &Str) -> usize {
        let key = BlockKey::Inside(call.clone());
        if let Some(known) = self.graph.find(self.at, &key) {
            return known;
        }
        let number = self.graph.add_inside(self.at, call);
        self.graph.plain.push(false);
        let mut targets = vec![block];
        let called: Vec<VariantId> = self.modules.called(self.at, block).collect();
        for &child in &called {
            let counts = |it: &usize| match self.graph.block(*it) {
                BlockNode { key: BlockKey::Resource(_), .. } => true,
                BlockNode { module, key: BlockKey::Output(_) } => module == child,
                _ => false,
            };
            let within: Vec<usize> = self.graph.inside(child).collect();
            targets.extend(within.iter().copied().filter(counts));
            let BlockGraph { blocks, depended_on_within, .. } = &mut *self.graph;
            depended_on_within.extend(within.into_iter().map(|it| blocks[it].0));
        }
        self.graph.wholes.insert(number as u32, called);
        self.further.push(targets.into_iter().map(|it| (it as u32, Span::default())).collect());
        number
    }

    fn code(&self) -> &ModuleCode {
        &self.modules[self.at]
    }
}

/// Whether nothing of a resource is evaluated but its body, once.
fn has_only_a_body(it: &config::Resource) -> bool {
    let lifecycle = &it.besides.lifecycle;
    let has_key = it.besides.provider.as_ref().is_some_and(|it| it.key.is_some());
    let is_conditional = lifecycle.has_conditions() || lifecycle.prevent_destroy.is_some();
    let is_run = it.besides.connection.is_some() || !it.besides.provisioners.is_empty();
    let waits = !it.besides.depends_on.is_empty() || !lifecycle.replace_triggered_by.is_empty();
    it.besides.repetition.expression().is_none() && !(has_key || is_conditional || is_run || waits)
}

fn is_name(step: &Step) -> bool {
    matches!(step, Step::Attribute(_))
}

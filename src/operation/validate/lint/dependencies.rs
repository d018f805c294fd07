//! What the items of `depends_on` name, and what the blocks around them refer to anyway.

use std::sync::Arc;

use entail_rules::Block;
use rustc_hash::FxHashSet;

use super::names::{Named, named, only_called};
use super::{Lowered, Session};
use crate::address::Mode;
use crate::config::uses::{self, Role, Use};
use crate::config::{ModuleCall, Repetition, Resource};
use crate::diagnostic::Span;
use crate::expression::{Reference, base_name, parse_reference};
use crate::lower::BlockGraph;
use crate::lower::blocks::{BlockKey, ModuleCode, VariantId};
use crate::syntax::{BinaryOp, Call, Expr, Expression, Part, Step, parts};

/// Writes `names_dependency`, `names_module`, `mentions_block`, `output_of_call`, `input_of_call`, `inside_call`, `block_reads`,
/// `deferrable` and `resource_block`. A module that is called several times is looked at once.
pub(super) fn lower(session: &Session, lowered: &mut Lowered) {
    let graph = &session.graph;
    let mut seen = FxHashSet::default();
    for (module, code) in graph.modules.iter() {
        if seen.insert(Arc::as_ptr(&code.config)) {
            let opened = FxHashSet::default();
            ModuleLowering { graph, module, code, opened, lowered: &mut *lowered }.lower();
        }
    }
}

/// Lowers the blocks of a module.
struct ModuleLowering<'a> {
    graph: &'a BlockGraph,
    module: VariantId,
    code: &'a ModuleCode,
    /// The module calls of which is written what is inside.
    opened: FxHashSet<usize>,
    lowered: &'a mut Lowered,
}

impl ModuleLowering<'_> {
    fn lower(&mut self) {
        let code = self.code;
        for (place, block) in code.config.resources.values().enumerate() {
            if !block.besides.depends_on.is_empty() && !block.besides.generated {
                self.resource(code.first_resource() + place, block);
            }
        }
        for (name, output) in &code.config.outputs {
            let number = self.graph.find(self.module, &BlockKey::Output(name.clone()));
            if let Some(number) = number.filter(|_| !output.depends_on.is_empty()) {
                self.items(number, &output.depends_on);
                self.mentions(number, &uses::of_output(output));
            }
        }
        for (place, call) in code.config.calls.values().enumerate() {
            if !call.besides.depends_on.is_empty() {
                self.call(code.first_call() + place, call);
            }
        }
    }

    fn resource(&mut self, number: usize, block: &Resource) {
        self.items(number, &block.besides.depends_on);
        self.mentions(number, &uses::of_resource(block));
        if block.name.mode != Mode::Managed {
            self.lowered.facts.deferrable.push((numbered(number),));
        }
    }

    /// An input lets only those wait that use it: it refers to something in place of the variable.
    fn call(&mut self, number: usize, call: &ModuleCall) {
        self.items(number, &call.besides.depends_on);
        let Some(called) = only_called(self.graph, self.module, number) else { return };
        self.open(number);
        for (name, input) in call.inputs.iter() {
            let variable = self.graph.find(called, &BlockKey::Variable(name.clone()));
            if let Some(variable) = variable {
                self.lowered.facts.input_of_call.push((numbered(variable), numbered(number)));
                self.mentions(variable, &[uses::of_value(&input.value)]);
            }
        }
    }

    /// Lowers the items of the `depends_on` of a block.
    fn items(&mut self, owner: usize, items: &[Expression]) {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return };
        for item in items {
            self.item(owner, item, first.span.to(last.span));
        }
    }

    fn item(&mut self, owner: usize, item: &Expression, list: Span) {
        let reference = item.as_traversal().and_then(|it| parse_reference(it.0, it.1).ok());
        let target = reference.and_then(|it| named(self.graph, self.module, &it));
        let Some(target) = target else { return };
        let site = self.lowered.sites.number(item.span);
        self.lowered.lists.insert(site, list);
        let (owner, block) = (numbered(owner), numbered(target.block()));
        let facts = &mut self.lowered.facts;
        match target {
            Named::Call(call) => {
                facts.names_module.push((site, owner, block));
                self.open(call);
            }
            Named::Value(_) => facts.names_dependency.push((site, owner, block)),
            Named::Resource(_) => {
                facts.names_dependency.push((site, owner, block));
                facts.resource_block.push((block,));
            }
            Named::Output { call, .. } => {
                facts.names_dependency.push((site, owner, block));
                facts.output_of_call.push((block, numbered(call)));
            }
        }
    }

    /// Lowers what expressions refer to in whole, for all values.
    fn mentions(&mut self, from: usize, uses: &[Use<'_>]) {
        // Keys are known before what they come from is carried out, and what is in a `dynamic` block may be there or not.
        let counts = |it: &&Use<'_>| {
            !matches!(it.role, Role::DependsOn | Role::Repetition) && it.bound.is_empty()
        };
        for it in uses.iter().filter(counts) {
            let doubts = Doubts::of(&it.expression);
            let mut found = Vec::new();
            it.each_reference(&mut |reference| {
                let whole = self.whole(&reference, &doubts);
                found.extend(whole.map(|it| (it, reference.span)));
            });
            for (to, place) in found {
                let site = self.lowered.sites.number(place);
                self.lowered.facts.mentions_block.push((numbered(from), site, numbered(to)));
            }
        }
    }

    /// Returns the block that a reference names, if all of it is read.
    fn whole(&self, reference: &Reference<'_>, doubts: &Doubts) -> Option<usize> {
        if doubts.may_be_skipped(reference.span) {
            return None;
        }
        let is_all = reference.rest.is_empty();
        // An attribute of an object is read with all of the object, an element of a value alone.
        let is_by_element = doubts.is_by_element(reference.span);
        let target = named(self.graph, self.module, reference)?;
        let is_whole = match target {
            Named::Resource(block) => {
                let written = self.graph.written(block)?;
                is_all || !repeats(&written.besides.repetition)
            }
            Named::Value(_) | Named::Call(_) => is_all && !is_by_element,
            Named::Output { call, .. } => {
                let written = self.graph.written_call(call)?;
                let is_all = matches!(reference.rest, [Step::Attribute(_)]);
                is_all && !is_by_element && !repeats(&written.repetition)
            }
        };
        is_whole.then(|| target.block())
    }

    /// Writes what is inside of what a call leads to, and what that refers to.
    fn open(&mut self, call: usize) {
        if !self.opened.insert(call) {
            return;
        }
        let graph = self.graph;
        let facts = &mut self.lowered.facts;
        let mut within: Vec<VariantId> = graph.modules.called(self.module, call).collect();
        for &module in &within {
            for name in graph.modules[module].config.outputs.keys() {
                let Some(output) = graph.find(module, &BlockKey::Output(name.clone())) else {
                    continue;
                };
                facts.output_of_call.push((numbered(output), numbered(call)));
                facts.inside_call.push((numbered(output), numbered(call)));
            }
        }
        let mut at = 0;
        while let Some(&module) = within.get(at) {
            let code = &graph.modules[module];
            let calls = code.first_call()..code.first_call() + code.config.calls.len();
            within.extend(calls.flat_map(|it| graph.modules.called(module, it)));
            at += 1;
        }
        let within: FxHashSet<VariantId> = within.into_iter().collect();
        for (number, block) in graph.all().filter(|it| within.contains(&it.1.module)) {
            if matches!(block.key, BlockKey::Resource(_)) {
                facts.inside_call.push((numbered(number), numbered(call)));
            }
            let reads = graph.edges(number).iter().map(|it| (numbered(number), Block(it.0)));
            facts.block_reads.extend(reads);
        }
    }
}

fn numbered(block: usize) -> Block {
    Block(block as u32)
}

fn repeats(repetition: &Repetition) -> bool {
    matches!(repetition, Repetition::Count(_) | Repetition::ForEach(_))
}

/// The parts of an expression of which it depends on values whether, or how far, they are read.
#[derive(Default)]
struct Doubts {
    /// What may not be evaluated at all.
    skipped: Vec<Span>,
    /// What a `for` or a splat goes through.
    by_element: Vec<Span>,
}

impl Doubts {
    fn of(expression: &Expression) -> Doubts {
        let mut doubts = Doubts::default();
        parts(expression, &mut |part| doubts.look_at(part));
        doubts
    }

    fn look_at(&mut self, part: &Expression) {
        match &part.expr {
            Expr::Conditional(it) => self.skipped.extend([it.yes.span, it.no.span]),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, _, right) => self.skipped.push(right.span),
            Expr::For(it) => {
                self.by_element.push(it.collection.span);
                let each = it.key.iter().chain([&it.value]).chain(&it.condition);
                self.skipped.extend(each.map(|it| it.span));
            }
            Expr::Splat(it) => self.by_element.push(it.source.span),
            Expr::Call(it) => self.skipped.extend(unread_arguments(it)),
            Expr::Template(parts) if !parts.iter().all(is_plain) => self.skipped.push(part.span),
            _ => {}
        }
    }

    fn may_be_skipped(&self, place: Span) -> bool {
        self.skipped.iter().any(|it| it.contains(place))
    }

    fn is_by_element(&self, place: Span) -> bool {
        self.by_element.iter().any(|it| it.contains(place))
    }
}

/// Returns the arguments of a call that may not be evaluated, or of which only the keys are read.
fn unread_arguments(call: &Call) -> impl Iterator<Item = Span> {
    let from = match base_name(&call.name.text) {
        "try" => 1,
        "length" | "keys" => 0,
        _ => call.arguments.len(),
    };
    call.arguments.iter().skip(from).map(|it| it.span)
}

/// Returns whether a part of a template is always evaluated.
fn is_plain(part: &Part) -> bool {
    matches!(part, Part::Literal(_) | Part::Interpolation(_))
}

//! Resources: their instances where these are known, and what each of them reads.

use std::sync::OnceLock;

use entail_rules::Node;

use super::{Each, Reads, Trace, TraceScope, Trigger, providers};
use crate::address::{ConfigResource, InstanceKey, ResourceName};
use crate::config;
use crate::config::expansion;
use crate::config::uses::{self, Role, Use};
use crate::diagnostic::Span;
use crate::expression::{self, Ask, Subject, parse_reference};
use crate::lower::blocks::BlockKey;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId, Style};
use crate::syntax::{Expression, Step};
use crate::value::{PathStep, Value};

impl Trace<'_> {
    pub(super) fn resource(&mut self, module: ModuleId, name: &ResourceName, number: usize) {
        let config = self.structure.module(module).config.clone();
        // A module instance whose keys are not known may stand for several modules, in which places differ.
        let near = self.input.graph.place(number);
        let found = config.resources.get_near(near, name.as_ref());
        let (place, block) = found.expect("the block is one of its module");
        let id = self.structure.declare(module, place);
        let style = self.structure.resource(id).style;
        self.wholes.resize_with(self.structure.resources.len(), OnceLock::new);
        self.wholes[id.index()] = OnceLock::new();
        let is_told = self.codes[module.index()] == Some(self.input.graph.block(number).module);
        self.structure.resources[id.index()].number = is_told.then_some(number as u32);
        let asked = self.asks(module, id, block);
        let whole = self.configuration_of(id, &asked);
        let outer_pending = self.structure.module(module).pending;
        let repetition =
            (style != Style::Single).then(|| self.structure.add(NodeKind::Repetition(id)));
        if repetition.is_some() {
            self.structure.resources[id.index()].besides.repetition = repetition;
        }
        let known = match repetition {
            Some(node) => {
                self.hang(node, module);
                self.repetition(node, module, &block.besides.repetition)
            }
            None => Some(vec![(InstanceKey::None, None)]),
        };
        let known = known.filter(|_| !outer_pending).or_else(|| self.destroyed_instances(id));
        match known {
            Some(entries) => self.expanded(id, module, block, entries, (&asked, whole)),
            None => self.not_expanded(id, module, block, (&asked, whole)),
        }
    }

    /// A block whose keys are not known yet is one pending node, which stands for all its instances.
    fn not_expanded(
        &mut self,
        id: ResourceId,
        module: ModuleId,
        block: &config::Resource,
        (asked, whole): (&providers::Asked, Node),
    ) {
        let pending = self.structure.add(NodeKind::Pending(id));
        let collection = self.structure.add(NodeKind::Collection(id));
        let resource = &mut self.structure.resources[id.index()];
        (resource.besides.pending, resource.collection) = (Some(pending), Some(collection));
        if let Some(repetition) = resource.besides.repetition {
            self.reads.reads.push((pending, repetition, block.declared));
        }
        self.hang(pending, module);
        self.perhaps(|trace| {
            trace.reads.reads.push((pending, whole, block.declared));
            trace.served_as_pending(pending, asked);
            trace.trace_block(pending, module, &Each::Unknown, block);
        });
    }

    pub(super) fn expanded(
        &mut self,
        id: ResourceId,
        module: ModuleId,
        block: &config::Resource,
        entries: Vec<(InstanceKey, Option<Value>)>,
        asked: (&providers::Asked, Node),
    ) {
        let repetition = self.structure.resource(id).besides.repetition;
        let alike = repetition.is_some() && !uses_repetition(block);
        let mut pattern: Option<Pattern> = None;
        for (key, each_value) in entries {
            let node = self.structure.add_instance(id, key.clone());
            let place = block.besides.repetition.expression().map_or(block.declared, |it| it.span);
            repetition.into_iter().for_each(|it| self.reads.reads.push((node, it, place)));
            let each = Each::Known(key.clone(), each_value.clone());
            let before = self.reads.reads.len();
            self.served(node, module, &each, block, asked);
            self.record_reads(before);
            let before = self.reads.reads.len();
            self.read_marks(node, each_value.as_ref(), place);
            // The arguments say which parts of `each.value` they are derived from.
            self.supersede_reads(before);
            self.hang(node, module);
            match &pattern {
                Some(pattern) => self.copy_reads(pattern, node),
                None => {
                    let before = self.reads.lengths();
                    self.trace_block(node, module, &each, block);
                    pattern = alike.then(|| Pattern { before, after: self.reads.lengths() });
                }
            }
            if let Some(value) = each_value {
                self.structure.resources[id.index()].besides.each_values.insert(key, value);
            }
        }
        let resource = self.structure.resource(id);
        let collection = match (repetition, resource.instances.values().next()) {
            _ if resource.besides.pending.is_some() => return,
            (None, Some(&only)) => only,
            _ => self.structure.add(NodeKind::Collection(id)),
        };
        self.structure.resources[id.index()].collection = Some(collection);
    }

    /// An instance whose block names neither `each` nor `count` reads what the first one reads.
    fn copy_reads(&mut self, pattern: &Pattern, node: Node) {
        let Pattern { before, after } = pattern;
        let Reads { reads, waits, triggers, provenance, .. } = &mut self.reads;
        for at in before.reads..after.reads {
            let (_, to, span) = reads[at];
            reads.push((node, to, span));
        }
        for at in before.triggers..after.triggers {
            let trigger = triggers[at].clone();
            triggers.push(Trigger { node, ..trigger });
        }
        for (rows, copied) in [
            (waits, before.waits..after.waits),
            (&mut provenance.rows, before.provenance..after.provenance),
            (&mut provenance.superseded, before.superseded..after.superseded),
        ] {
            for at in copied {
                let (_, to) = rows[at];
                rows.push((node, to));
            }
        }
    }

    pub(super) fn trace_block(
        &mut self,
        node: Node,
        module: ModuleId,
        each: &Each,
        block: &config::Resource,
    ) {
        if self.reads_plainly(node, module) {
            return;
        }
        self.trace_imports(node, module, block);
        for it in traced_uses(block) {
            let before = self.reads.reads.len();
            self.go_through(node, module, each, &it.expression, &it.bound);
            if matches!(it.role, Role::Provisioner | Role::Lifecycle) {
                self.forget_own(node, before);
            }
            self.record_argument((node, module, each), &it, before);
        }
        let before = self.reads.reads.len();
        block
            .besides
            .lifecycle
            .replace_triggered_by
            .iter()
            .for_each(|it| self.trigger(node, module, each, it));
        self.depends_on(node, module, &block.besides.depends_on);
        self.record_reads(before);
    }

    /// Notes what an instance reads where its block says that, and returns whether it does: it need not be evaluated.
    fn reads_plainly(&mut self, node: Node, module: ModuleId) -> bool {
        let NodeKind::Object(id, _) = self.structure.kind(node) else { return false };
        let Some(number) = self.structure.resource(*id).number.map(|it| it as usize) else {
            return false;
        };
        let graph = self.input.graph;
        let Some(edges) = graph.plain_reads(number) else { return false };
        // Only its value tells from which parts of another value something is derived.
        let is_whole =
            |it: &(u32, Span)| matches!(graph.block(it.0 as usize).key, BlockKey::Resource(_));
        if self.input.followed.is_some() && !edges.iter().all(is_whole) {
            return false;
        }
        let first = number - graph.place(number);
        let own = self.structure.module(module);
        for &(to, span) in edges {
            let to = to as usize;
            let read = match graph.block(to).key {
                BlockKey::Resource(name) => {
                    // What stood in for this module instance before is found by its name alone.
                    let by_name = || self.structure.resource_in(module, name.as_ref());
                    let id = to.checked_sub(first).and_then(|it| own.places.get(it));
                    id.or_else(by_name).and_then(|it| self.structure.resource(it).collection)
                }
                BlockKey::Variable(name) => own.variables.get(name).copied(),
                BlockKey::Local(name) => own.besides.locals.get(name).copied(),
                _ => None,
            };
            let read = read.filter(|it| *it != node);
            self.reads.reads.extend(read.map(|it| (node, it, span)));
        }
        true
    }

    /// What adopts an object waits for what its `import` blocks read.
    fn trace_imports(&mut self, node: Node, module: ModuleId, block: &config::Resource) {
        if self.imports.is_empty() {
            return;
        }
        let path = self.structure.module(module).path.clone();
        let address = ConfigResource { module: path, resource: block.name.clone() };
        for depth in self.imports.get(&address).cloned().unwrap_or_default() {
            let outer = self.structure.outer_module(module, depth);
            let (config, path) = {
                let outer = self.structure.module(outer);
                (outer.config.clone(), outer.path.clone())
            };
            let imports = config.imports_for(&path, &address);
            for it in imports.flat_map(|it| it.expressions()) {
                self.static_reads(node, outer, it, &[]);
            }
        }
    }

    /// What is evaluated of an object that is there waits for no other instance of its resource.
    fn forget_own(&mut self, node: Node, since: usize) {
        let structure = &self.structure;
        let resource = |node: Node| match structure.kind(node) {
            NodeKind::Object(id, _) | NodeKind::Collection(id) | NodeKind::Pending(id) => Some(*id),
            _ => None,
        };
        let own = resource(node);
        let kept = self.reads.reads.split_off(since);
        self.reads.reads.extend(kept.into_iter().filter(|it| resource(it.1) != own));
    }

    /// A trigger is read, and remembered with the attribute it names.
    fn trigger(&mut self, node: Node, module: ModuleId, each: &Each, expression: &Expression) {
        let Some((root, steps)) = expression.as_traversal() else { return };
        let Ok(reference) = parse_reference(root, steps) else { return };
        let Subject::Resource(name) = reference.subject else { return };
        let scope = TraceScope::new(self, module, each);
        let evaluate = |it: &Expression| expression::evaluate(it, &scope).0;
        let (key, path) = match reference.rest.split_first() {
            Some((Step::Index(it), path)) => (Some(evaluate(&it.key)), path),
            Some((Step::LegacyIndex(it), path)) => (Some(Value::int(it.index as i64)), path),
            _ => (None, reference.rest),
        };
        let step = |it: &Step| match it {
            Step::Index(it) => Some(PathStep::Index(evaluate(&it.key).to_plain().into())),
            it => it.as_written(),
        };
        let path: Vec<PathStep> = path.iter().map_while(step).collect();
        let id = scope.resource_id(name);
        if let Some(id) = id {
            let (key, span) = (key.as_ref(), expression.span);
            let (part, near) = (None, reference.near());
            scope.resource(id, Ask { key, part, span, near, is_aside: false });
        }
        // A key of the other kind is another key here: nothing is converted.
        let named = id.zip(key.as_ref().and_then(expansion::key_of));
        let log = scope.into_log();
        if self.name_all() {
            return self.trigger(node, module, each, expression);
        }
        let targets = log.iter().map(|it| {
            let (named, path) = (named.clone(), path.clone());
            Trigger { node, target: it.target, named, path, place: expression.span }
        });
        self.reads.triggers.extend(targets.filter(|it| it.target != node));
        self.record(node, log);
    }
}

/// How many rows there are of each list that a block adds to.
struct Lengths {
    reads: usize,
    waits: usize,
    triggers: usize,
    provenance: usize,
    superseded: usize,
}

impl Reads {
    fn lengths(&self) -> Lengths {
        Lengths {
            reads: self.reads.len(),
            waits: self.waits.len(),
            triggers: self.triggers.len(),
            provenance: self.provenance.rows.len(),
            superseded: self.provenance.superseded.len(),
        }
    }
}

/// Where the reads and triggers of an instance stand that its siblings share: how many there were before it, and after it.
struct Pattern {
    before: Lengths,
    after: Lengths,
}

/// Returns whether a block's instances can differ: it names `each` or `count`.
fn uses_repetition(block: &config::Resource) -> bool {
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
fn traced_uses(block: &config::Resource) -> Vec<Use<'_>> {
    let mut uses = uses::of_resource(block);
    uses.retain(|it| !matches!(it.role, Role::Repetition | Role::DependsOn | Role::Trigger));
    uses
}

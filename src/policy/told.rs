//! What the documents say beyond the relations of the planner, as rows: types, names and addresses of nodes, where they stand, what a
//! plan changes. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Node, atom::Atom};
use rustc_hash::FxHashMap;

use super::model::{Model, Planned};
use super::rules::Waiver;
use crate::address::{InstanceKey, Mode};
use crate::datalog::{Database, Program};
use crate::expression::Subject;
use crate::expression::body::named_references;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId, ResourceNode, Structure, Style};
use crate::value::{Str, Type, Value};

mod calls;
mod changes;
mod repeated;

/// The relations, with the kinds of their columns.
pub(super) const RELATIONS: &[(&str, &[&str])] = &[
    ("model::mode", &["Value"]),
    ("model::plan", &["Node"]),
    ("model::object", &["Node", "Value", "Value", "Value"]),
    ("model::value", &["Node", "Value", "Value"]),
    ("model::module", &["Node", "Value"]),
    ("model::recorded_module", &["Node", "Value"]),
    ("model::stands_in", &["Node", "Node"]),
    ("model::address", &["Node", "Value"]),
    ("model::key", &["Node", "Value"]),
    ("model::keys", &["Node"]),
    ("model::keyed", &["Node", "Node"]),
    ("model::for_each", &["Node"]),
    ("model::place", &["Node", "Value", "Value"]),
    ("model::provider", &["Node", "Value"]),
    ("model::provider_argument", &["Node", "Value", "Value"]),
    ("model::provider_version", &["Node", "Value"]),
    ("model::provider_instance", &["Node", "Text", "Text", "Value", "Text", "Value"]),
    ("model::possibly", &["Value"]),
    ("model::each_key", &["Text", "Value"]),
    ("model::named_value", &["Node"]),
    ("model::module_call", &["Node", "Value", "Value"]),
    ("model::module_version", &["Node", "Value", "Value"]),
    ("model::argument", &["Node", "Value", "Node"]),
    ("model::element", &["Node", "Value", "Node"]),
    ("model::repeats", &["Node", "Node"]),
    ("model::names", &["Node", "Node"]),
    ("model::only_named", &["Node", "Node"]),
    ("model::imported", &["Node"]),
    ("model::changes", &["Node", "Value"]),
    ("model::forces", &["Node", "Value"]),
    ("model::sensitive", &["Node", "Value"]),
    ("model::waiver", &["Node", "Value"]),
];

/// Writes the rows that some rule of a program reads.
pub(super) fn tell(model: &Model<'_>, waivers: &[Waiver], program: &Program, into: &mut Database) {
    let read = RELATIONS.iter().filter_map(|(name, _)| {
        let number = program.relation(name).filter(|it| program.rests_on(*it));
        Some((*name, number?))
    });
    let arguments = BTreeMap::new();
    let mut teller = Teller { model, read: read.collect(), into, arguments, required: None };
    let mode = match (&model.plan, model.state) {
        (Some(_), _) => "plan",
        (None, Some(_)) => "shape",
        (None, None) => "check",
    };
    teller.row("model::mode", &[teller.text(mode)]);
    teller.row("model::plan", &[model.whole().word()]);
    let possibly = teller.text("possibly");
    teller.open_row("model::possibly", &[possibly]);
    teller.modules();
    teller.calls();
    teller.nodes();
    teller.keys();
    teller.named();
    teller.changes();
    teller.sensitive();
    for waiver in waivers {
        let rule = teller.text(&waiver.rule);
        for node in &waiver.nodes {
            teller.row("model::waiver", &[node.word(), rule]);
        }
    }
}

struct Teller<'t, 'm> {
    model: &'t Model<'m>,
    /// The relations that some rule reads, by name.
    read: FxHashMap<&'static str, usize>,
    into: &'t mut Database,
    arguments: BTreeMap<u32, Vec<(Str, Read)>>,
    /// Which versions of each provider modules ask for, once somebody looks.
    required: Option<BTreeMap<String, BTreeSet<String>>>,
}

/// What an argument names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Node(Node),
    /// `each.value`: what the one element of an instance is made of, and not what those of others are.
    Element,
}

impl Teller<'_, '_> {
    fn is_read(&self, relation: &str) -> bool {
        self.read.contains_key(relation)
    }

    /// Whether it is asked what a plan is to be about: what is left to be found out is known to be, and not how many.
    fn is_before_walk(&self) -> bool {
        self.model.plan.is_none() && self.model.state.is_some()
    }

    fn row(&mut self, relation: &str, row: &[u64]) {
        if let Some(number) = self.read.get(relation) {
            self.into.give(*number, row);
        }
    }

    /// A row of which it is not known whether it will be so.
    fn open_row(&mut self, relation: &str, row: &[u64]) {
        if let Some(number) = self.read.get(relation) {
            self.into.give_possible(*number, row);
        }
    }

    fn text(&self, text: &str) -> u64 {
        self.model.values.text(text)
    }

    fn modules(&mut self) {
        for at in 0..self.model.structure.modules.len() as u32 {
            let id = ModuleId(at);
            let node = self.model.module_node(id).word();
            let module = self.model.structure.module(id);
            let address = self.text(&self.model.address(self.model.module_node(id)));
            match module.pending && !self.is_before_walk() {
                true => self.open_row("model::module", &[node, address]),
                false => self.row("model::module", &[node, address]),
            }
            if module.pending {
                self.unknown("model::key", self.model.module_node(id));
            }
            match module.pending && self.is_before_walk() {
                true => self.unknown("model::address", self.model.module_node(id)),
                false => self.row("model::address", &[node, address]),
            }
            if let Some((parent, _)) = module.parent {
                let parent = self.model.module_node(parent).word();
                self.row("model::stands_in", &[node, parent]);
            }
            self.key(node, &module.key.clone());
            self.place(self.model.module_node(id));
        }
        for node in self.model.recorded_modules() {
            let Some(module) = self.model.recorded_module(node) else { continue };
            let (address, key) = (module.to_string(), module.0.last().map(|it| it.1.clone()));
            let row = [node.word(), self.text(&address)];
            self.row("model::recorded_module", &row);
            self.row("model::address", &row);
            self.stands_in(node);
            self.key(node.word(), &key.unwrap_or(InstanceKey::None));
        }
    }

    fn nodes(&mut self) {
        let structure = self.model.structure;
        for index in 0..structure.nodes.len() as u32 {
            let node = Node(index);
            match structure.kind(node) {
                NodeKind::Object(id, key) => {
                    let resource = structure.resource(*id);
                    if self.is_there(resource, key, node) {
                        self.object(node, *id, key, self.is_open(*id));
                    }
                }
                // Once its keys are known, its instances stand for it. Before the walk it stands for all of them, however many.
                NodeKind::Pending(id) if self.model.plan.is_none() => {
                    let is_open = !self.is_before_walk();
                    self.object(node, *id, &InstanceKey::None, is_open);
                    self.unknown("model::key", node);
                }
                NodeKind::Repetition(id) => {
                    self.row("model::keys", &[node.word()]);
                    let resource = structure.resource(*id);
                    for it in resource.instances.values().chain(&resource.besides.pending) {
                        self.row("model::keyed", &[it.word(), node.word()]);
                        if resource.style == Style::ForEach {
                            self.row("model::for_each", &[it.word()]);
                        }
                    }
                }
                NodeKind::Variable(_, name) => self.value(node, "variable", name),
                NodeKind::Local(_, name) => self.value(node, "local", name),
                NodeKind::Output(_, name) => self.value(node, "output", name),
                // A state alone does not say which provider instances there are.
                NodeKind::Provider(_)
                    if self.model.plan.as_ref().is_some_and(Planned::is_of_state) => {}
                NodeKind::Provider(id) => self.provider_instance(node, *id),
                // One that only the state has stays where the plan says nothing of it.
                NodeKind::Recorded(name) => {
                    let plan = self.model.plan.as_ref().map(|it| it.plan);
                    if plan.is_some_and(|it| !it.outputs.contains_key(name)) {
                        self.value(node, "output", name);
                        let root = self.model.module_node(Structure::ROOT).word();
                        self.row("model::stands_in", &[node.word(), root]);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether an instance is declared or recorded: some stand only for what an expression names.
    fn is_there(&self, resource: &ResourceNode, key: &InstanceKey, node: Node) -> bool {
        resource.instances.get(key) == Some(&node) || self.model.state.is_some()
    }

    /// Whether it is not known which instances there will be.
    fn is_open(&self, id: ResourceId) -> bool {
        let module = self.model.structure.resource(id).module;
        self.model.state.is_none()
            && module.is_some_and(|it| self.model.structure.module(it).pending)
    }

    fn object(&mut self, node: Node, id: ResourceId, key: &InstanceKey, is_open: bool) {
        let address = self.model.structure.resource(id).address.clone();
        let mode = match address.resource.mode {
            Mode::Managed => "managed",
            Mode::Data => "data",
            Mode::Ephemeral => "ephemeral",
        };
        let row = [
            node.word(),
            self.text(mode),
            self.text(&address.resource.kind),
            self.text(&address.resource.name),
        ];
        match is_open {
            true => self.open_row("model::object", &row),
            false => self.row("model::object", &row),
        }
        self.address(node);
        self.key(node.word(), key);
        self.stands_in(node);
        self.place(node);
        self.provider(node, id);
        let resource = self.model.structure.resource(id);
        let repetition = resource.besides.repetition;
        if let Some(repetition) = repetition {
            self.row("model::repeats", &[node.word(), repetition.word()]);
        }
        if self.is_read("model::argument") || self.is_read("model::element") {
            for (name, read) in self.arguments(id) {
                let name = self.text(&name);
                match (read, repetition) {
                    (Read::Node(it), _) => {
                        self.row("model::argument", &[node.word(), name, it.word()])
                    }
                    (Read::Element, Some(it)) => {
                        self.row("model::element", &[node.word(), name, it.word()])
                    }
                    (Read::Element, None) => {}
                }
            }
        }
    }

    /// What the arguments and blocks of a resource name, each by its own name; found once for all instances.
    fn arguments(&mut self, id: ResourceId) -> Vec<(Str, Read)> {
        if let Some(known) = self.arguments.get(&id.0) {
            return known.clone();
        }
        let structure = self.model.structure;
        let resource = structure.resource(id);
        let mut found: Vec<(Str, Read)> = Vec::new();
        if let (Some(block), Some(module)) = (structure.block(id), resource.module) {
            named_references(&block.body, &mut |name, reference| {
                let read = match reference {
                    Subject::EachValue => Some(Read::Element),
                    Subject::EachKey | Subject::CountIndex => {
                        resource.besides.repetition.map(Read::Node)
                    }
                    subject => structure.whole(module, subject).map(Read::Node),
                };
                found.extend(read.map(|it| (name.clone(), it)));
            });
        }
        found.sort();
        found.dedup();
        self.arguments.insert(id.0, found.clone());
        found
    }

    fn value(&mut self, node: Node, what: &str, name: &str) {
        let row = [node.word(), self.text(what), self.text(name)];
        self.row("model::value", &row);
        self.row("model::named_value", &[node.word()]);
        self.address(node);
        self.stands_in(node);
        self.place(node);
    }

    /// A row that there is of what a node stands for, and that is not known yet.
    fn unknown(&mut self, relation: &str, node: Node) {
        let value = self.model.values.word(&Value::unknown(Type::DYNAMIC));
        self.open_row(relation, &[node.word(), value]);
    }

    fn address(&mut self, node: Node) {
        let module = self.model.module_id(node).map(|it| self.model.structure.module(it));
        let is_several = matches!(self.model.structure.kind(node), NodeKind::Pending(_))
            || module.is_some_and(|it| it.pending);
        if is_several && self.is_before_walk() {
            self.unknown("model::address", node);
        } else if self.is_read("model::address") {
            let address = self.text(&self.model.address(node));
            self.row("model::address", &[node.word(), address]);
        }
    }

    fn stands_in(&mut self, node: Node) {
        if let Some(module) = self.model.module_around(node) {
            self.row("model::stands_in", &[node.word(), module.word()]);
        }
    }

    fn key(&mut self, node: u64, key: &InstanceKey) {
        if *key == InstanceKey::None {
            return;
        }
        let word = self.model.values.word(&repeated::value_of(key));
        self.row("model::key", &[node, word]);
    }

    fn place(&mut self, node: Node) {
        if !self.is_read("model::place") {
            return;
        }
        let Some(span) = self.model.declared(node) else { return };
        let Some(source) = self.model.sources.get(span.file()) else { return };
        let line = self.model.sources.position(span.file(), span.start()).line;
        let row = [node.word(), self.text(&source.name), self.model.values.number(line as i64)];
        self.row("model::place", &row);
    }

    fn provider(&mut self, node: Node, id: ResourceId) {
        let told = ["model::provider", "model::provider_argument", "model::provider_version"];
        if !told.iter().any(|it| self.is_read(it)) {
            return;
        }
        let structure = self.model.structure;
        let planned = self.model.plan.as_ref().and_then(|it| it.change(node));
        let configured = structure.block(id).map(|it| it.provider_source.to_string());
        let recorded = || self.model.recorded_provider(node);
        let planned = planned.map(|it| it.served_by.config.provider.to_string());
        let provider = planned.or(configured).or_else(recorded);
        if let Some(provider) = provider {
            self.versions(node, &provider);
            let provider = self.text(&provider);
            self.row("model::provider", &[node.word(), provider]);
        }
        for (name, value) in self.model.provider_arguments(id) {
            if !value.contains_sensitive() && !value.is_null() {
                let row = [node.word(), self.text(&name), self.model.values.word(&value)];
                self.row("model::provider_argument", &row);
            }
        }
    }

    /// What `depends_on` names, and what nothing but `depends_on` names.
    fn named(&mut self) {
        if !self.is_read("model::names") && !self.is_read("model::only_named") {
            return;
        }
        for ((node, read), span) in self.model.places.iter() {
            let (NodeKind::Object(id, _) | NodeKind::Pending(id)) = self.model.structure.kind(node)
            else {
                continue;
            };
            let Some(block) = self.model.structure.block(*id) else { continue };
            if block.besides.depends_on.iter().any(|it| it.span.contains(span)) {
                self.row("model::names", &[node.word(), read.word()]);
                self.row("model::only_named", &[node.word(), read.word()]);
            }
        }
    }
}

//! What depends on itself: the shortest circle of blocks, with the line of every link.

use std::collections::VecDeque;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::address::ResourceName;
use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::expression::{Reference, Subject};
use crate::lists::Lists;
use crate::value::Str;

use super::super::uses::{self, Role, Use};
use super::super::{Config, Module, Variant};
use crate::config::serving::BlocksServed;

mod components;

pub use components::components;

/// A block, or a part of a module, that others can depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A variable with its value and validations.
    Variable(Variant, Str),
    /// A local value.
    Local(Variant, Str),
    /// An output.
    Output(Variant, Str),
    /// A resource block.
    Resource(Variant, ResourceName),
    /// The repetition of a module call, and what all of the module waits for.
    Call(Variant, Str),
    /// All of a module.
    Whole(Variant),
    /// A `provider` block: its module, local name and alias.
    Provider(Variant, String),
}

/// A circle of dependencies: each node reads the next at a place, the last one the first.
#[derive(Clone, Debug)]
pub struct Cycle(pub Vec<(Node, Span)>);

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |module: &Variant, text: String| {
            if module.path.is_root() { text } else { format!("{}.{text}", module.path) }
        };
        match self {
            Node::Variable(module, name) => f.write_str(&within(module, format!("var.{name}"))),
            Node::Local(module, name) => f.write_str(&within(module, format!("local.{name}"))),
            Node::Output(module, name) => f.write_str(&within(module, format!("output.{name}"))),
            Node::Resource(module, name) => f.write_str(&within(module, name.to_string())),
            Node::Call(module, name) => module.path.child(name).fmt(f),
            Node::Whole(module) => module.path.fmt(f),
            Node::Provider(module, name) => {
                f.write_str(&within(module, format!("provider.{name}")))
            }
        }
    }
}

impl Cycle {
    /// Returns the error: the names in the summary as OpenTofu lists them, each link with its line in the detail.
    pub fn to_diagnostic(&self, sources: &Sources) -> Diagnostic {
        let names: Vec<String> = self.0.iter().map(|it| graph_names(&it.0)).collect();
        let nodes = self.0.iter().map(|it| &it.0).cycle();
        let link = |((node, at), next): (&(Node, Span), &Node)| {
            let place = sources.place(*at);
            let place = if place.is_empty() { String::new() } else { format!(", {place}") };
            format!("  {node} depends on {next}{place}")
        };
        const SHOWN: usize = 50;
        let mut links: Vec<String> =
            self.0.iter().zip(nodes.skip(1)).take(SHOWN).map(link).collect();
        if self.0.len() > SHOWN {
            links.push(format!("  … and {} more", self.0.len() - SHOWN));
        }
        let detail = format!(
            "Each of these needs the value of the next, and the last that of the first:\n{}",
            links.join("\n")
        );
        Diagnostic::error(format!("Cycle: {}", names.join(", "))).detail(detail)
    }
}

/// Returns the names that OpenTofu has for the parts of a node.
fn graph_names(node: &Node) -> String {
    match node {
        Node::Variable(module, _) if !module.path.is_root() => {
            format!("{node} (expand, reference), {node} (expand, input)")
        }
        Node::Local(..) | Node::Output(..) | Node::Call(..) => format!("{node} (expand)"),
        Node::Whole(_) => format!("{node} (close)"),
        Node::Provider(..) | Node::Variable(..) | Node::Resource(..) => node.to_string(),
    }
}

/// Finds the shortest circle of every group of blocks that depend on each other. Blocks that read themselves are told elsewhere.
pub fn find(config: &Config, served: &BlocksServed) -> Vec<Cycle> {
    let graph = Graph::of(config, served);
    let links = Lists::of(graph.links.iter().copied());
    let components = components(graph.nodes.len(), |it| links.get(it));
    let mut cycles: Vec<Cycle> = components.iter().map(|it| graph.shortest(&links, it)).collect();
    cycles.sort_by_key(|it| it.0.first().map(|it| it.1));
    cycles
}

struct Graph<'a> {
    config: &'a Config,
    nodes: Vec<Node>,
    /// The numbers of resources, which are the most, by module and place.
    resources: FxHashMap<Variant, Vec<Option<u32>>>,
    /// The numbers of all other nodes.
    numbers: FxHashMap<Node, u32>,
    /// What depends on what, and where that is written.
    links: Vec<(u32, (u32, Span))>,
}

/// What each node depends on, and where that is written.
type Links = Lists<(u32, Span)>;

impl<'a> Graph<'a> {
    fn of(config: &'a Config, served: &BlocksServed) -> Graph<'a> {
        let mut graph = Graph {
            config,
            nodes: Vec::new(),
            resources: FxHashMap::default(),
            numbers: FxHashMap::default(),
            links: Vec::new(),
        };
        for (variant, module) in config.all_variants() {
            Builder { config, served, variant: &variant, module, graph: &mut graph }.build();
        }
        graph
    }

    fn number(&mut self, part: &Part) -> u32 {
        let known = match part {
            Part::Resource(module, place) => {
                self.resources.get(module).and_then(|it| *it.get(*place)?)
            }
            Part::Other(node) => self.numbers.get(node).copied(),
        };
        known.unwrap_or_else(|| self.add(part))
    }

    fn add(&mut self, part: &Part) -> u32 {
        let number = self.nodes.len() as u32;
        match part {
            Part::Resource(module, place) => {
                let blocks = self.config.variant(module).map(|it| &it.resources);
                let blocks = blocks.expect("a resource is in a module of the configuration");
                let name = &blocks.at(*place).expect("its place was found there").name;
                self.nodes.push(Node::Resource(module.clone(), name.clone()));
                let numbers = self.resources.entry(module.clone());
                numbers.or_insert_with(|| vec![None; blocks.len()])[*place] = Some(number);
            }
            Part::Other(node) => {
                self.nodes.push(node.clone());
                self.numbers.insert(node.clone(), number);
            }
        }
        number
    }

    fn link(&mut self, from: &mut Start, to: impl Into<Part>, at: Span) {
        let from = *from.number.get_or_insert_with(|| self.number(&from.part));
        let to = self.number(&to.into());
        if from != to {
            self.links.push((from, (to, at)));
        }
    }

    /// Returns the shortest circle within a component. In a huge component only as many starting points are tried as
    /// take no noticeable time.
    fn shortest(&self, links: &Links, component: &[u32]) -> Cycle {
        let count: usize = component.iter().map(|it| links.get(*it).len()).sum();
        let tried = (2_000_000 / count.max(1)).max(1);
        let inside: rustc_hash::FxHashSet<u32> = component.iter().copied().collect();
        let mut starts = component.to_vec();
        starts.sort();
        let circles =
            starts.iter().take(tried).filter_map(|it| self.circle_from(links, *it, &inside));
        circles.min_by_key(|it| it.0.len()).unwrap_or_else(|| Cycle(Vec::new()))
    }

    /// Returns the shortest way from a node back to itself.
    fn circle_from(
        &self,
        links: &Links,
        start: u32,
        inside: &rustc_hash::FxHashSet<u32>,
    ) -> Option<Cycle> {
        let mut came: FxHashMap<u32, (u32, Span)> = FxHashMap::default();
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for (next, at) in links.get(node) {
                if *next == start {
                    return Some(self.trace(start, node, *at, &came));
                }
                if inside.contains(next) && !came.contains_key(next) {
                    came.insert(*next, (node, *at));
                    open.push_back(*next);
                }
            }
        }
        None
    }

    fn trace(&self, start: u32, last: u32, at: Span, came: &FxHashMap<u32, (u32, Span)>) -> Cycle {
        let mut circle = vec![(self.nodes[last as usize].clone(), at)];
        let mut node = last;
        while node != start {
            let (before, at) = came[&node];
            circle.push((self.nodes[before as usize].clone(), at));
            node = before;
        }
        circle.reverse();
        Cycle(circle)
    }
}

/// Where a link begins or ends.
enum Part {
    /// A resource block: its module, and its place among the blocks there.
    Resource(Variant, usize),
    /// Anything else.
    Other(Node),
}

impl From<Node> for Part {
    fn from(node: Node) -> Part {
        Part::Other(node)
    }
}

/// Where links begin. What depends on nothing, and nothing on it, is not in the graph.
struct Start {
    part: Part,
    number: Option<u32>,
}

impl From<Part> for Start {
    fn from(part: Part) -> Start {
        Start { part, number: None }
    }
}

/// Adds the links of one module.
struct Builder<'a, 'c> {
    config: &'c Config,
    served: &'a BlocksServed,
    variant: &'a Variant,
    module: &'a Module,
    graph: &'a mut Graph<'c>,
}

impl Builder<'_, '_> {
    fn build(&mut self) {
        let (own, module) = (self.variant, self.module);
        for name in module.variables.keys() {
            self.variable(name);
        }
        for local in module.locals.values() {
            let mut node =
                self.member(Node::Local(own.clone(), local.name.text.clone()), local.name.span);
            self.uses(&mut node, vec![uses::of_value(&local.value)]);
        }
        for output in module.outputs.values() {
            let mut node =
                self.member(Node::Output(own.clone(), output.name.text.clone()), output.declared);
            self.uses(&mut node, uses::of_output(output));
        }
        for (place, (name, resource)) in module.resources.into_iter().enumerate() {
            let mut node = self.member(Part::Resource(own.clone(), place), resource.declared);
            self.uses(&mut node, uses::of_resource(resource));
            if let Some((module, name)) = self.served.by.get(&(own.clone(), name.clone())) {
                let at = resource.besides.provider.as_ref().map_or(resource.declared, |it| it.span);
                self.graph.link(&mut node, Node::Provider(module.clone(), name.clone()), at);
            }
        }
        for provider in &module.providers {
            let mut node =
                Start::from(Part::from(Node::Provider(own.clone(), provider.local_name())));
            self.uses(&mut node, uses::of_provider(provider));
        }
        for call in module.calls.values() {
            let mut node =
                self.member(Node::Call(own.clone(), call.name.text.clone()), call.declared);
            self.uses(&mut node, uses::of_call_itself(call));
        }
        for import in &module.imports {
            let Some(target) = import.target_from(&own.path) else { continue };
            for (of, module) in self.config.variants_at(&target.module) {
                if let Some(place) = module.resources.position(target.resource.as_ref()) {
                    let mut node = Start::from(Part::Resource(of, place));
                    self.uses(&mut node, uses::of_import(import));
                }
            }
        }
        self.whole();
    }

    /// A block of a module waits for what the module's call waits for.
    fn member(&mut self, part: impl Into<Part>, at: Span) -> Start {
        let mut node = Start::from(part.into());
        if let Some((caller, call)) = self.config.caller(self.variant) {
            self.graph.link(&mut node, Node::Call(caller, call), at);
        }
        node
    }

    fn variable(&mut self, name: &Str) {
        let Some(variable) = self.module.variables.get(name) else { return };
        let mut node =
            self.member(Node::Variable(self.variant.clone(), name.clone()), variable.declared);
        self.uses(&mut node, uses::of_conditions(&variable.validations, Role::Precondition));
        let (config, served) = (self.config, self.served);
        let Some((caller, call)) = config.caller(self.variant) else { return };
        let Some(module) = config.variant(&caller) else { return };
        if let Some(input) = module.calls.get(&call).and_then(|it| it.inputs.get(name)) {
            Builder { config, served, variant: &caller, module, graph: self.graph }
                .uses(&mut node, vec![uses::of_value(&input.value)]);
        }
    }

    /// All of a module is all of its resources and outputs, and all of what it calls.
    fn whole(&mut self) {
        let (own, module) = (self.variant, self.module);
        if own.path.is_root() {
            return;
        }
        let mut node = Start::from(Part::from(Node::Whole(own.clone())));
        for (place, resource) in module.resources.values().enumerate() {
            self.graph.link(&mut node, Part::Resource(own.clone(), place), resource.declared);
        }
        for output in module.outputs.values() {
            self.graph.link(
                &mut node,
                Node::Output(own.clone(), output.name.text.clone()),
                output.declared,
            );
        }
        for call in module.calls.values() {
            for (called, _) in self.config.called(own, &call.name.text) {
                self.graph.link(&mut node, Node::Whole(called), call.declared);
            }
        }
    }

    fn uses(&mut self, from: &mut Start, uses: Vec<Use>) {
        for it in &uses {
            for reference in &it.references().0 {
                self.reference(from, it.role, reference);
            }
        }
    }

    fn reference(&mut self, from: &mut Start, role: Role, reference: &Reference) {
        let (own, module, at) = (self.variant, self.module, reference.span);
        match reference.subject {
            Subject::Variable(name) if module.variables.contains_key(name) => {
                self.graph.link(from, Node::Variable(own.clone(), name.clone()), at);
            }
            Subject::Local(name) if module.locals.contains_key(name) => {
                self.graph.link(from, Node::Local(own.clone(), name.clone()), at);
            }
            Subject::Resource(name) => {
                if let Some((place, _)) = module.resources.named(name, reference.near()) {
                    self.graph.link(from, Part::Resource(own.clone(), place), at);
                }
            }
            Subject::Module(name) => self.module_reference(from, role, name, reference),
            _ => {}
        }
    }

    fn module_reference(
        &mut self,
        from: &mut Start,
        role: Role,
        name: &Str,
        reference: &Reference,
    ) {
        let (own, at) = (self.variant, reference.span);
        let output = reference.output();
        for (child, module) in self.config.called(own, name) {
            let named = |name: &Str| Node::Output(child.clone(), name.clone());
            match (output.filter(|it| module.outputs.contains_key(*it)), role) {
                (Some(output), _) => self.graph.link(from, named(output), at),
                (None, Role::DependsOn) => self.graph.link(from, Node::Whole(child), at),
                (None, _) => {
                    for output in module.outputs.keys() {
                        self.graph.link(from, named(output), at);
                    }
                    self.graph.link(from, Node::Call(own.clone(), name.clone()), at);
                }
            }
        }
    }
}

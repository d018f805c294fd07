//! The blocks of a configuration, and what is looked at before what. Names and shape are those of OpenTofu's plan graph.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::reduction::reduce;
use super::{Graph, GraphNode, Kind, Link, Subject};
use crate::address::{Module, ProviderConfig};
use crate::lower::blocks::{BlockGraph, BlockKey, VariantId};
use crate::operation::session::Session;

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphOptions {
    /// The edges of circles are coloured.
    pub draws_cycles: bool,
    /// The ends of providers are drawn as well.
    pub is_verbose: bool,
}

/// Returns the graph of the configuration: resources and providers with what they wait for.
///
/// - `is_whole`: edges that follow from others are there as well, and the node before all others is not.
pub fn graph(session: &Session, options: GraphOptions, is_whole: bool) -> Graph {
    let mut drawing = Drawing::default();
    drawing.blocks(&session.graph, options.is_verbose);
    if is_whole {
        drawing.edges.remove(ROOT);
    }
    let edges = if is_whole { drawing.whole() } else { drawing.reduced() };
    let edges = edges.iter().map(|(from, to, is_circle)| {
        let link = if options.draws_cycles && *is_circle { Link::InCircle } else { Link::Waits };
        (*from, *to, link)
    });
    Graph::of(Subject::Blocks, drawing.edges.keys().map(|it| drawing.node(it)), edges)
}

/// The node that waits for everything.
const ROOT: &str = "root";

/// Names, and what each waits for.
#[derive(Default)]
struct Drawing {
    edges: BTreeMap<String, BTreeSet<String>>,
    /// What is drawn, and how; everything else stands in edges only.
    shapes: BTreeMap<String, &'static str>,
    /// What is known of each name that is more than a beginning or an end.
    known: BTreeMap<String, Known>,
}

/// What a name stands for.
struct Known {
    address: String,
    module: String,
    kind: Kind,
}

impl Drawing {
    fn edge(&mut self, from: impl Into<String>, to: impl Into<String>) {
        let to = to.into();
        self.edges.entry(to.clone()).or_default();
        self.edges.entry(from.into()).or_default().insert(to);
    }

    fn blocks(&mut self, graph: &BlockGraph, is_verbose: bool) {
        let used = self.providers(graph, is_verbose);
        for (number, block) in graph.all() {
            let module = &graph.module_of(number).variant.path;
            if matches!(block.key, BlockKey::Inside(_)) {
                continue;
            }
            let (own, rests) = names(graph, number);
            if matches!(block.key, BlockKey::Provider(..)) && !used.contains(&own) {
                continue;
            }
            self.edges.entry(own.clone()).or_default();
            if own != rests {
                self.edge(own.clone(), rests.clone());
            }
            for next in graph.referred_to(number) {
                // Which provider serves a resource is drawn with the providers.
                if !matches!(graph.block(next).key, BlockKey::Provider(..)) {
                    self.edge(rests.clone(), names(graph, next).0);
                }
            }
            for name in [&own, &rests] {
                self.know(name, module, kind_of(block.key));
            }
            self.extras(module, block.key, &own);
        }
        for (_, module) in graph.modules.iter() {
            let Some((caller, _)) = module.caller else { continue };
            let path = &module.variant.path;
            let close = format!("{path} (close)");
            if caller != VariantId::ROOT {
                let outer = &graph.modules[caller].variant.path;
                self.edge(format!("{outer} (close)"), close.clone());
            }
            self.edge(close, graph.told_apart(caller, format!("{path} (expand)")));
        }
        let all: Vec<String> = self.edges.keys().cloned().collect();
        all.into_iter().for_each(|it| self.edge(ROOT, it));
    }

    fn know(&mut self, name: &str, module: &Module, kind: Kind) {
        let module = if module.is_root() { String::new() } else { module.to_string() };
        self.known.insert(name.to_owned(), Known { address: plain(name), module, kind });
    }

    fn extras(&mut self, module: &Module, key: &BlockKey, own: &str) {
        match key {
            BlockKey::Variable(name) if module.is_root() => {
                let name = format!("var.{name}");
                self.edge(own, name.clone());
                self.know(&name, module, Kind::Variable);
                self.shapes.insert(name, "note");
            }
            BlockKey::Resource(_) => {
                self.shapes.insert(own.to_owned(), "box");
            }
            BlockKey::Check(_) => self.edge(own, own.replace(" (expand", " (report")),
            _ => {}
        }
        if !module.is_root() {
            self.edge(format!("{module} (close)"), own);
        }
    }

    /// Draws the providers that serve something, and returns their names.
    fn providers(&mut self, graph: &BlockGraph, is_verbose: bool) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        for (number, block) in graph.all() {
            let BlockKey::Resource(_) = block.key else { continue };
            let Some(served) = graph.configured.serves(number) else { continue };
            let provider = served.config.to_string();
            let resource = graph.name(number);
            self.edge(resource.clone(), provider.clone());
            let end = format!("{provider} (close)");
            self.edge(end.clone(), resource);
            if is_verbose {
                self.shapes.insert(end, "diamond");
            }
            self.know(&provider, &served.config.module, Kind::Provider);
            self.shapes.insert(provider.clone(), "diamond");
            used.insert(provider);
        }
        used
    }

    fn node(&self, id: &str) -> GraphNode {
        let known = self.known.get(id);
        let address = known.map_or_else(|| id.to_owned(), |it| it.address.clone());
        GraphNode {
            id: id.to_owned(),
            block: address.clone(),
            address,
            module: known.map_or_else(String::new, |it| it.module.clone()),
            kind: known.map_or(Kind::Scaffold, |it| it.kind),
            shape: self.shapes.get(id).copied(),
            ..GraphNode::default()
        }
    }

    /// Returns every edge, and whether it is part of a circle.
    fn whole(&self) -> Vec<(&str, &str, bool)> {
        let circles: BTreeSet<(&str, &str)> =
            self.reduced().iter().filter(|it| it.2).map(|it| (it.0, it.1)).collect();
        let all = self.edges.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        let all = all.map(|(from, to)| (from.as_str(), to.as_str()));
        all.map(|(from, to)| (from, to, circles.contains(&(from, to)))).collect()
    }

    /// Returns the edges that do not follow from others, and whether each is part of a circle.
    fn reduced(&self) -> Vec<(&str, &str, bool)> {
        let names: Vec<&str> = self.edges.keys().map(String::as_str).collect();
        let numbers: FxHashMap<&str, u32> = names.iter().copied().zip(0..).collect();
        // Names are sorted, and so are their numbers.
        let numbered = |it: &BTreeSet<String>| it.iter().map(|it| numbers[it.as_str()]).collect();
        let links: Vec<Vec<u32>> = self.edges.values().map(numbered).collect();
        let name = |number: u32| names[number as usize];
        let kept = reduce(&links).kept.into_iter();
        kept.map(|(from, to, is_circle)| (name(from), name(to), is_circle)).collect()
    }
}

fn kind_of(key: &BlockKey) -> Kind {
    match key {
        BlockKey::Variable(_) => Kind::Variable,
        BlockKey::Local(_) => Kind::Local,
        BlockKey::Output(_) => Kind::Output,
        BlockKey::Resource(_) => Kind::Resource,
        BlockKey::Call(_) | BlockKey::Inside(_) => Kind::Module,
        BlockKey::Provider(..) => Kind::Provider,
        BlockKey::Check(_) => Kind::Check,
    }
}

/// The address within a name: what says that it is to be expanded goes, where the source is named stays.
fn plain(name: &str) -> String {
    let Some((address, rest)) = name.split_once(" (expand") else { return name.to_owned() };
    let rest = rest.trim_end_matches(')');
    let rest =
        [", reference", ", input"].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
    match rest.strip_prefix(", ") {
        Some(source) => format!("{address} ({source})"),
        None => address.to_owned(),
    }
}

/// Returns what others wait for when they refer to a block, and what waits for all that the block refers to.
fn names(graph: &BlockGraph, number: usize) -> (String, String) {
    let block = graph.block(number);
    let code = graph.module_of(number);
    let (module, own) = (&code.variant.path, graph.name(number));
    match block.key {
        BlockKey::Variable(name) => {
            let placed = if module.is_root() { String::new() } else { format!("{module}.") };
            let told = |how: &str| {
                graph.told_apart(block.module, format!("{placed}var.{name} (expand, {how})"))
            };
            let own = told("reference");
            let input = if module.is_root() { own.clone() } else { told("input") };
            (own, input)
        }
        BlockKey::Check(name) => {
            let placed = if module.is_root() { String::new() } else { format!("{module}.") };
            let own = graph.told_apart(block.module, format!("{placed}check.{name} (expand)"));
            (own.clone(), own)
        }
        BlockKey::Provider(name, alias) => {
            let provider = code.config.provider_of(name);
            let own = ProviderConfig { module: module.clone(), provider, alias: alias.clone() };
            (own.to_string(), own.to_string())
        }
        _ => (own.clone(), own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_other_edges_is_not_drawn() {
        let mut drawing = Drawing::default();
        drawing.edge("a", "b");
        drawing.edge("b", "c");
        drawing.edge("a", "c");
        let edges: Vec<String> =
            drawing.reduced().iter().map(|it| format!("{} {}", it.0, it.1)).collect();
        assert_eq!(edges, ["a b", "b c"]);
    }
}

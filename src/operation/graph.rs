//! `graph`: what is looked at before what, as DOT. Names and shape are those of OpenTofu's plan graph.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Flag, Node, Phase};
use rustc_hash::FxHashMap;

use self::reduction::reduce;
use super::saved::Loaded;
use super::session::Session;
use crate::address::{Module, ProviderConfig};
use crate::config::Config;
use crate::lower::blocks::{BlockGraph, BlockKey};
use crate::value::text::quoted;

mod reduction;

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphOptions {
    /// The edges of circles are coloured.
    pub draws_cycles: bool,
    /// The ends of providers are drawn as well.
    pub is_verbose: bool,
}

/// Returns the graph of the configuration: resources and providers with what they wait for.
pub fn dot(session: &Session, options: GraphOptions) -> String {
    let mut drawing = Drawing::default();
    drawing.blocks(&session.config, &session.graph, options.is_verbose);
    let edges = drawing.reduced();
    let nodes = drawing.shapes.iter().map(|(name, (label, shape))| {
        format!(
            "\t\t{} [label = {}, shape = \"{shape}\"]",
            quoted(&format!("[root] {name}")),
            quoted(label)
        )
    });
    let edges = edges.iter().map(|(from, to, is_circle)| {
        let (from, to) = (format!("[root] {from}"), format!("[root] {to}"));
        let look = match options.draws_cycles && *is_circle {
            true => " [color = \"red\", penwidth = \"2.0\"]",
            false => "",
        };
        format!("\t\t{} -> {}{look}", quoted(&from), quoted(&to))
    });
    written(&nodes.collect(), &edges.collect())
}

/// Returns the graph of a saved plan: its steps and what each waits for. What a policy asks for says so: an order, and steps that
/// do not overlap, which wait for each other in no order.
pub fn dot_of_plan(loaded: &Loaded) -> String {
    let steps = loaded.order.step.iter().copied();
    let ends = loaded.order.before.iter().flat_map(|it| [(it.0, it.1), (it.2, it.3)]);
    let nodes = steps.chain(ends).map(|step| {
        let label = quoted(&loaded.structure.name(step.0));
        format!("\t\t{} [label = {label}, shape = \"box\"]", step_name(loaded, step))
    });
    let asked: BTreeMap<(Node, Node), &str> =
        loaded.facts.ordered.iter().map(|it| ((it.0, it.1), asked_by(loaded, it.2))).collect();
    let edges = loaded.order.before.iter().map(|&(first, phase, then, then_phase)| {
        let first_name = step_name(loaded, (first, phase));
        let edge = format!("\t\t{} -> {first_name}", step_name(loaded, (then, then_phase)));
        match asked.get(&(first, then)) {
            Some(by) => format!("{edge} [label = {}]", quoted(by)),
            None => edge,
        }
    });
    written(&nodes.collect(), &edges.chain(turns(loaded)).collect())
}

fn step_name(loaded: &Loaded, (node, phase): (Node, Phase)) -> String {
    let suffix = match phase {
        Phase::Up => "",
        Phase::Settled => " (settled)",
        Phase::Made => " (everything is made)",
        Phase::Down | Phase::Late => " (destroy)",
    };
    quoted(&format!("[root] {}{suffix}", loaded.structure.name(node)))
}

/// What asks for an order or a group, as the plan names it.
fn asked_by(loaded: &Loaded, flag: Flag) -> &str {
    loaded.flags.get(flag.0 as usize).map_or("", String::as_str)
}

/// Returns an edge without direction from each step of a group to the next: only one of them runs at a time.
fn turns(loaded: &Loaded) -> Vec<String> {
    let mut groups: BTreeMap<&str, BTreeSet<(Node, Phase)>> = BTreeMap::new();
    let steps: BTreeSet<(Node, Phase)> = loaded.order.step.iter().copied().collect();
    for &(node, flag) in &loaded.facts.one_at_a_time {
        let own = Phase::ALL.iter().map(|it| (node, *it)).filter(|it| steps.contains(it));
        groups.entry(asked_by(loaded, flag)).or_default().extend(own);
    }
    let edges = groups.iter().flat_map(|(by, steps)| {
        steps.iter().zip(steps.iter().skip(1)).map(|(one, other)| {
            let style = format!("dir = \"none\", style = \"dashed\", label = {}", quoted(by));
            format!("\t\t{} -> {} [{style}]", step_name(loaded, *one), step_name(loaded, *other))
        })
    });
    edges.collect()
}

fn written(nodes: &BTreeSet<String>, edges: &BTreeSet<String>) -> String {
    let lines: Vec<&str> = nodes.iter().chain(edges).map(String::as_str).collect();
    format!(
        "digraph {{\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {{\n{}\n\t}}\n}}\n\n",
        lines.join("\n")
    )
}

/// Names, and what each waits for.
#[derive(Default)]
struct Drawing {
    edges: BTreeMap<String, BTreeSet<String>>,
    /// Label and shape of what is drawn; everything else stands in edges only.
    shapes: BTreeMap<String, (String, &'static str)>,
}

impl Drawing {
    fn edge(&mut self, from: impl Into<String>, to: impl Into<String>) {
        let to = to.into();
        self.edges.entry(to.clone()).or_default();
        self.edges.entry(from.into()).or_default().insert(to);
    }

    fn blocks(&mut self, config: &Config, graph: &BlockGraph, is_verbose: bool) {
        let used = self.providers(graph, is_verbose);
        for (number, block) in graph.blocks.iter().enumerate() {
            let (own, rests) = names(config, graph, number);
            if matches!(block.key, BlockKey::Provider(..)) && !used.contains(&own) {
                continue;
            }
            self.edges.entry(own.clone()).or_default();
            if own != rests {
                self.edge(own.clone(), rests.clone());
            }
            for &(next, _) in &block.edges {
                // Which provider serves a resource is drawn with the providers.
                if !matches!(graph.blocks[next].key, BlockKey::Provider(..)) {
                    self.edge(rests.clone(), names(config, graph, next).0);
                }
            }
            self.extras(&block.module.path, &block.key, &own);
        }
        for (module, _) in config.all_variants() {
            let Some((caller, _)) = config.caller(&module) else { continue };
            let close = format!("{} (close)", module.path);
            if !caller.path.is_root() {
                self.edge(format!("{} (close)", caller.path), close.clone());
            }
            self.edge(close, graph.told_apart(&caller, format!("{} (expand)", module.path)));
        }
        let all: Vec<String> = self.edges.keys().cloned().collect();
        all.into_iter().for_each(|it| self.edge("root", it));
    }

    fn extras(&mut self, module: &Module, key: &BlockKey, own: &str) {
        match key {
            BlockKey::Variable(name) if module.is_root() => {
                self.edge(own, format!("var.{name}"));
                self.shapes.insert(format!("var.{name}"), (format!("var.{name}"), "note"));
            }
            BlockKey::Resource(_) => {
                let label = own.trim_end_matches(" (expand)").replace(" (expand, ", " (");
                self.shapes.insert(own.to_owned(), (label, "box"));
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
        for (number, block) in graph.blocks.iter().enumerate() {
            let BlockKey::Resource(_) = &block.key else { continue };
            let Some(served) = graph.configured.serves(number) else { continue };
            let provider = served.config.to_string();
            let resource = graph.name(number);
            self.edge(resource.clone(), provider.clone());
            let end = format!("{provider} (close)");
            self.edge(end.clone(), resource);
            if is_verbose {
                self.shapes.insert(end.clone(), (end, "diamond"));
            }
            self.shapes.insert(provider.clone(), (provider.clone(), "diamond"));
            used.insert(provider);
        }
        used
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

/// Returns what others wait for when they refer to a block, and what waits for all that the block refers to.
fn names(config: &Config, graph: &BlockGraph, number: usize) -> (String, String) {
    let block = &graph.blocks[number];
    let (module, own) = (&block.module.path, graph.name(number));
    match &block.key {
        BlockKey::Variable(name) => {
            let placed = if module.is_root() { String::new() } else { format!("{module}.") };
            let told = |how: &str| {
                graph.told_apart(&block.module, format!("{placed}var.{name} (expand, {how})"))
            };
            let own = told("reference");
            let input = if module.is_root() { own.clone() } else { told("input") };
            (own, input)
        }
        BlockKey::Check(name) => {
            let placed = if module.is_root() { String::new() } else { format!("{module}.") };
            let own = graph.told_apart(&block.module, format!("{placed}check.{name} (expand)"));
            (own.clone(), own)
        }
        BlockKey::Provider(name, alias) => {
            let of = config.variant(&block.module).map(|it| it.provider_of(name));
            let provider = of.unwrap_or_else(|| crate::address::Provider::implied(name));
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

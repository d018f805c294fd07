//! `graph`: blocks and what they wait for, as DOT.

use std::collections::BTreeSet;

use entail_rules::{Node, Phase};

use super::saved::Loaded;
use super::session::Session;
use crate::address::quote;
use crate::lower::blocks::BlockKey;

/// Returns the graph of the configuration's blocks.
pub fn dot(session: &Session) -> String {
    let graph = &session.graph;
    let mut nodes = BTreeSet::new();
    let mut edges = BTreeSet::new();
    for (number, block) in graph.blocks.iter().enumerate() {
        let name = format!("[root] {}", graph.name(number));
        let shape = match block.key {
            BlockKey::Resource(_) => "box",
            BlockKey::Provider(..) => "diamond",
            _ => "note",
        };
        nodes.insert(format!("\t\t{} [label = {}, shape = \"{shape}\"]", quote(&name), quote(&graph.name(number))));
        for (next, _) in &block.edges {
            edges.insert(format!("\t\t{} -> {}", quote(&name), quote(&format!("[root] {}", graph.name(*next)))));
        }
    }
    written(nodes, &edges)
}

/// Returns the graph of a saved plan: its steps and what each waits for.
pub fn dot_of_plan(loaded: &Loaded) -> String {
    let name = |node: Node, phase: Phase| {
        let suffix = match phase {
            Phase::Up => "",
            Phase::Settled => " (settled)",
            Phase::Down | Phase::Late => " (destroy)",
        };
        quote(&format!("[root] {}{suffix}", loaded.structure.name(node)))
    };
    let steps = loaded.order.step.iter().copied();
    let ends = loaded.order.before.iter().flat_map(|it| [(it.0, it.1), (it.2, it.3)]);
    let nodes = steps.chain(ends).map(|(node, phase)| {
        format!("\t\t{} [label = {}, shape = \"box\"]", name(node, phase), quote(&loaded.structure.name(node)))
    });
    let edges = loaded.order.before.iter().map(|it| format!("\t\t{} -> {}", name(it.0, it.1), name(it.2, it.3)));
    written(nodes.collect(), &edges.collect())
}

fn written(nodes: BTreeSet<String>, edges: &BTreeSet<String>) -> String {
    let lines: Vec<&str> = nodes.iter().chain(edges).map(String::as_str).collect();
    format!("digraph {{\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {{\n{}\n\t}}\n}}\n\n", lines.join("\n"))
}

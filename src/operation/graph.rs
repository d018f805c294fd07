//! `graph`: blocks and what they wait for, as DOT.

use std::collections::BTreeSet;

use super::session::Session;
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
        nodes.insert(format!("\t\t{} [label = {}, shape = \"{shape}\"]", crate::address::quote(&name), crate::address::quote(&graph.name(number))));
        for (next, _) in &block.edges {
            edges.insert(format!("\t\t{} -> {}", crate::address::quote(&name), crate::address::quote(&format!("[root] {}", graph.name(*next)))));
        }
    }
    let lines: Vec<String> = nodes.into_iter().chain(edges).collect();
    format!("digraph {{\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {{\n{}\n\t}}\n}}\n\n", lines.join("\n"))
}

//! Graphs as documents: DOT for Graphviz, JSON for programs, and a drawing that needs neither.

use std::collections::{BTreeMap, BTreeSet};

use entail::value::text::quoted;
use entail::workflow::graph::{Graph, GraphEdge, GraphNode, Kind, Link, Phase, Subject};
use serde_json::{Map, Value as Json, json};

pub mod svg;

/// The version of the document. The first number rises when something goes or changes its meaning.
const FORMAT_VERSION: &str = "1.0";

/// Returns the graph in the language of Graphviz.
pub fn dot(graph: &Graph) -> String {
    let name = |at: usize| quoted(&format!("[root] {}", graph.nodes[at].id));
    let nodes = graph.nodes.iter().enumerate().filter_map(|(at, node)| {
        let (name, label, shape) = (name(at), quoted(&node.address), node.shape?);
        Some(format!("\t\t{name} [label = {label}, shape = \"{shape}\"]"))
    });
    let edges = graph.edges.iter().map(|it| {
        let look = match &it.link {
            Link::Waits => String::new(),
            Link::InCircle => " [color = \"red\", penwidth = \"2.0\"]".to_owned(),
            Link::Asked(by) => format!(" [label = {}]", quoted(by)),
            Link::Apart(by) => {
                format!(" [dir = \"none\", style = \"dashed\", label = {}]", quoted(by))
            }
        };
        format!("\t\t{} -> {}{look}", name(it.from), name(it.to))
    });
    let nodes: BTreeSet<String> = nodes.collect();
    let edges: BTreeSet<String> = edges.collect();
    let lines: Vec<&str> = nodes.iter().chain(&edges).map(String::as_str).collect();
    format!(
        "digraph {{\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {{\n{}\n\t}}\n}}\n\n",
        lines.join("\n")
    )
}

/// Returns the graph as a JSON document. What is not known has no member.
pub fn json(graph: &Graph) -> String {
    let mut phases: BTreeMap<Phase, Vec<&str>> = BTreeMap::new();
    for node in &graph.nodes {
        if let Some(phase) = node.phase {
            phases.entry(phase).or_default().push(&node.id);
        }
    }
    let phases: Vec<Json> = Phase::ALL
        .iter()
        .filter_map(|it| Some(json!({ "name": it.text(), "nodes": phases.get(it)? })))
        .collect();
    let document = json!({
        "format_version": FORMAT_VERSION,
        "graph": graph.subject.name(),
        "nodes": graph.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": graph.edges.iter().map(|it| edge(graph, it)).collect::<Vec<_>>(),
        "phases": phases,
    });
    format!("{document:#}\n")
}

fn node(node: &GraphNode) -> Json {
    let mut out = Map::new();
    let mut put = |name: &str, value: &str| {
        if !value.is_empty() {
            out.insert(name.to_owned(), value.into());
        }
    };
    put("id", &node.id);
    put("address", &node.address);
    put("kind", node.kind.name());
    if node.block != node.address {
        put("block", &node.block);
    }
    put("module", &node.module);
    put("action", node.action.unwrap_or_default());
    put("phase", node.phase.map_or("", Phase::text));
    Json::Object(out)
}

fn edge(graph: &Graph, edge: &GraphEdge) -> Json {
    let id = |at: usize| &graph.nodes[at].id;
    let (kind, because) = match &edge.link {
        Link::Waits => ("waits", None),
        Link::InCircle => ("circle", None),
        Link::Asked(by) => ("asked", Some(by)),
        Link::Apart(by) => ("apart", Some(by)),
    };
    let mut out = json!({ "from": id(edge.from), "to": id(edge.to), "kind": kind });
    if let Some(by) = because {
        out["because"] = by.as_str().into();
    }
    out
}

/// What a drawing says of the nodes of a graph.
fn said(subject: Subject) -> &'static str {
    match subject {
        Subject::Blocks => "Each box is a block; what it waits for stands to its right.",
        Subject::Instances => "Each box is an object; what it rests on stands to its right.",
        Subject::Steps => "Each box is a step; what it waits for stands to its right.",
    }
}

/// How a node is coloured.
fn class(node: &GraphNode) -> &'static str {
    match (node.action, node.kind) {
        (Some(action), _) => action,
        (None, Kind::Resource) => "object",
        (None, Kind::Between | Kind::Scaffold) => "junction",
        (None, kind) => kind.name(),
    }
}

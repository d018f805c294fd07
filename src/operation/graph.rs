//! `graph`: what waits for what, and what rests on what. One model, whoever writes it down.

use std::collections::BTreeMap;

pub use entail_rules::Phase;

pub use self::blocks::GraphOptions;

mod around;
pub mod blocks;
pub mod objects;
mod reduction;
pub mod steps;

/// What the nodes of a graph are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// The blocks of a configuration, in OpenTofu's names and shape.
    #[default]
    Blocks,
    /// The objects of a configuration and its state, or of a saved plan.
    Instances,
    /// The steps of a saved plan.
    Steps,
}

impl Subject {
    /// What documents call it.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Blocks => "blocks",
            Subject::Instances => "instances",
            Subject::Steps => "steps",
        }
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A resource, or one of its objects or steps.
    #[default]
    Resource,
    /// The configuration of a provider.
    Provider,
    /// An input variable.
    Variable,
    /// A local value.
    Local,
    /// An output.
    Output,
    /// A call of a module.
    Module,
    /// A check.
    Check,
    /// A step of something that is no object, or what lies between objects that rest on each other.
    Between,
    /// The beginning or the end of others: it orders, and is nothing by itself.
    Scaffold,
}

impl Kind {
    /// What documents call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Resource => "resource",
            Kind::Provider => "provider",
            Kind::Variable => "variable",
            Kind::Local => "local",
            Kind::Output => "output",
            Kind::Module => "module",
            Kind::Check => "check",
            Kind::Between => "between",
            Kind::Scaffold => "scaffold",
        }
    }
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphNode {
    /// What no other node of the graph is called.
    pub id: String,
    /// What people know it by.
    pub address: String,
    /// The block that it is an instance of; its address where it is none.
    pub block: String,
    /// The module that it is in, without keys; nothing for the root module.
    pub module: String,
    /// What it is.
    pub kind: Kind,
    /// How drawing programs show it; what has no shape stands in edges only.
    pub shape: Option<&'static str>,
    /// What a plan does with it, in one word.
    pub action: Option<&'static str>,
    /// When the step is carried out, relative to others of the same object.
    pub phase: Option<Phase>,
}

/// Why there is an edge.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// One waits for the other, or rests on it.
    #[default]
    Waits,
    /// So it does, as part of a circle.
    InCircle,
    /// A policy asks for that order.
    Asked(String),
    /// A policy asks that the two do not overlap, in whichever order.
    Apart(String),
}

/// An edge: who waits, and for whom, by position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphEdge {
    /// Who waits.
    pub from: usize,
    /// For whom.
    pub to: usize,
    /// Why.
    pub link: Link,
}

/// A graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// What its nodes are.
    pub subject: Subject,
    /// The nodes, by their ids.
    pub nodes: Vec<GraphNode>,
    /// The edges, each once.
    pub edges: Vec<GraphEdge>,
}

impl Graph {
    /// Puts a graph together. Of nodes with the same id, the last one counts.
    fn of<'n>(
        subject: Subject,
        nodes: impl IntoIterator<Item = GraphNode>,
        edges: impl IntoIterator<Item = (&'n str, &'n str, Link)>,
    ) -> Graph {
        let by_id: BTreeMap<String, GraphNode> =
            nodes.into_iter().map(|it| (it.id.clone(), it)).collect();
        let nodes: Vec<GraphNode> = by_id.into_values().collect();
        let place = |id: &str| nodes.binary_search_by(|it| it.id.as_str().cmp(id)).ok();
        let edges = edges.into_iter().filter_map(|(from, to, link)| {
            Some(GraphEdge { from: place(from)?, to: place(to)?, link })
        });
        let mut edges: Vec<GraphEdge> = edges.collect();
        edges.sort();
        edges.dedup();
        Graph { subject, nodes, edges }
    }
}

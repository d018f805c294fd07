//! What stands next to something in a graph: one edge each way.

use std::collections::BTreeSet;

use super::{Graph, GraphEdge, GraphNode, Subject};
use crate::address::{Instance, ModuleInstance};
use crate::diagnostic::Diagnostic;

/// How many names are told that resemble the one that nothing has.
const NEAREST: usize = 3;

impl Graph {
    /// Leaves what has an address and all that is one edge away from that, with the edges between them and it.
    ///
    /// A resource stands for its instances, a module for everything in it.
    ///
    /// # Errors
    ///
    /// If nothing has the address: the names that are most like it are told.
    pub fn around(self, address: &str) -> Result<Graph, Diagnostic> {
        let wanted = normal(address);
        let centre = self.having(&wanted);
        if centre.is_empty() {
            return Err(self.unknown(&wanted));
        }
        let touching: Vec<GraphEdge> = self
            .edges
            .into_iter()
            .filter(|it| centre.contains(&it.from) || centre.contains(&it.to))
            .collect();
        let mut kept = centre;
        kept.extend(touching.iter().flat_map(|it| [it.from, it.to]));
        let places: Vec<usize> = kept.iter().copied().collect();
        let place = |old: usize| places.binary_search(&old).unwrap_or_default();
        let edges = touching.into_iter().map(|it| GraphEdge {
            from: place(it.from),
            to: place(it.to),
            link: it.link,
        });
        let nodes = self.nodes.into_iter().enumerate().filter(|it| kept.contains(&it.0));
        Ok(Graph {
            subject: self.subject,
            nodes: nodes.map(|it| it.1).collect(),
            edges: edges.collect(),
        })
    }

    /// The nodes of an address: those that have it, else the instances of that block, else everything in that module.
    fn having(&self, address: &str) -> BTreeSet<usize> {
        let within = format!("{address}.");
        let keyed = format!("{address}[");
        let is_module = is_module(address);
        let is_named = |it: &GraphNode| it.address == address || it.id == address;
        // What is not unique by itself has its source, its phase or what else tells it apart behind its address.
        let is_told_apart = |it: &GraphNode| {
            it.block == address
                || it.address.strip_prefix(address).is_some_and(|it| it.starts_with(" ("))
        };
        let is_inside = |it: &GraphNode| {
            is_module && (it.address.starts_with(&within) || it.address.starts_with(&keyed))
        };
        let tests: [&dyn Fn(&GraphNode) -> bool; 3] = [&is_named, &is_told_apart, &is_inside];
        for test in tests {
            let all = self.nodes.iter().enumerate();
            let found: BTreeSet<usize> = all.filter(|it| test(it.1)).map(|it| it.0).collect();
            if !found.is_empty() {
                return found;
            }
        }
        BTreeSet::new()
    }

    fn unknown(&self, address: &str) -> Diagnostic {
        let most = 2.max(address.chars().count() / 5);
        let names: BTreeSet<&str> =
            self.nodes.iter().flat_map(|it| [it.address.as_str(), it.block.as_str()]).collect();
        let mut near: Vec<(usize, &str)> = names
            .into_iter()
            .filter(|it| !it.is_empty() && it.len().abs_diff(address.len()) <= most)
            .map(|it| (strsim::damerau_levenshtein(it, address), it))
            .filter(|it| it.0 <= most)
            .collect();
        near.sort_unstable();
        let best = near.first().map_or(0, |it| it.0);
        near.retain(|it| it.0 <= best + 1);
        near.truncate(NEAREST);
        let near: Vec<&str> = near.iter().map(|it| it.1).collect();
        let hint = match near.as_slice() {
            [] => String::new(),
            [one] => format!(" Did you mean {one}?"),
            [all @ .., last] => format!(" Did you mean {} or {last}?", all.join(", ")),
        };
        let of_instance = match (self.subject, address.parse::<Instance>()) {
            (Subject::Blocks, Ok(it)) if it.to_string() != it.config().to_string() => {
                " This graph has blocks; -instances draws their instances."
            }
            _ => "",
        };
        Diagnostic::error("Nothing has that address").detail(format!(
            "{address}, which -around names, is not in the graph.{hint}{of_instance}"
        ))
    }
}

/// An address as it is written here, whichever way it was typed.
fn normal(address: &str) -> String {
    let address = address.trim();
    let instance = address.parse::<Instance>().ok().map(|it| it.to_string());
    instance.unwrap_or_else(|| address.to_owned())
}

fn is_module(address: &str) -> bool {
    address.parse::<ModuleInstance>().is_ok_and(|it| !it.is_root())
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Link};
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let names: BTreeSet<&str> = edges.iter().flat_map(|it| [it.0, it.1]).collect();
        let node = |name: &str| GraphNode {
            id: name.to_owned(),
            address: name.to_owned(),
            block: name.split('[').next().unwrap_or_default().to_owned(),
            kind: Kind::Resource,
            ..GraphNode::default()
        };
        let nodes = names.iter().map(|it| node(it));
        let edges = edges.iter().map(|it| (it.0, it.1, Link::Waits));
        Graph::of(Subject::Instances, nodes, edges)
    }

    fn edges(graph: &Graph) -> Vec<String> {
        let name = |at: usize| graph.nodes[at].id.as_str();
        graph.edges.iter().map(|it| format!("{} {}", name(it.from), name(it.to))).collect()
    }

    const EDGES: &[(&str, &str)] =
        &[("a.d", "a.c[0]"), ("a.d", "a.c[1]"), ("a.c[0]", "a.b"), ("a.b", "a.a"), ("a.d", "a.b")];

    #[test]
    fn one_edge_each_way_is_left() {
        let around = graph(EDGES).around("a.c[0]").expect("it is there");
        assert_eq!(edges(&around), ["a.c[0] a.b", "a.d a.c[0]"]);
        assert_eq!(around.nodes.len(), 3);
    }

    #[test]
    fn a_resource_stands_for_its_instances() {
        let around = graph(EDGES).around("a.c").expect("it has instances");
        assert_eq!(edges(&around), ["a.c[0] a.b", "a.d a.c[0]", "a.d a.c[1]"]);
    }

    #[test]
    fn a_module_stands_for_what_is_in_it() {
        let edges_of = [("module.m[0].a.b", "a.a"), ("a.c", "module.m[0].a.b"), ("a.c", "a.a")];
        for address in ["module.m", "module.m[0]"] {
            let around = graph(&edges_of).around(address).expect("something is in it");
            assert_eq!(edges(&around), ["a.c module.m[0].a.b", "module.m[0].a.b a.a"]);
        }
    }

    #[test]
    fn what_is_not_there_is_told_with_what_resembles_it() {
        let said = graph(EDGES).around("a.e").expect_err("nothing has it").to_string();
        assert!(said.contains("Did you mean a.a, a.b or a.c?"), "{said}");
        let said = graph(EDGES).around("module.elsewhere.x.y").expect_err("nothing").to_string();
        assert!(!said.contains("Did you mean"), "{said}");
    }
}

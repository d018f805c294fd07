//! Lists of nodes by node, which a map with a list for each of a million nodes is several times as large as.

use entail_rules::Node;
use rustc_hash::FxHashMap;

/// Lists of nodes by node: those known from the start end to end, later ones apart.
#[derive(Clone, Debug, Default)]
pub struct NodeLists {
    starts: Vec<u32>,
    nodes: Vec<Node>,
    more: FxHashMap<Node, Vec<Node>>,
}

impl NodeLists {
    /// Returns the lists of rows that are sorted.
    pub fn of(rows: &[(Node, Node)]) -> NodeLists {
        let count = rows.last().map_or(0, |it| it.0.0 as usize + 1);
        let mut starts = Vec::with_capacity(count + 1);
        for (at, row) in rows.iter().enumerate() {
            starts.resize(starts.len().max(row.0.0 as usize + 1), at as u32);
        }
        starts.push(rows.len() as u32);
        NodeLists {
            starts,
            nodes: rows.iter().map(|it| it.1).collect(),
            more: FxHashMap::default(),
        }
    }

    /// Returns the list of a node.
    pub fn of_node(&self, node: Node) -> &[Node] {
        if !self.more.is_empty()
            && let Some(more) = self.more.get(&node)
        {
            return more;
        }
        match self.starts.get(node.0 as usize..node.0 as usize + 2) {
            Some(&[from, to]) => &self.nodes[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Adds to the list of a node.
    pub fn push(&mut self, node: Node, other: Node) {
        if !self.more.contains_key(&node) {
            self.more.insert(node, self.of_node(node).to_vec());
        }
        self.more.entry(node).or_default().push(other);
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, NodeLists};

    #[test]
    fn what_comes_later_is_added_to_what_was_known_from_the_start() {
        let rows = [(Node(1), Node(5)), (Node(1), Node(7)), (Node(4), Node(2))];
        let mut lists = NodeLists::of(&rows);
        let of = |lists: &NodeLists, node: u32| {
            lists.of_node(Node(node)).iter().map(|it| it.0).collect::<Vec<_>>()
        };
        assert_eq!(
            [0, 1, 2, 4, 9].map(|it| of(&lists, it)),
            [vec![], vec![5, 7], vec![], vec![2], vec![]]
        );
        lists.push(Node(4), Node(3));
        lists.push(Node(9), Node(1));
        assert_eq!([1, 4, 9].map(|it| of(&lists, it)), [vec![5, 7], vec![2, 3], vec![1]]);
    }
}

//! The nodes of the values of a module instance, by their names.

use std::ops::Index;

use entail_rules::Node;

use crate::value::Str;

/// Nodes by the names of the blocks that they stand for, in the order of the names.
///
/// There may be half a million module instances, each with few names of a kind: a list takes less room than a map.
#[derive(Clone, Debug, Default)]
pub struct Members(Box<[(Str, Node)]>);

impl Members {
    /// Returns the node of a name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.find(name).ok().map(|at| &self.0[at].1)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a name has a node.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns names and nodes.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Node)> {
        self.0.iter().map(|(name, node)| (name, node))
    }

    /// Returns the nodes, in the order of their names.
    pub fn values(&self) -> impl Iterator<Item = &Node> + Clone {
        self.0.iter().map(|it| &it.1)
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|it| (*it.0).cmp(name))
    }
}

impl FromIterator<(Str, Node)> for Members {
    fn from_iter<I: IntoIterator<Item = (Str, Node)>>(nodes: I) -> Members {
        let mut nodes: Box<[(Str, Node)]> = nodes.into_iter().collect();
        nodes.sort_by(|a, b| a.0.cmp(&b.0));
        Members(nodes)
    }
}

impl Index<&str> for Members {
    type Output = Node;

    fn index(&self, name: &str) -> &Node {
        self.get(name).expect("every block of a module has a node")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_come_in_their_order() {
        let numbered = ["m", "z", "a", "b"].into_iter().zip(0..);
        let members: Members = numbered.map(|(name, number)| (name.into(), Node(number))).collect();
        let all: Vec<_> = members.iter().map(|it| (it.0.as_str(), it.1.0)).collect();
        assert_eq!(all, [("a", 2), ("b", 3), ("m", 0), ("z", 1)]);
        assert_eq!(members.get("b"), Some(&Node(3)));
        assert_eq!(members.get("c"), None);
        assert!(members.values().eq([&Node(2), &Node(3), &Node(0), &Node(1)]));
    }
}

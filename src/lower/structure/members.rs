//! The nodes of the values of a module instance, by their names.

use std::ops::Index;

use entail_rules::Node;

use crate::value::Str;

/// Nodes by the names of the blocks that they stand for, in the order of the names.
///
/// There may be half a million module instances, each with few names of a kind: a list takes less room than a map.
#[derive(Clone, Debug, Default)]
pub struct Members(Vec<(Str, Node)>);

impl Members {
    /// Returns the node of a name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.find(name).ok().map(|at| &self.0[at].1)
    }

    /// Says which node a name has.
    pub fn insert(&mut self, name: Str, node: Node) {
        match self.find(&name) {
            Ok(at) => self.0[at].1 = node,
            Err(at) => self.0.insert(at, (name, node)),
        }
    }

    /// Makes room for so many names.
    pub fn reserve(&mut self, names: usize) {
        self.0.reserve_exact(names);
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
        let mut members = Members::default();
        for (number, name) in ["m", "z", "a", "b"].into_iter().enumerate() {
            members.insert(name.into(), Node(number as u32));
        }
        members.insert("z".into(), Node(9));
        let all: Vec<_> = members.iter().map(|it| (it.0.as_str(), it.1.0)).collect();
        assert_eq!(all, [("a", 2), ("b", 3), ("m", 0), ("z", 9)]);
        assert_eq!(members.get("b"), Some(&Node(3)));
        assert_eq!(members.get("c"), None);
        assert!(members.values().eq([&Node(2), &Node(3), &Node(0), &Node(9)]));
    }
}

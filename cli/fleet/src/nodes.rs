//! Nodes of many stacks as numbers. Stacks of one kind have addresses in common: each text is kept once.

use entail::policy::elsewhere::FIRST;
use entail_rules::Node;
use rustc_hash::FxHashMap;

use crate::texts::Texts;

/// Nodes with their names, each once.
#[derive(Default)]
pub struct Nodes {
    /// Of each node, the numbers of its stack and of its address.
    names: Vec<(u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
    stacks: Texts,
    addresses: Texts,
}

impl Nodes {
    /// Returns the node of an address in a stack.
    pub fn node(&mut self, stack: &str, address: &str) -> Node {
        let name = (self.stacks.number(stack), self.addresses.number(address));
        let next = FIRST + self.names.len() as u32;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        Node(number)
    }

    /// Returns the stack and the address of a node.
    pub fn name(&self, node: Node) -> Option<(&str, &str)> {
        let (stack, address) = self.names.get(node.0.checked_sub(FIRST)? as usize)?;
        Some((self.stacks.get(*stack)?, self.addresses.get(*address)?))
    }

    /// Returns the node of an address in a stack, where there is one.
    pub fn find(&self, stack: &str, address: &str) -> Option<Node> {
        let name = (self.stacks.find(stack)?, self.addresses.find(address)?);
        self.numbers.get(&name).copied().map(Node)
    }

    /// Returns all nodes, each with its stack and its address.
    pub fn all(&self) -> impl Iterator<Item = (Node, &str, &str)> {
        let nodes = (0..self.names.len() as u32).map(|it| Node(FIRST + it));
        nodes.filter_map(|it| self.name(it).map(|(stack, address)| (it, stack, address)))
    }
}

#[cfg(test)]
mod tests {
    use super::Nodes;

    #[test]
    fn a_node_has_one_number_and_two_names() {
        let mut nodes = Nodes::default();
        let (a, b) = (nodes.node("s", "x.a"), nodes.node("t", "x.a"));
        assert_ne!(a, b);
        assert_eq!((nodes.node("s", "x.a"), nodes.find("t", "x.a")), (a, Some(b)));
        assert_eq!((nodes.name(b), nodes.find("t", "x.b")), (Some(("t", "x.a")), None));
        let all: Vec<_> = nodes.all().map(|it| (it.1, it.2)).collect();
        assert_eq!(all, [("s", "x.a"), ("t", "x.a")]);
    }
}

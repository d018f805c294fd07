//! What many nodes have: a table by number, which a tree or a hash map of a million nodes is several times as large as.

use entail_rules::Node;

/// A map by node, in the order of their numbers. Its size is that of the highest number; it is meant for what most nodes have.
#[derive(Clone, Debug)]
pub struct NodeMap<T> {
    slots: Vec<Option<T>>,
}

impl<T> Default for NodeMap<T> {
    fn default() -> NodeMap<T> {
        NodeMap { slots: Vec::new() }
    }
}

impl<T> NodeMap<T> {
    /// Returns an empty map with room for so many nodes: lists that grow are copied each time.
    pub fn with_room(nodes: usize) -> NodeMap<T> {
        NodeMap { slots: Vec::with_capacity(nodes) }
    }

    /// Returns what a node has.
    pub fn get(&self, node: Node) -> Option<&T> {
        self.slots.get(node.0 as usize)?.as_ref()
    }

    /// Says what a node has, and returns what it had; the last word counts.
    pub fn insert(&mut self, node: Node, value: T) -> Option<T> {
        let index = node.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index].replace(value)
    }

    /// Takes out what a node has.
    pub fn take(&mut self, node: Node) -> Option<T> {
        self.slots.get_mut(node.0 as usize)?.take()
    }

    /// Returns the nodes that have something, and what they have.
    pub fn iter(&self) -> impl Iterator<Item = (Node, &T)> {
        let numbered = self.slots.iter().enumerate();
        numbered.filter_map(|(index, it)| Some((Node(index as u32), it.as_ref()?)))
    }

    /// Returns how many nodes have something.
    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Returns whether no node has anything.
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }
}

impl<T> FromIterator<(Node, T)> for NodeMap<T> {
    fn from_iter<I: IntoIterator<Item = (Node, T)>>(entries: I) -> NodeMap<T> {
        let mut map = NodeMap::default();
        entries.into_iter().for_each(|(node, value)| drop(map.insert(node, value)));
        map.slots.shrink_to_fit();
        map
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, NodeMap};

    #[test]
    fn nodes_come_in_the_order_of_their_numbers_and_the_last_word_counts() {
        let mut map: NodeMap<&str> = [(Node(5), "e"), (Node(2), "b")].into_iter().collect();
        map.insert(Node(2), "B");
        assert_eq!(map.get(Node(2)), Some(&"B"));
        assert_eq!((map.get(Node(3)), map.get(Node(9))), (None, None));
        assert_eq!((map.len(), map.is_empty()), (2, false));
        assert_eq!(map.iter().collect::<Vec<_>>(), [(Node(2), &"B"), (Node(5), &"e")]);
        assert_eq!(
            (map.take(Node(2)), map.take(Node(2)), map.take(Node(9))),
            (Some("B"), None, None)
        );
    }
}

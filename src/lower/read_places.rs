//! Where a node is read, for each that reads it.

use entail_rules::Node;

use crate::diagnostic::Span;
use crate::lists::Lists;

/// Places of reads: by who reads, and what is read.
///
/// Of a million objects there are millions, asked for only where somebody asks why: a sorted list takes the least room.
#[derive(Clone, Debug, Default)]
pub struct ReadPlaces(Vec<(Node, Node, Span)>);

impl ReadPlaces {
    /// Returns where the first of a pair reads the second.
    pub fn get(&self, pair: &(Node, Node)) -> Option<Span> {
        let at = self.0.binary_search_by_key(pair, |it| (it.0, it.1)).ok()?;
        Some(self.0[at].2)
    }

    /// Returns what a node reads.
    pub fn read_by(&self, node: Node) -> impl Iterator<Item = Node> {
        read_by(&self.0, node)
    }

    /// Returns all pairs with their places, in order.
    pub fn iter(&self) -> impl Iterator<Item = ((Node, Node), Span)> {
        self.0.iter().map(|it| ((it.0, it.1), it.2))
    }

    /// Adds places. Of several of the same pair the last counts.
    pub fn add(&mut self, more: impl IntoIterator<Item = (Node, Node, Span)>) {
        match self.0.is_empty() {
            // A list that comes as it is stays as it is.
            true => self.0 = more.into_iter().collect(),
            false => self.0.extend(more),
        }
        if self.0.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
            return;
        }
        self.0.sort_by_key(|it| (it.0, it.1));
        self.0.dedup_by(|next, last| {
            let is_same = (next.0, next.1) == (last.0, last.1);
            if is_same {
                last.2 = next.2;
            }
            is_same
        });
    }
}

/// Brings what reads what into the order of nodes, each pair once, where it stands first.
pub(super) fn in_order(reads: &mut Vec<(Node, Node, Span)>) {
    if !reads.is_sorted() {
        // Few read much: each node has its list, and only these are sorted.
        let of_nodes = Lists::of(reads.iter().map(|it| (it.0.0, (it.1, it.2))));
        let last = reads.iter().map(|it| it.0.0).max().unwrap_or_default();
        let mut own = Vec::new();
        reads.clear();
        for node in 0..=last {
            own.extend_from_slice(of_nodes.get(node));
            own.sort_unstable();
            reads.extend(own.drain(..).map(|it| (Node(node), it.0, it.1)));
        }
    }
    reads.dedup_by_key(|it| (it.0, it.1));
    reads.shrink_to_fit();
}

/// Returns what a node reads, of reads that are sorted.
pub(super) fn read_by(reads: &[(Node, Node, Span)], node: Node) -> impl Iterator<Item = Node> {
    let first = reads.partition_point(|it| it.0 < node);
    reads[first..].iter().take_while(move |it| it.0 == node).map(|it| it.1)
}

impl IntoIterator for ReadPlaces {
    type Item = (Node, Node, Span);
    type IntoIter = std::vec::IntoIter<(Node, Node, Span)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromIterator<((Node, Node), Span)> for ReadPlaces {
    fn from_iter<I: IntoIterator<Item = ((Node, Node), Span)>>(all: I) -> ReadPlaces {
        let mut places = ReadPlaces::default();
        places.add(all.into_iter().map(|it| (it.0.0, it.0.1, it.1)));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::FileId;

    proptest::proptest! {
        #[test]
        fn reads_come_in_the_order_of_nodes_each_where_it_stands_first(
            all in proptest::collection::vec((0..9_u32, 0..9_u32, 0..5_u32), 0..40),
        ) {
            let place = |at: u32| Span::new(FileId(1), at as usize, at as usize + 1);
            let reads = all.iter().map(|it| (Node(it.0), Node(it.1), place(it.2)));
            let mut reads: Vec<_> = reads.collect();
            in_order(&mut reads);
            let mut first = std::collections::BTreeMap::new();
            for (node, other, at) in all {
                let known = first.entry((node, other)).or_insert(at);
                *known = at.min(*known);
            }
            let shown = reads.into_iter().map(|it| ((it.0.0, it.1.0), it.2.start()));
            proptest::prop_assert!(shown.eq(first));
        }
    }

    #[test]
    fn what_is_added_comes_in_place_of_what_was_known() {
        let read = |n, m, at| (Node(n), Node(m), Span::new(FileId(1), at, at + 1));
        let mut places = ReadPlaces::default();
        places.add(vec![read(1, 2, 10), read(3, 4, 20)]);
        places.add(vec![read(3, 4, 30), read(2, 9, 40), read(1, 2, 50), read(1, 2, 60)]);
        let shown: Vec<_> =
            places.iter().map(|(pair, at)| (pair.0.0, pair.1.0, at.start())).collect();
        assert_eq!(shown, [(1, 2, 60), (2, 9, 40), (3, 4, 30)]);
        assert_eq!(places.get(&(Node(2), Node(9))).map(|it| it.start()), Some(40));
        assert_eq!(places.get(&(Node(9), Node(2))), None);
        assert!(places.read_by(Node(2)).eq([Node(9)]) && places.read_by(Node(4)).next().is_none());
    }
}

//! What of a graph lies on circles, or between them.

use entail_rules::Node;

use crate::lists::Lists;

/// Returns what remains of a graph when nodes that read nothing, or that nothing reads, are taken away over and over; sorted.
///
/// Everything that lies on a circle remains; besides that only what lies between circles. Linear in the edges and in the highest
/// number of a node.
pub(super) fn cyclic_core(reads: &[(Node, Node)]) -> Vec<Node> {
    let forwards = peel(reads);
    let backwards: Vec<(Node, Node)> = forwards.iter().map(|&(from, to)| (to, from)).collect();
    let mut rest: Vec<Node> =
        peel(&backwards).into_iter().flat_map(|(to, from)| [to, from]).collect();
    rest.sort_unstable();
    rest.dedup();
    rest
}

/// Takes away edges into nodes that have no edge out, until none is left.
fn peel(edges: &[(Node, Node)]) -> Vec<(Node, Node)> {
    let highest = edges.iter().map(|it| it.0.max(it.1)).max();
    let Some(count) = highest.map(|it| it.0 as usize + 1) else { return Vec::new() };
    let mut out = vec![0_u32; count];
    edges.iter().for_each(|it| out[it.0.0 as usize] += 1);
    let readers = Lists::of(edges.iter().map(|&(from, to)| (to.0, from.0)));
    let mut bare: Vec<u32> = (0..count as u32).filter(|it| out[*it as usize] == 0).collect();
    while let Some(node) = bare.pop() {
        for &reader in readers.get(node) {
            let left = &mut out[reader as usize];
            *left -= 1;
            if *left == 0 {
                bare.push(reader);
            }
        }
    }
    let stays = |it: Node| out[it.0 as usize] > 0;
    edges.iter().copied().filter(|it| stays(it.0) && stays(it.1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_without_circles_leaves_no_core() {
        let edge = |from: u32, to: u32| (Node(from), Node(to));
        let long: Vec<(Node, Node)> = (1..100_000).map(|it| edge(it, it - 1)).collect();
        assert_eq!(cyclic_core(&long), []);
        let ring = (0..1_000).map(|it| edge(it, (it + 1) % 1_000));
        let beside = [edge(5_000, 3), edge(4, 6_000)];
        let ring: Vec<(Node, Node)> = ring.chain(beside).collect();
        assert_eq!(cyclic_core(&ring).len(), 1_000);
    }
}

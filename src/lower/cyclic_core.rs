//! What of a graph lies on circles, or between them.

use crate::lists::Lists;

/// Returns what remains of a graph when ids that read nothing, or that nothing reads, are taken away over and over.
///
/// Everything that lies on a circle remains; besides that only what lies between circles. Linear in the edges.
pub(super) fn cyclic_core<T: Copy + Ord>(reads: &[(T, T)]) -> Vec<T> {
    let forwards = peel(reads);
    let backwards: Vec<(T, T)> = forwards.iter().map(|&(from, to)| (to, from)).collect();
    let mut rest: Vec<T> = peel(&backwards).into_iter().flat_map(|(to, from)| [to, from]).collect();
    rest.sort_unstable();
    rest.dedup();
    rest
}

/// Takes away edges into ids that have no edge out, until none is left.
fn peel<T: Copy + Ord>(edges: &[(T, T)]) -> Vec<(T, T)> {
    let mut ids: Vec<T> = edges.iter().flat_map(|&(from, to)| [from, to]).collect();
    ids.sort_unstable();
    ids.dedup();
    let index = |id: T| ids.binary_search(&id).expect("every end of an edge is listed");

    let mut out = vec![0_usize; ids.len()];
    let numbered: Vec<(u32, usize)> =
        edges.iter().map(|&(from, to)| (index(to) as u32, index(from))).collect();
    let readers = Lists::of(numbered.iter().copied());
    numbered.iter().for_each(|it| out[it.1] += 1);
    let mut bare: Vec<usize> = (0..ids.len()).filter(|&it| out[it] == 0).collect();
    let mut gone = vec![false; ids.len()];
    while let Some(id) = bare.pop() {
        gone[id] = true;
        for &reader in readers.get(id as u32) {
            out[reader] -= 1;
            if out[reader] == 0 {
                bare.push(reader);
            }
        }
    }
    edges.iter().copied().filter(|&(from, to)| !gone[index(from)] && !gone[index(to)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_without_circles_leaves_no_core() {
        let long: Vec<(u32, u32)> = (1..100_000).map(|it| (it, it - 1)).collect();
        assert_eq!(cyclic_core(&long), [0; 0]);
        let ring: Vec<(u32, u32)> =
            (0..1_000).map(|it| (it, (it + 1) % 1_000)).chain([(5_000, 3), (4, 6_000)]).collect();
        assert_eq!(cyclic_core(&ring).len(), 1_000);
    }
}

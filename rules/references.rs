//! What resource blocks read, seen through values; and which blocks read themselves.
//!
//! Closing over all blocks would be quadratic. Circles are looked for only among blocks that [`knot`] leaves, which
//! in a sound configuration is none.

use ascent::ascent;

use crate::atom::*;
use crate::facts::Facts;

ascent! {
    struct Program;

    relation block_reads(Block, Block);
    relation value_block(Block);
    relation knot(Block);

    /// `through(v, c)`: value block `v` reads resource block `c`, seen through values.
    relation through(Block, Block);

    /// `nearest(b, c)`: resource block `b` reads resource block `c`, itself or through values.
    relation nearest(Block, Block);

    /// `knot_reaches(b, c)`: `b` reads `c` over any number of blocks of the knot.
    relation knot_reaches(Block, Block);

    /// `circular(b)`: block `b` reads itself, over any number of blocks.
    relation circular(Block);

    // @rule references.value: `v` refers to `c`
    through(v, c) <-- value_block(v), block_reads(v, c), !value_block(c);
    // @rule references.through: `v` refers to `w`
    through(v, c) <-- through(w, c), block_reads(v, w), value_block(v);

    // @rule references.direct: `b` refers to `c`
    nearest(b, c) <-- block_reads(b, c), !value_block(b), !value_block(c);
    // @rule references.nearest: `b` refers to `v`
    nearest(b, c) <-- through(v, c), block_reads(b, v), !value_block(b);

    // @rule references.knot: `b` refers to `c`
    knot_reaches(b, c) <-- knot(b), block_reads(b, c), knot(c);
    // @rule references.knot-on: `b` refers to `c`
    knot_reaches(b, d) <-- knot(b), block_reads(b, c), knot_reaches(c, d);

    // @rule references.circular: (`b` reads itself)
    circular(b) <-- knot_reaches(b, b);
}

tables! {
    /// What resource blocks read. All sorted.
    pub struct References {
        "references" {
            /// `nearest(b, c)`: resource block `b` reads resource block `c`, itself or through values.
            nearest(Block, Block);
            /// `circular(b)`: block `b` reads itself, over any number of blocks.
            circular(Block);
        }
    }
}

/// Sees through values, and finds the blocks that read themselves. `knot` must be filled, by [`knot`].
pub fn resolve(facts: &Facts) -> References {
    conclude!(Program { facts: block_reads, value_block, knot; } => References { nearest, circular })
}

/// Returns what remains of a graph when ids that read nothing, or that nothing reads, are taken away over and over.
///
/// Everything that lies on a circle remains; besides that only what lies between circles. Linear in the edges.
pub fn knot<T: Copy + Ord>(reads: &[(T, T)]) -> Vec<(T,)> {
    let forwards = peel(reads);
    let backwards: Vec<(T, T)> = forwards.iter().map(|&(from, to)| (to, from)).collect();
    let mut rest: Vec<(T,)> =
        peel(&backwards).into_iter().flat_map(|(to, from)| [(to,), (from,)]).collect();
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
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); ids.len()];
    for &(from, to) in edges {
        out[index(from)] += 1;
        readers[index(to)].push(index(from));
    }
    let mut bare: Vec<usize> = (0..ids.len()).filter(|&it| out[it] == 0).collect();
    let mut gone = vec![false; ids.len()];
    while let Some(id) = bare.pop() {
        gone[id] = true;
        for &reader in &readers[id] {
            out[reader] -= 1;
            if out[reader] == 0 {
                bare.push(reader);
            }
        }
    }
    edges.iter().copied().filter(|&(from, to)| !gone[index(from)] && !gone[index(to)]).collect()
}

#[cfg(test)]
mod tests;

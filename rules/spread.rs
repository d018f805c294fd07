//! Where `create_before_destroy` spreads: to the blocks that a block reads, and along what exists.
//!
//! Known before the walk, whatever the walk plans.

use ascent::ascent;

use crate::atom::*;
use crate::facts::Facts;

ascent! {
    struct Program;

    relation asks_cbd(Block);
    relation block_reads(Block, Block);
    relation of(Node, Block);
    relation declared(Node);
    relation pending(Node);
    relation doomed(Node);
    relation deposed_of(Node, Node);
    relation state_cbd(Node);
    relation needs(Node, Node);

    /// `live(b)`: block `b` declares an instance, or may.
    relation live(Block);

    /// `cbd_block(b)`: instances of `b` are replaced by making the new object first.
    relation cbd_block(Block);

    /// `cbd(n)`: the object of `n` is destroyed after what takes its place is made.
    relation cbd(Node);

    // @rule spread.live: the block declares an instance
    live(b) <-- of(n, b), declared(n);

    // @rule spread.live-pending: the block may declare instances
    live(b) <-- of(p, b), pending(p);

    // @rule spread.asked: the block sets create_before_destroy
    cbd_block(b) <-- asks_cbd(b), live(b);

    // @rule spread.forced: a block with create_before_destroy reads it
    cbd_block(c) <-- cbd_block(b), block_reads(b, c);

    // @rule spread.instance: its block is one with create_before_destroy
    cbd(n) <-- cbd_block(b), of(n, b);

    // @rule spread.recorded: it goes, and the state says that the new object comes first
    cbd(n) <-- state_cbd(n), doomed(n);

    // @rule spread.deposed: its successor is there already
    cbd(o) <-- deposed_of(o, _);

    // @rule spread.foundation: an object that is destroyed afterwards rests on it
    cbd(m) <-- cbd(n), needs(n, m);
}

tables! {
    /// Which objects are destroyed after what takes their place is made. All sorted.
    pub struct Spread {
        "spread" {
            /// `cbd_block(b)`: instances of `b` are replaced by making the new object first.
            cbd_block(Block);
            /// `cbd(n)`: the object of `n` is destroyed after what takes its place is made.
            cbd(Node);
        }
    }
}

/// Spreads `create_before_destroy` to everything that would otherwise be destroyed too early.
pub fn spread(facts: &Facts) -> Spread {
    conclude!(Program {
        facts: asks_cbd, block_reads, of, declared, pending, doomed, deposed_of, state_cbd, needs;
    } => Spread { cbd_block, cbd })
}

#[cfg(test)]
mod tests;

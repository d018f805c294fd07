//! Where `create_before_destroy` spreads: to the blocks that a block reads, and along what exists.
//!
//! Known before the walk, whatever the walk plans.

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation asks_cbd(Block);
    relation block_reads(Block, Block);
    relation of(Node, Block);
    relation declared(Node);
    relation pending(Node);
    relation late(Node, Node);
    relation to_be_destroyed(Node);
    relation deposed_of(Node, Node);
    relation state_cbd(Node);
    relation needs(Node, Node);
    relation reads(Node, Node);
    relation may_read(Node, Node);
    relation first_hit(Node, Flag);

    /// `goes_last(n)`: what exists as `n` is destroyed after its successor is made, because the request says so of it or of what reads it.
    relation goes_last(Node);

    /// `live(b)`: `b` declares an instance, or may.
    relation live(Block);

    /// `cbd_block(b)`: instances of `b` are replaced by making the new object first.
    relation cbd_block(Block);

    /// `cbd(n)`: the new object of `n` is made before the old one goes.
    relation cbd(Node);

    // @rule spread.live: (`b` declares `n`)
    live(b) <-- of(n, b), declared(n);

    // @rule spread.live-pending: `b` may declare instances
    live(b) <-- of(p, b), pending(p);

    // @rule spread.asked: `b` sets create_before_destroy
    cbd_block(b) <-- asks_cbd(b), live(b);

    // @rule spread.forced: `b` reads `c`
    cbd_block(c) <-- cbd_block(b), block_reads(b, c);

    // @rule spread.instance: `n` belongs to `b`
    cbd(n) <-- cbd_block(b), of(n, b);

    // @rule spread.requested: the request wants the new object of `n` to be made first
    goes_last(n) <-- first_hit(n, _);

    // @rule spread.requested-behind: `n` reads `m`
    goes_last(m) <-- goes_last(n), reads(n, m);

    // @rule spread.requested-perhaps: `n` may read `m`
    goes_last(m) <-- goes_last(n), may_read(n, m);

    // @rule spread.one: (the request wants the new object of `n` to be made first)
    cbd(n) <-- goes_last(n), of(n, _);

    // @rule spread.recorded: `n` goes, and the state says that the new object comes first
    cbd(n) <-- state_cbd(n), to_be_destroyed(n);

    // @rule spread.deposed: the successor of `o` is there already
    cbd(o) <-- deposed_of(o, _);

    // @rule spread.foundation-late: `n` may go, the state says that the new object comes first, and `n` rests on `m`
    cbd(m) <-- late(n, _), state_cbd(n), needs(n, m);

    // @rule spread.foundation: `n` is destroyed late, and rests on `m`
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
pub(crate) fn spread(ledger: &Ledger<'_>) -> Spread {
    conclude!(ledger: Program {
        facts: asks_cbd, block_reads if facts.asks_cbd | spread.cbd_block,
            of if facts.asks_cbd | spread.cbd_block | facts.first_hit, declared if facts.asks_cbd, pending if facts.asks_cbd, late,
            deposed_of, state_cbd, needs, reads if facts.first_hit, may_read if facts.first_hit, first_hit;
        instances: to_be_destroyed;
        spread: cbd_block;
    } => Spread { cbd_block, cbd })
}

#[cfg(test)]
mod tests;

//! The order of move statements, and the cycles among them. Carrying them out is a loop elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation chains(Statement, Statement);
    relation nests(Statement, Statement);

    /// `move_after(s, t)`: statement `s` is carried out after `t`.
    relation move_after(Statement, Statement);

    /// `move_reaches(s, t)`: `s` comes after `t`, over any number of statements. Statements are few.
    relation move_reaches(Statement, Statement);

    /// `move_cycle(s)`: statement `s` would have to come after itself.
    relation move_cycle(Statement);

    // @rule moves.chained: `s` begins where `t` ends
    move_after(s, t) <-- chains(s, t), if s != t;
    // @rule moves.nested: `s` lies within the end of `t`
    move_after(s, t) <-- nests(s, t), if s != t;

    // @rule moves.reaches: (`s` comes right after `t`)
    move_reaches(s, t) <-- move_after(s, t);
    // @rule moves.reaches-on: `s` comes right after `t`
    move_reaches(s, u) <-- move_after(s, t), move_reaches(t, u);

    // @rule moves.cycle: (`s` comes after itself)
    move_cycle(s) <-- move_reaches(s, s);
}

tables! {
    /// The order of move statements. All sorted.
    pub struct Moves {
        "moves" {
            /// `move_after(s, t)`: statement `s` is carried out after `t`.
            move_after(Statement, Statement);
            /// `move_cycle(s)`: statement `s` would have to come after itself.
            move_cycle(Statement);
        }
    }
}

/// Orders the move statements.
pub(crate) fn arrange(ledger: &Ledger<'_>) -> Moves {
    conclude!(ledger: Program { facts: chains, nests; } => Moves { move_after, move_cycle })
}

impl Moves {
    /// Returns the statements in an order to carry them out, the lowest first where several may come; none if they run in a circle.
    pub fn sequence(&self, statements: &[(Statement,)]) -> Option<Vec<Statement>> {
        let mut waits_for: BTreeMap<Statement, usize> =
            statements.iter().map(|&(it,)| (it, 0)).collect();
        let mut behind: BTreeMap<Statement, Vec<Statement>> = BTreeMap::new();
        for &(after, before) in &self.move_after {
            *waits_for.entry(after).or_default() += 1;
            waits_for.entry(before).or_default();
            behind.entry(before).or_default().push(after);
        }
        let free = waits_for.iter().filter(|it| *it.1 == 0).map(|it| *it.0);
        let mut free: BTreeSet<Statement> = free.collect();
        let mut sequence = Vec::with_capacity(waits_for.len());
        while let Some(next) = free.pop_first() {
            sequence.push(next);
            for after in behind.remove(&next).unwrap_or_default() {
                let waits = waits_for.entry(after).or_default();
                *waits -= 1;
                if *waits == 0 {
                    free.insert(after);
                }
            }
        }
        (sequence.len() == waits_for.len()).then_some(sequence)
    }
}

#[cfg(test)]
mod tests;

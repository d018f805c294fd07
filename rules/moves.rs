//! The order of move statements, and the cycles among them. Carrying them out is a loop elsewhere.

use std::collections::BTreeMap;

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
        let mut waiting: BTreeMap<Statement, Vec<Statement>> =
            statements.iter().map(|&(it,)| (it, Vec::new())).collect();
        for &(after, before) in &self.move_after {
            waiting.entry(after).or_default().push(before);
            waiting.entry(before).or_default();
        }
        let mut sequence = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let next = *waiting
                .iter()
                .find(|(_, for_these)| for_these.iter().all(|it| !waiting.contains_key(it)))?
                .0;
            waiting.remove(&next);
            sequence.push(next);
        }
        Some(sequence)
    }
}

#[cfg(test)]
mod tests;

//! Which prior states are loaded of what takes no part: those that something may ask for.

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation mode(Mode);
    relation pending(Node);
    relation call_keys(Node);
    relation expanded(Node);
    relation skipped(Node);
    relation member(Node, Node);
    relation excluded(Node);
    relation untargeted(Node);
    relation consulted(Node);

    /// `keys_open()`: there are keys that are not known when the run begins.
    relation keys_open();

    /// `recalled(n)`: `n` takes no part, and its prior state is loaded.
    relation recalled(Node);

    // @rule recall.keys-open: there are keys that are not known yet
    keys_open() <-- pending(_);
    // @rule recall.keys-open-call: there are keys of a module call that are not known yet
    keys_open() <-- call_keys(_);
    // @rule recall.keys-open-found: there are keys that have become known since
    keys_open() <-- expanded(_);
    // @rule recall.keys-open-skipped: there are keys that were not asked for
    keys_open() <-- skipped(_);

    // @rule recall.excluded: (outputs may rely on `n`)
    recalled(n) <-- excluded(n);
    // @rule recall.consulted: no target wants `n`, but what is evaluated may look at it
    recalled(n) <-- consulted(n), untargeted(n);
    // Keys are found out also of what takes no part, and what they bring may look at anything.
    // @rule recall.for-keys: no target wants `n`, but keys that are not known yet may come from it
    recalled(n) <-- keys_open(), untargeted(n);
    // @rule recall.to-exist: no target wants `n`, but it counts among the instances only if it exists
    recalled(n) <-- mode(Mode::RefreshOnly), untargeted(n), member(n, _);
}

tables! {
    /// Whose prior state is loaded although it takes no part. Sorted.
    pub struct Recall {
        "recall" {
            /// `recalled(n)`: `n` takes no part, and what is recorded of it is read from the state, for something may ask.
            recalled(Node);
        }
    }
}

/// Says which prior states are loaded of what takes no part. Of nodes that were found since, `expanded` or `skipped` says so.
pub(crate) fn recall(ledger: &Ledger<'_>) -> Recall {
    conclude!(ledger: Program {
        facts: mode if selection.untargeted, pending if selection.untargeted, call_keys if selection.untargeted,
            expanded if selection.untargeted, skipped if selection.untargeted, member if selection.untargeted;
        selection: excluded, untargeted, consulted;
    } => Recall { recalled })
}

#[cfg(test)]
mod tests;

//! What is done with the root outputs that get a new value, or go.
//!
//! holds   an output that is recalculated, and of which everything could be evaluated, has one action; others have none

use ascent::ascent;

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation mode(Mode);
    relation declared(Node);
    relation recorded_output(Node);
    relation differs(Node);
    relation failed(Node);
    relation recalculated(Node);
    relation blocked(Node, Node);

    /// `ends(o)`: `o` goes.
    relation ends(Node);

    /// `stands(o)`: `o` gets a value.
    relation stands(Node);

    /// `output_action(o, a)`: what is to be done with `o` is: `a`.
    relation output_action(Node, Action);

    // @rule changes.all-end: the run destroys everything
    ends(o) <-- mode(Mode::Destroy), recalculated(o);
    // @rule changes.ends: nothing declares `o` any more
    ends(o) <-- recalculated(o), !declared(o), !mode(Mode::Destroy);
    // @rule changes.stands: the configuration declares `o`
    stands(o) <-- recalculated(o), declared(o), !mode(Mode::Destroy), !failed(o), !blocked(o, _);

    // @rule changes.create: the state has no value of `o` yet
    output_action(o, Action::Create) <-- stands(o), differs(o), !recorded_output(o);
    // @rule changes.update: the value of `o` changes, or may
    output_action(o, Action::Update) <-- stands(o), differs(o), recorded_output(o);
    // @rule changes.no-op: the value of `o` stays the same
    output_action(o, Action::NoOp) <-- stands(o), !differs(o);
    // @rule changes.delete: (`o` goes)
    output_action(o, Action::Delete) <-- ends(o), recorded_output(o);
}

tables! {
    /// What is done with root outputs. All sorted.
    pub struct Changes {
        "changes" {
            /// `output_action(o, a)`: `a` is to be done with output `o`.
            output_action(Node, Action);
        }
    }
}

/// Concludes what is done with the outputs that are recalculated, from what evaluating them showed.
pub(crate) fn conclude(ledger: &Ledger<'_>) -> Changes {
    conclude!(ledger: Program {
        facts: mode, declared, recorded_output, differs, failed;
        outputs: recalculated;
        decisions: blocked;
    } => Changes { output_action })
}

#[cfg(test)]
mod tests;

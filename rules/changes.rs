//! What is done with the root outputs that get a new value, or go; and which `check` blocks are judged.
//!
//! holds   an output that is recalculated, and of which everything could be evaluated, has one action; others have none
//! holds   a check block is judged, undecided or left out, and only one of them

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

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
    relation check_block(Node);
    relation filtered();
    relation output(Node);
    relation has_conditions(Node);
    relation of(Node, Block);
    relation selected(Node);

    /// `ends(o)`: `o` goes.
    relation ends(Node);

    /// `stands(o)`: `o` gets a value.
    relation stands(Node);

    /// `output_action(o, a)`: what is to be done with `o` is: `a`.
    relation output_action(Node, Action);

    /// `checked(c)`: `c` is judged.
    relation checked(Node);

    /// `check_blocked(c)`: `c` reads what failed, so that nothing is known of it.
    relation check_blocked(Node);

    /// `check_left(c)`: `c` is not looked at.
    relation check_left(Node);

    /// `block_taken(b)`: an instance of `b` takes part in a run that leaves something out.
    relation block_taken(Block);

    /// `awaits_check(n)`: the conditions of `n` are listed, be it that this run does not judge them.
    relation awaits_check(Node);

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

    // @rule changes.check-left: the run leaves something out
    check_left(c) <-- check_block(c), filtered();
    // @rule changes.check-left-destroying: the run destroys everything
    check_left(c) <-- check_block(c), mode(Mode::Destroy);
    // @rule changes.check-blocked: `c` reads what failed
    check_blocked(c) <-- check_block(c), blocked(c, _), !check_left(c);
    // @rule changes.awaits-check-output: the run destroys everything, and `o` has conditions
    awaits_check(o) <-- mode(Mode::Destroy), !filtered(), output(o), declared(o), has_conditions(o);
    // @rule changes.block-taken: `n` takes part in a run that leaves something out
    block_taken(b) <-- filtered(), mode(m), if *m != Mode::Destroy, selected(n), declared(n), of(n, b);
    // @rule changes.awaits-check-sibling: (another instance of its block takes part), and `n` has conditions
    awaits_check(n) <-- block_taken(b), of(n, b), declared(n), has_conditions(n);
    // @rule changes.checked: (nothing that `c` reads failed)
    checked(c) <-- check_block(c), !blocked(c, _), !check_left(c);
}

tables! {
    /// What is done with root outputs and `check` blocks. All sorted.
    pub struct Changes {
        "changes" {
            /// `output_action(o, a)`: `a` is to be done with output `o`.
            output_action(Node, Action);
            /// `checked(c)`: check block `c` is judged.
            checked(Node);
            /// `check_blocked(c)`: check block `c` reads what failed, so that nothing is known of it.
            check_blocked(Node);
            /// `check_left(c)`: check block `c` is not looked at in this run.
            check_left(Node);
            /// `awaits_check(n)`: the conditions of `n` are listed, be it that this run does not judge them.
            awaits_check(Node);
        }
    }
}

/// Concludes what is done with the outputs that are recalculated, from what evaluating them showed; and with `check` blocks.
pub(crate) fn conclude(ledger: &Ledger<'_>) -> Changes {
    conclude!(ledger: Program {
        facts: mode, declared, recorded_output, differs, failed, check_block, filtered, output, has_conditions, of if facts.filtered;
        selection: selected if facts.filtered;
        outputs: recalculated;
        decisions: blocked;
    } => Changes { output_action, checked, check_blocked, check_left, awaits_check })
}

#[cfg(test)]
mod tests;

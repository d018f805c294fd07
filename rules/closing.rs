//! What failure holds back when a plan is carried out, and what is looked at when all steps are done.
//!
//! What is held back is concluded in batches, as steps become ready: `earlier` has what was concluded of the phases before
//! them. The rest is concluded once, at the end.
//!
//! holds   a phase is held back if, and only if, one before it failed or is held back

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation mode(Mode);
    relation filtered();
    relation object(Node);
    relation reads(Node, Node);
    relation check_block(Node);
    relation data(Node);
    relation module_output(Node);
    relation evaluated_last(Node);
    relation step(Node, Phase);
    relation before(Node, Phase, Node, Phase);
    relation output_action(Node, Action);
    relation step_failed(Node, Phase);
    relation stopped();
    relation config_unknown(Node);

    /// `held_back(n, f, m, g)`: phase `f` of `n` is not carried out, because of phase `g` of `m`.
    relation held_back(Node, Phase, Node, Phase);

    /// `unsound(n)`: `n`, or something that it reads, failed or was held back.
    relation unsound(Node);

    /// `judges_all()`: what is judged at the end is judged, as far as it is sound.
    relation judges_all();

    /// `judged_last(c)`: `c` is judged when all steps are done.
    relation judged_last(Node);

    /// `written_last(o)`: `o` gets its new value when all steps are done.
    relation written_last(Node);

    /// `left_as_recorded(o)`: `o` keeps the value that the state has, whatever becomes of it.
    relation left_as_recorded(Node);

    /// `removed_last(o)`: `o` leaves the state when all steps are done.
    relation removed_last(Node);

    /// `looked_at(v)`: `v` is evaluated when the plan is carried out; a step, an output or a check reads it.
    relation looked_at(Node);

    /// `passed_by(n)`: nobody judges the conditions of `n` when the plan is carried out.
    relation passed_by(Node);

    // @rule closing.after-failed: phase `g` of `m` comes first, and failed
    held_back(n, f, m, g) <-- step_failed(m, g), before(m, g, n, f);
    // @rule closing.after-held-back: phase `g` of `m` comes first, and is held back
    held_back(n, f, m, g) <-- held_back(m, g, _, _), before(m, g, n, f);

    // @rule closing.unsound-failed: `n` failed
    unsound(n) <-- step_failed(n, _);
    // @rule closing.unsound-held-back: `n` was held back
    unsound(n) <-- held_back(n, _, _, _);
    // @rule closing.unsound-behind: `n` reads `m`
    unsound(n) <-- unsound(m), reads(n, m);

    // @rule closing.judges-all: the run leaves nothing out, and does not destroy everything
    judges_all() <-- mode(m), if *m != Mode::Destroy, !filtered();
    // @rule closing.judged: (nothing that `c` reads failed)
    judged_last(c) <-- judges_all(), check_block(c), !unsound(c);

    // Such a run makes nothing, so that what is not known before it is not known after it either.
    // @rule closing.left-as-recorded: the run only records a part of what is there, and what `o` comes to cannot be known from it
    left_as_recorded(o) <-- output_action(o, _), mode(Mode::RefreshOnly), filtered(), config_unknown(o);
    // @rule closing.written: (nothing that `o` reads failed)
    written_last(o)
        <-- output_action(o, a), if *a != Action::NoOp, if *a != Action::Delete, !unsound(o), !left_as_recorded(o), !stopped();
    // @rule closing.removed: `o` goes, whatever became of the objects that it was made of
    removed_last(o) <-- output_action(o, Action::Delete), !stopped();

    // @rule closing.looked-at: something is carried out for `n`, which reads `v`
    looked_at(v) <-- step(n, _), reads(n, v), !object(v);
    // @rule closing.looked-at-last: `n`, which is evaluated at the end, reads `v`
    looked_at(v) <-- evaluated_last(n), reads(n, v), !object(v);
    // @rule closing.looked-at-behind: `v` reads `w`
    looked_at(w) <-- looked_at(v), reads(v, w), !object(w);

    // @rule closing.passed-by-read: (what is read in an apply is judged there, which outweighs this)
    passed_by(n) <-- mode(Mode::Normal), data(n);
    // @rule closing.passed-by-unread: nothing in the run reads output `o`
    passed_by(o) <-- mode(Mode::Normal), module_output(o), !looked_at(o);
}

tables! {
    /// What was held back, and what is looked at in the end. All sorted.
    pub struct Closing {
        "closing" {
            /// `held_back(n, f, m, g)`: phase `f` of `n` is not carried out, because phase `g` of `m` failed or is held back.
            held_back(Node, Phase, Node, Phase);
            /// `unsound(n)`: `n`, or something that it reads, failed or was held back.
            unsound(Node);
            /// `judges_all()`: check blocks and validations are judged when all steps are done, as far as nothing that they read failed.
            judges_all();
            /// `judged_last(c)`: check block `c` is judged when all steps are done.
            judged_last(Node);
            /// `written_last(o)`: output `o` gets its new value when all steps are done.
            written_last(Node);
            /// `removed_last(o)`: output `o` leaves the state when all steps are done.
            removed_last(Node);
            /// `passed_by(n)`: nobody judges the conditions of data source or module output `n` when the plan is carried out.
            passed_by(Node);
        }
    }
}

/// Concludes what is looked at when all steps are done. `answers` has which of them failed, and whether the run was stopped.
pub(crate) fn close(ledger: &Ledger<'_>) -> Closing {
    conclude!(ledger: Program {
        facts: mode, filtered, object, data, module_output, reads, check_block, evaluated_last, step_failed, stopped, config_unknown;
        order: step, before;
        changes: output_action;
        closing: held_back;
    } => Closing { held_back, unsound, judges_all, judged_last, written_last, removed_last, passed_by })
}

#[cfg(test)]
mod tests;

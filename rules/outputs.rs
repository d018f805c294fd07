//! Which root outputs are recalculated, and why the others keep their value.
//!
//! Concluded when the walk has been everywhere, and again where evaluating showed that outputs have no value in this run.
//!
//! What reads what matters only in a run that leaves something out: there may be millions of such rows.
//!
//! holds   every root output is recalculated or keeps its value, never both

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation object(Node);
    relation output(Node);
    relation value(Node);
    relation collection(Node);
    relation pending(Node);
    relation expanded(Node);
    relation skipped(Node);
    relation repetition(Node);
    relation keyed_by(Node, Node);
    relation managed(Node);
    relation data(Node);
    relation reads(Node, Node);
    relation filtered();
    relation targeting();
    relation mode(Mode);
    relation outputs_need_all();
    relation out(Node);
    relation want(Node);
    relation doubtful(Node);
    relation selected(Node);
    relation excluded(Node);
    relation untargeted(Node);
    relation open(Node);
    relation lacks_value(Node);
    relation declared(Node);
    relation blocked(Node, Node);

    /// `counted(n)`: `n` counts for outputs that rely on it.
    relation counted(Node);

    /// `has_instance(v)`: there is an object in `v`, which stands for all instances.
    relation has_instance(Node);

    /// `makes_instances(r)`: an object exists because of a key in `r`, or may.
    relation makes_instances(Node);

    /// `keys_take_part(r)`: an object that exists because of a key in `r` takes part; or there is none.
    relation keys_take_part(Node);

    /// `taken(r)`: `r` takes part in this run; the key set.
    relation taken(Node);

    /// `fresh(v)`: `v` relies on something that takes part; looking through values only.
    relation fresh(Node);

    /// `stale(v)`: `v` relies on something that takes no part and should.
    relation stale(Node);

    /// `missing(v)`: `v` relies on something that is left out; looking through values only.
    relation missing(Node);

    /// `keys_unsettled(v)`: `v` relies on something whose instance keys are not known yet; looking through values only.
    relation keys_unsettled(Node);

    /// `undecided_output(o)`: whether `o` is recalculated is decided once keys are known.
    relation undecided_output(Node);

    /// `due(o)`: `o` is to be recalculated, if it can be.
    relation due(Node);

    /// `recalculated(o)`: `o` is recalculated.
    relation recalculated(Node);

    /// `evaluated_output(o)`: `o` is evaluated.
    relation evaluated_output(Node);

    /// `asked_for(v)`: in a run that leaves something out, `v` is evaluated for an output that is recalculated.
    relation asked_for(Node);

    /// `keeps_value(o, k)`: `o` keeps its value, because `k`.
    relation keeps_value(Node, Keep);

    // @rule outputs.counts-managed: (`n` is a managed object)
    counted(n) <-- managed(n);
    // @rule outputs.counts-data: `n` is a data source, and outputs are treated as OpenTofu does
    counted(n) <-- outputs_need_all(), data(n);
    // @rule outputs.counts-targeted-data: `n` is a data source, and the request has targets
    counted(n) <-- targeting(), data(n);

    // @rule outputs.has-instance: `v` reads `n`
    has_instance(v) <-- collection(v), reads(v, n), object(n);

    // @rule outputs.makes-instance: `n` exists because of a key in `r`
    makes_instances(r) <-- keyed_by(n, r), !pending(n);
    // @rule outputs.makes-pending: the instances of `p`, which come from keys in `r`, are not known yet
    makes_instances(r) <-- keyed_by(p, r), pending(p), !expanded(p), !skipped(p);

    // A set of keys is no resource: it takes part as the objects do that exist because of it.
    // @rule outputs.keys-taken: `n`, which exists because of a key in `r`, takes part
    keys_take_part(r) <-- keyed_by(n, r), !pending(n), selected(n);
    // @rule outputs.keys-taken-pending: every instance of `p`, which come from keys in `r`, takes part
    keys_take_part(r) <-- keyed_by(p, r), pending(p), !expanded(p), !skipped(p), selected(p), !doubtful(p);
    // @rule outputs.keys-taken-empty: no object exists because of a key in `r`
    keys_take_part(r) <-- repetition(r), !makes_instances(r);

    // @rule outputs.taken-all: the request has no targets, and nothing leaves `r` out
    taken(r) <-- repetition(r), keys_take_part(r), !targeting(), !out(r);
    // @rule outputs.taken-wanted: `r` is wanted, and nothing leaves it out
    taken(r) <-- repetition(r), keys_take_part(r), want(r), !out(r);

    // @rule outputs.fresh-object: `v` reads `n`, which takes part
    fresh(v) <-- value(v), reads(v, n), counted(n), selected(n);
    // @rule outputs.fresh-keys: `v` reads `r`, which takes part
    fresh(v) <-- value(v), !collection(v), reads(v, r), taken(r);
    // @rule outputs.fresh-empty: `v` reads `r`, which takes part, and has no instance
    fresh(v) <-- collection(v), reads(v, r), taken(r), !has_instance(v);
    // @rule outputs.fresh-value: `v` reads `w`
    fresh(v) <-- fresh(w), reads(v, w), value(v);

    // @rule outputs.stale-object: `v` reads `n`, which no target wants
    stale(v) <-- value(v), reads(v, n), counted(n), untargeted(n);
    // @rule outputs.stale-keys: `v` reads `r`, which no target wants
    stale(v) <-- targeting(), value(v), !collection(v), reads(v, r), repetition(r), !want(r), !out(r);
    // @rule outputs.stale-excluded: `v` reads `n`, which is excluded
    stale(v) <-- outputs_need_all(), value(v), reads(v, n), counted(n), excluded(n);
    // @rule outputs.stale-value: `v` reads `w`
    stale(v) <-- stale(w), reads(v, w), value(v);

    // @rule outputs.missing-object: `v` reads `n`, which is left out
    missing(v) <-- value(v), reads(v, n), excluded(n);
    // @rule outputs.missing-keys: `v` reads `r`, which is left out
    missing(v) <-- repetition(r), out(r), reads(v, r), value(v), !collection(v);
    // @rule outputs.missing-keyed: `v` reads `r`, and `n`, which exists because of a key in `r`, is left out
    missing(v) <-- keyed_by(n, r), excluded(n), reads(v, r), value(v), !collection(v);
    // @rule outputs.missing-value: `v` reads `w`
    missing(v) <-- missing(w), reads(v, w), value(v);

    // @rule outputs.keys-unsettled: `v` reads `p`, whose instance keys are not known
    keys_unsettled(v) <-- filtered(), pending(p), !expanded(p), reads(v, p), value(v), !excluded(p), !untargeted(p);
    // @rule outputs.keys-unsettled-object: `v` reads `n`, of which it is not known whether it takes part
    keys_unsettled(v) <-- filtered(), open(n), managed(n), reads(v, n), value(v);
    // @rule outputs.keys-unsettled-set: `v` reads `r`, and whether an instance of `p` takes part is not known
    keys_unsettled(v)
        <-- filtered(), keyed_by(p, r), pending(p), !expanded(p), doubtful(p), reads(v, r), value(v), !collection(v),
            !excluded(p), !untargeted(p);
    // @rule outputs.keys-unsettled-value: `v` reads `w`
    keys_unsettled(v) <-- keys_unsettled(w), reads(v, w), value(v);

    // @rule outputs.undecided-exclusion: nothing else that `o` relies on takes part
    undecided_output(o) <-- output(o), keys_unsettled(o), !mode(Mode::Destroy), !stale(o), !fresh(o);
    // @rule outputs.undecided-target: `o` needs all that it relies on
    undecided_output(o) <-- output(o), keys_unsettled(o), targeting(), !mode(Mode::Destroy), !stale(o);
    // @rule outputs.undecided-all: `o` needs all that it relies on, as OpenTofu has it
    undecided_output(o) <-- output(o), keys_unsettled(o), outputs_need_all(), !mode(Mode::Destroy), !stale(o);

    // @rule outputs.unfiltered: the run leaves nothing out
    recalculated(o) <-- output(o), !filtered();
    // @rule outputs.due: (`o` relies on an object that takes part)
    due(o) <-- output(o), filtered(), !mode(Mode::Destroy), fresh(o), !stale(o);
    // @rule outputs.recalculated: (`o` can be evaluated)
    recalculated(o) <-- due(o), !lacks_value(o);

    // @rule outputs.evaluated-all: (the run leaves nothing out, and nothing that `o` reads failed)
    evaluated_output(o)
        <-- output(o), declared(o), !filtered(), mode(m), if *m != Mode::Destroy, !blocked(o, _);
    // @rule outputs.evaluated-due: (nothing that `o` reads failed)
    evaluated_output(o) <-- due(o), declared(o), !blocked(o, _);

    // @rule outputs.asked-for: `o` is recalculated and reads `v`
    asked_for(v) <-- filtered(), recalculated(o), reads(o, v), !managed(v), !data(v);
    // @rule outputs.asked-behind: `v` reads `w`
    asked_for(w) <-- asked_for(v), reads(v, w), !managed(w), !data(w);

    // @rule outputs.destroying: only a selection is destroyed
    keeps_value(o, Keep::Destroying) <-- output(o), filtered(), mode(Mode::Destroy);
    // @rule outputs.something-missing: (something that `o` relies on takes no part)
    keeps_value(o, Keep::SomethingMissing) <-- output(o), filtered(), !mode(Mode::Destroy), stale(o);
    // @rule outputs.nothing-taken: `o` relies on no object at all
    keeps_value(o, Keep::NothingTaken)
        <-- output(o), filtered(), !mode(Mode::Destroy), !fresh(o), !stale(o), !missing(o);
    // @rule outputs.all-missing: (nothing that `o` relies on takes part)
    keeps_value(o, Keep::NothingTaken)
        <-- output(o), filtered(), !mode(Mode::Destroy), !fresh(o), !stale(o), missing(o);
    // @rule outputs.no-value: `o` cannot be evaluated without what is left out
    keeps_value(o, Keep::NoValue) <-- due(o), lacks_value(o), missing(o);
    // @rule outputs.no-value-here: `o` cannot be evaluated in a run that leaves something out
    keeps_value(o, Keep::NoValue) <-- due(o), lacks_value(o), !missing(o);
}

tables! {
    /// What happens to the root outputs. All sorted.
    pub struct Outputs {
        "outputs" {
            /// `recalculated(o)`: output `o` gets a new value; in an unfiltered destroy run it goes.
            recalculated(Node);
            /// `missing(v)`: value `v` relies on something that is left out, directly or through other values.
            missing(Node);
            /// `undecided_output(o)`: whether output `o` is recalculated is decided once instance keys are known.
            undecided_output(Node);
            /// `evaluated_output(o)`: output `o` is evaluated: it is to be recalculated, and nothing that it reads failed.
            evaluated_output(Node);
            /// `asked_for(v)`: in a run that leaves something out, `v` is evaluated for an output that is recalculated.
            asked_for(Node);
            /// `keeps_value(o, k)`: output `o` keeps its value, for reason `k`.
            keeps_value(Node, Keep);
        }
    }
}

/// Splits the root outputs into those that are recalculated and those that keep their value.
pub(crate) fn split(ledger: &Ledger<'_>) -> Outputs {
    conclude!(ledger: Program {
        facts: object, output, value, collection, pending, expanded, skipped, repetition, keyed_by, managed, data,
            reads if facts.filtered | selection.out | selection.excluded, filtered, targeting, mode, outputs_need_all, lacks_value, declared;
        selection: out, want, doubtful, selected, excluded, untargeted, open;
        decisions: blocked;
    } => Outputs { recalculated, missing, undecided_output, evaluated_output, asked_for, keeps_value })
}

#[cfg(test)]
mod tests;

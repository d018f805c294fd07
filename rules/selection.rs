//! Which objects take part in this run, and what holds the others back.
//!
//! holds   every object is selected, excluded or untargeted, and only one of them

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation object(Node);
    relation reads(Node, Node);
    relation reads_open(Node, Node);
    relation may_read(Node, Node);
    relation waits_for(Node, Node);
    relation needs(Node, Node);
    relation collection(Node);
    relation member(Node, Node);
    relation pending(Node);
    relation late(Node, Node);
    relation keys_from(Node, Node);
    relation call_keys(Node);
    relation expanded(Node);
    relation skipped(Node);
    relation in_state(Node);
    relation to_be_destroyed(Node);
    relation hit(Node, Hit, Flag);
    relation output(Node);
    relation filtered();
    relation targeting();
    relation mode(Mode);
    relation precedes_destroy();
    relation ephemeral(Node);
    relation read_by_provider(Node);

    /// `out(n)`: `n` is left out; object or not.
    relation out(Node);

    /// `doubtful(n)`: `n`, or one of its instances, may have to be left out; which is known once the keys are.
    relation doubtful(Node);

    /// `doubted_by(n, m)`: `n` is doubtful because of `m`; `n` itself where the request names one of its instances.
    relation doubted_by(Node, Node);

    /// `kept(n)`: `n` must stay as it is.
    relation kept(Node);

    /// `guarded(n)`: `n` would go and is left out, or something like that rests on `n`.
    relation guarded(Node);

    /// `perhaps_left(n, g)`: what exists as `n` may be left out; which is known once `g` is expanded.
    relation perhaps_left(Node, Node);

    /// `spares(n, m)`: `m` must stay as it is, for `n` may have to.
    relation spares(Node, Node);

    /// `judged_after(m, g)`: what is done with `m` is decided after `g` is expanded, if it can be.
    relation judged_after(Node, Node);

    /// `keys_wait_for(g, n)`: the keys of `g` are known only after `n` is decided.
    relation keys_wait_for(Node, Node);

    /// `delayed(n, g)`: `n` is decided after `g` is expanded.
    relation delayed(Node, Node);

    /// `excluded_by(n, m)`: `n` is left out because `m` is; `n` itself where the request names it.
    relation excluded_by(Node, Node);

    /// `want(n)`: a target names `n`, or needs it.
    relation want(Node);

    /// `wanted_by(n, m)`: `n` is wanted because `m` is; `n` itself where the request names it.
    relation wanted_by(Node, Node);

    /// `open(n)`: whether `n` takes part is not known before the keys of its block are.
    relation open(Node);

    /// `selected(n)`: `n` takes part in this run.
    relation selected(Node);

    /// `excluded(n)`: `n` takes no part in this run; because of an exclusion.
    relation excluded(Node);

    /// `untargeted(n)`: `n` takes no part in this run; because no target wants it.
    relation untargeted(Node);

    /// `evaluated(v)`: in a run that leaves something out, `v` is evaluated; something that takes part reads it.
    relation evaluated(Node);

    /// `evaluates_all()`: every value is evaluated, whether something reads it or not.
    relation evaluates_all();

    /// `consulted(v)`: with targets, what is evaluated leads to `v`, be it that only another part of it is read.
    relation consulted(Node);

    /// `shown(v)`: with targets, `v` is a value that an output reads, be it recalculated or not.
    relation shown(Node);

    /// `counts(r, c)`: with targets, who reads the key set `r` looks at all instances, which `c` stands for.
    relation counts(Node, Node);

    /// `keys_open()`: there are keys that are not known when the run begins.
    relation keys_open();

    /// `recalled(n)`: `n` takes no part, and what is recorded of it is read from the state, for something may ask.
    relation recalled(Node);

    /// `asks_keys(g)`: the keys of `g` are asked for; something whose keys come with them takes part.
    relation asks_keys(Node);

    /// `requires_keys(g)`: the keys of `g` are asked for, and that they cannot be had is an error.
    relation requires_keys(Node);

    // @rule selection.requested: the request leaves `n` out
    out(n) <-- hit(n, Hit::Exclude, _);
    // @rule selection.requested-by: the request leaves `n` out
    excluded_by(n, n) <-- hit(n, Hit::Exclude, _);

    // @rule selection.dependent: `n` reads `m`
    out(n) <-- out(m), reads(n, m);
    // @rule selection.dependent-by: `n` reads `m`
    excluded_by(n, m) <-- out(m), reads(n, m);

    // @rule selection.part: the request leaves out one of the instances of `p`
    doubtful(p) <-- hit(p, Hit::Part, _);
    // @rule selection.part-by: the request leaves out one of the instances of `p`
    doubted_by(p, p) <-- hit(p, Hit::Part, _);
    // @rule selection.perhaps: `n` may read `m`
    doubtful(n) <-- out(m), may_read(n, m);
    // @rule selection.perhaps-by: `n` may read `m`
    doubted_by(n, m) <-- out(m), may_read(n, m);
    // @rule selection.perhaps-on: `n` may read `m`
    doubtful(n) <-- doubtful(m), may_read(n, m);
    // @rule selection.perhaps-on-by: `n` may read `m`
    doubted_by(n, m) <-- doubtful(m), may_read(n, m);

    // @rule selection.open: `n` reads `m`, whose instances are not known yet
    out(n) <-- doubtful(m), reads_open(n, m);
    // @rule selection.open-by: `n` reads `m`, whose instances are not known yet
    excluded_by(n, m) <-- doubtful(m), reads_open(n, m);

    // @rule selection.guarded: `n` would go, and is left out
    guarded(n) <-- out(n), in_state(n), to_be_destroyed(n);
    // @rule selection.guarded-foundation: `n`, which would go and is left out, rests on `m`
    guarded(m) <-- guarded(n), needs(n, m);

    // @rule selection.perhaps-left-doubt: `n` exists and may have to be left out; its keys come with `g`
    perhaps_left(n, g) <-- late(n, p), keys_from(p, g), doubtful(n), in_state(n);
    // @rule selection.perhaps-left-kept: `n` must stay as it is, should it go otherwise; its keys come with `g`
    perhaps_left(n, g) <-- late(n, p), keys_from(p, g), kept(n);
    // @rule selection.judged-after: `n`, which may go and may be left out, rests on `m`
    judged_after(m, g) <-- perhaps_left(n, g), needs(n, m);
    // @rule selection.judged-after-foundation: `m`, which may have to stay, rests on `l`
    judged_after(l, g) <-- judged_after(m, g), needs(m, l);

    // @rule selection.keys-wait-read: what `g` stands for reads `n`
    keys_wait_for(g, n) <-- judged_after(_, g), reads(g, n);
    // @rule selection.keys-wait-part: what `g` stands for waits for `n`
    keys_wait_for(g, n) <-- judged_after(_, g), waits_for(g, n);
    // @rule selection.keys-wait-behind: `m` reads `n`
    keys_wait_for(g, n) <-- keys_wait_for(g, m), reads(m, n);
    // @rule selection.keys-wait-behind-part: `m` waits for `n`
    keys_wait_for(g, n) <-- keys_wait_for(g, m), waits_for(m, n);
    // @rule selection.keys-wait-judged: `m` is to be decided after `h` is expanded
    keys_wait_for(g, h) <-- keys_wait_for(g, m), judged_after(m, h);
    // @rule selection.delayed: (the keys of `g` do not wait for `n`)
    delayed(n, g) <-- judged_after(n, g), if n != g, !keys_wait_for(g, n);

    // @rule selection.spares: `n` may have to stay as it is, and rests on `m`
    spares(n, m) <-- doubtful(n), in_state(n), needs(n, m), !late(m, _);
    // @rule selection.spares-late: `n` may have to stay as it is, and rests on `m`, whose keys come with others
    spares(n, m)
        <-- doubtful(n), in_state(n), needs(n, m), late(n, p), keys_from(p, g), late(m, q), keys_from(q, h), if g != h;

    // @rule selection.kept: `n` exists and is left out
    kept(n) <-- out(n), in_state(n);
    // @rule selection.foundation: `n` stays as it is, and rests on `m`
    kept(m) <-- kept(n), needs(n, m);
    // @rule selection.foundation-open: (`m` must stay for something that may have to)
    kept(m) <-- spares(_, m);

    // @rule selection.protected: `m` would be destroyed, but must stay as it is
    out(m) <-- kept(m), to_be_destroyed(m);
    // @rule selection.protected-by: `n` stays as it is, and rests on `m`
    excluded_by(m, n) <-- kept(n), needs(n, m), to_be_destroyed(m);
    // @rule selection.protected-open-by: (`n` may have to stay, and so must `m`)
    excluded_by(m, n) <-- spares(n, m), to_be_destroyed(m);

    // @rule selection.targeted: a target names `n`
    want(n) <-- hit(n, Hit::Target, _);
    // @rule selection.targeted-by: a target names `n`
    wanted_by(n, n) <-- hit(n, Hit::Target, _);

    // @rule selection.required: `n` reads `m`
    want(m) <-- want(n), reads(n, m);
    // @rule selection.required-by: `n` reads `m`
    wanted_by(m, n) <-- want(n), reads(n, m);

    // @rule selection.among: a target names what may be one of the instances of `p`
    want(p) <-- hit(p, Hit::Among, _);
    // @rule selection.among-by: a target names what may be one of the instances of `p`
    wanted_by(p, p) <-- hit(p, Hit::Among, _);
    // @rule selection.among-required: `p`, one of whose instances a target may name, may read `m`
    want(m) <-- hit(p, Hit::Among, _), may_read(p, m);
    // @rule selection.among-required-by: `p`, one of whose instances a target may name, may read `m`
    wanted_by(m, p) <-- hit(p, Hit::Among, _), may_read(p, m);
    // @rule selection.late-required: `n` may read `m`
    want(m) <-- want(n), late(n, _), may_read(n, m);
    // @rule selection.late-required-by: `n` may read `m`
    wanted_by(m, n) <-- want(n), late(n, _), may_read(n, m);
    // @rule selection.late-keys: whether there is `n` is known once the keys of `p` are
    want(p) <-- want(n), late(n, p);
    // @rule selection.late-keys-by: whether there is `n` is known once the keys of `p` are
    wanted_by(p, n) <-- want(n), late(n, p);
    // @rule selection.whole-required: `c` stands for all instances of `p`, each of which may read `m`
    want(m) <-- pending(p), reads_open(c, p), want(c), may_read(p, m);
    // @rule selection.whole-required-by: `c` stands for all instances of `p`, each of which may read `m`
    wanted_by(m, p) <-- pending(p), reads_open(c, p), want(c), may_read(p, m);

    // @rule selection.destroyed-dependent: `n` rests on `m`, which is to be destroyed
    want(n) <-- mode(Mode::Destroy), want(m), needs(n, m);
    // @rule selection.destroyed-dependent-by: `n` rests on `m`, which is to be destroyed
    wanted_by(n, m) <-- mode(Mode::Destroy), want(m), needs(n, m);

    // @rule selection.provider-required: a provider that destroys something reads ephemeral resource `e`
    want(e) <-- read_by_provider(e), ephemeral(e), consulted(e);
    // @rule selection.provider-required-by: `p`, a provider that destroys something, reads ephemeral resource `e`
    wanted_by(e, p) <-- read_by_provider(e), ephemeral(e), consulted(e), waits_for(p, e);

    // @rule selection.not-known: the keys of `p` are not known yet
    open(n) <-- object(n), late(n, p), !expanded(p), !skipped(p);

    // @rule selection.all: the request has no targets, and nothing leaves `n` out
    selected(n) <-- object(n), !targeting(), !out(n), !open(n);
    // @rule selection.selected: (`n` is wanted, and nothing leaves it out)
    selected(n) <-- object(n), want(n), !out(n), !open(n);
    // @rule selection.excluded: (`n` is left out)
    excluded(n) <-- object(n), out(n);
    // @rule selection.untargeted: the request has targets, and none of them wants `n`
    untargeted(n) <-- targeting(), object(n), !want(n), !out(n), !open(n);

    // @rule selection.evaluated: `n` takes part and reads `v`
    evaluated(v) <-- filtered(), selected(n), reads(n, v), !object(v);
    // @rule selection.evaluated-perhaps: `p` takes part and may read `v`
    evaluated(v) <-- filtered(), selected(p), may_read(p, v), !object(v);
    // @rule selection.evaluated-behind: `v` reads `w`
    evaluated(w) <-- evaluated(v), reads(v, w), !object(w);
    // @rule selection.evaluates-all: the run leaves nothing out, and does not destroy everything
    evaluates_all() <-- mode(m), if *m != Mode::Destroy, !filtered();

    // @rule selection.consulted: `n` takes part and waits for `v`
    consulted(v) <-- targeting(), selected(n), waits_for(n, v);
    // @rule selection.consulted-evaluated: `v` is evaluated and waits for `w`
    consulted(w) <-- targeting(), evaluated(v), waits_for(v, w);
    // @rule selection.shown: the output `o` reads `v`
    shown(v) <-- targeting(), output(o), reads(o, v), !object(v);
    // @rule selection.shown-behind: `v` reads `w`
    shown(w) <-- shown(v), reads(v, w), !object(w);
    // @rule selection.consulted-output: the output `o` waits for `v`
    consulted(v) <-- targeting(), output(o), waits_for(o, v);
    // @rule selection.consulted-shown: `v` waits for `w`
    consulted(w) <-- shown(v), waits_for(v, w);
    // @rule selection.consulted-behind: `v` reads `w`
    consulted(w) <-- consulted(v), reads(v, w), !object(v);
    // @rule selection.consulted-behind-part: `v` waits for `w`
    consulted(w) <-- consulted(v), waits_for(v, w), !object(v);

    // Only the keys are used of what is looked at.
    // @rule selection.counts: `c` stands for all instances that `r` has
    counts(r, c) <-- targeting(), collection(c), reads(c, r), !object(r);
    // @rule selection.consulted-keys: `n` takes part and reads `r`, which are not its own keys
    consulted(c) <-- counts(r, c), reads(n, r), selected(n), !member(n, c);
    // @rule selection.consulted-keys-evaluated: `v` is evaluated and reads `r`
    consulted(c) <-- counts(r, c), reads(v, r), evaluated(v);
    // @rule selection.consulted-keys-output: the output `o` reads `r`
    consulted(c) <-- counts(r, c), reads(o, r), output(o);
    // @rule selection.consulted-keys-shown: `v` reads `r`
    consulted(c) <-- counts(r, c), reads(v, r), shown(v);
    // @rule selection.consulted-keys-behind: `v` reads `r`
    consulted(c) <-- counts(r, c), reads(v, r), consulted(v), !object(v);

    // @rule selection.keys-open: there are keys that are not known yet
    keys_open() <-- pending(_);
    // @rule selection.keys-open-call: there are keys of a module call that are not known yet
    keys_open() <-- call_keys(_);
    // @rule selection.keys-open-found: there are keys that have become known since
    keys_open() <-- expanded(_);
    // @rule selection.keys-open-skipped: there are keys that were not asked for
    keys_open() <-- skipped(_);

    // @rule selection.recalled-excluded: (outputs may rely on `n`)
    recalled(n) <-- excluded(n);
    // @rule selection.recalled-consulted: no target wants `n`, but what is evaluated may look at it
    recalled(n) <-- consulted(n), untargeted(n);
    // Keys are found out also of what takes no part, and what they bring may look at anything.
    // @rule selection.recalled-for-keys: no target wants `n`, but keys that are not known yet may come from it
    recalled(n) <-- keys_open(), untargeted(n);
    // @rule selection.recalled-to-exist: no target wants `n`, but it counts among the instances only if it exists
    recalled(n) <-- mode(Mode::RefreshOnly), untargeted(n), member(n, _);

    // @rule selection.asks-keys: `p` takes part, and its keys come with `g`
    asks_keys(g) <-- keys_from(p, g), selected(p);
    // @rule selection.asks-call-keys: (every value is evaluated, and so are the keys of `g`, a module call)
    asks_keys(g) <-- call_keys(g), evaluates_all();
    // What exists is destroyed, whatever was to be declared.
    // @rule selection.requires-keys: (the keys of `g` are asked for, and it is not only to destroy everything next)
    requires_keys(g) <-- asks_keys(g), !precedes_destroy();
}

tables! {
    /// The objects that take part, and what holds back the others. All sorted.
    pub struct Selection {
        "selection" {
            /// `out(n)`: node `n`, object or not, is left out of this run.
            out(Node);
            /// `doubtful(n)`: `n`, whose block has keys that are not known yet, or one of its instances, may have to be left out.
            doubtful(Node);
            /// `doubted_by(n, m)`: `n` is doubtful because of `m`; `n` itself where the request names one of its instances. One row per cause.
            doubted_by(Node, Node);
            /// `kept(n)`: what exists as `n` must stay as it is: it is left out, or something left out rests on it.
            kept(Node);
            /// `guarded(n)`: what exists as `n` is not replaced: something that would go and is left out rests on it.
            guarded(Node);
            /// `judged_after(m, g)`: what is done with `m` is decided after `g` is expanded, if it can be: it may have to stay for one of the instances.
            judged_after(Node, Node);
            /// `delayed(n, g)`: `n` is decided after `g` is expanded. Not so where the keys of `g` wait for `n`.
            delayed(Node, Node);
            /// `excluded_by(n, m)`: `n` is left out because `m` is; `n` itself where the request names it. One row per cause.
            excluded_by(Node, Node);
            /// `want(n)`: a target names `n`, or something wanted needs it. Empty without targets.
            want(Node);
            /// `wanted_by(n, m)`: `n` is wanted because `m` is; `n` itself where a target names it. One row per cause.
            wanted_by(Node, Node);
            /// `open(n)`: whether object `n` takes part is not known before the keys of its block are.
            open(Node);
            /// `selected(n)`: object `n` takes part in this run.
            selected(Node);
            /// `excluded(n)`: object `n` is left out of this run.
            excluded(Node);
            /// `untargeted(n)`: no target wants object `n`.
            untargeted(Node);
            /// `evaluated(v)`: in a run that leaves something out, `v` is evaluated, for something that takes part reads it.
            evaluated(Node);
            /// `evaluates_all()`: every value is evaluated, whether something reads it or not.
            evaluates_all();
            /// `recalled(n)`: `n` takes no part, and what is recorded of it is read from the state, for something may ask.
            recalled(Node);
            /// `asks_keys(g)`: the keys of `g`, a pending node or a module call, are asked for: something whose keys come with them takes part.
            asks_keys(Node);
            /// `requires_keys(g)`: the keys of `g` are asked for, and that they cannot be had is an error.
            requires_keys(Node);
        }
    }
}

/// Splits the objects into those that take part and those that do not.
///
/// An instance whose keys are not known yet ([`late`](crate::Facts::late)) is neither. Once they are, a ledger of the facts
/// about it, with what was concluded of it and around it – `out`, `want`, `kept` –, says which.
pub(crate) fn select(ledger: &Ledger<'_>) -> Selection {
    conclude!(ledger: Program {
        facts: object, reads if facts.hit | facts.filtered | selection.out | selection.want | selection.kept, reads_open, may_read,
            collection if facts.targeting, member if facts.targeting, waits_for if facts.late | facts.targeting,
            needs if facts.excluding | instances.to_be_destroyed | selection.out | selection.want | selection.kept, pending, late,
            keys_from, call_keys, expanded, skipped, in_state, hit, output if facts.targeting, filtered, targeting, mode, precedes_destroy,
            ephemeral if providers.read_by_provider;
        providers: read_by_provider;
        instances: to_be_destroyed;
        selection: out, want, kept;
    } => Selection {
        out, doubtful, doubted_by, kept, guarded, judged_after, delayed, excluded_by, want, wanted_by, open, selected, excluded,
        untargeted, evaluated, evaluates_all, recalled, asks_keys, requires_keys,
    })
}

#[cfg(test)]
mod tests;

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

    /// `doubted_by(n, m)`: `n` may be left out because `m` may be; `n` itself where the request names one of its instances.
    relation doubted_by(Node, Node);

    /// `kept(n)`: `n` must stay as it is.
    relation kept(Node);

    /// `guarded(n)`: `n` would go and is left out, or something like that rests on `n`.
    relation guarded(Node);

    /// `perhaps_left(n, g)`: what exists as `n` may be left out; which is known once `g` is expanded.
    relation perhaps_left(Node, Node);

    /// `exclusion_depends_on(n, p)`: whether `n` is left out depends on which instances `p` stands for.
    relation exclusion_depends_on(Node, Node);

    /// `selection_awaits(n, p)`: whether `n` is left out is known once the instances of `p` are.
    relation selection_awaits(Node, Node);

    /// `may_have_to_stay(n, p)`: what exists as `n` may have to stay as it is; that depends on which instances `p` stands for.
    relation may_have_to_stay(Node, Node);

    /// `perhaps_evaluated(v)`: something reads `v` of which it is not known yet whether it takes part.
    relation perhaps_evaluated(Node);

    /// `spares(n, m)`: `m` must stay as it is, for `n` may have to.
    relation spares(Node, Node);

    /// `keys_needed_for(g)`: what may have to stay is decided after `g` is expanded.
    relation keys_needed_for(Node);

    /// `keys_depend_on(g, m)`: the keys of `g`, after which something is decided, depend on `m`.
    relation keys_depend_on(Node, Node);

    /// `keys_unknown(n)`: whether there is `n` is not known before the keys of its block are.
    relation keys_unknown(Node);

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

    /// `open(n)`: whether `n` takes part is not known before keys are.
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

    /// `asks_keys(g)`: the keys of `g` are asked for; something whose keys come with them takes part.
    relation asks_keys(Node);

    /// `requires_keys(g)`: the keys of `g` are asked for, and that they cannot be had is an error.
    relation requires_keys(Node);

    // @rule selection.requested: the request leaves `n` out
    out(n), excluded_by(n, n) <-- hit(n, Hit::Exclude, _);

    // @rule selection.dependent: `n` reads `m`
    out(n), excluded_by(n, m) <-- out(m), reads(n, m);

    // @rule selection.part: the request leaves out one of the instances of `p`
    doubtful(p), doubted_by(p, p) <-- hit(p, Hit::Part, _);
    // @rule selection.perhaps: `n` may read `m`
    doubtful(n), doubted_by(n, m) <-- out(m), may_read(n, m);
    // @rule selection.perhaps-on: `n` may read `m`
    doubtful(n), doubted_by(n, m) <-- doubtful(m), may_read(n, m);
    // @rule selection.perhaps-behind: `n` may read `m`, which may be left out
    doubtful(n), doubted_by(n, m) <-- exclusion_depends_on(m, _), may_read(n, m);

    // Who reads an instance that may be left out is decided once it is known whether there is such an instance.
    // @rule selection.depends-all: `n` reads all instances of `p`, one of which may be left out
    exclusion_depends_on(n, p) <-- doubtful(p), pending(p), reads_open(n, p);
    // @rule selection.depends-one: `n` reads `m`, which may be left out and may be an instance of `p`
    exclusion_depends_on(n, p) <-- doubtful(m), reads_open(n, m), late(m, p);
    // @rule selection.depends-behind: `n` reads `m`
    exclusion_depends_on(n, p), doubted_by(n, m) <-- exclusion_depends_on(m, p), reads(n, m);
    // @rule selection.depends-open-by: `n` reads `m`, which may be left out, or one of its instances
    doubted_by(n, m) <-- doubtful(m), reads_open(n, m);
    // @rule selection.depends-protected: `m` would be destroyed, and `n`, which may have to stay, rests on it
    exclusion_depends_on(m, p) <-- may_have_to_stay(n, p), needs(n, m), to_be_destroyed(m);
    // @rule selection.awaits: the instances of `p` are not known yet
    selection_awaits(n, p) <-- exclusion_depends_on(n, p), !expanded(p), !skipped(p);

    // @rule selection.guarded: `n` would go, and is left out
    guarded(n) <-- out(n), in_state(n), to_be_destroyed(n);
    // @rule selection.guarded-foundation: `n`, which would go and is left out, rests on `m`
    guarded(m) <-- guarded(n), needs(n, m);

    // @rule selection.may-stay: `n` exists and may be left out
    may_have_to_stay(n, p) <-- exclusion_depends_on(n, p), in_state(n);
    // @rule selection.may-stay-late: `n` exists, may be left out, and may be one of the instances of `p`
    may_have_to_stay(n, p) <-- doubtful(n), in_state(n), late(n, p);
    // @rule selection.may-stay-foundation: `n` may have to stay, and rests on `m`
    may_have_to_stay(m, p), doubted_by(m, n) <-- may_have_to_stay(n, p), needs(n, m);
    // @rule selection.perhaps-left-doubt: `n` may have to stay, which depends on the instances of `p`; their keys come with `g`
    perhaps_left(n, g) <-- may_have_to_stay(n, p), keys_from(p, g);
    // @rule selection.perhaps-left-late: `n` may have to stay, should it go otherwise; its keys come with `g`
    perhaps_left(n, g) <-- may_have_to_stay(n, _), late(n, p), keys_from(p, g);
    // @rule selection.perhaps-left-kept: `n` must stay as it is, should it go otherwise; its keys come with `g`
    perhaps_left(n, g) <-- late(n, p), keys_from(p, g), kept(n);
    // @rule selection.judged-after: `n`, which may go and may be left out, rests on `m`
    judged_after(m, g) <-- perhaps_left(n, g), needs(n, m);
    // @rule selection.judged-after-foundation: `m`, which may have to stay, rests on `l`
    judged_after(l, g) <-- judged_after(m, g), needs(m, l);

    // @rule selection.keys-needed: something is decided after `g`
    keys_needed_for(g) <-- perhaps_left(_, g);
    // @rule selection.keys-depend: the keys of `g` are read from `m`
    keys_depend_on(g, m) <-- keys_needed_for(g), reads(g, m);
    // @rule selection.keys-depend-part: `g` waits for `m`
    keys_depend_on(g, m) <-- keys_needed_for(g), waits_for(g, m);
    // @rule selection.keys-depend-behind: `m` reads `n`
    keys_depend_on(g, n) <-- keys_depend_on(g, m), reads(m, n);
    // @rule selection.keys-depend-behind-part: `m` waits for `n`
    keys_depend_on(g, n) <-- keys_depend_on(g, m), waits_for(m, n);
    // @rule selection.keys-depend-perhaps: `m` may read `n`
    keys_depend_on(g, n) <-- keys_depend_on(g, m), may_read(m, n);
    // @rule selection.keys-depend-late: `m` reads all instances of `p`, and `n` may be one of them
    keys_depend_on(g, n) <-- keys_depend_on(g, m), reads_open(m, p), late(n, p);

    // @rule selection.keys-wait: the keys of `g` depend on `n`
    keys_wait_for(g, n) <-- keys_depend_on(g, n);
    // @rule selection.keys-wait-judged: `m` is to be decided after `h` is expanded
    keys_wait_for(g, h) <-- keys_wait_for(g, m), judged_after(m, h);
    // @rule selection.keys-wait-behind: the keys of `h` depend on `n`
    keys_wait_for(g, n) <-- keys_wait_for(g, h), keys_depend_on(h, n);
    // @rule selection.delayed: (the keys of `g` do not wait for `n`)
    delayed(n, g) <-- judged_after(n, g), if n != g, !keys_wait_for(g, n);
    // @rule selection.spares: `n` may have to stay as it is, and rests on `m`, on which keys depend
    spares(n, m) <-- may_have_to_stay(n, _), needs(n, m), to_be_destroyed(m), keys_depend_on(_, m);

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
    want(n), wanted_by(n, n) <-- hit(n, Hit::Target, _);

    // @rule selection.required: `n` reads `m`
    want(m), wanted_by(m, n) <-- want(n), reads(n, m);

    // @rule selection.among: a target names what may be one of the instances of `p`
    want(p), wanted_by(p, p) <-- hit(p, Hit::Among, _);
    // @rule selection.among-required: `p`, one of whose instances a target may name, may read `m`
    want(m), wanted_by(m, p) <-- hit(p, Hit::Among, _), may_read(p, m);
    // @rule selection.late-required: `n` may read `m`
    want(m), wanted_by(m, n) <-- want(n), late(n, _), may_read(n, m);
    // @rule selection.late-keys: whether there is `n` is known once the keys of `p` are
    want(p), wanted_by(p, n) <-- want(n), late(n, p);
    // @rule selection.whole-required: `c` stands for all instances of `p`, each of which may read `m`
    want(m), wanted_by(m, p) <-- pending(p), reads_open(c, p), want(c), may_read(p, m);

    // @rule selection.destroyed-dependent: `n` rests on `m`, which is to be destroyed
    want(n), wanted_by(n, m) <-- mode(Mode::Destroy), want(m), needs(n, m);

    // @rule selection.provider-required: a provider that destroys something reads ephemeral resource `e`
    want(e) <-- read_by_provider(e), ephemeral(e), consulted(e);
    // @rule selection.provider-required-by: `p`, a provider that destroys something, reads ephemeral resource `e`
    wanted_by(e, p) <-- read_by_provider(e), ephemeral(e), consulted(e), waits_for(p, e);

    // @rule selection.not-known: the keys of `p` are not known yet
    keys_unknown(n) <-- object(n), late(n, p), !expanded(p), !skipped(p);

    // @rule selection.all: the request has no targets, and nothing leaves `n` out
    selected(n) <-- object(n), !targeting(), !out(n), !keys_unknown(n), !selection_awaits(n, _);
    // @rule selection.selected: (`n` is wanted, and nothing leaves it out)
    selected(n) <-- object(n), want(n), !out(n), !keys_unknown(n), !selection_awaits(n, _);
    // @rule selection.excluded: (`n` is left out)
    excluded(n) <-- object(n), out(n);
    // @rule selection.untargeted: the request has targets, and none of them wants `n`
    untargeted(n) <-- targeting(), object(n), !want(n), !out(n), !keys_unknown(n);

    // @rule selection.open-keys: (whether there is `n` is not known yet)
    open(n) <-- keys_unknown(n);
    // @rule selection.open-exclusion: whether `n` is left out is not known before keys are
    open(n) <-- object(n), selection_awaits(n, _), !targeting(), !out(n);
    // @rule selection.open-wanted: `n` is wanted, and whether it is left out is not known before keys are
    open(n) <-- object(n), selection_awaits(n, _), want(n), !out(n);

    // @rule selection.evaluated: `n` takes part and reads `v`
    evaluated(v) <-- filtered(), selected(n), reads(n, v), !object(v);
    // @rule selection.evaluated-perhaps: `p` takes part and may read `v`
    evaluated(v) <-- filtered(), selected(p), may_read(p, v), !object(v);
    // @rule selection.evaluated-behind: `v` reads `w`
    evaluated(w) <-- evaluated(v), reads(v, w), !object(w);
    // @rule selection.perhaps-evaluated: `n`, of which it is not known yet whether it takes part, reads `v`
    perhaps_evaluated(v) <-- filtered(), open(n), !keys_unknown(n), reads(n, v), !object(v), !out(v);
    // @rule selection.perhaps-evaluated-pending: `p`, of which it is not known yet whether it takes part, may read `v`
    perhaps_evaluated(v) <-- filtered(), open(p), !keys_unknown(p), may_read(p, v), !object(v), !out(v);
    // @rule selection.perhaps-evaluated-behind: `v` reads `w`
    perhaps_evaluated(w) <-- perhaps_evaluated(v), reads(v, w), !object(w), !out(w);
    // What waits for the same keys is evaluated once they are known, if at all.
    // @rule selection.evaluated-early: (something that may take part reads `v`)
    evaluated(v) <-- perhaps_evaluated(v), !selection_awaits(v, _);
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
            /// `doubted_by(n, m)`: `n` may be left out because `m` may be; `n` itself where the request names one of its instances. One row per cause.
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
            /// `selection_awaits(n, p)`: whether `n` is left out is known once the instances that `p` stands for are.
            selection_awaits(Node, Node) since "1.1";
            /// `open(n)`: whether object `n` takes part is not known before keys are: those of its block, or of one that it depends on.
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
            /// `consulted(v)`: with targets, what is evaluated leads to `v`.
            consulted(Node) since "2.0";
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
        facts: object, reads if facts.hit | facts.filtered | facts.targeting | selection.out | selection.want | selection.kept,
            reads_open, may_read, collection if facts.targeting, member if facts.targeting, waits_for if facts.pending | facts.late | facts.targeting,
            needs if facts.excluding | instances.to_be_destroyed | selection.out | selection.want | selection.kept, pending, late,
            keys_from, call_keys, expanded, skipped, in_state, hit, output if facts.targeting, filtered, targeting, mode, precedes_destroy,
            ephemeral if providers.read_by_provider;
        providers: read_by_provider;
        instances: to_be_destroyed;
        selection: out, want, kept;
    } => Selection {
        out, doubtful, doubted_by, kept, guarded, judged_after, delayed, excluded_by, want, wanted_by, selection_awaits, open, selected, excluded,
        untargeted, evaluated, evaluates_all, consulted, asks_keys, requires_keys,
    })
}

#[cfg(test)]
mod tests;

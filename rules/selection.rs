//! Which objects take part in this run, and what holds the others back.
//!
//! holds   every object is selected, excluded or untargeted, and only one of them

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use ascent::ascent;

use crate::atom::*;
use crate::facts::Facts;

ascent! {
    struct Program;

    relation object(Node);
    relation reads(Node, Node);
    relation needs(Node, Node);
    relation late(Node, Node);
    relation in_state(Node);
    relation doomed(Node);
    relation hit(Node, Hit, Flag);
    relation targeting();
    relation mode(Mode);

    /// `out(n)`: `n` is left out; object or not.
    relation out(Node);

    /// `kept(n)`: `n` must stay as it is.
    relation kept(Node);

    /// `guarded(n)`: `n` would go and is left out, or something like that rests on `n`.
    relation guarded(Node);

    /// `excluded_by(n, m)`: `n` is left out because `m` is; `n` itself where the request names it.
    relation excluded_by(Node, Node);

    /// `want(n)`: a target names `n`, or needs it.
    relation want(Node);

    /// `wanted_by(n, m)`: `n` is wanted because `m` is; `n` itself where the request names it.
    relation wanted_by(Node, Node);

    /// `selected(n)`: `n` takes part in this run.
    relation selected(Node);

    /// `excluded(n)`: `n` takes no part in this run; because of an exclusion.
    relation excluded(Node);

    /// `untargeted(n)`: `n` takes no part in this run; because no target wants it.
    relation untargeted(Node);

    // @rule selection.requested: the request leaves `n` out
    out(n) <-- hit(n, Hit::Exclude, _);
    // @rule selection.requested-by: the request leaves `n` out
    excluded_by(n, n) <-- hit(n, Hit::Exclude, _);

    // @rule selection.dependent: `n` reads `m`
    out(n) <-- out(m), reads(n, m);
    // @rule selection.dependent-by: `n` reads `m`
    excluded_by(n, m) <-- out(m), reads(n, m);

    // @rule selection.part: `n` reads `p`, and the request leaves out one of its instances
    out(n) <-- hit(p, Hit::Part, _), reads(n, p);
    // @rule selection.part-by: `n` reads `p`, and the request leaves out one of its instances
    excluded_by(n, p) <-- hit(p, Hit::Part, _), reads(n, p);

    // @rule selection.guarded: `n` would go, and is left out
    guarded(n) <-- out(n), in_state(n), doomed(n);
    // @rule selection.guarded-foundation: `n`, which would go and is left out, rests on `m`
    guarded(m) <-- guarded(n), needs(n, m);

    // @rule selection.kept: `n` exists and is left out
    kept(n) <-- out(n), in_state(n);
    // @rule selection.foundation: `n` stays as it is, and rests on `m`
    kept(m) <-- kept(n), needs(n, m);

    // @rule selection.protected: `m` would be destroyed, but must stay as it is
    out(m) <-- kept(m), doomed(m);
    // @rule selection.protected-by: `n` stays as it is, and rests on `m`
    excluded_by(m, n) <-- kept(n), needs(n, m), doomed(m);

    // @rule selection.targeted: a target names `n`
    want(n) <-- hit(n, Hit::Target, _);
    // @rule selection.targeted-by: a target names `n`
    wanted_by(n, n) <-- hit(n, Hit::Target, _);

    // @rule selection.required: `n` reads `m`
    want(m) <-- want(n), reads(n, m);
    // @rule selection.required-by: `n` reads `m`
    wanted_by(m, n) <-- want(n), reads(n, m);

    // @rule selection.whole: `n` is one of the instances of `p`
    want(n) <-- want(p), late(n, p);
    // @rule selection.whole-by: `n` is one of the instances of `p`
    wanted_by(n, p) <-- want(p), late(n, p);

    // @rule selection.toppled: `n` rests on `m`, which is to be destroyed
    want(n) <-- mode(Mode::Destroy), want(m), needs(n, m);
    // @rule selection.toppled-by: `n` rests on `m`, which is to be destroyed
    wanted_by(n, m) <-- mode(Mode::Destroy), want(m), needs(n, m);

    // @rule selection.all: the request has no targets, and nothing leaves `n` out
    selected(n) <-- object(n), !targeting(), !out(n);
    // @rule selection.selected: (`n` is wanted, and nothing leaves it out)
    selected(n) <-- object(n), want(n), !out(n);
    // @rule selection.excluded: (`n` is left out)
    excluded(n) <-- object(n), out(n);
    // @rule selection.untargeted: the request has targets, and none of them wants `n`
    untargeted(n) <-- targeting(), object(n), !want(n), !out(n);
}

tables! {
    /// The objects that take part, and what holds back the others. All sorted.
    pub struct Selection {
        "selection" {
            /// `out(n)`: node `n`, object or not, is left out of this run.
            out(Node);
            /// `kept(n)`: what exists as `n` must stay as it is: it is left out, or something left out rests on it.
            kept(Node);
            /// `guarded(n)`: what exists as `n` is not replaced: something that would go and is left out rests on it.
            guarded(Node);
            /// `excluded_by(n, m)`: `n` is left out because `m` is; `n` itself where the request names it. One row per cause.
            excluded_by(Node, Node);
            /// `want(n)`: a target names `n`, or something wanted needs it. Empty without targets.
            want(Node);
            /// `wanted_by(n, m)`: `n` is wanted because `m` is; `n` itself where a target names it. One row per cause.
            wanted_by(Node, Node);
            /// `selected(n)`: object `n` takes part in this run.
            selected(Node);
            /// `excluded(n)`: object `n` is left out of this run.
            excluded(Node);
            /// `untargeted(n)`: no target wants object `n`.
            untargeted(Node);
        }
    }
}

/// Splits the objects into those that take part and those that do not.
pub fn select(facts: &Facts) -> Selection {
    conclude!(Program {
        facts: object, reads, needs, late, in_state, doomed, hit, targeting, mode;
    } => Selection { out, kept, guarded, excluded_by, want, wanted_by, selected, excluded, untargeted })
}

#[cfg(test)]
mod tests;

//! How long what an ephemeral resource gives is kept: until everything that it travels to is done.
//!
//! Concluded for the walk that plans, where each node is done once, and for the one that applies, where steps are.

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation ephemeral_resource(Node);
    relation collection(Node);
    relation object(Node);
    relation evaluated_last(Node);
    relation mode(Mode);
    relation reads(Node, Node);
    relation waits_for(Node, Node);
    relation may_read(Node, Node);
    relation member(Node, Node);
    relation serves(Node, Node);
    relation step(Node, Phase);

    /// `reached_from(n, m)`: what `m` gives goes straight to `n`.
    relation reached_from(Node, Node);

    /// `travels_to(m, n)`: what `m` gives travels to `n`.
    relation travels_to(Node, Node);

    /// `kept_until(m, n)`: while planning, `m` is not closed before `n` is done.
    relation kept_until(Node, Node);

    /// `kept_for_step(m, n, f)`: when the plan is carried out, `m` is not closed before phase `f` of `n` is done.
    relation kept_for_step(Node, Node, Phase);

    /// `kept_to_end(m, n)`: `m` is not closed before the end, where `n` is evaluated.
    relation kept_to_end(Node, Node);

    // @rule ephemeral_uses.reads: `n` reads `m`
    reached_from(n, m) <-- reads(n, m);
    // Such a run has no `reads`: what exists only waits for what its provider is configured with.
    // @rule ephemeral_uses.waits-for: everything is destroyed, and `n` waits for `m`
    reached_from(n, m) <-- mode(Mode::Destroy), waits_for(n, m);
    // @rule ephemeral_uses.may-read: `n` may read `m`
    reached_from(n, m) <-- may_read(n, m);
    // @rule ephemeral_uses.member: `m` belongs to `n`
    reached_from(n, m) <-- member(m, n);
    // @rule ephemeral_uses.serves: `m` serves `n`
    reached_from(n, m) <-- serves(m, n);

    // @rule ephemeral_uses.travels: `n` draws on `m`
    travels_to(m, n) <-- ephemeral_resource(m), !collection(m), reached_from(n, m), if n != m;
    // @rule ephemeral_uses.travels-through: `k` draws on `n`
    travels_to(m, k) <-- travels_to(m, n), !object(n), !evaluated_last(n), reached_from(k, n), if k != m;
    // @rule ephemeral_uses.travels-again: `k` draws on `n`, which was opened with it
    travels_to(m, k) <-- travels_to(m, n), ephemeral_resource(n), reached_from(k, n), if k != m;

    // @rule ephemeral_uses.kept-until: (what `m` gives travels to `n`)
    kept_until(m, n) <-- travels_to(m, n), object(n), !evaluated_last(n);
    // @rule ephemeral_uses.kept-for-step: (what `m` gives travels to `n`)
    kept_for_step(m, n, f) <-- travels_to(m, n), step(n, f), !evaluated_last(n);
    // @rule ephemeral_uses.kept-to-end: `n`, to which it travels, is evaluated when everything else is done
    kept_to_end(m, n) <-- travels_to(m, n), evaluated_last(n);
}

tables! {
    /// How long ephemeral resources are open. All sorted.
    pub struct EphemeralUses {
        "ephemeral_uses" {
            /// `travels_to(m, n)`: what ephemeral resource `m` gives travels to `n`: through values, providers and other ephemeral resources.
            travels_to(Node, Node);
            /// `kept_until(m, n)`: while planning, ephemeral resource `m` is not closed before `n` is done.
            kept_until(Node, Node);
            /// `kept_for_step(m, n, f)`: when the plan is carried out, `m` is not closed before phase `f` of `n` is done.
            kept_for_step(Node, Node, Phase);
            /// `kept_to_end(m, n)`: ephemeral resource `m` is not closed before the end, where `n` is evaluated.
            kept_to_end(Node, Node);
        }
    }
}

/// Finds who keeps which ephemeral resource open; `order` is empty before there is one.
pub(crate) fn find(ledger: &Ledger<'_>) -> EphemeralUses {
    if ledger.facts.ephemeral_resource.is_empty() {
        return EphemeralUses::default();
    }
    conclude!(ledger: Program {
        facts: mode, ephemeral_resource, collection, object, evaluated_last, reads, waits_for, may_read, member;
        providers: serves;
        order: step;
    } => EphemeralUses { travels_to, kept_until, kept_for_step, kept_to_end })
}

#[cfg(test)]
mod tests;

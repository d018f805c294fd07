//! How long what an ephemeral resource gives is kept: until everything that it travels to is done.
//!
//! Concluded for the walk that plans, where each node is done once, and for the one that applies, where steps are.

use ascent::ascent;

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation lender(Node);
    relation collection(Node);
    relation object(Node);
    relation evaluated_last(Node);
    relation reads(Node, Node);
    relation may_read(Node, Node);
    relation member(Node, Node);
    relation serves(Node, Node);
    relation step(Node, Phase);

    /// `reached_from(n, m)`: what `m` gives goes straight to `n`.
    relation reached_from(Node, Node);

    /// `lent_to(m, n)`: what `m` gives travels to `n`.
    relation lent_to(Node, Node);

    /// `kept_until(m, n)`: while planning, `m` is not closed before `n` is done.
    relation kept_until(Node, Node);

    /// `kept_for_step(m, n, f)`: when the plan is carried out, `m` is not closed before phase `f` of `n` is done.
    relation kept_for_step(Node, Node, Phase);

    /// `kept_to_end(m, n)`: `m` is not closed before the end, where `n` is evaluated.
    relation kept_to_end(Node, Node);

    // @rule leases.reads: `n` reads `m`
    reached_from(n, m) <-- reads(n, m);
    // @rule leases.may-read: `n` may read `m`
    reached_from(n, m) <-- may_read(n, m);
    // @rule leases.member: `m` belongs to `n`
    reached_from(n, m) <-- member(m, n);
    // @rule leases.serves: `m` serves `n`
    reached_from(n, m) <-- serves(m, n);

    // @rule leases.lent: `n` draws on `m`
    lent_to(m, n) <-- lender(m), !collection(m), reached_from(n, m), if n != m;
    // @rule leases.lent-through: `k` draws on `n`
    lent_to(m, k) <-- lent_to(m, n), !object(n), !evaluated_last(n), reached_from(k, n), if k != m;
    // @rule leases.lent-again: `k` draws on `n`, which was opened with it
    lent_to(m, k) <-- lent_to(m, n), lender(n), reached_from(k, n), if k != m;

    // @rule leases.kept-until: (what `m` gives travels to `n`)
    kept_until(m, n) <-- lent_to(m, n), object(n), !evaluated_last(n);
    // @rule leases.kept-for-step: (what `m` gives travels to `n`)
    kept_for_step(m, n, f) <-- lent_to(m, n), step(n, f), !evaluated_last(n);
    // @rule leases.kept-to-end: `n`, to which it travels, is evaluated when everything else is done
    kept_to_end(m, n) <-- lent_to(m, n), evaluated_last(n);
}

tables! {
    /// How long ephemeral resources are open. All sorted.
    pub struct Leases {
        "leases" {
            /// `lent_to(m, n)`: what ephemeral resource `m` gives travels to `n`: through values, providers and other ephemeral resources.
            lent_to(Node, Node);
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
pub(crate) fn lease(ledger: &Ledger<'_>) -> Leases {
    if ledger.facts.lender.is_empty() {
        return Leases::default();
    }
    conclude!(ledger: Program {
        facts: lender, collection, object, evaluated_last, reads, may_read, member;
        providers: serves;
        order: step;
    } => Leases { lent_to, kept_until, kept_for_step, kept_to_end })
}

#[cfg(test)]
mod tests;

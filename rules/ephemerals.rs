//! Which ephemeral resources are opened again when the plan is carried out, and what their values travel through.
//!
//! What planning has opened is closed when the plan is made. Carrying it out opens only what something then uses.
//!
//! holds   only ephemeral resources that take part are opened

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation ephemeral(Node);
    relation managed(Node);
    relation data(Node);
    relation reads(Node, Node);
    relation waits_for(Node, Node);
    relation serves(Node, Node);
    relation evaluated_last(Node);
    relation mode(Mode);
    relation excluded(Node);
    relation untargeted(Node);
    relation action(Node, Action, Reason);
    relation checked_again(Node);

    /// `any_ephemeral()`: there are ephemeral resources.
    relation any_ephemeral();

    /// `draws(n, m)`: `n` draws on `m`; it reads `m`, or waits for it.
    relation draws(Node, Node);

    /// `busy(n)`: something is carried out for `n`.
    relation busy(Node);

    /// `used_by(m, n)`: `n` uses `m` when the plan is carried out.
    relation used_by(Node, Node);

    /// `opened(n)`: `n` is opened when the plan is carried out.
    relation opened(Node);

    /// `carries(n)`: the value of an opened ephemeral resource travels through `n`.
    relation carries(Node);

    // @rule ephemerals.any: (there are ephemeral resources)
    any_ephemeral() <-- ephemeral(_);
    // @rule ephemerals.draws: `n` reads `m`
    draws(n, m) <-- any_ephemeral(), reads(n, m);
    // @rule ephemerals.draws-waiting: `n` waits for `m`
    draws(n, m) <-- any_ephemeral(), waits_for(n, m);
    // @rule ephemerals.busy: (something is to be done with `n`)
    busy(n) <-- any_ephemeral(), action(n, a, _), if *a != Action::NoOp, if *a != Action::Drop;
    // @rule ephemerals.busy-check: the conditions of `n` are checked again
    busy(n) <-- any_ephemeral(), checked_again(n);
    // @rule ephemerals.busy-last: `n` is evaluated when all is done
    busy(n) <-- any_ephemeral(), evaluated_last(n), !mode(Mode::Destroy);

    // @rule ephemerals.used: (`n` draws on `m`)
    used_by(m, n) <-- busy(n), draws(n, m);
    // @rule ephemerals.used-provider: `m` serves `n`
    used_by(m, n) <-- busy(n), serves(m, n);
    // @rule ephemerals.used-through: `n`, which is used, draws on `m`
    used_by(m, n) <-- used_by(n, _), !managed(n), !data(n), draws(n, m);
    // @rule ephemerals.used-through-provider: `m` serves `n`, which is opened
    used_by(m, n) <-- opened(n), serves(m, n);

    // @rule ephemerals.opened: (something that is carried out uses `n`)
    opened(n) <-- ephemeral(n), used_by(n, _), !excluded(n), !untargeted(n);

    // @rule ephemerals.carries: (`n` is opened)
    carries(n) <-- opened(n);
    // @rule ephemerals.carries-on: (`n` draws on `m`)
    carries(n) <-- carries(m), draws(n, m), !managed(n), !data(n);
}

tables! {
    /// What is opened when the plan is carried out. All sorted.
    pub struct Ephemerals {
        "ephemerals" {
            /// `used_by(m, n)`: `n` uses `m` when the plan is carried out, for itself or for what uses `n`.
            used_by(Node, Node);
            /// `opened(n)`: ephemeral resource `n` is opened when the plan is carried out.
            opened(Node);
            /// `carries(n)`: the value of an opened ephemeral resource travels through `n`; that resource itself included.
            carries(Node);
        }
    }
}

/// Finds what is opened when the plan is carried out.
pub(crate) fn lend(ledger: &Ledger<'_>) -> Ephemerals {
    if ledger.facts.ephemeral.is_empty() {
        return Ephemerals::default();
    }
    conclude!(ledger: Program {
        facts: ephemeral, managed, data, reads, waits_for, evaluated_last, mode;
        providers: serves;
        selection: excluded, untargeted;
        decisions: action, checked_again;
    } => Ephemerals { used_by, opened, carries })
}

#[cfg(test)]
mod tests;

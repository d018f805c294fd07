//! Which provider instances may be called in a run, and what is not refreshed because one of them is not fully configured.
//!
//! Concluded for a node of the walk before its provider is asked about it, and once over everything after the walk.
//!
//! holds   no object is refreshed through a provider instance whose configuration is not known

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation managed(Node);
    relation in_state(Node);
    relation reads(Node, Node);
    relation waits_for(Node, Node);
    relation seen(Node, Seen);
    relation configuration_settled(Node);
    relation provider_unknown(Node);
    relation skips_refresh();

    /// `may_call(p)`: provider instance `p` may be called.
    relation may_call(Node);

    /// `may_look(p)`: provider instance `p` may be asked what exists.
    relation may_look(Node);

    /// `unrefreshed(n, p)`: `n` is not refreshed and keeps its recorded state, because the configuration of `p` is not known.
    relation unrefreshed(Node, Node);

    /// `not_imported(n, p)`: no object can be imported as `n`, because the configuration of `p` is not known.
    relation not_imported(Node, Node);

    /// `has_unknown()`: the configuration of some provider instance is not known.
    relation has_unknown();

    // @rule calls.may-call: everything that the arguments of `p` read is settled
    may_call(p) <-- configuration_settled(p);
    // @rule calls.may-look: (the arguments of `p` are known)
    may_look(p) <-- may_call(p), !provider_unknown(p);

    // @rule calls.has-unknown: (the configuration of a provider instance is not known)
    has_unknown() <-- provider_unknown(_);
    // @rule calls.unrefreshed: the configuration of `p` is not known before apply
    unrefreshed(n, p) <-- has_unknown(), managed(n), in_state(n), reads(n, p), seen(p, Seen::HalfConfigured), !skips_refresh();
    // @rule calls.unrefreshed-destroyed: the configuration of `p` is not known before apply
    unrefreshed(n, p) <-- has_unknown(), managed(n), in_state(n), waits_for(n, p), seen(p, Seen::HalfConfigured), !skips_refresh();

    // @rule calls.not-imported: the configuration of `p` is not known before apply
    not_imported(n, p) <-- has_unknown(), managed(n), !in_state(n), reads(n, p), seen(p, Seen::HalfConfigured);
}

tables! {
    /// Which provider calls are allowed. All sorted.
    pub struct Calls {
        "calls" {
            /// `may_call(p)`: provider instance `p` may be called: everything that its arguments read is settled.
            may_call(Node) since "1.1";
            /// `may_look(p)`: provider instance `p` may be asked what exists: its arguments are known, too.
            may_look(Node) since "1.1";
            /// `unrefreshed(n, p)`: object `n` is not refreshed and keeps its recorded state, because the configuration of provider instance `p` is not known before apply.
            unrefreshed(Node, Node) since "1.1";
            /// `not_imported(n, p)`: no object can be imported as `n`, because the configuration of provider instance `p` is not known before apply.
            not_imported(Node, Node) since "1.1";
        }
    }
}

/// Concludes which provider calls are allowed: of one node with `seen` of what it reads, or of all.
pub(crate) fn allow(ledger: &Ledger<'_>) -> Calls {
    conclude!(ledger: Program {
        facts: managed if facts.provider_unknown, in_state if facts.provider_unknown, reads if facts.provider_unknown,
            waits_for if facts.provider_unknown, seen if facts.provider_unknown, configuration_settled, provider_unknown, skips_refresh;
    } => Calls { may_call, may_look, unrefreshed, not_imported })
}

#[cfg(test)]
mod tests;

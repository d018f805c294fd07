//! What is carried out before what: an order on phases of nodes.
//!
//! Every edge leads from a phase to the same or a later one, and within one phase follows `reads` or `needs`; so the
//! order has no cycle unless they have, or the request asks for one. Data in checks comes after all that is made, and
//! nothing but its check reads it. Nodes without a step are conduits, kept only between steps; none leads from what goes to
//! what is made.

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation reads(Node, Node);
    relation waits_for(Node, Node);
    relation managed(Node);
    relation data(Node);
    relation in_state(Node);
    relation provider_unknown(Node);
    relation in_check(Node);
    relation check_gate(Node);
    relation needs(Node, Node);
    relation deposed_of(Node, Node);
    relation ordered(Node, Node, Flag);
    relation serves(Node, Node);
    relation cbd(Node);
    relation action(Node, Action, Reason);
    relation opens_later(Node, Node);
    relation checked_again(Node);
    relation opened(Node);
    relation carries(Node);

    /// `goes(n)`: what exists as `n` is destroyed or forgotten.
    relation goes(Node);

    /// `step(n, f)`: something is carried out for `n` in phase `f`.
    relation step(Node, Phase);

    /// `half_known()`: the configuration of a provider instance is not known while planning.
    relation half_known();

    /// `is_new(m)`: `m` has no former value: it is made, or read, for the first time.
    relation is_new(Node);

    /// `from_new(v)`: `v` is derived from something without a former value; looking through values only.
    relation from_new(Node);

    /// `bound(n)`: `n` is destroyed before a step of something that it depends on.
    relation bound(Node);

    /// `goes_configured(n)`: `n` is destroyed once its provider is configured: no former configuration is known.
    relation goes_configured(Node);

    /// `ends_late()`: something is carried out late.
    relation ends_late();

    /// `rising()`: something is carried out that is not a plain destruction.
    relation rising();

    /// `led(n, f)`: phase `f` of `n` is a step, or comes after one.
    relation led(Node, Phase);

    /// `edge(n, f, m, g)`: phase `f` of `n`, a step or after one, comes before phase `g` of `m`.
    relation edge(Node, Phase, Node, Phase);

    /// `leads(n, f)`: phase `f` of `n` is a step, or comes before one.
    relation leads(Node, Phase);

    /// `before(n, f, m, g)`: phase `f` of `n` comes before phase `g` of `m`, and steps lie on both sides.
    relation before(Node, Phase, Node, Phase);

    // @rule order.goes-deleted: (`n` is deleted)
    goes(n) <-- action(n, Action::Delete, _);
    // @rule order.goes-forgotten: (`n` is forgotten)
    goes(n) <-- action(n, Action::Forget, _);

    // @rule order.step-check: (the conditions of `n` are checked again)
    step(n, Phase::Up) <-- checked_again(n);
    // @rule order.step-create: (`n` is created)
    step(n, Phase::Up) <-- action(n, Action::Create, _);
    // @rule order.step-update: (`n` is updated)
    step(n, Phase::Up) <-- action(n, Action::Update, _);
    // @rule order.step-read: (`n` is read)
    step(n, Phase::Up) <-- action(n, Action::Read, _);
    // @rule order.step-forget-first: (`n` is forgotten and created anew)
    step(n, Phase::Up) <-- action(n, Action::ForgetThenCreate, _);
    // @rule order.step-delete-first: (`n` is destroyed and created anew)
    step(n, Phase::Down) <-- action(n, Action::DeleteThenCreate, _);
    // @rule order.step-create-after: (`n` is destroyed and created anew)
    step(n, Phase::Up) <-- action(n, Action::DeleteThenCreate, _);
    // @rule order.step-create-first: (`n` is created anew and then destroyed)
    step(n, Phase::Up) <-- action(n, Action::CreateThenDelete, _);
    // @rule order.step-delete-after: (`n` is created anew and then destroyed)
    step(n, Phase::Late) <-- action(n, Action::CreateThenDelete, _);
    // @rule order.step-goes: (`n` goes)
    step(n, Phase::Down) <-- goes(n), !cbd(n);
    // @rule order.step-goes-late: (`n` goes after what used it)
    step(n, Phase::Late) <-- goes(n), cbd(n);

    // @rule order.step-open: (`n` is opened, as it was while planning)
    step(n, Phase::Down) <-- opened(n), !opens_later(n, _);
    // @rule order.step-open-later: (`n` is opened once that is possible)
    step(n, Phase::Up) <-- opened(n), opens_later(n, _);

    // @rule order.half-known: (the configuration of a provider instance is not known)
    half_known() <-- provider_unknown(_);
    // @rule order.new-object: (`m` is created)
    is_new(m) <-- half_known(), action(m, Action::Create, _), !in_state(m);
    // @rule order.new-data: (`m` is read for the first time)
    is_new(m) <-- half_known(), action(m, Action::Read, _), data(m), !in_state(m);
    // @rule order.from-new: `v` reads `m`
    from_new(v) <-- is_new(m), reads(v, m), !managed(v), !data(v);
    // @rule order.from-new-value: `v` reads `w`
    from_new(v) <-- from_new(w), reads(v, w), !managed(v), !data(v);
    // @rule order.bound: `n` depends on `m`, which has a step
    bound(n) <-- half_known(), step(m, _), needs(n, m), !is_new(m);
    // @rule order.bound-behind: `n` depends on `m`
    bound(n) <-- bound(m), needs(n, m);
    // @rule order.goes-configured: `p`, which serves `n`, has no former configuration
    goes_configured(n) <-- provider_unknown(p), from_new(p), serves(p, n), step(n, Phase::Down), !bound(n);

    // What no step can come after is not worth ordering.
    // @rule order.ends-late: (something is carried out late)
    ends_late() <-- step(_, Phase::Late);
    // @rule order.rising: (something is made, changed or read)
    rising() <-- step(_, Phase::Up);
    // @rule order.rising-late: (something is carried out late)
    rising() <-- ends_late();

    // @rule order.led-step: (this is a step)
    led(n, f) <-- step(n, f);
    // @rule order.led: (this comes after a step)
    led(m, g) <-- edge(_, _, m, g);

    // @rule order.reads: `n` is made after `m`, which it reads
    edge(m, Phase::Up, n, Phase::Up) <-- led(m, Phase::Up), reads(n, m);
    // @rule order.waits-for: `n` is made after `m`, of which it reads a part
    edge(m, Phase::Up, n, Phase::Up) <-- led(m, Phase::Up), waits_for(n, m);
    // @rule order.destroy-users-first: `n` is destroyed before `m`, on which it rests
    edge(n, Phase::Down, m, Phase::Down) <-- led(n, Phase::Down), needs(n, m);
    // From what goes to what is made, an edge leads only out of a step or into one: what stays as it is, and is shared by many, leads
    // from neither to the other.
    // Where it still reads what it rests on, it is changed after that is made again anyway.
    // @rule order.update-after-destroy: `n` is changed after `m` went, on which it rested
    edge(m, Phase::Down, n, Phase::Up)
        <-- rising(), step(m, Phase::Down), needs(n, m), !reads(n, m), !waits_for(n, m);
    // What is destroyed itself goes after its users, and is made after that.
    // @rule order.destroy-before-update: `m` is changed after `n` went, which rested on it
    edge(n, Phase::Down, m, Phase::Up)
        <-- rising(), led(n, Phase::Down), needs(n, m), step(m, Phase::Up), managed(m), !step(m, Phase::Down), !goes_configured(n);
    // @rule order.provider-made-first: `p` is configured with what is made for the first time before `n` goes
    edge(p, Phase::Up, n, Phase::Down)
        <-- rising(), goes_configured(n), serves(p, n), led(p, Phase::Up);
    // @rule order.settled-users-first: `m` is settled after `n`, which rests on it
    edge(n, Phase::Settled, m, Phase::Settled) <-- led(n, Phase::Settled), needs(n, m);
    // @rule order.late-users-first: `n` is destroyed before `m`, on which it rests
    edge(n, Phase::Late, m, Phase::Late) <-- led(n, Phase::Late), needs(n, m);
    // @rule order.update-before-late: `m` is changed before `n` goes, which rests on it
    edge(m, Phase::Up, n, Phase::Late) <-- led(m, Phase::Up), needs(n, m), step(n, Phase::Late);
    // @rule order.provider-first: `p` is configured before `n` goes
    edge(p, Phase::Up, n, Phase::Late) <-- led(p, Phase::Up), serves(p, n), step(n, Phase::Late);
    // @rule order.own-destroy-first: the old object of `n` goes before the new one is made
    edge(n, Phase::Down, n, Phase::Up) <-- rising(), step(n, Phase::Down), !cbd(n);
    // @rule order.own-settled: `n` is settled when it is made
    edge(n, Phase::Up, n, Phase::Settled) <-- ends_late(), led(n, Phase::Up);
    // @rule order.own-late: the old object of `n` goes when all is settled
    edge(n, Phase::Settled, n, Phase::Late) <-- led(n, Phase::Settled), cbd(n);
    // @rule order.deposed-late: `o` goes when `i` is settled
    edge(i, Phase::Settled, o, Phase::Late) <-- led(i, Phase::Settled), deposed_of(o, i);

    // @rule order.requested: the request wants `n` before `m`
    edge(n, f, m, g) <-- ordered(n, m, _), step(n, f), step(m, g), if *f != Phase::Late;
    // What is replaced is done once its successor is there.
    // @rule order.requested-late: the request wants `n`, which goes, before `m`
    edge(n, Phase::Late, m, g) <-- ordered(n, m, _), step(n, Phase::Late), !step(n, Phase::Up), step(m, g);

    // @rule order.opened-before-destroy: `m` is opened before anything is done to `n`, which uses it
    edge(m, Phase::Down, n, Phase::Down) <-- led(m, Phase::Down), carries(m), reads(n, m);
    // @rule order.opened-before-waiting: `m` is opened before anything is done to `n`, which waits for it
    edge(m, Phase::Down, n, Phase::Down) <-- led(m, Phase::Down), carries(m), waits_for(n, m);
    // @rule order.opened-for-provider: `m` is opened before `n` goes, whose provider uses it
    edge(m, Phase::Down, n, Phase::Down) <-- led(m, Phase::Down), carries(m), serves(m, n);

    // Replacing first what `create_before_destroy` spreads to says nothing of what is opened.
    // @rule order.opened-before-use: what uses `m` is made after `m` is opened
    edge(m, Phase::Down, m, Phase::Up) <-- rising(), opened(m), step(m, Phase::Down);

    // @rule order.checks-wait: data in checks is read once `m` is made
    edge(m, Phase::Up, h, Phase::Made) <-- check_gate(h), managed(m), led(m, Phase::Up);
    // @rule order.checks-read: `d`, in a check, is read once everything is made
    edge(h, Phase::Made, d, Phase::Up)
        <-- check_gate(h), led(h, Phase::Made), in_check(d), step(d, Phase::Up);

    // @rule order.leads-step: (this is a step)
    leads(n, f) <-- step(n, f);
    // @rule order.leads: (this comes before a step)
    leads(n, f) <-- leads(m, g), edge(n, f, m, g);
    // @rule order.before: (steps lie on both sides)
    before(n, f, m, g) <-- edge(n, f, m, g), leads(m, g);
}

tables! {
    /// The steps and their order. All sorted.
    pub struct Order {
        "order" {
            /// `step(n, f)`: something is carried out for `n` in phase `f`.
            step(Node, Phase);
            /// `before(n, f, m, g)`: phase `f` of `n` comes before phase `g` of `m`; a phase that is no step takes no time.
            before(Node, Phase, Node, Phase);
        }
    }
}

/// Orders the steps of a plan. Not transitively closed; between steps lie phases without one.
pub(crate) fn order(ledger: &Ledger<'_>) -> Order {
    conclude!(ledger: Program {
        facts: reads, waits_for, managed, data, in_state, provider_unknown, in_check, check_gate, needs, deposed_of, ordered;
        providers: serves;
        spread: cbd;
        decisions: action, opens_later, checked_again;
        ephemerals: opened, carries;
    } => Order { step, before })
}

#[cfg(test)]
mod tests;

//! Which existing instances nothing declares any more, and why; what is to be destroyed; and of what nothing is planned.
//!
//! holds   an instance has at most one reason to be an orphan

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation in_state(Node);
    relation declared(Node);
    relation deposed_of(Node, Node);
    relation block_gone(Node);
    relation module_gone(Node);
    relation moved(Node);
    relation late(Node, Node);
    relation expanded(Node);
    relation of(Node, Block);
    relation repeats(Block, Repetition);
    relation key_kind(Node, KeyKind);
    relation mode(Mode);
    relation managed(Node);
    relation data(Node);
    relation ephemeral(Node);
    relation skips_refresh();
    relation adopts();
    relation precedes_destroy();
    relation removed_says(Node, Fate);
    relation read_by_provider(Node);

    /// `current(n)`: `n` is in the state and not deposed.
    relation current(Node);

    /// `waits(n)`: it is not known yet whether `n` is declared.
    relation waits(Node);

    /// `lost(n)`: the block of `n` is there, and does not make it any more.
    relation lost(Node);

    /// `orphan(n, r)`: nothing declares `n` any more (`r`).
    relation orphan(Node, Reason);

    /// `to_be_destroyed(n)`: `n` would go.
    relation to_be_destroyed(Node);

    /// `only_refreshed(n)`: nothing is planned for `n`; what exists is looked at, and stays or goes.
    relation only_refreshed(Node);

    /// `unasked(n)`: `n` gives no value in this run.
    relation unasked(Node);

    /// `only_forgotten(n)`: what exists as `n` leaves the state, and its provider is not asked about it.
    relation only_forgotten(Node);

    /// `refreshes_first()`: before the plan is made, everything is looked at as any plan does.
    relation refreshes_first();

    /// `only_records()`: the run changes no object; it records what exists.
    relation only_records();

    /// `only_existing()`: only what exists is part of a value; nothing is made.
    relation only_existing();

    /// `all_goes()`: everything that exists is to go, in this run or in the next.
    relation all_goes();

    // @rule instances.current: `n` is in the state
    current(n) <-- in_state(n), !deposed_of(n, _);

    // @rule instances.waits: the keys of `p` are not known yet
    waits(n) <-- late(n, p), !expanded(p);

    // @rule instances.no-move-target: `n` was moved to where no block is
    orphan(n, Reason::DeleteBecauseNoMoveTarget) <-- current(n), block_gone(n), moved(n);

    // @rule instances.no-resource-config: no block declares `n` any more
    orphan(n, Reason::DeleteBecauseNoResourceConfig) <-- current(n), block_gone(n), !moved(n);

    // @rule instances.no-module: the module instance that held `n` is gone
    orphan(n, Reason::DeleteBecauseNoModule) <-- current(n), module_gone(n), !block_gone(n);

    // @rule instances.lost: the block of `n` is there, and does not make it any more
    lost(n) <-- current(n), !declared(n), !block_gone(n), !module_gone(n), !waits(n);

    // @rule instances.enabled-false: `b` has `enabled = false`
    orphan(n, Reason::DeleteBecauseEnabledFalse)
        <-- lost(n), key_kind(n, KeyKind::Bare), of(n, b), repeats(b, Repetition::Enabled);

    // @rule instances.bare-under-count: `n` has no key, and `b` has `count`
    orphan(n, Reason::DeleteBecauseWrongRepetition)
        <-- lost(n), key_kind(n, KeyKind::Bare), of(n, b), repeats(b, Repetition::Count);

    // @rule instances.bare-under-for-each: `n` has no key, and `b` has `for_each`
    orphan(n, Reason::DeleteBecauseWrongRepetition)
        <-- lost(n), key_kind(n, KeyKind::Bare), of(n, b), repeats(b, Repetition::ForEach);

    // @rule instances.number-without-count: the key of `n` is a number, and `b` has no `count`
    orphan(n, Reason::DeleteBecauseWrongRepetition)
        <-- lost(n), key_kind(n, KeyKind::Number), of(n, b), repeats(b, r), if *r != Repetition::Count;

    // @rule instances.count-index: the number of `n` is not below the `count` of `b`
    orphan(n, Reason::DeleteBecauseCountIndex)
        <-- lost(n), key_kind(n, KeyKind::Number), of(n, b), repeats(b, Repetition::Count);

    // @rule instances.text-without-for-each: the key of `n` is a string, and `b` has no `for_each`
    orphan(n, Reason::DeleteBecauseWrongRepetition)
        <-- lost(n), key_kind(n, KeyKind::Text), of(n, b), repeats(b, r), if *r != Repetition::ForEach;

    // @rule instances.each-key: the key of `n` is not in the `for_each` of `b`
    orphan(n, Reason::DeleteBecauseEachKey)
        <-- lost(n), key_kind(n, KeyKind::Text), of(n, b), repeats(b, Repetition::ForEach);

    // @rule instances.destroyed-orphan: (nothing declares `n` any more)
    to_be_destroyed(n) <-- orphan(n, _);

    // @rule instances.destroyed-deposed: `o` was replaced and is not destroyed yet
    to_be_destroyed(o) <-- deposed_of(o, _);

    // @rule instances.destroyed-all: the run destroys everything
    to_be_destroyed(n) <-- mode(Mode::Destroy), in_state(n);

    // @rule instances.refreshed-orphan: (nothing declares `n` any more)
    only_refreshed(n) <-- orphan(n, _), !data(n);

    // @rule instances.refreshed-deposed: `o` was replaced and is not destroyed yet
    only_refreshed(o) <-- deposed_of(o, _);

    // @rule instances.refreshed-remnant: nothing declares `i`, of which only what was replaced is left
    only_refreshed(i) <-- deposed_of(_, i), !declared(i), !waits(i);

    // @rule instances.refreshed-recording: the run only records what changed outside
    only_refreshed(n) <-- mode(Mode::RefreshOnly), managed(n);

    // @rule instances.refreshed-destroying: the run destroys everything
    only_refreshed(n) <-- mode(Mode::Destroy), managed(n);

    // @rule instances.unasked-orphan: (nothing declares `n` any more)
    unasked(n) <-- orphan(n, _), data(n);

    // @rule instances.unasked-data: the run destroys everything
    unasked(n) <-- mode(Mode::Destroy), data(n);

    // @rule instances.only-forgotten: a `removed` block says that `n` leaves the state and lives on
    only_forgotten(n) <-- mode(Mode::Normal), orphan(n, _), removed_says(n, Fate::Forget);
    // @rule instances.only-forgotten-deposed: a `removed` block says that `o` leaves the state and lives on
    only_forgotten(o) <-- mode(Mode::Normal), deposed_of(o, _), removed_says(o, Fate::Forget);

    // @rule instances.unasked-ephemeral: the run destroys everything, and no provider that destroys needs `n`
    unasked(n) <-- mode(Mode::Destroy), ephemeral(n), !read_by_provider(n);

    // What is destroyed, and the providers that do it, may rest on what is there.
    // @rule instances.refreshes-first: the run destroys what exists, and what exists is to be looked at
    refreshes_first() <-- mode(Mode::Destroy), in_state(_), !skips_refresh();

    // @rule instances.only-records: the run only records what is there
    only_records() <-- mode(Mode::RefreshOnly);
    // @rule instances.only-existing: the run records no object that is not in the state yet
    only_existing() <-- only_records(), !adopts();
    // @rule instances.all-goes: the run destroys everything
    all_goes() <-- mode(Mode::Destroy);
    // @rule instances.all-goes-next: the next run destroys everything
    all_goes() <-- precedes_destroy();
}

tables! {
    /// What exists and is declared no more, and of what nothing is planned. All sorted.
    pub struct Instances {
        "instances" {
            /// `orphan(n, r)`: `n` exists and nothing declares it any more, for reason `r`.
            orphan(Node, Reason);
            /// `to_be_destroyed(n)`: `n` would go; of a late instance, once the keys of its block are known.
            to_be_destroyed(Node);
            /// `only_refreshed(n)`: nothing is planned for managed object `n`: what exists is looked at, and stays or goes. Anything else that takes part is planned.
            only_refreshed(Node);
            /// `unasked(n)`: data source or ephemeral resource `n` gives no value in this run. Any other that takes part is asked for one.
            unasked(Node);
            /// `only_forgotten(n)`: what exists as `n` leaves the state and lives on; its provider is not asked about it.
            only_forgotten(Node) since "1.1";
            /// `refreshes_first()`: before the plan is made, everything is looked at as any plan does.
            refreshes_first();
            /// `only_records()`: the run changes no object; it records what exists.
            only_records() since "1.1";
            /// `only_existing()`: only what exists is part of a value, for this run makes nothing.
            only_existing() since "1.1";
            /// `all_goes()`: everything that exists is to go, in this run or in the next.
            all_goes() since "1.1";
        }
    }
}

/// Finds the orphans among the instances of the state, and what is to be destroyed before the walk.
///
/// Called once before the walk with everything, and in the walk once per repetition whose keys become known, with
/// the facts of its instances and `expanded`.
pub(crate) fn judge(ledger: &Ledger<'_>) -> Instances {
    conclude!(ledger: Program {
        facts: in_state, declared, deposed_of, block_gone, module_gone, moved, late, expanded, of, repeats, key_kind, mode, managed, data,
            ephemeral, skips_refresh, removed_says, adopts, precedes_destroy;
        providers: read_by_provider;
    } => Instances {
        orphan, to_be_destroyed, only_refreshed, unasked, only_forgotten, refreshes_first, only_records, only_existing, all_goes,
    })
}

#[cfg(test)]
mod tests;

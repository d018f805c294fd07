//! What is to be done with each object of a batch, and why. One hop: a batch sees what was concluded of what it reads.
//!
//! A batch is an antichain, so no rule relates two of its members, and deciding the union of all batches at once gives
//! the same conclusions. `seen(m, w)` holds what an earlier batch concluded of `m`.
//!
//! holds   an object of a batch has at most one action, and has one unless it failed, is blocked, or is data

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation mode(Mode);
    relation managed(Node);
    relation data(Node);
    relation ephemeral(Node);
    relation declared(Node);
    relation reads(Node, Node);
    relation waits_for(Node, Node);
    relation member(Node, Node);
    relation late(Node, Node);
    relation seen(Node, Seen);
    relation failed(Node);
    relation prior(Node);
    relation tainted(Node);
    relation differs(Node);
    relation marks_differ(Node);
    relation must_replace(Node);
    relation replace_hit(Node, Flag);
    relation triggers(Node, Node);
    relation triggers_by_part(Node, Node);
    relation trigger_differs(Node, Node);
    relation keeps_object(Node);
    relation state_keeps_object(Node);
    relation removed_says(Node, Fate);
    relation deposed_of(Node, Node);
    relation in_state(Node);
    relation config_unknown(Node);
    relation provider_unknown(Node);
    relation configuration_settled(Node);
    relation data_waits(Node, Node);
    relation data_waits_behind(Node, Node);
    relation has_conditions(Node);
    relation protects(Node);
    relation moved(Node);
    relation changed_outside(Node);
    relation gone_outside(Node);
    relation in_check(Node);
    relation excluding();
    relation skips_refresh();
    relation recorded_result(Node);
    relation outputs_need_all();
    relation orphan(Node, Reason);
    relation read_by_provider(Node);
    relation kept(Node);
    relation guarded(Node);
    relation excluded(Node);
    relation untargeted(Node);
    relation cbd(Node);

    /// `blocked(n, m)`: nothing can be said of `n`, because of `m`.
    relation blocked(Node, Node);

    /// `frozen(n)`: `n` takes no part in this run, so nothing is decided of it.
    relation frozen(Node);

    /// `ready(n)`: `n` can be decided.
    relation ready(Node);

    /// `planned(n)`: `n` is to be as the configuration says.
    relation planned(Node);

    /// `sound(n)`: `n` is to be as the configuration says, and is whole.
    relation sound(Node);

    /// `fired(n, m)`: the change of `m` replaces `n`; as replace_triggered_by says.
    relation fired(Node, Node);

    /// `wants_replacement(n, r)`: `n` is to be replaced (`r`).
    relation wants_replacement(Node, Reason);

    /// `held(n, r)`: `n` would be destroyed (`r`), but something that is left out rests on it.
    relation held(Node, Reason);

    /// `replaced(n, r)`: `n` is replaced (`r`).
    relation replaced(Node, Reason);

    /// `planned_again(n)`: the provider plans `n` a second time; as if nothing existed.
    relation planned_again(Node);

    /// `asks_protection(n)`: what prevent_destroy of `n` comes to is asked.
    relation asks_protection(Node);

    /// `drift(n, a)`: what happened to `n` outside is: `a`.
    relation drift(Node, Action);

    /// `condemned(n, r)`: what exists as `n` is to go (`r`).
    relation condemned(Node, Reason);

    /// `fate(n, f)`: a `removed` block says what becomes (`f`) of what exists as `n`.
    relation fate(Node, Fate);

    /// `forgotten(n, r)`: what exists as `n` is to go from the state only (`r`).
    relation forgotten(Node, Reason);

    /// `asked(n)`: `n` is to give a result.
    relation asked(Node);

    /// `reuses(n)`: the recorded result of `n` serves.
    relation reuses(Node);

    /// `deferred(n, m)`: `n` is read during apply, because of `m`; of itself where its arguments are unknown.
    relation deferred(Node, Node);

    /// `reads_now(n)`: `n` is read while planning.
    relation reads_now(Node);

    /// `idle(n)`: nothing is asked of `n` in such a run.
    relation idle(Node);

    /// `to_open(n)`: `n` is to be opened, now or later.
    relation to_open(Node);

    /// `opens_later(n, m)`: `n` is opened during apply only, because of `m`; of itself where its arguments are unknown.
    relation opens_later(Node, Node);

    /// `opens(n)`: `n` is opened while planning.
    relation opens(Node);

    /// `action(n, a, r)`: what is to be done with `n` is: `a` (`r`).
    relation action(Node, Action, Reason);

    /// `checked_again(n)`: `n` stays as it is, and its conditions are checked when the plan is carried out.
    relation checked_again(Node);

    /// `destroys(n)`: what exists as `n` is destroyed; and it is no deposed object.
    relation destroys(Node);

    /// `changing(n)`: something is to be done with `n`; or with a member of it.
    relation changing(Node);

    /// `triggering(n)`: `n` is made, changed or replaced; or a member of it is.
    relation triggering(Node);

    /// `unsettled(n)`: `n`, or something behind it, is changing.
    relation unsettled(Node);

    /// `unfinished(n)`: what exists as `n` is not as its block says yet, or the run does not look whether it is.
    relation unfinished(Node);

    /// `adds_dependencies(n)`: the state adds what the block of `n` depends on to what it records.
    relation adds_dependencies(Node);

    /// `keeps_dependencies(n)`: what the state records that `n` depends on stays.
    relation keeps_dependencies(Node);

    /// `half_configured(p)`: the configuration of `p` is not known before apply.
    relation half_configured(Node);

    // @rule decide.after-failed: `n` reads `m`, which failed
    blocked(n, m) <-- reads(n, m), seen(m, Seen::Failed);
    // @rule decide.after-blocked: `n` reads `m`, of which nothing can be said
    blocked(n, m) <-- reads(n, m), seen(m, Seen::Blocked);
    // @rule decide.after-failed-whole: `n` reads a part of `m`, which failed
    blocked(n, m) <-- waits_for(n, m), seen(m, Seen::Failed);
    // @rule decide.after-blocked-whole: `n` reads a part of `m`, of which nothing can be said
    blocked(n, m) <-- waits_for(n, m), seen(m, Seen::Blocked);

    // @rule decide.after-failed-keys: whether there is `n` would be known from the keys of `p`, which could not be had
    blocked(n, p) <-- late(n, p), seen(p, Seen::Failed);
    // @rule decide.after-blocked-keys: whether there is `n` would be known from the keys of `p`, of which nothing can be said
    blocked(n, p) <-- late(n, p), seen(p, Seen::Blocked);

    // @rule decide.frozen-excluded: `n` is left out of this run
    frozen(n) <-- excluded(n);
    // @rule decide.frozen-untargeted: no target wants `n`
    frozen(n) <-- untargeted(n);

    // @rule decide.ready: (`n` did not fail, nor did anything it reads)
    ready(n) <-- managed(n), !frozen(n), !failed(n), !blocked(n, _);
    // @rule decide.planned: the configuration declares `n`
    planned(n) <-- mode(Mode::Normal), ready(n), declared(n);
    // @rule decide.sound: (`n` exists and is whole)
    sound(n) <-- planned(n), prior(n), !tainted(n);

    // @rule decide.fired: `n` is to be replaced when `m` changes
    fired(n, m) <-- triggers(n, m), seen(m, Seen::Triggering);
    // @rule decide.fired-by-part: `n` is to be replaced when this attribute of `m` changes
    fired(n, m) <-- triggers_by_part(n, m), seen(m, Seen::Triggering), trigger_differs(n, m);

    // @rule decide.replace-by-triggers: something in replace_triggered_by changes
    wants_replacement(n, Reason::ReplaceByTriggers) <-- planned(n), prior(n), fired(n, _);
    // @rule decide.replace-tainted: what exists as `n` is half made
    wants_replacement(n, Reason::ReplaceBecauseTainted) <-- planned(n), prior(n), tainted(n), !fired(n, _);
    // @rule decide.replace-by-request: the request asks for `n` to be replaced
    wants_replacement(n, Reason::ReplaceByRequest) <-- sound(n), replace_hit(n, _), !fired(n, _);
    // @rule decide.replace-cannot-update: the provider cannot make a change of `n` in place
    wants_replacement(n, Reason::ReplaceBecauseCannotUpdate)
        <-- sound(n), must_replace(n), !replace_hit(n, _), !fired(n, _);

    // @rule decide.held-replacement: `n` would be replaced, but something that stays as it is rests on it
    held(n, r) <-- wants_replacement(n, r), guarded(n), !keeps_object(n);
    // @rule decide.replaced: (nothing that stays as it is rests on `n`)
    replaced(n, r) <-- wants_replacement(n, r), !held(n, _);
    // What is half made was planned as if nothing existed in the first place.
    // @rule decide.planned-again: `n` is whole, and is replaced
    planned_again(n) <-- replaced(n, _), !tainted(n);

    // @rule decide.create: nothing exists as `n`
    action(n, Action::Create, Reason::Plain) <-- planned(n), !prior(n), !fired(n, _);
    // @rule decide.create-triggered: nothing exists as `n`
    action(n, Action::Create, Reason::ReplaceByTriggers) <-- planned(n), !prior(n), fired(n, _);
    // @rule decide.update: `n` differs from the configuration
    action(n, Action::Update, Reason::Plain) <-- sound(n), differs(n), !wants_replacement(n, _);
    // @rule decide.update-marks: only what is sensitive about `n` changes
    action(n, Action::Update, Reason::Plain)
        <-- sound(n), marks_differ(n), !differs(n), !wants_replacement(n, _);
    // @rule decide.no-op: nothing of `n` is to change
    action(n, Action::NoOp, Reason::Plain)
        <-- sound(n), !differs(n), !marks_differ(n), !wants_replacement(n, _);
    // @rule decide.delete-first: (the old object of `n` goes first)
    action(n, Action::DeleteThenCreate, r) <-- replaced(n, r), !cbd(n), !keeps_object(n);
    // @rule decide.create-first: the new object of `n` comes first
    action(n, Action::CreateThenDelete, r) <-- replaced(n, r), cbd(n), !keeps_object(n);
    // @rule decide.forget-first: the old object of `n` is to be left alone
    action(n, Action::ForgetThenCreate, r) <-- replaced(n, r), keeps_object(n);
    // @rule decide.held: (something that stays as it is rests on `n`)
    action(n, Action::NoOp, Reason::KeptForAnother) <-- held(n, _);
    // @rule decide.refresh-only: the run only records what changed outside
    action(n, Action::NoOp, Reason::Plain) <-- mode(Mode::RefreshOnly), ready(n), in_state(n);
    // @rule decide.refresh-only-found: the run only records what is there
    action(n, Action::NoOp, Reason::Plain)
        <-- mode(Mode::RefreshOnly), ready(n), prior(n), !in_state(n);

    // @rule decide.condemned-orphan: (nothing declares `n` any more)
    condemned(n, r) <-- mode(Mode::Normal), ready(n), orphan(n, r), !kept(n);
    // @rule decide.held-orphan: nothing declares `n` any more, but something that stays as it is rests on it
    held(n, r) <-- mode(Mode::Normal), ready(n), orphan(n, r), kept(n);
    // @rule decide.condemned-deposed: `o` was replaced and is not destroyed yet
    condemned(o, Reason::Plain) <-- mode(Mode::Normal), ready(o), deposed_of(o, _);
    // @rule decide.condemned-all: the run destroys everything
    condemned(n, Reason::Plain) <-- mode(Mode::Destroy), ready(n);

    // @rule decide.fate: (`removed` blocks count where the run does not destroy everything)
    fate(n, f) <-- mode(Mode::Normal), removed_says(n, f);
    // @rule decide.forget-removed: a `removed` block lets `n` live
    forgotten(n, r)
        <-- condemned(n, r), fate(n, Fate::Forget), !keeps_object(n), !state_keeps_object(n);
    // @rule decide.forget-configured: the configuration of `n` says `destroy = false`
    forgotten(n, Reason::ForgotBecauseLifecycleDestroyInConfig)
        <-- condemned(n, _), keeps_object(n), !fate(n, Fate::Destroy);
    // @rule decide.forget-recorded: the state of `n` says `destroy = false`
    forgotten(n, Reason::ForgotBecauseLifecycleDestroyInState)
        <-- condemned(n, _), state_keeps_object(n), !keeps_object(n), !fate(n, Fate::Destroy);

    // @rule decide.forget: (`n` is to leave the state only)
    action(n, Action::Forget, r) <-- forgotten(n, r), prior(n);
    // @rule decide.delete: (`n` is to go)
    action(n, Action::Delete, r) <-- condemned(n, r), prior(n), !forgotten(n, _);
    // @rule decide.drop: `n` is gone already
    action(n, Action::Drop, Reason::Plain) <-- condemned(n, _), !prior(n);
    // @rule decide.drop-data: (nothing declares `n` any more)
    action(n, Action::Drop, Reason::Plain) <-- data(n), orphan(n, _), !mode(Mode::Destroy), !frozen(n);
    // @rule decide.delete-data: the run destroys everything
    action(n, Action::Delete, Reason::Plain) <-- mode(Mode::Destroy), data(n), in_state(n), !frozen(n);

    // @rule decide.asked: the configuration declares `n`
    asked(n) <-- data(n), declared(n), !mode(Mode::Destroy), !frozen(n), !failed(n), !blocked(n, _);
    // @rule decide.reuses: something is excluded, and the last result of `n` was for the same arguments
    reuses(n) <-- asked(n), excluding(), recorded_result(n), !config_unknown(n), !outputs_need_all();
    // @rule decide.deferred-unknown: the arguments of `n` are known after apply
    deferred(n, n) <-- asked(n), config_unknown(n);
    // @rule decide.deferred: `n` waits for `m`
    deferred(n, m) <-- asked(n), !reuses(n), data_waits(n, m), seen(m, Seen::Changing);
    // @rule decide.deferred-behind: `n` waits for everything behind `m`
    deferred(n, m) <-- asked(n), !reuses(n), data_waits_behind(n, m), seen(m, Seen::Unsettled);
    // @rule decide.deferred-conditions: `n` has conditions and reads `m`
    deferred(n, m) <-- asked(n), !reuses(n), has_conditions(n), reads(n, m), seen(m, Seen::Unsettled);
    // @rule decide.deferred-provider: the configuration of `p`, which serves `n`, is known after apply
    deferred(n, p) <-- asked(n), !reuses(n), reads(n, p), seen(p, Seen::HalfConfigured);
    // @rule decide.reads-now: nothing speaks against reading `n` now
    reads_now(n) <-- asked(n), !reuses(n), !deferred(n, _);

    // @rule decide.read-unknown: (the arguments of `n` are known after apply)
    action(n, Action::Read, Reason::ReadBecauseConfigUnknown)
        <-- mode(Mode::Normal), deferred(n, _), config_unknown(n);
    // @rule decide.read-pending: (something that `n` depends on changes)
    action(n, Action::Read, Reason::ReadBecauseDependencyPending)
        <-- mode(Mode::Normal), deferred(n, _), !config_unknown(n);
    // @rule decide.drop-unread: `n` is read when something is carried out, and nothing is in this run
    action(n, Action::Drop, Reason::Plain) <-- mode(Mode::RefreshOnly), deferred(n, _), in_state(n);
    // @rule decide.read-check: `n` stands in a check block
    action(n, Action::Read, Reason::ReadBecauseCheckNested) <-- mode(Mode::Normal), in_check(n), reads_now(n);

    // @rule decide.idle-absent: nothing exists as `n`, and the run only records what changed outside
    idle(n) <-- mode(Mode::RefreshOnly), ready(n), !in_state(n), !prior(n);
    // @rule decide.idle-data: no result of `n` is recorded, and the run destroys everything
    idle(n) <-- mode(Mode::Destroy), data(n), !in_state(n), !frozen(n), !failed(n), !blocked(n, _);
    // @rule decide.idle-ephemeral: the run destroys everything, and no provider that destroys needs `n`
    idle(n) <-- mode(Mode::Destroy), ephemeral(n), !read_by_provider(n), !frozen(n), !failed(n), !blocked(n, _);

    // @rule decide.opening: the configuration declares `n`
    to_open(n) <-- ephemeral(n), declared(n), !mode(Mode::Destroy), !frozen(n), !failed(n), !blocked(n, _);
    // @rule decide.opening-for-provider: a provider that destroys needs `n`
    to_open(n) <-- ephemeral(n), read_by_provider(n), !frozen(n), !failed(n), !blocked(n, _);
    // @rule decide.opens-later-unknown: the arguments of `n` are known after apply
    opens_later(n, n) <-- to_open(n), config_unknown(n);
    // @rule decide.opens-later: `n` waits for `m`
    opens_later(n, m) <-- to_open(n), !mode(Mode::Destroy), data_waits(n, m), seen(m, Seen::Changing);
    // @rule decide.opens-later-behind: `n` waits for everything behind `m`
    opens_later(n, m) <-- to_open(n), !mode(Mode::Destroy), data_waits_behind(n, m), seen(m, Seen::Unsettled);
    // @rule decide.opens-later-provider: the configuration of `p`, which serves `n`, is known after apply
    opens_later(n, p) <-- to_open(n), reads(n, p), seen(p, Seen::HalfConfigured);
    // @rule decide.opens: nothing speaks against opening `n` now
    opens(n) <-- to_open(n), !opens_later(n, _);

    // @rule decide.checked-again: `n` has conditions
    checked_again(n) <-- mode(Mode::Normal), managed(n), action(n, Action::NoOp, _), has_conditions(n);

    // @rule decide.destroys: (`n` is deleted)
    destroys(n) <-- action(n, Action::Delete, _), managed(n), !deposed_of(n, _);
    // @rule decide.destroys-first: (`n` is replaced, the old object first)
    destroys(n) <-- action(n, Action::DeleteThenCreate, _);
    // @rule decide.destroys-after: (`n` is replaced, the new object first)
    destroys(n) <-- action(n, Action::CreateThenDelete, _);

    // @rule decide.asks-protection: the block of `n` has prevent_destroy, which must be one whatever is to be done
    asks_protection(n) <-- protects(n), planned(n);
    // @rule decide.asks-protection-destroyed: the block of `n` has prevent_destroy
    asks_protection(n) <-- protects(n), destroys(n);

    // @rule decide.drift-changed: `n` is there, and differs from what the state says
    drift(n, Action::Update) <-- changed_outside(n), !deposed_of(n, _);
    // @rule decide.drift-gone: the state has `n`, which is not there any more
    drift(n, Action::Delete) <-- gone_outside(n), !deposed_of(n, _);
    // @rule decide.drift-moved: `n` was moved, which is all that there is to record
    drift(n, Action::NoOp) <-- mode(Mode::RefreshOnly), moved(n), in_state(n), prior(n), !changed_outside(n);

    // @rule decide.unfinished: something is to be done with `n`, which the configuration declares
    unfinished(n) <-- action(n, a, _), if *a != Action::NoOp, declared(n), managed(n), prior(n);
    // @rule decide.unfinished-run: the configuration declares `n`, and the run makes nothing as it says
    unfinished(n) <-- action(n, Action::NoOp, _), declared(n), managed(n), prior(n), !mode(Mode::Normal);
    // @rule decide.adds-dependencies: `n` was looked at, and is not as its block says yet
    adds_dependencies(n) <-- unfinished(n), in_state(n), !skips_refresh();
    // @rule decide.keeps-dependencies: nothing that exists is looked at
    keeps_dependencies(n) <-- unfinished(n), in_state(n), skips_refresh();
    // @rule decide.keeps-dependencies-found: `n` was found just now, and is not as its block says yet
    keeps_dependencies(n) <-- unfinished(n), !in_state(n);

    // @rule decide.half-configured: (the arguments of `p` are not wholly known before apply)
    half_configured(p) <-- provider_unknown(p);
    // @rule decide.half-configured-whole: `p` stands for all instances of a configuration, of which `q` is one
    half_configured(p) <-- configuration_settled(p), reads(p, q), seen(q, Seen::HalfConfigured);
    // @rule decide.changing: (something is to be done with `n`)
    changing(n) <-- action(n, a, _), if *a != Action::NoOp, if *a != Action::Drop;
    // @rule decide.changing-member: `n` belongs to `c`
    changing(c) <-- member(n, c), seen(n, Seen::Changing);
    // @rule decide.triggering: (`n` is made, changed or replaced)
    triggering(n) <-- action(n, a, _),
        if *a != Action::NoOp, if *a != Action::Drop,
        if *a != Action::Read, if *a != Action::Delete, if *a != Action::Forget;
    // @rule decide.triggering-member: `n` belongs to `c`
    triggering(c) <-- member(n, c), seen(n, Seen::Triggering);
    // @rule decide.unsettled: (something is to be done with `n`)
    unsettled(n) <-- changing(n);
    // @rule decide.unsettled-behind: `n` reads `m`
    unsettled(n) <-- reads(n, m), seen(m, Seen::Unsettled);
}

tables! {
    /// What is to be done. All sorted.
    pub struct Decisions {
        "decide" {
            /// `action(n, a, r)`: `a` is to be done with `n`, for reason `r`.
            action(Node, Action, Reason);
            /// `blocked(n, m)`: nothing can be said of `n`, because `m` failed or is blocked.
            blocked(Node, Node);
            /// `fired(n, m)`: the change of `m` replaces `n`, as `replace_triggered_by` says.
            fired(Node, Node);
            /// `replaced(n, r)`: `n` is replaced, for reason `r`.
            replaced(Node, Reason);
            /// `planned_again(n)`: the provider plans `n` a second time, as if nothing existed.
            planned_again(Node);
            /// `asks_protection(n)`: what `prevent_destroy` of `n` comes to is asked.
            asks_protection(Node);
            /// `drift(n, a)`: what changed outside is told of `n`: it was changed, or is gone, or, where a run only records, was moved.
            drift(Node, Action);
            /// `held(n, r)`: `n` would be destroyed for reason `r`, but something that is left out rests on it.
            held(Node, Reason);
            /// `deferred(n, m)`: data source `n` is read during apply, because of `m`; of itself where its arguments are unknown.
            deferred(Node, Node);
            /// `reads_now(n)`: data source `n` is read while planning.
            reads_now(Node);
            /// `reuses(n)`: the recorded result of data source `n` serves.
            reuses(Node);
            /// `opens_later(n, m)`: ephemeral resource `n` is opened during apply only, because of `m`; of itself where its arguments are unknown.
            opens_later(Node, Node);
            /// `opens(n)`: ephemeral resource `n` is opened while planning.
            opens(Node);
            /// `idle(n)`: nothing is asked of `n` in such a run: of data where everything goes, of what does not exist where nothing is made.
            idle(Node);
            /// `checked_again(n)`: `n` stays as it is, and its conditions are checked when the plan is carried out.
            checked_again(Node);
            /// `destroys(n)`: the current object of `n` is destroyed, whether another takes its place or not.
            destroys(Node);
            /// `changing(n)`: something is to be done with `n`, or with a member of it.
            changing(Node);
            /// `triggering(n)`: `n`, or a member of it, is made, changed or replaced.
            triggering(Node);
            /// `unsettled(n)`: `n`, or something behind it, is changing.
            unsettled(Node);
            /// `half_configured(p)`: the configuration of provider instance `p` is not known before apply: it serves only what is new.
            half_configured(Node) since "1.1";
            /// `adds_dependencies(n)`: the refreshed state adds what the block of `n` depends on to what it records that `n` was made from.
            adds_dependencies(Node) since "2.0";
            /// `keeps_dependencies(n)`: the refreshed state keeps what it records that `n` was made from. Of other objects it has what the block depends on.
            keeps_dependencies(Node) since "2.0";
        }
    }
}

/// Decides a batch: facts about its nodes, and `seen` for the nodes that they read.
pub(crate) fn decide(ledger: &Ledger<'_>) -> Decisions {
    conclude!(ledger: Program {
        facts: mode, managed, data, ephemeral, declared, reads, waits_for, member, late, seen, failed, prior, tainted, differs, marks_differ,
            must_replace, replace_hit, triggers, triggers_by_part, trigger_differs, keeps_object, state_keeps_object,
            removed_says, deposed_of, in_state, config_unknown, provider_unknown, configuration_settled, data_waits, data_waits_behind, has_conditions, in_check, excluding,
            recorded_result, outputs_need_all, protects, moved, changed_outside, gone_outside, skips_refresh;
        providers: read_by_provider;
        instances: orphan;
        selection: kept, guarded, excluded, untargeted;
        spread: cbd;
    } => Decisions {
        action, blocked, fired, replaced, planned_again, asks_protection, drift, held, deferred, reads_now, reuses, opens_later, opens, idle, checked_again, destroys,
        changing, triggering, unsettled, half_configured, adds_dependencies, keeps_dependencies,
    })
}

#[cfg(test)]
mod tests;

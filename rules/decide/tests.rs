//! What `decide` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};
use crate::{Conclusions, Facts};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = decide(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

/// A managed object of a normal plan that is declared and exists.
const EXISTS: &str = "mode(Normal). managed(a). declared(a). prior(a).";

#[track_caller]
fn check_existing(more: &str, conclusions: Expect) {
    check(&format!("{EXISTS}{more}"), conclusions);
}

#[test]
fn what_takes_no_part_is_not_decided() {
    check(
        "mode(Normal). managed(a). declared(a). excluded(a). managed(b). declared(b). untargeted(b).",
        expect![""],
    );
    check(
        "mode(Normal). data(a). declared(a). excluded(a). data(b). orphan(b, DeleteBecauseEachKey). untargeted(b).",
        expect![""],
    );
    check("mode(Destroy). data(a). in_state(a). excluded(a).", expect![""]);
}

#[test]
fn what_is_declared_and_does_not_exist_is_created() {
    check(
        "mode(Normal). managed(a). declared(a). differs(a).",
        expect![[r#"
        action(a, Create, Plain).
        changing(a).
        triggering(a).
        unsettled(a).
    "#]],
    );
}

#[test]
fn what_differs_is_updated() {
    check_existing(
        "differs(a).",
        expect![[r#"
            action(a, Update, Plain).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn what_is_as_the_configuration_says_is_left_alone() {
    check_existing(
        "",
        expect![[r#"
        action(a, NoOp, Plain).
    "#]],
    );
}

#[test]
fn a_change_of_marks_only_is_an_update() {
    check_existing(
        "marks_differ(a).",
        expect![[r#"
            action(a, Update, Plain).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn what_the_provider_cannot_change_in_place_is_replaced() {
    check_existing(
        "differs(a). must_replace(a).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceBecauseCannotUpdate).
            replaced(a, ReplaceBecauseCannotUpdate).
            planned_again(a).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
    check_existing(
        "must_replace(a).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceBecauseCannotUpdate).
            replaced(a, ReplaceBecauseCannotUpdate).
            planned_again(a).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn what_is_tainted_is_replaced_whatever_else_is_asked() {
    check_existing(
        "differs(a). tainted(a). replace_hit(a, f).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceBecauseTainted).
            replaced(a, ReplaceBecauseTainted).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn what_the_request_names_is_replaced() {
    check_existing(
        "replace_hit(a, f). must_replace(a). differs(a).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceByRequest).
            replaced(a, ReplaceByRequest).
            planned_again(a).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn nothing_is_replaced_that_does_not_exist() {
    check(
        "mode(Normal). managed(a). declared(a). replace_hit(a, f). tainted(a). must_replace(a).",
        expect![[r#"
            action(a, Create, Plain).
            changing(a).
            triggering(a).
            unsettled(a).
        "#]],
    );
}

#[test]
fn create_before_destroy_replaces_the_other_way_round() {
    check_existing(
        "must_replace(a). cbd(a). managed(b). declared(b). prior(b). must_replace(b).",
        expect![[r#"
            action(a, CreateThenDelete, ReplaceBecauseCannotUpdate).
            action(b, DeleteThenCreate, ReplaceBecauseCannotUpdate).
            replaced(a, ReplaceBecauseCannotUpdate).
            replaced(b, ReplaceBecauseCannotUpdate).
            planned_again(a).
            planned_again(b).
            destroys(a).
            destroys(b).
            changing(a).
            changing(b).
            triggering(a).
            triggering(b).
            unsettled(a).
            unsettled(b).
            keeps_dependencies(a).
            keeps_dependencies(b).
        "#]],
    );
}

#[test]
fn an_object_to_be_left_alone_is_forgotten_instead_of_destroyed() {
    check_existing(
        "must_replace(a). keeps_object(a). cbd(a). guarded(a).",
        expect![[r#"
            action(a, ForgetThenCreate, ReplaceBecauseCannotUpdate).
            replaced(a, ReplaceBecauseCannotUpdate).
            planned_again(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn what_something_left_out_rests_on_is_not_replaced_but_may_be_updated() {
    check_existing(
        "must_replace(a). differs(a). guarded(a).",
        expect![[r#"
        action(a, NoOp, KeptForAnother).
        held(a, ReplaceBecauseCannotUpdate).
    "#]],
    );
    check_existing(
        "differs(a). guarded(a).",
        expect![[r#"
            action(a, Update, Plain).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn a_changing_trigger_replaces_and_says_so() {
    check_existing(
        "triggers(a, t). seen(t, Triggering).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceByTriggers).
            fired(a, t).
            replaced(a, ReplaceByTriggers).
            planned_again(a).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
    check_existing(
        "triggers(a, t). seen(t, Triggering). tainted(a).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceByTriggers).
            fired(a, t).
            replaced(a, ReplaceByTriggers).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
    check_existing(
        "triggers(a, t). seen(t, Triggering). replace_hit(a, f).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceByTriggers).
            fired(a, t).
            replaced(a, ReplaceByTriggers).
            planned_again(a).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
    check_existing(
        "triggers(a, t). seen(t, Triggering). must_replace(a). differs(a).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceByTriggers).
            fired(a, t).
            replaced(a, ReplaceByTriggers).
            planned_again(a).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
    check(
        "mode(Normal). managed(a). declared(a). triggers(a, t). seen(t, Triggering).",
        expect![[r#"
            action(a, Create, ReplaceByTriggers).
            fired(a, t).
            changing(a).
            triggering(a).
            unsettled(a).
        "#]],
    );
}

#[test]
fn a_trigger_by_attribute_fires_when_that_attribute_changes() {
    check_existing(
        "triggers_by_part(a, t). seen(t, Triggering). trigger_differs(a, t).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceByTriggers).
            fired(a, t).
            replaced(a, ReplaceByTriggers).
            planned_again(a).
            destroys(a).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
    check_existing(
        "triggers_by_part(a, t). seen(t, Triggering).",
        expect![[r#"
        action(a, NoOp, Plain).
    "#]],
    );
    check_existing(
        "triggers_by_part(a, t). trigger_differs(a, t).",
        expect![[r#"
        action(a, NoOp, Plain).
    "#]],
    );
}

#[test]
fn a_trigger_that_is_deleted_or_not_in_the_plan_never_fires() {
    check_existing(
        "triggers(a, t). seen(t, Changing). triggers(a, u).",
        expect![[r#"
        action(a, NoOp, Plain).
    "#]],
    );
}

#[test]
fn nothing_is_said_of_what_failed_or_reads_what_failed() {
    check_existing("failed(a).", expect![[""]]);
    check_existing(
        "reads(a, b). seen(b, Failed).",
        expect![[r#"
        blocked(a, b).
    "#]],
    );
    check_existing(
        "reads(a, b). seen(b, Blocked).",
        expect![[r#"
        blocked(a, b).
    "#]],
    );
    check_existing(
        "waits_for(a, b). seen(b, Failed).",
        expect![[r#"
        blocked(a, b).
    "#]],
    );
    check_existing(
        "waits_for(a, b). seen(b, Blocked).",
        expect![[r#"
        blocked(a, b).
    "#]],
    );
}

#[test]
fn an_orphan_is_deleted_for_its_reason() {
    check(
        "mode(Normal). managed(a). orphan(a, DeleteBecauseCountIndex). prior(a).",
        expect![[r#"
            action(a, Delete, DeleteBecauseCountIndex).
            destroys(a).
            changing(a).
            unsettled(a).
        "#]],
    );
}

#[test]
fn an_orphan_that_is_gone_leaves_the_state_without_a_word() {
    check(
        "mode(Normal). managed(a). orphan(a, DeleteBecauseCountIndex).",
        expect![[r#"
        action(a, Drop, Plain).
    "#]],
    );
}

#[test]
fn an_orphan_that_something_left_out_rests_on_stays() {
    check(
        "mode(Normal). managed(a). orphan(a, DeleteBecauseEachKey). prior(a). kept(a).",
        expect![[r#"
            action(a, NoOp, KeptForAnother).
            held(a, DeleteBecauseEachKey).
        "#]],
    );
}

#[test]
fn a_deposed_object_is_deleted() {
    check(
        "mode(Normal). managed(o). deposed_of(o, i). prior(o).",
        expect![[r#"
        action(o, Delete, Plain).
        changing(o).
        unsettled(o).
    "#]],
    );
}

#[test]
fn destroy_equals_false_forgets_unless_a_removed_block_says_otherwise() {
    check(
        "
        mode(Normal).
        managed(a). orphan(a, DeleteBecauseCountIndex). prior(a). keeps_object(a). state_keeps_object(a).
        managed(b). orphan(b, DeleteBecauseNoResourceConfig). prior(b). state_keeps_object(b).
        managed(c). orphan(c, DeleteBecauseNoResourceConfig). prior(c). state_keeps_object(c). removed_says(c, Destroy).
        managed(d). orphan(d, DeleteBecauseNoResourceConfig). prior(d). removed_says(d, Forget).
        managed(e). orphan(e, DeleteBecauseNoResourceConfig). prior(e). keeps_object(e). removed_says(e, Destroy).
        managed(g). orphan(g, DeleteBecauseNoResourceConfig). keeps_object(g).
        ",
        expect![[r#"
            action(a, Forget, ForgotBecauseLifecycleDestroyInConfig).
            action(b, Forget, ForgotBecauseLifecycleDestroyInState).
            action(c, Delete, DeleteBecauseNoResourceConfig).
            action(d, Forget, DeleteBecauseNoResourceConfig).
            action(e, Delete, DeleteBecauseNoResourceConfig).
            action(g, Drop, Plain).
            destroys(c).
            destroys(e).
            changing(a).
            changing(b).
            changing(c).
            changing(d).
            changing(e).
            unsettled(a).
            unsettled(b).
            unsettled(c).
            unsettled(d).
            unsettled(e).
        "#]],
    );
}

#[test]
fn a_destroy_run_deletes_everything_that_exists() {
    check(
        "
        mode(Destroy).
        managed(a). declared(a). prior(a). managed(gone). declared(gone).
        managed(left). prior(left). state_keeps_object(left).
        data(d). declared(d). in_state(d). data(e). declared(e). data(f). orphan(f, DeleteBecauseEachKey). in_state(f).
        ",
        expect![[r#"
            action(a, Delete, Plain).
            action(gone, Drop, Plain).
            action(left, Forget, ForgotBecauseLifecycleDestroyInState).
            action(d, Delete, Plain).
            action(f, Delete, Plain).
            idle(e).
            destroys(a).
            changing(a).
            changing(left).
            changing(d).
            changing(f).
            unsettled(a).
            unsettled(left).
            unsettled(d).
            unsettled(f).
            keeps_dependencies(a).
        "#]],
    );
}

#[test]
fn a_refresh_only_run_does_nothing() {
    check(
        "
        mode(RefreshOnly). managed(a). declared(a). in_state(a). prior(a). differs(a).
        managed(b). orphan(b, DeleteBecauseEachKey). in_state(b). managed(gone). in_state(gone).
        managed(found). prior(found). managed(nothing). declared(nothing).
        ",
        expect![[r#"
            action(a, NoOp, Plain).
            action(b, NoOp, Plain).
            action(gone, NoOp, Plain).
            action(found, NoOp, Plain).
            idle(nothing).
            adds_dependencies(a).
        "#]],
    );
}

#[test]
fn data_is_read_while_planning() {
    check(
        "mode(Normal). data(d). declared(d).",
        expect![[r#"
        reads_now(d).
    "#]],
    );
    check(
        "mode(RefreshOnly). data(d). declared(d).",
        expect![[r#"
        reads_now(d).
    "#]],
    );
}

#[test]
fn data_of_unknown_arguments_is_read_during_apply() {
    check(
        "mode(Normal). data(d). declared(d). config_unknown(d). data_waits(d, a). seen(a, Changing).",
        expect![[r#"
            action(d, Read, ReadBecauseConfigUnknown).
            deferred(d, d).
            deferred(d, a).
            changing(d).
            unsettled(d).
        "#]],
    );
    check(
        "mode(RefreshOnly). data(d). declared(d). config_unknown(d).",
        expect![[r#"
        deferred(d, d).
    "#]],
    );
    check(
        "mode(RefreshOnly). data(d). declared(d). in_state(d). config_unknown(d).",
        expect![[r#"
        action(d, Drop, Plain).
        deferred(d, d).
    "#]],
    );
}

#[test]
fn data_waits_for_what_it_depends_on() {
    check(
        "mode(Normal). data(d). declared(d). data_waits(d, a). seen(a, Changing).",
        expect![[r#"
        action(d, Read, ReadBecauseDependencyPending).
        deferred(d, a).
        changing(d).
        unsettled(d).
    "#]],
    );
    check(
        "mode(Normal). data(d). declared(d). reads(d, a). seen(a, Changing). seen(a, Unsettled).",
        expect![[r#"
            reads_now(d).
            unsettled(d).
        "#]],
    );
}

#[test]
fn data_waits_for_everything_behind_a_module_that_it_depends_on() {
    check(
        "mode(Normal). data(d). declared(d). data_waits_behind(d, m). seen(m, Unsettled).",
        expect![[r#"
            action(d, Read, ReadBecauseDependencyPending).
            deferred(d, m).
            changing(d).
            unsettled(d).
        "#]],
    );
}

#[test]
fn data_with_conditions_waits_for_everything_behind_it() {
    check(
        "mode(Normal). data(d). declared(d). has_conditions(d). reads(d, l). seen(l, Unsettled).",
        expect![[r#"
            action(d, Read, ReadBecauseDependencyPending).
            deferred(d, l).
            changing(d).
            unsettled(d).
        "#]],
    );
}

#[test]
fn data_in_a_check_is_read_now_and_again() {
    check(
        "mode(Normal). data(d). declared(d). in_check(d).",
        expect![[r#"
        action(d, Read, ReadBecauseCheckNested).
        reads_now(d).
        changing(d).
        unsettled(d).
    "#]],
    );
    check(
        "mode(RefreshOnly). data(d). declared(d). in_check(d).",
        expect![[r#"
        reads_now(d).
    "#]],
    );
}

#[test]
fn while_something_is_excluded_the_recorded_result_serves() {
    check(
        "
        mode(Normal). excluding(). data(d). declared(d). recorded_result(d). data_waits(d, a). seen(a, Changing).
        has_conditions(d). reads(d, a). seen(a, Unsettled).
        ",
        expect![[r#"
            reuses(d).
            unsettled(d).
        "#]],
    );
    check(
        "mode(Normal). excluding(). data(d). declared(d).",
        expect![[r#"
        reads_now(d).
    "#]],
    );
    check(
        "mode(Normal). data(d). declared(d). recorded_result(d).",
        expect![[r#"
        reads_now(d).
    "#]],
    );
    check(
        "mode(Normal). excluding(). data(d). declared(d). recorded_result(d). config_unknown(d).",
        expect![[r#"
            action(d, Read, ReadBecauseConfigUnknown).
            deferred(d, d).
            changing(d).
            unsettled(d).
        "#]],
    );
}

#[test]
fn as_opentofu_data_is_read_in_any_case() {
    check(
        "mode(Normal). outputs_need_all(). excluding(). data(d). declared(d). recorded_result(d).",
        expect![[r#"
            reads_now(d).
        "#]],
    );
}

#[test]
fn data_that_failed_or_reads_what_failed_is_not_read() {
    check(
        "mode(Normal). data(d). declared(d). failed(d). data(e). declared(e). reads(e, a). seen(a, Failed).",
        expect![[r#"
            blocked(e, a).
        "#]],
    );
}

#[test]
fn data_that_is_declared_no_more_leaves_the_state() {
    check(
        "mode(Normal). data(d). orphan(d, DeleteBecauseNoResourceConfig).",
        expect![[r#"
        action(d, Drop, Plain).
    "#]],
    );
    check(
        "mode(RefreshOnly). data(d). orphan(d, DeleteBecauseNoResourceConfig).",
        expect![[r#"
        action(d, Drop, Plain).
    "#]],
    );
}

#[test]
fn a_collection_changes_with_its_members() {
    check(
        "mode(Normal). member(a, all). seen(a, Changing). seen(a, Triggering). reads(local, a). seen(a, Unsettled).",
        expect![[r#"
            changing(all).
            triggering(all).
            unsettled(all).
            unsettled(local).
        "#]],
    );
}

/// Every combination of what can be said of an object.
#[test]
fn every_object_has_one_outcome_unless_it_cannot_be_decided() {
    let n = Node(0);
    for bits in 0_u32..1 << 14 {
        let has = |bit: u32| bits & 1 << bit != 0;
        let one = |bit: u32| if has(bit) { vec![(n,)] } else { Vec::new() };
        let orphan = !has(0);
        let facts = Facts {
            mode: vec![(if has(12) {
                Mode::Destroy
            } else if has(13) {
                Mode::RefreshOnly
            } else {
                Mode::Normal
            },)],
            managed: vec![(n,)],
            declared: one(0),
            prior: one(1),
            differs: one(2),
            must_replace: one(3),
            tainted: one(4),
            marks_differ: one(5),
            keeps_object: one(7),
            replace_hit: if has(9) { vec![(n, Flag(0))] } else { Vec::new() },
            triggers: vec![(n, Node(1))],
            seen: if has(10) { vec![(Node(1), Seen::Triggering)] } else { Vec::new() },
            failed: one(11),
            ..Facts::default()
        };
        let expected = usize::from(!has(11));
        let mut earlier = Conclusions::default();
        if orphan {
            earlier.instances.orphan.push((n, Reason::DeleteBecauseEachKey));
        }
        earlier.spread.cbd = one(6);
        (earlier.selection.kept, earlier.selection.guarded) = (one(8), one(8));
        let decided = decide(&earlier.ledger(&facts));
        assert_eq!(decided.action.len() + decided.idle.len(), expected, "{facts:?} {earlier:?}");
    }
}

#[test]
fn an_ephemeral_resource_is_opened_while_planning_unless_something_is_not_decided_yet() {
    check(
        "mode(Normal). ephemeral(token). declared(token).",
        expect![[r#"
            opens(token).
        "#]],
    );
    check(
        "mode(Normal). ephemeral(token). declared(token). config_unknown(token).",
        expect![[r#"
            opens_later(token, token).
        "#]],
    );
    check(
        "mode(Normal). ephemeral(token). declared(token). data_waits(token, db). seen(db, Changing).",
        expect![[r#"
            opens_later(token, db).
        "#]],
    );
    check(
        "mode(Normal). ephemeral(token). declared(token). data_waits_behind(token, m). seen(m, Unsettled).",
        expect![[r#"
            opens_later(token, m).
        "#]],
    );
}

#[test]
fn an_ephemeral_resource_that_failed_or_is_left_out_is_not_opened() {
    check("mode(Normal). ephemeral(token). declared(token). failed(token).", expect![""]);
    check("mode(Normal). ephemeral(token). declared(token). untargeted(token).", expect![""]);
    check(
        "mode(Normal). ephemeral(token). declared(token). reads(token, db). seen(db, Failed).",
        expect![[r#"
            blocked(token, db).
        "#]],
    );
}

#[test]
fn in_a_destroy_run_what_a_provider_reads_is_opened_at_once() {
    check(
        "
        mode(Destroy). ephemeral(token). declared(token). read_by_provider(token). ephemeral(other). declared(other).
        data_waits(token, db). data_waits_behind(token, db). seen(db, Changing). seen(db, Unsettled).
        ",
        expect![[r#"
            opens(token).
            idle(other).
        "#]],
    );
}

#[test]
fn in_a_destroy_run_nothing_is_asked_of_what_is_not_recorded() {
    check(
        "mode(Destroy). data(d). declared(d). data(e). declared(e). in_state(e). ephemeral(token). declared(token).",
        expect![[r#"
            action(e, Delete, Plain).
            idle(d).
            idle(token).
            changing(e).
            unsettled(e).
        "#]],
    );
    check(
        "
        mode(Destroy). data(a). excluded(a). data(b). failed(b). data(c). reads(c, x). seen(x, Failed).
        ephemeral(d). untargeted(d). ephemeral(e). failed(e). ephemeral(f). reads(f, x).
        ",
        expect![[r#"
            blocked(c, x).
            blocked(f, x).
        "#]],
    );
}

#[test]
fn conditions_of_what_stays_as_it_is_are_checked_again() {
    check_existing(
        "has_conditions(a).",
        expect![[r#"
            action(a, NoOp, Plain).
            checked_again(a).
        "#]],
    );
    check_existing(
        "has_conditions(a). differs(a).",
        expect![[r#"
            action(a, Update, Plain).
            changing(a).
            triggering(a).
            unsettled(a).
            keeps_dependencies(a).
        "#]],
    );
    check(
        "mode(RefreshOnly). managed(a). in_state(a). has_conditions(a).",
        expect![[r#"
            action(a, NoOp, Plain).
        "#]],
    );
}

#[test]
fn what_keys_that_failed_would_have_told_is_blocked() {
    check(
        "mode(Normal). managed(x). late(x, p). seen(p, Failed).",
        expect![[r#"
            blocked(x, p).
        "#]],
    );
    check(
        "mode(Normal). managed(y). late(y, q). seen(q, Blocked).",
        expect![[r#"
            blocked(y, q).
        "#]],
    );
}

#[test]
fn what_is_replaced_and_whole_is_planned_a_second_time() {
    check_existing(
        "must_replace(a). differs(a). managed(t). declared(t). prior(t). tainted(t).",
        expect![[r#"
            action(a, DeleteThenCreate, ReplaceBecauseCannotUpdate).
            action(t, DeleteThenCreate, ReplaceBecauseTainted).
            replaced(a, ReplaceBecauseCannotUpdate).
            replaced(t, ReplaceBecauseTainted).
            planned_again(a).
            destroys(a).
            destroys(t).
            changing(a).
            changing(t).
            triggering(a).
            triggering(t).
            unsettled(a).
            unsettled(t).
            keeps_dependencies(a).
            keeps_dependencies(t).
        "#]],
    );
}

#[test]
fn prevent_destroy_is_asked_of_what_is_planned_or_goes() {
    check(
        "
        mode(Normal). managed(a). declared(a). prior(a). protects(a). managed(gone). in_state(gone). prior(gone).
        orphan(gone, DeleteBecauseEachKey). protects(gone). managed(plain). declared(plain). prior(plain).
        managed(old). in_state(old). orphan(old, DeleteBecauseEachKey). protects(old).
        ",
        expect![[r#"
            action(a, NoOp, Plain).
            action(gone, Delete, DeleteBecauseEachKey).
            action(plain, NoOp, Plain).
            action(old, Drop, Plain).
            asks_protection(a).
            asks_protection(gone).
            destroys(gone).
            changing(gone).
            unsettled(gone).
        "#]],
    );
}

#[test]
fn what_changed_outside_is_told_of_current_objects() {
    check_existing(
        "
        changed_outside(a). managed(b). declared(b). gone_outside(b). managed(o). deposed_of(o, a). changed_outside(o).
        managed(p). deposed_of(p, a). gone_outside(p).
        ",
        expect![[r#"
            action(a, NoOp, Plain).
            action(b, Create, Plain).
            action(o, Drop, Plain).
            action(p, Drop, Plain).
            drift(a, Update).
            drift(b, Delete).
            changing(b).
            triggering(b).
            unsettled(b).
        "#]],
    );
}

#[test]
fn a_run_that_only_records_tells_what_was_moved() {
    check(
        "
        mode(RefreshOnly). managed(a). in_state(a). prior(a). moved(a). managed(b). in_state(b). prior(b). moved(b).
        changed_outside(b). managed(c). in_state(c). moved(c). gone_outside(c). managed(d). prior(d). moved(d).
        ",
        expect![[r#"
            action(a, NoOp, Plain).
            action(b, NoOp, Plain).
            action(c, NoOp, Plain).
            action(d, NoOp, Plain).
            drift(a, NoOp).
            drift(b, Update).
            drift(c, Delete).
        "#]],
    );
}

#[test]
fn what_is_recorded_of_dependencies_follows_the_block_once_the_object_does() {
    check(
        "
        mode(Normal). managed(same). declared(same). prior(same). in_state(same). managed(new). declared(new). prior(new). in_state(new).
        differs(new). managed(found). declared(found). prior(found). differs(found).
        ",
        expect![[r#"
            action(same, NoOp, Plain).
            action(new, Update, Plain).
            action(found, Update, Plain).
            changing(new).
            changing(found).
            triggering(new).
            triggering(found).
            unsettled(new).
            unsettled(found).
            adds_dependencies(new).
            keeps_dependencies(found).
        "#]],
    );
    check(
        "mode(Normal). skips_refresh(). managed(new). declared(new). prior(new). in_state(new). differs(new).",
        expect![[r#"
            action(new, Update, Plain).
            changing(new).
            triggering(new).
            unsettled(new).
            keeps_dependencies(new).
        "#]],
    );
    check(
        "mode(RefreshOnly). managed(same). declared(same). prior(same). in_state(same). managed(gone). prior(gone). in_state(gone).",
        expect![[r#"
            action(same, NoOp, Plain).
            action(gone, NoOp, Plain).
            adds_dependencies(same).
        "#]],
    );
    check(
        "mode(RefreshOnly). skips_refresh(). managed(same). declared(same). prior(same). in_state(same).",
        expect![[r#"
            action(same, NoOp, Plain).
            keeps_dependencies(same).
        "#]],
    );
}

#[test]
fn what_a_half_configured_provider_serves_is_read_and_opened_during_apply() {
    check(
        "
        mode(Normal). data(d). declared(d). reads(d, p). ephemeral(e). declared(e). reads(e, p). seen(p, HalfConfigured).
        ",
        expect![[r#"
            action(d, Read, ReadBecauseDependencyPending).
            deferred(d, p).
            opens_later(e, p).
            changing(d).
            unsettled(d).
        "#]],
    );
    check(
        "provider_unknown(p). configuration_settled(p). configuration_settled(whole). reads(whole, q). seen(q, HalfConfigured).",
        expect![[r#"
            half_configured(p).
            half_configured(whole).
        "#]],
    );
}

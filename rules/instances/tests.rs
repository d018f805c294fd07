//! What `instances` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = judge(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn what_is_declared_is_no_orphan() {
    check(
        "in_state(a). declared(a). of(a, b). repeats(b, Single). key_kind(a, Bare).",
        expect![[""]],
    );
}

#[test]
fn without_a_block_the_block_is_the_reason() {
    check(
        "in_state(a). block_gone(a). module_gone(a).",
        expect![[r#"
            orphan(a, DeleteBecauseNoResourceConfig).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn what_moved_to_where_no_block_is_says_so() {
    check(
        "in_state(a). block_gone(a). moved(a).",
        expect![[r#"
            orphan(a, DeleteBecauseNoMoveTarget).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn without_its_module_instance_the_module_is_the_reason() {
    check(
        "in_state(a). module_gone(a). of(a, b). repeats(b, Count). key_kind(a, Number).",
        expect![[r#"
            orphan(a, DeleteBecauseNoModule).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn a_disabled_block_deletes_its_instance() {
    check(
        "in_state(a). of(a, b). repeats(b, Enabled). key_kind(a, Bare).",
        expect![[r#"
            orphan(a, DeleteBecauseEnabledFalse).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn a_block_that_begins_to_repeat_deletes_the_instance_without_key() {
    check(
        "in_state(a). of(a, b). repeats(b, Count). key_kind(a, Bare).",
        expect![[r#"
            orphan(a, DeleteBecauseWrongRepetition).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, ForEach). key_kind(a, Bare).",
        expect![[r#"
            orphan(a, DeleteBecauseWrongRepetition).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn a_numbered_instance_goes_when_count_shrinks_or_is_no_more() {
    check(
        "in_state(a). of(a, b). repeats(b, Count). key_kind(a, Number).",
        expect![[r#"
            orphan(a, DeleteBecauseCountIndex).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, ForEach). key_kind(a, Number).",
        expect![[r#"
            orphan(a, DeleteBecauseWrongRepetition).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, Single). key_kind(a, Number).",
        expect![[r#"
            orphan(a, DeleteBecauseWrongRepetition).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn a_named_instance_goes_when_its_key_or_for_each_is_no_more() {
    check(
        "in_state(a). of(a, b). repeats(b, ForEach). key_kind(a, Text).",
        expect![[r#"
            orphan(a, DeleteBecauseEachKey).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, Count). key_kind(a, Text).",
        expect![[r#"
            orphan(a, DeleteBecauseWrongRepetition).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn a_deposed_object_is_destroyed_and_no_orphan() {
    check(
        "in_state(o). deposed_of(o, i). block_gone(o).",
        expect![[r#"
            to_be_destroyed(o).
            only_refreshed(o).
            only_refreshed(i).
        "#]],
    );
}

#[test]
fn nothing_is_said_of_instances_before_their_keys_are_known() {
    check(
        "in_state(a). late(a, p). of(a, b). repeats(b, Count). key_kind(a, Number).",
        expect![[""]],
    );
}

#[test]
fn an_orphan_found_in_the_walk_is_not_destroyed_before_it() {
    check(
        "in_state(a). late(a, p). expanded(p). of(a, b). repeats(b, Count). key_kind(a, Number).",
        expect![[r#"
            orphan(a, DeleteBecauseCountIndex).
            to_be_destroyed(a).
            only_refreshed(a).
        "#]],
    );
}

#[test]
fn destroying_dooms_everything() {
    check(
        "mode(Destroy). in_state(a). declared(a). in_state(l). late(l, p).",
        expect![[r#"
            to_be_destroyed(a).
            to_be_destroyed(l).
            refreshes_first().
            all_goes().
        "#]],
    );
}

#[test]
fn of_what_only_exists_nothing_is_planned() {
    check(
        "
        mode(Normal). managed(a). in_state(a). block_gone(a). data(d). in_state(d). block_gone(d).
        managed(b). declared(b). in_state(b). managed(o). in_state(o). deposed_of(o, b).
        managed(r). managed(p). in_state(p). deposed_of(p, r).
        ",
        expect![[r#"
            orphan(a, DeleteBecauseNoResourceConfig).
            orphan(d, DeleteBecauseNoResourceConfig).
            to_be_destroyed(a).
            to_be_destroyed(d).
            to_be_destroyed(o).
            to_be_destroyed(p).
            only_refreshed(a).
            only_refreshed(o).
            only_refreshed(r).
            only_refreshed(p).
            unasked(d).
        "#]],
    );
}

#[test]
fn a_run_that_only_records_plans_nothing() {
    check(
        "mode(RefreshOnly). managed(a). declared(a). data(d). declared(d). ephemeral(e). declared(e).",
        expect![[r#"
            only_refreshed(a).
            only_records().
            only_existing().
        "#]],
    );
}

#[test]
fn an_import_makes_an_object_and_what_precedes_a_destruction_misses_none() {
    check(
        "mode(RefreshOnly). adopts().",
        expect![[r#"
            only_records().
        "#]],
    );
    check(
        "mode(Normal). precedes_destroy().",
        expect![[r#"
            all_goes().
        "#]],
    );
}

#[test]
fn a_run_that_destroys_looks_first_and_asks_for_no_value() {
    check(
        "mode(Destroy). managed(a). declared(a). in_state(a). data(d). ephemeral(e).",
        expect![[r#"
            to_be_destroyed(a).
            only_refreshed(a).
            unasked(d).
            unasked(e).
            refreshes_first().
            all_goes().
        "#]],
    );
    check(
        "mode(Destroy). managed(a). in_state(a). skips_refresh().",
        expect![[r#"
            to_be_destroyed(a).
            only_refreshed(a).
            all_goes().
        "#]],
    );
}

#[test]
fn what_a_removed_block_forgets_asks_no_provider() {
    check(
        "
        mode(Normal). in_state(a). block_gone(a). removed_says(a, Forget). in_state(o). deposed_of(o, b). removed_says(o, Forget).
        in_state(c). block_gone(c). removed_says(c, Destroy).
        ",
        expect![[r#"
            orphan(a, DeleteBecauseNoResourceConfig).
            orphan(c, DeleteBecauseNoResourceConfig).
            to_be_destroyed(a).
            to_be_destroyed(o).
            to_be_destroyed(c).
            only_refreshed(a).
            only_refreshed(o).
            only_refreshed(b).
            only_refreshed(c).
            only_forgotten(a).
            only_forgotten(o).
        "#]],
    );
}

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
        doomed(a).
    "#]],
    );
}

#[test]
fn what_moved_to_where_no_block_is_says_so() {
    check(
        "in_state(a). block_gone(a). moved(a).",
        expect![[r#"
        orphan(a, DeleteBecauseNoMoveTarget).
        doomed(a).
    "#]],
    );
}

#[test]
fn without_its_module_instance_the_module_is_the_reason() {
    check(
        "in_state(a). module_gone(a). of(a, b). repeats(b, Count). key_kind(a, Number).",
        expect![[r#"
            orphan(a, DeleteBecauseNoModule).
            doomed(a).
        "#]],
    );
}

#[test]
fn a_disabled_block_deletes_its_instance() {
    check(
        "in_state(a). of(a, b). repeats(b, Enabled). key_kind(a, Bare).",
        expect![[r#"
        orphan(a, DeleteBecauseEnabledFalse).
        doomed(a).
    "#]],
    );
}

#[test]
fn a_block_that_begins_to_repeat_deletes_the_instance_without_key() {
    check(
        "in_state(a). of(a, b). repeats(b, Count). key_kind(a, Bare).",
        expect![[r#"
        orphan(a, DeleteBecauseWrongRepetition).
        doomed(a).
    "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, ForEach). key_kind(a, Bare).",
        expect![[r#"
        orphan(a, DeleteBecauseWrongRepetition).
        doomed(a).
    "#]],
    );
}

#[test]
fn a_numbered_instance_goes_when_count_shrinks_or_is_no_more() {
    check(
        "in_state(a). of(a, b). repeats(b, Count). key_kind(a, Number).",
        expect![[r#"
        orphan(a, DeleteBecauseCountIndex).
        doomed(a).
    "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, ForEach). key_kind(a, Number).",
        expect![[r#"
        orphan(a, DeleteBecauseWrongRepetition).
        doomed(a).
    "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, Single). key_kind(a, Number).",
        expect![[r#"
        orphan(a, DeleteBecauseWrongRepetition).
        doomed(a).
    "#]],
    );
}

#[test]
fn a_named_instance_goes_when_its_key_or_for_each_is_no_more() {
    check(
        "in_state(a). of(a, b). repeats(b, ForEach). key_kind(a, Text).",
        expect![[r#"
        orphan(a, DeleteBecauseEachKey).
        doomed(a).
    "#]],
    );
    check(
        "in_state(a). of(a, b). repeats(b, Count). key_kind(a, Text).",
        expect![[r#"
        orphan(a, DeleteBecauseWrongRepetition).
        doomed(a).
    "#]],
    );
}

#[test]
fn a_deposed_object_is_doomed_and_no_orphan() {
    check(
        "in_state(o). deposed_of(o, i). block_gone(o).",
        expect![[r#"
        doomed(o).
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
fn an_orphan_found_in_the_walk_is_not_doomed_before_it() {
    check(
        "in_state(a). late(a, p). expanded(p). of(a, b). repeats(b, Count). key_kind(a, Number).",
        expect![[r#"
            orphan(a, DeleteBecauseCountIndex).
            doomed(a).
        "#]],
    );
}

#[test]
fn destroying_dooms_everything() {
    check(
        "mode(Destroy). in_state(a). declared(a). in_state(l). late(l, p).",
        expect![[r#"
        doomed(a).
        doomed(l).
    "#]],
    );
}

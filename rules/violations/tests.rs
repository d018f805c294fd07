//! What `violations` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = collect(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn prevent_destroy_stands_against_what_is_destroyed_unless_it_is_false() {
    check(
        "
        protection(a, On). destroys(a). protection(b, Null). destroys(b). protection(c, Unknown). destroys(c).
        protection(d, On). protection(e, Null). protection(f, Unknown). destroys(g).
        ",
        expect![[r#"
            violation(PreventsDestroy, a).
            violation(PreventsDestroy, b).
            violation(PreventsDestroy, c).
        "#]],
    );
}

#[test]
fn a_prevent_destroy_that_cannot_be_obeyed_stands_against_any_plan() {
    check(
        "protection(a, Invalid). protection(b, Invalid). destroys(b).",
        expect![[r#"
            violation(InvalidProtection, a).
            violation(InvalidProtection, b).
        "#]],
    );
}

#[test]
fn what_moved_to_another_type_must_not_be_excluded() {
    check(
        "moved(a). retyped(a). excluded(a). excluded(b). moved(b). moved(c). retyped(c). selected(c).",
        expect![[r#"
            violation(MoveExcluded, a).
        "#]],
    );
}

#[test]
fn both_ends_of_a_move_must_be_targeted() {
    check(
        "
        targeting(). moved(a). move_named(a, Old). moved(b). move_named(b, New).
        moved(c). move_named(c, Old). move_named(c, New).
        ",
        expect![[r#"
            violation(MoveUntargeted, a).
            violation(MoveUntargeted, b).
        "#]],
    );
    check("moved(a).", expect![[""]]);
}

#[test]
fn what_cannot_be_served_stands_against_the_plan() {
    check(
        "lacks(a, Configuration). lacks(b, Instance). selected(b). lacks(c, Fallback). selected(c).",
        expect![[r#"
            violation(NoConfiguration, a).
            violation(NoInstance, b).
            violation(NoFallback, c).
        "#]],
    );
}

#[test]
fn a_missing_provider_instance_stands_only_in_the_way_of_what_takes_part() {
    check(
        "
        lacks(a, Instance). selected(a). lacks(b, Instance). lacks(c, Fallback). selected(c). lacks(d, Fallback).
        lacks(e, Configuration).
        ",
        expect![[r#"
            violation(NoConfiguration, e).
            violation(NoInstance, a).
            violation(NoFallback, c).
        "#]],
    );
}

#[test]
fn a_trigger_that_is_not_there_stands_in_the_way_of_what_is_planned() {
    check(
        "trigger_missing(a). selected(a). trigger_missing(b). trigger_missing(c). selected(c). only_refreshed(c).",
        expect![[r#"
            violation(NoTrigger, a).
        "#]],
    );
    check("trigger_missing(a). selected(a). all_goes().", expect![[""]]);
}

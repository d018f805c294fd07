//! What `changes` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = conclude(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn an_output_is_made_changed_or_stays_as_its_value_and_the_state_say() {
    check(
        "
        mode(Normal).
        declared(new). recalculated(new). differs(new).
        declared(changed). recalculated(changed). differs(changed). recorded_output(changed).
        declared(same). recalculated(same). recorded_output(same).
        declared(nothing). recalculated(nothing).
        declared(kept). differs(kept). recorded_output(kept).
        ",
        expect![[r#"
            output_action(new, Create).
            output_action(changed, Update).
            output_action(same, NoOp).
            output_action(nothing, NoOp).
        "#]],
    );
}

#[test]
fn an_output_goes_with_its_block_or_with_everything() {
    check(
        "mode(Normal). recalculated(gone). recorded_output(gone).",
        expect![[r#"
        output_action(gone, Delete).
    "#]],
    );
    check(
        "mode(Destroy). declared(all). recalculated(all). recorded_output(all). declared(never). recalculated(never).",
        expect![[r#"
            output_action(all, Delete).
        "#]],
    );
}

#[test]
fn of_an_output_that_failed_or_rests_on_what_failed_nothing_is_said() {
    check(
        "
        mode(Normal). declared(a). recalculated(a). differs(a). failed(a).
        declared(b). recalculated(b). differs(b). blocked(b, x).
        ",
        expect![[""]],
    );
}

#[test]
fn a_check_is_judged_unless_what_it_reads_failed() {
    check(
        "mode(Normal). check_block(a). check_block(b). blocked(b, x).",
        expect![[r#"
            checked(a).
            check_blocked(b).
        "#]],
    );
}

#[test]
fn a_run_that_leaves_something_out_or_destroys_looks_at_no_check() {
    check(
        "mode(Normal). filtered(). check_block(a). blocked(a, x).",
        expect![[r#"
            check_left(a).
        "#]],
    );
    check(
        "mode(Destroy). check_block(a).",
        expect![[r#"
            check_left(a).
        "#]],
    );
}

#[test]
fn conditions_are_listed_where_a_sibling_takes_part_or_everything_goes() {
    check(
        "
        mode(Normal). filtered().
        of(a1, a). of(a2, a). selected(a1). declared(a1). declared(a2). has_conditions(a1). has_conditions(a2).
        of(b1, b). declared(b1). has_conditions(b1).
        ",
        expect![[r#"
            awaits_check(a1).
            awaits_check(a2).
        "#]],
    );
    check(
        "
        mode(Destroy). output(o). declared(o). has_conditions(o). output(p). declared(p). selected(a1). of(a1, a). declared(a1). has_conditions(a1).
        ",
        expect![[r#"
            awaits_check(o).
        "#]],
    );
}

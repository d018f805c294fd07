//! What `closing` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::facts::Facts;
use crate::order::Order;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = close(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn failure_holds_back_what_comes_after_it() {
    check(
        "
        before(db, Up, app, Up). before(app, Up, web, Settled). before(other, Up, app, Up). step_failed(db, Up).
        ",
        expect![[r#"
            held_back(app, Up, db, Up).
            held_back(web, Settled, app, Up).
            unsound(db).
            unsound(app).
            unsound(web).
        "#]],
    );
}

#[test]
fn what_reads_what_failed_is_unsound_and_neither_written_nor_judged() {
    check(
        "
        mode(Normal). step_failed(db, Up). reads(local, db). reads(out, local). reads(check, local).
        output_action(out, Update). check_block(check). check_block(fine). output_action(whole, Create).
        output_action(gone, Delete). reads(gone, db). output_action(same, NoOp).
        ",
        expect![[r#"
            unsound(db).
            unsound(local).
            unsound(out).
            unsound(check).
            unsound(gone).
            judges_all().
            judged_last(fine).
            written_last(whole).
            removed_last(gone).
        "#]],
    );
}

#[test]
fn a_run_that_was_stopped_leaves_outputs_alone() {
    check(
        "mode(Normal). filtered(). stopped(). output_action(out, Update). output_action(gone, Delete). check_block(c).",
        expect![[""]],
    );
}

#[test]
fn a_run_that_destroys_judges_nothing() {
    check("mode(Destroy). check_block(c).", expect![[""]]);
}

#[test]
fn an_output_that_no_step_and_nothing_at_the_end_reads_is_passed_by() {
    check(
        "
        mode(Normal). object(app). object(db). step(app, Up). reads(app, a). reads(a, b). reads(a, db). reads(db, c).
        evaluated_last(out). reads(out, d). reads(unread, e). data(read).
        module_output(a). module_output(b). module_output(c). module_output(d). module_output(e).
        ",
        expect![[r#"
            judges_all().
            passed_by(c).
            passed_by(e).
            passed_by(read).
        "#]],
    );
}

#[test]
fn a_phase_is_held_back_one_hop_at_a_time_as_all_at_once() {
    let (a, b, c) = (Node(1), Node(2), Node(3));
    let up = Phase::Up;
    let hold_back = |before: &[_], failed: &[_], earlier: &[_]| {
        let facts = Facts { step_failed: failed.to_vec(), ..Facts::default() };
        let order = Order { before: before.to_vec(), ..Order::default() };
        let closing = Closing { held_back: earlier.to_vec(), ..Closing::default() };
        close(&Ledger::of(&facts).with(&order).with(&closing)).held_back
    };
    let first = hold_back(&[(a, up, b, up)], &[(a, up)], &[]);
    assert_eq!(first, [(b, up, a, up)]);
    let second = hold_back(&[(b, up, c, up)], &[], &first);
    assert!(second.contains(&(c, up, b, up)));
    assert_eq!(hold_back(&[(a, up, b, up)], &[], &[]), []);
}

#[test]
fn what_a_part_of_the_record_leaves_unknown_is_not_written() {
    check(
        "
        mode(RefreshOnly). filtered(). output_action(unknown, Update). config_unknown(unknown). output_action(known, Update).
        ",
        expect![[r#"
            written_last(known).
        "#]],
    );
    check(
        "
        mode(RefreshOnly). output_action(unknown, Update). config_unknown(unknown).
        ",
        expect![[r#"
            judges_all().
            written_last(unknown).
        "#]],
    );
}

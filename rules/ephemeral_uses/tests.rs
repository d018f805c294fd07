//! What `ephemeral_uses` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = find(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn what_is_lent_travels_through_values_and_ends_at_objects() {
    check(
        "
        ephemeral_resource(token). object(token). object(app). object(web).
        reads(local, token). reads(app, local). reads(web, app).
        ",
        expect![[r#"
            travels_to(token, app).
            travels_to(token, local).
            kept_until(token, app).
        "#]],
    );
}

#[test]
fn whatever_may_draw_on_it_keeps_it_open() {
    check(
        "
        ephemeral_resource(token). object(token). object(app). object(db). ephemeral_resource(all). collection(all).
        may_read(app, token). member(token, all). reads(x, all). object(x).
        serves(prov, db). reads(prov, token).
        ",
        expect![[r#"
            travels_to(token, app).
            travels_to(token, db).
            travels_to(token, all).
            travels_to(token, x).
            travels_to(token, prov).
            kept_until(token, app).
            kept_until(token, db).
            kept_until(token, x).
        "#]],
    );
}

#[test]
fn what_another_was_opened_with_is_kept_as_long_as_that() {
    check(
        "
        ephemeral_resource(a). object(a). ephemeral_resource(b). object(b). reads(b, a). object(app). reads(app, b).
        ",
        expect![[r#"
            travels_to(a, b).
            travels_to(a, app).
            travels_to(b, app).
            kept_until(a, b).
            kept_until(a, app).
            kept_until(b, app).
        "#]],
    );
}

#[test]
fn what_is_evaluated_last_keeps_it_to_the_end() {
    check(
        "
        ephemeral_resource(token). object(token). reads(check, token). evaluated_last(check). reads(y, check).
        ",
        expect![[r#"
            travels_to(token, check).
            kept_to_end(token, check).
        "#]],
    );
}

#[test]
fn each_step_of_a_user_keeps_it() {
    check(
        "
        ephemeral_resource(token). object(token). object(app). reads(app, token). step(app, Down). step(app, Up). step(other, Up).
        ",
        expect![[r#"
            travels_to(token, app).
            kept_until(token, app).
            kept_for_step(token, app, Down).
            kept_for_step(token, app, Up).
        "#]],
    );
}

#[test]
fn in_a_destroy_run_it_is_open_until_what_its_provider_destroys_is_done() {
    check(
        "
        mode(Destroy). ephemeral_resource(token). object(token). object(app). waits_for(aws, token). serves(aws, app).
        step(app, Down).
        ",
        expect![[r#"
            travels_to(token, app).
            travels_to(token, aws).
            kept_until(token, app).
            kept_for_step(token, app, Down).
        "#]],
    );
    check(
        "mode(Normal). ephemeral_resource(token). object(token). object(app). waits_for(app, token).",
        expect![[""]],
    );
}

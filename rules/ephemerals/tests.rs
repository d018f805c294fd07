//! What `ephemerals` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = lend(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn what_is_carried_out_opens_what_it_uses_through_values() {
    check(
        "
        ephemeral(token). managed(app). managed(db). data(image).
        reads(app, local). reads(local, token). reads(db, app). reads(image, token).
        action(app, Update, Plain). action(db, NoOp, Plain).
        ",
        expect![[r#"
            used_by(token, local).
            used_by(local, app).
            opened(token).
            carries(token).
            carries(local).
        "#]],
    );
}

#[test]
fn what_waits_for_an_ephemeral_resource_uses_it() {
    check(
        "ephemeral(token). managed(app). waits_for(app, token). action(app, Update, Plain).",
        expect![[r#"
            used_by(token, app).
            opened(token).
            carries(token).
        "#]],
    );
}

#[test]
fn what_stays_as_it_is_opens_nothing() {
    check(
        "ephemeral(token). managed(app). reads(app, token). action(app, NoOp, Plain).",
        expect![""],
    );
    check(
        "ephemeral(token). managed(app). reads(app, token). action(app, Drop, Plain).",
        expect![""],
    );
}

#[test]
fn a_step_without_an_action_counts() {
    check(
        "ephemeral(token). managed(app). reads(app, token). checked_again(app).",
        expect![[r#"
            used_by(token, app).
            opened(token).
            carries(token).
        "#]],
    );
}

#[test]
fn outputs_and_checks_are_evaluated_at_the_end_but_not_in_a_destroy_run() {
    check(
        "mode(Normal). ephemeral(token). reads(check, token). evaluated_last(check).",
        expect![[r#"
            used_by(token, check).
            opened(token).
            carries(token).
            carries(check).
        "#]],
    );
    check(
        "mode(Destroy). ephemeral(token). reads(check, token). evaluated_last(check).",
        expect![""],
    );
}

#[test]
fn a_provider_opens_what_its_configuration_uses() {
    check(
        "
        ephemeral(token). managed(app). reads(vault, key). ephemeral(key).
        serves(aws, app). reads(aws, token). serves(vault, token).
        action(app, Delete, Plain).
        ",
        expect![[r#"
            used_by(token, aws).
            used_by(vault, token).
            used_by(key, vault).
            used_by(aws, app).
            opened(token).
            opened(key).
            carries(token).
            carries(vault).
            carries(key).
            carries(aws).
        "#]],
    );
}

#[test]
fn what_an_object_is_made_from_is_no_use_of_its_own_ephemerals() {
    check(
        "
        ephemeral(token). managed(app). managed(db). data(image).
        reads(app, db). reads(db, token). reads(app, image). reads(image, token).
        action(app, Update, Plain).
        ",
        expect![[r#"
            used_by(db, app).
            used_by(image, app).
        "#]],
    );
}

#[test]
fn what_is_left_out_is_not_opened() {
    let facts = "ephemeral(token). managed(app). reads(app, token). action(app, Create, Plain).";
    let nothing = || {
        expect![[r#"
        used_by(token, app).
    "#]]
    };
    check(&format!("{facts} excluded(token)."), nothing());
    check(&format!("{facts} untargeted(token)."), nothing());
}

#[test]
fn without_ephemeral_resources_nothing_is_concluded() {
    check("managed(app). reads(app, db). managed(db). action(app, Create, Plain).", expect![""]);
}

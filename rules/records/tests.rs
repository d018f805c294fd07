//! What `records` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = record(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn an_object_is_made_from_objects_through_values() {
    check(
        "managed(app). managed(db). data(image). reads(app, local). reads(app, image). reads(local, db).",
        expect![[r#"
            made_from(app, image).
            made_from(local, db).
            made_through(app, image).
            made_through(app, local).
        "#]],
    );
}

#[test]
fn all_of_a_resource_is_named_as_one() {
    check(
        "managed(app). collection(all). reads(app, all). reads(all, one). managed(one).",
        expect![[r#"
            made_from(app, all).
            made_from(all, one).
        "#]],
    );
}

#[test]
fn what_is_known_late_is_named_too() {
    check(
        "managed(app). pending(block). late(one, block). reads(app, block). reads(app, one).",
        expect![[r#"
            made_from(app, block).
            made_from(app, one).
            made_through(app, block).
            made_through(app, one).
        "#]],
    );
}

#[test]
fn what_is_ephemeral_leaves_nothing_behind() {
    check(
        "
        managed(app). managed(db). ephemeral_resource(token). reads(app, token). reads(token, db).
        ephemeral_resource(all). collection(all). reads(app, all). ephemeral_resource(block). pending(block). reads(app, block).
        ephemeral_resource(one). late(one, block). reads(app, one).
        ",
        expect![[r#"
            made_from(token, db).
            made_through(app, token).
            made_through(app, all).
            made_through(app, block).
            made_through(app, one).
        "#]],
    );
}

#[test]
fn data_is_named_and_what_is_behind_it_as_well() {
    check(
        "
        managed(app). managed(db). data(one). reads(app, all). collection(all). reads(all, one). reads(one, db).
        pending(block). late(two, block). managed(key). reads(app, block). reads(app, two). data(two). reads(block, key).
        ",
        expect![[r#"
            made_from(app, all).
            made_from(app, block).
            made_from(app, two).
            made_from(one, db).
            made_from(all, one).
            made_from(block, key).
            made_through(app, all).
            made_through(app, block).
            made_through(app, two).
            made_through(all, one).
        "#]],
    );
}

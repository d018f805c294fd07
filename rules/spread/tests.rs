//! What `spread` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = spread(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn what_a_block_with_create_before_destroy_reads_follows_it() {
    check(
        "
        asks_cbd(app). block_reads(app, local). block_reads(local, db). block_reads(dns, app).
        of(app_1, app). declared(app_1). of(db_1, db). declared(db_1). of(dns_1, dns). declared(dns_1).
        ",
        expect![[r#"
            cbd_block(app).
            cbd_block(local).
            cbd_block(db).
            cbd(app_1).
            cbd(db_1).
        "#]],
    );
}

#[test]
fn a_block_without_instances_forces_nothing() {
    check(
        "asks_cbd(app). block_reads(app, db). of(db_1, db). declared(db_1). of(app_1, app).",
        expect![[""]],
    );
}

#[test]
fn a_block_whose_keys_are_not_known_yet_forces() {
    check(
        "asks_cbd(app). block_reads(app, db). of(p, app). pending(p). of(db_1, db).",
        expect![[r#"
            cbd_block(app).
            cbd_block(db).
            cbd(p).
            cbd(db_1).
        "#]],
    );
}

#[test]
fn what_the_state_says_counts_only_for_what_goes() {
    check(
        "state_cbd(gone). to_be_destroyed(gone). state_cbd(here). needs(gone, base).",
        expect![[r#"
        cbd(gone).
        cbd(base).
    "#]],
    );
}

#[test]
fn a_deposed_object_goes_after_its_users_and_so_does_what_it_rests_on() {
    check(
        "deposed_of(o, i). needs(o, base). needs(base, ground).",
        expect![[r#"
        cbd(o).
        cbd(base).
        cbd(ground).
    "#]],
    );
}

#[test]
fn what_a_late_object_rests_on_is_destroyed_after_it_should_it_go() {
    check(
        "late(x, p). state_cbd(x). needs(x, m).",
        expect![[r#"
            cbd(m).
        "#]],
    );
}

#[test]
fn what_a_request_wants_made_first_takes_what_it_reads_along_and_no_siblings() {
    check(
        "
        first_hit(a_1, f). of(a_1, a). of(a_2, a). declared(a_1). declared(a_2).
        reads(a_1, local). reads(local, b_1). of(b_1, b). of(b_2, b).
        ",
        expect![[r#"
            cbd(a_1).
            cbd(b_1).
        "#]],
    );
}

#[test]
fn what_a_request_wants_made_first_takes_what_it_may_read_along() {
    check(
        "first_hit(p, f). of(p, a). pending(p). may_read(p, b_1). of(b_1, b).",
        expect![[r#"
            cbd(p).
            cbd(b_1).
        "#]],
    );
}

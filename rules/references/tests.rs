//! What `references` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let mut base = Facts::default();
    text::read(facts, &mut names, &mut [&mut base]);
    base.knot.extend(knot(&base.block_reads));
    conclusions.assert_eq(&text::print(&resolve(&base), &names));
}

#[test]
fn a_block_reads_what_its_values_read() {
    check(
        "
        value_block(l). value_block(m).
        block_reads(app, l). block_reads(l, m). block_reads(m, db). block_reads(app, net). block_reads(db, net).
        ",
        expect![[r#"
            nearest(app, db).
            nearest(app, net).
            nearest(db, net).
        "#]],
    );
}

#[test]
fn blocks_in_a_circle_are_found_and_those_beside_it_are_not() {
    check(
        "
        value_block(l). block_reads(a, l). block_reads(l, b). block_reads(b, a).
        block_reads(x, a). block_reads(b, y). knot(a). knot(l). knot(b).
        ",
        expect![[r#"
            nearest(a, b).
            nearest(b, a).
            nearest(b, y).
            nearest(x, a).
            circular(l).
            circular(a).
            circular(b).
        "#]],
    );
    check(
        "block_reads(a, a). knot(a).",
        expect![[r#"
        nearest(a, a).
        circular(a).
    "#]],
    );
}

#[test]
fn what_lies_between_two_circles_is_on_none() {
    check(
        "
        block_reads(a, a). block_reads(a, between). block_reads(between, b). block_reads(b, b).
        knot(a). knot(between). knot(b).
        ",
        expect![[r#"
            nearest(a, a).
            nearest(a, between).
            nearest(between, b).
            nearest(b, b).
            circular(a).
            circular(b).
        "#]],
    );
}

#[test]
fn a_graph_without_circles_leaves_no_knot() {
    let long: Vec<(u32, u32)> = (1..100_000).map(|it| (it, it - 1)).collect();
    assert_eq!(knot(&long), []);
    let ring: Vec<(u32, u32)> =
        (0..1_000).map(|it| (it, (it + 1) % 1_000)).chain([(5_000, 3), (4, 6_000)]).collect();
    assert_eq!(knot(&ring).len(), 1_000);
}

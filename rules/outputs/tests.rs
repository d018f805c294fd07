//! What `outputs` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = split(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

/// An output of two objects, through a local.
const MIXED: &str = "
    filtered().
    output(o). value(o). value(l). reads(o, l). reads(l, a). reads(o, b). managed(a). managed(b).
";

#[track_caller]
fn check_mixed(more: &str, conclusions: Expect) {
    check(&format!("{MIXED}{more}"), conclusions);
}

#[test]
fn an_unfiltered_run_recalculates_every_output() {
    check(
        "output(o). value(o). output(constant). value(constant). reads(o, a). managed(a).",
        expect![[r#"
            recalculated(o).
            recalculated(constant).
        "#]],
    );
}

#[test]
fn one_object_that_takes_part_is_enough_when_the_others_are_excluded() {
    check_mixed(
        "selected(a). excluded(b).",
        expect![[r#"
            recalculated(o).
            missing(o).
            asked_for(l).
        "#]],
    );
    check(
        "filtered(). output(o). value(o). value(l). reads(o, l). reads(l, a). managed(a). selected(a).",
        expect![[r#"
            recalculated(o).
            asked_for(l).
        "#]],
    );
}

#[test]
fn a_target_must_want_everything_the_output_relies_on() {
    check_mixed(
        "targeting(). selected(b). untargeted(a).",
        expect![[r#"
        keeps_value(o, SomethingMissing).
    "#]],
    );
    check_mixed(
        "targeting(). selected(a). selected(b).",
        expect![[r#"
            recalculated(o).
            asked_for(l).
        "#]],
    );
}

#[test]
fn as_opentofu_an_excluded_object_keeps_the_output() {
    check_mixed(
        "outputs_need_all(). selected(b). excluded(a).",
        expect![[r#"
            missing(o).
            missing(l).
            keeps_value(o, SomethingMissing).
        "#]],
    );
}

#[test]
fn an_output_of_left_out_objects_only_keeps_its_value() {
    check_mixed(
        "excluded(a). excluded(b).",
        expect![[r#"
            missing(o).
            missing(l).
            keeps_value(o, NothingTaken).
        "#]],
    );
}

#[test]
fn an_output_of_no_object_keeps_its_value() {
    check(
        "filtered(). output(o). value(o).",
        expect![[r#"
        keeps_value(o, NothingTaken).
    "#]],
    );
}

#[test]
fn outputs_are_not_looked_at_through_objects() {
    check(
        "filtered(). output(o). value(o). reads(o, b). managed(b). excluded(b). reads(b, a). managed(a). selected(a).",
        expect![[r#"
            missing(o).
            keeps_value(o, NothingTaken).
        "#]],
    );
}

#[test]
fn data_counts_only_as_opentofu_does() {
    check(
        "filtered(). output(o). value(o). reads(o, d). data(d). selected(d).",
        expect![[r#"
        keeps_value(o, NothingTaken).
    "#]],
    );
    check(
        "outputs_need_all(). filtered(). output(o). value(o). reads(o, d). data(d). selected(d).",
        expect![[r#"
            recalculated(o).
        "#]],
    );
}

#[test]
fn keys_of_which_every_object_is_excluded_keep_the_output() {
    check(
        "
    filtered(). output(o). value(o). reads(o, keys). repetition(keys). keyed_by(a, keys). keyed_by(b, keys). managed(a). managed(b). excluded(a). excluded(b).",
        expect![[r#"
        missing(o).
        keeps_value(o, NothingTaken).
    "#]],
    );
    check(
        "
    filtered(). output(o). value(o). reads(o, keys). repetition(keys). keyed_by(a, keys). keyed_by(b, keys). managed(a). managed(b). excluded(a). selected(b).",
        expect![[r#"
        recalculated(o).
        missing(o).
        asked_for(keys).
    "#]],
    );
    check(
        "
    filtered(). output(o). value(o). reads(o, keys). repetition(keys). keyed_by(a, keys). keyed_by(b, keys). managed(a). managed(b). targeting(). want(keys). excluded(a). excluded(b).",
        expect![[r#"
        missing(o).
        keeps_value(o, NothingTaken).
    "#]],
    );
}

#[test]
fn keys_that_are_not_known_yet_count_unless_an_instance_may_be_left_out() {
    check(
        "filtered(). output(o). value(o). reads(o, keys). repetition(keys). keyed_by(p, keys). pending(p). selected(p).",
        expect![[r#"
        recalculated(o).
        asked_for(keys).
    "#]],
    );
    check(
        "filtered(). output(o). value(o). reads(o, keys). repetition(keys). keyed_by(p, keys). pending(p). selected(p). doubtful(p).",
        expect![[r#"
        undecided_output(o).
        keeps_value(o, NothingTaken).
    "#]],
    );
    // They turned out to be none.
    check(
        "filtered(). output(o). value(o). reads(o, keys). repetition(keys). keyed_by(p, keys). pending(p). selected(p). doubtful(p). expanded(p).",
        expect![[r#"
        recalculated(o).
        asked_for(keys).
    "#]],
    );
}

#[test]
fn an_output_of_an_object_that_may_be_left_out_is_decided_later() {
    check(
        "filtered(). output(o). value(o). reads(o, a). managed(a). open(a).",
        expect![[r#"
        undecided_output(o).
        keeps_value(o, NothingTaken).
    "#]],
    );
}

#[test]
fn the_number_of_instances_relies_on_the_resource() {
    check(
        "filtered(). output(o). value(o). reads(o, keys). repetition(keys).",
        expect![[r#"
            recalculated(o).
            asked_for(keys).
        "#]],
    );
    check(
        "filtered(). output(o). value(o). reads(o, keys). repetition(keys). out(keys).",
        expect![[r#"
            missing(o).
            keeps_value(o, NothingTaken).
        "#]],
    );
    check(
        "filtered(). targeting(). output(o). value(o). reads(o, keys). repetition(keys). want(keys).",
        expect![[r#"
            recalculated(o).
            asked_for(keys).
        "#]],
    );
    check(
        "filtered(). targeting(). output(o). value(o). reads(o, keys). repetition(keys). reads(o, a). managed(a). selected(a).",
        expect![[r#"
            keeps_value(o, SomethingMissing).
        "#]],
    );
}

#[test]
fn a_collection_relies_on_its_instances_and_not_on_their_keys() {
    check(
        "
        filtered().
        output(o). value(o). reads(o, all). value(all). collection(all). reads(all, keys). repetition(keys).
        reads(all, a). object(a). managed(a). excluded(a).
        ",
        expect![[r#"
            missing(o).
            missing(all).
            keeps_value(o, NothingTaken).
        "#]],
    );
}

#[test]
fn a_collection_without_instances_relies_on_its_keys() {
    check(
        "
        filtered(). targeting(). want(keys).
        output(o). value(o). reads(o, all). value(all). collection(all). reads(all, keys). repetition(keys).
        ",
        expect![[r#"
            recalculated(o).
            asked_for(keys).
            asked_for(all).
        "#]],
    );
    check(
        "
        filtered(). targeting().
        output(o). value(o). reads(o, all). value(all). collection(all). reads(all, keys). repetition(keys).
        ",
        expect![[r#"
            keeps_value(o, NothingTaken).
        "#]],
    );
}

#[test]
fn a_target_counts_data_sources_too() {
    check(
        "
        filtered(). targeting(). output(o). value(o). reads(o, d). data(d). object(d). selected(d).
        ",
        expect![[r#"
            recalculated(o).
        "#]],
    );
    check(
        "
        filtered(). targeting(). output(o). value(o). reads(o, d). data(d). object(d). untargeted(d).
        reads(o, a). managed(a). object(a). selected(a).
        ",
        expect![[r#"
            keeps_value(o, SomethingMissing).
        "#]],
    );
}

#[test]
fn a_filtered_destroy_run_changes_no_output() {
    check_mixed(
        "mode(Destroy). selected(a). selected(b).",
        expect![[r#"
        keeps_value(o, Destroying).
    "#]],
    );
}

#[test]
fn an_output_without_a_value_in_this_run_keeps_the_one_it_has() {
    check_mixed(
        "selected(a). excluded(b). lacks_value(o).",
        expect![[r#"
            missing(o).
            keeps_value(o, NoValue).
        "#]],
    );
    check_mixed(
        "selected(a). selected(b). lacks_value(o).",
        expect![[r#"
            keeps_value(o, NoValue).
        "#]],
    );
    check(
        "output(o). value(o). lacks_value(o).",
        expect![[r#"
            recalculated(o).
        "#]],
    );
}

#[test]
fn what_a_recalculated_output_reads_is_evaluated() {
    check(
        "
        filtered(). output(o). value(o). reads(o, l). value(l). reads(l, a). managed(a). selected(a). reads(l, k). reads(a, m).
        reads(o, d). data(d). output(kept). value(kept). reads(kept, z). value(z).
        ",
        expect![[r#"
            recalculated(o).
            asked_for(l).
            asked_for(k).
            keeps_value(kept, NothingTaken).
        "#]],
    );
}

#[test]
fn an_output_is_evaluated_where_it_is_due_and_nothing_it_reads_failed() {
    check(
        "mode(Normal). output(a). declared(a). output(gone). output(b). declared(b). blocked(b, x).",
        expect![[r#"
            recalculated(a).
            recalculated(gone).
            recalculated(b).
            evaluated_output(a).
        "#]],
    );
    check(
        "mode(Destroy). output(a). declared(a).",
        expect![[r#"
        recalculated(a).
    "#]],
    );
    check(
        "
        mode(Normal). filtered(). output(o). declared(o). value(o). reads(o, a). managed(a). selected(a).
        output(p). declared(p). value(p). reads(p, a). blocked(p, a). output(q). declared(q). value(q). lacks_value(q).
        reads(q, a).
        ",
        expect![[r#"
            recalculated(o).
            recalculated(p).
            evaluated_output(o).
            evaluated_output(q).
            keeps_value(q, NoValue).
        "#]],
    );
}

#[test]
fn keys_that_are_not_known_leave_an_output_open() {
    check(
        "filtered(). output(o). value(o). value(l). reads(o, l). value(all). collection(all). reads(l, all). reads(all, p).
         pending(p). object(p). selected(p).",
        expect![[r#"
            undecided_output(o).
            keeps_value(o, NothingTaken).
        "#]],
    );
    check(
        "filtered(). output(o). value(o). value(l). reads(o, l). value(all). collection(all). reads(l, all). reads(all, p).
         pending(p). object(p). selected(p).
         expanded(p).",
        expect![[r#"
            keeps_value(o, NothingTaken).
        "#]],
    );
    check(
        "filtered(). output(o). value(o). value(l). reads(o, l). value(all). collection(all). reads(l, all). reads(all, p).
         pending(p). object(p). selected(p).
         reads(o, a). managed(a). selected(a).",
        expect![[r#"
            recalculated(o).
            asked_for(l).
            asked_for(all).
            asked_for(p).
        "#]],
    );
    check(
        "filtered(). output(o). value(o). value(l). reads(o, l). value(all). collection(all). reads(l, all). reads(all, p).
         pending(p). object(p). selected(p).
         reads(o, a). managed(a). selected(a). targeting().",
        expect![[r#"
            recalculated(o).
            undecided_output(o).
            asked_for(l).
            asked_for(all).
            asked_for(p).
        "#]],
    );
    check(
        "filtered(). output(o). value(o). value(l). reads(o, l). value(all). collection(all). reads(l, all). reads(all, p).
         pending(p). object(p). selected(p).
         reads(o, a). managed(a). selected(a). outputs_need_all().",
        expect![[r#"
            recalculated(o).
            undecided_output(o).
            asked_for(l).
            asked_for(all).
            asked_for(p).
        "#]],
    );
}

//! What `lint` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, _) = text::read_ledger(facts, &mut names);
    conclusions.assert_eq(&text::print(&find(&Ledger::of(&base)), &names));
}

#[test]
fn a_lint_rule_is_enabled_by_its_own_identifier_or_a_group_and_excluded_by_either() {
    check(
        "
        lint_covers(All, UnusedDeps). lint_covers(All, QuotedRef). lint_covers(All, IneffEq). lint_covers(All, ImpureFunc).
        lint_covers(Mistake, QuotedRef). lint_covers(Mistake, IneffEq). lint_covers(ImpureFunc, ImpureFunc).
        lint_includes(All). lint_includes(Mistake). lint_excludes(Mistake). lint_excludes(Confusing).
        ",
        expect![[r#"
            lint_enabled(UnusedDeps).
            lint_enabled(ImpureFunc).
        "#]],
    );
    check(
        "
        lint_covers(NoConverge, ImpureFunc). lint_covers(UnusedDeps, UnusedDeps). lint_includes(NoConverge).
        lint_includes(UnusedDeps). lint_excludes(NoConverge).
        ",
        expect![[r#"
            lint_enabled(UnusedDeps).
        "#]],
    );
}

#[test]
fn a_dependency_is_unused_where_its_block_refers_to_all_of_the_same() {
    check(
        "
        lint_includes(UnusedDeps). lint_covers(UnusedDeps, UnusedDeps).
        names_dependency(s1, app, db). mentions_block(app, m1, db). mentions_block(app, m2, db).
        names_dependency(s2, app, queue). mentions_block(web, m3, queue).
        ",
        expect![[r#"
            lint_enabled(UnusedDeps).
            unused_dependency(s1, m1).
            unused_dependency(s1, m2).
        "#]],
    );
    check(
        "
        lint_includes(QuotedRef). lint_covers(QuotedRef, QuotedRef).
        names_dependency(s1, app, db). mentions_block(app, m1, db).
        ",
        expect![[r#"
            lint_enabled(QuotedRef).
        "#]],
    );
}

#[test]
fn a_dependency_that_defers_a_read_is_used() {
    check(
        "
        lint_includes(UnusedDeps). lint_covers(UnusedDeps, UnusedDeps).
        deferrable(read). resource_block(db).
        names_dependency(s1, read, db). mentions_block(read, m1, db).
        names_dependency(s2, read, value). mentions_block(read, m2, value).
        names_dependency(s3, app, value). mentions_block(app, m3, value).
        names_module(s4, read, call). mentions_block(read, m4, call).
        ",
        expect![[r#"
            lint_enabled(UnusedDeps).
            unused_dependency(s1, m1).
            unused_dependency(s3, m3).
        "#]],
    );
}

#[test]
fn all_outputs_of_a_module_imply_one_of_them() {
    check(
        "
        lint_includes(UnusedDeps). lint_covers(UnusedDeps, UnusedDeps).
        names_dependency(s1, app, id). output_of_call(id, net). mentions_block(app, m1, net).
        names_dependency(s2, app, name). output_of_call(name, other). mentions_block(app, m2, id).
        deferrable(read). names_dependency(s3, read, id). mentions_block(read, m3, net).
        ",
        expect![[r#"
            lint_enabled(UnusedDeps).
            unused_dependency(s1, m1).
            unused_dependency(s1, m2).
        "#]],
    );
}

#[test]
fn all_outputs_of_a_module_imply_the_module_where_everything_inside_is_behind_them() {
    check(
        "
        lint_includes(UnusedDeps). lint_covers(UnusedDeps, UnusedDeps).
        names_module(s1, app, net). mentions_block(app, m1, net). output_of_call(id, net).
        inside_call(id, net). inside_call(subnet, net). inside_call(vpc, net).
        block_reads(id, subnet). block_reads(subnet, vpc).
        names_module(s2, app, logs). mentions_block(app, m2, logs). output_of_call(name, logs).
        inside_call(name, logs). inside_call(rotation, logs). block_reads(rotation, name).
        ",
        expect![[r#"
            lint_enabled(UnusedDeps).
            unused_dependency(s1, m1).
        "#]],
    );
}

#[test]
fn an_input_implies_a_dependency_of_the_call_where_everything_inside_takes_it() {
    check(
        "
        lint_includes(UnusedDeps). lint_covers(UnusedDeps, UnusedDeps).
        names_dependency(s1, call, db). input_of_call(v, call). mentions_block(v, m1, db).
        inside_call(one, call). inside_call(two, call). inside_call(out, call).
        block_reads(one, local). block_reads(local, v). block_reads(two, v). block_reads(out, two).
        names_dependency(s2, other, db). input_of_call(w, other). mentions_block(w, m2, db).
        inside_call(three, other). inside_call(four, other). block_reads(three, w).
        ",
        expect![[r#"
            lint_enabled(UnusedDeps).
            unused_dependency(s1, m1).
        "#]],
    );
}

#[test]
fn a_string_is_a_quoted_reference_unless_its_own_block_is_meant() {
    check(
        "
        lint_includes(QuotedRef). lint_covers(QuotedRef, QuotedRef).
        spells_block(s1, region). spelled_in(s1, app). spells_block(s2, app). spelled_in(s2, app). spells_block(s3, app).
        ",
        expect![[r#"
            lint_enabled(QuotedRef).
            quoted_reference(s1, region).
            quoted_reference(s3, app).
        "#]],
    );
}

#[test]
fn a_comparison_is_ineffective_where_both_types_are_known_and_differ() {
    check(
        "
        lint_includes(IneffEq). lint_covers(IneffEq, IneffEq).
        type_kind(strings, List). wholly_typed(strings). type_kind(numbers, List). wholly_typed(numbers).
        type_kind(any, List). type_kind(empty, Tuple). wholly_typed(empty).
        compares_types(s1, strings, empty). compares_types(s2, strings, numbers). compares_types(s3, strings, strings).
        compares_types(s4, any, strings). compares_types(s5, any, empty). compares_types(s6, unknown, empty).
        ",
        expect![[r#"
            lint_enabled(IneffEq).
            ineffective_comparison(s1).
            ineffective_comparison(s2).
            ineffective_comparison(s5).
        "#]],
    );
}

#[test]
fn an_impure_call_changes_the_arguments_that_are_computed_from_it() {
    check(
        "
        lint_includes(ImpureFunc). lint_covers(ImpureFunc, ImpureFunc).
        calls_impure(own, s1). managed_argument(own).
        calls_impure(stamp, s2). computed_from(tags, stamp). computed_from(argument, tags). managed_argument(argument).
        calls_impure(item, s3). item_of(item, object). computed_from(whole, object). managed_argument(whole).
        item_of(fine, object). computed_from(other, fine). managed_argument(other).
        calls_impure(ignored, s4). managed_argument(ignored). ignored_argument(ignored).
        calls_impure(output, s5). computed_from(output, stamp).
        ",
        expect![[r#"
            lint_enabled(ImpureFunc).
            impure_argument(s1, own).
            impure_argument(s2, argument).
            impure_argument(s3, whole).
        "#]],
    );
}

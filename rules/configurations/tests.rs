//! What `configurations` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = configure(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn a_module_inherits_the_default_and_never_an_alias() {
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, DEFAULT, g). provider_block(ROOT, aws, west, w).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, child). object(n). of(n, b). declared(n).
        asks_provider(c, aws, west, NONE). in_module(c, child). object(m). of(m, c). declared(m).
        provider_node(p, g, NONE).
        ",
        expect![[r#"
            config_of(b, g, NONE).
            unconfigured(c).
        "#]],
    );
}

#[test]
fn a_module_of_its_own_configuration_inherits_none() {
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, DEFAULT, g). provider_block(child, aws, DEFAULT, h).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, child).
        ",
        expect![[r#"
            config_of(b, h, NONE).
        "#]],
    );
}

#[test]
fn what_the_call_passes_comes_before_what_the_module_says_and_inherits() {
    check(
        "
        module_parent(child, ROOT). module_parent(grandchild, child).
        provider_block(ROOT, aws, DEFAULT, g). provider_block(ROOT, aws, west, w). provider_block(child, aws, DEFAULT, empty).
        passes(child, aws, DEFAULT, aws, west, NONE).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, grandchild).
        ",
        expect![[r#"
            config_of(b, w, NONE).
        "#]],
    );
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, DEFAULT, g). provider_block(ROOT, aws, west, w).
        passes(child, aws, DEFAULT, aws, west, NONE). asks_provider(b, aws, DEFAULT, NONE). in_module(b, child).
        ",
        expect![[r#"
            config_of(b, w, NONE).
        "#]],
    );
}

#[test]
fn the_provider_counts_and_not_what_a_module_calls_it() {
    check(
        "
        module_parent(child, ROOT). module_parent(grandchild, child).
        implied_config(theirs, i). implied_config(ours, j). provider_block(child, ours, DEFAULT, h).
        asks_provider(b, theirs, DEFAULT, NONE). in_module(b, grandchild).
        asks_provider(c, ours, DEFAULT, NONE). in_module(c, grandchild).
        ",
        expect![[r#"
            config_of(b, i, NONE).
            config_of(c, h, NONE).
        "#]],
    );
}

#[test]
fn each_key_expression_of_a_call_chooses_for_itself() {
    check(
        "
        module_parent(child, ROOT). module_parent(grandchild, child). provider_block(ROOT, aws, by_region, g).
        passes(child, aws, DEFAULT, aws, by_region, x). passes(child, aws, other, aws, by_region, y).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, grandchild).
        asks_provider(c, aws, other, NONE). in_module(c, child).
        asks_provider(d, aws, by_region, z). in_module(d, ROOT).
        ",
        expect![[r#"
            config_of(b, g, x).
            config_of(c, g, y).
            config_of(d, g, z).
            keyed(b).
            keyed(c).
            keyed(d).
        "#]],
    );
}

#[test]
fn an_alias_that_nobody_configures_or_passes_serves_nothing() {
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, west, w). implied_config(aws, i).
        passes(child, aws, DEFAULT, aws, east, NONE).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, child).
        asks_provider(c, aws, east, NONE). in_module(c, ROOT).
        ",
        expect![[r#"
            unconfigured(b).
            unconfigured(c).
        "#]],
    );
}

#[test]
fn a_configuration_that_repeats_without_an_alias_serves_nothing_without_a_key() {
    check(
        "
        module_parent(child, ROOT). module_parent(called, child). provider_block(ROOT, aws, KEYS, g).
        passes(called, aws, DEFAULT, aws, DEFAULT, NONE).
        asks_provider(a, aws, DEFAULT, NONE). in_module(a, ROOT).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, child).
        asks_provider(c, aws, DEFAULT, NONE). in_module(c, called).
        asks_provider(d, aws, KEYS, x). in_module(d, ROOT).
        ",
        expect![[r#"
            config_of(d, g, x).
            keyed(d).
            lacks_key(a, g).
            lacks_key(b, g).
            unconfigured(a).
            unconfigured(b).
            unconfigured(c).
        "#]],
    );
    check(
        "
        module_parent(child, ROOT). module_parent(given, ROOT). provider_block(ROOT, aws, DEFAULT, g).
        provider_block(child, aws, KEYS, h). provider_block(given, aws, KEYS, i).
        passes(given, aws, DEFAULT, aws, DEFAULT, NONE).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, child).
        asks_provider(c, aws, DEFAULT, NONE). in_module(c, given).
        ",
        expect![[r#"
            config_of(c, g, NONE).
            lacks_key(b, h).
            unconfigured(b).
        "#]],
    );
}

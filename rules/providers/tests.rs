//! What `providers` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let mut base = Facts::default();
    text::read(facts, &mut names, &mut [&mut base]);
    conclusions.assert_eq(&text::print(&serve(&base), &names));
}

#[test]
fn a_root_resource_is_served_by_the_block_of_its_module() {
    check(
        "
        provider_block(ROOT, aws, DEFAULT, g). provider_node(p, g, NONE). implied_config(aws, implied).
        asks_provider(b, aws, DEFAULT, Plain). in_module(b, ROOT). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, NONE).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            chosen(n, g, NONE).
            serves(p, n).
        "#]],
    );
}

#[test]
fn a_provider_that_nobody_configures_is_implied_in_the_root() {
    check(
        "
        implied_config(null, g). provider_node(p, g, NONE). module_parent(child, ROOT).
        asks_provider(b, null, DEFAULT, Plain). in_module(b, child). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, NONE).
            chosen(n, g, NONE).
            serves(p, n).
        "#]],
    );
}

#[test]
fn a_module_inherits_the_default_and_never_an_alias() {
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, DEFAULT, g). provider_block(ROOT, aws, west, w).
        asks_provider(b, aws, DEFAULT, Plain). in_module(b, child). object(n). of(n, b). declared(n).
        asks_provider(c, aws, west, Plain). in_module(c, child). object(m). of(m, c). declared(m).
        provider_node(p, g, NONE).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, NONE).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            provider_alias(ROOT, aws, west, w, NONE).
            chosen(n, g, NONE).
            serves(p, n).
            lacks(m, Configuration).
        "#]],
    );
}

#[test]
fn a_module_of_its_own_configuration_inherits_none() {
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, DEFAULT, g). provider_block(child, aws, DEFAULT, h).
        asks_provider(b, aws, DEFAULT, Plain). in_module(b, child).
        ",
        expect![[r#"
            config_of(b, h, ROOT).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            provider_alias(child, aws, DEFAULT, h, NONE).
        "#]],
    );
}

#[test]
fn what_the_call_passes_comes_before_what_the_module_says_and_inherits() {
    check(
        "
        module_parent(child, ROOT). module_parent(grandchild, child).
        provider_block(ROOT, aws, DEFAULT, g). provider_block(ROOT, aws, west, w). provider_block(child, aws, DEFAULT, empty).
        passes(child, aws, DEFAULT, aws, west, Plain).
        asks_provider(b, aws, DEFAULT, Plain). in_module(b, grandchild).
        ",
        expect![[r#"
            config_of(b, w, ROOT).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            provider_alias(ROOT, aws, west, w, NONE).
            provider_alias(child, aws, DEFAULT, empty, NONE).
        "#]],
    );
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, DEFAULT, g). provider_block(ROOT, aws, west, w).
        passes(child, aws, DEFAULT, aws, west, Plain). asks_provider(b, aws, DEFAULT, Plain). in_module(b, child).
        ",
        expect![[r#"
            config_of(b, w, ROOT).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            provider_alias(ROOT, aws, west, w, NONE).
        "#]],
    );
}

#[test]
fn a_keyed_pass_carries_its_key_on_to_grandchildren() {
    check(
        "
        module_parent(child, ROOT). module_parent(grandchild, child). provider_block(ROOT, aws, by_region, g).
        passes(child, aws, DEFAULT, aws, by_region, Keyed). provider_node(p, g, east). provider_node(q, g, west).
        repeats_provider(g). each_key(g, east). each_key(g, west).
        asks_provider(b, aws, DEFAULT, Plain). in_module(b, grandchild). object(n). of(n, b). declared(n). provider_key(n, west).
        ",
        expect![[r#"
            config_of(b, g, child).
            provider_instance(p, g, east).
            provider_instance(q, g, west).
            provider_alias(ROOT, aws, by_region, g, east).
            provider_alias(ROOT, aws, by_region, g, west).
            keyed(b).
            chosen(n, g, west).
            serves(q, n).
        "#]],
    );
}

#[test]
fn a_key_that_is_asked_for_and_not_known_serves_nothing_yet() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). provider_node(p, g, east). repeats_provider(g). each_key(g, east).
        asks_provider(b, aws, by_region, Keyed). in_module(b, ROOT). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
            keyed(b).
        "#]],
    );
}

#[test]
fn an_instance_no_longer_declared_is_served_by_the_recorded_key_of_the_same_configuration() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). provider_node(p, g, east). provider_block(ROOT, aws, DEFAULT, d).
        repeats_provider(g). each_key(g, east).
        asks_provider(b, aws, by_region, Keyed). in_module(b, ROOT).
        object(n). of(n, b). recorded_provider(n, g, east).
        object(m). of(m, b). recorded_provider(m, d, NONE).
        object(k). of(k, b). provider_key(k, east). recorded_provider(k, g, west).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, DEFAULT, d, NONE).
            provider_alias(ROOT, aws, by_region, g, east).
            keyed(b).
            chosen(n, g, east).
            chosen(k, g, east).
            serves(p, n).
            serves(p, k).
            lacks(m, Fallback).
        "#]],
    );
}

#[test]
fn without_a_block_the_state_names_the_provider() {
    check(
        "
        provider_block(ROOT, aws, DEFAULT, g). provider_node(p, g, NONE).
        object(n). block_gone(n). recorded_provider(n, g, NONE).
        object(m). block_gone(m).
        object(k). block_gone(k). recorded_provider(k, g, east).
        ",
        expect![[r#"
            provider_instance(p, g, NONE).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            chosen(n, g, NONE).
            chosen(k, g, east).
            serves(p, n).
            lacks(m, Configuration).
            lacks(k, Instance).
        "#]],
    );
}

#[test]
fn a_configuration_that_repeats_has_an_instance_for_each_of_its_keys_and_none_without() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). repeats_provider(g). each_key(g, east).
        provider_node(p, g, east). provider_node(q, g, west). provider_node(r, g, NONE).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
        "#]],
    );
}

#[test]
fn without_an_alias_each_key_is_one() {
    check(
        "
        provider_block(ROOT, aws, KEYS, g). repeats_provider(g). each_key(g, k_us). key_names(k_us, us). provider_node(p, g, k_us).
        provider_block(ROOT, aws, west, h). provider_node(q, h, NONE).
        ",
        expect![[r#"
            provider_instance(p, g, k_us).
            provider_instance(q, h, NONE).
            provider_alias(ROOT, aws, us, g, k_us).
            provider_alias(ROOT, aws, west, h, NONE).
        "#]],
    );
}

#[test]
fn when_everything_goes_the_recorded_key_counts_unless_another_configuration_made_it() {
    check(
        "
        mode(Destroy). provider_block(ROOT, aws, by_region, g). repeats_provider(g). each_key(g, east). each_key(g, west).
        provider_node(p, g, east). provider_node(q, g, west). asks_provider(b, aws, by_region, Keyed). in_module(b, ROOT).
        object(n). of(n, b). declared(n). provider_key(n, west). recorded_provider(n, g, east).
        object(m). of(m, b). declared(m). provider_key(m, west). recorded_provider(m, old, NONE).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, east).
            provider_instance(q, g, west).
            provider_alias(ROOT, aws, by_region, g, east).
            provider_alias(ROOT, aws, by_region, g, west).
            keyed(b).
            chosen(n, g, east).
            chosen(m, g, west).
            serves(p, n).
            serves(q, m).
        "#]],
    );
}

#[test]
fn what_waits_for_the_keys_of_its_block_is_not_given_a_provider_before() {
    check(
        "
        mode(Normal). provider_block(ROOT, aws, by_region, g). repeats_provider(g). each_key(g, east). provider_node(p, g, east).
        asks_provider(b, aws, by_region, Keyed). in_module(b, ROOT). object(n). of(n, b). late(n, pending). recorded_provider(n, g, east).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
            keyed(b).
        "#]],
    );
    check(
        "
        mode(Normal). provider_block(ROOT, aws, by_region, g). repeats_provider(g). each_key(g, east). provider_node(p, g, east).
        asks_provider(b, aws, by_region, Keyed). in_module(b, ROOT). object(n). of(n, b). late(n, pending). recorded_provider(n, g, east).
        expanded(pending).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
            keyed(b).
            chosen(n, g, east).
            serves(p, n).
        "#]],
    );
}

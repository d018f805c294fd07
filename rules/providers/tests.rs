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
        provider_block(ROOT, aws, DEFAULT, g). provider_instance(p, g, NONE). implied_config(aws, implied).
        asks_provider(b, aws, DEFAULT, Plain). in_module(b, ROOT). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            chosen(n, g, NONE).
            serves(p, n).
        "#]],
    );
}

#[test]
fn a_provider_that_nobody_configures_is_implied_in_the_root() {
    check(
        "
        implied_config(null, g). provider_instance(p, g, NONE). module_parent(child, ROOT).
        asks_provider(b, null, DEFAULT, Plain). in_module(b, child). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
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
        provider_instance(p, g, NONE).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
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
        "#]],
    );
    check(
        "
        module_parent(child, ROOT). provider_block(ROOT, aws, DEFAULT, g). provider_block(ROOT, aws, west, w).
        passes(child, aws, DEFAULT, aws, west, Plain). asks_provider(b, aws, DEFAULT, Plain). in_module(b, child).
        ",
        expect![[r#"
            config_of(b, w, ROOT).
        "#]],
    );
}

#[test]
fn a_keyed_pass_carries_its_key_on_to_grandchildren() {
    check(
        "
        module_parent(child, ROOT). module_parent(grandchild, child). provider_block(ROOT, aws, by_region, g).
        passes(child, aws, DEFAULT, aws, by_region, Keyed). provider_instance(p, g, east). provider_instance(q, g, west).
        asks_provider(b, aws, DEFAULT, Plain). in_module(b, grandchild). object(n). of(n, b). declared(n). provider_key(n, west).
        ",
        expect![[r#"
            config_of(b, g, child).
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
        provider_block(ROOT, aws, by_region, g). provider_instance(p, g, east).
        asks_provider(b, aws, by_region, Keyed). in_module(b, ROOT). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
            keyed(b).
        "#]],
    );
}

#[test]
fn an_instance_no_longer_declared_is_served_by_the_recorded_key_of_the_same_configuration() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). provider_instance(p, g, east). provider_block(ROOT, aws, DEFAULT, d).
        asks_provider(b, aws, by_region, Keyed). in_module(b, ROOT).
        object(n). of(n, b). recorded_provider(n, g, east).
        object(m). of(m, b). recorded_provider(m, d, NONE).
        object(k). of(k, b). provider_key(k, east). recorded_provider(k, g, west).
        ",
        expect![[r#"
            config_of(b, g, ROOT).
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
        provider_block(ROOT, aws, DEFAULT, g). provider_instance(p, g, NONE).
        object(n). block_gone(n). recorded_provider(n, g, NONE).
        object(m). block_gone(m).
        object(k). block_gone(k). recorded_provider(k, g, east).
        ",
        expect![[r#"
            chosen(n, g, NONE).
            chosen(k, g, east).
            serves(p, n).
            lacks(m, Configuration).
            lacks(k, Instance).
        "#]],
    );
}

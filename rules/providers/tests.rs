//! What `providers` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::configurations::configure;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, mut earlier) = text::read_ledger(facts, &mut names);
    earlier.configurations = configure(&Ledger::of(&base));
    let found = serve(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn a_root_resource_is_served_by_the_block_of_its_module() {
    check(
        "
        provider_block(ROOT, aws, DEFAULT, g). provider_node(p, g, NONE). implied_config(aws, implied).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, ROOT). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
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
        asks_provider(b, null, DEFAULT, NONE). in_module(b, child). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            provider_instance(p, g, NONE).
            chosen(n, g, NONE).
            serves(p, n).
        "#]],
    );
}

#[test]
fn a_keyed_pass_carries_its_key_on_to_grandchildren() {
    check(
        "
        module_parent(child, ROOT). module_parent(grandchild, child). provider_block(ROOT, aws, by_region, g).
        passes(child, aws, DEFAULT, aws, by_region, x). provider_node(p, g, east). provider_node(q, g, west).
        repeats_provider(g). each_key(g, east). each_key(g, west).
        asks_provider(b, aws, DEFAULT, NONE). in_module(b, grandchild). object(n). of(n, b). declared(n). provider_key(n, west).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_instance(q, g, west).
            provider_alias(ROOT, aws, by_region, g, east).
            provider_alias(ROOT, aws, by_region, g, west).
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
        asks_provider(b, aws, by_region, x). in_module(b, ROOT). object(n). of(n, b). declared(n).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
            awaits(n).
        "#]],
    );
}

#[test]
fn an_instance_no_longer_declared_is_served_by_the_recorded_key_of_the_same_configuration() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). provider_node(p, g, east). provider_block(ROOT, aws, DEFAULT, d).
        repeats_provider(g). each_key(g, east).
        asks_provider(b, aws, by_region, x). in_module(b, ROOT).
        object(n). of(n, b). recorded_provider(n, ROOT, aws, by_region, east).
        object(m). of(m, b). recorded_provider(m, ROOT, aws, DEFAULT, NONE).
        object(k). of(k, b). provider_key(k, east). recorded_provider(k, ROOT, aws, by_region, west).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, DEFAULT, d, NONE).
            provider_alias(ROOT, aws, by_region, g, east).
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
        object(n). block_gone(n). recorded_provider(n, ROOT, aws, DEFAULT, NONE).
        object(m). block_gone(m).
        object(k). block_gone(k). recorded_provider(k, ROOT, aws, DEFAULT, east).
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
        provider_node(p, g, east). provider_node(q, g, west). asks_provider(b, aws, by_region, x). in_module(b, ROOT).
        object(n). of(n, b). declared(n). provider_key(n, west). recorded_provider(n, ROOT, aws, by_region, east).
        object(m). of(m, b). declared(m). provider_key(m, west). recorded_provider(m, ROOT, aws, old, NONE).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_instance(q, g, west).
            provider_alias(ROOT, aws, by_region, g, east).
            provider_alias(ROOT, aws, by_region, g, west).
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
        asks_provider(b, aws, by_region, x). in_module(b, ROOT). object(n). of(n, b). late(n, pending). recorded_provider(n, ROOT, aws, by_region, east).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
            awaits(n).
        "#]],
    );
    check(
        "
        mode(Normal). provider_block(ROOT, aws, by_region, g). repeats_provider(g). each_key(g, east). provider_node(p, g, east).
        asks_provider(b, aws, by_region, x). in_module(b, ROOT). object(n). of(n, b). late(n, pending). recorded_provider(n, ROOT, aws, by_region, east).
        expanded(pending).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
            chosen(n, g, east).
            serves(p, n).
        "#]],
    );
}

#[test]
fn a_pending_block_is_served_by_nothing_and_lacks_nothing() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). provider_node(p, g, east). repeats_provider(g). each_key(g, east).
        asks_provider(b, aws, by_region, x). in_module(b, ROOT). object(p0). of(p0, b). pending(p0).
        ",
        expect![[r#"
            provider_instance(p, g, east).
            provider_alias(ROOT, aws, by_region, g, east).
            awaits(p0).
        "#]],
    );
}

#[test]
fn a_data_source_that_is_declared_no_more_or_goes_with_everything_needs_no_provider() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). repeats_provider(g). asks_provider(b, aws, by_region, x). in_module(b, ROOT).
        object(n). data(n). of(n, b). recorded_provider(n, ROOT, aws, by_region, east).
        object(m). data(m). block_gone(m). recorded_provider(m, ROOT, aws, gone, NONE).
        object(k). data(k). of(k, b). declared(k). provider_key(k, east).
        ",
        expect![[r#"
            chosen(n, g, east).
            chosen(k, g, east).
            lacks(k, Instance).
        "#]],
    );
    check(
        "
        mode(Destroy). provider_block(ROOT, aws, by_region, g). repeats_provider(g). asks_provider(b, aws, by_region, x).
        in_module(b, ROOT). object(k). data(k). of(k, b). declared(k). provider_key(k, east).
        ",
        expect![[r#"
            chosen(k, g, east).
        "#]],
    );
}

#[test]
fn an_alias_that_became_a_key_and_a_key_that_became_an_alias_are_found_again() {
    check(
        "
        provider_block(ROOT, aws, KEYS, g). repeats_provider(g). each_key(g, k_us). key_names(k_us, us). provider_node(p, g, k_us).
        object(n). block_gone(n). recorded_provider(n, ROOT, aws, us, NONE).
        provider_block(child, aws, eu, h). key_names(k_eu, eu). provider_node(q, h, NONE).
        object(m). block_gone(m). recorded_provider(m, child, aws, KEYS, k_eu).
        ",
        expect![[r#"
            provider_instance(p, g, k_us).
            provider_instance(q, h, NONE).
            provider_alias(ROOT, aws, us, g, k_us).
            provider_alias(child, aws, eu, h, NONE).
            chosen(n, g, k_us).
            chosen(m, h, NONE).
            serves(p, n).
            serves(q, m).
        "#]],
    );
}

#[test]
fn a_key_that_is_gone_still_serves_what_goes_where_the_key_is_all_that_the_arguments_need() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). repeats_provider(g). key_suffices(g, east). provider_node(p, g, east).
        asks_provider(b, aws, by_region, x). in_module(b, ROOT).
        object(n). of(n, b). recorded_provider(n, ROOT, aws, by_region, east).
        object(m). of(m, b). declared(m). provider_key(m, east). recorded_provider(m, ROOT, aws, by_region, east).
        ",
        expect![[r#"
            former_instance(p, g, east).
            chosen(n, g, east).
            chosen(m, g, east).
            serves(p, n).
            lacks(m, Instance).
        "#]],
    );
    check(
        "
        provider_block(ROOT, aws, by_region, g). repeats_provider(g). provider_node(p, g, east).
        asks_provider(b, aws, by_region, x). in_module(b, ROOT).
        object(n). of(n, b). recorded_provider(n, ROOT, aws, by_region, east).
        ",
        expect![[r#"
            chosen(n, g, east).
            lacks(n, Instance).
        "#]],
    );
}

#[test]
fn a_block_that_asks_by_a_literal_for_a_key_that_is_not_there_misses_it() {
    check(
        "
        provider_block(ROOT, aws, by_region, g). repeats_provider(g). each_key(g, east). in_module(b, ROOT). in_module(c, ROOT).
        asks_provider(b, aws, by_region, x). literal_key(x, west). asks_provider(c, aws, by_region, y). literal_key(y, east).
        ",
        expect![[r#"
            provider_alias(ROOT, aws, by_region, g, east).
            misses(b, g, west).
        "#]],
    );
}

#[test]
fn what_is_only_read_is_read_through_the_instance_whose_key_is_gone() {
    check(
        "
        mode(RefreshOnly). provider_block(ROOT, aws, by_region, g). repeats_provider(g). key_suffices(g, east). provider_node(p, g, east).
        asks_provider(b, aws, by_region, x). in_module(b, ROOT).
        object(n). of(n, b). declared(n). provider_key(n, east). recorded_provider(n, ROOT, aws, by_region, east).
        object(m). of(m, b). declared(m). provider_key(m, east).
        ",
        expect![[r#"
            former_instance(p, g, east).
            chosen(n, g, east).
            chosen(m, g, east).
            serves(p, n).
            lacks(m, Instance).
        "#]],
    );
    check(
        "
        mode(Normal). precedes_destroy(). provider_block(ROOT, aws, by_region, g). repeats_provider(g). key_suffices(g, east). provider_node(p, g, east).
        asks_provider(b, aws, by_region, x). in_module(b, ROOT).
        object(n). of(n, b). declared(n). provider_key(n, east). recorded_provider(n, ROOT, aws, by_region, east).
        object(m). of(m, b). declared(m). provider_key(m, east).
        ",
        expect![[r#"
            former_instance(p, g, east).
            chosen(n, g, east).
            chosen(m, g, east).
            serves(p, n).
            lacks(m, Instance).
        "#]],
    );
}

#[test]
fn what_nobody_configures_lacks_a_configuration() {
    check(
        "
        provider_block(ROOT, aws, west, w). asks_provider(b, aws, east, NONE). in_module(b, ROOT).
        object(n). of(n, b). declared(n). object(m). of(m, b). data(m). declared(m).
        ",
        expect![[r#"
            provider_alias(ROOT, aws, west, w, NONE).
            lacks(n, Configuration).
            lacks(m, Configuration).
        "#]],
    );
}

#[test]
fn the_configuration_that_nobody_wrote_counts_as_long_as_nobody_writes_one() {
    check(
        "
        implied_config(aws, i). provider_node(p, i, NONE). object(n). block_gone(n). recorded_provider(n, ROOT, aws, DEFAULT, NONE).
        ",
        expect![[r#"
            provider_instance(p, i, NONE).
            chosen(n, i, NONE).
            serves(p, n).
        "#]],
    );
    check(
        "
        implied_config(aws, i). provider_node(p, i, NONE). provider_block(ROOT, aws, DEFAULT, g). provider_node(q, g, NONE).
        object(n). block_gone(n). recorded_provider(n, ROOT, aws, DEFAULT, NONE).
        provider_block(child, aws, KEYS, h). key_names(k, east). provider_block(child, aws, east, e).
        object(m). block_gone(m). recorded_provider(m, child, aws, east, NONE).
        ",
        expect![[r#"
            provider_instance(p, i, NONE).
            provider_instance(q, g, NONE).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            provider_alias(child, aws, KEYS, h, NONE).
            provider_alias(child, aws, east, e, NONE).
            chosen(n, g, NONE).
            chosen(m, e, NONE).
            serves(q, n).
            lacks(m, Instance).
        "#]],
    );
}

#[test]
fn in_a_destroy_run_what_a_provider_that_destroys_reads_is_found() {
    check(
        "
        mode(Destroy). provider_block(ROOT, aws, DEFAULT, g). provider_node(p, g, NONE). asks_provider(b, aws, DEFAULT, NONE).
        in_module(b, ROOT). object(n). of(n, b). declared(n). in_state(n). ephemeral(token).
        waits_for(p, local). waits_for(local, token). waits_for(other, elsewhere).
        ",
        expect![[r#"
            provider_instance(p, g, NONE).
            provider_alias(ROOT, aws, DEFAULT, g, NONE).
            chosen(n, g, NONE).
            serves(p, n).
            read_by_provider(token).
            read_by_provider(local).
        "#]],
    );
}

#[test]
fn a_forgotten_object_needs_no_provider() {
    check(
        "
        mode(Normal). object(n). block_gone(n). removed_says(n, Forget). object(m). block_gone(m). removed_says(m, Destroy).
        ",
        expect![[r#"
            lacks(m, Configuration).
        "#]],
    );
}

//! `terraform_data`, `null_resource` and `null_data_source`.

use expect_test::{Expect, expect};
use serde_json::{Value as Json, json};

use super::support::{Probe, json_of, print};

#[track_caller]
fn check_plan(kind: &str, prior: Json, config: Json, answer: Expect) {
    let provider = if kind == "terraform_data" { "terraform" } else { "null" };
    answer.assert_eq(&Probe::new(provider).plan(kind, prior, config));
}

#[test]
fn new_data_has_an_id_and_an_output_after_apply() {
    check_plan(
        "terraform_data",
        Json::Null,
        json!({"input": {"a": 1}}),
        expect![[r#"
        id = ?
        input = {a = 1}
        output = ?
    "#]],
    );
}

#[test]
fn new_data_without_input_has_no_output() {
    check_plan(
        "terraform_data",
        Json::Null,
        json!({}),
        expect![[r#"
        id = ?
    "#]],
    );
}

#[test]
fn changed_input_keeps_the_id() {
    check_plan(
        "terraform_data",
        json!({"id": "i", "input": "a", "output": "a"}),
        json!({"input": "b"}),
        expect![[r#"
        id = "i"
        input = "b"
        output = ?
    "#]],
    );
}

#[test]
fn removed_input_makes_the_output_known_after_apply_only() {
    let prior = json!({"id": "i", "input": "a", "output": "a"});
    check_plan(
        "terraform_data",
        prior.clone(),
        json!({}),
        expect![[r#"
        id = "i"
        output = ?
    "#]],
    );
    expect![[r#"
        id = "i"
    "#]]
    .assert_eq(&Probe::new("terraform").apply("terraform_data", prior, json!({})).1);
}

#[test]
fn changed_triggers_replace_also_when_only_the_type_differs() {
    check_plan(
        "terraform_data",
        json!({"id": "i", "triggers_replace": 1}),
        json!({"triggers_replace": "1"}),
        expect![[r#"
        id = ?
        triggers_replace = "1"
        replaced for triggers_replace
    "#]],
    );
}

#[test]
fn unchanged_data_plans_nothing() {
    check_plan(
        "terraform_data",
        json!({"id": "i", "input": "a", "output": "a"}),
        json!({"input": "a"}),
        expect![[r#"
        id = "i"
        input = "a"
        output = "a"
    "#]],
    );
}

#[test]
fn created_data_has_its_input_as_output() {
    let object = Probe::new("terraform")
        .create("terraform_data", json!({"input": ["a", true], "triggers_replace": 3}));
    assert_eq!(object.get("output"), object.get("input"));
    assert_eq!(object.get("id").and_then(|it| it.as_str()).map(str::len), Some(36));
}

#[test]
fn what_the_provider_decides_must_not_be_set() {
    expect![[r#"
        error: "id" attribute is read-only
        error: "output" attribute is read-only
    "#]]
    .assert_eq(
        &Probe::new("terraform").validate("terraform_data", json!({"id": "x", "output": 1})),
    );
    expect![[r#"
        error: Invalid Configuration for Read-Only Attribute (id)
    "#]]
    .assert_eq(&Probe::new("null").validate("null_resource", json!({"id": "x"})));
}

#[test]
fn any_id_can_be_imported_as_data() {
    expect![[r#"
        id = "anything"
    "#]]
    .assert_eq(&Probe::new("terraform").import("terraform_data", "anything"));
}

#[test]
fn stored_data_carries_its_types() {
    let stored = json!({
        "id": "i",
        "input": {"value": {"a": "1", "b": [true]}, "type": ["object", {"a": "number", "b": ["list", "bool"]}]},
        "output": {"value": null, "type": "string"},
        "gone": 1,
    });
    expect![[r#"
        id = "i"
        input = {a = 1, b = [true]}
    "#]]
    .assert_eq(&Probe::new("terraform").upgrade("terraform_data", 0, stored));
}

#[test]
fn a_null_resource_becomes_data_with_an_object_of_triggers() {
    let probe = Probe::new("terraform");
    expect![[r#"
        id = "42"
        triggers_replace = {a = "1", b = null}
    "#]]
    .assert_eq(&probe.take_over(
        "null_resource",
        json!({"id": "42", "triggers": {"a": "1", "b": null}}),
        "terraform_data",
    ));
    expect![[r#"
        error: unsupported move: random_id -> terraform_data; only move from null_resource to terraform_data is supported
    "#]]
    .assert_eq(&probe.take_over("random_id", json!({}), "terraform_data"));
    expect![[r#"
        error: Unable to Move Resource State
    "#]]
    .assert_eq(&Probe::new("null").take_over("terraform_data", json!({}), "null_resource"));
}

#[test]
fn triggers_replace_unless_only_nulls_come() {
    let replaced = |prior: Json, config: Json| {
        let answer = Probe::new("null").plan(
            "null_resource",
            json!({"id": "1", "triggers": prior}),
            json!({"triggers": config}),
        );
        assert!(answer.contains("id = \"1\""), "{answer}");
        answer.contains("replaced for triggers")
    };
    let cases = [
        (json!(null), json!({}), false),
        (json!(null), json!({"a": null}), false),
        (json!(null), json!({"a": "1"}), true),
        (json!({"a": "1"}), json!({"a": "1", "b": null}), false),
        (json!({"a": "1"}), json!({"a": "1", "b": "2"}), true),
        (json!({"a": "1"}), json!({"a": "2"}), true),
        (json!({"a": "1", "b": null}), json!({"a": "1"}), true),
        (json!({"a": "1"}), json!(null), true),
        (json!({"a": "1"}), json!({"a": "?"}), true),
        (json!({"a": "1"}), json!("?"), true),
    ];
    for (prior, config, answer) in cases {
        assert_eq!(replaced(prior.clone(), config.clone()), answer, "{prior} becomes {config}");
    }
}

#[test]
fn a_new_null_resource_gets_a_positive_number_as_id() {
    let probe = Probe::new("null");
    let object = probe.create("null_resource", json!({"triggers": {"a": "1"}}));
    let id: i64 =
        object.get("id").and_then(|it| it.as_str()).expect("an id").parse().expect("a number");
    assert!(id >= 0);
    assert_eq!(probe.read("null_resource", &object), print(&object));
    expect![[r#"
        gone
    "#]]
    .assert_eq(&probe.apply("null_resource", json_of(&object), Json::Null).1);
}

#[test]
fn a_null_resource_cannot_be_imported_and_knows_one_version() {
    let probe = Probe::new("null");
    expect![[r#"
        error: Resource Import Not Implemented
    "#]]
    .assert_eq(&probe.import("null_resource", "1"));
    expect![[r#"
        error: Unable to Upgrade Resource State
    "#]]
    .assert_eq(&probe.upgrade("null_resource", 1, json!({"id": "1"})));
    expect![[r#"
        error: Unable to Read Previously Saved State for UpgradeResourceState
    "#]]
    .assert_eq(&probe.upgrade("null_resource", 0, json!({"id": "1", "triggers": 5})));
}

#[test]
fn the_null_data_source_returns_its_inputs_and_is_deprecated() {
    let probe = Probe::new("null");
    let answer = probe.read_data("null_data_source", json!({"inputs": {"a": "1"}}));
    let lines: Vec<&str> = answer.lines().filter(|it| !it.starts_with("random")).collect();
    assert_eq!(
        lines,
        [
            "has_computed_default = \"default\"",
            "id = \"static\"",
            "inputs = {a = \"1\"}",
            "outputs = {a = \"1\"}"
        ]
    );
    expect![[r#"
        warning: Deprecated
    "#]]
    .assert_eq(&probe.validate_data("null_data_source", json!({})));
}

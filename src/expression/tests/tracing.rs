//! Where values come from, and what the scope is told.

use super::super::go_through;
use super::support::{Known, check, parse, shown_in, value_of};
use crate::value::{Type, Value};

#[test]
fn a_value_knows_what_it_was_read_from() {
    check(
        r#"
        var.one + var.two => 3, read from 1 2
        {a = var.one, b = var.two}.a => 1, read from 1
        [var.one, var.two][1] => 2, read from 2
        [for x in [var.one, var.two] : x][0] => 1, read from 1
        upper("x${var.one}") => "X1", read from 1
        "#,
    );
}

#[test]
fn a_conditional_reads_its_condition_and_the_branch_taken() {
    check(
        r#"
        var.three ? var.one : var.two => 1, read from 1 3
        var.three || var.one == 1 => true, read from 3
        var.later_bool ? var.one : var.two => unknown number, not null, from 1, to 2, read from 1 2
        "#,
    );
}

#[test]
fn what_fails_in_try_counts_as_read() {
    check(
        r#"
        try([][var.one], var.two) => 2, read from 1 2
        can(var.one + 1) => true, read from 1
        "#,
    );
}

fn with_resources() -> Known {
    let mut scope = Known::usual();
    let object = |id: &str| Value::object([("id".into(), Value::string(id))]);
    scope.resources = vec![
        ("test_thing.a", Value::tuple(vec![object("a0"), object("a1")])),
        ("test_thing.a[0]", object("a0")),
        ("test_thing.a[1]", object("a1")),
        ("test_thing.b[\"x\"]", object("bx")),
    ];
    scope
}

/// What a scope is told while an expression is only gone through.
fn told_on_the_way(text: &str) -> Vec<String> {
    let scope = with_resources();
    let (expression, _) = parse(text).expect("valid");
    let problems = go_through(&expression, &scope, &[]);
    assert!(!problems.has_errors(), "{problems:?}");
    scope.told.into_inner()
}

#[test]
fn what_is_gone_through_reads_what_its_value_would_read() {
    let (a, b) = ("test_thing.a[0].id", "test_thing.a[1].id");
    let bx = "test_thing.b[\"x\"].id";
    for text in [
        format!("[{a}, {{ k = {b} }}]"),
        format!("\"${{{a}}}-${{upper({b})}}\""),
        format!("!({a} == {b}) && {bx} == {a}"),
        format!("length(jsonencode([{a}, {b}, {bx}]))"),
        format!("var.one == 1 ? {a} : {b}"),
        format!("var.three ? (var.two == 1 ? {a} : {b}) : {bx}"),
        format!("var.later_bool ? {a} : {b}"),
        format!("var.three || {a} == {b}"),
        format!("try([][5], [{a}, {b}][var.one])"),
        format!("{{ ({a}) = {b}, (\"${{{bx}}}\") = 1 }}"),
        format!("[for it in [{a}, {b}] : upper(\"${{it}}${{{bx}}}\") if it != {b}]"),
        format!("[for it in var.later_list : {a}]"),
        "test_thing.a[*].id".to_owned(),
        "test_thing.a[var.later_number].id".to_owned(),
        "length(test_thing.a)".to_owned(),
        format!("\"%{{ if {a} == \"a0\" }}${{{b}}}%{{ else }}${{{bx}}}%{{ endif }}\""),
        format!("[[{a}], [{b}]][length({bx}) - 1][0]"),
        format!("merge({{ x = {a} }}, {{ y = {b} }}).x"),
        format!("max([length({a}), length({b})]...)"),
    ] {
        assert_eq!(told_on_the_way(&text), told(&text), "{text}");
    }
}

#[test]
fn functions_are_not_called_for_what_is_read() {
    assert_eq!(
        told_on_the_way("file(test_thing.a[0].id)"),
        [r#"test_thing.a[0] and 1 steps: "a0""#]
    );
    assert!(told_on_the_way("jsondecode(\"{\")").is_empty());
}

fn told(text: &str) -> Vec<String> {
    let scope = with_resources();
    let (_, problems) = value_of(text, &scope);
    assert!(!problems.has_errors(), "{problems:?}");
    scope.told.into_inner()
}

#[test]
fn an_instance_is_asked_for_by_its_key() {
    assert_eq!(told("test_thing.a[1].id"), [r#"test_thing.a[1] and 1 steps: "a1""#]);
    assert_eq!(told(r#"test_thing.b["x"].id"#), [r#"test_thing.b["x"] and 1 steps: "bx""#]);
    assert_eq!(told("test_thing.a[var.one].id"), [r#"test_thing.a[1] and 1 steps: "a1""#]);
}

#[test]
fn an_unknown_key_and_a_splat_ask_for_the_whole() {
    assert_eq!(
        told("test_thing.a[var.later_number].id"),
        ["test_thing.a and 2 steps: (known after apply)"]
    );
    assert_eq!(told("test_thing.a[*].id").len(), 1);
    assert!(told("test_thing.a[*].id")[0].starts_with("test_thing.a and 0 steps"));
}

#[test]
fn nothing_is_told_of_a_branch_that_is_not_taken() {
    assert_eq!(
        told("true ? test_thing.a[0].id : test_thing.a[1].id"),
        [r#"test_thing.a[0] and 1 steps: "a0""#]
    );
}

#[test]
fn what_an_unknown_keeps_from_being_evaluated_is_told() {
    let left_out = told("[for x in var.later_list : test_thing.a[0].id]");
    assert_eq!(left_out, ["left out, with x: test_thing.a"]);
    let left_out = told("try(var.later, test_thing.a[0].id)");
    assert_eq!(left_out, ["left out, with : test_thing.a"]);
}

#[test]
fn a_key_with_marks_marks_the_instance() {
    let scope = with_resources();
    assert_eq!(shown_in("test_thing.a[var.one].id", &scope), "\"a1\", read from 1");
    assert_eq!(Type::STRING, value_of("test_thing.a[var.one].id", &scope).0.ty());
}

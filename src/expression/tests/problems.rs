//! What is said when something is wrong.

use expect_test::{Expect, expect};

use super::super::*;
use super::support::{Known, parse, shown, shown_subject};
use crate::diagnostic::Diagnostic;

#[track_caller]
fn check(text: &str, wanted: Expect) {
    wanted.assert_eq(&shown(text));
}

#[test]
fn a_problem_names_the_values_that_the_expression_refers_to() {
    check(
        r#"var.list[var.number]"#,
        expect![[r#"
            unknown any
            Invalid index: The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection.
              var.list is list of string with 2 elements
              var.number is 5"#]],
    );
    check(
        r#"var.object.missing + var.later_number"#,
        expect![[r#"
            unknown number
            Unsupported attribute: This object does not have an attribute named "missing".
              var.object is object with 2 attributes"#]],
    );
}

#[test]
fn a_problem_never_names_a_sensitive_value() {
    check(
        r#"[var.secret, 1][var.number]"#,
        expect![[r#"
            unknown any
            Invalid index: The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection.
              var.number is 5"#]],
    );
}

#[test]
fn several_problems_are_told_at_once() {
    check(
        r#"[1 + [], {}.a, upper(null)]"#,
        expect![[r#"
            [
              (known after apply),
              (known after apply),
              (known after apply),
            ]
            Invalid operand: Unsuitable value for right operand: number required, but have tuple.
            Unsupported attribute: This object does not have an attribute named "a".
            Invalid function argument: Invalid value for "str" parameter: argument must not be null."#]],
    );
}

#[test]
fn a_reference_to_what_does_not_exist_is_told_whatever_catches_it() {
    check(
        r#"try(var.nowhere, 1)"#,
        expect![[r#"
            unknown any
            Reference to undeclared thing: There is no variable nowhere."#]],
    );
    check(
        r#"true ? 1 : foo"#,
        expect![[r#"
            1
            Invalid reference: A reference to a resource type must be followed by at least one attribute access, specifying the resource name."#]],
    );
}

#[test]
fn calls_are_checked() {
    check(
        r#"uper("a")"#,
        expect![[r#"
            unknown any
            Call to unknown function: There is no function named "uper". Did you mean "upper"?"#]],
    );
    check(
        r#"a::b()"#,
        expect![[r#"
            unknown any
            Unknown function namespace: Function "a::b" does not exist within a valid namespace (provider,core)"#]],
    );
    check(
        r#"upper()"#,
        expect![[r#"
            unknown any
            Not enough function arguments: Function "upper" expects 1 argument(s). Missing value for "str"."#]],
    );
    check(
        r#"max("a")"#,
        expect![[r#"
            unknown any
            Invalid function argument: Invalid value for "numbers" parameter: a number is required."#]],
    );
}

/// The places that problems underline.
fn underlined(text: &str) -> Vec<String> {
    let (expression, sources) = parse(text).expect("the text is an expression");
    let (_, problems) = evaluate(&expression, &Known::usual());
    let place = |it: &Diagnostic| {
        let span = it.subject.expect("a problem has a place");
        sources.get(span.file()).expect("the file is there").text().clone()
            [span.start() as usize..span.end() as usize]
            .to_owned()
    };
    problems.iter().map(place).collect()
}

#[test]
fn problems_underline_what_is_wrong() {
    assert_eq!(underlined("var.list[7]"), ["[7]"]);
    assert_eq!(underlined("var.object.x"), [".x"]);
    assert_eq!(underlined("1 + [2]"), ["[2]"]);
    assert_eq!(underlined("true ? 1 : []"), ["1 : []"]);
    assert_eq!(underlined("min()"), ["min("]);
    assert_eq!(underlined("upper([1])"), ["["]);
    assert_eq!(underlined("upper(\"a\", 1 + 1)"), ["1"]);
    assert_eq!(underlined("\"a${null}b\""), ["null"]);
}

fn references(text: &str) -> String {
    let (expression, _) = parse(text).expect("the text is an expression");
    let (found, problems) = references_of(&expression);
    let mut lines: Vec<String> = found
        .iter()
        .map(|it| format!("{} and {} steps", shown_subject(it.subject), it.rest.len()))
        .collect();
    lines.extend(problems.iter().map(ToString::to_string));
    lines.join("\n")
}

#[test]
fn references_are_found_without_evaluating() {
    expect![[r#"
        Variable("a") and 0 steps
        t.n and 2 steps
        data.t.n and 1 steps
        Local("x") and 0 steps
        Module("m") and 2 steps
        EachKey and 0 steps"#]]
    .assert_eq(&references(
        "[var.a, t.n[0].id, data.t.n.id, [for v in local.x : v], module.m[each.key].out]",
    ));
}

#[test]
fn references_that_cannot_be_are_refused() {
    expect![[r#"
        Invalid reference: A reference to a resource type must be followed by at least one attribute access, specifying the resource name.
        Invalid reference: The "data" object must be followed by two attribute names: the data source type and the resource name.
        Invalid reference: The "var" object cannot be accessed directly. Instead, access one of its attributes.
        Invalid "count" attribute: The "count" object does not have an attribute named "x". The only supported attribute is count.index, which is the index of each instance of a resource block that has the "count" argument set."#]]
    .assert_eq(&references("[foo, data.x, var, count.x]"));
}

#[test]
fn the_number_of_arguments_is_checked_before_any_of_them() {
    check(
        r#"upper(1 + [], null)"#,
        expect![[r#"
        unknown any
        Too many function arguments: Function "upper" expects only 1 argument(s)."#]],
    );
}

#[test]
fn all_arguments_are_checked() {
    check(
        r#"substr([], upper(null), {})"#,
        expect![[r#"
        unknown any
        Invalid function argument: Invalid value for "str" parameter: string required, but have tuple.
        Invalid function argument: Invalid value for "str" parameter: argument must not be null.
        Invalid function argument: Invalid value for "length" parameter: number required, but have object."#]],
    );
}

#[test]
fn what_is_deprecated_without_advice_is_told_in_one_sentence() {
    let told = |advice: &str| {
        let (source, advice) = ("a.b.old".into(), advice.into());
        let origin = crate::value::Deprecation { source, advice, is_remote: false };
        problems::deprecated(&Vec::new(), &origin, Span::default()).detail
    };
    assert_eq!(told(""), "This value is derived from a.b.old, which is deprecated.");
    assert_eq!(
        told("Use new."),
        "This value is derived from a.b.old, which is deprecated with the following message:\n\nUse new."
    );
}

#[test]
fn what_is_wrong_with_a_pattern_is_told_apart_from_the_part_that_it_is_about() {
    check(
        r#"replace("a", "/x in (/", "")"#,
        expect![[r#"
            unknown any
            Error in function call: Call to function "replace" failed: error parsing regexp: missing closing ): `x in (`."#]],
    );
}

#[test]
fn a_hash_of_a_file_that_is_not_there_says_so_briefly() {
    check(
        r#"filesha1("nope")"#,
        expect![[r#"
            unknown any
            Error in function call: Call to function "filesha1" failed: open nope: no such file or directory."#]],
    );
}

#[test]
fn values_that_would_fill_the_memory_are_refused() {
    for text in [
        r#"indent(1e9, "a\nb")"#,
        r#"join(format("%1048576s", ""), range(1000))"#,
        r#"replace(format("%1048576s", ""), " ", format("%1048576s", ""))"#,
        r#"replace(format("%1048576s", ""), "/ /", format("%1048576s", ""))"#,
        r#"replace(format("%1048576s", ""), "", format("%1048576s", ""))"#,
    ] {
        let told = shown(text);
        assert!(told.contains("the result would be longer than 256 MiB"), "{text}: {told}");
    }
    let told = shown("[for r in [range(1024)] : [for a in r : [for b in r : [for c in r : r]]]]");
    assert_eq!(told.matches("Value too large: ").count(), 1, "{told}");
    assert!(told.starts_with("unknown any\n") || told.contains("(known after apply)"), "{told}");
}

#[test]
fn arithmetic_never_becomes_infinite_or_zero_unnoticed() {
    for text in [
        "1e78000 * 1e78000",
        "1e-78000 * 1e-78000",
        "1e78000 / 1e-78000",
        "1e-78000 / 1e78000",
        "sum([1e78913, 9e78912])",
    ] {
        let told = shown(text);
        assert!(told.contains("too large or too small"), "{text}: {told}");
    }
    check("1e78000 - 1e78000", expect!["0"]);
    let told = shown("tonumber(\"1e2000000\")");
    assert!(told.contains("cannot convert"), "{told}");
}

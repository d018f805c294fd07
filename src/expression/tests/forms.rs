//! Known values of every form of expression.

use super::support::{check, shown};

#[test]
fn operators_convert_their_operands() {
    check(
        r#"
        1 + 2 * 3 => 7
        "10" + 5 => 15
        0.1 + 0.2 == 0.3 => true
        -7 % 3 => -1
        "1" == 1 => false
        tolist([1]) == [1] => false
        !var.secret => unknown bool Invalid operand: Unsuitable value for unary operand: a bool is required.
        "#,
    );
}

#[test]
fn the_deciding_side_of_a_logical_operator_makes_errors_of_the_other_disappear() {
    check(
        r#"
        [][0] || true => true
        false && [1][5] == 1 => false
        null && true => false
        null || true => true
        null || false => unknown bool Operation failed: Error during operation: argument must not be null.
        "#,
    );
}

#[test]
fn a_conditional_gives_one_type_and_drops_errors_of_the_other_branch() {
    check(
        r#"
        true ? 1 : [1][5] => 1
        true ? 1 : "a" => "1"
        true ? null : "a" => tostring(null)
        true ? 1 : false => unknown any Inconsistent conditional result types: The true and false result expressions must have consistent types. The 'true' value is number, but the 'false' value is bool.
        null ? 1 : 2 => unknown number Null condition: The condition value is null. Conditions must either be true or false.
        "#,
    );
}

#[test]
fn for_makes_tuples_objects_and_groups() {
    check(
        r#"
        [for i, v in ["a", "b"] : "${i}${v}" if v != "a"] => [ "1b", ]
        {for v in ["a", "b"] : v => upper(v)} => { "a" = "A" "b" = "B" }
        {for v in ["a", "b", "a"] : v => 1...} => { "a" = [ 1, 1, ] "b" = [ 1, ] }
        {for v in ["a", "a"] : v => 1} => { "a" = 1 } Duplicate object key: Two different items produced the key "a" in this 'for' expression. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key. v is "a"
        "#,
    );
}

#[test]
fn splats_take_lists_single_values_and_null() {
    check(
        r#"
        [{a = 1}, {a = 2}][*].a => [ 1, 2, ]
        {a = 1}[*].a => [ 1, ]
        null[*].a => []
        [{b = [{c = 1}]}][*].b[*].c => [ [ 1, ], ]
        "#,
    );
}

#[test]
fn templates_join_text() {
    check(
        r#"
        "a${1}b${true}" => "a1btrue"
        "${[1]}" => [ 1, ]
        "%{ for x in ["a", "b"] }${x},%{ endfor }" => "a,b,"
        "%{ if var.number > 3 }big%{ else }small%{ endif }" => "big"
        "x${null}" => "x" Invalid template interpolation value: The expression result is null. Cannot include a null value in a string template.
        "#,
    );
}

#[test]
fn sensitivity_travels_through_everything() {
    check(
        r#"
        "a${var.secret}" => "ahush", sensitive
        var.secret == "hush" => true, sensitive
        true ? "a" : var.secret => "a", sensitive
        {(var.secret) = 1} => { "hush" = 1 }, sensitive
        upper(var.secret) => "HUSH", sensitive
        length([var.secret]) => 1
        jsonencode([var.secret]) => "[\"hush\"]", sensitive
        nonsensitive(var.secret) => "hush"
        "${var.passing}!" => "soon gone!", ephemeral
        "#,
    );
}

#[test]
fn brackets_may_nest() {
    let deep = format!("{}1{}", "[".repeat(150), "]".repeat(150));
    assert!(!shown(&deep).contains("too deeply"));
}

#[test]
fn chains_of_operators_may_be_long() {
    let chain = format!("1{}", " + 1".repeat(3000));
    assert_eq!(shown(&chain), "3001");
}

#[test]
fn chains_of_conditionals_may_be_long() {
    let conditionals = format!("{}9", "false ? 1 : ".repeat(600));
    assert_eq!(shown(&conditionals), "9");
}

#[test]
fn beside_a_list_of_nothing_the_elements_of_a_tuple_are_of_one_type_or_have_none_in_common() {
    check(
        r#"
        true ? [[1], [2]] : tolist([]) => tolist([ [ 1, ], [ 2, ], ])
        true ? [[1], ["a"]] : tolist([]) => unknown list(any) Inconsistent conditional result types: The true result value has the wrong type: element types must all match for conversion to list.
        true ? {a = [1], b = ["x"]} : tomap({}) => unknown map(any) Inconsistent conditional result types: The true result value has the wrong type: element types must all match for conversion to map.
        true ? {a = [1], b = null} : tomap({}) => tomap({ "a" = [ 1, ] "b" = null /* tuple */ })
        true ? {a = null, b = {c = null}} : tomap({a = {c = 1}}) => tomap({ "a" = null /* object */ "b" = { "c" = null } })
        true ? {n = null, m = {z = 1}} : {m = {z = 2}} => tomap({ "m" = { "z" = 1 } "n" = null /* object */ })
        true ? {n = null, m = ["a"]} : {m = []} => tomap({ "m" = [ "a", ] "n" = null /* tuple */ })
        false ? {n = null, m = {z = null}} : {m = null} => tomap({ "m" = null })
        true ? [1, "a"] : tolist([]) => tolist([ "1", "a", ])
        "#,
    );
}

#[test]
fn results_of_different_types_hide_what_is_wrong_within_them() {
    check(
        r#"
        true ? -"a" : [] => unknown any Inconsistent conditional result types: The true and false result expressions must have consistent types. The 'true' value is number, but the 'false' value is tuple.
        true ? "x" : convert(1, list(string)) => "x"
        "#,
    );
}

#[test]
fn merge_takes_nothing_but_maps_beside_null_too() {
    check(
        r#"
        merge(null, {a = 1}) => { "a" = 1 }
        merge({a = 1}, null, []) => { "a" = 1 }
        try(merge(null, "x"), "none") => "none"
        "#,
    );
}

#[test]
fn names_of_types_are_no_values_but_convert_takes_them() {
    check(
        r#"
        convert("1", number) => 1
        string => unknown any Unknown variable: There is no variable named "string".
        try(string, 1) => 1
        true ? 1 : any => 1
        try(convert(1, "x"), 2) => 2
        "#,
    );
}

#[test]
fn powers_are_rounded_as_the_real_program_rounds_them() {
    check(
        r#"
        pow(2, 1 / 3) => 1.259921049894873
        pow(10, -3) => 0.001
        pow(1 / 0, 2) => +Inf
        try(pow(1e400, 0), "none") => "none"
        "#,
    );
}

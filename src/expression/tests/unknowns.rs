//! Values that are not known yet.

use super::support::{Known, check, shown_in};

#[test]
fn operators_keep_what_is_known() {
    check(
        r#"
        var.later_bool && false => false
        var.later_bool || true => true
        var.later_bool && true => unknown bool, not null
        var.later_number + 1 => unknown number, not null
        "${var.later}" == null => unknown bool, not null
        "a${var.later}" == null => false
        length(var.later_list) >= 0 => unknown bool, not null
        length(var.later_list) > -1 => true
        length("abc${var.later}") > 1 => true
        length("abc${var.later}") > 2 => unknown bool, not null
        length(jsonencode([var.later])) > 0 => true
        length(toset([var.later, "a", "b"])) => unknown number, not null, from 1, to 3
        "#,
    );
}

#[test]
fn templates_know_their_beginning() {
    check(
        r#"
        "arn:${var.later}" => unknown string, not null, begins "arn:"
        startswith("arn:${var.later}", "arn") => true
        startswith("arn:${var.later}", "x") => false
        "ab${var.later}" => unknown string, not null, begins "a"
        "#,
    );
}

#[test]
fn an_unknown_condition_gives_what_both_results_have_in_common() {
    check(
        r#"
        var.later_bool ? 1 : 5 => unknown number, not null, from 1, to 5
        var.later_bool ? "a" : 1 => unknown string, not null
        var.later_bool ? "a" : null => unknown string
        var.later_bool ? null : null => null
        var.later_bool ? [1][5] : "a" => unknown any
        "#,
    );
}

#[test]
fn collections_of_unknown_length_give_unknown_results() {
    check(
        r#"
        [for x in var.later_list : x] => unknown any
        var.later_list[*] => unknown list(string), not null
        var.later_list[0] => unknown string
        var.object["${var.later}"] => unknown any
        [var.later][0] => unknown string
        {(var.later) = 1} => unknown any
        length(sort(["b", var.later])) => 2
        one(toset(["a", var.later])) => unknown string
        try(var.later, 1) => unknown any
        can(var.later) => unknown bool
        "#,
    );
}

#[test]
fn impure_functions_wait_for_apply() {
    let mut scope = Known::usual();
    scope.planning = true;
    assert_eq!(shown_in("uuid()", &scope), "unknown string, not null");
    assert_eq!(shown_in("timestamp()", &scope), "unknown string, not null");
    scope.planning = false;
    assert_eq!(shown_in("length(uuid())", &scope), "36");
}

#[test]
fn whether_an_unknown_value_is_ephemeral_is_not_known() {
    check(
        r#"
        ephemeralasnull(var.later) => unknown string
        ephemeralasnull(var.later_bool ? var.passing : "a") => unknown string
        ephemeralasnull(var.passing) => tostring(null)
        "#,
    );
}

#[test]
fn a_conversion_that_no_value_survives_is_an_error_before_the_value_is_known() {
    check(
        r#"
        tolist(var.later) => unknown any Invalid function argument: Invalid value for "v" parameter: cannot convert string to list of any single type. var.later is a string
        tonumber(var.later) => unknown number
        "#,
    );
}

#[test]
fn a_promise_says_no_more_than_it_promises() {
    check(
        r#"
        assumestringprefix(var.later, "ab-") => unknown string, begins "ab-"
        assumestringprefix(var.later, "x") => unknown string
        assumestringprefix("foo", "bar-") => unknown any Invalid function argument: Invalid value for "value" parameter: assumption was not upheld.
        assumelistlengthmin(var.later_list, 0) => unknown list(string)
        assumelistlengthmin(var.later_list, 1) => unknown list(string), at least 1 long
        assumelistlengthmax([var.secret], 2) => tolist([ "hush", ]), sensitive
        assumestringprefix(tostring(null), "a-") => tostring(null)
        assumenotnull(tostring(null)) => unknown any Invalid function argument: Invalid value for "value" parameter: assumption was not upheld.
        assumenotnull(var.later_any) => unknown any Invalid function argument: Invalid value for "value" parameter: given value must have a known type.
        assumelistlengthmin([1], -1) => tolist([ 1, ])
        assumeequal(["a"], tolist(["a"])) => tolist([ "a", ])
        "#,
    );
}

#[test]
fn a_filter_that_nothing_passes_through_marks_nothing() {
    check(
        r#"
        [for it in [] : it if var.secret == "x"] => []
        [for it in [1] : it if var.secret == "x"] => [], sensitive
        "#,
    );
}

#[test]
fn a_secret_path_keeps_what_rests_on_it_secret() {
    check(
        r#"
        filesha256("${var.secret}${var.later}") => unknown string, not null, sensitive
        urldecode("${var.secret}${var.later}") => unknown string, not null, sensitive
        "#,
    );
}

#[test]
fn elements_of_sets_that_may_be_equal_give_no_product_yet() {
    check(
        r#"
        setproduct(toset(["a", var.later]), ["b"]) => unknown set(tuple([string,string])), not null
        {for it in [1] : var.later_list => it} => unknown any
        formatlist("%s", toset(["a", var.later])) => unknown list(string), not null
        length(var.later_any) => unknown number, not null
        "#,
    );
}

//! What is known gives what is known: where no argument is unknown, no result is.
//!
//! An unknown result of known arguments is never known, in no plan and after no apply.

use super::support::{Known, value_of};
use crate::expression::functions;
use crate::value::Value;

/// Known arguments of every kind: null alone and within, empty, marked, many and large.
const ARGUMENTS: &[&str] = &[
    "null",
    "[null]",
    "{ a = null }",
    "tostring(null)",
    "tolist(null)",
    "tomap({ a = null })",
    "[]",
    "{}",
    "\"\"",
    "\"a\"",
    "\"%s\"",
    "\"10.0.0.0/8\"",
    "\"2020-01-01T00:00:00Z\"",
    "0",
    "1",
    "-1.5",
    "1e300",
    "true",
    "[\"a\", null]",
    "[[null], [\"a\"]]",
    "toset([\"a\", \"b\"])",
    "{ a = \"x\", b = [1, null] }",
    "tolist([1, 2])",
    "var.secret",
];

/// Functions whose arguments are files, or that take long.
const LEFT_OUT: &[&str] = &["bcrypt", "file", "templatefile", "filebase64", "rsadecrypt"];

/// All lists of up to three arguments; of three, those whose last is one of the first few.
fn argument_lists() -> Vec<Vec<&'static str>> {
    let mut lists = vec![Vec::new()];
    for first in ARGUMENTS {
        lists.push(vec![*first]);
        for second in ARGUMENTS {
            lists.push(vec![*first, *second]);
            lists.extend(ARGUMENTS[..10].iter().map(|third| vec![*first, *second, *third]));
        }
    }
    lists
}

/// Returns whether a value is known in all its parts. A value that was evaluated with an error is unknown, and no result.
fn is_known(text: &str, scope: &Known) -> Option<bool> {
    let (value, problems) = value_of(text, scope);
    (!problems.has_errors()).then(|| Value::is_wholly_known(&value))
}

#[track_caller]
fn none_is_unknown(unknown: &[String]) {
    let shown = &unknown[..unknown.len().min(20)];
    assert!(unknown.is_empty(), "{} are unknown: {shown:#?}", unknown.len());
}

#[test]
fn functions_of_what_is_known_are_known() {
    let (scope, lists) = (Known::usual(), argument_lists());
    let mut results = 0;
    let mut unknown = Vec::new();
    for function in functions::all() {
        if LEFT_OUT.contains(&function.name) {
            continue;
        }
        let least = function.parameters.len();
        let most = if function.variadic.is_some() { 3 } else { least };
        let fitting = lists.iter().filter(|it| (least..=most).contains(&it.len()));
        for list in fitting {
            let call = format!("{}({})", function.name, list.join(", "));
            let Some(is_known) = is_known(&call, &scope) else { continue };
            results += 1;
            if !is_known {
                unknown.push(call);
            }
        }
    }
    assert!(results > 1_000, "{results} results");
    none_is_unknown(&unknown);
}

#[test]
fn operators_and_forms_of_what_is_known_are_known() {
    let scope = Known::usual();
    let one = [
        "!$",
        "-$",
        "$[*]",
        "\"x${~}\"",
        "[for x in $ : x]",
        "{ for k, v in $ : k => v }",
        "try($, 1)",
        "can($)",
    ];
    let two = [
        "$ == ~",
        "$ != ~",
        "true ? $ : ~",
        "[$, ~]",
        "$ && ~",
        "$ + ~",
        "$ < ~",
        "tolist([$, ~])",
        "tomap({ a = $, b = ~ })",
    ];
    let mut unknown = Vec::new();
    for first in ARGUMENTS {
        // In a template, `$` begins what is inserted.
        let of = |form: &str| match form.contains('~') {
            true => form.replace('~', first),
            false => form.replace('$', first),
        };
        let ones = one.iter().map(|it| of(it));
        let twos = two.iter().flat_map(|form| {
            ARGUMENTS.iter().map(|second| form.replace('$', first).replace('~', second))
        });
        let texts = ones.chain(twos).filter(|it| is_known(it, &scope) == Some(false));
        unknown.extend(texts);
    }
    none_is_unknown(&unknown);
}

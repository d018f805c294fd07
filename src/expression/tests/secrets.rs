//! What is sensitive or ephemeral is told by no problem and left unmarked in no result, whatever is called with it.

use super::super::functions::{Function, all};
use super::support::{Known, value_of};
use crate::value::{Marks, Value};

/// What stands in every secret, in letters and digits that survive a change of case.
const LETTERS: &str = "canary";
const DIGITS: &str = "48151623";

/// Secrets of every shape: wherever something is read from a text, one that goes wrong late.
const SECRETS: &[&str] = &[
    r#""canary""#,
    r#""canary/33""#,
    r#""10.48151623.0.0/8""#,
    r#""2001:db8::canary/64""#,
    r#""canary%zz""#,
    r#""(canary""#,
    r#""[canary-a]""#,
    r#""${"$"}{canary}""#,
    r#""${"$"}{canary(1)}""#,
    r#""%canary d %v""#,
    r#""{\"canary\": 1, \"canary\"}""#,
    r#""a: &canary b\n- *canary2""#,
    r#""canary,canary\n1,2""#,
    r#""a,b\ncanary""#,
    r#""/canary(/""#,
    r#""./canary/file""#,
    r#""~canary/x""#,
    r#""2020-02-30T00:00:48151623Z""#,
    r#""2020-01-02T03:04:05Zcanary""#,
    r#""48151623h1canary""#,
    r#""YYYY'canary""#,
    r#""-----BEGIN CANARY KEY-----\nY2FuYXJ5\n-----END CANARY KEY-----""#,
    r#""48151623""#,
    "48151623",
    "-48151623.5",
    "1e400 + 48151623",
    r#"["canary"]"#,
    r#"["canary", "canary"]"#,
    r#"[["canary"], {canary = "canary"}]"#,
    "[48151623, 48151623.5]",
    r#"toset(["canary", "x"])"#,
    r#"{ canary = "canary" }"#,
    r#"{ "canary-1" = ["canary"] }"#,
    r#"tomap({ canary = "48151623" })"#,
    r#"{ a = { canary = 48151623 } }"#,
];

/// What stands in the other places. Every function is content with some.
const OTHERS: &[&str] = &[
    r#""a""#,
    r#""%d %s""#,
    r#""2020-01-02T03:04:05Z""#,
    r#""10.0.0.0/8""#,
    r#""UTF-8""#,
    "2",
    "40",
    r#"["a", "b"]"#,
    r#"{ a = "b" }"#,
    "[1, 2]",
];

/// Functions whose purpose is that what they give is not secret any more, and what they say of it.
const OPENERS: &[&str] = &["nonsensitive", "ephemeralasnull", "issensitive"];

#[test]
fn no_function_tells_what_a_secret_argument_holds() {
    let (mut failed, mut worked, mut leaks) = (0, 0, Vec::new());
    for (secret, scope) in scopes() {
        for function in all() {
            for call in calls(function) {
                match outcome(&call, &scope, OPENERS.contains(&function.name)) {
                    Outcome::Leaks(what) => leaks.push(format!("{call} of {secret} tells {what}")),
                    Outcome::Fails => failed += 1,
                    Outcome::Works => worked += 1,
                }
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    assert!(failed > 10_000 && worked > 5_000, "{failed} calls failed, {worked} worked");
}

#[test]
fn no_form_of_an_expression_tells_what_a_secret_holds() {
    let forms = include_str!("secret_forms.txt");
    let (mut failed, mut leaks) = (0, Vec::new());
    for (secret, scope) in scopes() {
        for form in forms.lines() {
            match outcome(&form.replace('S', "var.it"), &scope, false) {
                Outcome::Leaks(what) => leaks.push(format!("{form} of {secret} tells {what}")),
                Outcome::Fails => failed += 1,
                Outcome::Works => {}
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    assert!(failed > 1000, "{failed} failed");
}

/// Each secret, sensitive and ephemeral, as `var.it` of a scope.
fn scopes() -> impl Iterator<Item = (&'static str, Known)> {
    SECRETS.iter().flat_map(|text| {
        [Marks::sensitive(), Marks::ephemeral()].map(|marks| {
            let (value, problems) = value_of(text, &Known::usual());
            assert!(!problems.has_errors(), "{text}: {problems:?}");
            let mut scope = Known::usual();
            scope.variables = vec![("it", value.mark(&marks))];
            (*text, scope)
        })
    })
}

/// What became of an expression with a secret.
enum Outcome {
    Leaks(String),
    Fails,
    Works,
}

fn outcome(text: &str, scope: &Known, opens: bool) -> Outcome {
    let (value, problems) = value_of(text, scope);
    for it in problems.iter() {
        let values: Vec<String> =
            it.values.iter().map(|(name, words)| format!("{name} {words}")).collect();
        let told = format!("{}: {} {}", it.summary, it.detail, values.join(" "));
        if tells(&told) {
            return Outcome::Leaks(told);
        }
    }
    match problems.has_errors() {
        true => Outcome::Fails,
        false => match in_the_open(&value).filter(|it| !opens && tells(it)) {
            Some(told) => Outcome::Leaks(told),
            None => Outcome::Works,
        },
    }
}

fn tells(text: &str) -> bool {
    text.to_lowercase().contains(LETTERS) || text.contains(DIGITS)
}

/// Returns the parts of a value that carry no mark of a secret, as text.
fn in_the_open(value: &Value) -> Option<String> {
    if value.marks().is_secret() || !value.is_known() {
        return None;
    }
    let parts: Vec<String> = match value.bare() {
        Value::String(it) => vec![it.to_string()],
        Value::Number(it) => vec![it.to_string()],
        it => it
            .entries()
            .into_iter()
            .map(|(key, _)| key.to_string())
            .chain(it.children().filter_map(in_the_open))
            .collect(),
    };
    Some(parts.join("\n"))
}

/// Calls of a function with the secret in each position, and every other argument in the others.
fn calls(function: &Function) -> Vec<String> {
    let least = function.parameters.len().max(1);
    let most = function.parameters.len() + if function.variadic.is_some() { 2 } else { 0 };
    let mut calls = Vec::new();
    for arity in least..=most.max(least) {
        let rounds = if arity == 1 { 1 } else { OTHERS.len() };
        for (at, round) in (0..arity).flat_map(|at| (0..rounds).map(move |round| (at, round))) {
            let argument = |it| match it == at {
                true => "var.it",
                false => OTHERS[(round + it * 3) % OTHERS.len()],
            };
            let arguments: Vec<&str> = (0..arity).map(argument).collect();
            calls.push(format!("{}({})", function.name, arguments.join(", ")));
        }
    }
    calls
}

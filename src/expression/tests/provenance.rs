//! Where a value comes from is complete: whatever makes it another one if it were another one itself is among what it was read from.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::monotone::expression;
use super::support::{Known, value_of};
use crate::value::{Marks, Type, Value};

/// What variables may be. Each is read from a node of its own, or each of its parts is.
fn variables() -> Vec<(&'static str, Vec<Value>)> {
    let text = |it: &str| Value::string(it);
    let texts = |all: &[&str]| Value::list(Type::STRING, all.iter().map(|it| text(it)).collect());
    let pair =
        |a: &str, b: i64| Value::object([("a".into(), text(a)), ("b".into(), Value::int(b))]);
    let unknown = |ty: Type| Value::unknown(ty);
    vec![
        (
            "s",
            vec![text("a"), text("ab,c"), text(""), unknown(Type::STRING), unknown(Type::DYNAMIC)],
        ),
        ("n", vec![Value::int(0), Value::int(1), Value::int(-3), unknown(Type::NUMBER)]),
        ("b", vec![Value::Bool(true), Value::Bool(false), unknown(Type::BOOL)]),
        (
            "l",
            vec![
                texts(&[]),
                texts(&["a"]),
                texts(&["b", "a", "ab,c"]),
                unknown(Type::list(Type::STRING)),
                unknown(Type::DYNAMIC),
            ],
        ),
        ("o", vec![pair("x", 1), pair("", 0), unknown(pair("", 0).ty()), unknown(Type::DYNAMIC)]),
    ]
}

/// The nodes that a value was read from.
fn nodes(value: &Value) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    value.deep_marks().reads.visit(&mut |node| {
        found.insert(node);
    });
    found
}

fn evaluated(text: &str, chosen: &[(&'static str, Value)]) -> Option<(Value, BTreeSet<u32>)> {
    let mut scope = Known::at(".");
    let read = |(at, it): (usize, &(&'static str, Value))| {
        (it.0, it.1.clone().mark(&Marks::read(at as u32)))
    };
    scope.variables = chosen.iter().enumerate().map(read).collect();
    let (value, problems) = value_of(text, &scope);
    let reads = nodes(&value);
    (!problems.has_errors()).then(|| (value.to_plain().into(), reads))
}

/// Returns what an expression does not say that it was read from, although another value there makes it another one.
fn missed(text: &str, choice: [u8; 5], (which, instead): (usize, u8)) -> Option<String> {
    let all = variables();
    let pick = |at: usize, number: u8| {
        let (name, values) = &all[at];
        (*name, values[number as usize % values.len()].clone())
    };
    let mut chosen: Vec<_> = (0..all.len()).map(|at| pick(at, choice[at])).collect();
    let before = evaluated(text, &chosen)?;
    chosen[which] = pick(which, instead);
    let after = evaluated(text, &chosen)?;
    let is_told = [&before, &after].iter().all(|it| it.1.contains(&(which as u32)));
    (before.0 != after.0 && !is_told)
        .then(|| format!("{text}: {} is not told of {before:?} or {after:?}", all[which].0))
}

#[test]
fn what_is_not_known_comes_from_every_part_that_it_may_come_from() {
    let unknown = |at: u32| Value::unknown(Type::DYNAMIC).mark(&Marks::read(at));
    let mut incomplete = Vec::new();
    for text in [
        "flatten([[var.x], [var.y, 1]])[1]",
        "flatten([var.x, [var.y]])",
        "concat(var.x, [var.y])",
        "setproduct([var.x], var.y)",
        "merge(var.x, { a = var.y })",
        "zipmap([var.x], var.y)",
        "element([var.x, 1], var.y)",
        "slice([var.x, 1], 0, var.y)",
        "lookup({ a = var.x }, var.y)",
        "coalesce(var.x, var.y)",
        "try(var.x, var.y)",
        "matchkeys([var.x], [var.y], [1])",
        "[for it in [var.x, 1] : it if it == var.y]",
        "{ for it in [var.x] : it => var.y }",
        "{ (var.x) = var.y }",
        "{ (var.x) = 1, b = var.y }",
        "[for it in [{ v = var.y, c = true }, { v = 1, c = var.x }] : it.v if it.c]",
        "{ for k, it in { a = { v = var.y, c = true }, b = { v = 1, c = var.x } } : k => it.v if it.c }",
        "{ for it in [{ v = var.y, k = \"a\" }, { v = 1, k = var.x }] : it.k => it.v }",
        "[var.x, 1][var.y]",
        "{ a = var.x }[var.y]",
        "var.x ? var.y : 1",
        "var.x ? 1 : var.y",
        "[var.x[*].a, var.y]",
        "var.x[*][var.y]",
        "[for it in var.x : it == var.y]",
        "{ for it in var.x : it => var.y }",
        "[for it in var.x : it if it != var.y]",
        "\"${var.x}${var.y}\"",
        "\"%{ for it in var.x }${it}${var.y}%{ endfor }\"",
        "\"%{ if var.x }a%{ else }${var.y}%{ endif }\"",
        "templatestring(\"$${a}$${b}\", { a = var.x, b = var.y })",
        "max([var.x, var.y]...)",
    ] {
        let mut scope = Known::at(".");
        scope.variables = vec![("x", unknown(1)), ("y", unknown(2))];
        let (value, problems) = value_of(text, &scope);
        assert!(!problems.has_errors(), "{text}: {problems:?}");
        let told = nodes(&value);
        if told != BTreeSet::from([1, 2]) {
            incomplete.push(format!("{text}: only {told:?}"));
        }
    }
    assert!(incomplete.is_empty(), "{incomplete:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, rng_seed: RngSeed::Fixed(11), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_changes_a_value_is_told(text in expression(), choice in any::<[u8; 5]>(), which in 0_usize..5, instead in any::<u8>()) {
        let missed = missed(&text, choice, (which, instead));
        prop_assert!(missed.is_none(), "{}", missed.unwrap_or_default());
    }
}

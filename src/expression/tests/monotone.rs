//! Not knowing is monotone: whatever an unknown value turns out to be, what was said before stays true.
//!
//! Unknown values of unknown type are left out: as in OpenTofu, where a collection is made of them and of others, they are
//! taken to be of the others' type. So is `try`, which gives such a value, and
//! `can` and conditionals: what fails in an argument or a branch that turns out not to be needed is passed over, and
//! whatever it was said to be before is not that any more.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::support::{Known, value_of};
use crate::value::unknown::can_become;
use crate::value::{Kind, Type, Value};

/// The unknown values that expressions use, and what each may turn out to be.
fn variables() -> Vec<(&'static str, Type, Vec<Value>)> {
    let texts = |items: &[&str]| {
        Value::list(Type::STRING, items.iter().map(|it| Value::string(*it)).collect())
    };
    let pair = |a: &str, b: i64| {
        Value::object([("a".into(), Value::string(a)), ("b".into(), Value::int(b))])
    };
    let null = |ty: Type| Value::Null(ty);
    let list = Type::list(Type::STRING);
    let object = pair("", 0).ty();
    vec![
        (
            "s",
            Type::STRING,
            [null(Type::STRING)]
                .into_iter()
                .chain(["", "a", "ab,c", "é"].map(Value::string))
                .collect(),
        ),
        (
            "n",
            Type::NUMBER,
            [0, 1, -3, 7].map(Value::int).into_iter().chain([null(Type::NUMBER)]).collect(),
        ),
        ("b", Type::BOOL, vec![Value::Bool(true), Value::Bool(false), null(Type::BOOL)]),
        ("l", list, vec![texts(&[]), texts(&["a"]), texts(&["a", "", "a"]), null(list)]),
        ("o", object, vec![pair("x", 1), pair("", 0), null(object)]),
    ]
}

/// Numbers, texts, truths, lists and objects, from expressions of all of these.
pub(super) fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("var.s"),
        Just("var.n"),
        Just("var.b"),
        Just("var.l"),
        Just("var.o"),
        Just("var.o.a"),
        Just("var.o.b"),
        Just("var.l[0]"),
        Just("\"a\""),
        Just("\"\""),
        Just("\"ab,c\""),
        Just("0"),
        Just("1"),
        Just("-3"),
        Just("2.5"),
        Just("true"),
        Just("false"),
        Just("null"),
        Just("[]"),
        Just("[\"a\", \"b\"]"),
        Just("{ a = \"x\", b = 1 }"),
        Just("[1, var.n]"),
        Just("[var.s, \"z\"]"),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let one = prop_oneof![
            Just("!$"),
            Just("-$"),
            Just("upper($)"),
            Just("length($)"),
            Just("\"x${$}\""),
            Just("\"${$}y\""),
            Just("[$]"),
            Just("{ a = $ }"),
            Just("toset([$])"),
            Just("tolist($)"),
            Just("toset($)"),
            Just("jsonencode($)"),
            Just("[for x in $ : \"${x}!\"]"),
            Just("{ for k, v in $ : k => v }"),
            Just("[for x in $ : x if x != \"a\"]"),
            Just("$ == null"),
            Just("$[0]"),
            Just("$[*]"),
            Just("keys($)"),
            Just("values($)"),
            Just("distinct($)"),
            Just("compact($)"),
            Just("sort($)"),
            Just("reverse($)"),
            Just("tostring($)"),
            Just("tonumber($)"),
            Just("trimspace($)"),
            Just("floor($)"),
            Just("one($)"),
            Just("$.a"),
            Just("abs($)"),
            Just("split(\",\", $)"),
            Just("join(\"-\", $)"),
            Just("substr($, 0, 1)"),
            Just("nonsensitive($)"),
            Just("coalesce($, \"z\")"),
            Just("alltrue($)"),
            Just("anytrue($)"),
            Just("sum($)"),
            Just("flatten([$])"),
            Just("\"%{ if $ }t%{ else }f%{ endif }\""),
            Just("startswith($, \"a\")"),
        ];
        let two = prop_oneof![
            Just("$ == ~"),
            Just("$ != ~"),
            Just("$ && ~"),
            Just("$ || ~"),
            Just("$ + ~"),
            Just("$ * ~"),
            Just("$ < ~"),
            Just("$ >= ~"),
            Just("$ - ~"),
            Just("$ / ~"),
            Just("$ % ~"),
            Just("[$, ~]"),
            Just("{ a = $, b = ~ }"),
            Just("\"${$}-${~}\""),
            Just("concat($, ~)"),
            Just("merge($, ~)"),
            Just("contains($, ~)"),
            Just("min($, ~)"),
            Just("max($, ~)"),
            Just("coalesce($, ~)"),
            Just("setunion($, ~)"),
            Just("setintersection($, ~)"),
            Just("format(\"%s-%s\", $, ~)"),
            Just("element($, ~)"),
            Just("lookup($, ~, \"d\")"),
            Just("$[~]"),
            Just("replace($, \"a\", ~)"),
            Just("zipmap($, ~)"),
            Just("tomap({ x = $, y = ~ })"),
        ];
        prop_oneof![
            (one, inner.clone()).prop_map(|(form, a)| form
                .replace('$', "\u{1}")
                .replace("\u{1}{\u{1}}", "${\u{1}}")
                .replace('\u{1}', &bracketed(&a))),
            (two, inner.clone(), inner).prop_map(|(form, a, b)| {
                let form = form
                    .replace('$', "\u{1}")
                    .replace("\u{1}{\u{1}}", "${\u{1}}")
                    .replace("\u{1}{~}", "${~}");
                form.replace('\u{1}', &bracketed(&a)).replace('~', &bracketed(&b))
            }),
        ]
    })
}

fn bracketed(text: &str) -> String {
    format!("({text})")
}

/// Returns whether what is known of a value is true of what it turned out to be.
fn holds(said: &Value, turned_out: &Value) -> bool {
    match (said.bare(), turned_out.bare()) {
        (Value::Unknown(it), _) if it.ty == Type::DYNAMIC => true,
        (Value::Unknown(it), Value::Unknown(other)) => it.ty == other.ty,
        (Value::Unknown(it), known) => can_become(it, &known.to_plain()),
        (_, Value::Unknown(_)) => false,
        // Elements that are not known yet may turn out to be the same one.
        (Value::Set(a), Value::Set(b)) if !said.is_wholly_known() => {
            b.items.len() <= a.items.len() && (a.element.has_dynamic() || a.element == b.element)
        }
        (a, b)
            if matches!(
                a.ty().kind(),
                Kind::Bool | Kind::Number | Kind::String | Kind::Dynamic
            ) =>
        {
            a == b
        }
        (Value::Null(_), b) => b.is_null(),
        (a, b) => {
            let same_names = match (a.ty().kind(), b.ty().kind()) {
                (Kind::Map(_) | Kind::Object(_), Kind::Map(_) | Kind::Object(_)) => {
                    let names = |it: &Value| -> Vec<_> {
                        it.entries().into_iter().map(|it| it.0).collect()
                    };
                    names(a) == names(b)
                }
                _ => true,
            };
            same_names
                && a.is_null() == b.is_null()
                && a.children().count() == b.children().count()
                && a.children().zip(b.children()).all(|(a, b)| holds(a, b))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_an_unknown_turns_out_to_be_contradicts_nothing(text in expression(), choice in any::<[u8; 5]>()) {
        let all = variables();
        let scope = |values: Vec<(&'static str, Value)>| {
            let mut scope = Known::at(".");
            scope.variables = values;
            scope
        };
        let unknown = scope(all.iter().map(|it| (it.0, Value::unknown(it.1))).collect());
        let chosen = all.iter().zip(choice).map(|(it, at)| (it.0, it.2[at as usize % it.2.len()].clone()));
        let known = scope(chosen.collect());
        let (said, early) = value_of(&text, &unknown);
        let (turned_out, late) = value_of(&text, &known);
        // An error says nothing: a deciding operand of `&&` drops that of the other one, once it is known.
        if !early.has_errors() && !late.has_errors() {
            prop_assert!(holds(&said, &turned_out), "{text} was said to be {said:?}, and was {turned_out:?}");
        }
    }
}

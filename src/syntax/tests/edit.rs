//! Our reader against `hcl-edit`, on tricky snippets and on random ones.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::diagnostic::FileId;
use crate::syntax::edit::parse_with_hcl_edit;
use crate::syntax::parse;

/// Both must read the text, to the same tree with the same places.
#[track_caller]
fn agree(text: &str) {
    let (own, diags) = parse(FileId(1), text);
    assert!(!diags.has_errors(), "{text}\n{diags:?}");
    let other = parse_with_hcl_edit(FileId(1), text).unwrap_or_else(|| panic!("refused: {text}"));
    pretty_assertions::assert_eq!(own, other, "{}", text);
}

#[test]
fn both_readers_agree_on_tricky_snippets() {
    for value in [
        "1",
        "-1",
        "- 1.50",
        "--a",
        "-a.b",
        "-1 + -2",
        "!a.b[0]",
        "!(a) == b",
        "1 + 2 * 3 - 4 / 5 % 6",
        "a || b && c == d != e",
        "a < b == c >= d",
        "a ? b : c ? d : e",
        "a ? b ? c : d : e",
        "a == b ? c : d",
        "(a)",
        "( # c\n a /* d */ )",
        "[]",
        "[1, 2,]",
        "[\n1,\n\n# c\n2\n]",
        "{}",
        "{a = 1, \"b\" : 2, (c) = 3, 4 = 5}",
        "{\n a = 1 # x\n\n \"${b}\" = 2\n}",
        "{ true = 1, null = 2 }",
        "{ a.b = 1 }",
        "a.b.c",
        "a[0].b[\"c\"][d.e]",
        "a [ 0 ] . b",
        "a[*].b[0]",
        "a[*]",
        "a[*].b[*].c",
        "f(x)[0].a",
        "(a).b",
        "\"x\".y",
        "[1][0]",
        "{a = 1}.a",
        "f()",
        "f(a, [b], {c = d}...)",
        "provider::x::f(1)",
        "[for a in b : a]",
        "[for a, b in c : b if a > 0]",
        "{for a, b in c : a => b... if b}",
        "{\n for a in b :\n a => a\n}",
        "\"\"",
        "\"a\\n\\\"\\\\ \\u00e9 e\\u0301\"",
        "\"${a}\"",
        "\"a ${b} c\"",
        "\"${a}${b}\"",
        "\"${ \"x${y}\" }!\"",
        "\"$${a} %%{b} $ % $$ 100%\"",
        "\"$${a} ${b}\"",
        "\"a${ {b = 1}.b }\"",
        "null",
        "true",
    ] {
        agree(&format!("a = {value}\n"));
    }
    agree(
        "# c\na = 1\nb \"c\" d {\n  e = 1\n  // f\n  g {}\n  h { i = 1 }\n\n  j {\n  }\n}\né-1 = 1\nl {} # m",
    );
}

#[test]
fn text_that_hcl_edit_reads_otherwise_is_refused() {
    for text in [
        "\u{feff}a = 1\n",
        "a = <<E\nE\n",
        "a = b.*.c\n",
        "a = b.0\n",
        "a = \"%{ if b }%{ endif }\"\n",
        "a = \"${~ b }\"\n",
        "a = \"b\nc\"\n",
        "a = {b = 1, b = 2}\n",
        "a = 1\r\n",
        "a = 12345678901234567890\n",
        "a = 1 2\n",
    ] {
        assert!(parse_with_hcl_edit(FileId(1), text).is_none(), "{text:?}");
    }
}

fn name() -> impl Strategy<Value = String> {
    "[a-z_][a-z0-9_-]{0,4}".prop_filter("is a keyword", |it| {
        !["for", "in", "if", "true", "false", "null"].contains(&it.as_str()) && !it.ends_with('-')
    })
}

fn blank() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just(" "), 1 => Just("  "), 1 => Just(" /* c */ ")]
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        name(),
        (0..100_000_u32).prop_map(|it| it.to_string()),
        Just("1.25".to_owned()),
        prop_oneof![Just("true"), Just("null")].prop_map(str::to_owned),
        r#"[ -!#-$&-\[\]-z|éñ]{0,6}"#
            .prop_map(|it| format!("\"{}\"", it.replace("${", "$").replace('\\', ""))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let operator = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||",
        ]);
        let list = proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (inner.clone(), blank(), operator, blank(), inner.clone())
                .prop_map(|(a, s, o, t, b)| format!("{a}{s}{o}{t}{b}")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a}) ? {b} : {c}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            (name(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}].x")),
            (name(), name()).prop_map(|(a, b)| format!("{a}[*].{b}[0]")),
            list.clone().prop_map(|it| format!("[{}]", it.join(", "))),
            (name(), list).prop_map(|(a, it)| format!("{a}({})", it.join(","))),
            (name(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("{{\n{a} = {b}\n(1) : {c} }}")),
            (name(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("[for {a} in {b} : {c}]")),
            (name(), name(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c, d)| format!("{{for {a}, {b} in {c} : {d} => {a}... if {b}}}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("\"x ${{{a}}}-${{{b}}}\"")),
        ]
    })
}

pub fn body() -> impl Strategy<Value = String> {
    let attributes = proptest::collection::vec((name(), expression()), 0..4).prop_map(|all| {
        let line = |(index, (name, value)): (usize, (String, String))| {
            format!("{name}{index} = {value} # c\n\n")
        };
        all.into_iter().enumerate().map(line).collect::<String>()
    });
    attributes.prop_recursive(3, 8, 3, |inner| {
        (inner.clone(), name(), name(), inner).prop_map(|(before, kind, label, body)| {
            format!("{before}{kind} \"{label}\" l {{\n{body}}}\n")
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_readers_agree_on_random_bodies(text in body()) {
        let (own, diags) = parse(FileId(1), &text);
        prop_assert!(!diags.has_errors(), "{}\n{:?}", text, diags);
        if let Some(other) = parse_with_hcl_edit(FileId(1), &text) {
            prop_assert_eq!(own, other);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"([a-c ={}\[\]()"$%~.,:?!*\n<EOT0-9-]|\$\{|%\{ if |<<-E\n|=> ){0,40}"#) {
        let _ = parse(FileId(1), &text);
        let _ = crate::syntax::parse_template(FileId(1), &text);
        let _ = crate::syntax::parse_json(FileId(1), &text);
        let _ = crate::syntax::parse_expression(FileId(1), &text, 0);
    }
}

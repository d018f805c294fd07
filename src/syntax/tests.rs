//! Source texts in; trees and problems out.

use expect_test::{Expect, expect};

use super::*;
use crate::diagnostic::{Diagnostics, FileId, Sources};

mod accepted;
pub(super) mod edit;
mod json;
mod pieces;
pub(super) mod print;

/// Lists problems: `line:column-column summary`.
fn problems_of(text: &str, diags: &Diagnostics) -> String {
    let sources = Sources::default();
    let file = sources.add("t", text.into());
    let mut out = String::new();
    for it in diags.iter() {
        let at = it.subject.expect("a syntax problem has a place");
        let (start, end) = (sources.position(file, at.start()), sources.position(file, at.end()));
        out += &format!(
            "{}:{}-{}:{} {}\n",
            start.line, start.column, end.line, end.column, it.summary
        );
    }
    out
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let (body, diags) = parse(FileId(1), text);
    expected.assert_eq(&(print::body(&body, 0) + &problems_of(text, &diags)));
}

#[track_caller]
fn check_expressions(texts: &[&str], expected: Expect) {
    let show = |text: &&str| match parse_expression(FileId(1), text, 0) {
        Ok(it) => format!("{text}  ->  {}\n", print::expression(&it)),
        Err(diags) => format!("{text}  ->  {}", problems_of(text, &diags)),
    };
    expected.assert_eq(&texts.iter().map(show).collect::<String>());
}

#[test]
fn operators_bind_as_in_hcl() {
    check_expressions(
        &[
            "1 + 2 * 3 - 4",
            "a || b && c == d",
            "a == b == c",
            "1 < 2 == 3 >= 4",
            "!a.b == -c[0] + 1",
            "- - 1",
            "a ? b : c ? d : e",
            "a ? b ? c : d : e",
            "a % b / c",
            "(1 + 2) * 3",
            "1 +",
            "1 = 2",
        ],
        expect![[r#"
            1 + 2 * 3 - 4  ->  ((1 + (2 * 3)) - 4)
            a || b && c == d  ->  (a || (b && (c == d)))
            a == b == c  ->  ((a == b) == c)
            1 < 2 == 3 >= 4  ->  ((1 < 2) == (3 >= 4))
            !a.b == -c[0] + 1  ->  (!a.b == (-c[0] + 1))
            - - 1  ->  --1
            a ? b : c ? d : e  ->  (a ? b : (c ? d : e))
            a ? b ? c : d : e  ->  (a ? (b ? c : d) : e)
            a % b / c  ->  ((a % b) / c)
            (1 + 2) * 3  ->  (P((1 + 2)) * 3)
            1 +  ->  1:4-1:4 Missing expression
            1 = 2  ->  1:3-1:4 Extra characters after expression
        "#]],
    );
}

#[test]
fn steps_lead_into_values() {
    check_expressions(
        &[
            "a.b[\"c\"].d[0].1.e",
            "f(x).a[b.c]",
            "a[*].b[0].c",
            "a.*.b.0.c[0]",
            "a[*].b[*].c",
            "a[*].b.*.c[0]",
            "(a).b",
            "\"x\".y",
            "a.0.1",
            "a.*.b.*.c",
            "a.",
            "a[1",
            "a[*",
            "a . b [ 0 ]",
        ],
        expect![[r#"
            a.b["c"].d[0].1.e  ->  a.b["c"].d[0].1.e
            f(x).a[b.c]  ->  <f(x)>.a[b.c]
            a[*].b[0].c  ->  a[*]<.b[0].c>
            a.*.b.0.c[0]  ->  <a.*<.b.0.c>>[0]
            a[*].b[*].c  ->  a[*]<.b[*]<.c>>
            a[*].b.*.c[0]  ->  a[*]<.b.*<.c>[0]>
            (a).b  ->  <P(a)>.b
            "x".y  ->  <"x">.y
            a.0.1  ->  1:3-1:6 Invalid legacy index syntax
            a.*.b.*.c  ->  1:7-1:8 Nested splat expression not allowed
            a.  ->  1:3-1:3 Invalid attribute name
            a[1  ->  1:4-1:4 Missing close bracket on index
            a[*  ->  1:4-1:4 Missing close bracket on splat index
            a . b [ 0 ]  ->  a.b[0]
        "#]],
    );
}

#[test]
fn constructors_calls_and_for() {
    check_expressions(
        &[
            "[]",
            "[1, a,]",
            "[1 2]",
            "{}",
            "{a = 1, \"b\" : 2, (c) = 3, 4 = 5\n d.e = 6\n\n true = 7, \"${x}\" = 8,}",
            "{a = 1 b = 2}",
            "{a}",
            "{a b}",
            "{a = 1",
            "f()",
            "f(a, b...)",
            "f(a,)",
            "f(a b)",
            "f(a... , b)",
            "provider::x::f(1)",
            "core::upper",
            "[for a in b : a]",
            "[for a, b in c : b if a > 0]",
            "{for a, b in c : a => b... if b}",
            "{\n for a in b : a => a }",
            "{for a in b : a}",
            "[for a in b : a => b]",
            "[for a in b : a...]",
            "[for in b : a]",
        ],
        expect![[r#"
            []  ->  []
            [1, a,]  ->  [1, a]
            [1 2]  ->  1:4-1:5 Missing item separator
            {}  ->  {}
            {a = 1, "b" : 2, (c) = 3, 4 = 5
             d.e = 6

             true = 7, "${x}" = 8,}  ->  {a = 1, <"b"> = 2, <P(c)> = 3, <4> = 5, <d.e> = 6, true = 7, <W(x)> = 8}
            {a = 1 b = 2}  ->  1:8-1:9 Missing attribute separator
            {a}  ->  1:3-1:4 Missing key/value separator
            {a b}  ->  1:4-1:5 Missing key/value separator
            {a = 1  ->  1:1-1:2 Unterminated object constructor expression
            f()  ->  f()
            f(a, b...)  ->  f(a, b...)
            f(a,)  ->  f(a)
            f(a b)  ->  1:5-1:6 Missing argument separator
            f(a... , b)  ->  1:4-1:7 Missing closing parenthesis
            provider::x::f(1)  ->  provider::x::f(1)
            core::upper  ->  1:12-1:12 Missing open parenthesis
            [for a in b : a]  ->  [for a in b : a]
            [for a, b in c : b if a > 0]  ->  [for a, b in c : b if (a > 0)]
            {for a, b in c : a => b... if b}  ->  [for a, b in c : a => b... if b]
            {
             for a in b : a => a }  ->  [for a in b : a => a]
            {for a in b : a}  ->  1:15-1:16 Invalid 'for' expression
            [for a in b : a => b]  ->  1:15-1:16 Invalid 'for' expression
            [for a in b : a...]  ->  1:16-1:19 Invalid 'for' expression
            [for in b : a]  ->  1:9-1:10 Invalid 'for' expression
        "#]],
    );
}

#[test]
fn strings_resolve_escapes_and_trim() {
    check_expressions(
        &[
            r#""""#,
            r#""a\n\t\"\\b""#,
            r#""\u00e9 e\u0301 \U0001F600""#,
            r#""$${x} %%{y} $ % $x 100%""#,
            r#""$$${x}""#,
            r#""${x}""#,
            r#""a ${x} b""#,
            r#""a ${~ x ~} b""#,
            r#""${ "n${x}" }!""#,
            r#""${ {a = 1}.a }!""#,
            r#""%{ if a }y%{ else }n%{ endif }""#,
            r#""%{ if a ~} y %{~ endif }.""#,
            r#""%{ for i, v in l }${i}%{ endfor }""#,
            r#""\q""#,
            r#""\u12""#,
            r#""\ud800""#,
            r#""${x""#,
            r#""${x y}""#,
            r#""%{ if a }""#,
            r#""%{ endif }""#,
            r#""%{ for a in b }%{ endif }""#,
            r#""%{ if a }%{ else }%{ else }%{ endif }""#,
            r#""%{ fro a }""#,
            r#""abc"#,
        ],
        expect![[r#"
            ""  ->  ""
            "a\n\t\"\\b"  ->  "a\n\t\"\\b"
            "\u00e9 e\u0301 \U0001F600"  ->  "é é 😀"
            "$${x} %%{y} $ % $x 100%"  ->  "${x} %{y} $ % $x 100%"
            "$$${x}"  ->  "$${x}"
            "${x}"  ->  W(x)
            "a ${x} b"  ->  T("a ", ${x}, " b")
            "a ${~ x ~} b"  ->  T("a", ${x}, "b")
            "${ "n${x}" }!"  ->  T(${T("n", ${x})}, "!")
            "${ {a = 1}.a }!"  ->  T(${<{a = 1}>.a}, "!")
            "%{ if a }y%{ else }n%{ endif }"  ->  T(%if a ("y") ("n"))
            "%{ if a ~} y %{~ endif }."  ->  T(%if a ("y") (), ".")
            "%{ for i, v in l }${i}%{ endfor }"  ->  T(%for i, v in l (${i}))
            "\q"  ->  1:2-1:4 Invalid escape sequence
            "\u12"  ->  1:2-1:6 Invalid escape sequence
            "\ud800"  ->  1:2-1:8 Invalid escape sequence
            "${x"  ->  1:2-1:4 Unclosed template interpolation sequence
            "${x y}"  ->  1:6-1:7 Extra characters after interpolation expression
            "%{ if a }"  ->  1:2-1:11 Unexpected end of template
            "%{ endif }"  ->  1:2-1:12 Unexpected endif directive
            "%{ for a in b }%{ endif }"  ->  1:17-1:27 Unexpected endif directive
            "%{ if a }%{ else }%{ else }%{ endif }"  ->  1:20-1:29 Unexpected else directive
            "%{ fro a }"  ->  1:5-1:8 Invalid template control keyword
            "abc  ->  1:5-1:5 Unterminated template string
        "#]],
    );
}

#[test]
fn heredocs_keep_or_share_their_indentation() {
    check(
        "a = <<EOT\n  x\n ${y}\n  EOT\nb = <<-EOT\n    x\n\n      ${y} z\n    w\n  EOT\nc = <<E\nE\nd = [<<-E\n  q\n  E\n, 1]\n",
        expect![[r#"
            a = T("  x\n ", ${y}, "\n")
            b = T("x\n\n  ", ${y}, " z\nw\n")
            c = ""
            d = ["q\n", 1]
        "#]],
    );
    // A line behind `~}` begins no line, and a `~` takes no more than the token beside it.
    check(
        "a = <<-EOT\n    %{ for x in l ~}\n      item ${x}\n    %{ endfor ~}\n  end\n  EOT\n",
        expect![[r#"
            a = T(%for x in l ("      item ", ${x}, "\n"), "  end\n")
        "#]],
    );
    check(
        "a = <<EOT\r\n  x\r\nEOT\r\nb = 1\r\n",
        expect![[r#"
            a = "  x\r\n"
            b = 1
        "#]],
    );
    check(
        "a = <<EOT\nx\nEOT",
        expect![[r#"
            3:4-3:4 Unterminated template string
        "#]],
    );
}

#[test]
fn bodies_hold_attributes_and_blocks() {
    check(
        "\u{feff}# one\na = 1 // two\n/* three\n */ b = 2\nresource \"x\" y {\n  c = 3 # four\n  é-1 = 4\n  d { e = 5 }\n  f {}\n  g {\n  }\n}\n",
        expect![[r#"
            a = 1
            b = 2
            resource "x" "y"
              c = 3
              é-1 = 4
              d
                e = 5
              f
              g
        "#]],
    );
}

#[test]
fn every_broken_block_tells_its_first_problem() {
    check(
        "resource \"a\" \"b\" {\n  x = [1 2]\n  y = (\n}\n\nv \"c\" {\n  x = \n}\nok { a = 1 }\nw {\n  x = {\n    y = 1\n}\n\nresource \"c\" \"d\" {\n  z = 1\n}\nq = 1 2\nz = 3\n",
        expect![[r#"
            z = 3
            ok
              a = 1
            resource "c" "d"
              z = 1
            2:10-2:11 Missing item separator
            7:7-8:1 Invalid expression
            18:7-18:8 Missing newline after argument
        "#]],
    );
}

#[test]
fn a_string_without_end_ends_before_the_next_block() {
    check(
        "a \"b\" {\n  x = \"foo\n}\n\nc \"d\" {\n  y = \"${foo\n}\nlocals {\n  z = 1\n}\n",
        expect![[r#"
            locals
              z = 1
            2:11-3:1 Invalid multi-line string
            3:2-5:1 Invalid multi-line string
            7:2-8:1 Invalid multi-line string
        "#]],
    );
}

#[test]
fn an_unclosed_block_does_not_hide_the_next() {
    check(
        "a {\n  x = 1\n\nb {\n  y = 1\n}\n",
        expect![[r#"
            b
              y = 1
            1:3-1:4 Unclosed configuration block
        "#]],
    );
}

#[test]
fn misshapen_items_have_hcls_summaries() {
    for (text, summary) in [
        ("a\n", "Argument or block definition required"),
        ("= 1\n", "Argument or block definition required"),
        ("\"a\" = 1\n", "Invalid argument name"),
        ("a = 1, b = 2\n", "Unexpected comma after argument"),
        ("a {\n b = 1 }\n", "Missing newline after argument"),
        ("a { b = 1, c = 2 }\n", "Invalid single-argument block definition"),
        ("a { b = 1\n}\n", "Invalid single-argument block definition"),
        ("a { b {} }\n", "Argument definition required"),
        ("a \"b\" = {\n}\n", "Invalid block definition"),
        ("a b\n{\n}\n", "Invalid block definition"),
        ("a {} b {}\n", "Missing newline after block definition"),
        ("a \"${b}\" {}\n", "Invalid string literal"),
        ("a = 1\na = 2\n", "Attribute redefined"),
        ("a = 'x'\n", "Invalid character"),
        ("a = b & c\n", "Unsupported operator"),
        ("a = b ? c\n", "Missing false expression in conditional"),
        ("a = (b\n", "Unbalanced parentheses"),
        ("a = 1.2.3\n", "Invalid number literal"),
        ("a = f(b", "Unterminated function call"),
        ("a = [b", "Unterminated tuple constructor expression"),
        ("a = {b\n}\n", "Missing attribute value"),
        ("a = /* b\n", "Invalid expression"),
    ] {
        let diags = parse(FileId(1), text).1;
        assert_eq!(
            diags.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>(),
            [summary],
            "{text:?}"
        );
    }
}

#[test]
fn many_attributes_are_unique_too() {
    let text: String = (0..50).chain([30]).map(|it| format!("a{it} = 1\n")).collect();
    let (body, diags) = parse(FileId(1), &text);
    assert_eq!(body.attributes.len(), 50);
    assert_eq!(problems_of(&text, &diags), "51:1-51:4 Attribute redefined\n");
}

#[test]
fn deep_nesting_is_read_and_deeper_nesting_refused() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in [
        ("[", "]"),
        ("(", ")"),
        ("{a = ", "}"),
        ("f(", ")"),
        ("\"${", "}\""),
        ("a[", "]"),
        ("a ? ", " : b"),
    ] {
        assert!(parse_expression(FileId(1), &nested(open, close, 900), 0).is_ok(), "{open}");
        let diags =
            parse_expression(FileId(1), &nested(open, close, 100_000), 0).expect_err("too deep");
        assert_eq!(diags.0[0].summary, "Nesting too deep", "{open}");
    }
    let blocks = format!("{}{}", "a {\n".repeat(900), "}\n".repeat(900));
    assert!(!parse(FileId(1), &blocks).1.has_errors());
    assert!(parse(FileId(1), &"a {\n".repeat(5000)).1.has_errors());
    for chain in ["1 + ", "!", "a ? b : ", "a.b[0]."] {
        assert!(
            parse_expression(FileId(1), &format!("{}a", chain.repeat(3900)), 0).is_ok(),
            "{chain}"
        );
        let _ = parse_expression(FileId(1), &format!("{}a", chain.repeat(100_000)), 0);
    }
}

#[test]
fn references_leave_out_what_for_binds() {
    let text = r#"[for k, v in a.b[c] : "${k}${d.e}%{ for v in v }${v.x}${w}%{ endfor }" if v == f(g)[h.i] && k[0]] == j[*].z[l].y"#;
    let expression = parse_expression(FileId(1), text, 0).expect("valid");
    let mut found = Vec::new();
    references(&expression, &mut |root, steps, span| {
        found.push(format!(
            "{}{} @{}",
            root.text,
            print::steps(steps),
            &text[span.start() as usize..span.end() as usize]
        ));
    });
    expect![[r#"
        a.b[c] @a.b[c]
        c @c
        d.e @d.e
        w @w
        g @g
        h.i @h.i
        j @j
        l @l"#]]
    .assert_eq(&found.join("\n"));
    let mut called = Vec::new();
    calls(&expression, &mut |name, arguments, _| {
        called.push((name.text.to_string(), arguments.len()))
    });
    assert_eq!(called, [("f".to_owned(), 1)]);
}

#[test]
fn spans_cover_what_they_name() {
    let text = "res \"a\" \"b\" {\n  x = f(1, y[0].z) + \"${ q }\"\n}\n";
    let (body, _) = parse(FileId(1), text);
    let at = |span: Span| &text[span.start() as usize..span.end() as usize];
    let block = &body.blocks[0];
    assert_eq!(at(block.header), "res \"a\" \"b\"");
    assert_eq!(at(block.labels[1].span), "\"b\"");
    assert!(at(block.body.span).starts_with("{\n") && at(block.body.span).ends_with('}'));
    let attribute = &block.body.attributes[0];
    assert_eq!(at(attribute.span()), "x = f(1, y[0].z) + \"${ q }\"");
    let Expr::Binary(_, call, string) = &attribute.value.expr else { panic!("a sum") };
    assert_eq!(at(call.span), "f(1, y[0].z)");
    assert_eq!(at(string.span), "\"${ q }\"");
}

#[test]
fn paths_are_names_and_literal_keys() {
    let show = |text: &str| match parse_traversal(FileId(1), text, 0) {
        Ok(it) => format!("{text}  ->  {}{}\n", it.root().text, print::steps(it.steps())),
        Err(diags) => format!("{text}  ->  {}", problems_of(text, &diags)),
    };
    let texts = [
        "a.b[0][\"x\"] // c",
        "",
        "1a",
        ".a",
        "a.",
        "a.0",
        "a.*",
        "a[*]",
        "a[-1]",
        "a[b]",
        "a[1+1]",
        "a[\"${x}\"]",
        "a b",
        "a,b",
        "a[\"$${x}\"]",
        "a[\"x",
    ];
    expect![[r#"
        a.b[0]["x"] // c  ->  a.b[0]["x"]
          ->  1:1-1:1 Variable name required
        1a  ->  1:1-1:2 Variable name required
        .a  ->  1:1-1:2 Variable name required
        a.  ->  1:3-1:3 Attribute name required
        a.0  ->  1:3-1:4 Attribute name required
        a.*  ->  1:3-1:4 Attribute name required
        a[*]  ->  1:3-1:4 Attribute name required
        a[-1]  ->  1:3-1:4 Index value required
        a[b]  ->  1:3-1:4 Index value required
        a[1+1]  ->  1:4-1:5 Unclosed index brackets
        a["${x}"]  ->  1:4-1:6 Invalid string literal
        a b  ->  1:3-1:4 Invalid character
        a,b  ->  1:2-1:3 Invalid character
        a["$${x}"]  ->  a["${x}"]
        a["x  ->  1:5-1:5 Unterminated string literal
    "#]]
    .assert_eq(&texts.map(show).concat());
}

#[test]
fn what_a_large_configuration_has_millions_of_is_small() {
    assert_eq!((size_of::<Name>(), size_of::<Step>(), size_of::<Expression>()), (16, 16, 32));
}

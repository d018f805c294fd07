//! JSON texts in; attributes, blocks and problems out.

use expect_test::{Expect, expect};

use super::{print, problems_of};
use crate::diagnostic::FileId;
use crate::syntax::*;

const RESOURCE: &[BlockSchema<'_>] = &[
    BlockSchema { kind: "resource", labels: &["type", "name"] },
    BlockSchema { kind: "locals", labels: &[] },
    BlockSchema { kind: "variable", labels: &["name"] },
];

/// Reads a file, sorts it by a small schema, and every block's body as attributes only.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let (body, mut diags) = parse_json(FileId(1), text);
    let (content, more) = body.content(&[AttributeSchema { name: "a", required: false }], RESOURCE);
    diags.extend(more);
    let mut out = print::body(&Body { blocks: Rarely::default(), ..content.clone() }, 0);
    for block in content.blocks {
        let (attributes, more) = block.body.just_attributes();
        diags.extend(more);
        let body = Body { attributes, ..Body::default() };
        out += &print::body(
            &Body { blocks: vec![Block { body, ..block }].into(), ..Body::default() },
            0,
        );
    }
    expected.assert_eq(&(out + &problems_of(text, &diags)));
}

#[test]
fn members_become_attributes_and_blocks() {
    check(
        r#"{
  "//": "a comment with ${ no meaning",
  "a": [1, -2, true, null, "x", "${b.c}", "y ${z}", {"k": "v", "${d}": 1}],
  "resource": {
    "null_resource": {
      "one": {"//": "c", "triggers": {"//": "kept"}, "n": null},
      "two": [{"x": 1}, {"x": 2}]
    },
    "t": [{"three": {}}, {"four": {}}],
    "gone": {"five": null}
  },
  "locals": [{"p": 1}, {"q": "$${x}"}]
}"#,
        expect![[r#"
            a = [1, -2, true, null, "x", W(b.c), T("y ", ${z}), {<"k"> = "v", <W(d)> = 1}]
            resource "null_resource" "one"
              triggers = {<"//"> = "kept"}
              n = null
            resource "null_resource" "two"
              x = 1
            resource "null_resource" "two"
              x = 2
            resource "t" "three"
            resource "t" "four"
            locals
              p = 1
            locals
              q = "${x}"
        "#]],
    );
}

#[test]
fn wrong_members_are_reported_where_they_stand() {
    check(
        r#"{
  "a": "${1 +}", "a": 2,
  "resourse": {}, "locals": 3, "variable": {}, "resource": {"x": [1]},
  "variable": {"x": 1, "y": {"z": "\u0041\n${)}", "z": 1}}
}"#,
        expect![[r#"
            a = <Invalid expression>
            variable "y"
              z = <Invalid expression>
            2:18-2:21 Duplicate argument
            3:29-3:30 Incorrect JSON value type
            3:44-3:45 Missing block label
            3:67-3:68 Incorrect JSON value type
            3:66-3:67 Missing block label
            4:21-4:22 Incorrect JSON value type
            3:3-3:13 Extraneous JSON object property
            4:51-4:54 Duplicate attribute definition
        "#]],
    );
}

#[test]
fn mistakes_of_form_have_hcls_summaries() {
    for (text, summary) in [
        ("1", "Root value must be object"),
        ("[1]", "Root value must be object"),
        ("{} 1", "Extraneous data after value"),
        ("{\"a\": 1,}", "Trailing comma in object"),
        ("{\"a\": [1,]}", "Trailing comma in array"),
        ("{\"a\"}", "Missing object value"),
        ("{\"a\" = 1}", "Missing property value colon"),
        ("{\"a\" 1}", "Missing property value colon"),
        ("{\"a\": 1 \"b\": 2}", "Missing attribute seperator comma"),
        ("{\"a\": 1", "Unclosed object"),
        ("{\"a\": [1", "Unclosed object"),
        ("{\"a\": 1]", "Mismatched braces"),
        ("{\"a\": [1}}", "Mismatched brackets"),
        ("{\"a\": [1:2]}", "Invalid array value"),
        ("{\"a\": 01}", "Invalid JSON number"),
        ("{\"a\": .5}", "Invalid JSON number"),
        ("{\"a\": True}", "Invalid JSON keyword"),
        ("{\"a\": NaN}", "Invalid JSON keyword"),
        ("{\"a\": \"\\x\"}", "Invalid JSON string"),
        ("{\"a\": \"b\n\"}", "Invalid JSON string"),
        ("{\"a\": \"b", "Invalid JSON string"),
        ("{1: 2}", "Invalid object property name"),
        ("{\"a\": }", "Missing JSON value"),
        ("{\"a\": [1, , 2]}", "Invalid start of value"),
        ("{'a': 1}", "Invalid start of value"),
    ] {
        let (body, diags) = parse_json(FileId(1), text);
        assert_eq!(
            diags.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>(),
            [summary],
            "{text:?}"
        );
        assert!(body.json.is_some_and(|it| it.members.is_empty()));
    }
    // What does not even begin with a bracket is no object besides.
    for text in ["", "terraform {}"] {
        let (_, diags) = parse_json(FileId(1), text);
        assert_eq!(diags.0.len(), 2, "{text:?}");
        assert_eq!(diags.0[1].summary, "Root value must be object");
    }
    assert!(parse_json(FileId(1), &"[".repeat(100_000)).1.has_errors());
    assert!(
        !parse_json(FileId(1), &format!("{{\"a\":{}{}}}", "[".repeat(400), "]".repeat(400)))
            .1
            .has_errors()
    );
}

#[test]
fn strings_resolve_the_escapes_of_json() {
    check(
        r#"{"a": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800 e\u0301"}"#,
        expect![[r#"
            a = "\"\\/\u{8}\u{c}\n\r\té😀� é"
        "#]],
    );
}

#[test]
fn the_same_text_can_be_template_literal_or_expression() {
    let text = r#"{"a": "b.c[\"d\"]", "e": "costs ${1}", "f": ["g.h", "i"], "j": {"aws": "aws.x"}, "k": "l("}"#;
    let (body, _) = parse_json(FileId(1), text);
    let bare = |name: &str| match body.bare(name) {
        Ok(it) => it.map_or("-".to_owned(), |it| print::expression(&it)),
        Err(diags) => problems_of(text, &diags),
    };
    assert_eq!(bare("a"), "b.c[\"d\"]");
    assert_eq!(bare("f"), "[g.h, i]");
    assert_eq!(bare("j"), "{<aws> = aws.x}");
    assert_eq!(
        bare("k"),
        "1:90-1:90 Missing expression
"
    );
    assert_eq!(bare("z"), "-");
    assert_eq!(
        body.literal("e").map(|it| print::expression(&it)).as_deref(),
        Some("\"costs ${1}\"")
    );
    let (attributes, _) = body.literal_attributes();
    assert_eq!(print::expression(&attributes[1].value), "\"costs ${1}\"");
    // Spans see through escapes: the key in the file, quotes of the expression and of JSON included.
    let a = body.bare("a").expect("valid").expect("there");
    assert_eq!(&text[a.span.start() as usize..a.span.end() as usize], r#"b.c[\"d\"]"#);
}

#[test]
fn native_bodies_pass_the_same_door() {
    let text = "a = 1\nresource \"x\" {}\nresource \"x\" \"y\" \"z\" {}\nresourse \"x\" \"y\" {}\nb = 1\nlocals {}\nlocals = 1\na {}\n";
    let (body, _) = parse(FileId(1), text);
    let required = [
        AttributeSchema { name: "a", required: true },
        AttributeSchema { name: "c", required: true },
    ];
    let (content, diags) = body.content(&required, RESOURCE);
    expect![[r#"
        a = 1
        locals
        2:14-2:15 Missing name for resource
        3:18-3:21 Extraneous label for resource
        1:1-1:2 Missing required argument
        5:1-5:2 Unsupported argument
        7:1-7:7 Unsupported argument
        4:1-4:9 Unsupported block type
        8:1-8:2 Unsupported block type
    "#]]
    .assert_eq(&(print::body(&content, 0) + &problems_of(text, &diags)));
    let (known, rest, _) = body.partial_content(&required[..1], &[]);
    assert_eq!((known.attributes.len(), rest.attributes.len(), rest.blocks.len()), (1, 2, 5));
    assert_eq!(body.just_attributes().1.0[0].summary, "Unexpected \"resource\" block");
}

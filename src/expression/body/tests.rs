//! Bodies through a schema: text in, value and problems out.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::super::print::format_value;
use super::super::tests::support::{Known, shown_subject};
use super::*;
use crate::diagnostic::Sources;
use crate::schema::NestedAttributes;
use crate::value::PathStep;

fn attribute(ty: Type) -> AttributeSchema {
    AttributeSchema { optional: true, ..AttributeSchema::of(ty) }
}

/// `name` (required), `count`, `tags`, blocks `rule` (list, at least one), `timeouts` (single), `zone` (set), `by` (map).
fn schema() -> BlockSchema {
    let rule = BlockSchema {
        attributes: BTreeMap::from([
            ("port".into(), attribute(Type::NUMBER)),
            ("to".into(), attribute(Type::STRING)),
        ]),
        ..BlockSchema::default()
    };
    let nested = |nesting, min_items, max_items| NestedBlock {
        nesting,
        block: rule.clone(),
        min_items,
        max_items,
    };
    let entry = Type::object(vec![("k".into(), Type::STRING)]);
    BlockSchema {
        attributes: BTreeMap::from([
            (
                "name".into(),
                AttributeSchema { required: true, optional: false, ..attribute(Type::STRING) },
            ),
            ("size".into(), attribute(Type::NUMBER)),
            ("tags".into(), attribute(Type::map(Type::STRING))),
            ("entries".into(), attribute(Type::list(entry))),
            (
                "nested".into(),
                AttributeSchema {
                    nested: Some(Box::new(NestedAttributes {
                        nesting: Nesting::Single,
                        attributes: BTreeMap::from([
                            ("a".into(), attribute(Type::STRING)),
                            ("b".into(), attribute(Type::STRING)),
                        ]),
                    })),
                    ..attribute(Type::object(vec![
                        ("a".into(), Type::STRING),
                        ("b".into(), Type::STRING),
                    ]))
                },
            ),
        ]),
        blocks: BTreeMap::from([
            ("rule".into(), nested(Nesting::List, 0, 2)),
            ("timeouts".into(), nested(Nesting::Single, 0, 1)),
            ("zone".into(), nested(Nesting::Set, 0, 0)),
            ("by".into(), nested(Nesting::Map, 0, 0)),
        ]),
        ..BlockSchema::default()
    }
}

fn parse(text: &str) -> (Body, Sources) {
    let sources = Sources::default();
    let json = text.trim_start().starts_with('{');
    let file = sources.add(if json { "main.tf.json" } else { "main.tf" }, text.into());
    let (body, problems) =
        if json { syntax::parse_json(file, text) } else { syntax::parse(file, text) };
    assert!(problems.is_empty(), "{problems:?}");
    (body, sources)
}

fn told(problems: &Diagnostics) -> String {
    problems.iter().map(|it| format!("\n{}: {}", it.summary, it.detail)).collect()
}

/// Decodes a body; attributes that are null or empty are not shown.
#[track_caller]
fn check(text: &str, wanted: Expect) {
    let (body, _) = parse(text);
    let (value, problems) = decode_body(&body, &schema(), &Known::usual(), &[]);
    assert!(
        value.ty().conforms(schema().ty()) || value.ty().has_dynamic(),
        "the value is of the schema's type"
    );
    let mut shown = String::new();
    for (name, value) in value.entries() {
        let empty = value.is_null()
            || (value.is_known()
                && !value.ty().is_primitive()
                && value.children().next().is_none());
        if !empty {
            let sensitive = if value.contains_sensitive() { " (sensitive)" } else { "" };
            let text = format_value(&value.to_plain());
            shown.push_str(&format!(
                "{name}{sensitive} = {}\n",
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            ));
        }
    }
    wanted.assert_eq(&format!("{}{}", shown.trim_end(), told(&problems)));
}

#[test]
fn arguments_are_converted_and_blocks_are_collected() {
    check(
        r#"
        name = 5
        size = "7"
        tags = { a = 1, b = var.secret }
        rule { port = "80" }
        rule { to = "x" }
        zone { to = "b" }
        zone { to = "a" }
        zone { to = "b" }
        by "k" { port = 1 }
        timeouts {}
        "#,
        expect![[r#"
            by = tomap({ "k" = { "port" = 1 "to" = tostring(null) } })
            name = "5"
            rule = tolist([ { "port" = 80 "to" = tostring(null) }, { "port" = tonumber(null) "to" = "x" }, ])
            size = 7
            tags (sensitive) = tomap({ "a" = "1" "b" = "hush" })
            timeouts = { "port" = tonumber(null) "to" = tostring(null) }
            zone = toset([ { "port" = tonumber(null) "to" = "a" }, { "port" = tonumber(null) "to" = "b" }, ])"#]],
    );
}

#[test]
fn nested_attributes_need_not_all_be_set() {
    check(
        r#"
        name = "x"
        nested = { a = 1 }
        "#,
        expect![[r#"
            name = "x"
            nested = { "a" = "1" "b" = tostring(null) }"#]],
    );
}

#[test]
fn blocks_may_stand_for_a_list_of_objects() {
    check(
        r#"
        name = "x"
        entries { k = 1 }
        dynamic "entries" {
          for_each = ["2"]
          content { k = entries.value }
        }
        "#,
        expect![[r#"
            entries = tolist([ { "k" = "1" }, { "k" = "2" }, ])
            name = "x""#]],
    );
    check(
        r#"
        name = "x"
        dynamic "entries" {
          for_each = []
          content { k = entries.value }
        }
        "#,
        expect![[r#"name = "x""#]],
    );
    check(
        r#"
        name = "x"
        dynamic "entries" {
          for_each = var.later_list
          content { k = entries.value }
        }
        "#,
        expect![[r#"
            entries = tolist([ { "k" = (known after apply) }, ])
            name = "x""#]],
    );
}

#[test]
fn dynamic_blocks_are_written_out() {
    check(
        r#"
        name = "x"
        dynamic "rule" {
          for_each = { a = 1, b = 2 }
          iterator = it
          content {
            port = it.value
            to   = it.key
          }
        }
        dynamic "by" {
          for_each = toset(["k"])
          labels   = ["${by.key}!"]
          content { to = by.value }
        }
        "#,
        expect![[r#"
            by = tomap({ "k!" = { "port" = tonumber(null) "to" = "k" } })
            name = "x"
            rule = tolist([ { "port" = 1 "to" = "a" }, { "port" = 2 "to" = "b" }, ])"#]],
    );
}

#[test]
fn what_an_unknown_collection_of_dynamic_blocks_is_marked_with_stays_away() {
    check(
        r#"
        name = "x"
        dynamic "rule" {
          for_each = sensitive(var.later_list)
          content { to = "a" }
        }
        dynamic "zone" {
          for_each = sensitive(var.list)
          content { to = "a" }
        }
        "#,
        expect![[r#"
            name = "x"
            rule = (known after apply)
            zone (sensitive) = toset([ { "port" = tonumber(null) "to" = "a" }, ])"#]],
    );
}

#[test]
fn a_string_of_json_that_is_no_template_hides_no_other_problem() {
    check(
        r#"{"name": "${1 +}", "size": "${var.nope}", "tags": {"a": "${)}", "b": "c"}}"#,
        expect![[r#"
            name = (known after apply)
            size = (known after apply)
            tags = (known after apply)
            Invalid expression: Expected the start of an expression, but found an invalid expression token.
            Reference to undeclared thing: There is no variable nope.
            Invalid expression: Expected the start of an expression, but found an invalid expression token."#]],
    );
}

#[test]
fn dynamic_blocks_of_unknown_number_are_unknown_together() {
    check(
        r#"
        name = "x"
        dynamic "rule" {
          for_each = var.later_list
          content { to = rule.value }
        }
        "#,
        expect![[r#"
            name = "x"
            rule = (known after apply)"#]],
    );
}

#[test]
fn blocks_inside_of_blocks_of_unknown_number_are_not_counted() {
    let outer = NestedBlock {
        nesting: Nesting::List,
        block: BlockSchema {
            blocks: BTreeMap::from([("rule".into(), schema().blocks["rule"].clone())]),
            ..BlockSchema::default()
        },
        min_items: 0,
        max_items: 0,
    };
    let schema =
        BlockSchema { blocks: BTreeMap::from([("outer".into(), outer)]), ..BlockSchema::default() };
    let one = "dynamic \"rule\" {\n for_each = outer.value\n content {}\n}\n";
    for (each, wanted) in [("var.later_list", ""), ("[[1]]", "Too many rule blocks")] {
        let text = format!(
            "dynamic \"outer\" {{\n for_each = {each}\n content {{\n{one}{one}{one}}}\n}}\n"
        );
        let (body, _) = parse(&text);
        let (_, problems) = decode_body(&body, &schema, &Known::usual(), &[]);
        let summaries: Vec<&str> = problems.iter().map(|it| &*it.summary).collect();
        assert_eq!(summaries.join(", "), wanted, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    check(
        r#"
        nam = 1
        size = []
        rule {}
        rule {}
        rule {}
        timeouts {}
        timeouts {}
        zoen {}
        dynamic "nothing" {
          for_each = []
          content {}
        }
        dynamic "zone" {
          for_each = "x"
          content {}
        }
        "#,
        expect![[r#"
            rule = tolist([ { "port" = tonumber(null) "to" = tostring(null) }, { "port" = tonumber(null) "to" = tostring(null) }, { "port" = tonumber(null) "to" = tostring(null) }, ])
            size = (known after apply)
            timeouts = { "port" = tonumber(null) "to" = tostring(null) }
            Missing required argument: The argument "name" is required, but no definition was found.
            Unsupported argument: An argument named "nam" is not expected here. Did you mean "name"?
            Unsupported block type: Blocks of type "zoen" are not expected here. Did you mean "zone"?
            Unsupported block type: Blocks of type "nothing" are not expected here.
            Incorrect attribute value type: Inappropriate value for attribute "size": number required, but have tuple.
            Too many rule blocks: No more than 2 "rule" blocks are allowed
            Duplicate timeouts block: Only one block of type "timeouts" is allowed.
            Invalid dynamic for_each value: Cannot use a string value in for_each. An iterable collection is required."#]],
    );
}

#[test]
fn json_is_read_by_the_schema() {
    check(
        r#"{
          "name": "${var.text}!",
          "size": 3,
          "rule": [{ "port": 1 }, { "port": "${var.number}" }],
          "by": { "k": { "to": "x" } },
          "dynamic": { "zone": { "for_each": ["q"], "content": { "to": "${zone.value}" } } }
        }"#,
        expect![[r#"
            by = tomap({ "k" = { "port" = tonumber(null) "to" = "x" } })
            name = "abc!"
            rule = tolist([ { "port" = 1 "to" = tostring(null) }, { "port" = 5 "to" = tostring(null) }, ])
            size = 3
            zone = toset([ { "port" = tonumber(null) "to" = "q" }, ])"#]],
    );
}

#[test]
fn structure_is_checked_without_evaluating() {
    let (body, _) = parse(
        "nam = nowhere.at.all\nrule { prt = 1 }\ndynamic \"rule\" {\n for_each = x\n content { quality = 1 }\n}\n",
    );
    expect![[r#"

        Missing required argument: The argument "name" is required, but no definition was found.
        Unsupported argument: An argument named "nam" is not expected here. Did you mean "name"?
        Unsupported argument: An argument named "quality" is not expected here.
        Unsupported argument: An argument named "prt" is not expected here. Did you mean "port"?"#]]
    .assert_eq(&told(&validate_body(&body, &schema())));
}

#[test]
fn references_are_found_and_iterators_are_not() {
    let text = "name = var.a\ndynamic \"rule\" {\n for_each = local.b\n content { to = \"${rule.value}${t.n.id}\" }\n}\nzone { to = var.c }\n";
    let (body, _) = parse(text);
    let mut found = Vec::new();
    let problems = body_references(&body, &mut |it| found.push(shown_subject(it.subject)));
    assert!(problems.is_empty());
    assert_eq!(found, ["Variable(\"a\")", "Local(\"b\")", "t.n", "Variable(\"c\")"]);
}

#[test]
fn a_walk_evaluates_each_iteration() {
    let text =
        "dynamic \"rule\" {\n for_each = [0, 1]\n content { to = test_thing.a[rule.value] }\n}\n";
    let (body, _) = parse(text);
    let mut scope = Known::usual();
    scope.resources = vec![("test_thing.a[0]", Value::int(0)), ("test_thing.a[1]", Value::int(1))];
    assert!(walk_body(&body, &scope, &[]).is_empty());
    assert_eq!(scope.told.into_inner().len(), 2);
}

#[test]
fn paths_lead_back_to_the_source() {
    let text = "name = \"x\"\ntags = { a = 1, b = 2 }\nrule { to = \"p\" }\nrule { to = \"q\" }\n";
    let (body, sources) = parse(text);
    let at = |path: Vec<PathStep>| {
        let span = span_of_path(&body, &path);
        sources.get(span.file()).expect("the file is there").text().clone()
            [span.start() as usize..span.end() as usize]
            .to_owned()
    };
    let name = |it: &str| PathStep::Attribute(it.into());
    assert_eq!(at(vec![name("name")]), "\"x\"");
    assert_eq!(at(vec![name("tags"), PathStep::Index(Value::string("b"))]), "2");
    assert_eq!(at(vec![name("rule"), PathStep::Index(Value::int(1)), name("to")]), "\"q\"");
    assert_eq!(at(vec![name("rule"), PathStep::Index(Value::int(0)), name("port")]), "{");
    assert_eq!(at(vec![name("tags"), PathStep::Index(Value::string("c"))]), "tags");
    assert_eq!(at(vec![name("rule"), name("to")]), "n");
    assert_eq!(at(vec![name("rule"), PathStep::Index(Value::int(0))]), "n");
}

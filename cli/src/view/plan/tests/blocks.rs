//! Attributes of known types, nested blocks, structural attributes.

use super::*;

fn typed() -> Schemas {
    let object = Type::object(vec![("a".into(), Type::NUMBER), ("b".into(), Type::STRING)]);
    let attributes = [
        ("id", Type::STRING),
        ("map", Type::map(Type::STRING)),
        ("set", Type::set(Type::STRING)),
        ("list", Type::list(object)),
        ("object", object),
    ];
    let mut attributes: BTreeMap<Str, _> =
        attributes.into_iter().map(|(name, ty)| (name.into(), attribute(ty))).collect();
    attributes
        .insert("secret".into(), AttributeSchema { sensitive: true, ..attribute(Type::STRING) });
    attributes
        .insert("password".into(), AttributeSchema { write_only: true, ..attribute(Type::STRING) });
    let inner = || BlockSchema {
        attributes: [("x".into(), attribute(Type::STRING)), ("y".into(), attribute(Type::NUMBER))]
            .into(),
        ..BlockSchema::default()
    };
    let nested = |nesting| NestedBlock { nesting, block: inner(), min_items: 0, max_items: 0 };
    let blocks = [
        ("rule", nested(Nesting::List)),
        ("port", nested(Nesting::Set)),
        ("zone", nested(Nesting::Map)),
        ("timeouts", nested(Nesting::Single)),
    ];
    let blocks = blocks.into_iter().map(|(name, it)| (name.into(), it)).collect();
    schemas(BlockSchema { attributes, blocks, ..BlockSchema::default() })
}

#[test]
fn collections_of_a_type_are_compared_by_key_element_or_position() {
    let before = r#"{
        "id": "x", "map": {"a": "1", "b c": "2", "same": "3"}, "set": ["a", "b", "c"],
        "list": [{"a": 1, "b": "x"}, {"a": 2, "b": null}], "object": {"a": 1, "b": null},
        "secret": "old", "password": null, "rule": [], "port": [], "zone": {}, "timeouts": null
    }"#;
    let after = r#"{
        "id": "x", "map": {"a": "2", "new": "?", "same": "3"}, "set": ["b", "c", "d"],
        "list": [{"a": 1, "b": "x"}, {"a": 3, "b": "y"}, {"a": 4, "b": "?"}], "object": {"a": 2, "b": null},
        "secret": "new", "password": null, "rule": [], "port": [], "zone": {}, "timeouts": null
    }"#;
    check_change(
        change(Action::Update, before, after),
        &typed(),
        expect![[r#"
              # test_thing.a will be updated in-place
              ~ resource "test_thing" "a" {
                    id       = "x"
                  ~ list     = [
                        {
                            a = 1
                            b = "x"
                        },
                      ~ {
                          ~ a = 2 -> 3
                          + b = "y"
                        },
                      + {
                          + a = 4
                          + b = (known after apply)
                        },
                    ]
                  ~ map      = {
                      ~ "a"    = "1" -> "2"
                      - "b c"  = "2" -> null
                      + "new"  = (known after apply)
                        # (1 unchanged element hidden)
                    }
                  ~ object   = {
                      ~ a = 1 -> 2
                    }
                  ~ password = (write-only attribute)
                  ~ secret   = (sensitive value)
                  ~ set      = [
                      - "a",
                      + "d",
                        # (2 unchanged elements hidden)
                    ]
                }
        "#]],
    );
}

#[test]
fn nested_blocks_follow_the_attributes() {
    let before = r#"{
        "id": "x", "map": null, "set": null, "list": null, "object": null, "secret": null, "password": null,
        "rule": [{"x": "a", "y": 1}, {"x": "b", "y": 2}], "port": [{"x": "p", "y": 1}, {"x": "q", "y": 2}],
        "zone": {"z 1": {"x": "a", "y": null}}, "timeouts": {"x": "1m", "y": null}
    }"#;
    let after = r#"{
        "id": "x", "map": null, "set": null, "list": null, "object": null, "secret": null, "password": null,
        "rule": [{"x": "a", "y": 1}, {"x": "c", "y": 2}, {"x": "", "y": "?"}], "port": [{"x": "p", "y": 1}, {"x": "q", "y": 3}],
        "zone": {"z 1": {"x": "a", "y": 1}, "z2": {"x": "b", "y": null}}, "timeouts": null
    }"#;
    check_change(
        change(Action::Update, before, after),
        &typed(),
        expect![[r#"
              # test_thing.a will be updated in-place
              ~ resource "test_thing" "a" {
                    id       = "x"
                    # (1 unchanged attribute hidden)

                  - port {
                      - x = "q" -> null
                      - y = 2 -> null
                    }
                  + port {
                      + x = "q"
                      + y = 3
                    }

                  ~ rule {
                      ~ x = "b" -> "c"
                        # (1 unchanged attribute hidden)
                    }
                  + rule {
                      + y = (known after apply)
                    }

                  - timeouts {
                      - x = "1m" -> null
                    }

                  ~ zone "z 1" {
                      + y = 1
                        # (1 unchanged attribute hidden)
                    }
                  + zone "z2" {
                      + x = "b"
                    }

                    # (2 unchanged blocks hidden)
                }
        "#]],
    );
}

#[test]
fn what_forces_a_replacement_says_so() {
    let before = r#"{
        "id": "x", "map": {"a": "1"}, "set": ["a"], "list": [{"a": 1, "b": "x"}], "object": null, "secret": "s", "password": null,
        "rule": [{"x": "a", "y": 1}], "port": [], "zone": {}, "timeouts": null
    }"#;
    let after = r#"{
        "id": "?", "map": {"a": "2"}, "set": ["b"], "list": [{"a": 2, "b": "x"}], "object": null, "secret": "t", "password": null,
        "rule": [{"x": "b", "y": 1}], "port": [], "zone": {}, "timeouts": null
    }"#;
    let path = |name: &str| PathStep::Attribute(name.into());
    let mut change = change(Action::DeleteThenCreate, before, after);
    change.details.replace_paths = [
        vec![path("map")],
        vec![path("set")],
        vec![path("secret")],
        vec![path("list"), PathStep::Index(Value::int(0)), path("a")],
        vec![path("rule"), PathStep::Index(Value::int(0)), path("x")],
    ]
    .into();
    check_change(
        change,
        &typed(),
        expect![[r#"
              # test_thing.a must be replaced
            -/+ resource "test_thing" "a" {
                  ~ id       = "x" -> (known after apply)
                  ~ list     = [
                      ~ {
                          ~ a = 1 -> 2 # forces replacement
                            # (1 unchanged attribute hidden)
                        },
                    ]
                  ~ map      = { # forces replacement
                      ~ "a" = "1" -> "2"
                    }
                  ~ password = (write-only attribute)
                  ~ secret   = (sensitive value) # forces replacement
                  ~ set      = [ # forces replacement
                      - "a",
                      + "b",
                    ]

                  ~ rule {
                      ~ x = "a" -> "b" # forces replacement
                        # (1 unchanged attribute hidden)
                    }
                }
        "#]],
    );
}

#[test]
fn blocks_that_are_all_sensitive_are_covered() {
    let before = r#"{"id": "x", "rule": {"!": [{"x": "a", "y": 1}]}}"#;
    let after = r#"{"id": "x", "rule": {"!": [{"x": "b", "y": 1}]}}"#;
    let block = BlockSchema {
        attributes: [("x".into(), attribute(Type::STRING))].into(),
        ..BlockSchema::default()
    };
    let nested = NestedBlock { nesting: Nesting::List, block, min_items: 0, max_items: 0 };
    let schema = BlockSchema {
        attributes: [("id".into(), attribute(Type::STRING))].into(),
        blocks: [("rule".into(), nested)].into(),
        ..BlockSchema::default()
    };
    check_change(
        change(Action::Update, before, after),
        &schemas(schema),
        expect![[r#"
              # test_thing.a will be updated in-place
              ~ resource "test_thing" "a" {
                    id = "x"

                  ~ rule {
                      # At least one attribute in this block is (or was) sensitive,
                      # so its contents will not be displayed.
                    }
                }
        "#]],
    );
}

#[test]
fn what_the_schema_calls_sensitive_is_covered_however_deep_it_stands() {
    let secret = AttributeSchema { sensitive: true, ..attribute(Type::STRING) };
    let attributes: BTreeMap<Str, AttributeSchema> =
        [("name".into(), attribute(Type::STRING)), ("secret".into(), secret)].into();
    let user = AttributeSchema {
        nested: Some(Box::new(NestedAttributes {
            nesting: Nesting::Single,
            attributes: attributes.clone(),
        })),
        ..attribute(Type::DYNAMIC)
    };
    let block = BlockSchema { attributes, ..BlockSchema::default() };
    let nested = NestedBlock { nesting: Nesting::List, block, min_items: 0, max_items: 0 };
    let schema = BlockSchema {
        attributes: [("id".into(), attribute(Type::STRING)), ("user".into(), user)].into(),
        blocks: [("rule".into(), nested)].into(),
        ..BlockSchema::default()
    };
    let object = |name: &str, secret: &str| {
        let part = format!(r#"{{"name": "{name}", "secret": "{secret}"}}"#);
        format!(r#"{{"id": "x", "user": {part}, "rule": [{part}]}}"#)
    };
    check_change(
        change(Action::Update, &object("a", "s"), &object("b", "t")),
        &schemas(schema),
        expect![[r##"
            # test_thing.a will be updated in-place
            ~ resource "test_thing" "a" {
                  id   = "x"
                ~ user = {
                    ~ name   = "a" -> "b"
                    ~ secret = (sensitive value)
                  }

                ~ rule {
                    ~ name   = "a" -> "b"
                    ~ secret = (sensitive value)
                  }
              }
        "##]],
    );
}

#[test]
fn structural_attributes_are_looked_into() {
    let attributes: BTreeMap<Str, AttributeSchema> =
        [("a".into(), attribute(Type::STRING)), ("b".into(), attribute(Type::STRING))].into();
    let nested = |nesting| AttributeSchema {
        nested: Some(Box::new(NestedAttributes { nesting, attributes: attributes.clone() })),
        ..attribute(Type::DYNAMIC)
    };
    let schema = BlockSchema {
        attributes: [
            ("one".into(), nested(Nesting::Single)),
            ("some".into(), nested(Nesting::List)),
            ("named".into(), nested(Nesting::Map)),
            ("unknown".into(), nested(Nesting::Single)),
        ]
        .into(),
        ..BlockSchema::default()
    };
    let before = r#"{
        "one": {"a": "1", "b": "2"}, "some": [{"a": "1", "b": null}, {"a": "2", "b": null}],
        "named": {"k": {"a": "1", "b": "2"}, "l": {"a": "1", "b": null}}, "unknown": {"a": "1", "b": null}
    }"#;
    let after = r#"{
        "one": {"a": "1", "b": "3"}, "some": [{"a": "1", "b": null}, {"a": "3", "b": null}],
        "named": {"k": {"a": "1", "b": null}}, "unknown": "?"
    }"#;
    check_change(
        change(Action::Update, before, after),
        &schemas(schema),
        expect![[r#"
              # test_thing.a will be updated in-place
              ~ resource "test_thing" "a" {
                  ~ named   = {
                      ~ "k" = {
                          - b = "2" -> null
                            # (1 unchanged attribute hidden)
                        },
                      - "l" = {
                          - a = "1" -> null
                        },
                    }
                  ~ one     = {
                      ~ b = "2" -> "3"
                        # (1 unchanged attribute hidden)
                    }
                  ~ some    = [
                      ~ {
                          ~ a = "2" -> "3"
                        },
                        # (1 unchanged element hidden)
                    ]
                  ~ unknown = {
                      ~ a = "1" -> (known after apply)
                      + b = (known after apply)
                    } -> (known after apply)
                }
        "#]],
    );
}

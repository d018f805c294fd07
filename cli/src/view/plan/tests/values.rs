//! Values of attributes whose type is open.

use super::*;

#[test]
fn what_is_created_is_shown_whole() {
    let after = r#"{
        "id": "?",
        "input": {
            "json": "{\"a\":[1,{\"x\":\"y\"}],\"e\":{},\"f\":[]}", "list": ["a", null], "text": "line1\nline2\n", "n": 3, "t": true,
            "b c": {}, "long-name": [], "quote": "a\"${x}\n"
        },
        "output": "?",
        "triggers_replace": null
    }"#;
    check_change(
        change(Action::Create, "null", after),
        &loose(),
        expect![[r#"
              # test_thing.a will be created
              + resource "test_thing" "a" {
                  + id     = (known after apply)
                  + input  = {
                      + "b c"     = {}
                      + json      = jsonencode(
                            {
                              + a = [
                                  + 1,
                                  + {
                                      + x = "y"
                                    },
                                ]
                              + e = {}
                              + f = []
                            }
                        )
                      + list      = [
                          + "a",
                          + null,
                        ]
                      + long-name = []
                      + n         = 3
                      + quote     = <<-EOT
                            a"${x}
                        EOT
                      + t         = true
                      + text      = <<-EOT
                            line1
                            line2
                        EOT
                    }
                  + output = (known after apply)
                }
        "#]],
    );
}

#[test]
fn an_update_shows_what_changes_and_folds_the_rest() {
    let before = r#"{
        "id": "x",
        "input": {
            "json": "{\"a\":[1,2,{\"x\":\"one\"}]}", "list": ["a", "b", "one", "c", "d"], "text": "line1\none\nline3\n",
            "n": 3, "same": [1], "gone": 1, "kind": "x"
        },
        "output": {"list": ["a"], "text": "l1\nl2"},
        "triggers_replace": null
    }"#;
    let after = r#"{
        "id": "x",
        "input": {
            "json": "{\"a\":[1,2,{\"x\":\"two\"}]}", "list": ["a", "b", "two", "c", "d"], "text": "line1\ntwo\nline3\n",
            "n": 4, "same": [1], "come": null, "kind": ["x"]
        },
        "output": "?",
        "triggers_replace": null
    }"#;
    check_change(
        change(Action::Update, before, after),
        &loose(),
        expect![[r#"
              # test_thing.a will be updated in-place
              ~ resource "test_thing" "a" {
                    id     = "x"
                  ~ input  = {
                      + come = null
                      - gone = 1
                      ~ json = jsonencode(
                          ~ {
                              ~ a = [
                                    # (1 unchanged element hidden)
                                    2,
                                  ~ {
                                      ~ x = "one" -> "two"
                                    },
                                ]
                            }
                        )
                      ~ kind = "x" -> [
                          + "x",
                        ]
                      ~ list = [
                            # (1 unchanged element hidden)
                            "b",
                          - "one",
                          + "two",
                            "c",
                            # (1 unchanged element hidden)
                        ]
                      ~ n    = 3 -> 4
                      ~ text = <<-EOT
                            line1
                          - one
                          + two
                            line3
                        EOT
                        # (1 unchanged attribute hidden)
                    }
                  ~ output = {
                      - list = [
                          - "a",
                        ]
                      - text = <<-EOT
                            l1
                            l2
                        EOT
                    } -> (known after apply)
                }
        "#]],
    );
}

#[test]
fn a_delete_ends_in_null() {
    let before = r#"{"id": "x", "input": {"a": 1, "j": "[1]"}, "output": {"!": "s"}, "triggers_replace": [1, {"k": "x"}]}"#;
    check_change(
        change(Action::Delete, before, "null"),
        &loose(),
        expect![[r#"
              # test_thing.a will be destroyed
              - resource "test_thing" "a" {
                  - id               = "x" -> null
                  - input            = {
                      - a = 1
                      - j = jsonencode(
                            [
                              - 1,
                            ]
                        )
                    } -> null
                  - output           = (sensitive value) -> null
                  - triggers_replace = [
                      - 1,
                      - {
                          - k = "x"
                        },
                    ] -> null
                }
        "#]],
    );
}

#[test]
fn sensitive_values_are_covered_and_a_new_cover_is_announced() {
    let before = r#"{"id": "x", "input": "s", "output": {"a": {"!": 1}, "b": 2}, "triggers_replace": {"!": "t"}}"#;
    let after = r#"{"id": "x", "input": {"!": "s"}, "output": {"a": {"!": 2}, "b": 3}, "triggers_replace": "u"}"#;
    check_change(
        change(Action::Update, before, after),
        &loose(),
        expect![[r#"
              # test_thing.a will be updated in-place
              ~ resource "test_thing" "a" {
                    id               = "x"
                  # Warning: this attribute value will be marked as sensitive and will not
                  # display in UI output after applying this change. The value is unchanged.
                  ~ input            = (sensitive value)
                  ~ output           = {
                      ~ a = (sensitive value)
                      ~ b = 2 -> 3
                    }
                  # Warning: this attribute value will no longer be marked as sensitive
                  # after applying this change.
                  ~ triggers_replace = (sensitive value)
                }
        "#]],
    );
}

#[test]
fn a_document_that_only_changes_its_blanks_says_so() {
    let before = r#"{"id": "x", "input": "{\"a\":1}", "output": "[1]", "triggers_replace": "{}"}"#;
    let after =
        r#"{"id": "x", "input": "{ \"a\": 1 }", "output": "one", "triggers_replace": "{ }"}"#;
    check_change(
        change(Action::Update, before, after),
        &loose(),
        expect![[r#"
              # test_thing.a will be updated in-place
              ~ resource "test_thing" "a" {
                    id               = "x"
                  ~ input            = jsonencode( # whitespace changes
                        {
                            a = 1
                        }
                    )
                  ~ output           = jsonencode(
                        [
                          - 1,
                        ]
                    ) -> "one"
                  ~ triggers_replace = jsonencode({}) # whitespace changes
                }
        "#]],
    );
}

#[test]
fn deep_values_do_not_overflow_the_stack() {
    let deep = |leaf| (0..500).fold(leaf, |inner, _| Value::tuple(vec![inner]));
    let mut change = change(Action::Update, "null", "null");
    change.before = Value::object([("input".into(), deep(Value::int(1)))]);
    change.after = Value::object([("input".into(), deep(Value::int(2)))]);
    let text = screen(&plan(vec![change], Vec::new()), &loose(), Look::default());
    assert!(text.contains("(nested too deeply to be shown)"));
}

//! Outputs in; each form in which they are shown out.

use entail::value::Marks;
use expect_test::{Expect, expect};

use super::*;

fn outputs(all: &[(&str, Value, bool)]) -> BTreeMap<Str, OutputValue> {
    let output = |value: &Value, sensitive| OutputValue {
        ty: value.ty(),
        value: value.clone(),
        sensitive,
        deprecated: None,
    };
    all.iter()
        .map(|(name, value, sensitive)| (Str::from(*name), output(value, *sensitive)))
        .collect()
}

fn some() -> BTreeMap<Str, OutputValue> {
    let object = Value::object([
        ("b c".into(), Value::tuple(vec![Value::int(1), "a<\"b".into()])),
        ("a".into(), "x\ny\n".into()),
    ]);
    outputs(&[
        ("list", Value::list(Type::STRING, vec!["a".into()]), false),
        ("map", Value::map(Type::NUMBER, []), false),
        ("null", Value::Null(Type::set(Type::STRING)), false),
        ("object", object, false),
        ("secret", "s".into(), true),
        ("text", "one\nEOT\n".into(), false),
    ])
}

#[track_caller]
fn check(name: Option<&str>, form: Form, expected: Expect) {
    let text = render(&some(), name, form, false).unwrap_or_else(|it| format!("{it}\n"));
    expected.assert_eq(&text);
}

#[test]
fn outputs_are_written_as_expressions() {
    check(
        None,
        Form::Text,
        expect![[r#"
            list = tolist([
              "a",
            ])
            map = tomap({})
            null = toset(null) /* of string */
            object = {
              "a" = <<-EOT
              x
              y
              
              EOT
              "b c" = [
                1,
                "a<\"b",
              ]
            }
            secret = <sensitive>
            text = <<EOT_
            one
            EOT

            EOT_
        "#]],
    );
}

#[test]
fn outputs_as_json_name_type_and_sensitivity() {
    let text = render(&outputs(&[("a", "<".into(), true)]), None, Form::Json, false)
        .expect("there is one");
    expect![[r#"
        {
          "a": {
            "sensitive": true,
            "type": "string",
            "value": "\u003c"
          }
        }
    "#]]
    .assert_eq(&text);
    assert_eq!(render(&BTreeMap::new(), None, Form::Json, false), Ok("{}\n".to_owned()));
}

#[test]
fn one_output_is_shown_even_if_it_is_sensitive() {
    check(Some("secret"), Form::Text, expect![["\"s\"\n"]]);
    check(Some("secret"), Form::Json, expect![["\"s\"\n"]]);
    check(Some("secret"), Form::Raw, expect!["s"]);
    check(
        Some("object"),
        Form::Json,
        expect![[r#"
        {"a":"x\ny\n","b c":[1,"a\u003c\"b"]}
    "#]],
    );
}

#[test]
fn what_cannot_be_printed_is_a_problem() {
    check(
        Some("nope"),
        Form::Text,
        expect![[r#"
        Output "nope" not found: The output variable requested could not be found in the state file. If you recently added this to your configuration, be sure to run `entail apply`, since the state won't be updated with new output variables until that command is run.
    "#]],
    );
    check(
        Some("list"),
        Form::Raw,
        expect![[r#"
        Unsupported value for raw output: The -raw option only supports strings, numbers, and boolean values, but output value "list" is list of string.

        Use the -json option for machine-readable representations of output values that have complex types.
    "#]],
    );
    let none = render(&BTreeMap::new(), Some("x"), Form::Raw, false).expect_err("there are none");
    assert_eq!((none.is_error(), none.summary.as_str()), (false, "No outputs found"));
}

#[test]
fn marked_values_are_never_written() {
    let value = Value::tuple(vec![
        Value::from("s").mark(&Marks::sensitive()),
        Value::unknown(Type::STRING),
    ]);
    assert_eq!(expression(&value), "[\n  (sensitive value),\n  (known after apply),\n]");
}

//! JSON in, JSON out.

use super::*;
use crate::value::{Marks, Path, PathStep, Type, Value};

fn ty(text: &str) -> Type {
    type_from_json(text).expect("a type")
}

/// Decodes by type and encodes for the state again; prints the text, or the error.
#[track_caller]
fn check(text: &str, by: &str, expected: &str) {
    let shown = match from_json(text, ty(by)) {
        Ok(it) => to_state_json(&it, ty(by)).expect("known"),
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{text} as {by}");
}

#[track_caller]
fn check_implied(text: &str, expected: &str) {
    let shown = match from_json_implied(text) {
        Ok(it) => format!("{} {}", type_to_json(it.ty()), to_json(&it).expect("known")),
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn values_are_read_and_written_by_type() {
    check("[3,1,2]", r#"["set","number"]"#, "[1,2,3]");
    check(
        r#"{"b":1,"a":"x"}"#,
        r#"["object",{"a":"string","b":"number","c":"bool"}]"#,
        r#"{"a":"x","b":1,"c":null}"#,
    );
    check(
        r#"{"z":1.10,"a":12345678901234567890123}"#,
        r#"["map","number"]"#,
        r#"{"a":12345678901234567890123,"z":1.1}"#,
    );
    check(r#"[1,"5","true"]"#, r#"["tuple",["string","number","bool"]]"#, r#"["1",5,true]"#);
}

#[test]
fn untyped_parts_carry_their_type() {
    let text = r#"{"input":{"value":{"a":[1]},"type":["object",{"a":["list","number"]}]}}"#;
    check(text, r#"["object",{"input":"dynamic"}]"#, text);
    check(r#"{"type":"string","value":null}"#, r#""dynamic""#, r#"{"value":null,"type":"string"}"#);
    check("null", r#""dynamic""#, "null");
    let decoded = from_json(text, ty(r#"["object",{"input":"dynamic"}]"#)).expect("JSON");
    assert_eq!(decoded.ty(), ty(r#"["object",{"input":["object",{"a":["list","number"]}]}]"#));
}

#[test]
fn what_does_not_fit_the_type_is_an_error_with_its_path() {
    check(
        r#"{"a":{"x":1}}"#,
        r#"["object",{"a":["object",{}]}]"#,
        r#".a: unsupported attribute "x""#,
    );
    check(r#"{"a":[true,[]]}"#, r#"["object",{"a":["list","bool"]}]"#, ".a[1]: bool is required");
    check(r#"{"k":"x"}"#, r#"["map","number"]"#, r#"["k"]: a number is required"#);
    check("[1]", r#"["tuple",[]]"#, "too many tuple elements (need 0)");
    check("{}", r#"["list","string"]"#, "missing expected [");
    check(r#"{"value":1}"#, r#""dynamic""#, "missing type in dynamically-typed value");
    check("1 2", r#""number""#, "extraneous data after JSON object");
}

#[test]
fn stored_objects_lose_what_the_schema_lost() {
    let ty = ty(r#"["object",{"a":["list",["object",{"x":"string"}]],"b":"string"}]"#);
    let text = r#"{"a":[{"x":"1","gone":{"deep":[1,{}]}}],"old":null}"#;
    let value = from_stored_json(text, ty).expect("JSON");
    assert_eq!(to_state_json(&value, ty).expect("known"), r#"{"a":[{"x":"1"}],"b":null}"#);
}

#[test]
fn implied_types_are_objects_and_tuples() {
    check_implied(
        r#" {"b":[1,null],"a":{}} "#,
        r#"["object",{"a":["object",{}],"b":["tuple",["number","dynamic"]]}] {"a":{},"b":[1,null]}"#,
    );
    check_implied(r#"{"a":1,"a":2}"#, r#"["object",{"a":"number"}] {"a":2}"#);
    check_implied(r#"{"a":1,"a":"x"}"#, r#"duplicate "a" property in JSON object"#);
    check_implied(r#""\ud83d\ude00\ud800\u0041""#, "\"string\" \"😀\u{fffd}A\"");
    check_implied("1e400", &format!("\"number\" 1{}", "0".repeat(400)));
}

#[test]
fn a_number_out_of_range_is_named_so_at_once() {
    let long = format!("1{}", "0".repeat(3_000_000));
    let expected = "the number is too large or too small";
    assert_eq!(from_json_implied(&long), Err(expected.into()));
    for text in [long.clone(), format!("{long:?}"), "1e-99999999".to_owned()] {
        let refused = from_json(&text, Type::NUMBER).expect_err("out of range");
        assert_eq!(refused.to_string(), expected);
    }
}

#[test]
fn malformed_text_is_named_as_go_names_it() {
    let cases = [
        ("", "EOF"),
        ("-", "unexpected EOF"),
        ("\"unclosed", "unexpected EOF"),
        (r#""\x""#, "invalid character 'x' in string escape code"),
        ("\"a\nb\"", "invalid character '\\n' in string literal"),
        ("]", "invalid character ']' looking for beginning of value"),
        (r#"{"a"}"#, "invalid character '}' after object key"),
        (r#"{"a":1 "b"}"#, "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("{1:2}", "invalid character '1'"),
        ("truth", "invalid character 't' in literal true (expecting 'e')"),
        ("0x10", "extraneous data after JSON object"),
    ];
    for (text, expected) in cases {
        check_implied(text, expected);
    }
}

#[test]
fn nesting_beyond_the_limit_is_refused_and_not_a_crash() {
    let deep = "[".repeat(100_000);
    assert_eq!(from_json_implied(&deep), Err("exceeded max depth".into()));
    assert!(type_from_json(&"[\"list\",".repeat(100_000)).is_err());
    let fits = format!("{}{}", "[".repeat(500), "]".repeat(500));
    assert!(from_json_implied(&fits).is_ok());
}

#[test]
fn strings_are_escaped_as_the_state_file_has_them() {
    let value = Value::from("<a&b>\u{2028}\u{1}\u{8}\t\"\\é😀\u{7f}");
    assert_eq!(
        to_json(&value).expect("known"),
        "\"\\u003ca\\u0026b\\u003e\\u2028\\u0001\\b\\t\\\"\\\\é😀\u{7f}\""
    );
    assert_eq!(to_plain_json(&Value::from("<&>")).expect("known"), "\"<&>\"");
}

#[test]
fn what_cannot_be_written_is_an_error_with_its_path() {
    let unknown =
        Value::object([("a".into(), Value::list(Type::BOOL, vec![Value::unknown(Type::BOOL)]))]);
    assert_eq!(to_json(&unknown).expect_err("unknown").to_string(), ".a[0]: value is not known");
    assert!(to_json(&Value::from("x").mark(&Marks::sensitive())).is_err());
    let infinity = Value::Number(crate::value::Number::infinity(true));
    assert_eq!(
        to_json(&infinity).expect_err("infinite").message,
        "cannot serialize infinity as JSON"
    );
}

#[test]
fn paths_are_written_as_the_state_file_has_them() {
    let paths: Vec<Path> = vec![
        vec![PathStep::attribute("list"), PathStep::index(0)],
        vec![PathStep::attribute("tags"), PathStep::key("a")],
        vec![],
    ];
    let text = concat!(
        r#"[[{"type":"get_attr","value":"list"},{"type":"index","value":{"value":0,"type":"number"}}],"#,
        r#"[{"type":"get_attr","value":"tags"},{"type":"index","value":{"value":"a","type":"string"}}],[]]"#,
    );
    assert_eq!(paths_to_json(&paths).as_deref(), Ok(text));
    assert_eq!(paths_from_json(text).as_deref(), Ok(paths.as_slice()));
    assert!(paths_from_json(r#"[[{"type":"other","value":1}]]"#).is_err());
}

#[test]
fn types_with_optional_attributes_name_them() {
    let text = r#"["object",{"a":["set","dynamic"],"b":["tuple",["bool"]]},["b"]]"#;
    assert_eq!(type_to_json(ty(text)), text);
    assert!(type_from_json(r#"["object",{},["x"]]"#).is_err());
    assert!(type_from_json(r#""text""#).is_err());
}

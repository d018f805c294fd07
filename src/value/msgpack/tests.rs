//! Values as msgpack, there and back.

use super::{from_msgpack, from_msgpack_lossy, to_msgpack};
use crate::value::json::type_from_json;
use crate::value::unknown::refined;
use crate::value::{Number, Refinement, Type, Value};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect::<Vec<_>>().join(" ")
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split(' ').map(|it| u8::from_str_radix(it, 16).expect("hexadecimal digits")).collect()
}

/// Writes a value, compares the bytes, and reads them back.
fn check(value: &Value, ty: Type, expected: &str) {
    let written = to_msgpack(value, ty);
    assert_eq!(hex(&written), expected);
    let read = from_msgpack(&written, ty).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(&read, value);
}

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).expect("a number"))
}

fn error(hex: &str, ty: &str) -> String {
    from_msgpack(&bytes(hex), type_from_json(ty).expect("it fits"))
        .expect_err("it is refused")
        .to_string()
}

#[test]
fn plain_values_take_the_smallest_form() {
    check(&Value::Null(Type::STRING), Type::STRING, "c0");
    check(&Value::Bool(true), Type::BOOL, "c3");
    check(&Value::string("é"), Type::STRING, "a2 c3 a9");
    for (it, expected) in [
        (0, "00"),
        (127, "7f"),
        (128, "cc 80"),
        (256, "cd 01 00"),
        (65536, "ce 00 01 00 00"),
        (i64::MAX, "cf 7f ff ff ff ff ff ff ff"),
        (-1, "ff"),
        (-32, "e0"),
        (-33, "d0 df"),
        (-129, "d1 ff 7f"),
        (-32769, "d2 ff ff 7f ff"),
        (i64::MIN, "d3 80 00 00 00 00 00 00 00"),
    ] {
        check(&Value::int(it), Type::NUMBER, expected);
    }
}

#[test]
fn numbers_that_no_float_holds_are_text() {
    check(&number("0.5"), Type::NUMBER, "cb 3f e0 00 00 00 00 00 00");
    check(&number("0.1"), Type::NUMBER, "a3 30 2e 31");
    let large = to_msgpack(&number("9223372036854775808"), Type::NUMBER);
    assert_eq!(large, [&[0xb3][..], b"9223372036854775808"].concat());
    let read = from_msgpack(&bytes("cf 80 00 00 00 00 00 00 00"), Type::NUMBER).expect("it fits");
    assert_eq!(read, number("9223372036854775808"));
    check(&Value::Number(Number::infinity(true)), Type::NUMBER, "cb ff f0 00 00 00 00 00 00");
}

#[test]
fn collections_and_objects_keep_the_order_of_names() {
    let list = Value::list(Type::STRING, vec![Value::string("b"), Value::string("a")]);
    check(&list, list.ty(), "92 a1 62 a1 61");
    let map = Value::map(Type::BOOL, [("k".into(), Value::Bool(false))]);
    check(&map, map.ty(), "81 a1 6b c2");
    let object =
        Value::object([("b".into(), Value::int(1)), ("a".into(), Value::Null(Type::BOOL))]);
    check(&object, object.ty(), "82 a1 61 c0 a1 62 01");
    let backwards = from_msgpack(&bytes("82 a1 62 01 a1 61 c0"), object.ty()).expect("it fits");
    assert_eq!(backwards, object);
}

#[test]
fn a_value_of_no_certain_type_carries_its_type() {
    check(&Value::string("x"), Type::DYNAMIC, "92 c4 08 22 73 74 72 69 6e 67 22 a1 78");
    check(&Value::NULL, Type::DYNAMIC, "c0");
    check(&Value::Null(Type::BOOL), Type::DYNAMIC, "92 c4 06 22 62 6f 6f 6c 22 c0");
    check(&Value::unknown(Type::DYNAMIC), Type::DYNAMIC, "d4 00 00");
    check(&Value::unknown(Type::BOOL), Type::DYNAMIC, "92 c4 06 22 62 6f 6f 6c 22 d4 00 00");
    let ty = type_from_json(r#"["object",{"a":"dynamic"}]"#).expect("it fits");
    check(
        &Value::object([("a".into(), Value::int(1))]),
        ty,
        "81 a1 61 92 c4 08 22 6e 75 6d 62 65 72 22 01",
    );
}

#[test]
fn what_is_known_of_the_unknown_travels_with_it() {
    check(&Value::unknown(Type::STRING), Type::STRING, "d4 00 00");
    let told = |ty, it| refined(ty, it);
    let prefixed = Refinement { not_null: true, prefix: Some("a".into()), ..Refinement::default() };
    check(&told(Type::STRING, prefixed), Type::STRING, "c7 06 0c 82 01 c2 02 a1 61");
    let bounded = Refinement {
        lower: Some((Number::Int(1), true)),
        upper: Some((Number::Int(9), false)),
        ..Refinement::default()
    };
    check(&told(Type::NUMBER, bounded), Type::NUMBER, "c7 09 0c 82 03 92 01 c3 04 92 09 c2");
    let sized = Refinement { min_length: Some(1), max_length: Some(2), ..Refinement::default() };
    check(&told(Type::list(Type::BOOL), sized), Type::list(Type::BOOL), "c7 05 0c 82 05 01 06 02");
}

#[test]
fn a_long_prefix_is_cut_between_characters() {
    let long = Refinement { prefix: Some("ä".repeat(200).into()), ..Refinement::default() };
    let read = from_msgpack(&to_msgpack(&refined(Type::STRING, long), Type::STRING), Type::STRING);
    let Ok(Value::Unknown(it)) = read else { panic!("it is unknown") };
    assert_eq!(it.refinement.prefix.as_deref(), Some(&*"ä".repeat(128)));
}

#[test]
fn further_things_told_of_the_unknown_are_passed_over() {
    let read =
        from_msgpack(&bytes("c7 09 0c 82 01 c2 63 92 01 81 01 02"), Type::STRING).expect("it fits");
    assert_eq!(read, Value::unknown_not_null(Type::STRING));
    let null = from_msgpack(&bytes("c7 03 0c 81 01 c3"), Type::STRING).expect("it fits");
    assert_eq!(null, Value::Null(Type::STRING));
}

#[test]
fn what_does_not_fit_the_type_is_refused_with_its_place() {
    let object = r#"["object",{"a":["list","number"]}]"#;
    assert_eq!(error("81 a1 61 92 01 c3", object), ".a[1]: number is required");
    assert_eq!(error("81 a1 62 c0", object), "unsupported attribute \"b\"");
    assert_eq!(error("80", object), "missing required attribute \"a\"");
    assert_eq!(error("01", r#""string""#), "string is required");
    assert_eq!(error("91 c3", r#"["tuple",[]]"#), "a tuple of length 0 is required");
    assert_eq!(error("a1 78", r#""dynamic""#), "a type and a value are required");
    assert_eq!(
        error("c7 04 0c 81 02 a1 61", r#""bool""#),
        "what is told of an unknown bool does not fit it"
    );
}

#[test]
fn broken_bytes_are_refused() {
    assert_eq!(error("a3 61", r#""string""#), "the bytes end too early");
    assert_eq!(error("a1 ff", r#""string""#), "a string is not UTF-8");
    assert_eq!(error("c1", r#""string""#), "there is a byte that msgpack does not know");
    assert_eq!(error("c3 c3", r#""bool""#), "there is more than one value");
    assert_eq!(error("dd ff ff ff ff", r#"["list","bool"]"#), "[0]: the bytes end too early");
    assert_eq!(error("d5 05 00 00", r#""bool""#), "extension 5 is none of [0, 12]");
}

#[test]
fn bytes_that_are_no_text_are_replaced_where_that_is_asked_for() {
    let read = |hex: &str| {
        from_msgpack_lossy(&bytes(hex), Type::STRING).unwrap_or_else(|it| panic!("{it}"))
    };
    let replaced = Value::string("\u{fffd}\u{fffd}a\u{fffd}(");
    assert_eq!(read("a5 ff fe 61 c3 28"), (replaced, true));
    assert_eq!(read("a1 61"), (Value::string("a"), false));
}

//! What values do, as text in and text out.

use super::json::{from_json, from_json_implied, to_json, type_from_json, type_to_json};
use super::path::mark_paths;
use super::unknown::{can_become, equals, known_equality, length_bounds, refined};
use super::*;

fn ty(text: &str) -> Type {
    type_from_json(text).expect("a type")
}

fn value(text: &str) -> Value {
    from_json_implied(text).expect("JSON")
}

fn number(text: &str) -> Number {
    Number::parse(text).expect("a number")
}

/// Converts the value that JSON text implies; prints the new type and value, or the error.
#[track_caller]
fn check_conversion(text: &str, want: &str, expected: &str) {
    let shown = match convert(&value(text), ty(want)) {
        Ok(it) => format!("{} {}", type_to_json(it.ty()), to_json(&it).expect("known")),
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{text} to {want}");
}

#[track_caller]
fn check_unification(types: &str, expected: &str) {
    let types: Vec<Type> = types.split(' ').map(ty).collect();
    assert_eq!(unify::unify(&types).map_or("none".to_owned(), type_to_json), expected);
}

#[test]
fn numbers_print_the_fewest_digits_that_read_back() {
    let cases = [
        ("0.1", "0.1"),
        ("1.50", "1.5"),
        ("1e21", "1000000000000000000000"),
        ("123e-2", "1.23"),
        ("007", "7"),
        ("-0.0", "-0"),
        ("18446744073709551615", "18446744073709551615"),
        (
            "0.99999999999999999999999999999999999999999999999999999",
            "0.99999999999999999999999999999999999999999999999999999",
        ),
        ("-inf", "-Inf"),
        ("1p3", "8"),
        ("5.", "5"),
        (".5", "0.5"),
    ];
    for (text, expected) in cases {
        assert_eq!(number(text).to_string(), expected, "{text}");
    }
}

#[test]
fn text_that_is_no_decimal_number_is_refused() {
    for text in [
        "",
        " 1",
        "1 ",
        "0x10",
        "1_0",
        "1e",
        "e1",
        "--1",
        ".",
        "1.2.3",
        "one",
        "NaN",
        "1e99999999999999999999",
    ] {
        assert!(Number::parse(text).is_none(), "{text}");
    }
}

#[test]
fn a_number_that_is_out_of_range_never_becomes_infinite_or_zero() {
    for text in [
        "1e78914",
        "-1e2000000",
        "1e-78915",
        "1e400000000",
        "1e99999999999999999999",
        "1e-99999999999999999999",
    ] {
        assert!(Number::parse(text).is_none() && Number::is_out_of_range(text), "{text}");
    }
    for text in ["", "1e", "one", "1", "0e99999999", "1e78000", "1e-78000", "Inf"] {
        assert!(!Number::is_out_of_range(text), "{text}");
    }
    assert_eq!(number("0e99999999999999999999"), number("0"));
    assert_eq!(number("1e78000").to_string().len(), 78_001);
    let (large, small) = (number("1e78000"), number("1e-78000"));
    let product = large.mul(&large).expect("a number");
    assert!(product.is_beyond(&[&large, &large]) && !large.is_beyond(&[&large, &small]));
    let infinity = Number::infinity(false);
    assert!(!infinity.is_beyond(&[&infinity, &large]));
}

#[test]
fn a_number_with_too_many_digits_is_refused_without_reading_them() {
    let zeros = "0".repeat(5_000_000);
    for text in [format!("1{zeros}"), format!("-1{zeros}.5"), format!("0.{zeros}1")] {
        assert!(Number::parse(&text).is_none() && Number::is_out_of_range(&text));
    }
    assert_eq!(number(&format!("0.{zeros}")), number("0"));
    let zeros = &zeros[..100_000];
    assert_eq!(number(&format!("25{zeros}e-100001")), number("2.5"));
    assert_eq!(number(&format!("0.{zeros}25e100001")), number("2.5"));
    assert_eq!(number(&format!("{zeros}.5")), number("0.5"));
}

#[test]
fn arithmetic_rounds_to_512_bits() {
    let third = number("1").div(&number("3")).expect("a number");
    assert_eq!(third.to_string().len(), 157);
    assert!(third.to_string().ends_with("33335"));
    assert_eq!(number("0.1").add(&number("0.2")), Some(number("0.3")));
    assert_eq!(
        number("9223372036854775807").add(&number("1")).map(|it| it.to_string()).as_deref(),
        Some("9223372036854775808")
    );
    assert_eq!(
        number("9223372036854775808").sub(&number("1")).and_then(|it| it.as_i64()),
        Some(i64::MAX)
    );
    assert_eq!(number("-5").rem(&number("3")), Some(number("-2")));
    assert_eq!(number("5").rem(&number("0")), Some(number("5")));
    assert_eq!(number("4503599627370497.5").rem(&number("3")), Some(number("2.5")));
}

#[test]
fn division_by_zero_is_infinite_and_what_has_no_result_is_none() {
    let infinity = number("1").div(&number("0")).expect("a number");
    assert_eq!(infinity.to_string(), "+Inf");
    assert_eq!(number("-1").div(&number("0")).map(|it| it.to_string()).as_deref(), Some("-Inf"));
    assert!(number("0").div(&number("0")).is_none());
    assert!(infinity.sub(&infinity).is_none());
    assert!(infinity.mul(&number("0")).is_none());
    assert!(number("5").rem(&infinity).is_none());
}

#[test]
fn negative_zero_prints_its_sign_and_equals_zero() {
    let zero = number("0").mul(&number("-5")).expect("a number");
    assert_eq!(zero.to_string(), "-0");
    assert_eq!(zero, number("0"));
    assert_eq!(number("0").neg().to_string(), "-0");
    assert_eq!(zero.as_usize(), Some(0));
}

#[test]
fn floats_keep_the_digits_of_a_float() {
    let shown = |it: f64| Number::from_f64(it).expect("a number").to_string();
    assert_eq!(shown(0.1), "0.1");
    assert_eq!(shown(2f64.powi(100)), "1267650600228229400000000000000");
    assert_eq!(shown(2f64.powi(53)), "9007199254740992");
    assert_eq!(Number::from_f64(0.1), Some(number("0.1")));
    assert_eq!(number("0.1").to_f64(), 0.1);
    assert!(Number::from_f64(f64::NAN).is_none());
}

#[test]
fn numbers_round_up_and_down_to_whole_ones() {
    for (text, floor, ceil) in [
        ("2.5", "2", "3"),
        ("-2.5", "-3", "-2"),
        ("-0.5", "-1", "0"),
        ("1e-10", "0", "1"),
        ("7", "7", "7"),
    ] {
        assert_eq!(
            (number(text).floor(), number(text).ceil()),
            (number(floor), number(ceil)),
            "{text}"
        );
    }
}

#[test]
fn numbers_print_in_the_notations_of_format() {
    let text = |it: &str, notation, digits| number(it).text(notation, digits);
    assert_eq!(text("123456.789", Notation::Scientific, Some(6)), "1.234568e+05");
    assert_eq!(text("1e16", Notation::General, None), "1e+16");
    assert_eq!(text("2.5", Notation::Fixed, Some(2)), "2.50");
    assert_eq!(text("0", Notation::Scientific, Some(2)), "0.00e+00");
    assert_eq!(text("0.125", Notation::Fixed, Some(2)), "0.12");
}

#[test]
fn primitives_convert_where_the_text_says_the_same() {
    check_conversion("1e3", r#""string""#, r#""string" "1000""#);
    check_conversion(r#""1e3""#, r#""number""#, r#""number" 1000"#);
    check_conversion("true", r#""string""#, r#""string" "true""#);
    check_conversion(r#""0""#, r#""bool""#, r#""bool" false"#);
    check_conversion(
        r#""TRUE""#,
        r#""bool""#,
        r#"a bool is required; to convert from string, use lowercase "true""#,
    );
    check_conversion(r#""x""#, r#""number""#, "a number is required");
    check_conversion("1", r#""bool""#, "bool required, but have number");
    check_conversion("[]", r#""string""#, "string required, but have tuple");
}

#[test]
fn structures_convert_part_by_part() {
    check_conversion(
        r#"[1,"a",null]"#,
        r#"["list","dynamic"]"#,
        r#"["list","string"] ["1","a",null]"#,
    );
    check_conversion(r#"["b","a","b"]"#, r#"["set","string"]"#, r#"["set","string"] ["a","b"]"#);
    check_conversion(
        r#"{"a":1,"b":true}"#,
        r#"["map","string"]"#,
        r#"["map","string"] {"a":"1","b":"true"}"#,
    );
    check_conversion(
        r#"{"a":1,"b":2}"#,
        r#"["object",{"a":"string"}]"#,
        r#"["object",{"a":"string"}] {"a":"1"}"#,
    );
    check_conversion(
        r#"{"a":[{}]}"#,
        r#"["object",{"a":["list",["object",{"x":"bool"},["x"]]],"b":"number"},["b"]]"#,
        r#"["object",{"a":["list",["object",{"x":"bool"}]],"b":"number"}] {"a":[{"x":null}],"b":null}"#,
    );
}

#[test]
fn a_failed_conversion_says_where_and_why() {
    check_conversion(
        r#"{"a":["1","x"]}"#,
        r#"["object",{"a":["list","number"]}]"#,
        ".a[1]: a number is required",
    );
    check_conversion("{}", r#"["object",{"a":"string"}]"#, r#"attribute "a" is required"#);
    check_conversion(
        "{}",
        r#"["object",{"a":"string","b":"string","c":"string"}]"#,
        r#"attributes "a", "b", and "c" are required"#,
    );
    check_conversion(
        "[1,true]",
        r#"["list","dynamic"]"#,
        "all list elements must have the same type",
    );
    check_conversion("[[]]", r#"["list","string"]"#, "element 0: string required, but have tuple");
    check_conversion("[1]", r#"["map","dynamic"]"#, "map of any single type required");
}

#[test]
fn conversion_keeps_marks_and_what_is_known_of_unknowns() {
    let marked = Value::tuple(vec![Value::int(1).mark(&Marks::sensitive())]);
    let list = convert(&marked, Type::list(Type::STRING)).expect("converts");
    assert!(!list.marks().sensitive && list.contains_sensitive());
    let set = convert(&marked, Type::set(Type::STRING)).expect("converts");
    assert!(set.marks().sensitive);

    let unknown = Value::unknown_not_null(Type::tuple(vec![Type::NUMBER, Type::STRING]));
    let list = convert(&unknown, Type::list(Type::DYNAMIC)).expect("converts");
    assert_eq!(list, Value::list(Type::STRING, vec![Value::unknown(Type::STRING); 2]));
    let text = convert(&Value::unknown_not_null(Type::NUMBER), Type::STRING).expect("converts");
    assert_eq!(text, Value::unknown_not_null(Type::STRING));
    let null = convert(&Value::NULL, Type::list(Type::STRING)).expect("converts");
    assert_eq!(null, Value::Null(Type::list(Type::STRING)));
}

#[test]
fn a_set_with_unknown_elements_becomes_a_list_of_unknown_length() {
    let set = Value::set(Type::STRING, vec![Value::from("a"), Value::unknown(Type::STRING)]);
    assert_eq!(
        convert(&set, Type::list(Type::STRING)),
        Ok(Value::unknown(Type::list(Type::STRING)))
    );
}

#[test]
fn types_unify_to_the_most_general() {
    check_unification(r#""string" "number" "bool""#, r#""string""#);
    check_unification(r#""number" "bool""#, "none");
    check_unification(r#""dynamic" "number""#, r#""number""#);
    check_unification(
        r#"["object",{"a":"number"}] ["object",{"a":"string"}]"#,
        r#"["object",{"a":"string"}]"#,
    );
    check_unification(
        r#"["object",{"a":"number"}] ["object",{"a":"string","b":"bool"}]"#,
        r#"["map","string"]"#,
    );
    check_unification(
        r#"["tuple",["number"]] ["tuple",["string","bool"]]"#,
        r#"["list","string"]"#,
    );
    check_unification(r#"["set","string"] ["list","number"]"#, r#"["list","number"]"#);
    check_unification(r#"["map","string"] ["object",{"a":"number"}]"#, r#"["map","string"]"#);
    check_unification(r#"["object",{"a":"number"}] "dynamic""#, r#""dynamic""#);
    check_unification(r#"["object",{}] ["tuple",[]]"#, "none");
    assert_eq!(unify::unify_safe(&[Type::DYNAMIC, Type::NUMBER]), Some(Type::DYNAMIC));
}

#[test]
fn equality_knows_what_unknowns_rule_out() {
    let unknown = Value::unknown(Type::STRING);
    let not_null = Value::unknown_not_null(Type::STRING);
    let prefix = Refinement { not_null: true, prefix: Some("ab".into()), ..Refinement::default() };
    let text = refined(Type::STRING, prefix);
    assert_eq!(known_equality(&unknown, &Value::NULL), None);
    assert_eq!(known_equality(&not_null, &Value::NULL), Some(false));
    assert_eq!(known_equality(&text, &Value::from("xyz")), Some(false));
    assert_eq!(known_equality(&text, &Value::from("abc")), None);
    assert_eq!(known_equality(&unknown, &Value::int(1)), Some(false));
    assert_eq!(known_equality(&Value::unknown(Type::DYNAMIC), &Value::int(1)), None);
    let object = |a: Value, b: i64| Value::object([("a".into(), a), ("b".into(), Value::int(b))]);
    assert_eq!(
        known_equality(&object(unknown.clone(), 1), &object(Value::from("x"), 2)),
        Some(false)
    );
    assert_eq!(known_equality(&object(unknown.clone(), 1), &object(Value::from("x"), 1)), None);
    assert_eq!(known_equality(&Value::Null(Type::STRING), &Value::NULL), Some(true));
    assert_eq!(known_equality(&value("[1]"), &value(r#"["1"]"#)), Some(false));
}

#[test]
fn equality_joins_marks_but_of_null_only_the_outermost() {
    let inner = Value::tuple(vec![Value::int(1).mark(&Marks::sensitive())]);
    assert_eq!(equals(&inner, &value("[1]")), Value::Bool(true).mark(&Marks::sensitive()));
    assert_eq!(equals(&inner, &Value::NULL), Value::Bool(false));
}

#[test]
fn a_refinement_that_leaves_one_value_is_that_value() {
    let exactly = |length| Refinement {
        not_null: true,
        min_length: Some(length),
        max_length: Some(length),
        ..Refinement::default()
    };
    assert_eq!(refined(Type::map(Type::BOOL), exactly(0)), Value::map(Type::BOOL, []));
    assert!(!refined(Type::map(Type::BOOL), exactly(1)).is_known());
    let five = Some((number("5"), true));
    let bounds =
        Refinement { not_null: true, lower: five.clone(), upper: five, ..Refinement::default() };
    assert_eq!(refined(Type::NUMBER, bounds), Value::int(5));
    let Value::Unknown(set) = refined(Type::set(Type::BOOL), exactly(2)) else { panic!("unknown") };
    assert!(!can_become(&set, &Value::set(Type::BOOL, vec![Value::Bool(true)])));
    assert_eq!(length_bounds(&Value::Unknown(set)), (2, Some(2)));
}

#[test]
fn sets_are_sorted_and_hold_each_value_once() {
    let shown = |text: &str, element: &str| {
        let Value::Tuple(it) = value(text) else { panic!("an array") };
        let items = it.items.iter().map(|it| convert(it, ty(element)).expect("converts")).collect();
        to_json(&Value::set(ty(element), items)).expect("known")
    };
    assert_eq!(
        shown(r#"["é","a","10","9","B","a",null]"#, r#""string""#),
        r#"["10","9","B","a","é",null]"#
    );
    assert_eq!(shown("[10,9,-1,9.5]", r#""number""#), "[-1,9,9.5,10]");
    assert_eq!(shown("[true,false,true]", r#""bool""#), "[false,true]");
    assert_eq!(shown("[[9],[10]]", r#"["list","number"]"#), "[[10],[9]]");
    assert_eq!(
        shown(r#"[{"a":2},{"a":1},{"a":2}]"#, r#"["object",{"a":"number"}]"#),
        r#"[{"a":1},{"a":2}]"#
    );
    assert_eq!(
        shown("[[12345678901],[12345678902],[12345678901]]", r#"["list","number"]"#),
        "[[12345678901],[12345678902]]"
    );
    let unknown = Value::set(
        Type::STRING,
        vec![Value::unknown(Type::STRING), Value::unknown(Type::STRING), Value::from("z")],
    );
    assert_eq!(length_bounds(&unknown), (1, Some(3)));
}

#[test]
fn marks_of_elements_move_to_the_set() {
    let inner = Value::object([("a".into(), Value::from("x").mark(&Marks::sensitive()))]);
    let set = Value::set(ty(r#"["object",{"a":"string"}]"#), vec![inner]);
    assert!(set.marks().sensitive);
    assert!(!set.bare().contains_marked());
}

#[test]
fn defaults_fill_what_is_absent_or_null() {
    let inner = TypeDefaults {
        ty: Some(ty(r#"["object",{"x":"number","y":"string"},["x","y"]]"#)),
        values: [("x".into(), Value::int(7))].into(),
        children: Default::default(),
    };
    let defaults = TypeDefaults {
        ty: Some(ty(
            r#"["object",{"list":["list",["object",{"x":"number","y":"string"},["x","y"]]]}]"#,
        )),
        values: Default::default(),
        children: [(
            "list".into(),
            TypeDefaults {
                ty: Some(ty(r#"["list","dynamic"]"#)),
                values: Default::default(),
                children: [("".into(), inner)].into(),
            },
        )]
        .into(),
    };
    let shown =
        to_json(&apply_defaults(&value(r#"{"list":[{},{"x":null,"y":"a"},{"x":1}]}"#), &defaults))
            .expect("known");
    assert_eq!(shown, r#"{"list":[{"x":7},{"x":7,"y":"a"},{"x":1}]}"#);
    assert_eq!(apply_defaults(&Value::NULL, &defaults), Value::NULL);
}

#[test]
fn paths_lead_to_parts_and_gather_marks() {
    let secret = value(r#"{"a":{"b":[10,20]}}"#).mark(&Marks::sensitive());
    let path = vec![PathStep::attribute("a"), PathStep::attribute("b"), PathStep::index(1)];
    assert_eq!(path::get(&secret, &path), Some(Value::int(20).mark(&Marks::sensitive())));
    assert_eq!(path::get(&secret, &[PathStep::attribute("z")]), None);
    let unknown = Value::unknown(ty(r#"["object",{"a":["list","string"]}]"#));
    assert_eq!(path::get(&unknown, &path[..1]), Some(Value::unknown(Type::list(Type::STRING))));
    let odd = vec![PathStep::attribute("a"), PathStep::key("k\"1"), PathStep::Index(value("{}"))];
    assert_eq!(ShowPath(&odd).to_string(), r#".a["k\"1"][...]"#);
}

#[test]
fn marks_are_put_where_paths_lead() {
    let plain = value(r#"{"a":{"b":[1,2]},"c":"x"}"#);
    let inner = vec![PathStep::attribute("a"), PathStep::attribute("b"), PathStep::index(0)];
    let marks = vec![
        (inner.clone(), Marks::sensitive()),
        (vec![PathStep::attribute("z")], Marks::ephemeral()),
    ];
    let marked = mark_paths(&plain, &marks);
    assert_eq!(marked.unmark_paths(), (plain.clone(), vec![(inner, Marks::sensitive())]));
    assert_eq!(marked.ty(), plain.ty());
    let set = from_json(r#"["a"]"#, Type::set(Type::STRING)).expect("a set");
    let element = vec![PathStep::key("a")];
    assert!(mark_paths(&set, &[(element, Marks::sensitive())]).marks().sensitive);
}

#[test]
fn rebuilding_keeps_types_and_follows_what_changes() {
    let object = from_json(
        r#"{"a":[],"b":{}}"#,
        ty(r#"["object",{"a":["list","string"],"b":["map","number"]}]"#),
    )
    .expect("JSON");
    let same = object.map_children(&mut Vec::new(), &mut |it, _| it.clone());
    assert!(same.is_same(&object));
    let changed = object.map_children(&mut Vec::new(), &mut |_, _| Value::int(1));
    assert_eq!(changed.ty(), ty(r#"["object",{"a":"number","b":"number"}]"#));
    let list = Value::list(Type::DYNAMIC, vec![Value::NULL]);
    let typed = list.map_children(&mut Vec::new(), &mut |_, _| Value::from("x"));
    assert_eq!(typed.ty(), Type::list(Type::STRING));
}

#[test]
fn reports_about_providers_use_their_notation() {
    let shown = |text: &str| Notated(&value(text)).to_string();
    assert_eq!(shown(r#""a""#), r#"cty.StringVal("a")"#);
    assert_eq!(
        shown("[1,2.5,null,[]]"),
        "cty.TupleVal([]cty.Value{cty.NumberIntVal(1), cty.NumberFloatVal(2.5), cty.NullVal(cty.DynamicPseudoType), cty.EmptyTupleVal})"
    );
    assert_eq!(shown(r#"{"a":true}"#), r#"cty.ObjectVal(map[string]cty.Value{"a":cty.True})"#);
}

#[test]
fn a_type_conforms_to_one_with_untyped_parts() {
    let have = ty(r#"["object",{"a":["list","string"],"b":"number"}]"#);
    assert!(have.conforms(ty(r#"["object",{"a":"dynamic","b":"number"}]"#)));
    let errors = have.conformance_errors(ty(r#"["object",{"a":["list","bool"],"c":"dynamic"}]"#));
    let shown: Vec<String> = errors.iter().map(PathError::to_string).collect();
    assert_eq!(
        shown,
        [
            r#"unsupported attribute "b""#,
            r#"missing required attribute "c""#,
            ".a[(not yet known)]: bool required, but received string",
        ]
    );
}

#[test]
fn what_is_marked_and_unknown_is_not_known() {
    let secret = Value::unknown(Type::STRING).mark(&Marks::sensitive());
    assert!(!secret.is_wholly_known());
    assert!(!Value::tuple(vec![secret]).is_wholly_known());
}

#[test]
fn what_is_taken_apart_is_put_together_again() {
    let secret = Value::from("x").mark(&Marks::sensitive());
    let whole =
        Value::object([("a".into(), secret), ("b".into(), Value::tuple(vec![Value::NULL]))])
            .mark(&Marks::ephemeral());
    let apart = whole.to_marked_by_path();
    assert!(!apart.value().contains_marked());
    assert_eq!(apart.marks().sensitive_paths(), [vec![PathStep::attribute("a")]]);
    assert_eq!(Value::from(apart.clone()), whole);
    // What a provider made of it is as marked as what it was sent.
    let answer = value(r#"{"a":"y","c":1}"#);
    let answer = Value::from(apart.with(answer));
    assert!(answer.marks().ephemeral && answer.get("a").is_some_and(|it| it.marks().sensitive));
    assert_eq!(Value::from(whole.clone().into_marked()), whole);
    assert_eq!(whole.to_plain(), *whole.to_marked().value());
}

#[test]
fn what_is_made_of_two_values_has_the_marks_of_both() {
    let a = Value::int(1).mark(&Marks::sensitive()).to_marked();
    let b = Value::int(2).mark(&Marks::ephemeral()).to_marked();
    let both = a.zip(b).map(|(a, b)| Value::tuple(vec![a.into(), b.into()]));
    let both = Value::from(both);
    assert!(both.marks().sensitive && both.marks().ephemeral);
    assert_eq!(both.bare(), &value("[1,2]"));
    let mut marks = Marks::ephemeral();
    assert_eq!(marks.take(Value::int(3).mark(&Marks::sensitive()).into_marked()), Value::int(3));
    assert!(marks.sensitive && marks.ephemeral);
}

#[test]
fn what_lasts_of_marks_is_neither_ephemeral_nor_early() {
    let passing = Marks { sensitive: true, early: true, ..Marks::ephemeral() };
    let (a, b) = (vec![PathStep::attribute("a")], vec![PathStep::attribute("b")]);
    let marks: MarkPaths = [(a.clone(), passing), (b, Marks::ephemeral())].into_iter().collect();
    assert_eq!(marks.lasting(), MarkPaths::sensitive([&a]));
}

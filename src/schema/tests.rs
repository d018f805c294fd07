//! What the core asks of a schema, with one schema for all: attributes of each kind and blocks of each nesting.

use super::*;
use crate::value::json::{from_json, to_json};
use crate::value::{Deprecation, MarkPaths, Marks, Path, PathError, PathStep, Type, Value};

/// `id` is the provider's, `name` required, `size` either's, `tags` optional, `token` sensitive, `once` write-only.
fn schema() -> BlockSchema {
    let plain = |ty: Type, set: fn(&mut AttributeSchema)| {
        let mut it = AttributeSchema::of(ty);
        set(&mut it);
        it
    };
    let rule = BlockSchema {
        attributes: [
            ("port".into(), plain(Type::NUMBER, |it| it.required = true)),
            ("rule_id".into(), plain(Type::STRING, |it| it.computed = true)),
        ]
        .into(),
        ..BlockSchema::default()
    };
    let nested = |nesting, block: &BlockSchema| NestedBlock {
        nesting,
        block: block.clone(),
        min_items: 0,
        max_items: 0,
    };
    BlockSchema {
        attributes: [
            ("id".into(), plain(Type::STRING, |it| it.computed = true)),
            ("name".into(), plain(Type::STRING, |it| it.required = true)),
            ("once".into(), plain(Type::STRING, |it| (it.optional, it.write_only) = (true, true))),
            ("size".into(), plain(Type::NUMBER, |it| (it.optional, it.computed) = (true, true))),
            ("tags".into(), plain(Type::map(Type::STRING), |it| it.optional = true)),
            ("token".into(), plain(Type::STRING, |it| (it.optional, it.sensitive) = (true, true))),
        ]
        .into(),
        blocks: [
            ("listener".into(), nested(Nesting::Set, &rule)),
            ("rule".into(), nested(Nesting::List, &rule)),
        ]
        .into(),
        ..BlockSchema::default()
    }
}

fn object(text: &str) -> Value {
    coerce(&from_json_object(text), &schema()).expect("fits the schema")
}

fn from_json_object(text: &str) -> Value {
    crate::value::json::from_json_implied(text).expect("JSON")
}

fn shown(value: &Value) -> String {
    // Nulls say nothing here.
    let text = to_json(value).expect("known");
    let pairs = text[1..text.len() - 1]
        .split(',')
        .filter(|it| !it.ends_with(":null") && !it.ends_with(":[]"));
    pairs.collect::<Vec<_>>().join(",")
}

fn errors(found: &[PathError]) -> Vec<String> {
    found.iter().map(|it| it.prefixed("it")).collect()
}

#[test]
fn the_type_lists_attributes_and_blocks_by_name() {
    let names: Vec<String> = schema().ty().attributes().iter().map(|it| it.0.to_string()).collect();
    assert_eq!(names, ["id", "listener", "name", "once", "rule", "size", "tags", "token"]);
}

#[test]
fn an_object_is_filled_and_converted_to_the_schema() {
    let value = object(r#"{"name":5,"rule":[{"port":"80"}]}"#);
    assert_eq!(value.ty(), schema().ty());
    assert_eq!(
        to_json(&value).expect("known"),
        r#"{"id":null,"listener":[],"name":"5","once":null,"rule":[{"port":80,"rule_id":null}],"size":null,"tags":null,"token":null}"#
    );
}

#[test]
fn an_object_that_does_not_fit_says_where() {
    let error = |text: &str| {
        coerce(&from_json_object(text), &schema()).expect_err("does not fit").prefixed("it")
    };
    assert_eq!(error("{}"), r#"it: attribute "name" is required"#);
    assert_eq!(error(r#"{"name":"a","other":1}"#), r#"it: unexpected attribute "other""#);
    assert_eq!(
        error(r#"{"name":"a","rule":[{"port":"x"}]}"#),
        "it.rule[0].port: a number is required"
    );
    assert_eq!(error(r#"{"name":"a","rule":{}}"#), "it: must be a list");
}

#[test]
fn the_proposal_takes_what_is_configured_and_keeps_what_the_provider_chose() {
    let prior =
        object(r#"{"id":"i","name":"a","size":3,"token":"t","rule":[{"port":1,"rule_id":"r"}]}"#);
    let config = object(r#"{"name":"b","rule":[{"port":2},{"port":3}]}"#);
    let proposed = proposed_new(&schema(), &prior, &config);
    assert_eq!(
        shown(&proposed),
        r#""id":"i","name":"b","rule":[{"port":2,"rule_id":"r"},{"port":3,"rule_id":null}],"size":3"#
    );
    assert_eq!(proposed_new(&schema(), &Value::Null(schema().ty()), &config), config);
}

#[test]
fn elements_of_a_set_keep_the_provider_s_choice_where_they_are_alike() {
    let prior =
        object(r#"{"name":"a","listener":[{"port":1,"rule_id":"x"},{"port":2,"rule_id":"y"}]}"#);
    let config = object(r#"{"name":"a","listener":[{"port":2},{"port":3}]}"#);
    let proposed = proposed_new(&schema(), &prior, &config);
    assert_eq!(
        shown(&proposed),
        r#""listener":[{"port":2,"rule_id":"y"},{"port":3,"rule_id":null}],"name":"a""#
    );
}

#[test]
fn what_is_read_later_is_unknown_where_the_provider_chooses() {
    let planned = planned_unknown(&schema(), &object(r#"{"name":"a","rule":[{"port":1}]}"#));
    assert_eq!(planned.get("id"), Some(&Value::unknown(Type::STRING)));
    assert_eq!(planned.get("size"), Some(&Value::unknown(Type::NUMBER)));
    assert_eq!(planned.get("name"), Some(&Value::from("a")));
    assert_eq!(planned.get("tags"), Some(&Value::Null(Type::map(Type::STRING))));
}

#[test]
fn ignored_changes_are_taken_back() {
    let prior = object(r#"{"id":"i","name":"a","size":1,"tags":{"keep":"old","gone":"x"}}"#);
    let config = object(r#"{"name":"b","size":2,"tags":{"keep":"new","own":"y"}}"#);
    let ignore = |paths: &[Path]| {
        shown(&apply_ignore_changes(&prior, &config, Ignored::Paths(paths), &schema()))
    };
    let name = vec![PathStep::attribute("name")];
    let tag = |key: &str| vec![PathStep::attribute("tags"), PathStep::key(key)];
    assert_eq!(ignore(&[name]), r#""name":"a","size":2,"tags":{"keep":"new","own":"y"}"#);
    assert_eq!(
        ignore(&[tag("keep"), tag("gone"), tag("own")]),
        r#""name":"b","size":2,"tags":{"gone":"x","keep":"old"}"#
    );
    assert_eq!(
        ignore(&[vec![PathStep::attribute("tags")]]),
        r#""name":"b","size":2,"tags":{"gone":"x","keep":"old"}"#
    );
    assert_eq!(ignore(&[vec![PathStep::attribute("nowhere")]]), shown(&config));
    let all = apply_ignore_changes(&prior, &config, Ignored::All, &schema());
    assert_eq!(shown(&all), r#""name":"a","size":1,"tags":{"gone":"x","keep":"old"}"#);
    let none = Value::Null(schema().ty());
    assert_eq!(apply_ignore_changes(&none, &config, Ignored::All, &schema()), config);
}

#[test]
fn ignoring_keeps_the_sensitivity_of_what_stays() {
    let prior = object(r#"{"name":"a","token":"t"}"#);
    let prior = mark_sensitive(&prior, &schema());
    let config = object(r#"{"name":"b","token":"u"}"#);
    let paths = [vec![PathStep::attribute("token")]];
    let adjusted = apply_ignore_changes(&prior, &config, Ignored::Paths(&paths), &schema());
    assert_eq!(adjusted.get("token"), Some(&Value::from("t").mark(&Marks::sensitive())));
}

#[test]
fn a_provider_may_not_overrule_the_configuration() {
    let prior = object(r#"{"id":"i","name":"old","token":"t"}"#);
    let config = object(r#"{"name":"a","token":"u","tags":{},"rule":[{"port":1}]}"#);
    let check =
        |planned: &str| errors(&check_planned(&schema(), &prior, &config, &object(planned)));
    let good = r#"{"id":"i","name":"old","size":9,"token":"u","tags":{},"rule":[{"port":1,"rule_id":"r"}]}"#;
    assert_eq!(check(good), Vec::<String>::new());
    assert_eq!(
        check(r#"{"name":"x","token":"v","tags":{},"once":"o"}"#),
        [
            r#"it.name: planned value cty.StringVal("x") does not match config value cty.StringVal("a") nor prior value cty.StringVal("old")"#,
            r#"it.once: planned value cty.StringVal("o") for a non-computed attribute"#,
            "it.rule: block count in plan (0) disagrees with count in config (1)",
            "it.token: sensitive planned value does not match config value nor prior value",
        ]
    );
    let gone = check_planned(&schema(), &prior, &config, &Value::Null(schema().ty()));
    assert_eq!(errors(&gone), ["it: planned for absence but config wants existence"]);
}

#[test]
fn a_result_may_fill_only_what_was_planned_unknown() {
    let planned =
        planned_unknown(&schema(), &object(r#"{"name":"a","token":"t","tags":{"k":"v"}}"#));
    let check = |actual: &str| errors(&check_compatible(&schema(), &planned, &object(actual)));
    assert_eq!(
        check(r#"{"id":"i","name":"a","size":1,"token":"t","tags":{"k":"v"}}"#),
        Vec::<String>::new()
    );
    assert_eq!(
        check(r#"{"id":"i","name":"b","size":1,"token":"u","tags":{"l":"v"},"rule":[{"port":1}]}"#),
        [
            r#"it.name: was cty.StringVal("a"), but now cty.StringVal("b")"#,
            "it.rule: block count changed from 0 to 1",
            r#"it.tags: element "k" has vanished"#,
            r#"it.tags: new element "l" has appeared"#,
            "it.token: inconsistent values for sensitive attribute",
        ]
    );
    let none = check_compatible(&schema(), &planned, &Value::Null(schema().ty()));
    assert_eq!(errors(&none), ["it: root object was present, but now absent"]);
}

#[test]
fn only_paths_that_change_force_a_replacement() {
    let prior = object(r#"{"name":"a","size":1,"tags":{"k":"v"}}"#);
    let planned = object(r#"{"name":"b","size":1,"tags":{}}"#);
    let path = |name: &str| vec![PathStep::attribute(name)];
    let tag = vec![PathStep::attribute("tags"), PathStep::key("k")];
    let asked = [path("name"), path("size"), tag.clone(), path("once")];
    assert_eq!(
        requires_replace(&schema(), &prior, &planned, &asked),
        Ok(vec![path("name"), tag, path("once")])
    );
    let missing =
        requires_replace(&schema(), &prior, &planned, &[path("nowhere")]).expect_err("missing");
    assert_eq!(errors(&missing), ["it.nowhere: requires replacement, but does not exist"]);
    assert_eq!(
        requires_replace(&schema(), &Value::Null(schema().ty()), &planned, &asked),
        Ok(Vec::new())
    );
}

#[test]
fn an_object_is_unchanged_only_if_that_is_certain() {
    let prior = object(r#"{"id":"i","name":"a"}"#);
    assert!(is_unchanged(&prior, &mark_sensitive(&prior, &schema())));
    assert!(!is_unchanged(&prior, &planned_unknown(&schema(), &prior)));
}

#[test]
fn sensitive_and_write_only_attributes_are_found_in_values() {
    let value = object(r#"{"name":"a","once":"o"}"#).mark(&Marks::default());
    assert_eq!(sensitive_paths(&schema(), &value), [vec![PathStep::attribute("token")]]);
    assert_eq!(write_only_paths(&schema(), &value), [vec![PathStep::attribute("once")]]);
    assert_eq!(without_write_only(&schema(), &value).get("once"), Some(&Value::Null(Type::STRING)));
}

#[test]
fn what_is_deprecated_is_marked_with_what_to_do_instead() {
    let mut old = AttributeSchema::of(Type::STRING);
    old.deprecated = true;
    old.documentation.deprecation = Some("Use new.".into());
    let attributes = [("old".into(), old), ("new".into(), AttributeSchema::of(Type::STRING))];
    let inner = BlockSchema { attributes: attributes.clone().into(), ..BlockSchema::default() };
    let nested = NestedBlock { nesting: Nesting::List, block: inner, min_items: 0, max_items: 0 };
    let schema = BlockSchema {
        attributes: attributes.into(),
        blocks: [("rule".into(), nested)].into(),
        ..BlockSchema::default()
    };
    let value = from_json(r#"{"new":"a","old":null,"rule":[{"new":"a","old":"b"}]}"#, schema.ty());
    let mark = |source: &str, advice: &str| Deprecation {
        source: source.into(),
        advice: advice.into(),
        is_remote: false,
    };
    let marks = deprecations(&schema, &value.expect("JSON"), &mark("t.n", ""));
    let told: Vec<_> = marks.iter().map(|it| it.1.clone()).collect();
    assert_eq!(
        told,
        [
            Marks::deprecated(mark("t.n.old", "Use new.")),
            Marks::deprecated(mark("t.n.rule[0].old", "Use new."))
        ]
    );
    assert!(has_deprecations(&schema) && !has_deprecations(&BlockSchema::default()));
}

/// `users` in some nesting, each with a sensitive `secret` and a computed `key`.
fn with_secrets(nesting: Nesting) -> BlockSchema {
    let mut secret = AttributeSchema::of(Type::STRING);
    secret.sensitive = true;
    let key = AttributeSchema::of(Type::STRING);
    let attributes = [("secret".into(), secret), ("key".into(), key)].into();
    let nested = NestedAttributes { nesting, attributes };
    let mut users = AttributeSchema::of(nested.ty());
    users.nested = Some(Box::new(nested));
    BlockSchema { attributes: [("users".into(), users)].into(), ..BlockSchema::default() }
}

#[test]
fn what_is_sensitive_within_a_sensitive_attribute_is_found_as_well() {
    let mut schema = with_secrets(Nesting::Single);
    schema.attributes.get_mut("users").expect("is there").sensitive = true;
    let value = from_json(r#"{"users":{"secret":"a","key":"k"}}"#, schema.ty()).expect("JSON");
    let users = PathStep::attribute("users");
    assert_eq!(
        sensitive_paths(&schema, &value),
        [vec![users.clone()], vec![users, PathStep::attribute("secret")]]
    );
}

#[test]
fn a_set_is_sensitive_for_a_part_of_an_element_that_is_not_wholly_known() {
    let schema = with_secrets(Nesting::Set);
    let user = Value::object(vec![
        ("key".into(), Value::unknown(Type::STRING)),
        ("secret".into(), Value::from("a")),
    ]);
    let value = Value::object(vec![("users".into(), Value::set(user.ty(), vec![user]))]);
    let marked = mark_sensitive(&value, &schema);
    assert_eq!(marked.mark_paths(), MarkPaths::sensitive([&vec![PathStep::attribute("users")]]));
}

#[test]
fn nested_sensitive_attributes_are_found_in_every_element() {
    let schema = with_secrets(Nesting::List);
    let value =
        from_json(r#"{"users":[{"secret":"a","key":"k"},{"secret":null,"key":"l"}]}"#, schema.ty())
            .expect("JSON");
    let path = |at: usize| {
        vec![PathStep::attribute("users"), PathStep::index(at), PathStep::attribute("secret")]
    };
    assert_eq!(sensitive_paths(&schema, &value), [path(0), path(1)]);
    assert_eq!(mark_sensitive(&value, &schema).mark_paths().iter().count(), 2);
}

#[test]
fn stored_objects_are_read_with_today_s_schema() {
    let text = r#"{"id":"i","gone":[1],"name":"a","rule":[{"port":1,"old":true}]}"#;
    let value = decode_stored(text, &schema()).expect("decodes");
    assert_eq!(value.ty(), schema().ty());
    let stored = encode_stored(&value, &schema()).expect("encodes");
    assert!(stored.starts_with(
        r#"{"id":"i","listener":null,"name":"a","once":null,"rule":[{"port":1,"rule_id":null}]"#
    ));
}

#[test]
fn a_block_map_with_untyped_parts_becomes_an_object() {
    let mut any = AttributeSchema::of(Type::DYNAMIC);
    any.optional = true;
    let inner = BlockSchema { attributes: [("any".into(), any)].into(), ..BlockSchema::default() };
    let nested = NestedBlock { nesting: Nesting::List, block: inner, min_items: 0, max_items: 0 };
    let schema = BlockSchema { blocks: [("b".into(), nested)].into(), ..BlockSchema::default() };
    let value =
        coerce(&from_json_object(r#"{"b":[{"any":1},{"any":"x"}]}"#), &schema).expect("fits");
    assert!(matches!(value.get("b"), Some(Value::Tuple(_))));
    assert!(conforms(&value, schema.ty()).is_empty());
    assert_eq!(proposed_new(&schema, &Value::Null(schema.ty()), &value), value);
}

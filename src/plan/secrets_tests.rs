//! What the document of a plan lists as sensitive: by the configuration, and by the schema.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::Details;
use super::json::configured;
use super::shape::{write_sensitive, write_sensitive_at};
use crate::rarely::Rarely;
use crate::schema::sensitive_paths;
use crate::schema::{AttributeSchema, BlockSchema, NestedBlock, Nesting, mark_sensitive};
use crate::state::text::{JsonWriter, Layout};
use crate::value::{Path, PathStep, Str, Type, json};

fn schema() -> BlockSchema {
    let secret = AttributeSchema { sensitive: true, ..AttributeSchema::of(Type::STRING) };
    let attributes = BTreeMap::from([
        ("key".into(), secret),
        ("name".into(), AttributeSchema::of(Type::STRING)),
    ]);
    let inner = BlockSchema { attributes: attributes.clone(), ..BlockSchema::default() };
    let blocks = [("list", Nesting::List), ("set", Nesting::Set)].map(|(name, nesting)| {
        let block = NestedBlock { nesting, block: inner.clone(), min_items: 0, max_items: 0 };
        (Str::from(name), block)
    });
    BlockSchema { attributes, blocks: blocks.into(), ..BlockSchema::default() }
}

/// The sensitive parts of a planned object: of a change in place, and as `planned_values` and `after_sensitive` list them of a
/// replacement.
#[track_caller]
fn check(configured_secrets: &[Path], expected: Expect) {
    let schema = schema();
    let text = r#"{"key":null,"name":"a","list":[{"key":"k","name":"b"}],"set":[{"key":"k","name":"c"},{"key":"l","name":null}]}"#;
    let value = json::from_json(text, schema.ty()).expect("a value");
    let in_place = mark_sensitive(&configured(&value, configured_secrets), &schema);
    let mut lines = Vec::new();
    let mut line = |write: &dyn Fn(&mut JsonWriter)| {
        let mut out = JsonWriter::new(Layout::Compact);
        write(&mut out);
        lines.push(out.finish());
    };
    let replaced = configured(&in_place, configured_secrets);
    line(&|out| write_sensitive(out, &in_place));
    line(&|out| write_sensitive(out, &replaced));
    line(&|out| write_sensitive_at(out, &replaced, &sensitive_paths(&schema, &value)));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn planned_values_of_a_replacement_list_only_what_the_configuration_makes_sensitive() {
    check(
        &[],
        expect![[r#"
            {"key":true,"list":[{"key":true}],"set":true}
            {"list":[{}],"set":[{},{}]}
            {"key":true,"list":[{"key":true}],"set":[{"key":true},{"key":true}]}"#]],
    );
    check(
        &[vec![PathStep::attribute("name")], vec![PathStep::attribute("set")]],
        expect![[r#"
            {"key":true,"list":[{"key":true}],"name":true,"set":true}
            {"list":[{}],"name":true,"set":true}
            {"key":true,"list":[{"key":true}],"name":true,"set":true}"#]],
    );
}

#[test]
fn a_change_without_configured_secrets_takes_one_word() {
    assert!(Rarely::of(Details::default()).is_plain());
    let details = Details { configured_secrets: Some([].into()), ..Details::default() };
    assert!(!Rarely::of(details).is_plain());
}

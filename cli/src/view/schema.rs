//! What providers accept and return, as JSON: `providers schema -json`.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail::schema::{
    AttributeSchema, BlockSchema, FunctionSignature, NestedBlock, Nesting, ProviderSchema, Schema,
};
use entail::value::json::type_to_json;
use entail::value::{Str, Type};
use serde_json::{Map, Value, json};

/// Describes every provider, in one line.
pub fn all<'a>(schemas: impl Iterator<Item = (String, &'a ProviderSchema)>) -> String {
    let schemas: BTreeMap<String, Value> =
        schemas.map(|(address, schema)| (address, provider(schema))).collect();
    let mut document = Map::new();
    document.insert("format_version".into(), json!("1.0"));
    if !schemas.is_empty() {
        document.insert("provider_schemas".into(), json!(schemas));
    }
    format!("{}\n", super::output::escape_html(&Value::Object(document).to_string()))
}

/// An object of the members that say something.
fn object(members: Vec<(&str, Value)>) -> Value {
    let says = |it: &Value| match it {
        Value::Null | Value::Bool(false) => false,
        Value::String(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
        Value::Array(it) => !it.is_empty(),
        Value::Number(it) => it.as_u64() != Some(0),
        Value::Bool(true) => true,
    };
    let kept = members.into_iter().filter(|it| says(&it.1));
    Value::Object(kept.map(|(name, it)| (name.to_owned(), it)).collect())
}

fn provider(schema: &ProviderSchema) -> Value {
    object(vec![
        ("provider", versioned(&schema.provider)),
        ("resource_schemas", named(schema.resources.iter(), versioned)),
        ("data_source_schemas", named(schema.data_sources.iter(), versioned)),
        ("ephemeral_resource_schemas", named(schema.ephemeral.iter(), versioned)),
        ("functions", named(schema.functions.iter(), function)),
    ])
}

fn named<'a, T: 'a>(
    all: impl Iterator<Item = (&'a Str, &'a Arc<T>)>,
    describe: impl Fn(&T) -> Value,
) -> Value {
    Value::Object(all.map(|(name, it)| (name.to_string(), describe(it))).collect())
}

fn versioned(schema: &Schema) -> Value {
    json!({"version": schema.version, "block": block(&schema.block)})
}

fn text(it: &Option<Str>) -> Value {
    it.as_ref().map_or(Value::Null, |it| json!(&**it))
}

fn block(schema: &BlockSchema) -> Value {
    let blocks = schema.blocks.iter().map(|(name, it)| (name.to_string(), nested(it)));
    object(vec![
        ("attributes", attributes(&schema.attributes)),
        ("block_types", Value::Object(blocks.collect())),
        ("description", text(&schema.description)),
        ("description_kind", json!("plain")),
        ("deprecated", json!(schema.deprecated)),
    ])
}

fn attributes(all: &BTreeMap<Str, AttributeSchema>) -> Value {
    Value::Object(all.iter().map(|(name, it)| (name.to_string(), attribute(it))).collect())
}

fn attribute(it: &AttributeSchema) -> Value {
    let nested = it.nested.as_ref().map_or(Value::Null, |nested| {
        object(vec![
            ("attributes", attributes(&nested.attributes)),
            ("nesting_mode", json!(mode(nested.nesting))),
        ])
    });
    let own = if it.nested.is_some() { Value::Null } else { ty(it.ty) };
    object(vec![
        ("type", own),
        ("nested_type", nested),
        ("description", text(&it.description)),
        ("description_kind", json!("plain")),
        ("deprecated", json!(it.deprecated)),
        ("required", json!(it.required)),
        ("optional", json!(it.optional)),
        ("computed", json!(it.computed)),
        ("sensitive", json!(it.sensitive)),
        ("write_only", json!(it.write_only)),
    ])
}

fn ty(it: Type) -> Value {
    serde_json::from_str(&type_to_json(it)).unwrap_or_default()
}

fn nested(it: &NestedBlock) -> Value {
    object(vec![
        ("nesting_mode", json!(mode(it.nesting))),
        ("block", block(&it.block)),
        ("min_items", json!(it.min_items)),
        ("max_items", json!(it.max_items)),
    ])
}

fn mode(it: Nesting) -> &'static str {
    match it {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    }
}

fn function(it: &FunctionSignature) -> Value {
    let parameter = |it: &(Str, Type, bool, bool)| {
        object(vec![("name", json!(&*it.0)), ("type", ty(it.1)), ("is_nullable", json!(it.2))])
    };
    object(vec![
        ("description", text(&it.description)),
        ("return_type", ty(it.returns)),
        ("parameters", Value::Array(it.parameters.iter().map(parameter).collect())),
        ("variadic_parameter", it.variadic.as_ref().map_or(Value::Null, parameter)),
    ])
}

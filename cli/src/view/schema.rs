//! What providers accept and return, as JSON: `providers schema -json`.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail::address::Provider;
use entail::schema::{
    AttributeSchema, BlockSchema, Documentation, FunctionParameter, FunctionSignature,
    IdentityAttribute, IdentitySchema, NestedBlock, Nesting, ProviderSchema, Schema,
};
use entail::value::json::type_to_json;
use entail::value::{Str, Type};
use serde_json::{Map, Value, json};

/// Describes every provider, in one line.
pub fn all<'a>(schemas: impl Iterator<Item = (&'a Provider, &'a ProviderSchema)>) -> String {
    let schemas: BTreeMap<String, Value> = schemas
        .map(|(address, schema)| (address.to_string(), provider(schema, address.is_builtin())))
        .collect();
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

fn provider(schema: &ProviderSchema, is_builtin: bool) -> Value {
    // What is built in has no block that could be written.
    let own = match is_builtin {
        true => json!({"version": schema.provider.version}),
        false => versioned(&schema.provider),
    };
    let identities = schema.resources.iter();
    let identities = identities
        .filter_map(|(name, it)| Some((name.to_string(), identity(it.identity.as_ref()?))));
    object(vec![
        ("provider", own),
        ("resource_schemas", named(schema.resources.iter(), versioned)),
        ("data_source_schemas", named(schema.data_sources.iter(), versioned)),
        ("ephemeral_resource_schemas", named(schema.ephemeral.iter(), versioned)),
        ("functions", named(schema.functions.iter(), function)),
        ("resource_identity_schemas", Value::Object(identities.collect())),
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
        ("description", text(&schema.documentation.text)),
        ("description_kind", kind(&schema.documentation)),
        ("deprecated", json!(schema.deprecated)),
        ("deprecation_message", text(&schema.documentation.deprecation)),
    ])
}

fn kind(it: &Documentation) -> Value {
    json!(if it.is_markdown { "markdown" } else { "plain" })
}

fn identity(it: &IdentitySchema) -> Value {
    let attribute = |it: &IdentityAttribute| {
        object(vec![
            ("type", ty(it.ty)),
            ("description", text(&it.description)),
            ("required_for_import", json!(it.required)),
            ("optional_for_import", json!(it.optional)),
        ])
    };
    let attributes = it.attributes.iter().map(|(name, it)| (name.to_string(), attribute(it)));
    json!({"version": it.version, "attributes": Value::Object(attributes.collect())})
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
        ("description", text(&it.documentation.text)),
        ("description_kind", kind(&it.documentation)),
        ("deprecated", json!(it.deprecated)),
        ("deprecation_message", text(&it.documentation.deprecation)),
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
    let told = |it: &Option<Str>| json!(it.as_deref().unwrap_or_default());
    let parameter = |it: &FunctionParameter| {
        let mut parameter = json!({
            "name": &*it.name, "description": told(&it.description), "type": ty(it.ty),
        });
        if it.takes_null {
            parameter["is_nullable"] = json!(true);
        }
        parameter
    };
    let mut function = json!({
        "description": told(&it.description),
        "summary": told(&it.summary),
        "return_type": ty(it.returns),
    });
    if !it.parameters.is_empty() {
        function["parameters"] = it.parameters.iter().map(parameter).collect();
    }
    if let Some(it) = &it.variadic {
        function["variadic_parameter"] = parameter(it);
    }
    function
}

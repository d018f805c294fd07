//! Our schemas, as the protocol writes them.

use bytes::Bytes;
use prost::Message;

use crate::provider::plugin::wire::entail::plugin as msg;
use crate::provider::plugin::wire::entail::plugin::{Nesting as Told, Schema5, Schema6, schema6};
use crate::schema::{
    AttributeSchema, BlockSchema, FunctionParameter, FunctionSignature, NestedBlock, Nesting,
    Schema,
};
use crate::value::json::type_to_json;
use crate::value::{Str, Type};

/// Writes a schema as a version of the protocol has it.
pub(super) fn written(schema: &Schema, version: u32) -> Bytes {
    let new = Schema6 { version: schema.version as i64, block: Some(block(&schema.block)) };
    match version {
        5 => Schema5 { version: new.version, block: new.block.map(older) }.encode_to_vec().into(),
        _ => new.encode_to_vec().into(),
    }
}

fn text(it: &Option<Str>) -> String {
    it.as_deref().unwrap_or_default().to_owned()
}

fn ty(it: Type) -> Bytes {
    type_to_json(it).into_bytes().into()
}

fn nesting(it: Nesting) -> i32 {
    let told = match it {
        Nesting::Single => Told::Single,
        Nesting::Group => Told::Group,
        Nesting::List => Told::List,
        Nesting::Set => Told::Set,
        Nesting::Map => Told::Map,
    };
    told as i32
}

fn block(it: &BlockSchema) -> schema6::Block {
    schema6::Block {
        attributes: it.attributes.iter().map(attribute).collect(),
        block_types: it.blocks.iter().map(nested).collect(),
        description: text(&it.documentation.text),
        deprecated: it.deprecated,
        ..Default::default()
    }
}

fn attribute((name, it): (&Str, &AttributeSchema)) -> schema6::Attribute {
    let nested_type = it.nested.as_ref().map(|it| schema6::Object {
        attributes: it.attributes.iter().map(attribute).collect(),
        nesting: nesting(it.nesting),
    });
    schema6::Attribute {
        name: name.to_string(),
        r#type: if nested_type.is_some() { Bytes::new() } else { ty(it.ty) },
        description: text(&it.documentation.text),
        required: it.required,
        optional: it.optional,
        computed: it.computed,
        sensitive: it.sensitive,
        deprecated: it.deprecated,
        nested_type,
        write_only: it.write_only,
        ..Default::default()
    }
}

fn nested((name, it): (&Str, &NestedBlock)) -> schema6::NestedBlock {
    schema6::NestedBlock {
        type_name: name.to_string(),
        block: Some(block(&it.block)),
        nesting: nesting(it.nesting),
        min_items: it.min_items as i64,
        max_items: it.max_items as i64,
    }
}

/// A block as version 5 writes it. Structural attributes become plain ones of their type.
fn older(it: schema6::Block) -> msg::schema5::Block {
    let attribute = |it: schema6::Attribute| msg::schema5::Attribute {
        name: it.name,
        r#type: it.r#type,
        description: it.description,
        required: it.required,
        optional: it.optional,
        computed: it.computed,
        sensitive: it.sensitive,
        description_kind: it.description_kind,
        deprecated: it.deprecated,
        write_only: it.write_only,
        deprecation_message: it.deprecation_message,
    };
    let nested = |it: schema6::NestedBlock| msg::schema5::NestedBlock {
        type_name: it.type_name,
        block: it.block.map(older),
        nesting: it.nesting,
        min_items: it.min_items,
        max_items: it.max_items,
    };
    msg::schema5::Block {
        attributes: it.attributes.into_iter().map(attribute).collect(),
        block_types: it.block_types.into_iter().map(nested).collect(),
        description: it.description,
        deprecated: it.deprecated,
        ..Default::default()
    }
}

/// Writes what a function takes and gives.
pub(super) fn function(it: &FunctionSignature) -> msg::Function {
    let parameter = |it: &FunctionParameter| msg::function::Parameter {
        name: it.name.to_string(),
        r#type: ty(it.ty),
        allow_null_value: it.takes_null,
        allow_unknown_values: it.takes_unknown,
        description: text(&it.description),
        ..Default::default()
    };
    msg::Function {
        parameters: it.parameters.iter().map(parameter).collect(),
        variadic_parameter: it.variadic.as_ref().map(parameter),
        r#return: Some(msg::function::Return { r#type: ty(it.returns) }),
        summary: text(&it.summary),
        description: text(&it.description),
        ..Default::default()
    }
}

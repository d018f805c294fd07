//! What a plugin announces, read when it is needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

use super::values::diagnostics;
use super::wire::entail::plugin as msg;
use super::wire::entail::plugin::{Nesting as Told, Schema5, Schema6, schema6};
use crate::error::Error;
use crate::provider::ProviderDiagnostic;
use crate::schema::{
    AttributeSchema, BlockSchema, Documentation, FunctionParameter, FunctionSignature,
    IdentityAttribute, IdentitySchema, NestedAttributes, NestedBlock, Nesting, ProviderSchema,
    Schema, Schemas,
};
use crate::value::json::type_from_json;
use crate::value::{Str, Type, nfc};

/// What a plugin announces.
#[derive(Clone, Debug)]
pub(super) struct Announced {
    /// Its schemas and functions.
    pub schema: Arc<ProviderSchema>,
    /// It wants to be asked before something is destroyed.
    pub plan_destroy: bool,
    /// Not every process need be asked for its schema.
    pub schema_optional: bool,
    /// It can turn objects of other types into its own.
    pub move_state: bool,
}

/// Takes an answer apart. Its schemas stay bytes until they are asked for.
///
/// # Errors
///
/// What the plugin says is wrong.
pub(super) fn announced(
    version: u32,
    answer: msg::get_provider_schema::Response,
) -> Result<(Announced, Vec<ProviderDiagnostic>), Vec<ProviderDiagnostic>> {
    let found = diagnostics(answer.diagnostics);
    if found.iter().any(|it| it.severity == crate::diagnostic::Severity::Error) {
        return Err(found);
    }
    let can = answer.server_capabilities.unwrap_or_default();
    let functions = answer.functions.into_iter().map(|(name, it)| {
        let signature = signature(&it).map_err(|why| invalid(&format!("function {name}"), &why))?;
        Ok((nfc(&name), Arc::new(signature)))
    });
    let schema = ProviderSchema {
        provider: read(version, &answer.provider).map_err(|it| vec![invalid("provider", &it)])?,
        meta: match answer.provider_meta.is_empty() {
            true => None,
            false => {
                let read = read(version, &answer.provider_meta);
                Some(read.map_err(|it| vec![invalid("provider_meta", &it)])?)
            }
        },
        resources: lazily(version, answer.resource_schemas, answer.identity_schemas),
        data_sources: lazily(version, answer.data_source_schemas, BTreeMap::new()),
        ephemeral: lazily(version, answer.ephemeral_resource_schemas, BTreeMap::new()),
        functions: functions.collect::<Result<_, _>>().map_err(|it| vec![it])?,
    };
    let announced = Announced {
        schema: Arc::new(schema),
        plan_destroy: can.plan_destroy,
        schema_optional: can.get_provider_schema_optional,
        move_state: can.move_resource_state,
    };
    Ok((announced, found))
}

/// Reads every schema once, so that a broken one is told of before anything rests on it.
///
/// # Errors
///
/// Which one is broken, and how.
pub(super) fn check(
    version: u32,
    answer: &msg::get_provider_schema::Response,
) -> Result<(), Vec<ProviderDiagnostic>> {
    let all = answer
        .resource_schemas
        .iter()
        .chain(&answer.data_source_schemas)
        .chain(&answer.ephemeral_resource_schemas);
    let broken: Vec<_> = all
        .filter_map(|(name, bytes)| {
            let why = match message(version, bytes) {
                Ok(it) => it.block.as_ref().and_then(|it| flaw(it, "")).map(Error::from),
                Err(why) => Some(why),
            };
            Some(invalid(name, &why?))
        })
        .collect();
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

fn invalid(what: &str, why: &Error) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Invalid provider schema",
        format!(
            "The plugin announces a schema for {what} that breaks the protocol: {why}. This is a bug in the provider; report it there."
        ),
    )
}

/// Reads the arguments of a provisioner, which speaks version 5.
///
/// # Errors
///
/// How the schema breaks the protocol.
pub(super) fn provisioner(bytes: &Bytes) -> Result<BlockSchema, Error> {
    let block = message(5, bytes)?.block.unwrap_or_default();
    match flaw(&block, "") {
        Some(why) => Err(why.into()),
        None => self::block(block),
    }
}

/// What breaks the rules of schemas in a block. Types are looked at without being kept.
fn flaw(block: &schema6::Block, at: &str) -> Option<String> {
    attributes_flaw(&block.attributes, at).or_else(|| {
        block.block_types.iter().find_map(|it| {
            let at = format!("{at}{}.", it.type_name);
            if block.attributes.iter().any(|attribute| attribute.name == it.type_name) {
                return Some(format!("{at} is a block and an attribute"));
            }
            let nesting = nesting(it.nesting);
            if nesting.is_none() {
                return Some(format!("{at} nests in no known way"));
            }
            flaw(it.block.as_ref()?, &at)
        })
    })
}

fn attributes_flaw(attributes: &[schema6::Attribute], at: &str) -> Option<String> {
    attributes.iter().find_map(|it| {
        let at = format!("{at}{}", it.name);
        if !(it.required || it.optional || it.computed) {
            return Some(format!("{at} is neither required nor optional nor computed"));
        }
        if it.required && (it.optional || it.computed) {
            return Some(format!("{at} is required and yet optional or computed"));
        }
        match &it.nested_type {
            Some(nested) if nesting(nested.nesting).is_none() => {
                Some(format!("{at} nests in no known way"))
            }
            Some(nested) => attributes_flaw(&nested.attributes, &format!("{at}.")),
            None => {
                let ty: serde_json::Value = serde_json::from_slice(&it.r#type).unwrap_or_default();
                (!is_type(&ty)).then(|| format!("{at} has no valid type"))
            }
        }
    })
}

fn is_type(json: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match json {
        Json::String(it) => ["string", "number", "bool", "dynamic"].contains(&it.as_str()),
        Json::Array(it) => match it.as_slice() {
            [Json::String(kind), inner] if ["list", "set", "map"].contains(&kind.as_str()) => {
                is_type(inner)
            }
            [Json::String(kind), Json::Array(items)] => {
                kind == "tuple" && items.iter().all(is_type)
            }
            [Json::String(kind), Json::Object(items), ..] => {
                kind == "object" && items.values().all(is_type)
            }
            _ => false,
        },
        _ => false,
    }
}

fn lazily(
    version: u32,
    bytes: BTreeMap<String, Bytes>,
    identities: BTreeMap<String, msg::ResourceIdentitySchema>,
) -> Schemas {
    let names: Vec<Str> = bytes.keys().map(|it| it.as_str().into()).collect();
    let make = move |name: &str| {
        let bytes = bytes.get(name).cloned().unwrap_or_default();
        // What cannot be read was told of when the schema came.
        let mut schema = read(version, &bytes).unwrap_or_default();
        schema.identity = identities.get(name).and_then(identity);
        schema
    };
    Schemas::on_demand(names, Arc::new(make))
}

/// Reads one schema.
fn read(version: u32, bytes: &Bytes) -> Result<Schema, Error> {
    let it = message(version, bytes)?;
    let block = it.block.map(block).transpose()?.unwrap_or_default();
    let version = u64::try_from(it.version).unwrap_or_default();
    Ok(Schema { version, block, identity: None })
}

/// Reads what objects are identified by. One that cannot be read counts for nothing: all can do without.
fn identity(it: &msg::ResourceIdentitySchema) -> Option<IdentitySchema> {
    let attributes = it.identity_attributes.iter();
    let attributes = attributes.map(|it| {
        let attribute = IdentityAttribute {
            ty: constraint(&it.r#type).ok()?,
            required: it.required_for_import,
            optional: it.optional_for_import,
            description: text(&it.description),
        };
        Some((nfc(&it.name), attribute))
    });
    let attributes: BTreeMap<Str, IdentityAttribute> = attributes.collect::<Option<_>>()?;
    Some(IdentitySchema {
        version: u64::try_from(it.version).unwrap_or_default(),
        ty: Type::object(attributes.iter().map(|(name, it)| (name.clone(), it.ty)).collect()),
        attributes,
    })
}

fn message(version: u32, bytes: &Bytes) -> Result<Schema6, Error> {
    match version {
        5 => {
            let it = Schema5::decode(bytes.clone()).map_err(Error::of)?;
            Ok(Schema6 { version: it.version, block: it.block.map(newer) })
        }
        _ => Schema6::decode(bytes.clone()).map_err(Error::of),
    }
}

/// A block of version 5 as version 6 would write it.
fn newer(it: msg::schema5::Block) -> schema6::Block {
    let attribute = |it: msg::schema5::Attribute| schema6::Attribute {
        name: it.name,
        r#type: it.r#type,
        description: it.description,
        required: it.required,
        optional: it.optional,
        computed: it.computed,
        sensitive: it.sensitive,
        description_kind: it.description_kind,
        deprecated: it.deprecated,
        nested_type: None,
        write_only: it.write_only,
        deprecation_message: it.deprecation_message,
    };
    let nested = |it: msg::schema5::NestedBlock| schema6::NestedBlock {
        type_name: it.type_name,
        block: it.block.map(newer),
        nesting: it.nesting,
        min_items: it.min_items,
        max_items: it.max_items,
    };
    schema6::Block {
        version: it.version,
        attributes: it.attributes.into_iter().map(attribute).collect(),
        block_types: it.block_types.into_iter().map(nested).collect(),
        description: it.description,
        description_kind: it.description_kind,
        deprecated: it.deprecated,
        deprecation_message: it.deprecation_message,
    }
}

fn text(it: &str) -> Option<Str> {
    (!it.is_empty()).then(|| it.into())
}

fn documentation(description: &str, kind: i32, deprecation: &str) -> Documentation {
    Documentation {
        text: text(description),
        is_markdown: kind == msg::StringKind::Markdown as i32,
        deprecation: text(deprecation),
    }
}

fn block(it: schema6::Block) -> Result<BlockSchema, Error> {
    let nested = |it: schema6::NestedBlock| -> Result<_, Error> {
        let nested = NestedBlock {
            nesting: nesting(it.nesting).ok_or("a block nests in no known way")?,
            block: it.block.map(block).transpose()?.unwrap_or_default(),
            min_items: u64::try_from(it.min_items).unwrap_or_default(),
            max_items: u64::try_from(it.max_items).unwrap_or_default(),
        };
        Ok((nfc(&it.type_name), nested))
    };
    Ok(BlockSchema {
        attributes: attributes(it.attributes)?,
        blocks: it.block_types.into_iter().map(nested).collect::<Result<_, _>>()?,
        documentation: documentation(&it.description, it.description_kind, &it.deprecation_message),
        deprecated: it.deprecated,
        ..BlockSchema::default()
    })
}

fn attributes(said: Vec<schema6::Attribute>) -> Result<BTreeMap<Str, AttributeSchema>, Error> {
    let one = |it: schema6::Attribute| -> Result<_, Error> {
        let nested = it.nested_type.map(nested_attributes).transpose()?;
        let ty = match &nested {
            Some(it) => it.ty(),
            None => constraint(&it.r#type)?,
        };
        let attribute = AttributeSchema {
            ty,
            nested: nested.map(Box::new),
            required: it.required,
            optional: it.optional,
            computed: it.computed,
            sensitive: it.sensitive,
            write_only: it.write_only,
            deprecated: it.deprecated,
            repeats: None,
            documentation: documentation(
                &it.description,
                it.description_kind,
                &it.deprecation_message,
            ),
        };
        Ok((nfc(&it.name), attribute))
    };
    said.into_iter().map(one).collect()
}

fn nested_attributes(it: schema6::Object) -> Result<NestedAttributes, Error> {
    Ok(NestedAttributes {
        nesting: nesting(it.nesting).ok_or("an attribute nests in no known way")?,
        attributes: attributes(it.attributes)?,
    })
}

fn nesting(said: i32) -> Option<Nesting> {
    Some(match Told::try_from(said).ok()? {
        Told::Single => Nesting::Single,
        Told::List => Nesting::List,
        Told::Set => Nesting::Set,
        Told::Map => Nesting::Map,
        Told::Group => Nesting::Group,
        Told::Invalid => return None,
    })
}

fn constraint(json: &[u8]) -> Result<Type, Error> {
    let text = std::str::from_utf8(json).map_err(|_| "a type is not UTF-8")?;
    Ok(type_from_json(text)?.without_optional())
}

/// Reads what a function takes and gives.
pub(super) fn signature(it: &msg::Function) -> Result<FunctionSignature, Error> {
    let parameter = |it: &msg::function::Parameter| -> Result<_, Error> {
        Ok(FunctionParameter {
            name: nfc(&it.name),
            ty: constraint(&it.r#type)?,
            takes_null: it.allow_null_value,
            takes_unknown: it.allow_unknown_values,
            description: text(&it.description),
        })
    };
    let returns = it.r#return.as_ref().ok_or("it returns nothing")?;
    Ok(FunctionSignature {
        parameters: it.parameters.iter().map(parameter).collect::<Result<_, _>>()?,
        variadic: it.variadic_parameter.as_ref().map(parameter).transpose()?,
        returns: constraint(&returns.r#type)?,
        summary: text(&it.summary),
        description: text(&it.description),
    })
}

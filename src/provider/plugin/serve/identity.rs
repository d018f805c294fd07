//! Identities that a served provider announces where it is asked to: each object is identified by its `id`.

use crate::provider::plugin::values::{decode, encode};
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::schema::Schemas;
use crate::value::{Type, Value};

fn ty() -> Type {
    Type::object(vec![("id".into(), Type::STRING)])
}

/// Returns the schemas: one for each type that has an `id`.
pub(super) fn schemas(resources: &Schemas) -> msg::get_resource_identity_schemas::Response {
    let attribute = || msg::resource_identity_schema::IdentityAttribute {
        name: "id".into(),
        r#type: b"\"string\"".to_vec().into(),
        required_for_import: true,
        optional_for_import: false,
        description: String::new(),
    };
    let with_id = resources.iter().filter(|it| it.1.block.attributes.contains_key("id"));
    let schema =
        || msg::ResourceIdentitySchema { version: 0, identity_attributes: vec![attribute()] };
    msg::get_resource_identity_schemas::Response {
        identity_schemas: with_id.map(|it| (it.0.to_string(), schema())).collect(),
        diagnostics: Vec::new(),
    }
}

/// Returns what an object is identified by; nothing as long as its `id` is not known.
pub(super) fn of(object: &Value) -> Option<msg::ResourceIdentityData> {
    let id = object.get("id")?.as_str()?;
    let identity = Value::object([("id".into(), Value::from(id))]);
    Some(msg::ResourceIdentityData { identity_data: encode(&identity, ty()) })
}

/// Returns the `id` of an identity.
pub(super) fn id(identity: msg::ResourceIdentityData) -> Option<String> {
    let identity = decode(identity.identity_data, ty()).ok()?;
    identity.get("id")?.as_str().map(str::to_owned)
}

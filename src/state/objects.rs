//! A value as an object of the state, and back.

use crate::rarely::Rarely;
use crate::schema::Schema;
use crate::state::{Attributes, Object, Status, StoredIdentity};
use crate::value::Value;
use crate::value::json::to_state_json;

/// Returns a whole object of a value, with nothing known of what it rests on.
pub fn new_object(value: &Value, schema: &Schema) -> Object {
    let mut object = Object {
        status: Status::Ready,
        schema_version: schema.version,
        attributes: Attributes::Json("null".into()),
        dependencies: Box::default(),
        reads: None,
        recorded_as: None,
        create_before_destroy: false,
        skip_destroy: false,
        besides: Rarely::default(),
    };
    encode(&mut object, value, schema);
    object
}

/// Writes a value into an object. What is unknown is stored as null.
pub fn encode(object: &mut Object, value: &Value, schema: &Schema) {
    let value = value.to_marked_by_path();
    let known = known_only(value.value());
    let text = to_state_json(&known, schema.block.ty()).unwrap_or_else(|_| "null".into());
    object.attributes = Attributes::Json(text.into());
    object.schema_version = schema.version;
    let mut sensitive = value.marks().sensitive_paths();
    sensitive.dedup();
    object.set_sensitive(sensitive.into());
}

/// Returns an identity as the state keeps it. One that is not wholly known is not kept.
pub fn stored_identity(identity: Option<&Value>, schema: &Schema) -> Option<Box<StoredIdentity>> {
    let (identity, known) = (identity?, schema.identity.as_ref()?);
    let text = to_state_json(identity, known.ty).ok()?;
    Some((text.into(), known.version).into())
}

/// Returns the value with every unknown part replaced by null.
pub fn known_only(value: &Value) -> Value {
    if value.is_wholly_known() {
        return value.clone();
    }
    match value.bare() {
        Value::Unknown(it) => Value::Null(it.ty),
        it => {
            it.map_children(&mut Vec::new(), &mut |child, _| known_only(child)).mark(&value.marks())
        }
    }
}

//! Stored objects: the JSON text in a state, read with the schema of today.

use super::BlockSchema;
use crate::value::{PathError, Value, json};

/// Decodes the stored attributes of an object whose schema version is the schema's own.
///
/// Attributes that the schema no longer has are dropped, and those that the text lacks are null.
pub fn decode_stored(text: &str, schema: &BlockSchema) -> Result<Value, PathError> {
    json::from_stored_json(text, schema.ty())
}

/// Returns whether stored attributes are laid out as they would be written today.
pub fn is_stored_as_today(text: &str, schema: &BlockSchema) -> bool {
    json::has_layout(text, schema.ty())
}

/// Encodes an object for the state. Fails for unknown or marked parts.
pub fn encode_stored(value: &Value, schema: &BlockSchema) -> Result<String, PathError> {
    json::to_state_json(value, schema.ty())
}

/// Returns the stored text without the attributes that the schema does not have, where it can be read at all.
pub fn without_unknown_attributes(text: &str, schema: &BlockSchema) -> Option<String> {
    encode_stored(&decode_stored(text, schema).ok()?, schema).ok()
}

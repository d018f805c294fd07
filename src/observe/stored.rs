//! What the state holds, brought to today's schema by its provider: objects and what identifies them.

use std::sync::Arc;

use super::Observer;
use super::problems;
use crate::address::Instance;
use crate::diagnostic::Diagnostics;
use crate::provider::Provider;
use crate::schema::{self, Schema};
use crate::state;
use crate::value::{MarkPaths, Value};

/// Marks what is secret of a stored object: what the state says, and what the schema does.
pub(super) fn marked(value: &Value, stored: &state::Object, schema: &Schema) -> Value {
    schema::mark_object(value, &MarkPaths::sensitive(&stored.besides.sensitive), &schema.block)
}

/// Returns a stored object that is laid out as today's schema has it, marked. `None` where it cannot be decoded.
pub(super) fn decoded(stored: &state::Object, schema: &Schema) -> Option<Value> {
    let state::Attributes::Json(json) = &stored.attributes else { return None };
    let value = schema::decode_stored(json, &schema.block).ok()?;
    Some(marked(&value, stored, schema))
}

impl Observer<'_> {
    /// Brings a stored identity to today's schema. `None` where that failed; the problem has been reported.
    pub(super) async fn identity(
        &self,
        address: &Instance,
        stored: &state::Object,
        schema: &Schema,
        provider: &Arc<dyn Provider>,
    ) -> Option<Option<Value>> {
        let Some((json, version)) = stored.besides.identity.as_deref() else { return Some(None) };
        let current = schema.identity.as_ref().map_or(0, |it| it.version);
        if *version > current {
            self.values.report([problems::newer_identity(address, *version, current)]);
            return None;
        }
        let Some(known) = &schema.identity else { return Some(None) };
        if *version == known.version {
            // One that cannot be read is found out anew by reading the object.
            return Some(crate::value::json::from_json(json, known.ty).ok());
        }
        let kind = &*address.resource.kind;
        let upgraded = provider.upgrade_identity(kind, *version, json).await;
        self.report_provider(address, None, &upgraded.diagnostics);
        (!self.failed(&upgraded.diagnostics)).then_some(upgraded.value)
    }

    /// Returns a stored object as today's schema has it, without marks, and what is said of it.
    pub(super) async fn previous(
        &self,
        address: &Instance,
        stored: &state::Object,
        schema: &Schema,
        provider: &Arc<dyn Provider>,
    ) -> (Option<Value>, Diagnostics) {
        let (written, current) = (stored.schema_version, schema.version);
        if written > current && self.other_type(address).is_none() {
            return (None, problems::newer_object(address, written, current).into());
        }
        let state::Attributes::Json(json) = &stored.attributes else {
            return (None, problems::flat_object(address).into());
        };
        let (previous, mut found) = self.brought_forward(address, stored, json, provider).await;
        let Some(previous) = previous else { return (None, found) };
        if !previous.is_wholly_known() {
            found.push(problems::not_wholly_known(address, "upgrade"));
            return (None, found);
        }
        // What a provider makes of another type's object is looked at as if it had been stored.
        let stored_form = self.other_type(address).and_then(|_| {
            let text = schema::encode_stored(&previous, &schema.block).ok()?;
            schema::decode_stored(&text, &schema.block).ok()
        });
        (Some(stored_form.unwrap_or(previous)), found)
    }

    /// Brings a stored object to today's schema; one that was moved from another type becomes one of this type.
    async fn brought_forward(
        &self,
        address: &Instance,
        stored: &state::Object,
        json: &str,
        provider: &Arc<dyn Provider>,
    ) -> (Option<Value>, Diagnostics) {
        let kind = &*address.resource.kind;
        let (value, found) = match self.other_type(address) {
            Some(old) => {
                let from = self
                    .state
                    .resources
                    .get(&address.of())
                    .map(|it| it.provider.provider.to_string())
                    .unwrap_or_default();
                let moved = provider
                    .move_state(&from, &old.resource.kind, stored.schema_version, json, kind)
                    .await;
                (moved.value.map(|it| it.value), moved.diagnostics)
            }
            None => {
                let upgraded = provider.upgrade(kind, stored.schema_version, json).await;
                (upgraded.value, upgraded.diagnostics)
            }
        };
        let said = found.iter().map(|it| problems::of_provider(it, Some(address), None));
        (value.filter(|_| !self.failed(&found)), Diagnostics(said.collect()))
    }

    /// Returns where an object was that was moved here from another type, and that is still recorded as of that type: the
    /// refresh before a destroy run has converted it.
    pub(super) fn other_type(&self, address: &Instance) -> Option<&Instance> {
        if self.request.follows_refresh {
            return None;
        }
        self.moved.get(address).filter(|old| old.resource.kind != address.resource.kind)
    }
}

//! What the state holds, brought to today's schema by its provider: objects and what identifies them.

use std::sync::Arc;

use super::Observer;
use super::problems;
use crate::address::Instance;
use crate::provider::Provider;
use crate::schema::Schema;
use crate::state;
use crate::value::Value;

impl Observer<'_> {
    /// Brings a stored identity to today's schema. `None` where that failed; the problem has been reported.
    pub(super) async fn identity(
        &self,
        address: &Instance,
        stored: &state::Object,
        schema: &Schema,
        provider: &Arc<dyn Provider>,
    ) -> Option<Option<Value>> {
        let Some((json, version)) = stored.identity.as_deref() else { return Some(None) };
        let current = schema.identity.as_ref().map_or(0, |it| it.version);
        if *version > current {
            self.values.report([problems::newer_identity(address, *version, current)]);
            return None;
        }
        let Some(known) = &schema.identity else { return Some(None) };
        if *version == known.version {
            // One that cannot be read is found out anew by reading the object.
            return Some(crate::value::json::from_json(json.get(), known.ty).ok());
        }
        let kind = &*address.resource.kind;
        let upgraded = provider.upgrade_identity(kind, *version, json).await;
        self.report_provider(address, None, &upgraded.diagnostics);
        (!self.failed(&upgraded.diagnostics)).then_some(upgraded.value)
    }

    /// Brings a stored object to today's schema; one that was moved from another type becomes one of this type.
    pub(super) async fn brought_forward(
        &self,
        address: &Instance,
        stored: &state::Object,
        json: &serde_json::value::RawValue,
        provider: &Arc<dyn Provider>,
    ) -> Option<Value> {
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
        self.report_provider(address, None, &found);
        value.filter(|_| !self.failed(&found))
    }

    /// Returns where an object was that was moved here from another type.
    pub(super) fn other_type(&self, address: &Instance) -> Option<&Instance> {
        self.moved.get(address).filter(|old| old.resource.kind != address.resource.kind)
    }
}

//! Mocks: a provider that stands for a real one, and makes up what that would answer.
//!
//! The real provider still tells its schema and checks configurations, and is never configured. What a mock returns is checked like
//! every other provider's answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::{
    AppliedObject, ApplyCall, ImportName, ImportedObject, OpenedEphemeral, PlanCall, PlannedObject,
    Provider, ProviderDiagnostic, ReadObject, Response,
};
use crate::address::{ConfigResource, Instance, Mode, ProviderConfig};
use crate::schema::{ProviderSchema, Schema};
use crate::value::{Str, Value};

mod compose;
mod cooked;
mod words;

use compose::Composer;
pub use compose::Fill;

/// Values by attribute.
pub type Values = BTreeMap<Str, Value>;

/// What is mocked in a run: whole providers, and single resources.
#[derive(Clone, Debug, Default)]
pub struct Mocks {
    /// What stands for the provider configurations of the root module.
    pub providers: BTreeMap<ProviderConfig, MockedProvider>,
    /// The values of resources whose providers are not asked.
    pub objects: BTreeMap<ConfigResource, Arc<Values>>,
}

/// What stands for one provider configuration.
#[derive(Clone, Debug)]
pub struct MockedProvider {
    /// The values of every object of a type.
    pub defaults: BTreeMap<(Mode, Str), Arc<Values>>,
    /// The values of single resources.
    pub overrides: BTreeMap<ConfigResource, Arc<Values>>,
    /// How attributes are filled that have no value.
    pub fill: Fill,
}

impl Mocks {
    /// Returns whether nothing is mocked.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.objects.is_empty()
    }

    /// Returns whether a provider configuration is mocked.
    pub fn replaces(&self, config: &ProviderConfig) -> bool {
        self.providers.contains_key(config)
    }

    /// Returns what answers for one object in the place of its provider; nothing where the provider itself does.
    pub fn of(
        &self,
        address: &Instance,
        config: &ProviderConfig,
        real: &Arc<dyn Provider>,
    ) -> Option<Arc<dyn Provider>> {
        let block = address.config();
        let mocked = self.providers.get(config);
        let of_type = || {
            let kind = (address.resource.mode, address.resource.kind.clone());
            let mocked = mocked?;
            mocked.overrides.get(&block).or_else(|| mocked.defaults.get(&kind))
        };
        let values = match self.objects.get(&block).or_else(of_type) {
            Some(values) => values.clone(),
            None => mocked.map(|_| Arc::default())?,
        };
        let fill = mocked.map_or(Fill::MadeUp, |it| it.fill);
        Some(Arc::new(Mock { real: real.clone(), values, fill }))
    }
}

/// What answers for one object in the place of its provider.
struct Mock {
    real: Arc<dyn Provider>,
    values: Arc<Values>,
    fill: Fill,
}

impl Mock {
    /// Makes up an object.
    async fn composed(&self, mode: Mode, kind: &str, config: &Value) -> Response<Option<Value>> {
        let schema = match self.schema_of(mode, kind).await {
            Ok(schema) => schema,
            Err(diagnostics) => return Response { value: None, diagnostics },
        };
        let mut composer = Composer::new(kind, self.fill);
        let value = composer.object(&schema.block, config, &self.values);
        let diagnostics = composer.found;
        Response { value: Some(value), diagnostics }
    }

    async fn schema_of(
        &self,
        mode: Mode,
        kind: &str,
    ) -> Result<Arc<Schema>, Vec<ProviderDiagnostic>> {
        let response = self.real.schema().await;
        if response.failed() {
            return Err(response.diagnostics);
        }
        response.value.of(mode, kind).cloned().ok_or_else(|| {
            let detail = format!("The provider that is mocked has no type {kind}.");
            vec![ProviderDiagnostic::error("Invalid resource type", detail)]
        })
    }
}

#[async_trait]
impl Provider for Mock {
    async fn schema(&self) -> Response<Arc<ProviderSchema>> {
        self.real.schema().await
    }

    async fn validate_provider(&self, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn configure(&self, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn validate_resource(&self, kind: &str, config: &Value) -> Vec<ProviderDiagnostic> {
        self.real.validate_resource(kind, config).await
    }

    async fn validate_data(&self, kind: &str, config: &Value) -> Vec<ProviderDiagnostic> {
        self.real.validate_data(kind, config).await
    }

    async fn upgrade(&self, kind: &str, version: u64, stored: &str) -> Response<Option<Value>> {
        self.real.upgrade(kind, version, stored).await
    }

    async fn read(
        &self,
        _: &str,
        prior: &Value,
        private: &[u8],
        identity: Option<&Value>,
    ) -> Response<Option<ReadObject>> {
        Response::ok(Some(ReadObject {
            value: prior.clone(),
            private: private.to_vec(),
            identity: identity.cloned(),
        }))
    }

    async fn upgrade_identity(
        &self,
        kind: &str,
        version: u64,
        stored: &str,
    ) -> Response<Option<Value>> {
        self.real.upgrade_identity(kind, version, stored).await
    }

    async fn plan(&self, call: PlanCall<'_>) -> Response<Option<PlannedObject>> {
        let response = match call.config.is_null() {
            true => Response::ok(Some(call.proposed.clone())),
            false => self.composed(Mode::Managed, call.kind, call.config).await,
        };
        let planned = |planned| PlannedObject {
            planned,
            requires_replace: Vec::new(),
            private: call.private.to_vec(),
            identity: None,
            legacy_types: false,
        };
        Response { value: response.value.map(planned), diagnostics: response.diagnostics }
    }

    async fn apply(&self, call: ApplyCall<'_>) -> Response<Option<AppliedObject>> {
        // What was unknown in the plan is known in the arguments now.
        let response = match call.planned.is_null() {
            true => Response::ok(Some(call.planned.clone())),
            false => self.composed(Mode::Managed, call.kind, call.config).await,
        };
        let applied = |value| AppliedObject {
            value,
            private: call.private.to_vec(),
            identity: None,
            legacy_types: false,
        };
        Response { value: response.value.map(applied), diagnostics: response.diagnostics }
    }

    async fn import(&self, kind: &str, name: &ImportName) -> Response<Vec<ImportedObject>> {
        let schema = match self.schema_of(Mode::Managed, kind).await {
            Ok(schema) => schema,
            Err(diagnostics) => return Response { value: Vec::new(), diagnostics },
        };
        let mut values = (*self.values).clone();
        if let Some(id) = name.id() {
            values.entry("id".into()).or_insert_with(|| Value::string(id));
        }
        let mut composer = Composer::new(kind, Fill::MadeUp);
        let value = composer.existing(&schema.block, &values);
        let kind = kind.to_owned();
        Response::ok(vec![ImportedObject { kind, value, private: Vec::new(), identity: None }])
    }

    async fn move_state(
        &self,
        from_provider: &str,
        from_kind: &str,
        from_version: u64,
        stored: &str,
        kind: &str,
    ) -> Response<Option<ReadObject>> {
        self.real.move_state(from_provider, from_kind, from_version, stored, kind).await
    }

    fn may_leave_unknown(&self) -> bool {
        self.fill == Fill::Unknown
    }

    async fn read_data(&self, kind: &str, config: &Value) -> Response<Option<Value>> {
        self.composed(Mode::Data, kind, config).await
    }

    async fn validate_ephemeral(&self, kind: &str, config: &Value) -> Vec<ProviderDiagnostic> {
        self.real.validate_ephemeral(kind, config).await
    }

    async fn open(&self, kind: &str, config: &Value) -> Response<Option<OpenedEphemeral>> {
        let response = self.composed(Mode::Ephemeral, kind, config).await;
        let opened = |value| OpenedEphemeral { value, private: Vec::new(), renew_at: None };
        Response { value: response.value.map(opened), diagnostics: response.diagnostics }
    }

    async fn close(&self, _: &str, _: &[u8]) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn call(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, (Option<usize>, String)> {
        self.real.call(name, arguments).await
    }
}

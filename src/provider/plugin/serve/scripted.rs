//! A provider that does nothing but tell: who called it with what. For tests of those who call.
//!
//! `ENTAIL_PLUGIN_CALLS` names the file that it writes to, a line for each call.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::things::{Made, Things};
use crate::provider::{
    AppliedObject, ApplyCall, ImportName, ImportedObject, OpenedEphemeral, PlanCall, PlannedObject,
    Provider, ProviderDiagnostic, ReadObject, RenewedEphemeral, Response,
};
use crate::schema::{AttributeSchema, BlockSchema, ProviderSchema, Schema, Schemas};
use crate::value::json::from_json;
use crate::value::{Str, Type, Value};
use crate::world::World;

/// How long what it lends is good for.
const TERM: chrono::Duration = chrono::Duration::milliseconds(100);

/// A provider that tells.
#[derive(Clone)]
pub struct Scripted {
    told: Arc<Told>,
    /// What the module of a call says.
    meta: Option<Value>,
}

/// What all copies share.
struct Told {
    file: Option<PathBuf>,
    name: Mutex<String>,
    things: Option<Things>,
}

impl Told {
    fn name(&self) -> String {
        self.name.lock().clone()
    }

    fn line(&self, text: &str) {
        let Some(file) = &self.file else { return };
        let opened = File::options().create(true).append(true).open(file);
        // A test that finds no line says so.
        let _ = opened.and_then(|mut it| it.write_all(format!("{text}\n").as_bytes()));
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.line(&format!("{} ends", self.name()));
    }
}

fn text(optional: bool) -> AttributeSchema {
    AttributeSchema { optional, computed: !optional, ..AttributeSchema::of(Type::STRING) }
}

fn schema<const N: usize>(attributes: [(&str, AttributeSchema); N]) -> Schema {
    let attributes: BTreeMap<Str, AttributeSchema> =
        attributes.into_iter().map(|(name, it)| (name.into(), it)).collect();
    Schema { block: BlockSchema { attributes, ..BlockSchema::default() }, ..Schema::default() }
}

fn one(name: &str, schema: Schema) -> Schemas {
    [(Str::from(name), Arc::new(schema))].into_iter().collect()
}

fn announced() -> ProviderSchema {
    let secret = AttributeSchema { write_only: true, ..text(true) };
    ProviderSchema {
        provider: schema([("name", text(true))]),
        meta: Some(schema([("label", text(true))])),
        resources: one(
            "scripted_thing",
            schema([("made_by", text(false)), ("name", text(true)), ("secret", secret)]),
        ),
        ephemeral: one("scripted_loan", schema([("value", text(false))])),
        ..ProviderSchema::default()
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        Some(it) if !it.is_known() => "(unknown)".to_owned(),
        Some(it) => it.as_str().unwrap_or("(null)").to_owned(),
        None => "(nothing)".to_owned(),
    }
}

impl Scripted {
    /// Returns a provider that writes to the file that the environment names.
    pub fn new(world: &World) -> Scripted {
        let file = world.variable("ENTAIL_PLUGIN_CALLS").map(PathBuf::from);
        let name = Mutex::new("(unconfigured)".to_owned());
        let things = Things::of(world);
        Scripted { told: Arc::new(Told { file, name, things }), meta: None }
    }

    fn tell(&self, call: &str, object: &Value, config: &Value) {
        let label = shown(self.meta.as_ref().and_then(|it| it.get("label")));
        let (name, secret) = (shown(object.get("name")), shown(config.get("secret")));
        let caller = self.told.name();
        self.told.line(&format!("{caller}: {call} {name}, secret {secret}, module says {label}"));
    }

    fn things(&self) -> Option<&Things> {
        self.told.things.as_ref()
    }

    /// Creates or removes the thing of an object, where there is a world of things.
    async fn change_things(&self, call: &ApplyCall<'_>) -> Made {
        let name = |object: &Value| object.get("name").and_then(Value::as_str).map(str::to_owned);
        match (self.things(), name(call.prior), name(call.planned)) {
            (Some(things), None, Some(name)) => return things.create(&name).await,
            (Some(things), Some(name), None) => things.remove(&name),
            _ => {}
        }
        Made::Whole
    }

    /// The object with an attribute of its own.
    fn made(&self, object: &Value, made_by: Value) -> Value {
        let name = object.get("name").cloned().unwrap_or(Value::Null(Type::STRING));
        let secret = Value::Null(Type::STRING);
        Value::object([
            ("made_by".into(), made_by),
            ("name".into(), name),
            ("secret".into(), secret),
        ])
    }
}

#[async_trait]
impl Provider for Scripted {
    fn for_module(&self, meta: &Value) -> Option<Arc<dyn Provider>> {
        Some(Arc::new(Scripted { told: self.told.clone(), meta: Some(meta.clone()) }))
    }

    async fn schema(&self) -> Response<Arc<ProviderSchema>> {
        Response::ok(Arc::new(announced()))
    }

    async fn validate_provider(&self, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn configure(&self, config: &Value) -> Vec<ProviderDiagnostic> {
        let name = shown(config.get("name"));
        self.told.line(&format!("{name} is configured"));
        *self.told.name.lock() = name;
        Vec::new()
    }

    async fn validate_resource(&self, _: &str, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn validate_data(&self, _: &str, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn upgrade(&self, _: &str, _: u64, stored: &str) -> Response<Option<Value>> {
        let ty = announced().resources.get("scripted_thing").map(|it| it.block.ty());
        let value = ty.and_then(|ty| from_json(stored, ty).ok());
        Response::ok(value)
    }

    async fn read(
        &self,
        _: &str,
        prior: &Value,
        private: &[u8],
        _: Option<&Value>,
    ) -> Response<Option<ReadObject>> {
        self.tell("read", prior, prior);
        let private = private.to_vec();
        let name = prior.get("name").and_then(Value::as_str);
        if self.things().zip(name).is_some_and(|it| !it.0.has(it.1)) {
            let value = Value::Null(prior.ty());
            return Response::ok(Some(ReadObject { value, private, identity: None }));
        }
        // What has this name was changed by somebody else, each time that it is looked at.
        let value = match shown(prior.get("name")) == "restless" {
            true => self.made(prior, Value::from("somebody else")),
            false => prior.clone(),
        };
        Response::ok(Some(ReadObject { value, private, identity: None }))
    }

    async fn plan(&self, call: PlanCall<'_>) -> Response<Option<PlannedObject>> {
        // As providers of old do, it makes another value of one that it was given.
        let legacy_types = shown(call.proposed.get("name")).ends_with("hashed");
        let proposed = match legacy_types {
            true => &Value::object([(
                "name".into(),
                Value::string(format!("{} once more hashed", shown(call.proposed.get("name")))),
            )]),
            false => call.proposed,
        };
        let planned = match (call.proposed.is_null(), call.prior.get("made_by")) {
            (true, _) => call.proposed.clone(),
            (false, Some(it)) => self.made(proposed, it.clone()),
            (false, None) => self.made(proposed, Value::unknown(Type::STRING)),
        };
        if !call.proposed.is_null() {
            self.tell("plan", call.proposed, call.config);
        }
        Response::ok(Some(PlannedObject {
            planned,
            requires_replace: Vec::new(),
            private: Vec::new(),
            identity: None,
            legacy_types,
        }))
    }

    async fn apply(&self, call: ApplyCall<'_>) -> Response<Option<AppliedObject>> {
        let value = match call.planned.is_null() {
            true => call.planned.clone(),
            false => self.made(call.planned, Value::string(self.told.name())),
        };
        let (verb, object) =
            if call.planned.is_null() { ("destroy", call.prior) } else { ("apply", call.planned) };
        self.tell(verb, object, call.config);
        let made = self.change_things(&call).await;
        let value = if made == Made::Nothing { Value::Null(value.ty()) } else { value };
        let applied =
            AppliedObject { value, private: Vec::new(), identity: None, legacy_types: false };
        let mut response = Response::ok(Some(applied));
        if made != Made::Whole {
            let problem = ProviderDiagnostic::error("Stopped", "The provider was asked to stop.");
            response.diagnostics.push(problem);
        }
        response
    }

    async fn stop(&self) {
        self.told.line("stopped");
        if let Some(things) = self.things() {
            things.stop();
        }
    }

    async fn import(&self, _: &str, _: &ImportName) -> Response<Vec<ImportedObject>> {
        Response::ok(Vec::new())
    }

    async fn move_state(
        &self,
        _: &str,
        _: &str,
        _: u64,
        _: &str,
        _: &str,
    ) -> Response<Option<ReadObject>> {
        Response::ok(None)
    }

    async fn read_data(&self, _: &str, _: &Value) -> Response<Option<Value>> {
        Response::ok(None)
    }

    async fn validate_ephemeral(&self, _: &str, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn open(&self, _: &str, _: &Value) -> Response<Option<OpenedEphemeral>> {
        self.told.line("opened");
        Response::ok(Some(OpenedEphemeral {
            value: Value::object([("value".into(), Value::string("lent"))]),
            private: b"first".to_vec(),
            renew_at: Some(chrono::Utc::now() + TERM),
        }))
    }

    async fn renew(&self, _: &str, private: &[u8]) -> Response<Option<RenewedEphemeral>> {
        self.told.line(&format!("renewed after {}", String::from_utf8_lossy(private)));
        Response::ok(Some(RenewedEphemeral { private: b"second".to_vec(), renew_at: None }))
    }

    async fn close(&self, _: &str, private: &[u8]) -> Vec<ProviderDiagnostic> {
        self.told.line(&format!("closed after {}", String::from_utf8_lossy(private)));
        Vec::new()
    }

    async fn call(&self, name: &str, _: &[Value]) -> Result<Value, (Option<usize>, String)> {
        Err((None, format!("there is no function named {name:?}")))
    }
}

//! Providers: one trait, in the protocol's calls; the embedded ones stand in `builtin/`, programs of their own behind
//! `plugin/`.
//!
//! Values that cross this boundary are unmarked and conform to the schema's type.

use std::sync::Arc;

use async_trait::async_trait;

use crate::address::Instance;
use crate::schema::ProviderSchema;
use crate::value::{Path, Type, Value};

pub mod builtin;
pub mod mock;
pub mod plugin;

/// A problem that a provider reports.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDiagnostic {
    /// Whether it is an error or a warning.
    pub severity: crate::diagnostic::Severity,
    /// The kind of problem.
    pub summary: String,
    /// This problem.
    pub detail: String,
    /// The attribute it is about; empty for the whole.
    pub attribute: Path,
    /// Whether the summary begins with the object's address, and no place is shown.
    pub names_object: bool,
    /// Whether the call was sent and no answer came, so that nothing is known of what it did.
    pub unanswered: bool,
}

impl ProviderDiagnostic {
    /// Returns an error about the whole object.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: crate::diagnostic::Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            attribute: Path::new(),
            names_object: false,
            unanswered: false,
        }
    }

    /// Returns a warning about the whole object.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: crate::diagnostic::Severity::Warning,
            ..ProviderDiagnostic::error(summary, detail)
        }
    }

    /// Lets the summary begin with the object's address.
    pub fn naming_object(mut self) -> ProviderDiagnostic {
        self.names_object = true;
        self
    }

    /// Says that the call was sent and no answer came.
    pub fn unanswered(mut self) -> ProviderDiagnostic {
        self.unanswered = true;
        self
    }

    /// Sets the attribute it is about.
    pub fn at(mut self, attribute: Path) -> ProviderDiagnostic {
        self.attribute = attribute;
        self
    }
}

/// What a call gives beside its problems; `value` is absent only if the call failed before there was one.
#[derive(Clone, Debug, Default)]
pub struct Response<T> {
    /// The result.
    pub value: T,
    /// Problems.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

impl<T> Response<T> {
    /// Returns a result without problems.
    pub fn ok(value: T) -> Response<T> {
        Response { value, diagnostics: Vec::new() }
    }

    /// Returns whether the call was sent and no answer came.
    pub fn is_unanswered(&self) -> bool {
        self.diagnostics.iter().any(|it| it.unanswered)
    }

    /// Returns whether any problem is an error.
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity == crate::diagnostic::Severity::Error)
    }
}

/// An object as read: null when it is gone.
#[derive(Clone, Debug)]
pub struct ReadObject {
    /// The object, null when it is gone.
    pub value: Value,
    /// What the provider wants kept.
    pub private: Vec<u8>,
    /// What it is identified by.
    pub identity: Option<Value>,
}

/// What to plan.
#[derive(Clone, Debug)]
pub struct PlanCall<'a> {
    /// The resource type.
    pub kind: &'a str,
    /// The object now; null when creating.
    pub prior: &'a Value,
    /// Configuration merged with the prior object; null when deleting.
    pub proposed: &'a Value,
    /// The configuration; null when deleting.
    pub config: &'a Value,
    /// What the provider kept.
    pub private: &'a [u8],
    /// What the object is identified by.
    pub identity: Option<&'a Value>,
}

/// What a provider plans.
#[derive(Clone, Debug)]
pub struct PlannedObject {
    /// The planned object; unknown where decided in apply.
    pub planned: Value,
    /// Paths whose change needs a replacement.
    pub requires_replace: Vec<Path>,
    /// What to hand back in apply.
    pub private: Vec<u8>,
    /// What the object will be identified by.
    pub identity: Option<Value>,
    /// The provider follows the loose rules of the legacy SDK.
    pub legacy_types: bool,
}

/// What to apply.
#[derive(Clone, Debug)]
pub struct ApplyCall<'a> {
    /// The resource type.
    pub kind: &'a str,
    /// The object now; null when creating.
    pub prior: &'a Value,
    /// The planned object; null when deleting.
    pub planned: &'a Value,
    /// The configuration; null when deleting.
    pub config: &'a Value,
    /// What planning gave.
    pub private: &'a [u8],
    /// What planning gave for its identity.
    pub identity: Option<&'a Value>,
}

/// What exists after applying.
#[derive(Clone, Debug)]
pub struct AppliedObject {
    /// The object, null when there is none; unknown, of unknown type, where an answer came that cannot be read.
    pub value: Value,
    /// What the provider wants kept.
    pub private: Vec<u8>,
    /// What it is identified by.
    pub identity: Option<Value>,
    /// The provider follows the loose rules of the legacy SDK.
    pub legacy_types: bool,
}

impl AppliedObject {
    /// Returns what an answer that cannot be read says of an object: nothing, not even that there is none.
    pub fn unreadable() -> AppliedObject {
        AppliedObject {
            value: Value::unknown(Type::DYNAMIC),
            private: Vec::new(),
            identity: None,
            legacy_types: false,
        }
    }
}

/// What names an existing object to its provider.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportName {
    /// The import id.
    Id(String),
    /// What it is identified by, in the type that the provider announces.
    Identity(Value),
}

impl ImportName {
    /// Returns the import id, where it is one.
    pub fn id(&self) -> Option<&str> {
        match self {
            ImportName::Id(id) => Some(id),
            ImportName::Identity(_) => None,
        }
    }

    /// Returns the identity, where it is one.
    pub fn identity(&self) -> Option<&Value> {
        match self {
            ImportName::Id(_) => None,
            ImportName::Identity(identity) => Some(identity),
        }
    }
}

impl std::fmt::Display for ImportName {
    /// Writes what a sentence says of it.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImportName::Id(id) => write!(out, "id {id:?}"),
            ImportName::Identity(identity) => write!(out, "identity {}", identity_json(identity)),
        }
    }
}

/// Returns an identity as a JSON object.
pub fn identity_json(identity: &Value) -> String {
    crate::value::json::to_json(identity).unwrap_or_default()
}

/// An object found by import.
#[derive(Clone, Debug)]
pub struct ImportedObject {
    /// The resource type.
    pub kind: String,
    /// What is known of it; a read completes it.
    pub value: Value,
    /// What the provider wants kept.
    pub private: Vec<u8>,
    /// What it is identified by.
    pub identity: Option<Value>,
}

/// An opened ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenedEphemeral {
    /// Its value.
    pub value: Value,
    /// What to hand back when renewing and closing.
    pub private: Vec<u8>,
    /// When to renew it.
    pub renew_at: Option<chrono::DateTime<chrono::Utc>>,
}

/// A renewed ephemeral resource.
#[derive(Clone, Debug)]
pub struct RenewedEphemeral {
    /// What to hand back next time.
    pub private: Vec<u8>,
    /// When to renew it again.
    pub renew_at: Option<chrono::DateTime<chrono::Utc>>,
}

/// A provider, in the protocol's calls. One value is one running provider instance.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Gets ready for further calls, and waits for nothing.
    fn begin(&self) {}

    /// Returns this provider as one that takes something from a module along with every call; `None` where it cares for
    /// no such thing.
    fn for_module(&self, meta: &Value) -> Option<Arc<dyn Provider>> {
        let _ = meta;
        None
    }

    /// Returns what the provider accepts and returns.
    async fn schema(&self) -> Response<Arc<ProviderSchema>>;

    /// Checks a provider configuration.
    async fn validate_provider(&self, config: &Value) -> Vec<ProviderDiagnostic>;

    /// Takes its configuration, once, before any call below that touches the world.
    async fn configure(&self, config: &Value) -> Vec<ProviderDiagnostic>;

    /// Checks the configuration of a managed resource.
    async fn validate_resource(&self, kind: &str, config: &Value) -> Vec<ProviderDiagnostic>;

    /// Checks the configuration of a data source.
    async fn validate_data(&self, kind: &str, config: &Value) -> Vec<ProviderDiagnostic>;

    /// Brings a stored object to the current schema. `stored` is the JSON text of an object.
    async fn upgrade(&self, kind: &str, version: u64, stored: &str) -> Response<Option<Value>>;

    /// Reads what became of an object.
    async fn read(
        &self,
        kind: &str,
        prior: &Value,
        private: &[u8],
        identity: Option<&Value>,
    ) -> Response<Option<ReadObject>>;

    /// Brings a stored identity to the current schema. `stored` is the JSON text of an object.
    async fn upgrade_identity(
        &self,
        kind: &str,
        version: u64,
        stored: &str,
    ) -> Response<Option<Value>> {
        let _ = (kind, version, stored);
        Response::ok(None)
    }

    /// Plans a change.
    async fn plan(&self, call: PlanCall<'_>) -> Response<Option<PlannedObject>>;

    /// Makes a change.
    async fn apply(&self, call: ApplyCall<'_>) -> Response<Option<AppliedObject>>;

    /// Finds an existing object.
    async fn import(&self, kind: &str, name: &ImportName) -> Response<Vec<ImportedObject>>;

    /// Turns an object of another type (perhaps of another provider) into one of `kind`.
    async fn move_state(
        &self,
        from_provider: &str,
        from_kind: &str,
        from_version: u64,
        stored: &str,
        kind: &str,
    ) -> Response<Option<ReadObject>>;

    /// Returns whether what it reads may be unknown: where it is mocked for a plan that is never carried out.
    fn may_leave_unknown(&self) -> bool {
        false
    }

    /// Reads a data source.
    async fn read_data(&self, kind: &str, config: &Value) -> Response<Option<Value>>;

    /// Reads a data source that has an address. Only who opens what is sealed by address needs to know it.
    async fn read_data_at(
        &self,
        _: &Instance,
        kind: &str,
        config: &Value,
    ) -> Response<Option<Value>> {
        self.read_data(kind, config).await
    }

    /// Checks the configuration of an ephemeral resource.
    async fn validate_ephemeral(&self, kind: &str, config: &Value) -> Vec<ProviderDiagnostic>;

    /// Opens an ephemeral resource.
    async fn open(&self, kind: &str, config: &Value) -> Response<Option<OpenedEphemeral>>;

    /// Renews an ephemeral resource whose time to be renewed has come.
    async fn renew(&self, kind: &str, private: &[u8]) -> Response<Option<RenewedEphemeral>> {
        let _ = kind;
        Response::ok(Some(RenewedEphemeral { private: private.to_vec(), renew_at: None }))
    }

    /// Closes an ephemeral resource.
    async fn close(&self, kind: &str, private: &[u8]) -> Vec<ProviderDiagnostic>;

    /// Calls a function. The error names the argument at fault, from 0, and says why.
    async fn call(&self, name: &str, arguments: &[Value])
    -> Result<Value, (Option<usize>, String)>;

    /// Asks running calls to end soon.
    async fn stop(&self) {}
}

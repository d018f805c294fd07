//! The calls of a provider, made to a plugin.

use std::sync::Arc;

use async_trait::async_trait;

use super::Plugin;
use super::process::Process;
use super::schema::Announced;
use super::values::{decode, decode_object, diagnostics, encode};
use super::wire::entail::plugin as msg;
use crate::provider::{
    AppliedObject, ApplyCall, ImportName, ImportedObject, OpenedEphemeral, PlanCall, PlannedObject,
    Provider, ProviderDiagnostic, ReadObject, RenewedEphemeral, Response,
};
use crate::schema::{BlockSchema, IdentitySchema, ProviderSchema, Schemas};
use crate::value::{PathError, Type, Value};

/// The version of Terraform that OpenTofu tells providers it is.
const TERRAFORM_VERSION: &str = "1.13.0";

mod adoption;
mod functions;
mod ephemeral;
mod objects;

type Complaints = Vec<ProviderDiagnostic>;

/// What this program can do.
const CAPABILITIES: Option<msg::ClientCapabilities> =
    Some(msg::ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true });

fn refused<T: Default>(diagnostics: Complaints) -> Response<T> {
    Response { value: T::default(), diagnostics }
}

/// An answer's value is not of the type that was announced.
fn nonconforming(call: &str, kind: &str, error: &PathError) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Plugin error",
        format!(
            "The plugin answered the {call} call for {kind} with a value that is not of the type it announced: {error}. This is a bug in the provider; report it there."
        ),
    )
}

/// Some text of an answer is binary.
fn not_text(call: &str, kind: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::warning(
        "Text that is not UTF-8",
        format!(
            "The plugin answered the {call} call for {kind} with text that is not UTF-8. Each byte of it that belongs to no character is U+FFFD from here on. Where the bytes themselves are needed, use an attribute that has them encoded, in base64 for instance."
        ),
    )
}

/// The plugin knows nothing of what is asked.
fn unknown_kind(kind: &str) -> Complaints {
    vec![ProviderDiagnostic::error(
        "Invalid resource type",
        format!("The provider does not support the type {kind:?}."),
    )]
}

/// Where a call goes, and what it is about.
struct Site<'a> {
    process: Arc<Process>,
    announced: &'a Announced,
    block: &'a BlockSchema,
    identity: Option<&'a IdentitySchema>,
    ty: Type,
}

impl Plugin {
    async fn site(
        &self,
        kind: &str,
        schemas: impl Fn(&ProviderSchema) -> &Schemas,
    ) -> Result<Site<'_>, Complaints> {
        let (process, announced) = self.ready().await?;
        let schema = schemas(&announced.schema).get(kind).ok_or_else(|| unknown_kind(kind))?;
        let (block, ty) = (&schema.block, schema.block.ty());
        Ok(Site { process, announced, block, identity: schema.identity.as_ref(), ty })
    }

    /// What the module says to this provider with every call about its objects.
    fn meta(&self, announced: &Announced) -> Option<msg::DynamicValue> {
        encode(self.meta.as_ref()?, announced.schema.meta.as_ref()?.block.ty())
    }

    async fn managed(&self, kind: &str) -> Result<Site<'_>, Complaints> {
        self.site(kind, |it| &it.resources).await
    }

    async fn checked(
        &self,
        kind: &str,
        config: &Value,
        what: Checked,
    ) -> Result<Complaints, Complaints> {
        if !self.world.is_trusted {
            return Ok(Vec::new());
        }
        let site = match what {
            Checked::Resource => self.managed(kind).await?,
            Checked::Data => self.site(kind, |it| &it.data_sources).await?,
            Checked::Ephemeral => self.site(kind, |it| &it.ephemeral).await?,
        };
        let request = msg::validate_config::Request {
            type_name: kind.into(),
            config: encode(config, site.ty),
            client_capabilities: CAPABILITIES.filter(|_| what == Checked::Resource),
        };
        let process = &site.process;
        let answer = match what {
            Checked::Resource => {
                process.call("ValidateResourceConfig", |it| it.validate_resource(request)).await
            }
            Checked::Data => {
                process.call("ValidateDataResourceConfig", |it| it.validate_data(request)).await
            }
            Checked::Ephemeral => {
                let name = "ValidateEphemeralResourceConfig";
                process.call(name, |it| it.validate_ephemeral(request)).await
            }
        };
        Ok(diagnostics(answer.map_err(|it| vec![it])?.diagnostics))
    }
}

/// What is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checked {
    Resource,
    Data,
    Ephemeral,
}

/// The result of a call whose every failure is a list of problems.
fn whole<T: Default>(result: Result<Response<T>, Complaints>) -> Response<T> {
    result.unwrap_or_else(refused)
}

fn listed(result: Result<Complaints, Complaints>) -> Complaints {
    result.unwrap_or_else(|it| it)
}

/// Reads the value of an answer; one that cannot be read is one more problem.
fn taken<T>(
    value: Result<(Value, bool), PathError>,
    call: &str,
    kind: &str,
    mut found: Complaints,
    make: impl FnOnce(Value) -> T,
) -> Response<Option<T>> {
    match value {
        Ok((value, is_replaced)) => {
            found.extend(is_replaced.then(|| not_text(call, kind)));
            Response { value: Some(make(value)), diagnostics: found }
        }
        Err(error) => {
            found.push(nonconforming(call, kind, &error));
            Response { value: None, diagnostics: found }
        }
    }
}

fn one(problem: ProviderDiagnostic) -> Complaints {
    vec![problem]
}

fn written_identity(
    identity: Option<&Value>,
    schema: Option<&IdentitySchema>,
) -> Option<msg::ResourceIdentityData> {
    let identity_data = encode(identity?, schema?.ty);
    Some(msg::ResourceIdentityData { identity_data })
}

/// Reads an identity. One that cannot be read counts for nothing.
fn identity_of(
    told: Option<msg::ResourceIdentityData>,
    schema: Option<&IdentitySchema>,
) -> Option<Value> {
    let told = told?.identity_data?;
    decode(Some(told), schema?.ty).ok().filter(|it| !it.is_null())
}

#[async_trait]
impl Provider for Plugin {
    fn begin(&self) {
        self.start();
    }

    fn for_module(&self, meta: &Value) -> Option<Arc<dyn Provider>> {
        Some(Arc::new(Plugin { meta: Some(meta.clone()), ..self.clone() }))
    }

    async fn schema(&self) -> Response<Arc<ProviderSchema>> {
        self.provider_schema().await
    }

    async fn validate_provider(&self, config: &Value) -> Complaints {
        if !self.world.is_trusted {
            // What is known of it is its schema.
            return Vec::new();
        }
        listed(self.checked_config(config).await)
    }

    async fn configure(&self, config: &Value) -> Complaints {
        listed(configure(self, config).await)
    }

    async fn validate_resource(&self, kind: &str, config: &Value) -> Complaints {
        listed(self.checked(kind, config, Checked::Resource).await)
    }

    async fn validate_data(&self, kind: &str, config: &Value) -> Complaints {
        listed(self.checked(kind, config, Checked::Data).await)
    }

    async fn upgrade(&self, kind: &str, version: u64, stored: &str) -> Response<Option<Value>> {
        whole(objects::upgrade(self, kind, version, stored).await)
    }

    async fn read(
        &self,
        kind: &str,
        prior: &Value,
        private: &[u8],
        identity: Option<&Value>,
    ) -> Response<Option<ReadObject>> {
        whole(objects::read(self, kind, prior, private, identity).await)
    }

    async fn upgrade_identity(
        &self,
        kind: &str,
        version: u64,
        stored: &str,
    ) -> Response<Option<Value>> {
        whole(objects::upgrade_identity(self, kind, version, stored).await)
    }

    async fn plan(&self, call: PlanCall<'_>) -> Response<Option<PlannedObject>> {
        whole(objects::plan(self, call).await)
    }

    async fn apply(&self, call: ApplyCall<'_>) -> Response<Option<AppliedObject>> {
        whole(objects::apply(self, call).await)
    }

    async fn import(&self, kind: &str, name: &ImportName) -> Response<Vec<ImportedObject>> {
        whole(adoption::import(self, kind, name).await)
    }

    async fn move_state(
        &self,
        from_provider: &str,
        from_kind: &str,
        from_version: u64,
        stored: &str,
        kind: &str,
    ) -> Response<Option<ReadObject>> {
        let from = (from_provider, from_kind, from_version);
        whole(adoption::move_state(self, from, stored, kind).await)
    }

    async fn read_data(&self, kind: &str, config: &Value) -> Response<Option<Value>> {
        whole(read_data(self, kind, config).await)
    }

    async fn validate_ephemeral(&self, kind: &str, config: &Value) -> Complaints {
        listed(self.checked(kind, config, Checked::Ephemeral).await)
    }

    async fn open(&self, kind: &str, config: &Value) -> Response<Option<OpenedEphemeral>> {
        whole(ephemeral::open(self, kind, config).await)
    }

    async fn renew(&self, kind: &str, private: &[u8]) -> Response<Option<RenewedEphemeral>> {
        whole(ephemeral::renew(self, kind, private).await)
    }

    async fn close(&self, kind: &str, private: &[u8]) -> Complaints {
        listed(ephemeral::close(self, kind, private).await)
    }

    async fn call(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, (Option<usize>, String)> {
        functions::call(self, name, arguments).await
    }

    async fn stop(&self) {
        if let Some(Ok(process)) = self.process.get() {
            // The calls that it ends say what came of it.
            let _ = process.call("StopProvider", |it| it.stop(Default::default())).await;
        }
    }
}

async fn configure(plugin: &Plugin, config: &Value) -> Result<Complaints, Complaints> {
    let (process, announced) = plugin.ready().await?;
    let request = msg::configure_provider::Request {
        terraform_version: TERRAFORM_VERSION.into(),
        config: encode(config, announced.schema.provider.block.ty()),
        client_capabilities: CAPABILITIES,
    };
    let answer =
        process.call("ConfigureProvider", |it| it.configure(request)).await.map_err(one)?;
    Ok(diagnostics(answer.diagnostics))
}

async fn read_data(
    plugin: &Plugin,
    kind: &str,
    config: &Value,
) -> Result<Response<Option<Value>>, Complaints> {
    let site = plugin.site(kind, |it| &it.data_sources).await?;
    let request = msg::read_data_source::Request {
        type_name: kind.into(),
        config: encode(config, site.ty),
        provider_meta: plugin.meta(site.announced),
        client_capabilities: CAPABILITIES,
    };
    let answer =
        site.process.call("ReadDataSource", |it| it.read_data(request)).await.map_err(one)?;
    let value = decode_object(answer.state, site.ty);
    let found = diagnostics(answer.diagnostics);
    Ok(taken(value, "ReadDataSource", kind, found, |it| it))
}

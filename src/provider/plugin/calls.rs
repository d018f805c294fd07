//! The calls of a provider, made to a plugin.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::value::RawValue;

use super::Plugin;
use super::process::Process;
use super::schema::Announced;
use super::values::{decode, diagnostics, encode, path};
use super::wire::entail::plugin as msg;
use crate::provider::{
    AppliedObject, ApplyCall, ImportName, ImportedObject, OpenedEphemeral, PlanCall, PlannedObject,
    Provider, ProviderDiagnostic, ReadObject, RenewedEphemeral, Response,
};
use crate::schema::{BlockSchema, IdentitySchema, ProviderSchema, Schemas};
use crate::value::{PathError, Type, Value};

/// The version of Terraform that OpenTofu tells providers it is.
const TERRAFORM_VERSION: &str = "1.13.0";

type Found = Vec<ProviderDiagnostic>;

/// What this program can do.
fn capabilities() -> Option<msg::ClientCapabilities> {
    Some(msg::ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true })
}

fn refused<T: Default>(diagnostics: Found) -> Response<T> {
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

/// The plugin knows nothing of what is asked.
fn unknown_kind(kind: &str) -> Found {
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
    ) -> Result<Site<'_>, Found> {
        let (process, announced) = self.ready().await?;
        let schema = schemas(&announced.schema).get(kind).ok_or_else(|| unknown_kind(kind))?;
        let (block, ty) = (&schema.block, schema.block.ty());
        Ok(Site { process, announced, block, identity: schema.identity.as_ref(), ty })
    }

    async fn managed(&self, kind: &str) -> Result<Site<'_>, Found> {
        self.site(kind, |it| &it.resources).await
    }

    async fn checked(&self, kind: &str, config: &Value, what: Checked) -> Result<Found, Found> {
        let site = match what {
            Checked::Resource => self.managed(kind).await?,
            Checked::Data => self.site(kind, |it| &it.data_sources).await?,
            Checked::Ephemeral => self.site(kind, |it| &it.ephemeral).await?,
        };
        let request = msg::validate_config::Request {
            type_name: kind.into(),
            config: encode(config, site.ty),
            client_capabilities: capabilities().filter(|_| what == Checked::Resource),
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
fn whole<T: Default>(result: Result<Response<T>, Found>) -> Response<T> {
    result.unwrap_or_else(refused)
}

fn listed(result: Result<Found, Found>) -> Found {
    result.unwrap_or_else(|it| it)
}

/// Reads the value of an answer; one that cannot be read is one more problem.
fn taken<T>(
    value: Result<Value, PathError>,
    call: &str,
    kind: &str,
    mut found: Found,
    make: impl FnOnce(Value) -> T,
) -> Response<Option<T>> {
    match value {
        Ok(value) => Response { value: Some(make(value)), diagnostics: found },
        Err(error) => {
            found.push(nonconforming(call, kind, &error));
            Response { value: None, diagnostics: found }
        }
    }
}

fn one(problem: ProviderDiagnostic) -> Found {
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

fn moment(it: prost_types::Timestamp) -> Option<chrono::DateTime<chrono::Utc>> {
    chrono::DateTime::from_timestamp(it.seconds, u32::try_from(it.nanos).ok()?)
}

#[async_trait]
impl Provider for Plugin {
    fn begin(&self) {
        self.start();
    }

    async fn schema(&self) -> Response<Arc<ProviderSchema>> {
        self.provider_schema().await
    }

    async fn validate_provider(&self, config: &Value) -> Found {
        listed(self.checked_config(config).await)
    }

    async fn configure(&self, config: &Value) -> Found {
        let result = async {
            let (process, announced) = self.ready().await?;
            let ty = announced.schema.provider.block.ty();
            let request = msg::configure_provider::Request {
                terraform_version: TERRAFORM_VERSION.into(),
                config: encode(config, ty),
                client_capabilities: capabilities(),
            };
            let answer =
                process.call("ConfigureProvider", |it| it.configure(request)).await.map_err(one)?;
            Ok(diagnostics(answer.diagnostics))
        };
        listed(result.await)
    }

    async fn validate_resource(&self, kind: &str, config: &Value) -> Found {
        listed(self.checked(kind, config, Checked::Resource).await)
    }

    async fn validate_data(&self, kind: &str, config: &Value) -> Found {
        listed(self.checked(kind, config, Checked::Data).await)
    }

    async fn upgrade(
        &self,
        kind: &str,
        version: u64,
        stored: &RawValue,
    ) -> Response<Option<Value>> {
        let result = async {
            let (process, announced) = self.ready().await?;
            let schema =
                announced.schema.resources.get(kind).ok_or_else(|| unknown_kind(kind))?.clone();
            // What the schema of the same version lacks was written by a provider that lied.
            let stripped = (schema.version == version)
                .then(|| crate::schema::without_unknown_attributes(stored.get(), &schema.block))
                .flatten();
            let json: Bytes = match stripped {
                Some(it) => it.into_bytes().into(),
                None => stored.get().to_owned().into_bytes().into(),
            };
            let request = msg::upgrade_resource_state::Request {
                type_name: kind.into(),
                version: i64::try_from(version).unwrap_or(i64::MAX),
                raw_state: Some(msg::RawState { json, flatmap: Default::default() }),
            };
            let answer = process
                .call("UpgradeResourceState", |it| it.upgrade(request))
                .await
                .map_err(one)?;
            let value = decode(answer.upgraded_state, schema.block.ty());
            let found = diagnostics(answer.diagnostics);
            Ok(taken(value, "UpgradeResourceState", kind, found, |it| it))
        };
        whole(result.await)
    }

    async fn read(
        &self,
        kind: &str,
        prior: &Value,
        private: &[u8],
        identity: Option<&Value>,
    ) -> Response<Option<ReadObject>> {
        let result = async {
            let site = self.managed(kind).await?;
            let request = msg::read_resource::Request {
                type_name: kind.into(),
                current_state: encode(prior, site.ty),
                private: private.to_vec().into(),
                provider_meta: None,
                client_capabilities: capabilities(),
                current_identity: written_identity(identity, site.identity),
            };
            let answer =
                site.process.call("ReadResource", |it| it.read(request)).await.map_err(one)?;
            let value = decode(answer.new_state, site.ty);
            let private = answer.private.to_vec();
            let found = diagnostics(answer.diagnostics);
            let identity = identity_of(answer.new_identity, site.identity);
            Ok(taken(value, "ReadResource", kind, found, |value| ReadObject {
                value: crate::schema::with_blocks(&value, site.block),
                private,
                identity,
            }))
        };
        whole(result.await)
    }

    async fn upgrade_identity(
        &self,
        kind: &str,
        version: u64,
        stored: &RawValue,
    ) -> Response<Option<Value>> {
        let result = async {
            let site = self.managed(kind).await?;
            let request = msg::upgrade_resource_identity::Request {
                type_name: kind.into(),
                version: i64::try_from(version).unwrap_or(i64::MAX),
                raw_identity: Some(msg::RawState {
                    json: stored.get().to_owned().into_bytes().into(),
                    flatmap: Default::default(),
                }),
            };
            let answer = site
                .process
                .call("UpgradeResourceIdentity", |it| it.upgrade_identity(request))
                .await
                .map_err(one)?;
            let value = identity_of(answer.upgraded_identity, site.identity);
            Ok(Response { value, diagnostics: diagnostics(answer.diagnostics) })
        };
        whole(result.await)
    }

    async fn plan(&self, call: PlanCall<'_>) -> Response<Option<PlannedObject>> {
        let result = async {
            let site = self.managed(call.kind).await?;
            if call.proposed.is_null() && !site.announced.plan_destroy {
                return Ok(Response::ok(Some(PlannedObject {
                    planned: Value::Null(site.ty),
                    requires_replace: Vec::new(),
                    private: call.private.to_vec(),
                    identity: None,
                    legacy_types: false,
                })));
            }
            let request = msg::plan_resource_change::Request {
                type_name: call.kind.into(),
                prior_state: encode(call.prior, site.ty),
                proposed_new_state: encode(call.proposed, site.ty),
                config: encode(call.config, site.ty),
                prior_private: call.private.to_vec().into(),
                provider_meta: None,
                client_capabilities: capabilities(),
                prior_identity: written_identity(call.identity, site.identity),
            };
            let answer = site
                .process
                .call("PlanResourceChange", |it| it.plan(request))
                .await
                .map_err(one)?;
            let value = decode(answer.planned_state, site.ty);
            let requires_replace = answer.requires_replace.into_iter().map(path).collect();
            let identity = identity_of(answer.planned_identity, site.identity);
            let found = diagnostics(answer.diagnostics);
            Ok(taken(value, "PlanResourceChange", call.kind, found, |planned| PlannedObject {
                planned,
                requires_replace,
                private: answer.planned_private.to_vec(),
                identity,
                legacy_types: answer.legacy_type_system,
            }))
        };
        whole(result.await)
    }

    async fn apply(&self, call: ApplyCall<'_>) -> Response<Option<AppliedObject>> {
        let result = async {
            let site = self.managed(call.kind).await?;
            let request = msg::apply_resource_change::Request {
                type_name: call.kind.into(),
                prior_state: encode(call.prior, site.ty),
                planned_state: encode(call.planned, site.ty),
                config: encode(call.config, site.ty),
                planned_private: call.private.to_vec().into(),
                provider_meta: None,
                planned_identity: written_identity(call.identity, site.identity),
            };
            let answer = site
                .process
                .call("ApplyResourceChange", |it| it.apply(request))
                .await
                .map_err(one)?;
            let found = diagnostics(answer.diagnostics);
            let failed = found.iter().any(|it| it.severity == crate::diagnostic::Severity::Error);
            if answer.new_state.is_none() && failed {
                return Ok(Response { value: None, diagnostics: found });
            }
            let value = decode(answer.new_state, site.ty);
            let identity = identity_of(answer.new_identity, site.identity);
            Ok(taken(value, "ApplyResourceChange", call.kind, found, |value| AppliedObject {
                value,
                private: answer.private.to_vec(),
                identity,
                legacy_types: answer.legacy_type_system,
            }))
        };
        whole(result.await)
    }

    async fn import(&self, kind: &str, name: &ImportName) -> Response<Vec<ImportedObject>> {
        let result = async {
            let (process, announced) = self.ready().await?;
            let schema = announced.schema.resources.get(kind).and_then(|it| it.identity.as_ref());
            let identity = match name {
                ImportName::Id(_) => None,
                ImportName::Identity(it) => written_identity(Some(it), schema),
            };
            let request = msg::import_resource_state::Request {
                type_name: kind.into(),
                id: name.id().unwrap_or_default().into(),
                client_capabilities: capabilities(),
                identity,
            };
            let answer =
                process.call("ImportResourceState", |it| it.import(request)).await.map_err(one)?;
            let mut response =
                Response { value: Vec::new(), diagnostics: diagnostics(answer.diagnostics) };
            for it in answer.imported_resources {
                let Some(schema) = announced.schema.resources.get(&it.type_name) else {
                    response.diagnostics.extend(unknown_kind(&it.type_name));
                    continue;
                };
                match decode(it.state, schema.block.ty()) {
                    Ok(value) => response.value.push(ImportedObject {
                        kind: it.type_name,
                        value,
                        private: it.private.to_vec(),
                        identity: identity_of(it.identity, schema.identity.as_ref()),
                    }),
                    Err(error) => response.diagnostics.push(nonconforming(
                        "ImportResourceState",
                        kind,
                        &error,
                    )),
                }
            }
            Ok(response)
        };
        whole(result.await)
    }

    async fn move_state(
        &self,
        from_provider: &str,
        from_kind: &str,
        from_version: u64,
        stored: &RawValue,
        kind: &str,
    ) -> Response<Option<ReadObject>> {
        let result = async {
            let site = self.managed(kind).await?;
            if !site.announced.move_state {
                return Err(one(ProviderDiagnostic::error(
                    "Move Resource State Not Supported",
                    format!(
                        "The provider cannot turn an object of the type {from_kind:?} into one of the type {kind:?}."
                    ),
                )));
            }
            let request = msg::move_resource_state::Request {
                source_provider_address: from_provider.into(),
                source_type_name: from_kind.into(),
                source_schema_version: i64::try_from(from_version).unwrap_or(i64::MAX),
                source_state: Some(msg::RawState {
                    json: stored.get().to_owned().into_bytes().into(),
                    flatmap: Default::default(),
                }),
                target_type_name: kind.into(),
                source_private: Bytes::new(),
                source_identity: None,
                source_identity_schema_version: 0,
            };
            let answer = site
                .process
                .call("MoveResourceState", |it| it.move_state(request))
                .await
                .map_err(one)?;
            let value = decode(answer.target_state, site.ty);
            let private = answer.target_private.to_vec();
            let identity = identity_of(answer.target_identity, site.identity);
            let found = diagnostics(answer.diagnostics);
            Ok(taken(value, "MoveResourceState", kind, found, |value| ReadObject {
                value,
                private,
                identity,
            }))
        };
        whole(result.await)
    }

    async fn read_data(&self, kind: &str, config: &Value) -> Response<Option<Value>> {
        let result = async {
            let site = self.site(kind, |it| &it.data_sources).await?;
            let request = msg::read_data_source::Request {
                type_name: kind.into(),
                config: encode(config, site.ty),
                provider_meta: None,
                client_capabilities: capabilities(),
            };
            let answer = site
                .process
                .call("ReadDataSource", |it| it.read_data(request))
                .await
                .map_err(one)?;
            let value = decode(answer.state, site.ty);
            let found = diagnostics(answer.diagnostics);
            Ok(taken(value, "ReadDataSource", kind, found, |it| it))
        };
        whole(result.await)
    }

    async fn validate_ephemeral(&self, kind: &str, config: &Value) -> Found {
        listed(self.checked(kind, config, Checked::Ephemeral).await)
    }

    async fn open(&self, kind: &str, config: &Value) -> Response<Option<OpenedEphemeral>> {
        let result = async {
            let site = self.site(kind, |it| &it.ephemeral).await?;
            let request = msg::open_ephemeral_resource::Request {
                type_name: kind.into(),
                config: encode(config, site.ty),
                client_capabilities: capabilities(),
            };
            let answer = site
                .process
                .call("OpenEphemeralResource", |it| it.open(request))
                .await
                .map_err(one)?;
            let value = decode(answer.result, site.ty);
            let private = answer.private.unwrap_or_default().to_vec();
            let renew_at = answer.renew_at.and_then(moment);
            let found = diagnostics(answer.diagnostics);
            Ok(taken(value, "OpenEphemeralResource", kind, found, |value| OpenedEphemeral {
                value,
                private,
                renew_at,
            }))
        };
        whole(result.await)
    }

    async fn renew(&self, kind: &str, private: &[u8]) -> Response<Option<RenewedEphemeral>> {
        let result = async {
            let (process, _) = self.ready().await?;
            let request = msg::renew_ephemeral_resource::Request {
                type_name: kind.into(),
                private: Some(private.to_vec().into()),
            };
            let answer = process
                .call("RenewEphemeralResource", |it| it.renew(request))
                .await
                .map_err(one)?;
            let private = answer.private.map_or_else(|| private.to_vec(), |it| it.to_vec());
            let renew_at = answer.renew_at.and_then(moment);
            Ok(Response {
                value: Some(RenewedEphemeral { private, renew_at }),
                diagnostics: diagnostics(answer.diagnostics),
            })
        };
        whole(result.await)
    }

    async fn close(&self, kind: &str, private: &[u8]) -> Found {
        let result = async {
            let (process, _) = self.ready().await?;
            let request = msg::close_ephemeral_resource::Request {
                type_name: kind.into(),
                private: Some(private.to_vec().into()),
            };
            let answer = process
                .call("CloseEphemeralResource", |it| it.close(request))
                .await
                .map_err(one)?;
            Ok(diagnostics(answer.diagnostics))
        };
        listed(result.await)
    }

    async fn call(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, (Option<usize>, String)> {
        let told = |found: Found| {
            let texts: Vec<String> =
                found.into_iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect();
            (None, texts.join("\n"))
        };
        let (process, announced) = self.ready().await.map_err(told)?;
        let signature = announced
            .schema
            .functions
            .get(name)
            .ok_or_else(|| (None, format!("the provider has no function named {name:?}")))?;
        let types = signature
            .parameters
            .iter()
            .chain(signature.variadic.iter().cycle().take(arguments.len()));
        let arguments =
            arguments.iter().zip(types).filter_map(|(it, parameter)| encode(it, parameter.1));
        let request =
            msg::call_function::Request { name: name.into(), arguments: arguments.collect() };
        let answer = process
            .call("CallFunction", |it| it.call(request))
            .await
            .map_err(|it| told(one(it)))?;
        if let Some(error) = answer.error {
            let at = error.function_argument.and_then(|it| usize::try_from(it).ok());
            return Err((at, error.text));
        }
        decode(answer.result, signature.returns).map_err(|error| {
            (
                None,
                format!("the provider gave a result that is not of the type it announced: {error}"),
            )
        })
    }

    async fn stop(&self) {
        if let Some(Ok(process)) = self.process.get() {
            // The calls that it ends say what came of it.
            let _ = process.call("StopProvider", |it| it.stop(Default::default())).await;
        }
    }
}

//! What a served provider answers to each call.

use std::sync::Arc;

use serde_json::value::RawValue;
use tonic::Status;

use super::faults::Faults;
use super::identity;
use super::schema::{function, written};
use crate::provider::plugin::values::{decode, encode, written_diagnostics, written_path};
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::provider::{ApplyCall, ImportName, PlanCall, Provider};
use crate::schema::{ProviderSchema, Schemas};
use crate::value::{Type, Value};

/// A served provider.
pub(super) struct Answers {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// What it announces.
    pub schema: Arc<ProviderSchema>,
    /// What it does wrong on purpose.
    pub faults: Faults,
    /// Whether objects are identified by their `id`.
    pub identities: bool,
    /// The version that is spoken.
    pub version: u32,
}

type RpcResult<T> = Result<T, Status>;

fn type_of(schemas: &Schemas, kind: &str) -> RpcResult<Type> {
    let schema = schemas.get(kind);
    let unknown = || Status::invalid_argument(format!("there is no type {kind:?}"));
    schema.map(|it| it.block.ty()).ok_or_else(unknown)
}

fn value(it: Option<msg::DynamicValue>, ty: Type) -> RpcResult<Value> {
    decode(it, ty).map_err(|error| Status::invalid_argument(error.to_string()))
}

fn stored(it: Option<msg::RawState>) -> RpcResult<Box<RawValue>> {
    let json = it.unwrap_or_default().json.to_vec();
    String::from_utf8(json)
        .ok()
        .and_then(|it| RawValue::from_string(it).ok())
        .ok_or_else(|| Status::invalid_argument("the stored object is not JSON"))
}

fn moment(it: &chrono::DateTime<chrono::Utc>) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: it.timestamp(), nanos: it.timestamp_subsec_nanos() as i32 }
}

impl Answers {
    /// The provider, as it serves the module that says this to it.
    fn for_module(&self, meta: Option<msg::DynamicValue>) -> RpcResult<Arc<dyn Provider>> {
        let Some((meta, schema)) = meta.zip(self.schema.meta.as_ref()) else {
            return Ok(self.provider.clone());
        };
        let meta = value(Some(meta), schema.block.ty())?;
        Ok(self.provider.for_module(&meta).unwrap_or_else(|| self.provider.clone()))
    }

    fn managed(&self, kind: &str) -> RpcResult<Type> {
        type_of(&self.schema.resources, kind)
    }

    pub async fn schema(
        &self,
        _: msg::get_provider_schema::Request,
    ) -> RpcResult<msg::get_provider_schema::Response> {
        let all = |schemas: &Schemas| {
            schemas.iter().map(|(name, it)| (name.to_string(), written(it, self.version))).collect()
        };
        let functions = self.schema.functions.iter();
        Ok(msg::get_provider_schema::Response {
            provider: written(&self.schema.provider, self.version),
            resource_schemas: all(&self.schema.resources),
            data_source_schemas: all(&self.schema.data_sources),
            diagnostics: Vec::new(),
            provider_meta: match &self.schema.meta {
                Some(it) => written(it, self.version),
                None => Default::default(),
            },
            server_capabilities: Some(msg::ServerCapabilities {
                plan_destroy: true,
                // Version 5 insists, so that both ways are gone.
                get_provider_schema_optional: self.version > 5,
                move_resource_state: true,
                generate_resource_config: false,
            }),
            functions: functions.map(|(name, it)| (name.to_string(), function(it))).collect(),
            ephemeral_resource_schemas: all(&self.schema.ephemeral),
            identity_schemas: Default::default(),
        })
    }

    pub async fn identity_schemas(
        &self,
        _: msg::get_resource_identity_schemas::Request,
    ) -> RpcResult<msg::get_resource_identity_schemas::Response> {
        match self.identities {
            true => Ok(identity::schemas(&self.schema.resources)),
            false => Err(Status::unimplemented("there are no identities")),
        }
    }

    /// Returns what an object is identified by.
    fn identity(&self, object: Option<&Value>) -> Option<msg::ResourceIdentityData> {
        object.filter(|_| self.identities).and_then(identity::of)
    }

    pub async fn functions(
        &self,
        _: msg::get_functions::Request,
    ) -> RpcResult<msg::get_functions::Response> {
        let functions = self.schema.functions.iter();
        Ok(msg::get_functions::Response {
            functions: functions.map(|(name, it)| (name.to_string(), function(it))).collect(),
            diagnostics: Vec::new(),
        })
    }

    pub async fn validate_provider(
        &self,
        it: msg::validate_provider_config::Request,
    ) -> RpcResult<msg::validate_provider_config::Response> {
        let config = value(it.config.clone(), self.schema.provider.block.ty())?;
        let found = self.provider.validate_provider(&config).await;
        Ok(msg::validate_provider_config::Response {
            prepared_config: it.config.filter(|_| self.version == 5),
            diagnostics: written_diagnostics(&found),
        })
    }

    pub async fn configure(
        &self,
        it: msg::configure_provider::Request,
    ) -> RpcResult<msg::configure_provider::Response> {
        let config = value(it.config, self.schema.provider.block.ty())?;
        let found = self.provider.configure(&config).await;
        Ok(msg::configure_provider::Response { diagnostics: written_diagnostics(&found) })
    }

    pub async fn stop(
        &self,
        _: msg::stop_provider::Request,
    ) -> RpcResult<msg::stop_provider::Response> {
        self.provider.stop().await;
        Ok(msg::stop_provider::Response::default())
    }

    pub async fn validate_resource(
        &self,
        it: msg::validate_config::Request,
    ) -> RpcResult<msg::validate_config::Response> {
        let config = value(it.config, self.managed(&it.type_name)?)?;
        let found = self.provider.validate_resource(&it.type_name, &config).await;
        Ok(msg::validate_config::Response { diagnostics: written_diagnostics(&found) })
    }

    pub async fn validate_data(
        &self,
        it: msg::validate_config::Request,
    ) -> RpcResult<msg::validate_config::Response> {
        let config = value(it.config, type_of(&self.schema.data_sources, &it.type_name)?)?;
        let found = self.provider.validate_data(&it.type_name, &config).await;
        Ok(msg::validate_config::Response { diagnostics: written_diagnostics(&found) })
    }

    pub async fn validate_ephemeral(
        &self,
        it: msg::validate_config::Request,
    ) -> RpcResult<msg::validate_config::Response> {
        let config = value(it.config, type_of(&self.schema.ephemeral, &it.type_name)?)?;
        let found = self.provider.validate_ephemeral(&it.type_name, &config).await;
        Ok(msg::validate_config::Response { diagnostics: written_diagnostics(&found) })
    }

    pub async fn upgrade(
        &self,
        it: msg::upgrade_resource_state::Request,
    ) -> RpcResult<msg::upgrade_resource_state::Response> {
        let ty = self.managed(&it.type_name)?;
        let stored = stored(it.raw_state)?;
        let version = u64::try_from(it.version).unwrap_or_default();
        let answer = self.provider.upgrade(&it.type_name, version, stored.get()).await;
        Ok(msg::upgrade_resource_state::Response {
            upgraded_state: answer.value.and_then(|it| encode(&it, ty)),
            diagnostics: written_diagnostics(&answer.diagnostics),
        })
    }

    pub async fn upgrade_identity(
        &self,
        _: msg::upgrade_resource_identity::Request,
    ) -> RpcResult<msg::upgrade_resource_identity::Response> {
        Err(Status::unimplemented("there are no identities"))
    }

    pub async fn read(
        &self,
        it: msg::read_resource::Request,
    ) -> RpcResult<msg::read_resource::Response> {
        let ty = self.managed(&it.type_name)?;
        let prior = value(it.current_state, ty)?;
        let provider = self.for_module(it.provider_meta)?;
        let answer = provider.read(&it.type_name, &prior, &it.private, None).await;
        let read = answer.value.as_ref();
        Ok(msg::read_resource::Response {
            new_state: read.and_then(|it| encode(&it.value, ty)),
            private: read.map(|it| it.private.clone().into()).unwrap_or_default(),
            new_identity: self.identity(read.map(|it| &it.value)),
            diagnostics: written_diagnostics(&answer.diagnostics),
            ..Default::default()
        })
    }

    pub async fn plan(
        &self,
        it: msg::plan_resource_change::Request,
    ) -> RpcResult<msg::plan_resource_change::Response> {
        let ty = self.managed(&it.type_name)?;
        let (prior, proposed) = (value(it.prior_state, ty)?, value(it.proposed_new_state, ty)?);
        let config = value(it.config, ty)?;
        let call = PlanCall {
            kind: &it.type_name,
            prior: &prior,
            proposed: &proposed,
            config: &config,
            private: &it.prior_private,
            identity: None,
        };
        let answer = self.for_module(it.provider_meta)?.plan(call).await;
        let planned = answer.value.as_ref();
        let paths = planned.map(|it| it.requires_replace.as_slice()).unwrap_or_default();
        Ok(msg::plan_resource_change::Response {
            planned_state: planned.and_then(|it| encode(&it.planned, ty)),
            planned_identity: self.identity(planned.map(|it| &it.planned)),
            requires_replace: paths.iter().map(|it| written_path(it)).collect(),
            planned_private: planned.map(|it| it.private.clone().into()).unwrap_or_default(),
            diagnostics: written_diagnostics(&answer.diagnostics),
            legacy_type_system: planned.is_some_and(|it| it.legacy_types),
            ..Default::default()
        })
    }

    pub async fn apply(
        &self,
        it: msg::apply_resource_change::Request,
    ) -> RpcResult<msg::apply_resource_change::Response> {
        let ty = self.managed(&it.type_name)?;
        let (prior, planned) = (value(it.prior_state, ty)?, value(it.planned_state, ty)?);
        let config = value(it.config, ty)?;
        let call = ApplyCall {
            kind: &it.type_name,
            prior: &prior,
            planned: &planned,
            config: &config,
            private: &it.planned_private,
            identity: None,
        };
        let answer = self.for_module(it.provider_meta)?.apply(call).await;
        let applied = answer.value.as_ref();
        Ok(msg::apply_resource_change::Response {
            new_state: applied.and_then(|it| encode(&it.value, ty)),
            new_identity: self.identity(applied.map(|it| &it.value)),
            private: applied.map(|it| it.private.clone().into()).unwrap_or_default(),
            diagnostics: written_diagnostics(&answer.diagnostics),
            legacy_type_system: applied.is_some_and(|it| it.legacy_types),
        })
    }

    pub async fn import(
        &self,
        it: msg::import_resource_state::Request,
    ) -> RpcResult<msg::import_resource_state::Response> {
        let id = it.identity.and_then(identity::id).unwrap_or(it.id);
        let answer = self.provider.import(&it.type_name, &ImportName::Id(id)).await;
        let mut imported_resources = Vec::new();
        for it in answer.value {
            let ty = self.managed(&it.kind)?;
            imported_resources.push(msg::import_resource_state::ImportedResource {
                state: encode(&it.value, ty),
                private: it.private.into(),
                type_name: it.kind,
                identity: self.identity(Some(&it.value)),
            });
        }
        Ok(msg::import_resource_state::Response {
            imported_resources,
            diagnostics: written_diagnostics(&answer.diagnostics),
            deferred: None,
        })
    }

    pub async fn move_state(
        &self,
        it: msg::move_resource_state::Request,
    ) -> RpcResult<msg::move_resource_state::Response> {
        let ty = self.managed(&it.target_type_name)?;
        let stored = stored(it.source_state)?;
        let version = u64::try_from(it.source_schema_version).unwrap_or_default();
        let (provider, from) = (&it.source_provider_address, &it.source_type_name);
        let answer = self
            .provider
            .move_state(provider, from, version, stored.get(), &it.target_type_name)
            .await;
        let moved = answer.value.as_ref();
        Ok(msg::move_resource_state::Response {
            target_state: moved.and_then(|it| encode(&it.value, ty)),
            target_private: moved.map(|it| it.private.clone().into()).unwrap_or_default(),
            diagnostics: written_diagnostics(&answer.diagnostics),
            target_identity: None,
        })
    }

    pub async fn read_data(
        &self,
        it: msg::read_data_source::Request,
    ) -> RpcResult<msg::read_data_source::Response> {
        let ty = type_of(&self.schema.data_sources, &it.type_name)?;
        let answer = self.provider.read_data(&it.type_name, &value(it.config, ty)?).await;
        Ok(msg::read_data_source::Response {
            state: answer.value.and_then(|it| encode(&it, ty)),
            diagnostics: written_diagnostics(&answer.diagnostics),
            deferred: None,
        })
    }

    pub async fn open(
        &self,
        it: msg::open_ephemeral_resource::Request,
    ) -> RpcResult<msg::open_ephemeral_resource::Response> {
        let ty = type_of(&self.schema.ephemeral, &it.type_name)?;
        let answer = self.provider.open(&it.type_name, &value(it.config, ty)?).await;
        let opened = answer.value.as_ref();
        Ok(msg::open_ephemeral_resource::Response {
            diagnostics: written_diagnostics(&answer.diagnostics),
            renew_at: opened.and_then(|it| it.renew_at.as_ref().map(moment)),
            result: opened.and_then(|it| encode(&it.value, ty)),
            private: opened.map(|it| it.private.clone().into()),
            deferred: None,
        })
    }

    pub async fn renew(
        &self,
        it: msg::renew_ephemeral_resource::Request,
    ) -> RpcResult<msg::renew_ephemeral_resource::Response> {
        let private = it.private.unwrap_or_default();
        let answer = self.provider.renew(&it.type_name, &private).await;
        let renewed = answer.value.as_ref();
        Ok(msg::renew_ephemeral_resource::Response {
            diagnostics: written_diagnostics(&answer.diagnostics),
            renew_at: renewed.and_then(|it| it.renew_at.as_ref().map(moment)),
            private: renewed.map(|it| it.private.clone().into()),
        })
    }

    pub async fn close(
        &self,
        it: msg::close_ephemeral_resource::Request,
    ) -> RpcResult<msg::close_ephemeral_resource::Response> {
        let private = it.private.unwrap_or_default();
        let found = self.provider.close(&it.type_name, &private).await;
        Ok(msg::close_ephemeral_resource::Response { diagnostics: written_diagnostics(&found) })
    }

    pub async fn call(
        &self,
        it: msg::call_function::Request,
    ) -> RpcResult<msg::call_function::Response> {
        let signature = self
            .schema
            .functions
            .get(&*it.name)
            .ok_or_else(|| Status::invalid_argument("there is no such function"))?;
        let parameter = |at: usize| signature.parameters.get(at).or(signature.variadic.as_ref());
        let mut arguments = Vec::new();
        for (at, argument) in it.arguments.into_iter().enumerate() {
            let ty = parameter(at).map_or(Type::DYNAMIC, |it| it.ty);
            arguments.push(value(Some(argument), ty)?);
        }
        Ok(match self.provider.call(&it.name, &arguments).await {
            Ok(result) => msg::call_function::Response {
                result: encode(&result, signature.returns),
                error: None,
            },
            Err((at, text)) => msg::call_function::Response {
                result: None,
                error: Some(msg::FunctionError {
                    text,
                    function_argument: at.and_then(|it| i64::try_from(it).ok()),
                }),
            },
        })
    }
}

//! Calls about one object: it is brought to today's schema, read, planned and changed.

use bytes::Bytes;

use super::{
    CAPABILITIES, Complaints, Plugin, identity_of, one, taken, unknown_kind, written_identity,
};
use crate::provider::plugin::values::{decode_object, diagnostics, encode, path};
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::provider::{AppliedObject, ApplyCall, PlanCall, PlannedObject, ReadObject, Response};
use crate::value::Value;

pub(super) async fn upgrade(
    plugin: &Plugin,
    kind: &str,
    version: u64,
    stored: &str,
) -> Result<Response<Option<Value>>, Complaints> {
    let (process, announced) = plugin.ready().await?;
    let schema = announced.schema.resources.get(kind).ok_or_else(|| unknown_kind(kind))?.clone();
    // What the schema of the same version lacks was written by a provider that lied.
    let stripped = (schema.version == version)
        .then(|| crate::schema::without_unknown_attributes(stored, &schema.block))
        .flatten();
    let json: Bytes = match stripped {
        Some(it) => it.into_bytes().into(),
        None => stored.to_owned().into_bytes().into(),
    };
    let request = msg::upgrade_resource_state::Request {
        type_name: kind.into(),
        version: i64::try_from(version).unwrap_or(i64::MAX),
        raw_state: Some(msg::RawState { json, flatmap: Default::default() }),
    };
    let answer =
        process.call("UpgradeResourceState", |it| it.upgrade(request)).await.map_err(one)?;
    let value = decode_object(answer.upgraded_state, schema.block.ty());
    let found = diagnostics(answer.diagnostics);
    Ok(taken(value, "UpgradeResourceState", kind, found, |it| it))
}

pub(super) async fn upgrade_identity(
    plugin: &Plugin,
    kind: &str,
    version: u64,
    stored: &str,
) -> Result<Response<Option<Value>>, Complaints> {
    let site = plugin.managed(kind).await?;
    let request = msg::upgrade_resource_identity::Request {
        type_name: kind.into(),
        version: i64::try_from(version).unwrap_or(i64::MAX),
        raw_identity: Some(msg::RawState {
            json: stored.to_owned().into_bytes().into(),
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
}

pub(super) async fn read(
    plugin: &Plugin,
    kind: &str,
    prior: &Value,
    private: &[u8],
    identity: Option<&Value>,
) -> Result<Response<Option<ReadObject>>, Complaints> {
    let site = plugin.managed(kind).await?;
    let request = msg::read_resource::Request {
        type_name: kind.into(),
        current_state: encode(prior, site.ty),
        private: private.to_vec().into(),
        provider_meta: plugin.meta(site.announced),
        client_capabilities: CAPABILITIES,
        current_identity: written_identity(identity, site.identity),
    };
    let answer = site.process.call("ReadResource", |it| it.read(request)).await.map_err(one)?;
    let value = decode_object(answer.new_state, site.ty);
    let private = answer.private.to_vec();
    let found = diagnostics(answer.diagnostics);
    let identity = identity_of(answer.new_identity, site.identity);
    Ok(taken(value, "ReadResource", kind, found, |value| ReadObject {
        value: crate::schema::with_blocks(&value, site.block),
        private,
        identity,
    }))
}

pub(super) async fn plan(
    plugin: &Plugin,
    call: PlanCall<'_>,
) -> Result<Response<Option<PlannedObject>>, Complaints> {
    let site = plugin.managed(call.kind).await?;
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
        provider_meta: plugin.meta(site.announced),
        client_capabilities: CAPABILITIES,
        prior_identity: written_identity(call.identity, site.identity),
    };
    let answer =
        site.process.call("PlanResourceChange", |it| it.plan(request)).await.map_err(one)?;
    let value = decode_object(answer.planned_state, site.ty);
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
}

pub(super) async fn apply(
    plugin: &Plugin,
    call: ApplyCall<'_>,
) -> Result<Response<Option<AppliedObject>>, Complaints> {
    let site = plugin.managed(call.kind).await?;
    let request = msg::apply_resource_change::Request {
        type_name: call.kind.into(),
        prior_state: encode(call.prior, site.ty),
        planned_state: encode(call.planned, site.ty),
        config: encode(call.config, site.ty),
        planned_private: call.private.to_vec().into(),
        provider_meta: plugin.meta(site.announced),
        planned_identity: written_identity(call.identity, site.identity),
    };
    let unreadable =
        |found| Response { value: Some(AppliedObject::unreadable()), diagnostics: found };
    let answer = site.process.call_and_judge("ApplyResourceChange", |it| it.apply(request)).await;
    let answer = match answer {
        Ok(answer) => answer,
        Err((problem, true)) => return Ok(unreadable(one(problem))),
        Err((problem, false)) => return Err(one(problem)),
    };
    let found = diagnostics(answer.diagnostics);
    let failed = found.iter().any(|it| it.severity == crate::diagnostic::Severity::Error);
    if answer.new_state.is_none() && failed {
        return Ok(Response { value: None, diagnostics: found });
    }
    let value = decode_object(answer.new_state, site.ty);
    let identity = identity_of(answer.new_identity, site.identity);
    let taken = taken(value, "ApplyResourceChange", call.kind, found, |value| AppliedObject {
        value,
        private: answer.private.to_vec(),
        identity,
        legacy_types: answer.legacy_type_system,
    });
    Ok(match taken.value {
        Some(_) => taken,
        None => unreadable(taken.diagnostics),
    })
}

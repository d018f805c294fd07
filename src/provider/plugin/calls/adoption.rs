//! Calls that take objects over: by an import id, or from another type.

use bytes::Bytes;

use super::{
    CAPABILITIES, Complaints, Plugin, identity_of, nonconforming, one, taken, unknown_kind,
    written_identity,
};
use crate::provider::plugin::values::{decode, decode_object, diagnostics};
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::provider::{ImportName, ImportedObject, ProviderDiagnostic, ReadObject, Response};

pub(super) async fn import(
    plugin: &Plugin,
    kind: &str,
    name: &ImportName,
) -> Result<Response<Vec<ImportedObject>>, Complaints> {
    let (process, announced) = plugin.ready().await?;
    let schema = announced.schema.resources.get(kind).and_then(|it| it.identity.as_ref());
    let identity = match name {
        ImportName::Id(_) => None,
        ImportName::Identity(it) => written_identity(Some(it), schema),
    };
    let request = msg::import_resource_state::Request {
        type_name: kind.into(),
        id: name.id().unwrap_or_default().into(),
        client_capabilities: CAPABILITIES,
        identity,
    };
    let answer = process.call("ImportResourceState", |it| it.import(request)).await.map_err(one)?;
    let mut response = Response { value: Vec::new(), diagnostics: diagnostics(answer.diagnostics) };
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
            Err(error) => {
                response.diagnostics.push(nonconforming("ImportResourceState", kind, &error))
            }
        }
    }
    Ok(response)
}

pub(super) async fn move_state(
    plugin: &Plugin,
    (from_provider, from_kind, from_version): (&str, &str, u64),
    stored: &str,
    kind: &str,
) -> Result<Response<Option<ReadObject>>, Complaints> {
    let site = plugin.managed(kind).await?;
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
            json: stored.to_owned().into_bytes().into(),
            flatmap: Default::default(),
        }),
        target_type_name: kind.into(),
        source_private: Bytes::new(),
        source_identity: None,
        source_identity_schema_version: 0,
    };
    let answer =
        site.process.call("MoveResourceState", |it| it.move_state(request)).await.map_err(one)?;
    let value = decode_object(answer.target_state, site.ty);
    let private = answer.target_private.to_vec();
    let identity = identity_of(answer.target_identity, site.identity);
    let found = diagnostics(answer.diagnostics);
    Ok(taken(value, "MoveResourceState", kind, found, |value| ReadObject {
        value,
        private,
        identity,
    }))
}

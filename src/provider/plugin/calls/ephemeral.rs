//! Calls about what is lent: ephemeral resources are opened, renewed and closed.

use super::{CAPABILITIES, Complaints, Plugin, one, taken};
use crate::provider::plugin::values::{decode_object, diagnostics, encode};
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::provider::{OpenedEphemeral, RenewedEphemeral, Response};
use crate::value::Value;

pub(super) async fn open(
    plugin: &Plugin,
    kind: &str,
    config: &Value,
) -> Result<Response<Option<OpenedEphemeral>>, Complaints> {
    let site = plugin.site(kind, |it| &it.ephemeral).await?;
    let request = msg::open_ephemeral_resource::Request {
        type_name: kind.into(),
        config: encode(config, site.ty),
        client_capabilities: CAPABILITIES,
    };
    let answer =
        site.process.call("OpenEphemeralResource", |it| it.open(request)).await.map_err(one)?;
    let value = decode_object(answer.result, site.ty);
    let private = answer.private.unwrap_or_default().to_vec();
    let renew_at = answer.renew_at.and_then(moment);
    let found = diagnostics(answer.diagnostics);
    Ok(taken(value, "OpenEphemeralResource", kind, found, |value| OpenedEphemeral {
        value,
        private,
        renew_at,
    }))
}

pub(super) async fn renew(
    plugin: &Plugin,
    kind: &str,
    private: &[u8],
) -> Result<Response<Option<RenewedEphemeral>>, Complaints> {
    let (process, _) = plugin.ready().await?;
    let request = msg::renew_ephemeral_resource::Request {
        type_name: kind.into(),
        private: Some(private.to_vec().into()),
    };
    let answer =
        process.call("RenewEphemeralResource", |it| it.renew(request)).await.map_err(one)?;
    let private = answer.private.map_or_else(|| private.to_vec(), |it| it.to_vec());
    let renew_at = answer.renew_at.and_then(moment);
    Ok(Response {
        value: Some(RenewedEphemeral { private, renew_at }),
        diagnostics: diagnostics(answer.diagnostics),
    })
}

pub(super) async fn close(
    plugin: &Plugin,
    kind: &str,
    private: &[u8],
) -> Result<Complaints, Complaints> {
    let (process, _) = plugin.ready().await?;
    let request = msg::close_ephemeral_resource::Request {
        type_name: kind.into(),
        private: Some(private.to_vec().into()),
    };
    let answer =
        process.call("CloseEphemeralResource", |it| it.close(request)).await.map_err(one)?;
    Ok(diagnostics(answer.diagnostics))
}

fn moment(it: prost_types::Timestamp) -> Option<chrono::DateTime<chrono::Utc>> {
    chrono::DateTime::from_timestamp(it.seconds, u32::try_from(it.nanos).ok()?)
}

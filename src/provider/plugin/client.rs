//! The calls of both versions of the protocol, behind one name each.

use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tonic::Status;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint, Identity, Uri};
use tower::service_fn;

use super::handshake::{Handshake, Socket};
use super::tls::{self, Pinned};
use super::wire::entail::plugin as msg;
use super::wire::tfplugin5::provider_client::ProviderClient as Client5;
use super::wire::tfplugin6::provider_client::ProviderClient as Client6;
use crate::error::Error;

/// The largest message that is taken or sent. The largest providers announce some five megabytes.
pub(super) const LARGEST: usize = 256 << 20;
/// What the message of a status begins with if the request was too large to be sent.
pub(super) const TOO_LARGE: &str = "the request is too large for a plugin";
/// How long the socket may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection, and the version that is spoken on it.
#[derive(Clone, Debug)]
pub(super) enum Client {
    /// Version 5.
    Five(Client5<Channel>),
    /// Version 6.
    Six(Client6<Channel>),
}

impl Client {
    pub fn new(version: u32, channel: Channel) -> Client {
        match version {
            5 => Client::Five(
                Client5::new(channel)
                    .max_decoding_message_size(LARGEST)
                    .max_encoding_message_size(LARGEST),
            ),
            _ => Client::Six(
                Client6::new(channel)
                    .max_decoding_message_size(LARGEST)
                    .max_encoding_message_size(LARGEST),
            ),
        }
    }

    pub fn version(&self) -> u32 {
        match self {
            Client::Five(_) => 5,
            Client::Six(_) => 6,
        }
    }
}

/// Declares a call: our name, its name in both versions, and its messages.
macro_rules! calls {
    ($($name:ident: $five:ident / $six:ident ($message:ident);)*) => {
        impl Client {
            $(pub async fn $name(
                self,
                request: msg::$message::Request,
            ) -> Result<msg::$message::Response, Status> {
                check_size(prost::Message::encoded_len(&request))?;
                let response = match self {
                    Client::Five(mut it) => it.$five(request).await?,
                    Client::Six(mut it) => it.$six(request).await?,
                };
                Ok(response.into_inner())
            })*
        }
    };
}

calls! {
    schema: get_schema / get_provider_schema (get_provider_schema);
    identity_schemas: get_resource_identity_schemas / get_resource_identity_schemas (get_resource_identity_schemas);
    upgrade_identity: upgrade_resource_identity / upgrade_resource_identity (upgrade_resource_identity);
    validate_provider: prepare_provider_config / validate_provider_config (validate_provider_config);
    configure: configure / configure_provider (configure_provider);
    stop: stop / stop_provider (stop_provider);
    validate_resource: validate_resource_type_config / validate_resource_config (validate_config);
    validate_data: validate_data_source_config / validate_data_resource_config (validate_config);
    validate_ephemeral: validate_ephemeral_resource_config / validate_ephemeral_resource_config (validate_config);
    upgrade: upgrade_resource_state / upgrade_resource_state (upgrade_resource_state);
    read: read_resource / read_resource (read_resource);
    plan: plan_resource_change / plan_resource_change (plan_resource_change);
    apply: apply_resource_change / apply_resource_change (apply_resource_change);
    import: import_resource_state / import_resource_state (import_resource_state);
    move_state: move_resource_state / move_resource_state (move_resource_state);
    read_data: read_data_source / read_data_source (read_data_source);
    open: open_ephemeral_resource / open_ephemeral_resource (open_ephemeral_resource);
    renew: renew_ephemeral_resource / renew_ephemeral_resource (renew_ephemeral_resource);
    close: close_ephemeral_resource / close_ephemeral_resource (close_ephemeral_resource);
    call: call_function / call_function (call_function);
}

/// Refuses a request that is too large. Sent all the same, it would end the connection without a reason.
fn check_size(length: usize) -> Result<(), Status> {
    if length <= LARGEST {
        return Ok(());
    }
    Err(Status::out_of_range(format!(
        "{TOO_LARGE}: it has {length} bytes, and the limit is {LARGEST} bytes"
    )))
}

/// Connects to a plugin.
///
/// # Errors
///
/// Says why nobody answers, or why the one who answers is not trusted.
pub(super) async fn connect(handshake: &Handshake) -> Result<Channel, Error> {
    let endpoint = Endpoint::from_static(match handshake.certificate {
        Some(_) => "https://localhost",
        None => "http://localhost",
    });
    let endpoint = match &handshake.certificate {
        Some(certificate) => {
            let own = tls::own()?;
            let config = ClientTlsConfig::new()
                .domain_name("localhost")
                .identity(Identity::from_pem(&own.certificate, &own.key));
            let pinned = std::sync::Arc::new(Pinned::new(certificate.clone()));
            endpoint
                .tls_config_with_verifier(config, pinned)
                .map_err(|it| format!("cannot be connected to under protection: {}", causes(&it)))?
        }
        None => endpoint,
    };
    let connected = match handshake.socket.clone() {
        Socket::Unix(path) => {
            let connector = service_fn(move |_: Uri| {
                let path = path.clone();
                async move { UnixStream::connect(path).await.map(TokioIo::new) }
            });
            tokio::time::timeout(PATIENCE, endpoint.connect_with_connector(connector)).await
        }
        Socket::Tcp(address) => {
            let connector = service_fn(move |_: Uri| {
                let address = address.clone();
                async move { TcpStream::connect(address).await.map(TokioIo::new) }
            });
            tokio::time::timeout(PATIENCE, endpoint.connect_with_connector(connector)).await
        }
    };
    match connected {
        Err(_) => Err("does not answer on its socket".into()),
        Ok(result) => {
            result.map_err(|it| format!("cannot be connected to: {}", causes(&it)).into())
        }
    }
}

/// Returns an error with everything that it comes from.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_too_large_is_refused_with_size_and_limit() {
        assert!(check_size(LARGEST).is_ok());
        let refused = check_size(419_430_551).expect_err("it is too large");
        assert_eq!(
            refused.message(),
            "the request is too large for a plugin: it has 419430551 bytes, and the limit is 268435456 bytes"
        );
    }
}

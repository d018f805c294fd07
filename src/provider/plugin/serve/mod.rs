//! The other side: a provider of this program, or a provisioner, served as a plugin to whoever speaks the protocol.
//!
//! It is how the client is tested without programs from elsewhere, by the same provider in process and behind a socket,
//! and how faults are tested that no honest plugin has.

use std::convert::Infallible;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine;
use futures_util::TryStreamExt;
use tokio::net::UnixListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;
use tonic::body::Body;
use tonic::codegen::http::{self, Request};
use tonic::transport::Server;
use tower::Service;

use super::client::LARGEST;
use super::handshake::COOKIE;
use super::tls;
use super::wire::helper;
use super::wire::helper::grpc_controller_server::{GrpcController, GrpcControllerServer};
use super::wire::tfplugin5::provider_server::ProviderServer as Server5;
use super::wire::tfplugin5::provisioner_server::ProvisionerServer;
use super::wire::tfplugin6::provider_server::ProviderServer as Server6;
use crate::address;
use crate::provider::Provider;
use crate::world::World;

mod answers;
mod calls;
mod faults;
mod identity;
mod schema;
mod scripted;
mod shell;
mod things;

use answers::Answers;
pub use faults::Faults;
pub use scripted::Scripted;
use shell::Shell;

/// Who starts the plugin.
#[derive(Clone, Copy, Debug)]
pub enum Starter<'a> {
    /// The program that uses it.
    Client,
    /// Somebody who tells that program where it runs; it is known as this provider.
    Person(&'a address::Provider),
}

/// Serves a provider until the client asks for the end.
///
/// # Errors
///
/// If the socket cannot be had, or nobody can be spoken with on it.
pub async fn serve(
    provider: Arc<dyn Provider>,
    faults: Faults,
    world: &World,
    starter: Starter<'_>,
) -> Result<(), Failure> {
    let version = version(world);
    let schema = provider.schema().await.value;
    let identities = world.variable("ENTAIL_PLUGIN_IDENTITIES").is_some();
    let answers = Answers { provider, schema, faults, identities, version };
    match version {
        5 => {
            let service = Server5::new(answers).max_decoding_message_size(LARGEST);
            answer_calls(service, version, world, starter).await
        }
        _ => {
            let service = Server6::new(answers).max_decoding_message_size(LARGEST);
            answer_calls(service, version, world, starter).await
        }
    }
}

/// Serves a provisioner that runs commands of the shell, until the client asks for the end.
///
/// # Errors
///
/// As for [`serve`].
pub async fn serve_provisioner(world: &World) -> Result<(), Failure> {
    let service = ProvisionerServer::new(Shell::default()).max_decoding_message_size(LARGEST);
    answer_calls(service, version(world), world, Starter::Client).await
}

/// Why a plugin is not served.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Says where the plugin listens, and answers calls until the client asks for the end.
async fn answer_calls<P>(
    service: P,
    version: u32,
    world: &World,
    starter: Starter<'_>,
) -> Result<(), Failure>
where
    P: Service<Request<Body>, Response = http::Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    P::Future: Send + 'static,
{
    let is_started_by_client = world.variable(COOKIE.0) == Some(COOKIE.1);
    if !is_started_by_client && matches!(starter, Starter::Client) {
        return Err("This program is a plugin: it is started by the program that uses it, and is of no use by itself.".into());
    }
    let path = socket(world);
    let listener = UnixListener::bind(&path)?;
    let (protection, certificate) = protected(world)?;
    let line = match starter {
        Starter::Client => format!("1|{version}|unix|{}|grpc|{certificate}\n", path.display()),
        Starter::Person(provider) => reattachment(provider, version, &path),
    };
    io::stdout().write_all(line.as_bytes())?;
    io::stdout().flush()?;
    let end = Arc::new(Notify::new());
    let controller = GrpcControllerServer::new(Controller(end.clone()));
    let service = beside(controller, service);
    let plain = futures_util::stream::unfold(listener, |listener| async move {
        let accepted = listener.accept().await.map(|it| it.0);
        Some((accepted, listener))
    });
    let served: Pin<Box<dyn Future<Output = _> + Send>> = match protection {
        None => Box::pin(Server::builder().serve_with_incoming(service, plain)),
        Some(acceptor) => {
            let protect = move |accepted| {
                let acceptor = acceptor.clone();
                async move { acceptor.accept(accepted).await }
            };
            Box::pin(Server::builder().serve_with_incoming(service, plain.and_then(protect)))
        }
    };
    tokio::select! {
        result = served => result?,
        () = end.notified() => {}
    }
    // Whoever is still connected learns of the end by its coming.
    let _ = std::fs::remove_file(path);
    Ok(())
}

/// What is to be told to the program that is to use a plugin which runs already.
fn reattachment(provider: &address::Provider, version: u32, path: &Path) -> String {
    let place = serde_json::json!({provider.to_string(): {
        "Protocol": "grpc",
        "ProtocolVersion": version,
        "Pid": std::process::id(),
        "Test": true,
        "Addr": {"Network": "unix", "String": path},
    }});
    format!("TF_REATTACH_PROVIDERS='{place}'\n")
}

/// A service of which the calls of the controller are taken out.
fn beside<S>(
    controller: GrpcControllerServer<Controller>,
    service: S,
) -> impl Service<Request<Body>, Response = http::Response<Body>, Error = Infallible, Future = Answering>
+ Clone
+ Send
+ 'static
where
    S: Service<Request<Body>, Response = http::Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    tower::service_fn(move |request: Request<Body>| -> Answering {
        let (mut controller, mut service) = (controller.clone(), service.clone());
        match request.uri().path().starts_with("/plugin.GRPCController/") {
            true => Box::pin(controller.call(request)),
            false => Box::pin(service.call(request)),
        }
    })
}

/// An answer on its way.
type Answering = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

/// The version of the protocol: what the client can, and of that the highest.
fn version(world: &World) -> u32 {
    let offered = world.variable("PLUGIN_PROTOCOL_VERSIONS").unwrap_or("5");
    let forced = world.variable("ENTAIL_PLUGIN_PROTOCOL").and_then(|it| it.parse().ok());
    let known = offered.split(',').filter_map(|it| it.trim().parse().ok());
    forced.or(known.filter(|it| [5, 6].contains(it)).max()).unwrap_or(5)
}

fn socket(world: &World) -> PathBuf {
    let folder =
        world.variable("PLUGIN_UNIX_SOCKET_DIR").map_or_else(std::env::temp_dir, Into::into);
    folder.join(format!("plugin{}", std::process::id()))
}

/// Returns how connections are protected, if the client shows a certificate, and ours as the first line has it.
fn protected(
    world: &World,
) -> Result<(Option<TlsAcceptor>, String), Box<dyn std::error::Error + Send + Sync>> {
    let Some(client) = world.variable("PLUGIN_CLIENT_CERT") else {
        return Ok((None, String::new()));
    };
    let own = tls::make()?;
    let acceptor = TlsAcceptor::from(Arc::new(tls::serving(&own, client)?));
    let shown = base64::engine::general_purpose::STANDARD_NO_PAD.encode(own.der()?);
    Ok((Some(acceptor), shown))
}

struct Controller(Arc<Notify>);

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(
        &self,
        _: tonic::Request<helper::Empty>,
    ) -> Result<tonic::Response<helper::Empty>, tonic::Status> {
        self.0.notify_one();
        Ok(tonic::Response::new(helper::Empty {}))
    }
}

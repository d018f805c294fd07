//! One running plugin: calls to it, what its silence means, and its end.

use crate::world::PROGRAM;
use std::future::Future;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Code, Status};

use super::client::{self, Client, TOO_LARGE};
use super::handshake::{Handshake, PluginKind, Socket};
use super::launch::{Running, Start, launch};
use super::wire::helper;
use super::wire::helper::grpc_controller_client::GrpcControllerClient;
use super::wire::helper::grpc_stdio_client::GrpcStdioClient;
use super::{Place, Program, runtime};
use crate::error::Error;
use crate::install::Platform;
use crate::provider::ProviderDiagnostic;
use crate::world::{World, open_regular};

/// How long an orderly end may take.
const GRACE: Duration = Duration::from_secs(2);

/// A plugin that runs. Dropped, it is ended in an orderly way.
///
/// - `C`: the calls of its kind: [`Client`] for a provider.
#[derive(Debug)]
pub(super) struct Process<C: Clone = Client> {
    /// The connection.
    pub client: C,
    channel: Channel,
    /// The child; `None` where somebody else started it.
    child: Option<Arc<Running>>,
}

impl Process {
    /// Starts a provider, or connects to one that runs. Only on the thread of plugins.
    ///
    /// # Errors
    ///
    /// Says which plugin it is, what is wrong with it, and what helps.
    pub async fn start(program: &Program, world: &World) -> Result<Process, Error> {
        let (shown, way_out) = (shown(&program.place, world), way_out(program));
        let begun = Process::begin(program, world).await;
        begun.map_err(|why| format!("{shown} {why}.\n\n{way_out}").into())
    }

    async fn begin(program: &Program, world: &World) -> Result<Process, Error> {
        match &program.place {
            Place::Executable(executable) => {
                let start = Start {
                    executable,
                    opened: program.opened.as_ref(),
                    kind: PluginKind::Provider,
                    name: &program.provider.kind,
                };
                Process::start_file(&start, world, Client::new).await
            }
            Place::Running { socket, version } => {
                let handshake =
                    Handshake { version: *version, socket: socket.clone(), certificate: None };
                let channel = client::connect(&handshake).await?;
                let client = Client::new(handshake.version, channel.clone());
                Ok(Process { client, channel, child: None })
            }
        }
    }
}

impl<C: Clone + Send + Sync + 'static> Process<C> {
    /// Starts a file as a plugin and connects to it. Only on the thread of plugins.
    ///
    /// - `client`: makes the calls from the version that is spoken and the connection.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the file, as the end of a sentence about it.
    pub async fn start_file(
        start: &Start<'_>,
        world: &World,
        client: impl FnOnce(u32, Channel) -> C,
    ) -> Result<Process<C>, Error> {
        world.may_start("the plugin")?;
        check_regular(start.executable)?;
        let child = Arc::new(launch(start, world).await?);
        let channel = match client::connect(&child.handshake).await {
            Ok(channel) => channel,
            Err(why) => {
                child.kill();
                child.ended_within(GRACE).await;
                return Err(why);
            }
        };
        tokio::spawn(drain_output(channel.clone()));
        let client = client(child.handshake.version, channel.clone());
        Ok(Process { client, channel, child: Some(child) })
    }

    /// Makes a call, to its end, whoever still waits for it.
    pub async fn call<F, R>(
        self: &Arc<Self>,
        name: &'static str,
        call: impl FnOnce(C) -> F,
    ) -> Result<R, ProviderDiagnostic>
    where
        F: Future<Output = Result<R, Status>> + Send + 'static,
        R: Send + 'static,
    {
        self.call_and_judge(name, call).await.map_err(|it| it.0)
    }

    /// The same; also says of a failure whether an answer came that could not be read.
    pub async fn call_and_judge<F, R>(
        self: &Arc<Self>,
        name: &'static str,
        call: impl FnOnce(C) -> F,
    ) -> Result<R, (ProviderDiagnostic, bool)>
    where
        F: Future<Output = Result<R, Status>> + Send + 'static,
        R: Send + 'static,
    {
        let handle = runtime::handle().map_err(|it| (plugin_error(name, it.words()), false))?;
        if self.child.as_ref().is_some_and(|it| it.ended().is_some()) {
            // Nothing is sent to a plugin that has ended.
            return Err((
                ProviderDiagnostic { unanswered: false, ..self.silence(name).await },
                false,
            ));
        }
        let process = self.clone();
        let call = call(self.client.clone());
        let done: JoinHandle<Result<R, (ProviderDiagnostic, bool)>> = handle.spawn(async move {
            let answer = call.await;
            match answer {
                Ok(it) => Ok(it),
                Err(status) => Err((process.failure(name, &status).await, is_unreadable(&status))),
            }
        });
        let began = std::time::Instant::now();
        let lost = |why: String| Err((plugin_error(name, &why).unanswered(), false));
        let answer = done.await.unwrap_or_else(|it| lost(it.to_string()));
        let (elapsed, failed) = (began.elapsed(), answer.is_err());
        tracing::trace!(call = name, ?elapsed, failed, "provider answers");
        answer
    }

    /// Says what a failed call means.
    async fn failure(&self, name: &str, status: &Status) -> ProviderDiagnostic {
        let is_broken = std::error::Error::source(status).is_some();
        match status.code() {
            Code::Unavailable => self.silence(name).await,
            Code::Unknown | Code::Internal | Code::Cancelled if is_broken => {
                self.broken(name, status).await
            }
            Code::Cancelled => ProviderDiagnostic::error(
                "Request cancelled",
                format!("The {name} request was cancelled."),
            )
            .unanswered(),
            Code::OutOfRange if status.message().starts_with(TOO_LARGE) => unsent(name, status),
            Code::Unimplemented => ProviderDiagnostic::error(
                "Unsupported plugin method",
                format!("The {name} method is not supported by this plugin."),
            ),
            _ => plugin_error(name, status.message()),
        }
    }

    /// The plugin did not answer: most often because it is gone.
    async fn silence(&self, name: &str) -> ProviderDiagnostic {
        let mut detail = format!(
            "The plugin encountered an error, and failed to respond to the {name} call. The plugin logs may contain more details."
        );
        if let Some(child) = &self.child {
            if let Some(status) = child.ended_within(Duration::from_secs(1)).await {
                detail.push_str(&format!("\n\nThe plugin has ended: {status}."));
                // Its last lines may still be on their way.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let (lines, is_crash) = child.tail.text();
            let lines = if is_crash { lines } else { child.tail.plain() };
            if !lines.is_empty() {
                detail.push_str(&format!("\n\nIts last lines:\n{lines}"));
            }
        }
        ProviderDiagnostic::error("Plugin did not respond", detail).unanswered()
    }

    /// The connection failed during the call. A plugin that still runs has not said why, so the connection's error is named.
    async fn broken(&self, name: &str, status: &Status) -> ProviderDiagnostic {
        let mut problem = self.silence(name).await;
        if self.child.as_ref().is_some_and(|it| it.ended().is_none()) {
            let why = Error::with_causes(status);
            problem.detail.push_str(&format!("\n\nThe connection to the plugin failed: {why}."));
        }
        problem
    }
}

/// Ends a plugin: it is asked to, and killed where it does not end in time.
async fn end(channel: Channel, child: Arc<Running>) {
    if child.ended().is_none() {
        let mut controller = GrpcControllerClient::new(channel);
        // It ends before it answers, so there is nothing to learn from the answer.
        let asked = controller.shutdown(helper::Empty {});
        let _ = tokio::time::timeout(GRACE, asked).await;
        if child.ended_within(GRACE).await.is_none() {
            child.kill();
            child.ended_within(GRACE).await;
        }
    }
}

impl<C: Clone> Drop for Process<C> {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else { return };
        runtime::finally(end(self.channel.clone(), child));
    }
}

/// Refuses a program that is a pipe or a device: opening it to look at its first bytes could wait without end.
fn check_regular(program: &Path) -> Result<(), Error> {
    match open_regular(program) {
        Err(why) if why.kind() == io::ErrorKind::InvalidInput => {
            Err(format!("cannot be started: {why}").into())
        }
        // The system says what else is wrong when the program is started.
        _ => Ok(()),
    }
}

/// Returns what a place is called.
fn shown(place: &Place, world: &World) -> String {
    match place {
        Place::Executable(path) => {
            path.strip_prefix(&world.root).unwrap_or(path).display().to_string()
        }
        Place::Running { socket: Socket::Unix(path), .. } => {
            format!("the plugin at {}", path.display())
        }
        Place::Running { socket: Socket::Tcp(address), .. } => format!("the plugin at {address}"),
    }
}

/// What helps where a plugin does not start, without its full stop.
fn way_out(program: &Program) -> String {
    let platform = Platform::current();
    match (&program.place, &program.version) {
        (Place::Running { .. }, _) => "Start it again and set TF_REATTACH_PROVIDERS to what it prints then, or unset the variable".into(),
        (_, None) => format!("Build it anew for {platform}, or take it out of the dev_overrides of the CLI configuration"),
        (_, Some(_)) => format!("Remove its folder and run \"{PROGRAM} init\" to install it anew from a place that has the package for {platform}, or choose another version of the provider"),
    }
}

/// Returns whether an answer came and was too large or no message of the protocol.
fn is_unreadable(status: &Status) -> bool {
    match status.code() {
        Code::OutOfRange => !status.message().starts_with(TOO_LARGE),
        Code::ResourceExhausted => true,
        // A plugin may give this status itself; what cannot be decoded has no word of its own.
        Code::Internal => status.message().starts_with("failed to decode"),
        _ => false,
    }
}

/// The request was too large, so that the plugin knows nothing of it.
fn unsent(name: &str, status: &Status) -> ProviderDiagnostic {
    let why = status.message();
    ProviderDiagnostic::error(
        "Request too large",
        format!(
            "The {name} call was not sent: {why}. Give the object less content, or a file's path in place of its content."
        ),
    )
}

fn plugin_error(name: &str, why: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Plugin error",
        format!("The plugin returned an unexpected error from {name}: {why}"),
    )
}

/// Takes what the plugin prints after its start; left alone, it would wait for room one day.
async fn drain_output(channel: Channel) {
    let Ok(output) = GrpcStdioClient::new(channel).stream_stdio(()).await else { return };
    let mut output = output.into_inner();
    while let Ok(Some(_)) = output.message().await {}
}

/// Returns the place of a plugin that somebody else started.
pub(super) fn place_of(network: &str, address: &str, version: u32) -> Result<Place, Error> {
    let version = if version == 0 { 5 } else { version };
    Ok(Place::Running { socket: Socket::of(network, address)?, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_not_sent_has_no_unreadable_answer() {
        let unsent = Status::out_of_range(format!("{TOO_LARGE}: it has 2 bytes"));
        assert!(!is_unreadable(&unsent));
        assert!(is_unreadable(&Status::out_of_range("decoded message length too large")));
        let told = super::unsent("PlanResourceChange", &unsent);
        assert!(told.detail.contains("has 2 bytes") && !told.unanswered, "{told:?}");
    }

    #[test]
    fn a_program_that_is_a_pipe_is_refused_before_it_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("terraform-provider-demo");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        let why = check_regular(&pipe).expect_err("it is a pipe").to_string();
        assert_eq!(why, "cannot be started: it is a pipe, not a regular file");
        assert!(check_regular(&folder.path().join("none")).is_ok());
    }
}

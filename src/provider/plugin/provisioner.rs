//! A provisioner that is a program of its own: version 5 of the plugin protocol.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{OnceCell, mpsc};
use tonic::transport::Channel;

use super::client::LARGEST;
use super::handshake::PluginKind;
use super::launch::Start;
use super::process::Process;
use super::values::{diagnostics, encode};
use super::wire::entail::plugin as msg;
use super::wire::tfplugin5::provisioner_client::ProvisionerClient;
use super::{runtime, schema};
use crate::diagnostic::Severity;
use crate::error::Error;
use crate::provider::ProviderDiagnostic;
use crate::schema::BlockSchema;
use crate::value::{Type, Value};
use crate::world::{Stop, World};

/// The summary of problems with a provisioner that does not start or announce its arguments.
const NO_SCHEMA: &str = "Failed to obtain provisioner schema";

type Client = ProvisionerClient<Channel>;

/// A provisioner plugin. The first call starts its process, which ends when the plugin is dropped.
#[derive(Debug)]
pub struct ProvisionerPlugin {
    name: String,
    executable: PathBuf,
    world: Arc<World>,
    ready: OnceCell<Result<Ready, Vec<ProviderDiagnostic>>>,
}

/// A process, and the arguments that it announces.
#[derive(Debug)]
struct Ready {
    process: Arc<Process<Client>>,
    schema: BlockSchema,
    ty: Type,
}

impl ProvisionerPlugin {
    /// Returns the plugin in a file. Nothing is started yet.
    pub fn new(name: &str, executable: PathBuf, world: Arc<World>) -> ProvisionerPlugin {
        ProvisionerPlugin { name: name.to_owned(), executable, world, ready: OnceCell::new() }
    }

    /// Returns the arguments that the plugin announces.
    ///
    /// # Errors
    ///
    /// Why the plugin does not start, or what is wrong with its answer.
    pub async fn schema(&self) -> Result<&BlockSchema, Vec<ProviderDiagnostic>> {
        self.ready().await.map(|it| &it.schema)
    }

    /// Asks the plugin what is wrong with arguments.
    ///
    /// - `config`: an object of the schema's type, without marks; unknown where undecided.
    pub async fn validate(&self, config: &Value) -> Vec<ProviderDiagnostic> {
        let ready = match self.ready().await {
            Ok(it) => it,
            Err(problems) => return problems,
        };
        let request =
            msg::validate_provisioner_config::Request { config: encode(config, ready.ty) };
        let call = |mut client: Client| async move {
            client.validate_provisioner_config(request).await.map(|it| it.into_inner())
        };
        match ready.process.call("ValidateProvisionerConfig", call).await {
            Ok(answer) => diagnostics(answer.diagnostics),
            Err(problem) => vec![problem],
        }
    }

    /// Runs the provisioner to its end. The first request to stop is passed on, and its end awaited all the same.
    ///
    /// - `config`: an object of the schema's type, known and without marks.
    /// - `connection`: a map of strings, or null.
    /// - `tell`: hears each piece of output.
    pub async fn provision(
        &self,
        config: &Value,
        connection: &Value,
        stop: &Stop,
        tell: impl Fn(&str),
    ) -> Vec<ProviderDiagnostic> {
        let ready = match self.ready().await {
            Ok(it) => it,
            Err(problems) => return problems,
        };
        let request = msg::provision_resource::Request {
            config: encode(config, ready.ty),
            connection: encode(connection, Type::map(Type::STRING)),
        };
        let (output, mut pieces) = mpsc::unbounded_channel();
        let call = ready.process.call("ProvisionResource", |client| run(client, request, output));
        let hear = async {
            while let Some(piece) = pieces.recv().await {
                tell(&piece);
            }
        };
        let work = async { tokio::join!(call, hear).0 };
        let mut work = std::pin::pin!(work);
        let answer = tokio::select! {
            answer = &mut work => answer,
            () = stop.wait_for(1) => {
                let asked = ready.process.call("Stop", |mut client: Client| async move {
                    client.stop(msg::stop_provider::Request {}).await.map(|_| ())
                });
                // The call that it ends says what came of it.
                tokio::join!(work, asked).0
            }
        };
        answer.unwrap_or_else(|problem| vec![problem])
    }

    async fn ready(&self) -> Result<&Ready, Vec<ProviderDiagnostic>> {
        self.ready.get_or_init(|| self.start()).await.as_ref().map_err(Clone::clone)
    }

    async fn start(&self) -> Result<Ready, Vec<ProviderDiagnostic>> {
        let process = self.process().await.map_err(|why| vec![self.no_schema(&why)])?;
        let ask = |mut client: Client| async move {
            let request = msg::get_provisioner_schema::Request {};
            client.get_schema(request).await.map(|it| it.into_inner())
        };
        let answer = process.call("GetProvisionerSchema", ask).await;
        let answer = answer.map_err(|it| vec![self.no_schema(&it.detail.into())])?;
        let found = diagnostics(answer.diagnostics);
        if found.iter().any(|it| it.severity == Severity::Error) {
            return Err(found);
        }
        let schema = schema::provisioner(&answer.provisioner).map_err(|why| {
            let why = format!("its schema breaks the protocol: {why}");
            vec![self.no_schema(&why.into())]
        })?;
        let ty = schema.ty();
        Ok(Ready { process, schema, ty })
    }

    /// Starts the process, on the thread of plugins.
    async fn process(&self) -> Result<Arc<Process<Client>>, Error> {
        let (name, executable) = (self.name.clone(), self.executable.clone());
        let world = self.world.clone();
        let started = runtime::handle()?.spawn(async move {
            let start = Start {
                executable: &executable,
                opened: None,
                kind: PluginKind::Provisioner,
                name: &name,
            };
            let client = |_, channel| {
                Client::new(channel)
                    .max_decoding_message_size(LARGEST)
                    .max_encoding_message_size(LARGEST)
            };
            Process::start_file(&start, &world, client).await.map(Arc::new)
        });
        let shown = self.executable.strip_prefix(&self.world.root).unwrap_or(&self.executable);
        let named = |why: Error| Error::from(format!("{} {why}", shown.display()));
        started.await.map_err(Error::of)?.map_err(named)
    }

    fn no_schema(&self, why: &Error) -> ProviderDiagnostic {
        let why = why.to_string();
        let why = why.trim_end_matches('.');
        let detail = format!("Could not load the schema for provisioner {:?}: {why}.", self.name);
        ProviderDiagnostic::error(NO_SCHEMA, detail)
    }
}

/// Follows the answer to its end: sends on its output and collects its diagnostics. A run that is abandoned ends the call, so
/// that the process can end.
async fn run(
    mut client: Client,
    request: msg::provision_resource::Request,
    output: mpsc::UnboundedSender<String>,
) -> Result<Vec<ProviderDiagnostic>, tonic::Status> {
    let mut answer = client.provision_resource(request).await?.into_inner();
    let mut found = Vec::new();
    loop {
        let part = tokio::select! {
            part = answer.message() => part?,
            () = output.closed() => None,
        };
        let Some(part) = part else { return Ok(found) };
        if !part.output.is_empty() || part.diagnostics.is_empty() {
            // The receiver is gone only if the run is abandoned.
            let _ = output.send(part.output);
        }
        found.extend(diagnostics(part.diagnostics));
    }
}

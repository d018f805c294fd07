//! A provisioner that runs a command of the shell, as `local-exec` does: for tests of the way to provisioner plugins.
//!
//! Its `command` finds each string of the connection in a variable `CONNECTION_NAME`. A command that is `refused` is
//! invalid, and one that begins with `warn` ends with a warning.

use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;

use futures_util::Stream;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::{mpsc, watch};
use tonic::{Request, Response, Status};

use super::schema::written;
use crate::error::Error;
use crate::provider::ProviderDiagnostic;
use crate::provider::plugin::values::{decode, written_diagnostics};
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::provider::plugin::wire::tfplugin5::provisioner_server::Provisioner;
use crate::schema::{AttributeSchema, BlockSchema, Schema};
use crate::value::{PathStep, Type, Value};

/// The provisioner, and whether it was asked to stop.
pub(super) struct Shell(Arc<watch::Sender<bool>>);

impl Default for Shell {
    fn default() -> Shell {
        Shell(Arc::new(watch::Sender::new(false)))
    }
}

type Parts = mpsc::UnboundedSender<Result<msg::provision_resource::Response, Status>>;

fn block() -> BlockSchema {
    let command = AttributeSchema { required: true, ..AttributeSchema::of(Type::STRING) };
    let environment =
        AttributeSchema { optional: true, ..AttributeSchema::of(Type::map(Type::STRING)) };
    let attributes =
        [("command".into(), command), ("environment".into(), environment)].into_iter().collect();
    BlockSchema { attributes, ..BlockSchema::default() }
}

fn value(it: Option<msg::DynamicValue>, ty: Type) -> Result<Value, Status> {
    decode(it, ty).map_err(|error| Status::invalid_argument(error.to_string()))
}

fn text(it: Option<&Value>) -> String {
    it.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn output(text: &str) -> msg::provision_resource::Response {
    msg::provision_resource::Response { output: text.to_owned(), diagnostics: Vec::new() }
}

fn problem(it: &ProviderDiagnostic) -> msg::provision_resource::Response {
    let diagnostics = written_diagnostics(std::slice::from_ref(it));
    msg::provision_resource::Response { output: String::new(), diagnostics }
}

#[tonic::async_trait]
impl Provisioner for Shell {
    async fn get_schema(
        &self,
        _: Request<msg::get_provisioner_schema::Request>,
    ) -> Result<Response<msg::get_provisioner_schema::Response>, Status> {
        let schema = Schema { version: 0, block: block(), identity: None };
        let provisioner = written(&schema, 5);
        let diagnostics = Vec::new();
        Ok(Response::new(msg::get_provisioner_schema::Response { provisioner, diagnostics }))
    }

    async fn validate_provisioner_config(
        &self,
        request: Request<msg::validate_provisioner_config::Request>,
    ) -> Result<Response<msg::validate_provisioner_config::Response>, Status> {
        let config = value(request.into_inner().config, block().ty())?;
        let is_refused = text(config.get("command")) == "refused";
        let refused = ProviderDiagnostic::error("Invalid command", "The command is refused.");
        let refused = refused.at(vec![PathStep::attribute("command")]);
        let found = if is_refused { vec![refused] } else { Vec::new() };
        let diagnostics = written_diagnostics(&found);
        Ok(Response::new(msg::validate_provisioner_config::Response { diagnostics }))
    }

    type ProvisionResourceStream = Pin<
        Box<dyn Stream<Item = Result<msg::provision_resource::Response, Status>> + Send + 'static>,
    >;

    async fn provision_resource(
        &self,
        request: Request<msg::provision_resource::Request>,
    ) -> Result<Response<Self::ProvisionResourceStream>, Status> {
        let request = request.into_inner();
        let config = value(request.config, block().ty())?;
        let connection = value(request.connection, Type::map(Type::STRING))?;
        let command = text(config.get("command"));
        let mut process = Command::new("/bin/sh");
        // Both outputs in one.
        process.arg("-c").arg(format!("exec 2>&1\n{command}"));
        let environment = config.get("environment").map(Value::entries).unwrap_or_default();
        for (name, value) in environment {
            process.env(name.to_string(), text(Some(value)));
        }
        for (name, value) in connection.entries() {
            process.env(format!("CONNECTION_{name}"), text(Some(value)));
        }
        process.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let (parts, receiver) = mpsc::unbounded_channel();
        let stopped = self.0.subscribe();
        tokio::spawn(async move {
            let ended = run(process, &parts, stopped).await;
            let end = match ended {
                Ok(()) if command.starts_with("warn") => {
                    Some(ProviderDiagnostic::warning("Shell warning", "The command warns."))
                }
                Ok(()) => None,
                Err(why) => {
                    Some(ProviderDiagnostic::error("shell provisioner error", why.to_string()))
                }
            };
            if let Some(end) = end {
                // The client may be gone.
                let _ = parts.send(Ok(problem(&end)));
            }
        });
        let parts = futures_util::stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|it| (it, receiver))
        });
        Ok(Response::new(Box::pin(parts)))
    }

    async fn stop(
        &self,
        _: Request<msg::stop_provider::Request>,
    ) -> Result<Response<msg::stop_provider::Response>, Status> {
        self.0.send_replace(true);
        Ok(Response::new(msg::stop_provider::Response::default()))
    }
}

/// Runs a command to its end, or until it is to stop, and sends its output on line by line.
async fn run(
    mut process: Command,
    parts: &Parts,
    mut stopped: watch::Receiver<bool>,
) -> Result<(), Error> {
    let mut child = process.spawn()?;
    let Some(stdout) = child.stdout.take() else { return Err("it has no output".into()) };
    let mut lines = BufReader::new(stdout).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => match line {
                Ok(Some(line)) => _ = parts.send(Ok(output(&line))),
                _ => break,
            },
            // The sender lives as long as the plugin.
            _ = stopped.wait_for(|it| *it) => return Err("stopped on request".into()),
        }
    }
    let status = child.wait().await?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

//! Programs that give out credentials for a cluster: `exec`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::error::Error;
use crate::world::{Stop, subprocess};

/// A program that gives out credentials.
pub(super) struct Program {
    /// The version of the answer that is expected.
    pub version: String,
    pub command: String,
    pub arguments: Vec<String>,
    /// What is set beside the environment of this process.
    pub variables: BTreeMap<String, String>,
}

/// What it has given.
pub(super) struct Given {
    pub token: Option<String>,
    pub identity: Option<(String, String)>,
}

impl Program {
    /// Asks the program. Neither what it prints nor its arguments are told, since they may hold secrets.
    pub async fn ask(&self, stop: &Stop) -> Result<Given, Error> {
        let command = &self.command;
        let question = json!({
            "apiVersion": self.version, "kind": "ExecCredential", "spec": {"interactive": false},
        });
        let mut asked = tokio::process::Command::new(command);
        asked
            .args(&self.arguments)
            .envs(&self.variables)
            .env("KUBERNETES_EXEC_INFO", question.to_string());
        let finished = subprocess::run(&mut asked, None, stop).await;
        let finished = finished.map_err(|why| {
            why.context(format_args!("failed to run {command:?} for credentials"))
        })?;
        if !finished.status.success() {
            let secrets: Vec<&str> = self.variables.values().map(String::as_str).collect();
            let said = subprocess::printable(&finished.errors, &secrets);
            return Err(format!("{command:?} gives no credentials: {said}").into());
        }
        let malformed = format!(
            "{command:?} gives no credentials: it prints no ExecCredential with a token or a certificate"
        );
        let answer: Json =
            serde_json::from_slice(&finished.output).map_err(|_| malformed.clone())?;
        let text = |name: &str| answer["status"][name].as_str().map(str::to_owned);
        let identity = text("clientCertificateData").zip(text("clientKeyData"));
        let given = Given { token: text("token"), identity };
        if given.token.is_none() && given.identity.is_none() {
            return Err(malformed.into());
        }
        Ok(given)
    }
}

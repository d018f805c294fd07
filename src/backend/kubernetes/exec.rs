//! Programs that give out credentials for a cluster: `exec`.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value as Json, json};

use crate::error::Error;
use crate::world::secrets::Secrets;
use crate::world::{World, subprocess};

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
    /// Asks the program. Errors show neither its output nor its arguments, since both may hold secrets.
    ///
    /// - `secrets`: the secrets that the program may repeat on its standard error, beside its own variables.
    pub async fn ask(&self, world: &World, secrets: Secrets) -> Result<Given, Error> {
        let command = &self.command;
        let question = json!({
            "apiVersion": self.version, "kind": "ExecCredential", "spec": {"interactive": false},
        });
        let mut asked = tokio::process::Command::new(command);
        asked
            .args(&self.arguments)
            .envs(&self.variables)
            .env("KUBERNETES_EXEC_INFO", question.to_string());
        let finished = subprocess::run(&mut asked, None, &world.stop).await;
        let finished = finished.map_err(|why| {
            why.context(format_args!("failed to run {command:?} for credentials"))
        })?;
        if !finished.status.success() {
            let secrets = secrets.with(self.variables.values().map(String::as_str));
            let said = subprocess::printable(&finished.errors, &secrets);
            let status = finished.status;
            let why = match said.as_str() {
                "" => format!("it ended without a message ({status})"),
                said => said.to_owned(),
            };
            return Err(format!("{command:?} gives no credentials: {why}").into());
        }
        self.read(&finished.output, world.now())
            .map_err(|why| why.context(format_args!("{command:?} gives no credentials")))
    }

    /// Reads the answer of the program, which must be valid at this time. Errors show no part of it.
    fn read(&self, output: &[u8], now: DateTime<Utc>) -> Result<Given, Error> {
        let answer: Json = serde_json::from_slice(output)
            .map_err(|_| "it prints no ExecCredential with a token or a certificate")?;
        let version = &self.version;
        if answer["kind"] != "ExecCredential" {
            return Err("its answer is not of the kind ExecCredential".into());
        }
        if !version.is_empty() && answer["apiVersion"] != version.as_str() {
            return Err(format!(
                "its answer has another apiVersion than {version:?}, which is configured for it"
            )
            .into());
        }
        let status = &answer["status"];
        let text = |name: &str| {
            status[name].as_str().filter(|it| !it.trim().is_empty()).map(str::to_owned)
        };
        if let Some(until) = text("expirationTimestamp") {
            let until = DateTime::parse_from_rfc3339(&until)
                .map_err(|_| "its answer has an expirationTimestamp that is not a time")?;
            if until <= now {
                return Err("its credentials have expired: log in to the program again".into());
            }
        }
        let identity = text("clientCertificateData").zip(text("clientKeyData"));
        let given = Given { token: text("token"), identity };
        if given.token.is_none() && given.identity.is_none() {
            return Err("its answer has neither a token nor a certificate with its key".into());
        }
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::store::wait_for;

    const V1: &str = "client.authentication.k8s.io/v1";

    /// Reads an answer at noon, and returns the token or the error.
    #[track_caller]
    fn check(kind: &str, version: &str, status: &str, expected: &str) {
        let program = Program {
            version: V1.into(),
            command: "program".into(),
            arguments: Vec::new(),
            variables: BTreeMap::new(),
        };
        let output =
            format!(r#"{{"kind": "{kind}", "apiVersion": "{version}", "status": {status}}}"#);
        let noon = "2026-11-30T12:00:00Z".parse().expect("a time");
        let told = match program.read(output.as_bytes(), noon) {
            Ok(given) => given.token.unwrap_or_default(),
            Err(why) => why.to_string(),
        };
        assert_eq!(told, expected, "{output}");
    }

    #[test]
    fn a_program_that_fails_without_a_message_has_a_status() {
        let program = Program {
            version: V1.into(),
            command: "sh".into(),
            arguments: vec!["-c".into(), "exit 3".into()],
            variables: BTreeMap::new(),
        };
        let world = World::of_this_process();
        let asked = wait_for(program.ask(&world, Secrets::default()));
        let told = asked.err().expect("it fails").to_string();
        let expected = "it ended without a message (exit status: 3)";
        assert_eq!(told, format!("\"sh\" gives no credentials: {expected}"));
    }

    #[test]
    fn an_answer_has_credentials_that_are_valid_now() {
        let kind = "ExecCredential";
        check(kind, V1, r#"{"token": "t"}"#, "t");
        let until = |time: &str| format!(r#"{{"token": "t", "expirationTimestamp": "{time}"}}"#);
        check(kind, V1, &until("2026-11-30T12:00:01Z"), "t");
        let expired = "its credentials have expired: log in to the program again";
        check(kind, V1, &until("2026-11-30T12:59:59+01:00"), expired);
        let strange = "its answer has an expirationTimestamp that is not a time";
        check(kind, V1, &until("soon"), strange);
        let neither = "its answer has neither a token nor a certificate with its key";
        check(kind, V1, r#"{"token": ""}"#, neither);
        check(kind, V1, r#"{"clientCertificateData": "c"}"#, neither);
    }

    #[test]
    fn an_answer_is_of_the_kind_and_the_version_that_are_asked_for() {
        let token = r#"{"token": "t"}"#;
        let kind = "its answer is not of the kind ExecCredential";
        check("TokenReview", V1, token, kind);
        let version = "its answer has another apiVersion than \"client.authentication.k8s.io/v1\", which is configured for it";
        check("ExecCredential", "client.authentication.k8s.io/v1beta1", token, version);
    }
}

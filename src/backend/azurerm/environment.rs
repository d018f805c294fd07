//! The clouds of Azure: where storage, identities and the resource manager are.

use std::time::Duration;

use reqwest::Client;
use serde_json::Value as Json;

use crate::backend::cloud::Trouble;
use crate::backend::opening::Opening;
use crate::backend::web::onward::describe;
use crate::diagnostic::Diagnostic;

/// A cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// What the hosts of storage accounts end with.
    pub suffix: String,
    /// Who gives tokens, without a slash at its end.
    pub login: String,
    /// The resource manager, without a slash at its end.
    pub manager: String,
    /// Whom tokens for the resource manager are for, with a slash at its end.
    pub audience: String,
}

/// A cloud, as the configuration names it.
pub enum Cloud {
    /// One that is known.
    Known(Environment),
    /// The host that tells.
    Asked(String),
}

impl Cloud {
    /// Reads which cloud it is.
    ///
    /// # Errors
    ///
    /// If there is no such cloud, or two are named.
    pub fn read(it: &Opening) -> Result<Cloud, Diagnostic> {
        let (host, name) = (it.text("metadata_host"), it.text("environment"));
        match (host, name.as_deref()) {
            (Some(_), Some(_)) => {
                let why = "\"environment\" is set too, and only one of the two can be";
                Err(it.invalid("metadata_host", why))
            }
            (Some(host), None) => Ok(Cloud::Asked(host)),
            (None, name) => {
                let name = name.unwrap_or_default();
                Environment::named(name).map(Cloud::Known).ok_or_else(|| {
                    let why = format!(
                        "there is no cloud {name:?}; the clouds are \"public\", \"usgovernment\" and \"china\""
                    );
                    it.invalid("environment", &why)
                })
            }
        }
    }

    /// Returns what is known of it, and asks where nothing is.
    ///
    /// # Errors
    ///
    /// If nobody tells.
    pub async fn environment(&self, client: &Client) -> Result<Environment, Trouble> {
        match self {
            Cloud::Known(it) => Ok(it.clone()),
            Cloud::Asked(host) => Environment::asked(client, host).await,
        }
    }
}

impl Environment {
    fn of(suffix: &str, login: &str, manager: &str) -> Environment {
        Environment {
            suffix: suffix.to_owned(),
            login: format!("https://{login}"),
            manager: format!("https://{manager}"),
            audience: format!("https://{manager}/"),
        }
    }

    /// Returns a cloud that is known by its name.
    pub fn named(name: &str) -> Option<Environment> {
        match name.to_ascii_lowercase().as_str() {
            "" | "public" | "global" | "canary" => Some(Environment::of(
                "core.windows.net",
                "login.microsoftonline.com",
                "management.azure.com",
            )),
            "usgovernment" | "usgovernmentl4" | "dod" | "usgovernmentl5" => Some(Environment::of(
                "core.usgovcloudapi.net",
                "login.microsoftonline.us",
                "management.usgovcloudapi.net",
            )),
            "china" => Some(Environment::of(
                "core.chinacloudapi.cn",
                "login.chinacloudapi.cn",
                "management.chinacloudapi.cn",
            )),
            _ => None,
        }
    }

    /// Asks a host for the cloud that it belongs to.
    ///
    /// # Errors
    ///
    /// If it does not tell.
    pub async fn asked(client: &Client, host: &str) -> Result<Environment, Trouble> {
        let wrong = |why: String| {
            let text = format!(
                "the metadata host {host:?} does not say where the services of its cloud are: {why}. Check \"metadata_host\""
            );
            Trouble::Unsent(text, false)
        };
        let url = format!("https://{host}/metadata/endpoints?api-version=2023-11-01");
        let asked = client.get(url).timeout(Duration::from_secs(30)).send().await;
        let answer = asked.map_err(|it| wrong(describe(it).to_string()))?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(|it| wrong(describe(it).to_string()))?;
        if !status.is_success() {
            return Err(wrong(format!("status {}", status.as_u16())));
        }
        let json: Json = serde_json::from_slice(&body)
            .map_err(|_| wrong("its answer is not JSON; something else listens there".into()))?;
        let text = |it: &Json| it.as_str().map(|it| it.trim_end_matches('/').to_owned());
        let found =
            (text(&json["suffixes"]["storage"]), text(&json["authentication"]["audiences"][0]));
        let (Some(suffix), Some(audience)) = found else {
            return Err(wrong("its answer names no storage or no audience".into()));
        };
        // Without it the secret would go to the public cloud.
        let Some(login) = text(&json["authentication"]["loginEndpoint"]) else {
            return Err(wrong("its answer names no login address".into()));
        };
        let addresses = [&json["authentication"]["loginEndpoint"], &json["resourceManager"]];
        let is_open = |it: &&Json| it.as_str().is_some_and(|it| !it.starts_with("https://"));
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-');
        if addresses.iter().any(is_open) || !suffix.chars().all(is_plain) {
            return Err(wrong(
                "its answer names an address without https, or a suffix that is not a host name"
                    .into(),
            ));
        }
        Ok(Environment {
            suffix,
            login,
            manager: text(&json["resourceManager"]).unwrap_or_default(),
            audience: format!("{audience}/"),
        })
    }
}

//! As whom Azure is asked, where neither a key nor a SAS token is set.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use reqsign_azure_storage::{
    AzureCliCredentialProvider, AzurePipelinesCredentialProvider,
    ClientCertificateCredentialProvider, ClientSecretCredentialProvider, Credential,
    ImdsCredentialProvider, RequestSigner, WorkloadIdentityCredentialProvider,
};
use reqsign_core::{
    CommandExecute, CommandOutput, Context, Error, HttpSend, ProvideCredential, Result, Signer,
};
use reqwest::Client;
use serde_json::Value as Json;

use super::environment::Environment;
use crate::backend::cloud::context;
use crate::world::World;

/// What the configuration says of an identity.
#[derive(Clone)]
pub enum Identity {
    /// A service principal with a certificate, PEM, with its key and that key's password.
    Certificate { client: String, pem: String },
    /// A service principal with a secret.
    Secret { client: String, secret: String },
    /// A service connection of Azure Pipelines.
    Pipelines { client: String, connection: String, token: String },
    /// A token that proves who asks.
    Token { client: String, token: Proof },
    /// The identity of the machine.
    Machine { client: Option<String>, endpoint: Option<String> },
    /// The identity of a workload in Kubernetes, from the environment.
    Workload,
    /// Whoever is logged in with `az`.
    Cli { subscription: Option<String> },
}

/// Where a token is that proves who asks.
#[derive(Clone)]
pub enum Proof {
    /// It stands in the configuration.
    Text(String),
    /// It stands in a file, which is read anew each time.
    File(String),
    /// It is asked for, as in the actions of GitHub: the address, and what is shown there.
    Asked(String, String),
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Identity::Certificate { .. } => "Certificate",
            Identity::Secret { .. } => "Secret",
            Identity::Pipelines { .. } => "Pipelines",
            Identity::Token { .. } => "Token",
            Identity::Machine { .. } => "Machine",
            Identity::Workload => "Workload",
            Identity::Cli { .. } => "Cli",
        })
    }
}

/// Finds tokens of an identity.
#[derive(Clone, Debug)]
pub struct Finder {
    /// The identity.
    pub identity: Arc<Identity>,
    /// Its directory.
    pub tenant: Option<String>,
    /// The cloud.
    pub environment: Environment,
}

/// The name that a certificate from the configuration is read under.
const CERTIFICATE: &str = "the certificate";

/// Whom the crate asks tokens for, and where.
const STORAGE: &str = "https://storage.azure.com/";
const LOGIN: &str = "https://login.microsoftonline.com";

impl ProvideCredential for Finder {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> Result<Option<Credential>> {
        let (tenant, login) =
            (self.tenant.as_deref().unwrap_or_default(), &*self.environment.login);
        let found = match &*self.identity {
            Identity::Certificate { client, .. } => {
                let certificate = ClientCertificateCredentialProvider::new()
                    .with_tenant_id(tenant)
                    .with_client_id(client)
                    .with_certificate_path(CERTIFICATE);
                certificate.provide_credential(context).await?
            }
            Identity::Secret { client, secret } => {
                let secret = ClientSecretCredentialProvider::new()
                    .with_tenant_id(tenant)
                    .with_client_id(client)
                    .with_client_secret(secret)
                    .with_authority_host(login);
                secret.provide_credential(context).await?
            }
            Identity::Pipelines { client, connection, .. } => {
                let pipelines = AzurePipelinesCredentialProvider::new()
                    .with_tenant_id(tenant)
                    .with_client_id(client)
                    .with_service_connection_id(connection);
                pipelines.provide_credential(context).await?
            }
            Identity::Token { client, token } => {
                let workload = WorkloadIdentityCredentialProvider::new()
                    .with_tenant_id(tenant)
                    .with_client_id(client)
                    .with_authority_host(login);
                let workload = match token {
                    Proof::Text(text) => workload.with_subject_token(text),
                    Proof::File(path) => workload.with_federated_token_file(path),
                    Proof::Asked(url, shown) => {
                        workload.with_subject_token(self.proof(context, url, shown).await?)
                    }
                };
                workload.provide_credential(context).await?
            }
            Identity::Machine { endpoint, .. } => {
                let machine = ImdsCredentialProvider::new();
                let machine = match endpoint {
                    Some(endpoint) => machine.with_endpoint(endpoint),
                    None => machine,
                };
                machine.provide_credential(context).await?
            }
            Identity::Workload => {
                WorkloadIdentityCredentialProvider::new().provide_credential(context).await?
            }
            Identity::Cli { .. } => {
                AzureCliCredentialProvider::new().provide_credential(context).await?
            }
        };
        let none = || {
            let text = "the identity gives no token: check what it is made of, in the configuration and in the environment";
            Error::credential_invalid(text)
        };
        found.map(Some).ok_or_else(none)
    }
}

impl Finder {
    /// Asks for the token that proves who asks.
    async fn proof(&self, context: &Context, url: &str, shown: &str) -> Result<String> {
        let wrong = |why: &str| {
            Error::credential_invalid(format!("no OIDC token from \"oidc_request_url\": {why}"))
        };
        let mut url = reqwest::Url::parse(url).map_err(|_| wrong("it is no address"))?;
        if !url.query_pairs().any(|(name, _)| name == "audience") {
            let audience = match &*self.environment.login {
                "https://login.chinacloudapi.cn" => "api://AzureADTokenExchangeChina",
                "https://login.microsoftonline.us" => "api://AzureADTokenExchangeUSGov",
                _ => "api://AzureADTokenExchange",
            };
            url.query_pairs_mut().append_pair("audience", audience);
        }
        let request = http::Request::get(url.as_str())
            .header("authorization", format!("Bearer {shown}"))
            .header("accept", "application/json; api-version=2.0")
            .header("content-type", "application/json")
            .body(Bytes::new())
            .map_err(|_| wrong("\"oidc_request_token\" is none"))?;
        let answer = context.http_send(request).await?;
        if !answer.status().is_success() {
            return Err(wrong(&format!("status {}", answer.status().as_u16())));
        }
        let json: Json = serde_json::from_slice(answer.body()).unwrap_or_default();
        json["value"].as_str().map(str::to_owned).ok_or_else(|| wrong("the answer holds none"))
    }

    /// Returns who signs requests.
    ///
    /// - `audience`: whom the tokens are for, where that is not storage.
    pub fn signer(
        self,
        world: &Arc<World>,
        client: &Client,
        audience: Option<&str>,
    ) -> Signer<Credential> {
        let seen = self.seen(world, client, audience);
        Signer::new(seen, self, RequestSigner::new())
    }

    /// Returns what credentials see of the world when they ask for tokens.
    ///
    /// - `audience`: whom the tokens are for, where that is not storage.
    pub fn seen(&self, world: &Arc<World>, client: &Client, audience: Option<&str>) -> Context {
        let seen = context::context(world, client, self.variables());
        self.context(context::with_files(seen, world, self.files()), audience)
    }

    /// Returns what credentials see of the world when they ask for tokens.
    ///
    /// - `audience`: whom the tokens are for, where that is not storage.
    fn context(&self, seen: Context, audience: Option<&str>) -> Context {
        let options = match &*self.identity {
            Identity::Cli { subscription } => {
                let tenant = self.tenant.iter().flat_map(|it| ["--tenant".to_owned(), it.clone()]);
                let subscription =
                    subscription.iter().flat_map(|it| ["--subscription".to_owned(), it.clone()]);
                // The program takes one of the two.
                if subscription.clone().next().is_some() {
                    subscription.collect()
                } else {
                    tenant.collect()
                }
            }
            _ => Vec::new(),
        };
        let elsewhere = Arc::new(Elsewhere {
            seen: seen.clone(),
            audience: audience.unwrap_or(STORAGE).to_owned(),
            login: self.environment.login.clone(),
            options,
        });
        seen.with_http_send(Sender(elsewhere.clone())).with_command_execute(Programs(elsewhere))
    }

    /// Returns the variables that the crate reads, set as the configuration has it.
    fn variables(&self) -> BTreeMap<String, String> {
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match &*self.identity {
            Identity::Machine { client: Some(client), .. } => {
                [set("AZURE_CLIENT_ID", client)].into()
            }
            Identity::Pipelines { token, .. } => [set("SYSTEM_ACCESSTOKEN", token)].into(),
            _ => BTreeMap::new(),
        }
    }

    /// Returns the files that are read from the configuration.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        match &*self.identity {
            Identity::Certificate { pem, .. } => {
                [(CERTIFICATE.to_owned(), pem.clone().into_bytes())].into()
            }
            _ => BTreeMap::new(),
        }
    }
}

/// Has tokens made for others than storage, and in other clouds: the crate knows only one of each, and its questions differ in
/// nothing else.
#[derive(Debug)]
struct Elsewhere {
    seen: Context,
    audience: String,
    login: String,
    options: Vec<String>,
}

impl Elsewhere {
    fn rewrite(&self, text: &str) -> String {
        let escaped = |it: &str| it.replace(':', "%3A").replace('/', "%2F");
        text.replace(LOGIN, &self.login)
            .replace(&escaped(STORAGE), &escaped(&self.audience))
            .replace(STORAGE, &self.audience)
    }
}

#[derive(Debug)]
struct Sender(Arc<Elsewhere>);

impl HttpSend for Sender {
    async fn http_send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>> {
        let (mut parts, body) = request.into_parts();
        parts.uri = self.0.rewrite(&parts.uri.to_string()).parse()?;
        // Only forms are rewritten; what is no text is none.
        let body = match std::str::from_utf8(&body) {
            Ok(text) => Bytes::from(self.0.rewrite(text)),
            Err(_) => body,
        };
        parts.headers.remove(http::header::CONTENT_LENGTH);
        self.0.seen.http_send(http::Request::from_parts(parts, body)).await
    }
}

#[derive(Debug)]
struct Programs(Arc<Elsewhere>);

impl CommandExecute for Programs {
    async fn command_execute<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [&'a str],
    ) -> Result<CommandOutput> {
        let rewritten: Vec<String> = arguments.iter().map(|it| self.0.rewrite(it)).collect();
        let all: Vec<&str> = rewritten.iter().chain(&self.0.options).map(String::as_str).collect();
        let run = self.0.seen.command_execute(program, &all).await;
        run.map_err(|it| {
            Error::credential_invalid(format!(
                "{it} (\"use_cli\" is on, and no other way to log in is configured)"
            ))
        })
    }
}

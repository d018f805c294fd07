//! Requests to registries, mirrors and hosts of archives: time limits, repetitions, credentials.
//!
//! No text that leaves this file holds a token or the query of an address.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub(crate) use reqwest::Url;
use reqwest::header::AUTHORIZATION;
use reqwest::{Client, RequestBuilder, Response};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::sync::Mutex;

use super::discovery::Services;
#[cfg(feature = "oci")]
use super::login;
use super::settings::Token;
use super::{Settings, helper};
use crate::backend::web::{Reach, Trust, client, client_with_token, execute, next_part};
use crate::config::version::OPENTOFU_VERSION;
use crate::error::{Error, ErrorContext};
use crate::world::World;
use crate::world::secrets::Secrets;

/// How large an answer about packages may be.
const LARGEST_ANSWER: u64 = 64 << 20;

/// The most bytes of a download whose length nothing states.
pub(super) const LARGEST_DOWNLOAD: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };

/// An archive elsewhere.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its address.
    pub url: Url,
    /// How often to try again.
    pub retries: u32,
    /// What opens it, where it is not open to all.
    pub token: Option<Token>,
    /// Its length in bytes, if a manifest states it.
    pub size: Option<u64>,
}

/// The way to other hosts.
pub struct Web {
    client: OnceLock<Result<Client, Error>>,
    pub(super) settings: Settings,
    pub(super) world: World,
    pub(super) hosts: Mutex<BTreeMap<String, Result<Services, Error>>>,
    /// What the helper answered, by host.
    helped: Mutex<BTreeMap<String, Result<Option<Token>, Error>>>,
}

/// What a host answers.
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The address after redirections.
    pub url: Url,
    /// The media type, without parameters.
    pub kind: String,
    /// `WWW-Authenticate`: what the host wants to see first.
    pub challenge: Option<String>,
    /// `X-Terraform-Get`: where a module's package is.
    pub package: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// What is asked for.
#[derive(Clone, Copy)]
struct Request<'w> {
    url: &'w Url,
    token: Option<&'w Token>,
    /// The media type that the answer must have.
    kind: Option<&'w str>,
    timeout: Option<Duration>,
}

impl HttpResponse {
    /// Returns the status as text: `404 Not Found`.
    pub fn status_text(&self) -> String {
        reqwest::StatusCode::from_u16(self.status)
            .map_or(self.status.to_string(), |it| it.to_string())
    }

    /// Reads the body as JSON.
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).context("the answer is not as expected")
    }
}

impl Web {
    /// Returns the way that the CLI configuration and the environment describe. Nothing is opened yet.
    pub fn new(settings: &Settings, world: &World) -> Web {
        Web {
            client: OnceLock::new(),
            settings: settings.clone(),
            world: world.clone(),
            hosts: Mutex::default(),
            helped: Mutex::default(),
        }
    }

    fn client(&self) -> Result<&Client, Error> {
        self.client
            .get_or_init(|| client(&self.world, &Trust::default()))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Returns the token for a host, where there is one: the user's settings know it, or the helper that they name, which
    /// is asked once. Where another origin has said which services the host has, the token is for the host's own origin alone.
    ///
    /// # Errors
    ///
    /// What the helper says is wrong.
    pub async fn token(&self, host: &str) -> Result<Option<Token>, Error> {
        let Some(token) = self.kept_token(host).await? else { return Ok(None) };
        let hosts = self.hosts.lock().await;
        Ok(Some(match hosts.get(host) {
            Some(Ok(services)) => services.admitted(token),
            _ => token,
        }))
    }

    /// Returns the token that is kept for a host, for its service discovery.
    ///
    /// # Errors
    ///
    /// As for [`Web::token`].
    pub(super) async fn kept_token(&self, host: &str) -> Result<Option<Token>, Error> {
        if let Some(known) = self.settings.token(&self.world, host) {
            return Ok(Some(known));
        }
        let Some((name, arguments)) = self.settings.helpers.first_key_value() else {
            return Ok(None);
        };
        let mut helped = self.helped.lock().await;
        if let Some(known) = helped.get(host) {
            return known.clone();
        }
        let answer = match helper::find(&self.world, name) {
            Some(program) => {
                let secrets = Secrets::of_environment(&self.world);
                let helper = helper::Helper { program, arguments: arguments.clone(), secrets };
                helper.ask(host, &self.world.stop).await
            }
            None => Ok(None),
        };
        let answer = answer.context(format_args!("failed to retrieve credentials for {host}"));
        helped.insert(host.to_owned(), answer.clone());
        answer
    }

    /// Returns what opens a repository of container images, where the user's settings or other tools know.
    ///
    /// # Errors
    ///
    /// What is wrong with what the settings name.
    #[cfg(feature = "oci")]
    pub(super) async fn login(
        &self,
        host: &str,
        name: &str,
    ) -> Result<Option<login::Shown>, Error> {
        login::find(&self.settings.logins, &self.world, host, name).await
    }

    /// Returns whether an environment variable says `true`.
    pub fn demands(&self, variable: &str) -> bool {
        self.world.variable(variable) == Some("true")
    }

    /// Returns the time that decides what is expired.
    pub fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.world.now()
    }

    /// How often a download is tried again, where the CLI configuration does not say.
    pub fn download_retries(&self) -> u32 {
        let set = self.world.variable("TF_PROVIDER_DOWNLOAD_RETRY");
        set.and_then(|it| it.parse().ok()).filter(|it| *it > 0).unwrap_or(2)
    }

    /// Asks for something small. Statuses are for the caller to judge.
    pub async fn get(&self, url: &Url, token: Option<&Token>) -> Result<HttpResponse, Error> {
        self.ask(self.request(url, token), self.settings.request_retries()).await
    }

    /// As [`Web::get`], without repetitions.
    pub async fn get_once(&self, url: &Url, token: Option<&Token>) -> Result<HttpResponse, Error> {
        self.ask(self.request(url, token), 0).await
    }

    /// As [`Web::get`], for an answer of one media type.
    pub async fn get_as(
        &self,
        url: &Url,
        token: Option<&Token>,
        kind: &str,
    ) -> Result<HttpResponse, Error> {
        let request = Request { kind: Some(kind), ..self.request(url, token) };
        self.ask(request, self.settings.request_retries()).await
    }

    fn request<'w>(&self, url: &'w Url, token: Option<&'w Token>) -> Request<'w> {
        Request { url, token, kind: None, timeout: Some(self.settings.request_timeout()) }
    }

    async fn ask(&self, request: Request<'_>, retries: u32) -> Result<HttpResponse, Error> {
        received(self.send(request, retries).await?).await
    }

    /// Sends a form once. What stands in it is for this origin alone.
    pub async fn post(&self, url: &Url, form: &[(&str, &str)]) -> Result<HttpResponse, Error> {
        let timeout = self.settings.request_timeout();
        let client = client_with_token(&self.world, &Trust::default(), timeout, None)?;
        let mut pairs = url.clone();
        pairs.query_pairs_mut().clear().extend_pairs(form);
        let request = client
            .post(url.clone())
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "application/json")
            .body(pairs.query().unwrap_or_default().to_owned());
        let response = execute(request, Reach::Origin).await;
        received(response.map_err(|it| it.why.context(host_of(url)))?).await
    }

    /// Loads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be loaded or written, has another size than a manifest or its server states, or has more than 1 GiB while
    /// neither states a size.
    pub async fn download(&self, remote: &Remote, into: &mut std::fs::File) -> Result<(), Error> {
        let Remote { url, retries, token, size } = remote;
        let request = Request { url, token: token.as_ref(), kind: None, timeout: None };
        let mut response = self.send(request, *retries).await?;
        if !response.status().is_success() {
            let status = response.status();
            return Err(format!("unsuccessful request to {}: {status}", shown(url)).into());
        }
        let (expected, mut count) = (response.content_length(), 0u64);
        let (host, since) = (host_of(url), Instant::now());
        while let Some(chunk) = next_part(&mut response, (since, count as usize))
            .await
            .map_err(|it| it.why.context(&host))?
        {
            count += chunk.len() as u64;
            if let Some(size) = size.filter(|it| count > *it) {
                return Err(format!(
                    "the archive has more than the {size} bytes that the manifest states"
                )
                .into());
            }
            if size.or(expected).is_none() && count > LARGEST_DOWNLOAD {
                return Err(format!(
                    "{host} sends more than {} MiB and does not state how much it sends",
                    LARGEST_DOWNLOAD >> 20
                )
                .into());
            }
            into.write_all(&chunk).context("the download cannot be written")?;
        }
        match expected {
            Some(expected) if count < expected => Err(format!(
                "incorrect response size: expected {expected} bytes, but got {count} bytes"
            )
            .into()),
            _ => match size.filter(|it| count < *it) {
                Some(size) => Err(format!(
                    "the archive has {count} bytes, but the manifest states {size} bytes"
                )
                .into()),
                None => Ok(()),
            },
        }
    }

    async fn send(&self, request: Request<'_>, retries: u32) -> Result<Response, Error> {
        let client = self.client()?;
        let url = request.url;
        let mut attempt = 0;
        loop {
            let why = match execute(request.prepare(client), Reach::Anywhere).await {
                Ok(response) if !is_transient(response.status().as_u16()) => return Ok(response),
                Ok(response) => format!("the server answered {}", response.status()).into(),
                Err(it) if it.is_final && !it.may_have_arrived => {
                    return Err(it.why.context(host_of(url)));
                }
                Err(it) => it.why.context(host_of(url)),
            };
            if attempt == retries {
                // In the words of Go's client, by which other programs know that it is worth another try.
                let (url, attempts) = (shown(url), retries + 1);
                return Err(
                    why.context(format_args!("GET {url} giving up after {attempts} attempt(s)"))
                );
            }
            tokio::time::sleep(pause(attempt)).await;
            attempt += 1;
        }
    }
}

impl Request<'_> {
    fn prepare(&self, client: &Client) -> RequestBuilder {
        let url = self.url.clone();
        let mut request = client.get(url).header("X-Terraform-Version", OPENTOFU_VERSION);
        if let Some(token) = self.token.filter(|it| it.withheld_from(self.url).is_none()) {
            request = request.header(AUTHORIZATION, token.authorization());
        }
        if let Some(kind) = self.kind {
            request = request.header("Accept", kind);
        }
        match self.timeout {
            Some(timeout) => request.timeout(timeout),
            None => request,
        }
    }
}

/// Loads a whole answer.
async fn received(mut response: Response) -> Result<HttpResponse, Error> {
    let header = |name: &str| response.headers().get(name).and_then(|it| it.to_str().ok());
    let kind = header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_lowercase();
    let challenge = header("www-authenticate").map(str::to_owned);
    let package = header("x-terraform-get").filter(|it| !it.is_empty()).map(str::to_owned);
    let (status, url) = (response.status().as_u16(), response.url().clone());
    let (since, mut body) = (Instant::now(), Vec::new());
    while let Some(chunk) =
        next_part(&mut response, (since, body.len())).await.map_err(|it| it.why)?
    {
        body.extend_from_slice(&chunk);
        if body.len() as u64 > LARGEST_ANSWER {
            return Err(format!("the answer of {} is too large", host_of(&url)).into());
        }
    }
    Ok(HttpResponse { status, url, kind, challenge, package, body })
}

fn is_transient(status: u16) -> bool {
    status == 429 || (status >= 500 && status != 501)
}

/// One second, two, four, at most thirty.
fn pause(attempt: u32) -> Duration {
    Duration::from_secs(1u64.checked_shl(attempt).unwrap_or(30).min(30))
}

/// The certificates that are trusted: of the file that `SSL_CERT_FILE` names, else the system's.
pub(crate) fn roots(world: &World) -> Result<Vec<CertificateDer<'static>>, Error> {
    let Some(file) = world.variable("SSL_CERT_FILE") else {
        return Ok(rustls_native_certs::load_native_certs().certs);
    };
    let failed = || format!("the certificates in {file} cannot be read");
    let text = crate::world::read_regular(file.as_ref()).context(failed())?;
    let certificates: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_slice_iter(&text).collect();
    let certificates = certificates.context(failed())?;
    if certificates.is_empty() {
        return Err(
            format!("{file}, which SSL_CERT_FILE names, holds no certificate in PEM").into()
        );
    }
    Ok(certificates)
}

fn host_of(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    }
}

/// Returns an address without what may be secret: user, password, query.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let is_open = url.set_username("").and_then(|()| url.set_password(None)).is_ok();
    url.set_query(None);
    url.set_fragment(None);
    if is_open { url.to_string() } else { host_of(&url) }
}

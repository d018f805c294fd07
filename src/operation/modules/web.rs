//! Requests to registries and hosts of packages.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use reqwest::{Client, Response, Url, redirect};
use tokio::runtime::Runtime;

use crate::config::version::OPENTOFU_VERSION;
use crate::world::World;

/// How large an answer may be that is no package.
const LARGEST_ANSWER: usize = 16 << 20;

/// The way to other hosts. Opened when something is first asked for.
pub(super) struct Web {
    world: Arc<World>,
    open: OnceLock<Result<(Runtime, Client), String>>,
    registries: Mutex<BTreeMap<String, String>>,
}

/// What a host answers.
pub(super) struct Answer {
    pub status: u16,
    /// The address after redirections.
    pub url: String,
    /// `X-Terraform-Get`: where the package is.
    pub package: Option<String>,
    pub body: Vec<u8>,
}

impl Web {
    /// Returns the way; `registries` are the addresses of module registries that are known, by host.
    pub fn new(world: Arc<World>, registries: BTreeMap<String, String>) -> Web {
        Web { world, open: OnceLock::new(), registries: Mutex::new(registries) }
    }

    fn open(&self) -> Result<&(Runtime, Client), String> {
        let open = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            Ok((runtime.map_err(|it| it.to_string())?, client()?))
        };
        self.open.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// Asks for something small. Statuses are for the caller to judge.
    pub fn get(&self, url: &str) -> Result<Answer, String> {
        let (runtime, client) = self.open()?;
        runtime.block_on(async {
            let mut response = self.send(client, url).await?;
            let header = |name: &str| {
                response.headers().get(name).and_then(|it| it.to_str().ok()).map(str::to_owned)
            };
            let package = header("x-terraform-get").filter(|it| !it.is_empty());
            let (status, url) = (response.status().as_u16(), response.url().to_string());
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(describe)? {
                body.extend_from_slice(&chunk);
                if body.len() > LARGEST_ANSWER {
                    return Err("the answer is too large".to_owned());
                }
            }
            Ok(Answer { status, url, package, body })
        })
    }

    /// Loads a file.
    pub fn download(&self, url: &str, into: &mut std::fs::File) -> Result<(), String> {
        let (runtime, client) = self.open()?;
        runtime.block_on(async {
            let mut response = self.send(client, url).await?;
            if !response.status().is_success() {
                return Err(format!("the server answers with status {}", response.status()));
            }
            let (expected, mut count) = (response.content_length(), 0u64);
            while let Some(chunk) = response.chunk().await.map_err(describe)? {
                count += chunk.len() as u64;
                into.write_all(&chunk).map_err(|it| it.to_string())?;
            }
            match expected {
                Some(expected) if count < expected => {
                    Err(format!("only {count} of {expected} bytes came"))
                }
                _ => Ok(()),
            }
        })
    }

    async fn send(&self, client: &Client, url: &str) -> Result<Response, String> {
        let url = Url::parse(url).map_err(|it| format!("the address is no URL: {it}"))?;
        let token = url.host_str().and_then(|it| self.token(it));
        let mut request = client.get(url).header("X-Terraform-Version", OPENTOFU_VERSION);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request.send().await.map_err(describe)
    }

    /// `TF_TOKEN_host_name`
    fn token(&self, host: &str) -> Option<&str> {
        let name = host.replace('-', "__").replace('.', "_");
        self.world.variable(&format!("TF_TOKEN_{name}"))
    }

    /// Asks an address where its package is: the header `X-Terraform-Get`, or the page's `meta` of that name.
    pub fn package_at(&self, url: &str) -> Result<String, String> {
        let separator = if url.contains('?') { '&' } else { '?' };
        let answer = self.get(&format!("{url}{separator}terraform-get=1"))?;
        if !(200..300).contains(&answer.status) {
            return Err(format!("the server answers with status {}", answer.status));
        }
        let found = answer.package.or_else(|| meta(&String::from_utf8_lossy(&answer.body)));
        let Some(found) = found else {
            return Err("no source URL was returned: the address is no archive, and does not say where the package is".to_owned());
        };
        let is_relative = ["/", "./", "../"].iter().any(|it| found.starts_with(it));
        if is_relative { join(&answer.url, &found) } else { Ok(found) }
    }

    /// Returns the address of a host's module registry, with a slash at its end.
    pub fn registry(&self, host: &str) -> Result<String, String> {
        let known = || self.registries.lock().unwrap_or_else(|it| it.into_inner());
        if let Some(address) = known().get(host) {
            return Ok(with_slash(address.clone()));
        }
        let answer = self.get(&format!("https://{host}/.well-known/terraform.json"))?;
        let services: BTreeMap<String, serde_json::Value> = match answer.status {
            200 => serde_json::from_slice(&answer.body)
                .map_err(|it| format!("the discovery document cannot be read: {it}"))?,
            404 => BTreeMap::new(),
            status => return Err(format!("service discovery answers with status {status}")),
        };
        let Some(address) = services.get("modules.v1").and_then(|it| it.as_str()) else {
            return Err(format!("the host {host} does not provide a module registry"));
        };
        let address = with_slash(join(&answer.url, address)?);
        known().insert(host.to_owned(), address.clone());
        Ok(address)
    }
}

fn with_slash(mut address: String) -> String {
    if !address.ends_with('/') {
        address.push('/');
    }
    address
}

/// Joins an address and one that may be relative to it.
pub(super) fn join(base: &str, relative: &str) -> Result<String, String> {
    let base = Url::parse(base).map_err(|it| it.to_string())?;
    base.join(relative).map(|it| it.to_string()).map_err(|it| it.to_string())
}

/// Finds `<meta name="terraform-get" content="…">`.
fn meta(page: &str) -> Option<String> {
    let tags = regex::Regex::new(r"(?is)<meta\b[^>]*>").ok()?;
    let value = |tag: &str, name: &str| {
        let find = regex::Regex::new(&format!(r#"(?i)\b{name}\s*=\s*["']([^"']*)["']"#)).ok()?;
        find.captures(tag).map(|it| it[1].to_owned())
    };
    tags.find_iter(page)
        .map(|it| it.as_str())
        .find(|it| value(it, "name").as_deref() == Some("terraform-get"))
        .and_then(|it| value(it, "content"))
}

fn client() -> Result<Client, String> {
    let failed = |why: &dyn std::fmt::Display| format!("cannot prepare secure connections: {why}");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|it| failed(&it))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(60))
        .redirect(redirect::Policy::limited(10))
        .user_agent(concat!("entail/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|it| failed(&it))
}

/// Returns an error and what caused it, without the address, which may hold secrets.
fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        text = format!("{text}: {it}");
        cause = it.source();
    }
    text
}

//! Requests to module registries and to hosts of packages.

use std::fs::File;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, ErrorContext};
use crate::install::web::{HttpResponse, Url, Web as Transport};
use crate::install::{Remote, Settings, Trouble};
use crate::world::{Stop, World};

/// The way to other hosts, for callers that wait. Opened when something is first asked for.
pub(super) struct Web {
    transport: Transport,
    runtime: OnceLock<Result<Runtime, Error>>,
    stop: Stop,
}

impl Web {
    /// Returns the way that the CLI configuration and the environment describe.
    pub fn new(settings: &Settings, world: &World) -> Web {
        let (transport, stop) = (Transport::new(settings, world), world.stop.clone());
        Web { transport, runtime: OnceLock::new(), stop }
    }

    /// Waits for work of which parts go over a network, unless the run is asked to stop.
    pub fn wait<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let open = || Builder::new_current_thread().enable_all().build().map_err(Error::of);
        let runtime = self.runtime.get_or_init(open).as_ref().map_err(Clone::clone)?;
        let done = runtime.block_on(self.stop.unless_asked(work));
        done.unwrap_or_else(|| Err("the run was interrupted".into()))
    }

    /// Asks a host's module registry, with the credentials for that host. Statuses are for the caller to judge.
    pub fn ask_registry(&self, host: &str, path: &str) -> Result<HttpResponse, Error> {
        self.wait(async {
            let registry = self.transport.service(host, "modules.v1").await.map_err(refusal)?;
            let url = registry.join(path).map_err(Error::of)?;
            let token = self.transport.token(host).await?;
            self.transport.get(&url, token.as_ref()).await
        })
    }

    /// Returns the way itself.
    #[cfg(feature = "oci")]
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Loads a file. Whoever keeps packages gets no credentials: those are for the registry.
    pub fn download(&self, url: &str, into: &mut File) -> Result<(), Error> {
        let remote = Remote { url: parse(url)?, retries: 0, token: None, size: None };
        self.wait(self.transport.download(&remote, into))
    }

    /// Asks an address where its package is: the header `X-Terraform-Get`, or the page's `meta` of that name.
    pub fn package_at(&self, url: &str) -> Result<String, Error> {
        let mut url = parse(url)?;
        url.query_pairs_mut().append_pair("terraform-get", "1");
        let answer = self.wait(self.transport.get(&url, None))?;
        if !(200..300).contains(&answer.status) {
            return Err(format!("the server answers with status {}", answer.status_text()).into());
        }
        let found = answer.package.or_else(|| meta(&String::from_utf8_lossy(&answer.body)));
        let Some(found) = found else {
            return Err("no source URL was returned: the address is no archive, and does not say where the package is".into());
        };
        resolve(&answer.url, found)
    }
}

/// Returns an address that may be relative to the one that named it.
pub(super) fn resolve(base: &Url, found: String) -> Result<String, Error> {
    let is_relative = ["/", "./", "../"].iter().any(|it| found.starts_with(it));
    match is_relative {
        true => base.join(&found).map(String::from).map_err(Error::of),
        false => Ok(found),
    }
}

fn parse(url: &str) -> Result<Url, Error> {
    Url::parse(url).context("the address is no URL")
}

fn refusal(trouble: Trouble) -> String {
    match trouble {
        Trouble::NoRegistry { host, .. } => {
            format!("the host {host} does not provide a module registry")
        }
        other => other.to_string(),
    }
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

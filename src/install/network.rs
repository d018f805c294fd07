//! The mirror protocol: an index of versions, and the archives of one, as files of a server.

use std::collections::BTreeMap;

use reqwest::Url;
use serde::Deserialize;

use super::Platform;
use super::authenticate::Checks;
use super::hash::Hash;
use super::offer::{Package, PackagePlace};
use super::requirement::sorted;
use super::search::strict_version;
use super::secure::is_secure;
use super::trouble::Trouble;
use super::web::{HttpResponse, Remote, Web, shown};
use crate::address::Provider;
use crate::config::version::Version;
use crate::error::Error;

/// A mirror.
pub struct NetworkMirror {
    /// Its address, which ends with a slash where it is meant as a folder.
    pub url: Url,
    /// How often a download is tried again.
    pub retries: u32,
    /// Whether checksums for other platforms are believed.
    pub trusts_hashes: bool,
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    versions: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Archives {
    #[serde(default)]
    archives: BTreeMap<String, Archive>,
}

#[derive(Deserialize)]
struct Archive {
    url: String,
    #[serde(default, alias = "Hashes")]
    hashes: Vec<String>,
}

impl NetworkMirror {
    /// Reads the address of a mirror. The error is what to tell.
    pub fn parse(text: &str, retries: u32, trusts_hashes: bool) -> Result<NetworkMirror, Error> {
        let url = Url::parse(text).map_err(|it| {
            format!("Cannot parse {text:?} as a URL for a network provider mirror: {it}.")
        })?;
        if url.scheme() != "https" || url.host_str().is_none_or(str::is_empty) {
            return Err(format!(
                "Cannot use {text:?} as a URL for a network provider mirror: the mirror must be at an https: URL."
            ).into());
        }
        Ok(NetworkMirror { url, retries, trusts_hashes })
    }

    fn failed(&self, provider: &Provider, why: impl Into<String>) -> Trouble {
        let mirror = Some(shown(&self.url));
        Trouble::Failed { provider: provider.clone(), mirror, why: why.into() }
    }

    async fn ask(
        &self,
        web: &Web,
        provider: &Provider,
        file: &str,
    ) -> Result<HttpResponse, Trouble> {
        let path = format!("{}/{}/{}/{file}", provider.host, provider.namespace, provider.kind);
        // An address of a provider may hold a port, which must not be read as a scheme.
        let url = self
            .url
            .join(&format!("./{path}"))
            .map_err(|it| self.failed(provider, it.to_string()))?;
        let token = web.token(&host_and_port(&self.url)).await;
        let token = token.map_err(|it| self.failed(provider, it))?;
        let answer =
            web.get_once(&url, token.as_ref()).await.map_err(|it| self.failed(provider, it))?;
        match answer.status {
            200 if answer.kind != "application/json" => Err(self
                .failed(provider, "response has invalid Content-Type: must be application/json")),
            200 | 404 => Ok(answer),
            401 | 403 => Err(Trouble::Unauthorized {
                host: host_and_port(&answer.url),
                // A host that the mirror redirects to has not seen the token.
                had_some: token.is_some() && answer.url.origin() == url.origin(),
            }),
            status => {
                Err(self.failed(provider, format!("server returned unsuccessful status {status}")))
            }
        }
    }

    /// Returns the versions that the mirror has.
    pub async fn versions(&self, web: &Web, provider: &Provider) -> Result<Vec<Version>, Trouble> {
        let answer = self.ask(web, provider, "index.json").await?;
        if answer.status == 404 {
            return Err(Trouble::NotFound { provider: provider.clone(), tried: Vec::new() });
        }
        let index: Index = answer.json().map_err(|it| {
            self.failed(provider, format!("invalid response content from mirror server: {it}"))
        })?;
        Ok(sorted(index.versions.keys().filter_map(|it| strict_version(it))))
    }

    /// Returns one package.
    pub async fn package(
        &self,
        web: &Web,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<Package, Trouble> {
        let answer = self.ask(web, provider, &format!("{version}.json")).await?;
        if answer.status == 404 {
            return Err(self.failed(provider, format!("provider mirror does not have archive index for previously-reported {provider} version {version}")));
        }
        let said: Archives = answer.json().map_err(|it| {
            self.failed(provider, format!("invalid response content from mirror server: {it}"))
        })?;
        let Some(archive) = said.archives.get(&platform.to_string()) else {
            return Err(Trouble::NoPackage {
                provider: provider.clone(),
                version: version.clone(),
                platform: platform.clone(),
                mirror: Some(shown(&self.url)),
            });
        };
        let url = self.archive_url(provider, &answer.url, archive)?;
        let hashes = self.hashes(provider, &said, platform)?;
        if hashes.is_empty() && !is_secure(&url) {
            return Err(self.failed(
                provider,
                format!(
                    "provider mirror names the archive {} without a checksum, and its address is not secure: an https address or a \
                     checksum is required",
                    shown(&url)
                ),
            ));
        }
        let trusts = self.trusts_hashes;
        let checks = (!hashes.is_empty()).then_some(Checks::Hashes { hashes, trusts });
        Ok(Package {
            place: PackagePlace::Download(Remote {
                url,
                retries: self.retries,
                token: None,
                size: None,
            }),
            checks,
        })
    }

    /// Returns the address of an archive. It may be relative to that of the document that names it.
    fn archive_url(
        &self,
        provider: &Provider,
        base: &Url,
        archive: &Archive,
    ) -> Result<Url, Trouble> {
        let url = base.join(&archive.url).map_err(|it| {
            self.failed(
                provider,
                format!("provider mirror returned invalid URL {:?}: {it}", archive.url),
            )
        })?;
        match url.scheme() {
            "http" | "https" => Ok(url),
            other => Err(self.failed(
                provider,
                format!("provider mirror returned a URL with the scheme {other:?}, which must be http or https"),
            )),
        }
    }

    /// Returns the checksums of which the archive for a platform must have one.
    fn hashes(
        &self,
        provider: &Provider,
        said: &Archives,
        platform: &Platform,
    ) -> Result<Vec<Hash>, Trouble> {
        let mut hashes = Vec::new();
        for (name, archive) in &said.archives {
            if !self.trusts_hashes && *name != platform.to_string() {
                continue;
            }
            for text in &archive.hashes {
                hashes.push(Hash::parse(text).ok_or_else(|| {
                    self.failed(
                        provider,
                        format!("provider mirror returned invalid provider hash {text:?}"),
                    )
                })?);
            }
        }
        Ok(hashes)
    }
}

/// Returns the host of an address as credentials name it: with its port, unless that is the usual one.
fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

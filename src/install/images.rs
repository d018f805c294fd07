//! `oci_mirror`: packages as artifacts in a registry of container images.
//!
//! Each provider has a repository there, each version a tag, which names one manifest for each platform; its only layer is
//! the package. Where a registry asks who reads, it is shown what opens the repository, if anybody knows that; to strangers
//! it may give a token all the same.

use std::collections::BTreeMap;

use reqwest::Url;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::Platform;
use super::authenticate::Checks;
use super::hash::{Hash, hex, read_sum};
use super::login::Shown;
use super::offer::{Package, PackagePlace, Remote};
use super::requirement::sorted;
use super::search::strict_version;
use super::settings::Token;
use super::settings::installation::Pattern;
use super::trouble::Trouble;
use super::web::{HttpResponse, Web};
use crate::address::Provider;
use crate::config::version::Version;
use crate::error::Error;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const ARCHIVE: &str = "archive/zip";

/// A registry of images that holds providers.
pub struct ImageMirror {
    template: String,
    /// How often a download is tried again.
    retries: u32,
    tokens: Mutex<BTreeMap<String, Token>>,
}

#[derive(Deserialize)]
struct Tags {
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    artifact_type: String,
    #[serde(default)]
    manifests: Vec<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    artifact_type: String,
    digest: String,
    platform: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    os: String,
    architecture: String,
    #[serde(default, rename = "os.version")]
    version: String,
}

#[derive(Deserialize)]
struct Granted {
    token: Option<String>,
    access_token: Option<String>,
}

/// What a template may refer to, and what stands for it.
fn symbols(provider: &Provider) -> [(&'static str, &str); 3] {
    [("hostname", &provider.host), ("namespace", &provider.namespace), ("type", &provider.kind)]
}

/// What is wrong with a template.
enum Flaw {
    /// A symbol is not closed.
    Open,
    /// There is no such symbol.
    Unknown(String),
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Flaw::Open => f.write_str("is not closed"),
            Flaw::Unknown(name) => write!(f, "the symbol {name:?}"),
        }
    }
}

/// Replaces `${name}`.
fn fill(template: &str, provider: &Provider) -> Result<String, Flaw> {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}').ok_or(Flaw::Open)?;
        let known = symbols(provider).into_iter().find(|it| it.0 == name.trim());
        let (_, value) = known.ok_or_else(|| Flaw::Unknown(name.trim().to_owned()))?;
        text.push_str(before);
        text.push_str(value);
        rest = after;
    }
    Ok(text + rest)
}

impl ImageMirror {
    /// Reads a template of repositories, which must tell apart all providers that `include` lets in. The error is what to
    /// tell.
    pub fn parse(template: &str, include: &[Pattern], retries: u32) -> Result<ImageMirror, Error> {
        let example =
            Provider { host: "a.example".into(), namespace: "b".into(), kind: "c".into() };
        let filled = fill(template, &example).map_err(|it| match it {
            Flaw::Unknown(_) => format!(
                "{it} is not available for an OCI mirror repository address template. Only \"hostname\", \"namespace\", and \"type\" are available."
            ),
            Flaw::Open => format!("the template {template:?} {it}."),
        })?;
        let names = Pattern::parts(include);
        let whats = ["registry hostname", "provider namespace", "provider"];
        for (((symbol, _), chosen), what) in symbols(&example).into_iter().zip(names).zip(whats) {
            let refers = template.split("${").skip(1).any(|it| it.trim_start().starts_with(symbol));
            if chosen.len() != 1 && !refers {
                return Err(format!(
                    "template must refer to the {symbol:?} symbol unless the \"include\" argument selects exactly one {what}."
                ).into());
            }
        }
        if filled.split_once('/').is_none_or(|it| it.0.is_empty() || it.1.is_empty()) {
            return Err("template must generate a valid OCI repository address, including a registry hostname followed by a slash and then a repository name.".into());
        }
        Ok(ImageMirror { template: template.to_owned(), retries, tokens: Mutex::default() })
    }

    /// Returns the name by which the mirror is known to people.
    pub fn shown(&self) -> String {
        format!("OCI repository {}", self.template)
    }

    fn repository(&self, provider: &Provider) -> Result<(String, String), Trouble> {
        let filled = fill(&self.template, provider).map_err(|it| Trouble::Other(it.to_string()))?;
        let (host, name) = filled.split_once('/').unwrap_or((&filled, ""));
        Ok((host.to_owned(), name.to_owned()))
    }

    /// Asks a repository, and again with what it wants to see.
    async fn ask(
        &self,
        web: &Web,
        provider: &Provider,
        path: &str,
        accept: &str,
    ) -> Result<HttpResponse, Trouble> {
        let (host, name) = self.repository(provider)?;
        let url = address(&host, &name, path)?;
        let known = self.tokens.lock().await.get(&name).cloned();
        let ask = async |token: Option<&Token>| {
            let asked = web.get_as(&url, token, accept).await;
            asked.map_err(|why| Trouble::Unreachable { host: host.clone(), why: why.into() })
        };
        let answer = ask(known.as_ref()).await?;
        if answer.status != 401 {
            return Ok(answer);
        }
        let shown = web.login(&host, &name).await.map_err(|it| Trouble::Other(it.into()))?;
        let had_some = shown.is_some() || known.is_some();
        let Some(token) = admitted(web, &answer, &name, shown).await else {
            return Err(Trouble::Unauthorized { host: host.clone(), had_some });
        };
        self.tokens.lock().await.insert(name, token.clone());
        let answer = ask(Some(&token)).await?;
        match answer.status {
            401 | 403 => Err(Trouble::Unauthorized { host, had_some }),
            _ => Ok(answer),
        }
    }

    /// Returns the versions that the mirror has: tags that are none are for others.
    pub async fn versions(&self, web: &Web, provider: &Provider) -> Result<Vec<Version>, Trouble> {
        let answer = self.ask(web, provider, "tags/list", "application/json").await?;
        match answer.status {
            200 => {}
            404 => {
                return Err(Trouble::NotFound { provider: provider.clone(), tried: Vec::new() });
            }
            _ => return Err(listing(&answer.status_text())),
        }
        let tags: Tags = answer.json().map_err(|it: Error| listing(it.words()))?;
        let version = |tag: &String| strict_version(&tag.replacen('_', "+", 1));
        Ok(sorted(tags.tags.iter().filter_map(version)))
    }

    /// Returns one package.
    pub async fn package(
        &self,
        web: &Web,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<Package, Trouble> {
        let tag = version.to_string().replace('+', "_");
        let index = self.manifest(web, provider, &tag, INDEX).await?;
        if index.artifact_type != PROVIDER {
            return Err(unusable(&format!("unexpected artifact type {:?}", index.artifact_type)));
        }
        let Some(digest) = for_platform(&index, platform)? else {
            return Err(Trouble::NoPackage {
                provider: provider.clone(),
                version: version.clone(),
                platform: platform.clone(),
                mirror: Some(self.shown()),
            });
        };
        let manifest = self.manifest(web, provider, digest, MANIFEST).await?;
        let mut layers = manifest.layers.iter().filter(|it| it.media_type == ARCHIVE);
        let (Some(layer), None) = (layers.next(), layers.next()) else {
            return Err(unusable(&format!(
                "the image manifest must contain exactly one layer of type {ARCHIVE:?}"
            )));
        };
        let sum = layer.digest.strip_prefix("sha256:").and_then(read_sum);
        let sum = sum.ok_or_else(|| unusable("a layer has an unsupported digest"))?;
        let (host, name) = self.repository(provider)?;
        let url = address(&host, &name, &format!("blobs/{}", layer.digest))?;
        let token = self.tokens.lock().await.get(&name).cloned();
        let hashes = vec![Hash::of_archive_sum(&sum)];
        Ok(Package {
            place: PackagePlace::Download(Remote { url, retries: self.retries, token }),
            checks: Some(Checks::Hashes { hashes, trusts: false }),
        })
    }

    async fn manifest(
        &self,
        web: &Web,
        provider: &Provider,
        reference: &str,
        kind: &str,
    ) -> Result<Manifest, Trouble> {
        let path = format!("manifests/{reference}");
        let answer = self.ask(web, provider, &path, kind).await?;
        if answer.status != 200 {
            return Err(unusable(&format!("resolving {reference:?}: {}", answer.status_text())));
        }
        if let Some(sum) = reference.strip_prefix("sha256:") {
            use sha2::Digest;
            if hex(&sha2::Sha256::digest(&answer.body)) != sum {
                return Err(unusable(&format!(
                    "manifest content does not match digest {reference}"
                )));
            }
        }
        let manifest: Manifest =
            answer.json().map_err(|it| unusable(&format!("invalid manifest content: {it}")))?;
        match manifest.media_type == kind {
            true => Ok(manifest),
            false => {
                Err(unusable(&format!("unexpected manifest media type {:?}", manifest.media_type)))
            }
        }
    }
}

/// Returns the digest of the manifest for a platform.
fn for_platform<'m>(index: &'m Manifest, platform: &Platform) -> Result<Option<&'m str>, Trouble> {
    let fits = |it: &Target| {
        it.version.is_empty() && format!("{}_{}", it.os, it.architecture) == platform.to_string()
    };
    let mut found = index
        .manifests
        .iter()
        .filter(|it| it.artifact_type == TARGET && it.platform.as_ref().is_some_and(fits));
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(unusable(&format!(
            "ambiguous manifest has multiple descriptors for platform {platform}"
        ))),
        (first, None) => Ok(first.map(|it| it.digest.as_str())),
    }
}

/// Returns what answers a challenge: what is shown itself, or the token that the registry's authorization server gives.
async fn admitted(
    web: &Web,
    challenge: &HttpResponse,
    name: &str,
    shown: Option<Shown>,
) -> Option<Token> {
    let said = challenge.challenge.as_deref()?;
    let (scheme, said) = said.split_once(' ').unwrap_or((said, ""));
    match (scheme.to_lowercase().as_str(), shown) {
        ("basic", Some(Shown::Password(login))) => Some(login),
        ("bearer", Some(Shown::Access(token))) => Some(token),
        ("bearer", Some(Shown::Password(login))) => grant(web, said, name, Some(&login)).await,
        ("bearer", None) => grant(web, said, name, None).await,
        _ => None,
    }
}

/// Asks for the token that a challenge speaks of.
async fn grant(web: &Web, said: &str, name: &str, login: Option<&Token>) -> Option<Token> {
    let part = |wanted: &str| {
        let mut parts = said.split(',').filter_map(|it| it.trim().split_once('='));
        parts.find(|it| it.0 == wanted).map(|it| it.1.trim_matches('"').to_owned())
    };
    let mut realm = Url::parse(&part("realm")?).ok().filter(|it| it.scheme() == "https")?;
    let scope = part("scope").unwrap_or_else(|| format!("repository:{name}:pull"));
    realm.query_pairs_mut().append_pair("scope", &scope);
    if let Some(service) = part("service") {
        realm.query_pairs_mut().append_pair("service", &service);
    }
    let answer = web.get_as(&realm, login, "application/json").await.ok()?;
    let granted: Granted = answer.json().ok().filter(|_| answer.status == 200)?;
    granted.token.or(granted.access_token).map(Token::new)
}

fn address(host: &str, name: &str, path: &str) -> Result<Url, Trouble> {
    Url::parse(&format!("https://{host}/v2/{name}/{path}")).map_err(|it| unusable(&it.to_string()))
}

fn listing(why: &str) -> Trouble {
    Trouble::Other(format!("listing tags from OCI repository: {why}"))
}

fn unusable(why: &str) -> Trouble {
    Trouble::Other(format!("reading from OCI repository: {why}"))
}

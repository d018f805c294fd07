//! `oci_mirror`: packages as artifacts in a registry of container images.
//!
//! Each provider has a repository there, each version a tag, which names one manifest for each platform; its only layer is
//! the package.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::Mutex;

use super::Platform;
use super::authenticate::Checks;
use super::hash::{Hash, read_sum};
use super::offer::{Package, PackagePlace};
use super::repository::{
    Descriptor, IMAGE, INDEX, Manifest, Repository, Target, is_digest, unusable,
};
use super::requirement::sorted;
use super::search::strict_version;
use super::settings::installation::Pattern;
use super::trouble::Trouble;
use super::web::Web;
use crate::address::Provider;
use crate::config::version::Version;
use crate::error::Error;

const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const ARCHIVE: &str = "archive/zip";

/// A registry of images that holds providers.
pub struct ImageMirror {
    template: String,
    /// How often a download is tried again.
    retries: u32,
    /// The repositories that were asked, by their addresses.
    known: Mutex<BTreeMap<String, Arc<Repository>>>,
}

#[derive(Deserialize)]
struct Tags {
    #[serde(default)]
    tags: Vec<String>,
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
        Ok(ImageMirror { template: template.to_owned(), retries, known: Mutex::default() })
    }

    /// Returns the name by which the mirror is known to people.
    pub fn shown(&self) -> String {
        format!("OCI repository {}", self.template)
    }

    async fn repository(&self, provider: &Provider) -> Result<Arc<Repository>, Trouble> {
        let filled = fill(&self.template, provider).map_err(|it| Trouble::Other(it.to_string()))?;
        let (host, name) = filled.split_once('/').unwrap_or((&filled, ""));
        let repository = || Arc::new(Repository::new(host, name));
        Ok(self.known.lock().await.entry(filled.clone()).or_insert_with(repository).clone())
    }

    /// Returns the versions that the mirror has: tags that are none are for others.
    pub async fn versions(&self, web: &Web, provider: &Provider) -> Result<Vec<Version>, Trouble> {
        let repository = self.repository(provider).await?;
        let answer = repository.ask(web, "tags/list", "application/json").await?;
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
        let repository = self.repository(provider).await?;
        let index = of_kind(repository.manifest(web, &tag, INDEX).await?, INDEX)?;
        if index.artifact_type != PROVIDER {
            return Err(unusable(&format!("unexpected artifact type {:?}", index.artifact_type)));
        }
        let Some(descriptor) = for_platform(&index, platform)? else {
            return Err(Trouble::NoPackage {
                provider: provider.clone(),
                version: version.clone(),
                platform: platform.clone(),
                mirror: Some(self.shown()),
            });
        };
        let manifest = repository.named_manifest(web, descriptor, IMAGE).await?;
        let manifest = of_kind(manifest, IMAGE)?;
        let mut layers = manifest.layers.iter().filter(|it| it.media_type == ARCHIVE);
        let (Some(layer), None) = (layers.next(), layers.next()) else {
            return Err(unusable(&format!(
                "the image manifest must contain exactly one layer of type {ARCHIVE:?}"
            )));
        };
        let sum = layer.digest.strip_prefix("sha256:").filter(|_| is_digest(&layer.digest));
        let sum = sum.and_then(read_sum);
        let sum = sum.ok_or_else(|| unusable("a layer has an unsupported digest"))?;
        let hashes = vec![Hash::of_archive_sum(&sum)];
        Ok(Package {
            place: PackagePlace::Download(repository.blob(layer, self.retries).await?),
            checks: Some(Checks::Hashes { hashes, trusts: false }),
        })
    }
}

/// Returns a manifest if it is of this kind.
fn of_kind(manifest: Manifest, kind: &str) -> Result<Manifest, Trouble> {
    match manifest.media_type == kind {
        true => Ok(manifest),
        false => {
            Err(unusable(&format!("unexpected manifest media type {:?}", manifest.media_type)))
        }
    }
}

/// Returns the entry of an index that names the manifest for a platform.
fn for_platform<'m>(
    index: &'m Manifest,
    platform: &Platform,
) -> Result<Option<&'m Descriptor>, Trouble> {
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
        (first, None) => Ok(first),
    }
}

fn listing(why: &str) -> Trouble {
    Trouble::Other(format!("listing tags from OCI repository: {why}"))
}

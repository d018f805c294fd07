//! The registry protocol: versions of a provider, and one package with all that speaks for it.

use std::collections::BTreeMap;

use reqwest::Url;
use serde::Deserialize;

use super::Platform;
use super::authenticate::{Checks, RegistryChecks};
use super::hash::{Hash, read_sum};
use super::offer::{Package, PackagePlace};
use super::requirement::sorted;
use super::search::strict_version;
use super::trouble::Trouble;
use super::web::{HttpResponse, Remote, Web, shown};
use crate::address::Provider;
use crate::config::version::{Version, compare};

#[derive(Deserialize)]
struct VersionList {
    #[serde(default)]
    versions: Vec<VersionEntry>,
    #[serde(default)]
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct VersionEntry {
    version: String,
    #[serde(default)]
    protocols: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct PackageAnswer {
    #[serde(default)]
    protocols: Option<Vec<String>>,
    os: String,
    arch: String,
    filename: String,
    download_url: String,
    shasum: String,
    shasums_url: String,
    shasums_signature_url: String,
    #[serde(default)]
    signing_keys: Keys,
    #[serde(default)]
    packages: Option<BTreeMap<String, PackageEntry>>,
}

#[derive(Deserialize, Default)]
struct Keys {
    #[serde(default)]
    gpg_public_keys: Option<Vec<Key>>,
}

#[derive(Deserialize)]
struct Key {
    ascii_armor: String,
}

#[derive(Deserialize)]
struct PackageEntry {
    #[serde(default)]
    hashes: Vec<String>,
    #[serde(default)]
    package_size: i64,
}

fn failed(provider: &Provider, why: impl Into<String>) -> Trouble {
    Trouble::Failed { provider: provider.clone(), mirror: None, why: why.into() }
}

/// Returns the versions that the provider's registry has, and its warnings.
pub async fn versions(
    web: &Web,
    provider: &Provider,
) -> Result<(Vec<Version>, Vec<String>), Trouble> {
    let list = list(web, provider).await?;
    let versions: Vec<Version> = list
        .versions
        .iter()
        .map(|it| read_version(provider, &it.version))
        .collect::<Result<_, _>>()?;
    Ok((sorted(versions), list.warnings.unwrap_or_default()))
}

fn read_version(provider: &Provider, text: &str) -> Result<Version, Trouble> {
    strict_version(text).ok_or_else(|| {
        failed(provider, format!("registry response includes invalid version string {text:?}"))
    })
}

async fn ask(web: &Web, provider: &Provider, path: &str) -> Result<HttpResponse, Trouble> {
    let base = web.service(&provider.host, "providers.v1").await?;
    let url = base
        .join(&format!("{}/{}/{path}", provider.namespace, provider.kind))
        .map_err(|it| failed(provider, it.to_string()))?;
    let token = web.token(&provider.host).await.map_err(|it| failed(provider, it))?;
    let answer = web.get(&url, token.as_ref()).await.map_err(|it| failed(provider, it))?;
    let withheld = token.as_ref().and_then(|it| it.withheld_from(&url));
    match (answer.status, withheld) {
        (401 | 403, Some(why)) => Err(failed(
            provider,
            format!(
                "{} wants credentials, and the token of {} is not sent there: {why}",
                shown(&base),
                provider.host
            ),
        )),
        (401 | 403, None) => Err(Trouble::Unauthorized {
            host: provider.host.to_string(),
            had_some: token.is_some(),
        }),
        (200 | 404, _) => Ok(answer),
        _ => Err(failed(provider, answer.status_text())),
    }
}

async fn list(web: &Web, provider: &Provider) -> Result<VersionList, Trouble> {
    let answer = ask(web, provider, "versions").await?;
    match answer.status {
        404 => Err(Trouble::NotKnown(provider.clone())),
        _ => answer.json().map_err(|it| failed(provider, it)),
    }
}

/// Returns one package.
pub async fn package(
    web: &Web,
    provider: &Provider,
    version: &Version,
    platform: &Platform,
    retries: u32,
) -> Result<Package, Trouble> {
    let path = format!("{version}/download/{}/{}", platform.system, platform.processor);
    let answer = ask(web, provider, &path).await?;
    if answer.status == 404 {
        return Err(Trouble::NoPackage {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
            mirror: None,
        });
    }
    let said: PackageAnswer = answer.json().map_err(|it| failed(provider, it))?;
    check_protocols(web, provider, version, said.protocols.as_deref().unwrap_or_default()).await?;
    if said.os != platform.system || said.arch != platform.processor {
        return Err(Trouble::Other(format!(
            "registry response to request for {platform} archive has incorrect target {}_{}",
            said.os, said.arch
        )));
    }
    let link = |name: &str, text: &str| {
        let url = answer.url.join(text).ok().filter(|it| ["http", "https"].contains(&it.scheme()));
        url.ok_or_else(|| {
            Trouble::Other(format!(
                "registry response includes invalid {name} URL: must use http or https scheme"
            ))
        })
    };
    let download = link("download", &said.download_url)?;
    let sum = read_sum(&said.shasum).ok_or_else(|| {
        failed(
            provider,
            format!("registry response includes invalid SHA256 hash {:?}", said.shasum),
        )
    })?;
    let document =
        file(web, provider, &link("SHASUMS", &said.shasums_url)?, "authentication checksums")
            .await?;
    let signature_url = link("SHASUMS signature", &said.shasums_signature_url)?;
    let signature = file(web, provider, &signature_url, "cryptographic signature").await?;
    let keys = said.signing_keys.gpg_public_keys.unwrap_or_default();
    let checks = RegistryChecks {
        provider: provider.clone(),
        platform: platform.clone(),
        file: said.filename,
        sum,
        document,
        signature,
        keys: keys.into_iter().map(|it| it.ascii_armor).collect(),
        packages: packages(provider, said.packages.unwrap_or_default())?,
    };
    Ok(Package {
        place: PackagePlace::Download(Remote { url: download, retries, token: None, size: None }),
        checks: Some(Checks::Registry(Box::new(checks))),
    })
}

fn packages(
    provider: &Provider,
    entries: BTreeMap<String, PackageEntry>,
) -> Result<BTreeMap<Platform, (Vec<Hash>, i64)>, Trouble> {
    let mut packages = BTreeMap::new();
    for (name, entry) in entries {
        let platform = Platform::parse(&name).map_err(|why| {
            failed(
                provider,
                format!("registry response includes invalid package platform {name:?}: {why}"),
            )
        })?;
        let mut hashes = Vec::new();
        for text in entry.hashes {
            hashes.push(Hash::parse(&text).ok_or_else(|| {
                failed(
                    provider,
                    format!("registry response includes invalid package hash {text:?}"),
                )
            })?);
        }
        packages.insert(platform, (hashes, entry.package_size));
    }
    Ok(packages)
}

async fn file(web: &Web, provider: &Provider, url: &Url, what: &str) -> Result<Vec<u8>, Trouble> {
    let answer = web.get(url, None).await.and_then(|it| match it.status {
        200 => Ok(it.body),
        _ => Err(format!(
            "{} returned from {}",
            it.status_text(),
            it.url.host_str().unwrap_or_default()
        )
        .into()),
    });
    answer.map_err(|it| failed(provider, format!("failed to retrieve {what} for provider: {it}")))
}

/// The plugin protocols that this program speaks: 5 and 6.
fn is_spoken(protocol: &str) -> bool {
    ["5", "6"].contains(&protocol.split('.').next().unwrap_or_default())
}

async fn check_protocols(
    web: &Web,
    provider: &Provider,
    version: &Version,
    protocols: &[String],
) -> Result<(), Trouble> {
    if protocols.is_empty() || protocols.iter().any(|it| is_spoken(it)) {
        return Ok(());
    }
    let list = list(web, provider).await?;
    let spoken = list
        .versions
        .iter()
        .filter(|it| it.protocols.iter().flatten().any(|it| is_spoken(it)))
        .filter_map(|it| strict_version(&it.version));
    let better = spoken.max_by(compare);
    Err(Trouble::Protocol { provider: provider.clone(), version: version.clone(), better })
}

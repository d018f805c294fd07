//! Packages in a folder: `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/` unpacked, or
//! `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip` packed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Platform;
use crate::address::Provider;
use crate::config::version::{Version, compare};

/// One package of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPackage {
    /// Its version.
    pub version: Version,
    /// What it is built for.
    pub platform: Platform,
    /// The folder or archive.
    pub path: PathBuf,
    /// Whether it is an archive.
    pub is_packed: bool,
}

/// Returns every package in a folder, lowest versions first. What is not laid out as a package is passed over.
pub fn search(folder: &Path) -> io::Result<BTreeMap<Provider, Vec<FoundPackage>>> {
    let mut all: BTreeMap<Provider, Vec<FoundPackage>> = BTreeMap::new();
    for (host, path) in folders(folder)? {
        for (namespace, path) in folders(&path)? {
            for (kind, path) in folders(&path)? {
                let source = format!("{host}/{namespace}/{kind}");
                let Ok(provider) = source.parse::<Provider>() else { continue };
                let found = packages(&path, &provider.kind)?;
                if !found.is_empty() {
                    all.entry(provider).or_default().extend(found);
                }
            }
        }
    }
    for found in all.values_mut() {
        found.sort_by(|a, b| {
            compare(&a.version, &b.version)
                .then_with(|| a.platform.cmp(&b.platform))
                .then_with(|| a.path.cmp(&b.path))
        });
    }
    Ok(all)
}

/// The folders in a folder, by name. Links are not followed: they could lead back.
fn folders(path: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            found.push((name, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// The packages of one provider. Here links are followed: packages are often linked from elsewhere.
fn packages(path: &Path, kind: &str) -> io::Result<Vec<FoundPackage>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(about) = std::fs::metadata(entry.path()) else { continue };
        if !about.is_dir() {
            found.extend(packed(&name, kind).map(|(version, platform)| FoundPackage {
                version,
                platform,
                path: entry.path(),
                is_packed: true,
            }));
        } else if let Some(version) = strict_version(&name)
            && entry.file_type()?.is_dir()
        {
            found.extend(unpacked(&entry.path(), &version)?);
        }
    }
    Ok(found)
}

fn unpacked(path: &Path, version: &Version) -> io::Result<Vec<FoundPackage>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let (Ok(platform), true) = (Platform::parse(&name), entry.path().is_dir()) else {
            continue;
        };
        found.push(FoundPackage {
            version: version.clone(),
            platform,
            path: entry.path(),
            is_packed: false,
        });
    }
    Ok(found)
}

fn packed(name: &str, kind: &str) -> Option<(Version, Platform)> {
    let name = name.to_lowercase();
    let inner = name.strip_prefix(&format!("terraform-provider-{kind}_"))?.strip_suffix(".zip")?;
    let mut parts = inner.split('_');
    let version = strict_version(parts.next()?)?;
    let platform = Platform::parse(&format!("{}_{}", parts.next()?, parts.next()?)).ok()?;
    Some((version, platform))
}

/// Reads a version that has all three numbers and nothing before them.
pub fn strict_version(text: &str) -> Option<Version> {
    let version = Version::parse(text)?;
    (version.written == 3 && version.numbers.len() == 3 && !text.starts_with('v'))
        .then_some(version)
}

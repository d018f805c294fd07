//! `providers mirror`: archives of plugins in a folder that serves as a mirror, with the index files of a network mirror.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::address::Provider;
use crate::backend::files::{self, Fresh, NewFolder};
use crate::config::version::{Constraint, Version, normal};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::error::Error;
use crate::install::requirement::allows;
use crate::install::{
    Hash, Locks, PackagePlace, PackageSources, Platform, Plugins, Reach, Requirements, Settings,
    archive_name, hash_archive, problems, search,
};
use crate::world::World;

/// What is told on the way.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A provider is part of the program.
    Skipped(Provider),
    /// A provider comes next.
    Mirroring(Provider),
    /// Its version, and why.
    Selected(Provider, Version, Why),
    /// A package is loaded.
    Downloading(Package),
    /// A package was checked, with this result.
    Authenticated(Package, &'static str),
}

/// What a package is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// The provider.
    pub provider: Provider,
    /// Its version.
    pub version: Version,
    /// Where it runs.
    pub platform: Platform,
}

/// Why a version is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// It is locked.
    Locked,
    /// It is the newest that these conditions allow.
    Allowed(String),
    /// It is the newest.
    Newest,
}

/// What each package's checksums are.
type Computed = BTreeMap<(Provider, Platform), Vec<Hash>>;

/// Fills the folder. Problems with one provider do not keep others from it; all come back.
pub async fn mirror(
    world: &World,
    sources: &Sources,
    required: &Requirements,
    platforms: &[Platform],
    folder: &Path,
    tell: &(dyn Fn(Progress) + Sync),
) -> Diagnostics {
    let settings = Settings::of(world);
    let (mut locks, mut found) = Locks::read(world, sources);
    if found.has_errors() {
        return found;
    }
    let adopted = locks.adopt();
    if !adopted.is_empty() {
        found.push(problems::adopted(&adopted));
    }
    if !locks.0.is_empty()
        && let Some(plugins) = found.take(Plugins::open(world, sources))
    {
        found.extend(plugins.check_locked(required));
    }
    let run = Run {
        package_sources: PackageSources::registries(&settings, world),
        locks,
        platforms,
        folder: world.root.join(folder),
        tell,
    };
    let mut computed = Computed::new();
    for (provider, conditions) in &required.0 {
        if provider.is_builtin() {
            tell(Progress::Skipped(provider.clone()));
            continue;
        }
        tell(Progress::Mirroring(provider.clone()));
        let Some(version) = found.take(run.select(provider, conditions).await) else { continue };
        for platform in platforms {
            let hashes = run.load(provider, &version, platform).await;
            if let Some(hashes) = found.take(hashes) {
                computed.insert((provider.clone(), platform.clone()), hashes);
            }
        }
    }
    found.extend(write_indexes(&run.folder, &computed));
    found
}

struct Run<'a> {
    package_sources: PackageSources,
    locks: Locks,
    platforms: &'a [Platform],
    folder: PathBuf,
    tell: &'a (dyn Fn(Progress) + Sync),
}

impl Run<'_> {
    async fn select(
        &self,
        provider: &Provider,
        conditions: &[Constraint],
    ) -> Result<Version, Diagnostic> {
        let missing = |why: String| {
            Diagnostic::error("Provider not available")
                .detail(format!("Failed to download {provider} from its origin registry: {why}."))
        };
        let versions = self.package_sources.versions(provider, Reach::All).await;
        let (versions, _) = versions.map_err(|it| missing(it.to_string()))?;
        let newest = versions.into_iter().rev().find(|it| allows(conditions, it));
        let text = normal(conditions);
        let newest = newest
            .ok_or_else(|| missing(format!("no releases match the given constraints {text}")))?;
        let (version, why) = match self.locks.0.get(provider) {
            Some(lock) => (lock.version.clone(), Why::Locked),
            None if !self.locks.0.is_empty() => {
                return Err(Diagnostic::error("Provider not found in lockfile")
                    .detail(format!("Failed to find {provider} in the lock file")));
            }
            None if text.is_empty() => (newest, Why::Newest),
            None => (newest, Why::Allowed(text)),
        };
        (self.tell)(Progress::Selected(provider.clone(), version.clone(), why));
        Ok(version)
    }

    /// Loads one archive beside its place, checks it, and moves it there. Returns its checksums.
    async fn load(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<Vec<Hash>, Diagnostic> {
        let failed = |summary: &str, what: &str, why: String| {
            Diagnostic::error(summary)
                .detail(format!("Failed to {what} {provider} v{version} for {platform}: {why}."))
        };
        debug_assert!(self.platforms.contains(platform));
        let told = Package {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
        };
        (self.tell)(Progress::Downloading(told.clone()));
        let package =
            self.package_sources.package(provider, version, platform).await.map_err(|it| {
                failed("Provider release not available", "download", it.to_string())
            })?;
        let PackagePlace::Download(remote) = &package.place else {
            return Err(failed(
                "Provider release not available",
                "download",
                "it is not in a registry".into(),
            ));
        };
        let broken =
            |why: Error| failed("Cannot download provider release", "download", why.into());
        let archive = self.package_sources.download(remote).await.map_err(broken)?;
        let mut hashes = Vec::new();
        if let Some(result) = self.package_sources.check(&package, archive.path()) {
            let result = result
                .map_err(|it| failed("Invalid provider package", "authenticate", it.into()))?;
            (self.tell)(Progress::Authenticated(told, result.summary()));
            hashes.extend(result.verified());
        }
        let place = provider_folder(&self.folder, provider);
        let put = || -> io::Result<()> {
            std::fs::create_dir_all(&place)?;
            let beside = NewFolder::within(&place)?;
            let fresh = beside.path().join("archive");
            // Whoever may look into the mirror may read it: it is no copy of a file that is this user's own.
            let mut file = File::create_new(&fresh)?;
            io::copy(&mut File::open(archive.path())?, &mut file)?;
            file.sync_all()?;
            std::fs::rename(&fresh, place.join(archive_name(provider, version, platform)))
        };
        put().map_err(|it| {
            Diagnostic::error("Cannot download provider release")
                .detail(format!("Failed to place {provider} package into mirror directory: {it}."))
        })?;
        Ok(hashes)
    }
}

fn provider_folder(folder: &Path, provider: &Provider) -> PathBuf {
    folder.join(&*provider.host).join(&*provider.namespace).join(&*provider.kind)
}

/// Writes the index files of every archive in the folder, those of other runs too.
fn write_indexes(folder: &Path, computed: &Computed) -> Diagnostics {
    let failed = |why: String| Diagnostic::error("Failed to update indexes").detail(why);
    let mut problems = Diagnostics::new();
    let available = search(folder).map_err(|it| {
        failed(format!("Could not scan the output directory to get package metadata for the JSON indexes: {it}."))
    });
    for (provider, packages) in problems.take(available).unwrap_or_default() {
        let mut archives: BTreeMap<String, serde_json::Map<String, serde_json::Value>> =
            BTreeMap::new();
        for package in packages.iter().filter(|it| it.is_packed) {
            let known = computed.get(&(provider.clone(), package.platform.clone()));
            let hashes = match known.filter(|it| !it.is_empty()) {
                Some(hashes) => Ok(hashes.clone()),
                None => hash_archive(&package.path).map(|it| vec![it]),
            };
            let hashes = hashes.map_err(|it| {
                failed(format!(
                    "Failed to determine a hash value for {provider} v{} on {}: {it}.",
                    package.version, package.platform
                ))
            });
            let Some(mut hashes) = problems.take(hashes) else { continue };
            hashes.sort();
            let hashes: Vec<String> = hashes.iter().map(Hash::to_string).collect();
            let name = package.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let entry = json!({"hashes": hashes, "url": name});
            archives
                .entry(package.version.to_string())
                .or_default()
                .insert(package.platform.to_string(), entry);
        }
        let place = provider_folder(folder, &provider);
        let versions: BTreeMap<&String, serde_json::Value> =
            archives.keys().map(|it| (it, json!({}))).collect();
        let mut documents = vec![("index".to_owned(), json!({"versions": versions}))];
        documents.extend(archives.iter().map(|(it, all)| (it.clone(), json!({"archives": all}))));
        for (name, document) in documents {
            let (path, text) = (place.join(format!("{name}.json")), format!("{document:#}"));
            let written = files::replace(&path, text.as_bytes(), Fresh::Usual);
            problems.extend(written.err().map(|it| {
                failed(format!("Failed to write an updated JSON index for {provider}: {it}."))
            }));
        }
    }
    problems
}

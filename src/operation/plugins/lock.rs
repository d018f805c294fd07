//! `providers lock`: checksums of packages for any platform, taken from where packages are published.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use parking_lot::Mutex;

use crate::address::Provider;
use crate::config::version::Version;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::install::requirement::is_same;
use crate::install::{
    Authentication, Event, Installer, Lock, Locks, Mode, PackageSources, Platform, Requirements,
    Settings, problems,
};
use crate::world::World;

/// What to lock, and from where.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// `-platform`; this one where empty.
    pub platforms: Vec<String>,
    /// `-fs-mirror`
    pub folder: Option<PathBuf>,
    /// `-net-mirror`
    pub mirror: Option<String>,
    /// `-oci-mirror`
    pub images: Option<String>,
    /// These providers alone, where any are named.
    pub providers: Vec<String>,
}

/// What is told on the way.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A package is fetched.
    Fetching(Provider, Version, Platform),
    /// A package was fetched.
    Retrieved(Provider, Version, Platform, Authentication),
    /// What a platform's package brought.
    Obtained(Provider, Platform, News),
}

/// What is new in the lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The provider.
    Provider,
    /// Checksums.
    Hashes,
    /// Nothing.
    Nothing,
}

/// Reads `-platform` flags; this platform where there is none.
pub fn platforms(given: &[String]) -> Result<Vec<Platform>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut platforms = Vec::new();
    for text in given {
        let platform = Platform::parse(text).map_err(|why| {
            Diagnostic::error("Invalid target platform").detail(format!("The string {text:?} given in the -platform option is not a valid target platform: {why}."))
        });
        platforms.extend(problems.take(platform));
    }
    if given.is_empty() {
        platforms.push(Platform::current());
    }
    if problems.has_errors() { Err(problems) } else { Ok(platforms) }
}

/// Adds checksums to the lock file. Returns whether there were any to add, and warnings.
///
/// # Errors
///
/// If a package cannot be had; the lock file is left as it was.
pub async fn lock(
    world: &World,
    sources: &Sources,
    required: &Requirements,
    choices: &Choices,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<(bool, Diagnostics), Diagnostics> {
    let settings = Settings::of(world);
    let platforms = platforms(&choices.platforms)?;
    let package_sources = package_sources(&settings, world, choices)?;
    let required = chosen(required, &choices.providers)?;
    let (mut before, mut found) = Locks::read(world, sources);
    if found.has_errors() {
        return Err(found);
    }
    let adopted = before.adopt();
    if !adopted.is_empty() {
        found.push(problems::adopted(&adopted));
    }
    let mut after = before.clone();
    let mut news: BTreeMap<&Provider, Vec<(Platform, News)>> = BTreeMap::new();
    for platform in platforms {
        let locks = fetch(&package_sources, &platform, &before, &required, tell).await?;
        for (provider, conditions) in &required.0 {
            let Some(new) = locks.0.get(provider) else { continue };
            let old = before.0.get(provider);
            let kind = match old {
                None => News::Provider,
                Some(old) if new.hashes.is_subset(&old.hashes) => News::Nothing,
                Some(_) => News::Hashes,
            };
            news.entry(provider).or_default().push((platform.clone(), kind));
            let entry = after.0.entry(provider.clone()).or_insert_with(|| Lock {
                version: new.version.clone(),
                constraints: conditions.clone(),
                hashes: BTreeSet::new(),
            });
            if !is_same(&entry.version, &new.version) {
                return Err(inconsistent(provider).into());
            }
            entry.constraints.clone_from(conditions);
            entry.hashes.extend(new.hashes.iter().cloned());
        }
    }
    let mut has_news = false;
    for (provider, platform, kind) in news
        .into_iter()
        .flat_map(|(provider, it)| it.into_iter().map(move |it| (provider, it.0, it.1)))
    {
        has_news |= kind != News::Nothing;
        tell(Progress::Obtained(provider.clone(), platform, kind));
    }
    after.write(world)?;
    Ok((has_news, found))
}

fn package_sources(
    settings: &Settings,
    world: &World,
    choices: &Choices,
) -> Result<PackageSources, Diagnostic> {
    if let Some(template) = &choices.images {
        return PackageSources::images(template, settings, world)
            .map_err(|why| Diagnostic::error("Invalid OCI repository template").detail(why));
    }
    match (&choices.folder, &choices.mirror) {
        (Some(folder), _) => Ok(PackageSources::folders([folder.clone()], settings, world)),
        (None, Some(url)) => PackageSources::network(url, settings, world).map_err(|_| {
            Diagnostic::error("Invalid network mirror URL").detail(
                "The -net-mirror option requires a valid https: URL as the mirror base URL.",
            )
        }),
        (None, None) => Ok(PackageSources::registries(settings, world)),
    }
}

/// Leaves those providers that are named, and that can be locked at all.
fn chosen(required: &Requirements, named: &[String]) -> Result<Requirements, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut wanted = BTreeSet::new();
    for text in named {
        let Some(provider) = problems.take(text.parse::<Provider>()) else { continue };
        if !required.0.contains_key(&provider) {
            problems.push(Diagnostic::error("Invalid provider argument").detail(format!(
                "The provider {provider} is not required by the current configuration."
            )));
        }
        wanted.insert(provider);
    }
    if problems.has_errors() {
        return Err(problems);
    }
    let mut left = required.clone();
    left.0.retain(|it, _| !it.is_builtin() && (named.is_empty() || wanted.contains(it)));
    Ok(left)
}

/// Installs everything for one platform into a folder that goes again, and returns what is to be locked of it.
async fn fetch(
    package_sources: &PackageSources,
    platform: &Platform,
    locks: &Locks,
    required: &Requirements,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Locks, Diagnostics> {
    let folder = tempfile::tempdir().map_err(|it| {
        Diagnostic::error("Could not create temporary directory").detail(format!(
            "Failed to create a temporary directory for staging the requested provider packages: {it}."
        ))
    })?;
    let warnings = Mutex::new(Diagnostics::new());
    let hear = |event: Event| match event {
        Event::Installing { provider, version, .. } => {
            tell(Progress::Fetching(provider, version, platform.clone()));
        }
        Event::Installed { provider, version, authentication } => {
            tell(Progress::Retrieved(provider, version, platform.clone(), authentication));
        }
        Event::Warning(provider, words) => {
            let mut warnings = warnings.lock();
            warnings.push(problems::warned(&provider, &words));
        }
        _ => {}
    };
    let installer = Installer {
        package_sources,
        folder: folder.path().to_owned(),
        cache: None,
        trusts_cache: false,
        platform: platform.clone(),
        overridden: BTreeSet::new(),
        tell: &hear,
    };
    let outcome = installer.ensure(locks, required, Mode::Lock).await;
    if outcome.failures.is_empty() {
        return Ok(outcome.locks);
    }
    let lines: String = outcome
        .failures
        .iter()
        .map(|(provider, failure)| format!("\n- {provider}: {failure}"))
        .collect();
    Err(Diagnostic::error("Could not retrieve providers for locking")
        .detail(format!(
            "Failed to fetch the requested providers for {platform} in order to calculate their checksums: some providers could not be installed:{lines}."
        ))
        .into())
}

fn inconsistent(provider: &Provider) -> Diagnostic {
    Diagnostic::error("Inconsistent provider versions").detail(format!(
        "The version constraint for {provider} selected inconsistent versions for different platforms, which is unexpected.\n\nThe upstream registry may have changed its available versions in the meantime. If so, running this command again may succeed."
    ))
}

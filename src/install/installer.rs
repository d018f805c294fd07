//! Brings the plugins that a configuration needs into its folder, and says what to write into the lock file.
//!
//! For each provider the first of these counts: what is installed and locked already; a mirror's newest version that fits;
//! the embedded provider, if its version fits and no package of it is locked; a registry's newest version that fits.

use crate::world::{PRODUCT, PROGRAM};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, stream};

use super::authenticate::must_be_signed;
use super::hash::{Hash, folder_matches, hash_folder};
use super::lock::{Lock, Locks};
use super::offer::{Package, PackagePlace};
use super::package::{executable, guard, install_archive, install_folder, installed_folder, tidy};
use super::package_sources::{PackageSources, Reach};
use super::requirement::{allows, is_same};
use super::standing::{Authentication, Standing};
use super::trouble::Trouble;
use super::{Platform, Requirements};
use crate::address::Provider;
use crate::config::version::{Constraint, Version, normal};
use crate::error::{Error, ErrorContext};
use crate::provider::builtin;

mod event;

pub use self::event::{Event, Failure};

/// How versions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What is locked stays.
    Keep,
    /// The newest that the conditions allow.
    Upgrade,
    /// What is locked stays, in packages with any checksum; embedded providers are installed as all others.
    Lock,
}

/// What an installation did.
#[derive(Clone, Debug, Default)]
pub struct InstallResult {
    /// What is to be locked now.
    pub locks: Locks,
    /// What went wrong.
    pub failures: BTreeMap<Provider, Failure>,
    /// Providers that only checksums for this platform are known of.
    pub incomplete: BTreeSet<Provider>,
}

/// Installs providers.
pub struct Installer<'a> {
    /// Where packages come from.
    pub package_sources: &'a PackageSources,
    /// The folder of installed packages: `.terraform/providers`.
    pub folder: PathBuf,
    /// The shared cache.
    pub cache: Option<PathBuf>,
    /// Whether the cache is believed where nothing is locked.
    pub trusts_cache: bool,
    /// What is installed for.
    pub platform: Platform,
    /// Providers that come from elsewhere: `dev_overrides` and those that run already.
    pub overridden: BTreeSet<Provider>,
    /// Who is told what happens.
    pub tell: &'a (dyn Fn(Event) + Sync),
}

/// How many packages are loaded at the same time.
const AT_ONCE: usize = 4;

/// What was decided for one provider.
enum Choice {
    /// Nothing needs to be done.
    Nothing,
    /// Nothing needs to be done, and the lock entry goes.
    Unlocked,
    /// This version is to be installed.
    Version(Version),
}

/// A folder that a package is put into, and whether it is in the cache that other folders share.
struct Place {
    folder: PathBuf,
    is_cache: bool,
}

/// A package in place: its checksums, and what was found out about it.
struct Placed {
    hashes: BTreeSet<Hash>,
    authentication: Option<Authentication>,
    is_incomplete: bool,
}

impl Installer<'_> {
    /// Makes sure that every required provider is there. `locks` is what is locked so far.
    pub async fn ensure(
        &self,
        locks: &Locks,
        required: &Requirements,
        mode: Mode,
    ) -> InstallResult {
        let mut outcome = InstallResult { locks: locks.clone(), ..InstallResult::default() };
        let mut chosen = Vec::new();
        for (provider, conditions) in &required.0 {
            match self.choose(provider, conditions, locks, mode).await {
                Ok(Choice::Version(version)) => chosen.push((provider, conditions, version)),
                Ok(Choice::Nothing) => {}
                Ok(Choice::Unlocked) => drop(outcome.locks.0.remove(provider)),
                Err(failure) => drop(outcome.failures.insert(provider.clone(), failure)),
            }
        }
        let install = |(provider, conditions, version): (&Provider, &Vec<Constraint>, Version)| {
            let (provider, constraints) = (provider.clone(), conditions.clone());
            async move {
                let lock = locks.0.get(&provider).filter(|it| is_same(&it.version, &version));
                let placed = self.install(&provider, &version, lock, mode).await;
                (provider, constraints, version, placed)
            }
        };
        let mut installing = stream::iter(chosen).map(install).buffer_unordered(AT_ONCE);
        let mut is_signed = false;
        while let Some((provider, constraints, version, placed)) = installing.next().await {
            match placed {
                Ok(placed) => {
                    is_signed |= placed.authentication.as_ref().is_some_and(|it| it.is_signed());
                    if placed.is_incomplete {
                        outcome.incomplete.insert(provider.clone());
                    }
                    let lock = Lock { version, constraints, hashes: placed.hashes };
                    outcome.locks.0.insert(provider, lock);
                }
                Err(failure) => drop(outcome.failures.insert(provider, failure)),
            }
        }
        if is_signed {
            (self.tell)(Event::Signed);
        }
        outcome.locks.0.retain(|provider, _| required.0.contains_key(provider));
        outcome
    }

    async fn choose(
        &self,
        provider: &Provider,
        conditions: &[Constraint],
        locks: &Locks,
        mode: Mode,
    ) -> Result<Choice, Failure> {
        if provider.is_builtin() {
            return self.built_in(provider, conditions);
        }
        if self.overridden.contains(provider) {
            return Ok(Choice::Nothing);
        }
        let lock = locks.0.get(provider).filter(|_| mode != Mode::Upgrade);
        if let Some(lock) = lock {
            (self.tell)(Event::Reusing(provider.clone()));
            if !allows(conditions, &lock.version) {
                return Err(Failure::Query(Trouble::Other(format!(
                    "locked provider {provider} {} does not match configured version constraint {}; must use {PROGRAM} init -upgrade to allow selection of new versions",
                    lock.version,
                    normal(conditions)
                ))));
            }
            if self.is_installed(provider, lock) {
                return Ok(Choice::Version(lock.version.clone()));
            }
        }
        let fits = |it: &Version| match lock {
            Some(lock) => is_same(&lock.version, it),
            None => allows(conditions, it),
        };
        // What is locked by checksums is a package, which may be another program in the same version.
        let is_package = locks.0.get(provider).is_some_and(|it| !it.hashes.is_empty());
        if let Some(version) = builtin::version(provider).and_then(Version::parse)
            && mode != Mode::Lock
            && !is_package
            && !self.package_sources.is_exclusive()
        {
            let mirrored = self.package_sources.versions(provider, Reach::Mirrors).await;
            let has_mirrored = mirrored.is_ok_and(|it| it.0.iter().any(&fits));
            if !has_mirrored && fits(&version) {
                (self.tell)(Event::Embedded(provider.clone(), version.to_string()));
                // Others may need the entry; it says the same.
                let stays = locks.0.get(provider).is_some_and(|it| is_same(&it.version, &version));
                return Ok(if stays { Choice::Nothing } else { Choice::Unlocked });
            }
        }
        if lock.is_none() {
            let text = (!conditions.is_empty()).then(|| normal(conditions));
            (self.tell)(Event::Finding(provider.clone(), text));
        }
        self.newest(provider, conditions, lock, &fits)
            .await
            .map(Choice::Version)
            .map_err(Failure::Query)
    }

    fn built_in(&self, provider: &Provider, conditions: &[Constraint]) -> Result<Choice, Failure> {
        if builtin::version(provider).is_none() {
            return Err(Failure::BuiltIn(format!(
                "this {PRODUCT} release has no built-in provider named {:?}",
                provider.kind
            )));
        }
        if !conditions.is_empty() {
            let why = "built-in providers do not support explicit version constraints";
            return Err(Failure::BuiltIn(why.to_owned()));
        }
        (self.tell)(Event::BuiltIn(provider.clone()));
        Ok(Choice::Nothing)
    }

    async fn newest(
        &self,
        provider: &Provider,
        conditions: &[Constraint],
        lock: Option<&Lock>,
        fits: &dyn Fn(&Version) -> bool,
    ) -> Result<Version, Trouble> {
        if let Some(lock) = lock.filter(|it| self.is_cached(provider, &it.version)) {
            return Ok(lock.version.clone());
        }
        let (versions, warnings) = self.package_sources.versions(provider, Reach::All).await?;
        if !warnings.is_empty() {
            (self.tell)(Event::Warning(provider.clone(), warnings));
        }
        if let Some(version) = versions.iter().rev().find(|it| fits(it)) {
            return Ok(version.clone());
        }
        let why = match lock {
            Some(lock) => {
                format!("the previously-selected version {} is no longer available", lock.version)
            }
            None => {
                let conditions = normal(conditions);
                let found = offered(&versions);
                format!("no available releases match the given constraints {conditions}{found}")
            }
        };
        Err(Trouble::Other(why))
    }

    fn target(&self, provider: &Provider, version: &Version) -> PathBuf {
        installed_folder(&self.folder, provider, version, &self.platform)
    }

    fn is_cached(&self, provider: &Provider, version: &Version) -> bool {
        self.cache
            .as_ref()
            .is_some_and(|it| installed_folder(it, provider, version, &self.platform).is_dir())
    }

    fn is_installed(&self, provider: &Provider, lock: &Lock) -> bool {
        let folder = self.target(provider, &lock.version);
        folder.is_dir() && folder_matches(&folder, &lock.usable()).unwrap_or(false)
    }

    async fn install(
        &self,
        provider: &Provider,
        version: &Version,
        lock: Option<&Lock>,
        mode: Mode,
    ) -> Result<Placed, Failure> {
        let target = self.target(provider, version);
        if let Some(lock) = lock.filter(|it| self.is_installed(provider, it)) {
            tidy(&target);
            return Ok(self.already(provider, lock, false));
        }
        let Some(cache) = &self.cache else {
            return self
                .put(provider, version, lock, Place { folder: target, is_cache: false }, mode)
                .await;
        };
        let shared = installed_folder(cache, provider, version, &self.platform);
        let place = Place { folder: shared.clone(), is_cache: true };
        let placed = self.put(provider, version, lock, place, mode).await?;
        (self.tell)(Event::Linking(provider.clone(), version.clone()));
        install_folder(&shared, &target, &format!("{provider} {version}"), &[])
            .map_err(|it| Failure::Link(version.clone(), it))?;
        Ok(placed)
    }

    fn already(&self, provider: &Provider, lock: &Lock, in_cache: bool) -> Placed {
        let version = lock.version.clone();
        (self.tell)(Event::AlreadyInstalled { provider: provider.clone(), version, in_cache });
        Placed { hashes: lock.hashes.clone(), authentication: None, is_incomplete: false }
    }

    /// Installs a package into a folder, unless what is there already is what is locked.
    async fn put(
        &self,
        provider: &Provider,
        version: &Version,
        lock: Option<&Lock>,
        place: Place,
        mode: Mode,
    ) -> Result<Placed, Failure> {
        let Place { folder: target, is_cache: to_cache } = place;
        let before = lock.map(Lock::usable).unwrap_or_default();
        let allowed = if mode == Mode::Lock { Vec::new() } else { before.clone() };
        if let Some(lock) = lock
            && target.is_dir()
            && folder_matches(&target, &allowed).unwrap_or(false)
        {
            tidy(&target);
            return Ok(self.already(provider, lock, to_cache));
        }
        let failed = |it: Trouble| Failure::Fetch(version.clone(), it);
        let package = self
            .package_sources
            .package(provider, version, &self.platform)
            .await
            .map_err(failed)?;
        (self.tell)(Event::Installing {
            provider: provider.clone(),
            version: version.clone(),
            to_cache,
        });
        let failed = |it: Error| Failure::Fetch(version.clone(), Trouble::Other(it.into()));
        let what = format!("{provider} {version}");
        let guarded = guard(&target, || {
            let folder = self.cache.as_ref().filter(|_| to_cache).unwrap_or(&self.folder);
            (self.tell)(Event::WaitingForCache(folder.clone()));
        });
        let held = guarded.await.map_err(failed)?;
        let is_believed = to_cache
            && self.trusts_cache
            && allowed.is_empty()
            && executable(&target, provider).is_ok();
        let authentication = match is_believed {
            true => None,
            false => self.unpack(&package, &target, &what, &allowed).await.map_err(failed)?,
        };
        drop(held);
        executable(&target, provider).context("provider binary not found").map_err(failed)?;
        let own = hash_folder(&target)
            .context(format_args!(
                "after installing {provider}, failed to compute a checksum for it"
            ))
            .map_err(failed)?;
        let must_be_signed = must_be_signed(self.package_sources.web(), provider);
        let placed = collect(own, &before, authentication, must_be_signed);
        (self.tell)(Event::Installed {
            provider: provider.clone(),
            version: version.clone(),
            authentication: placed.authentication.clone().unwrap_or_default(),
        });
        Ok(placed)
    }

    /// Puts what a package holds into a folder, and returns what is known of who made it.
    async fn unpack(
        &self,
        package: &Package,
        target: &Path,
        what: &str,
        allowed: &[Hash],
    ) -> Result<Option<Authentication>, Error> {
        match &package.place {
            PackagePlace::Folder(source) => {
                install_folder(source, target, what, allowed).map(|()| None)
            }
            PackagePlace::Archive(archive) => {
                install_archive(archive, target, what, allowed).map(|()| None)
            }
            PackagePlace::Download(remote) => {
                let archive = self.package_sources.download(remote).await?;
                let path = archive.path();
                let checked = self.package_sources.check(package, path).transpose()?;
                install_archive(path, target, what, allowed).map(|()| checked)
            }
        }
    }
}

/// Puts together what is to be locked: the package's own checksum, those locked before, those checked here, and those that
/// a registry vouches for.
fn collect(
    own: Hash,
    before: &[Hash],
    authentication: Option<Authentication>,
    must_be_signed: bool,
) -> Placed {
    let is_vouched = |it: &Standing| match must_be_signed {
        true => !it.keys.is_empty(),
        false => it.is_reported || it.is_trusted,
    };
    let known = authentication.clone().unwrap_or_default().hashes;
    let mut local: BTreeSet<Hash> =
        known.iter().filter(|it| it.1.is_verified).map(|it| it.0.clone()).collect();
    local.insert(own);
    let vouched: BTreeSet<Hash> =
        known.iter().filter(|it| is_vouched(it.1)).map(|it| it.0.clone()).collect();
    let before: BTreeSet<Hash> = before.iter().cloned().collect();
    let is_incomplete = vouched.is_empty() && (before.is_empty() || before == local);
    let hashes = local.into_iter().chain(vouched).chain(before).collect();
    Placed { hashes, authentication, is_incomplete }
}

/// Tells what there is instead of what was asked for, and what can be done about it.
fn offered(versions: &[Version]) -> String {
    let newest: Vec<String> = versions.iter().rev().take(5).map(Version::to_string).collect();
    match newest.as_slice() {
        [] => String::new(),
        [only] if versions.len() == 1 => {
            format!(
                "\n\nThere is only version {only}. Allow it, or add a place that has others to the CLI configuration."
            )
        }
        newest => format!(
            "\n\nThere are {} versions, the newest of them {}. Allow one of these, or add a place that has others to the CLI configuration.",
            versions.len(),
            newest.join(", ")
        ),
    }
}

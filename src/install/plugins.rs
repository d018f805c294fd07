//! Which program stands behind each provider now, and why: the only door to plugins after `init`.

use crate::world::PROGRAM;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hash::{Hash, hash_opened};
use super::lock::Locks;
use super::package::{executable, installed_folder};
use super::reattach::{self, Reattach};
use super::requirement::{allows, is_same};
use super::{Platform, Requirements, Settings, problems};
use crate::address::Provider;
use crate::backend::workspace::data_folder;
use crate::config::version::{Version, normal};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::error::Error;
use crate::provider::plugin::Opened;
use crate::provider::{builtin, plugin};
use crate::world::World;

/// What is installed in a folder, and what is used instead.
#[derive(Clone, Debug)]
pub struct Plugins {
    /// What the lock file says.
    pub locks: Locks,
    /// Providers that run already.
    pub running: BTreeMap<Provider, Reattach>,
    /// `dev_overrides`
    pub overrides: BTreeMap<Provider, PathBuf>,
    folder: PathBuf,
    shown_folder: String,
    platform: Platform,
    in_automation: bool,
}

/// Where a provider was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// What to use.
    pub place: Place,
    /// Its version; unknown where somebody else chose it.
    pub version: Option<Version>,
    /// Why this one is used, as the end of a sentence.
    pub why: String,
}

/// What to use for a provider.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// It is part of the program.
    Embedded,
    /// A plugin is to be started.
    Plugin(Plugin),
    /// A plugin runs already.
    Running(Reattach),
}

/// A plugin on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// The provider.
    pub provider: Provider,
    /// The program.
    pub executable: PathBuf,
    /// The folder of its package.
    pub folder: PathBuf,
    /// Checksums of which the package must have one; `None` where it need not be checked: a development override.
    pub allowed: Option<Vec<Hash>>,
    version: Option<Version>,
    shown_folder: String,
}

impl Plugin {
    /// Checks the package against the lock file, before each start, and returns the program that was checked: it, and not what
    /// its path leads to later, is to be started. A package that has not changed since it was read last is not read again.
    ///
    /// # Errors
    ///
    /// Says why it must not be started.
    pub fn verify(&self, world: &World) -> Result<Option<Arc<Opened>>, Error> {
        let Some(allowed) = &self.allowed else { return Ok(None) };
        let version = self.version.as_ref().map(Version::to_string).unwrap_or_default();
        let (provider, folder) = (&self.provider, &self.shown_folder);
        if !allowed.iter().any(Hash::is_content) {
            return Err(format!(
                "the dependency lock file has no checksum of {provider} {version} that the installed package could be compared with (one that begins with \"h1:\"), so that there is no telling whether the package in {folder} is the one that was chosen. Run \"{PROGRAM} init\", or \"{PROGRAM} providers lock\", to record it"
            ).into());
        }
        let failed = |it: std::io::Error| {
            format!(
                "failed to verify checksum of {provider} {version} package cached in {folder}: {it}"
            )
        };
        let opened = Opened::open(&self.executable).map_err(failed)?;
        let own = plugin::remembered_sum(world, &self.folder, &opened, || {
            hash_opened(&self.folder, &opened).map(|it| it.to_string())
        });
        let own = own.map_err(failed)?;
        if allowed.iter().any(|it| it.to_string() == own)
            && opened.is_unchanged().map_err(failed)?
        {
            return Ok(Some(Arc::new(opened)));
        }
        Err(format!(
            "the cached package for {provider} {version} (in {folder}) does not match any of the checksums recorded in the dependency lock file, run {PROGRAM} init to ensure all providers are correctly installed"
        ).into())
    }
}

impl Located {
    /// Returns what kind of thing it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self.place {
            Place::Embedded => "embedded",
            Place::Plugin(_) => "plugin",
            Place::Running(_) => "running plugin",
        }
    }
}

impl Plugins {
    /// Reads lock file, CLI configuration and environment. Problems of the CLI configuration are told where the program
    /// starts, not here.
    pub fn open(world: &World, sources: &Sources) -> Result<Plugins, Diagnostics> {
        let (locks, problems) = Locks::read(world, sources);
        if problems.has_errors() {
            return Err(problems);
        }
        let folder = providers_folder(world);
        let shown_folder =
            folder.strip_prefix(&world.root).unwrap_or(&folder).display().to_string();
        Ok(Plugins {
            locks,
            running: reattach::read(world)?,
            overrides: Settings::of(world).overrides(),
            folder,
            shown_folder,
            platform: Platform::current(),
            in_automation: world.variable("TF_IN_AUTOMATION").is_some(),
        })
    }

    /// Returns the providers whose lock entries do not count.
    pub fn overridden(&self) -> BTreeSet<Provider> {
        self.overrides.keys().chain(self.running.keys()).cloned().collect()
    }

    /// Returns the warning that plugins are used which nobody released.
    pub fn warning(&self) -> Option<Diagnostic> {
        let overrides: Vec<(Provider, PathBuf)> = self.overrides.clone().into_iter().collect();
        let consequence = "The behavior may therefore not match any released version of the provider and applying changes may cause the state to become incompatible with published releases.";
        (!overrides.is_empty()).then(|| problems::overridden(&overrides, consequence))
    }

    /// Returns what is used for a provider, and why.
    ///
    /// # Errors
    ///
    /// Says why there is nothing to use.
    pub fn locate(&self, provider: &Provider) -> Result<Located, Error> {
        if let Some(running) = self.running.get(provider) {
            return Ok(Located {
                place: Place::Running(running.clone()),
                version: None,
                why: "TF_REATTACH_PROVIDERS says where it runs".into(),
            });
        }
        if let Some(folder) = self.overrides.get(provider) {
            let plugin = self.package(provider, folder, None, None)?;
            let why = format!("dev_overrides in the CLI configuration name {}", folder.display());
            return Ok(Located { place: Place::Plugin(plugin), version: None, why });
        }
        let embedded = embedded_version(provider);
        if provider.is_builtin() {
            return embedded_or(provider, None, "it is built in", || {
                format!("there is no built-in provider named {:?}", provider.kind)
            });
        }
        let Some(lock) = self.locks.0.get(provider) else {
            return embedded_or(
                provider,
                embedded,
                "it is part of the program, and no plugin is locked",
                || "it is not installed: the lock file has no version of it".to_owned(),
            );
        };
        let folder = installed_folder(&self.folder, provider, &lock.version, &self.platform);
        if folder.is_dir() {
            let plugin =
                self.package(provider, &folder, Some(&lock.version), Some(lock.usable()))?;
            let why = "the lock file selects it, and it is installed".to_owned();
            return Ok(Located {
                place: Place::Plugin(plugin),
                version: Some(lock.version.clone()),
                why,
            });
        }
        // Checksums select a package, which may be another program in the same version.
        let same = embedded.filter(|it| lock.hashes.is_empty() && is_same(it, &lock.version));
        let why = "it is part of the program, in the version that the lock file selects";
        match same {
            Some(version) => {
                Ok(Located { place: Place::Embedded, version: Some(version), why: why.into() })
            }
            None => Err(format!(
                "there is no package for {provider} {} cached in {}",
                lock.version, self.shown_folder
            )
            .into()),
        }
    }

    fn package(
        &self,
        provider: &Provider,
        folder: &Path,
        version: Option<&Version>,
        allowed: Option<Vec<Hash>>,
    ) -> Result<Plugin, Error> {
        Ok(Plugin {
            provider: provider.clone(),
            executable: executable(folder, provider)?,
            folder: folder.to_owned(),
            allowed,
            version: version.cloned(),
            shown_folder: self.shown_folder.clone(),
        })
    }

    /// Checks what is locked and installed against what is required, before anything is planned.
    pub fn check(&self, required: &Requirements) -> Diagnostics {
        let missing = self.not_cached();
        if !missing.is_empty() {
            return problems::not_installed(&missing, self.in_automation).into();
        }
        self.check_locked(required)
    }

    /// Checks that all that is locked is installed, or part of the program.
    pub fn check_cached(&self) -> Diagnostics {
        match self.not_cached() {
            missing if missing.is_empty() => Diagnostics::new(),
            missing => problems::not_cached(&missing).into(),
        }
    }

    /// Says which locked packages are not there, and why.
    fn not_cached(&self) -> Vec<String> {
        let overridden = self.overridden();
        let locked = self.locks.0.keys().filter(|it| !overridden.contains(it));
        locked.filter_map(|it| Some(format!("{it}: {}", self.locate(it).err()?))).collect()
    }

    /// Checks what is locked against what is required, installed or not.
    pub fn check_locked(&self, required: &Requirements) -> Diagnostics {
        match self.unfit(required) {
            wrong if wrong.is_empty() => Diagnostics::new(),
            wrong => problems::inconsistent(&wrong, self.locks.0.is_empty()).into(),
        }
    }

    /// Checks what is locked against what the configuration in a saved plan requires.
    pub fn check_saved(&self, required: &Requirements) -> Diagnostics {
        match self.unfit(required) {
            wrong if wrong.is_empty() => Diagnostics::new(),
            wrong => problems::inconsistent_with_plan(&wrong).into(),
        }
    }

    /// Checks that all that is required can be had, and the versions that are part of the program against what is
    /// required, where none is locked.
    pub fn check_available(&self, required: &Requirements) -> Diagnostics {
        let located = |it| self.locate(it).err();
        let are_all_there = required.0.keys().all(|it| located(it).is_none());
        let missing = required.0.keys().filter_map(|it| match located(it) {
            Some(why) => Some(self.unavailable(it, &why)),
            // What is part of the program is locked with the others.
            None if !are_all_there && self.is_to_be_locked(it) => {
                Some(problems::not_available(it, None))
            }
            None => None,
        });
        match are_all_there {
            true => self.check_embedded(required),
            false => missing.collect::<Vec<_>>().into(),
        }
    }

    /// Returns whether `init` would put a provider into the lock file.
    fn is_to_be_locked(&self, provider: &Provider) -> bool {
        let is_ours = self.overrides.contains_key(provider) || self.running.contains_key(provider);
        !provider.is_builtin() && !is_ours && !self.locks.0.contains_key(provider)
    }

    /// Checks that what is required of providers that are built in exists.
    pub fn check_builtin(&self, required: &Requirements) -> Diagnostics {
        let builtin = required.0.keys().filter(|it| it.is_builtin());
        let missing = builtin.filter_map(|it| Some(self.unavailable(it, &self.locate(it).err()?)));
        missing.collect::<Vec<_>>().into()
    }

    /// Returns the problem that a provider cannot be had.
    ///
    /// - `why`: what [`Plugins::locate`] says.
    pub fn unavailable(&self, provider: &Provider, why: &Error) -> Diagnostic {
        // Where nothing is locked, there is no other reason than that.
        let is_locked =
            self.locks.0.contains_key(provider) || self.overrides.contains_key(provider);
        problems::not_available(provider, Some(why).filter(|_| is_locked))
    }

    pub(super) fn check_embedded(&self, required: &Requirements) -> Diagnostics {
        let overridden = self.overridden();
        let free = required.0.iter().filter(|it| {
            !it.0.is_builtin() && !overridden.contains(it.0) && !self.locks.0.contains_key(it.0)
        });
        let unfit = free.filter_map(|(provider, conditions)| {
            let version = embedded_version(provider).filter(|it| !allows(conditions, it))?;
            Some(problems::embedded_does_not_fit(provider, &version, &normal(conditions)))
        });
        unfit.collect::<Vec<_>>().into()
    }

    /// Says which locked versions do not fit what is required.
    fn unfit(&self, required: &Requirements) -> Vec<String> {
        let overridden = self.overridden();
        let mut wrong = Vec::new();
        for (provider, conditions) in &required.0 {
            if provider.is_builtin() || overridden.contains(provider) {
                continue;
            }
            let allowed = normal(conditions);
            match self.locks.0.get(provider) {
                Some(lock) if allows(conditions, &lock.version) => {}
                Some(lock) if allowed != normal(&lock.constraints) => wrong.push(format!(
                    "provider {provider}: locked version selection {} doesn't match the updated version constraints {allowed:?}",
                    lock.version
                )),
                Some(lock) => wrong.push(format!(
                    "provider {provider}: version constraints {allowed:?} don't match the locked version selection {}",
                    lock.version
                )),
                None => match embedded_version(provider) {
                    Some(version) if allows(conditions, &version) => {}
                    Some(version) => wrong.push(format!(
                        "provider {provider}: required by this configuration but no version is selected (the version {version} that is part of the program does not match the constraints {allowed:?})"
                    )),
                    None => wrong.push(format!(
                        "provider {provider}: required by this configuration but no version is selected"
                    )),
                },
            }
        }
        wrong
    }
}

/// Returns the folder of installed packages.
pub fn providers_folder(world: &World) -> PathBuf {
    data_folder(world).join("providers")
}

fn embedded_version(provider: &Provider) -> Option<Version> {
    builtin::version(provider).and_then(Version::parse)
}

fn embedded_or(
    provider: &Provider,
    version: Option<Version>,
    why: &str,
    otherwise: impl FnOnce() -> String,
) -> Result<Located, Error> {
    match builtin::version(provider) {
        Some(_) => Ok(Located { place: Place::Embedded, version, why: why.to_owned() }),
        None => Err(otherwise().into()),
    }
}

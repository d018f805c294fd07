//! `init`'s part that is about providers: collects what is required, installs it, and keeps the lock file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::address::Provider;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::install::{
    Event, Installer, Locks, Mode, PackageSources, Platform, Plugins, Requirements, Settings,
    problems, providers_folder, record_folders,
};
use crate::state::State;
use crate::world::{PROGRAM, World};

use super::session::Session;

pub mod lock;
pub mod mirror;

/// How to install.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// `-upgrade`
    pub upgrade: bool,
    /// `-plugin-dir`: nothing but these folders.
    pub folders: Vec<PathBuf>,
    /// `-lockfile=readonly`
    pub readonly: bool,
}

/// What became of the lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockFile {
    /// Nothing changed.
    Same,
    /// It is there for the first time.
    Created,
    /// It says something else.
    Changed,
}

/// Returns every provider that configuration and state require.
pub fn required(session: &Session, state: &State) -> (Requirements, Diagnostics) {
    let (required, problems) = Requirements::of(&session.config);
    let required = required.and(session.also_required.clone());
    (required.also(session.needed_providers(state)), problems)
}

/// Installs the providers that configuration and state need. Problems that did not stop it come beside the result.
///
/// # Errors
///
/// If any provider cannot be installed; the lock file is left as it was.
pub async fn install(
    session: &Session,
    state: &State,
    choices: &Choices,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<(LockFile, Diagnostics), Diagnostics> {
    let world = &session.world;
    record_folders(world, &choices.folders)?;
    let settings = Settings::of(world);
    let mut found = Diagnostics::new();
    let overrides: Vec<(Provider, PathBuf)> = settings.overrides().into_iter().collect();
    if !overrides.is_empty() {
        let consequence = "Skip init when using provider development overrides. It is not necessary and may error unexpectedly.";
        found.push(problems::overridden(&overrides, consequence));
    }
    let (required, wrong) = required(session, state);
    found.extend(wrong);
    found.extend(doubtful(&required));
    let plugins = Plugins::open(world, &session.sources)?;
    let before = plugins.locks.clone();
    let mut locks = before.clone();
    let adopted = locks.adopt();
    if !adopted.is_empty() {
        found.push(problems::adopted(&adopted));
    }
    let (package_sources, wrong) = choices.package_sources(&settings, world);
    found.extend(wrong);
    if choices.upgrade && choices.readonly {
        found.push(conflicting_options());
    }
    if found.has_errors() {
        return Err(found);
    }
    let warnings = parking_lot::Mutex::new(Diagnostics::new());
    let hear = |event: Event| match event {
        Event::Warning(provider, words) => {
            let mut warnings = warnings.lock();
            warnings.push(problems::warned(&provider, &words));
        }
        event => tell(event),
    };
    let installer = Installer {
        package_sources: &package_sources,
        folder: providers_folder(world),
        cache: settings.cache.clone(),
        trusts_cache: settings.cache_may_break_lock,
        platform: Platform::current(),
        overridden: match PROGRAM.is_in_place_of_another() {
            // Those programs install what a development override replaces, too, and may fail.
            true => plugins.running.keys().cloned().collect(),
            false => plugins.overridden(),
        },
        tell: &hear,
    };
    let mode = if choices.upgrade { Mode::Upgrade } else { Mode::Keep };
    let outcome = installer.ensure(&locks, &required, mode).await;
    found.extend(warnings.into_inner());
    for (provider, failure) in &outcome.failures {
        let conditions = required.0.get(provider).map(Vec::as_slice).unwrap_or_default();
        found.push(problems::failed(provider, failure, conditions));
    }
    if found.has_errors() {
        return Err(found);
    }
    let incomplete: Vec<String> = outcome.incomplete.iter().map(Provider::short).collect();
    let lock_file = keep(session, choices, &before, &outcome.locks, &incomplete, &mut found)?;
    Ok((lock_file, found))
}

impl Choices {
    /// Where packages are looked for: in the folders that were named, else where the settings say.
    fn package_sources(
        &self,
        settings: &Settings,
        world: &Arc<World>,
    ) -> (PackageSources, Diagnostics) {
        if self.folders.is_empty() {
            return PackageSources::of(settings, world);
        }
        let folders = self.folders.iter().cloned();
        (PackageSources::folders(folders, settings, world), Diagnostics::new())
    }
}

fn conflicting_options() -> Diagnostic {
    Diagnostic::error("Conflicting options")
        .detail("The -upgrade flag conflicts with -lockfile=readonly.")
}

/// Writes the lock file where it says something new and may be written.
fn keep(
    session: &Session,
    choices: &Choices,
    before: &Locks,
    after: &Locks,
    incomplete: &[String],
    found: &mut Diagnostics,
) -> Result<LockFile, Diagnostics> {
    if after.choose_alike(before) {
        return Ok(LockFile::Same);
    }
    if choices.readonly {
        if !after.0.keys().eq(before.0.keys()) {
            found.push(problems::other_providers());
            return Err(std::mem::take(found));
        }
        found.push(problems::not_updated());
        return Ok(LockFile::Same);
    }
    if !incomplete.is_empty() {
        found.push(problems::incomplete(incomplete, &Platform::current()));
    }
    after.write(&session.world)?;
    Ok(if before.0.is_empty() { LockFile::Created } else { LockFile::Changed })
}

/// Addresses that are likely not what was meant.
fn doubtful(required: &Requirements) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for provider in required.0.keys() {
        if ["hashicorp", "opentofu"].contains(&&*provider.namespace) {
            kinds.entry(&provider.kind).or_default().push(provider.short());
        }
        if &*provider.namespace == "-" {
            found.push(problems::legacy(&provider.kind));
        }
    }
    for (kind, providers) in kinds.into_iter().filter(|it| it.1.len() > 1) {
        found.push(problems::mixed_up(kind, &providers));
    }
    found
}

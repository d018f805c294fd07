//! Installs policies that have a source: fetches them as packages of modules are, and locks what came.
//!
//! Only rules are kept of a package. Nothing takes the place of what is installed before it is known to be what is locked.

use std::path::{Path, PathBuf};

use super::installed::{File, base, digest, files, folder, read};
use super::lock::{PolicyLock, PolicyLocks};
use super::wanted::{Place, Wanted, of_flag, of_settings};
use super::{ENDING, files_below, problems};
use crate::backend::files::NewFolder;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::error::Error;
use crate::install::Settings;
use crate::operation::modules::fetch::replace;
use crate::operation::modules::package::{Packages, Which};
use crate::world::World;

/// What is told while policies are installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There are policies with a source.
    Begun,
    /// A source is fetched: its address.
    Fetching(String),
    /// A source is as it is locked: its address and version.
    Kept(String, Option<String>),
    /// A source was installed: its address and version.
    Installed(String, Option<String>),
    /// The lock file was written.
    Locked,
}

/// How policies are installed.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// Fetches everything again, and locks what comes.
    pub upgrade: bool,
    /// Refuses whatever would change the lock file.
    pub readonly: bool,
    /// Is told of every step.
    pub tell: &'a dyn Fn(Progress),
}

/// Installs what the CLI configuration and flags name, where it lies elsewhere. What is locked and no longer asked for stays locked:
/// others may ask for it.
///
/// # Errors
///
/// If something cannot be had, or is not what is locked. What was installed by then stays.
pub fn install(
    world: &World,
    sources: &Sources,
    words: &[String],
    how: How<'_>,
) -> Result<(), Diagnostics> {
    let settings = Settings::of(world);
    let wanted = wanted(world, &settings, words)?;
    if wanted.is_empty() {
        return Ok(());
    }
    (how.tell)(Progress::Begun);
    let before = PolicyLocks::read(world, sources)?;
    let beside = beside(world).map_err(|why| problems::no_place(&why))?;
    let packages = Packages::new(world, beside.path(), &settings);
    let mut work = Work { world, how, locks: before.clone(), packages, beside, fetched: 0 };
    let mut problems = Diagnostics::new();
    for it in &wanted {
        problems.take(work.one(it));
    }
    if work.locks != before {
        work.locks.write(world)?;
        (how.tell)(Progress::Locked);
    }
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

/// Returns what has to be installed; each source once, with the conditions of all who ask for it.
fn wanted(
    world: &World,
    settings: &Settings,
    words: &[String],
) -> Result<Vec<Wanted>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut places: Vec<Place> = problems
        .take(of_settings(world, settings, false))
        .unwrap_or_default()
        .into_iter()
        .map(|it| it.place)
        .collect();
    for word in words {
        places.extend(problems.take(of_flag(world, word)));
    }
    if problems.has_errors() {
        return Err(problems);
    }
    let mut found: Vec<Wanted> = Vec::new();
    for place in places {
        let Place::Elsewhere(it) = place else { continue };
        match found.iter_mut().find(|other| other.address == it.address) {
            Some(other) => other.conditions.extend(it.conditions),
            None => found.push(it),
        }
    }
    Ok(found)
}

fn beside(world: &World) -> std::io::Result<NewFolder> {
    let base = base(world);
    std::fs::create_dir_all(&base)?;
    NewFolder::within(&base)
}

struct Work<'a> {
    world: &'a World,
    how: How<'a>,
    locks: PolicyLocks,
    packages: Packages,
    /// Where packages lie until all is done: what several sources have in common is fetched once.
    beside: NewFolder,
    /// How many packages were fetched.
    fetched: usize,
}

impl Work<'_> {
    /// Installs one source, unless it is there as it is locked.
    fn one(&mut self, wanted: &Wanted) -> Result<(), Diagnostic> {
        let locked = self.locks.0.get(&wanted.address).filter(|_| !self.how.upgrade).cloned();
        if let Some(lock) = &locked {
            if !lock.meets(&wanted.conditions) {
                return Err(problems::other_version(wanted, true));
            }
            let here = files(self.world, &folder(self.world, &wanted.address));
            if here.is_ok_and(|it| digest(&it).is_ok_and(|it| it == lock.digest)) {
                let version = lock.version.as_ref().map(ToString::to_string);
                (self.how.tell)(Progress::Kept(wanted.address.clone(), version));
                return Ok(());
            }
        }
        (self.how.tell)(Progress::Fetching(wanted.address.clone()));
        let not_fetched = |why: Error| problems::not_fetched(wanted, &why);
        let which = match locked.as_ref().and_then(|it| it.version.as_ref()) {
            Some(version) => Which::Exactly(version),
            None => Which::Newest(&wanted.conditions),
        };
        self.fetched += 1;
        let beside = self.beside.path().join(self.fetched.to_string());
        std::fs::create_dir(&beside).map_err(|it| not_fetched(it.into()))?;
        let package = beside.join("package");
        let fetched = self.packages.fetch(&wanted.source, which, &package).map_err(not_fetched)?;
        let texts = self.rules_of(&package, &fetched.inner)?;
        if texts.is_empty() {
            return Err(problems::nothing_fetched(wanted));
        }
        let lock = PolicyLock { version: fetched.version, digest: digest(&texts)? };
        if let Some(locked) = &locked
            && *locked != lock
        {
            return Err(problems::fetched_other(wanted, &locked.digest, &lock.digest));
        }
        if self.how.readonly && self.locks.0.get(&wanted.address) != Some(&lock) {
            return Err(problems::readonly(wanted));
        }
        self.put(&wanted.address, &texts, &beside).map_err(not_fetched)?;
        let version = lock.version.as_ref().map(ToString::to_string);
        (self.how.tell)(Progress::Installed(wanted.address.clone(), version));
        self.locks.0.insert(wanted.address.clone(), lock);
        Ok(())
    }

    /// Returns the rules that a package has where its address says: in a folder, or in one file. Links that lead out of the package are
    /// not followed.
    fn rules_of(&self, package: &Path, inner: &Path) -> Result<Vec<File>, Diagnostic> {
        let is_within = |path: &PathBuf| match (path.canonicalize(), package.canonicalize()) {
            (Ok(path), Ok(package)) => path.starts_with(package),
            _ => false,
        };
        let is_file = self.world.files.is_file(inner);
        let (folder, mut paths) = match is_file && inner.extension().is_some_and(|it| it == "rules")
        {
            true => (inner.parent().unwrap_or(package), vec![inner.to_owned()]),
            false => (inner, files_below(self.world, inner, ENDING)),
        };
        paths.retain(is_within);
        read(self.world, folder, paths)
    }

    /// Puts rules into the folder of their source, in place of those that were there.
    fn put(&self, address: &str, texts: &[File], beside: &Path) -> Result<(), Error> {
        let new = beside.join("rules");
        for (name, text) in texts {
            let path = new.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&new))?;
            std::fs::write(path, text)?;
        }
        replace(&folder(self.world, address), &new, &beside.join("old"))
    }
}

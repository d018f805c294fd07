//! Packages for others than module calls: fetched from any source address of a module, into a folder of the caller's.

use std::path::{Path, PathBuf};

use super::fetch::Fetcher;
use super::join_folder;
use super::registry::Trouble;
use crate::config::source::{ModuleSource, RegistryAddress, RemoteAddress, join_path};
use crate::config::version::{Constraint, Constraints, Version};
use crate::error::Error;
use crate::install::Settings;
use crate::world::World;

/// Fetches packages. What several addresses have in common is fetched once.
pub(in crate::operation) struct Packages(Fetcher);

/// A package that was fetched.
pub(in crate::operation) struct Package {
    /// The folder, or file, in it that the address names.
    pub inner: PathBuf,
    /// Its version, where a registry has it.
    pub version: Option<Version>,
}

/// Which version of a registry's package is wanted.
pub(in crate::operation) enum Which<'a> {
    /// The newest that meets these conditions; no prerelease, where there are none.
    Newest(&'a [Constraint]),
    /// This one.
    Exactly(&'a Version),
}

impl Packages {
    /// Returns what fetches packages by way of a folder.
    pub fn new(world: &World, folder: &Path, settings: &Settings) -> Packages {
        Packages(Fetcher::new(world, folder.to_owned(), settings))
    }

    /// Fetches a package into a folder, in whose place it comes.
    ///
    /// # Errors
    ///
    /// If it cannot be had, or `source` lies here.
    pub fn fetch(
        &mut self,
        source: &ModuleSource,
        which: Which<'_>,
        into: &Path,
    ) -> Result<Package, Error> {
        let (address, version) = match source {
            ModuleSource::Local(_) => return Err("it is a local path".into()),
            ModuleSource::Remote(text) => (RemoteAddress::parse(text)?, None),
            ModuleSource::Registry(text) => {
                let registry = RegistryAddress::parse(text);
                let version = self.chosen(&registry, which)?;
                let address = self.0.located(&registry, &version.to_string())?;
                let folder = join_folder(&address.folder, &registry.folder);
                (RemoteAddress { folder, ..address }, Some(version))
            }
        };
        self.0.fetch(&address, into)?;
        Ok(Package { inner: into.join(join_path(".", &address.folder)), version })
    }

    fn chosen(&self, registry: &RegistryAddress, which: Which<'_>) -> Result<Version, Error> {
        let conditions = match which {
            Which::Exactly(version) => return Ok(version.clone()),
            Which::Newest(conditions) => Constraints(conditions.to_owned()),
        };
        let versions = self.0.versions(registry).map_err(|it| match it {
            Trouble::NotFound => {
                format!("the registry at {} has no such module", registry.host).into()
            }
            Trouble::Failed(why) => why,
        })?;
        let fits = |it: &Version| match conditions.0.is_empty() {
            true => it.prerelease.is_empty(),
            false => conditions.allow(it),
        };
        let newest = versions.iter().rfind(|it| fits(it));
        newest.cloned().ok_or_else(|| match (versions.last(), conditions.0.is_empty()) {
            (Some(newest), false) => {
                format!("no version meets the conditions; the newest is {newest}").into()
            }
            _ => Error::from("the module has no released versions"),
        })
    }
}

//! `init -from-module`: a module's files become those of the working directory.

use std::path::{Path, PathBuf};

use super::How;
use super::fetch::copy_folder;
use super::package::{Packages, Which};
use crate::config::files::config_files;
use crate::config::source::ModuleSource;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorContext};
use crate::world::World;

/// Copies a module into the working directory, without files whose names begin with a dot.
///
/// - `source`: an address as in a module call; of a registry, the newest version that is no prerelease.
///
/// # Errors
///
/// If the working directory has configuration files, or the module cannot be fetched. Nothing is copied then.
pub fn copy_module(world: &World, source: &str, how: &How<'_>) -> Result<(), Diagnostic> {
    if config_files(&world.files, &world.root).is_some_and(|it| !it.is_empty()) {
        return Err(Diagnostic::error("The working directory already contains files").detail(
            "The -from-module option wants a directory without configuration files, into which the module is copied. To initialize the configuration that is there already, leave the option out.",
        ));
    }
    let failed = |why: Error| {
        Diagnostic::error("Failed to download module").detail(format!(
            "Could not copy the module from {source:?}: {}.",
            why.words().trim_end_matches('.')
        ))
    };
    let beside = tempfile::tempdir().map_err(|it| failed(it.into()))?;
    let folder = fetch(world, source, how, beside.path()).map_err(failed)?;
    if !folder.is_dir() {
        return Err(Diagnostic::error("Unreadable module directory")
            .detail(format!("There is no directory {} in {source:?}.", folder.display())));
    }
    copy_visible(&folder, &world.root).map_err(failed)
}

/// Returns the folder of a module, which is fetched where it lies elsewhere.
fn fetch(world: &World, source: &str, how: &How<'_>, beside: &Path) -> Result<PathBuf, Error> {
    let parsed = ModuleSource::parse(source, false)
        .map_err(|_| "it is no module source; a local path begins with ./ or ../")?;
    if let ModuleSource::Local(path) = parsed {
        return Ok(world.root.join(path));
    }
    let mut packages = Packages::new(world, &beside.join("modules"), how.settings);
    Ok(packages.fetch(&parsed, Which::Newest(&[]), &beside.join("package"))?.inner)
}

fn copy_visible(from: &Path, into: &Path) -> Result<(), Error> {
    let entries = std::fs::read_dir(from).context(from.display())?;
    for entry in entries {
        let entry = entry.context(from.display())?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let (path, target) = (entry.path(), into.join(&name));
        match path.is_dir() {
            true => copy_folder(&path, &target)?,
            false => {
                std::fs::copy(&path, &target).context(path.display())?;
            }
        }
    }
    Ok(())
}

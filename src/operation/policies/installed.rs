//! Policies with a source, as `init` has installed them: found by their address, and held against what is locked.
//!
//! Each source has a folder below `policies` in the data folder, named after its address, with its rules and nothing else. Whether it is
//! installed, the lock file and the checksum of that folder say together; there is no further list.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::lock::PolicyLocks;
use super::wanted::Wanted;
use super::{ENDING, files_below, problems, shown};
use crate::backend::workspace;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::install::{Hash, hash_texts};
use crate::policy::{Origin, PolicySource};
use crate::world::World;

/// A file of rules: its name below the folder of its source, with `/`, and its text.
pub(super) type File = (String, String);

/// Returns the folder of all installed sources.
pub(super) fn base(world: &World) -> PathBuf {
    workspace::data_folder(world).join(super::FOLDER)
}

/// Returns the folder of a source: what is left of its address tells people, and a checksum tells it from others.
pub(super) fn folder(world: &World, address: &str) -> PathBuf {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '.';
    let parts = address.split(|it| !is_plain(it)).filter(|it| !it.is_empty());
    let plain = parts.collect::<Vec<_>>().join("-");
    let plain = plain.trim_start_matches('.').chars().take(60).collect::<String>();
    let sum = Sha256::digest(address);
    let sum: String = sum[..6].iter().map(|it| format!("{it:02x}")).collect();
    base(world).join(format!("{plain}-{sum}"))
}

/// Returns the files of rules of a source, by name.
///
/// # Errors
///
/// If one cannot be read.
pub(super) fn files(world: &World, folder: &Path) -> Result<Vec<File>, Diagnostic> {
    read(world, folder, files_below(world, folder, ENDING))
}

/// Reads files that lie below a folder.
///
/// # Errors
///
/// If one cannot be read.
pub(super) fn read(
    world: &World,
    folder: &Path,
    paths: Vec<PathBuf>,
) -> Result<Vec<File>, Diagnostic> {
    let read = |path: PathBuf| {
        let inner = path.strip_prefix(folder).unwrap_or(&path);
        let name = inner.to_string_lossy().replace('\\', "/");
        match world.files.read_text(&path) {
            Ok(text) => Ok((name, text)),
            Err(why) => Err(problems::unreadable(&shown(world, &path), &why.to_string())),
        }
    };
    paths.into_iter().map(read).collect()
}

/// Returns the checksum of names and texts.
///
/// # Errors
///
/// If a name has a line end in it.
pub(super) fn digest(files: &[File]) -> Result<Hash, Diagnostic> {
    let texts = files.iter().map(|(name, text)| (name.clone(), text.as_bytes()));
    hash_texts(texts).map_err(|why| problems::unreadable("A file of policies", &why.to_string()))
}

/// Installed policies, and what is locked of them.
pub(super) struct Installed<'a> {
    world: &'a World,
    sources: &'a Sources,
    /// Read when it is first asked for.
    locks: Option<PolicyLocks>,
}

impl<'a> Installed<'a> {
    pub fn new(world: &'a World, sources: &'a Sources) -> Installed<'a> {
        Installed { world, sources, locks: None }
    }

    /// Returns the installed policies of a source.
    ///
    /// # Errors
    ///
    /// If they are not installed, or are not what is locked.
    pub fn read(&mut self, wanted: &Wanted) -> Result<Vec<PolicySource>, Diagnostics> {
        let locks = match self.locks.take() {
            Some(locks) => locks,
            None => PolicyLocks::read(self.world, self.sources)?,
        };
        let locks = self.locks.insert(locks);
        let folder = folder(self.world, &wanted.address);
        let files = files(self.world, &folder)?;
        let lock = locks.0.get(&wanted.address).filter(|_| !files.is_empty());
        let lock = lock.ok_or_else(|| problems::not_installed(wanted))?;
        if !lock.meets(&wanted.conditions) {
            return Err(problems::other_version(wanted, false).into());
        }
        let found = digest(&files)?;
        if found != lock.digest {
            return Err(problems::changed(wanted, &lock.digest, &found).into());
        }
        let origin = Origin::Source {
            address: wanted.address.clone(),
            version: lock.version.as_ref().map(ToString::to_string),
            digest: found.to_string(),
        };
        let source = |(name, text): File| PolicySource {
            name: shown(self.world, &folder.join(name)),
            group: wanted.asked.group(),
            text,
            modules: Vec::new(),
            is_required: false,
            origin: origin.clone(),
        };
        Ok(files.into_iter().map(source).collect())
    }
}

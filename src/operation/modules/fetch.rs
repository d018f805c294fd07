//! Packages come from where their addresses say, whole or not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::Digest;

use super::archive::{self, Kind};
use super::registry::{self, Trouble};
use super::web::Web;
use super::{bucket, git, hg, images};
use crate::backend::files::NewFolder;
use crate::config::source::{Getter, RegistryAddress, RemoteAddress, join_path};
use crate::config::version::Version;
use crate::error::{Error, ErrorContext};
use crate::install::Settings;
use crate::world::World;

/// How often one address may lead to the next.
const LONGEST_CHAIN: u32 = 10;

/// Fetches packages.
pub(super) struct Fetcher {
    world: Arc<World>,
    web: Web,
    within: PathBuf,
    /// Where packages were put in this run, by their addresses.
    done: BTreeMap<String, PathBuf>,
}

impl Fetcher {
    /// Returns a fetcher that makes packages within a folder before they come to their places.
    pub fn new(world: &World, within: PathBuf, settings: &Settings) -> Fetcher {
        let (world, web) = (Arc::new(world.clone()), Web::new(settings, world));
        Fetcher { world, web, within, done: BTreeMap::new() }
    }

    /// Returns the versions that a registry has of a module, in rising order.
    pub fn versions(&self, registry: &RegistryAddress) -> Result<Vec<Version>, Trouble> {
        registry::versions(&self.web, registry)
    }

    /// Returns where a registry says that a version is.
    pub fn located(
        &self,
        registry: &RegistryAddress,
        version: &str,
    ) -> Result<RemoteAddress, Error> {
        registry::located(&self.web, registry, version)
    }

    /// Fetches a package into a folder, in whose place it comes.
    pub fn fetch(&mut self, address: &RemoteAddress, folder: &Path) -> Result<(), Error> {
        std::fs::create_dir_all(&self.within)?;
        let beside = NewFolder::within(&self.within)?;
        let package = beside.path().join("package");
        match self.done.get(&address.package()) {
            Some(known) => copy_folder(known, &package)?,
            None => self.get(address, &package, beside.path(), 0)?,
        }
        replace(folder, &package, &beside.path().join("old"))?;
        self.done.insert(address.package(), folder.to_owned());
        Ok(())
    }

    fn get(
        &self,
        address: &RemoteAddress,
        into: &Path,
        beside: &Path,
        depth: u32,
    ) -> Result<(), Error> {
        match address.getter {
            Getter::Git => git::fetch(address, into, &self.world.stop),
            Getter::Hg => hg::fetch(address, into, &self.world.stop),
            Getter::File => copy_file(address, into),
            Getter::Http => self.get_from_web(address, into, beside, depth),
            Getter::S3 | Getter::Gcs => {
                self.web.wait(bucket::fetch(&self.world, address, into, beside))
            }
            Getter::Oci => images::fetch(&self.web, address, into, beside),
        }
    }

    /// Loads an archive, or asks an address where its package is.
    fn get_from_web(
        &self,
        address: &RemoteAddress,
        into: &Path,
        beside: &Path,
        depth: u32,
    ) -> Result<(), Error> {
        let url = address.without(&["archive", "checksum"]);
        if let Some(kind) = archive_kind(address) {
            let path = beside.join(format!("archive-{depth}"));
            let mut file = std::fs::File::create(&path)?;
            self.web.download(&url, &mut file)?;
            drop(file);
            if let Some(checksum) = address.query("checksum") {
                check_sum(&path, checksum)?;
            }
            return archive::unpack(&path, kind, into);
        }
        if depth >= LONGEST_CHAIN {
            return Err("one address leads to the next, without end".into());
        }
        let next = self.web.package_at(&url)?;
        let next = RemoteAddress::parse(&next)?;
        if next.getter == Getter::File {
            return Err("the server names a file of this machine as the package".into());
        }
        if next.folder.is_empty() {
            return self.get(&next, into, beside, depth + 1);
        }
        let whole = beside.join(format!("whole-{depth}"));
        self.get(&next, &whole, beside, depth + 1)?;
        let inner = join_path(".", &next.folder);
        match whole.join(&inner).is_dir() && inner != ".." && !inner.starts_with("../") {
            true => copy_folder(&whole.join(inner), into),
            false => Err(format!("the package has no directory {:?}", next.folder).into()),
        }
    }
}

/// Returns the kind of archive that an address speaks of.
pub(super) fn archive_kind(address: &RemoteAddress) -> Option<Kind> {
    match address.query("archive") {
        Some("false") => None,
        Some(kind) => Kind::of(kind),
        None => Kind::of(address.url.rsplit('/').next().unwrap_or_default()),
    }
}

/// Puts a new folder in the place of an old one, which is kept where that fails.
pub(in crate::operation) fn replace(folder: &Path, new: &Path, old: &Path) -> Result<(), Error> {
    let had_one = folder.symlink_metadata().is_ok();
    if had_one {
        std::fs::rename(folder, old)?;
    }
    if let Err(error) = std::fs::rename(new, folder) {
        if had_one {
            let _ = std::fs::rename(old, folder);
        }
        return Err(error.into());
    }
    Ok(())
}

/// Copies a folder of this machine, or unpacks an archive.
fn copy_file(address: &RemoteAddress, into: &Path) -> Result<(), Error> {
    let path = Path::new(address.url.strip_prefix("file://").unwrap_or(&address.url));
    match (path.is_dir(), archive_kind(address)) {
        (true, _) => copy_folder(path, into),
        (false, Some(kind)) if path.exists() => archive::unpack(path, kind, into),
        _ => Err(format!("{} is neither a directory nor an archive", path.display()).into()),
    }
}

/// Copies a folder with all that is in it; symbolic links as such.
pub(super) fn copy_folder(from: &Path, into: &Path) -> Result<(), Error> {
    let copy = || -> std::io::Result<()> {
        let mut open = vec![(from.to_owned(), into.to_owned())];
        while let Some((from, into)) = open.pop() {
            std::fs::create_dir_all(&into)?;
            for entry in std::fs::read_dir(&from)? {
                let entry = entry?;
                let (kind, target) = (entry.file_type()?, into.join(entry.file_name()));
                if kind.is_dir() {
                    open.push((entry.path(), target));
                } else if kind.is_symlink() {
                    copy_link(&entry.path(), &target)?;
                } else {
                    std::fs::copy(entry.path(), target)?;
                }
            }
        }
        Ok(())
    };
    copy().context(format_args!("{} cannot be copied", from.display()))
}

#[cfg(unix)]
fn copy_link(from: &Path, into: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(std::fs::read_link(from)?, into)
}

#[cfg(not(unix))]
fn copy_link(from: &Path, into: &Path) -> std::io::Result<()> {
    std::fs::copy(from, into).map(drop)
}

/// Compares a file with `sha256:HEX` and the like.
///
/// # Errors
///
/// If they differ.
pub(super) fn check_sum(path: &Path, wanted: &str) -> Result<(), Error> {
    let bytes = crate::world::read_regular(path)?;
    let (kind, wanted) = match wanted.split_once(':') {
        Some((kind, text)) => (kind, text),
        None => match wanted.len() {
            32 => ("md5", wanted),
            40 => ("sha1", wanted),
            64 => ("sha256", wanted),
            _ => ("sha512", wanted),
        },
    };
    let found = match kind {
        "md5" => hex(&md5::Md5::digest(&bytes)),
        "sha1" => hex(&sha1::Sha1::digest(&bytes)),
        "sha256" => hex(&sha2::Sha256::digest(&bytes)),
        "sha512" => hex(&sha2::Sha512::digest(&bytes)),
        other => return Err(format!("checksums of kind {other:?} are not supported").into()),
    };
    match found.eq_ignore_ascii_case(wanted) {
        true => Ok(()),
        false => {
            Err(format!("the checksum is {kind}:{found}, and {kind}:{wanted} is wanted").into())
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

//! One package: checked, and put where it is used from.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Platform;
use super::hash::{Hash, archive_matches, folder_matches, hash_archive, hash_folder};
use super::unpacked::Budget;
use crate::address::Provider;
use crate::backend::files::{NewFolder, sweep};
use crate::config::version::Version;
use crate::error::{Error, ErrorContext};
use crate::world::open_regular;

/// Returns the folder of an unpacked package under a root folder.
pub fn installed_folder(
    root: &Path,
    provider: &Provider,
    version: &Version,
    platform: &Platform,
) -> PathBuf {
    root.join(&*provider.host)
        .join(&*provider.namespace)
        .join(&*provider.kind)
        .join(version.to_string())
        .join(platform.to_string())
}

/// Returns the name that a package's archive has.
pub fn archive_name(provider: &Provider, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", provider.kind)
}

/// Returns the program in a package's folder: the first whose name begins as plugins of this provider do.
pub fn executable(folder: &Path, provider: &Provider) -> Result<PathBuf, Error> {
    let entries = std::fs::read_dir(folder)
        .context(format_args!("could not read package directory {}", folder.display()))?;
    let wanted = format!("terraform-provider-{}", provider.kind);
    let mut names: Vec<_> = entries
        .flatten()
        .filter(|it| !it.path().is_dir())
        .filter_map(|it| it.file_name().into_string().ok())
        .filter(|it| {
            it.strip_prefix(&wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
        })
        .collect();
    names.sort();
    match names.first() {
        Some(name) => Ok(folder.join(name)),
        None => Err(format!("could not find executable file starting with {wanted}").into()),
    }
}

/// Puts an unpacked package in place: linked where the system can, else copied.
///
/// `allowed` are the lock file's checksums; where none of them is about files, anything passes, since the archive that
/// the others are about is not at hand.
pub fn install_folder(
    source: &Path,
    target: &Path,
    what: &str,
    allowed: &[Hash],
) -> Result<(), Error> {
    let absolute = |it: &Path| {
        std::path::absolute(it)
            .context(format_args!("failed to make path {} absolute", it.display()))
    };
    let (source, target) = (absolute(source)?, absolute(target)?);
    let is_same = match (source.canonicalize(), target.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    if is_same && !target.is_symlink() {
        return Err(format!(
            "cannot install existing provider directory {} to itself",
            target.display()
        )
        .into());
    }
    if allowed.iter().any(|it| !it.is_zip()) {
        let matches = folder_matches(&source, allowed).context(format_args!(
            "failed to calculate checksum for {what} package at {}",
            source.display()
        ))?;
        if !matches {
            return Err(format!(
                "the local package for {what} doesn't match any of the checksums previously recorded in the dependency lock file (this might be because the available checksums are for packages targeting different platforms); for more information: https://opentofu.org/docs/language/files/dependency-lock/#checksum-verification"
            ).into());
        }
    }
    place(&source, &target).context(format_args!(
        "failed to either symlink or copy {} to {}",
        source.display(),
        target.display()
    ))
}

fn place(source: &Path, target: &Path) -> io::Result<()> {
    remove(target)?;
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent)?;
    }
    link(source, target).or_else(|_| copy(source, target))
}

#[cfg(unix)]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(source, target)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("no links"))
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn copy(source: &Path, target: &Path) -> io::Result<()> {
    std::fs::create_dir_all(target)?;
    for entry in std::fs::read_dir(source)? {
        let entry = entry?;
        let to = target.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Unpacks an archive in place. What stands there already must be the same.
pub fn install_archive(
    archive: &Path,
    target: &Path,
    what: &str,
    allowed: &[Hash],
) -> Result<(), Error> {
    if !allowed.is_empty() {
        let matches = archive_matches(archive, allowed).context(format_args!(
            "failed to calculate checksum for {what} package at {}",
            archive.display()
        ))?;
        if matches.is_empty() {
            return Err(format!(
                "the current package for {what} doesn't match any of the checksums previously recorded in the dependency lock file; for more information: https://opentofu.org/docs/language/files/dependency-lock/#checksum-verification"
            ).into());
        }
    }
    if target.symlink_metadata().is_ok() && !is_empty_folder(target) {
        tidy(target);
        let new = hash_archive(archive).context(format_args!(
            "failed to calculate checksum for temporary copy of provider package at {}",
            archive.display()
        ))?;
        let old = hash_folder(target).context(format_args!(
            "failed to calculate checksum for existing cached provider package at {}",
            target.display()
        ))?;
        if new != old {
            return Err(format!(
                "existing cached package at {} does not match the content of the downloaded package; does it contain local modifications?",
                target.display()
            ).into());
        }
        return Ok(());
    }
    unpack(archive, target, Budget::default())
        .context(format_args!("failed to unpack {}", archive.display()))
}

/// Removes what a run has left beside a package that died after it had put it in its place.
pub fn tidy(target: &Path) {
    target.parent().into_iter().for_each(sweep);
}

fn is_empty_folder(path: &Path) -> bool {
    !path.is_symlink() && std::fs::read_dir(path).is_ok_and(|mut it| it.next().is_none())
}

/// Unpacks beside the target first, so that a half-unpacked package is never taken for a whole one.
///
/// - `budget`: how many bytes the files may have together.
///
/// # Errors
///
/// If it is no archive, an entry is a link or leads out of the package, the files are too large, or one cannot be written.
pub(super) fn unpack(archive: &Path, target: &Path, mut budget: Budget) -> io::Result<()> {
    let parent = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)?;
    let beside = NewFolder::within(parent)?;
    let fresh = beside.path().join("package");
    std::fs::create_dir(&fresh)?;
    let mut archive = zip::ZipArchive::new(open_regular(archive)?)?;
    for index in 0..archive.len() {
        let file = archive.by_index(index)?;
        let name = String::from_utf8_lossy(file.name_raw()).into_owned();
        let Some(inner) = file.enclosed_name() else {
            return Err(io::Error::other(format!("the entry {name:?} leads out of the package")));
        };
        let path = fresh.join(inner);
        if file.is_dir() {
            std::fs::create_dir_all(&path)?;
            continue;
        }
        if file.is_symlink() {
            return Err(io::Error::other(format!("the entry {name:?} is a link")));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mode = file.unix_mode();
        io::copy(&mut budget.bound(file), &mut File::create(&path)?)?;
        set_mode(&path, mode)?;
    }
    remove(target)?;
    set_mode(&fresh, Some(0o755))?;
    std::fs::rename(fresh, target)
}

/// Sets the mode that an archive gives to a file. Only the owner may write it, so that no other user can change a program.
#[cfg(unix)]
fn set_mode(path: &Path, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = mode.map_or(0o644, |it| it & 0o755);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// Keeps other runs from installing the same package at the same time, until it is dropped.
pub struct Guard(#[expect(dead_code, reason = "held for its lock")] File);

/// Waits for the package's lock; `slow` is told once where that takes long.
pub async fn guard(target: &Path, mut slow: impl FnMut()) -> Result<Guard, Error> {
    let name = target.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let path = target.with_file_name(format!("{name}.lock"));
    let open = || -> io::Result<File> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        File::options().read(true).write(true).create(true).truncate(false).open(&path)
    };
    let file = open().context(format_args!("cannot create {}", path.display()))?;
    let start = Instant::now();
    let mut has_told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Guard(file)),
            Err(std::fs::TryLockError::WouldBlock) => {}
            Err(std::fs::TryLockError::Error(it)) => {
                return Err(format!(
                    "unable to acquire file lock on {:?}: {it}",
                    path.display().to_string()
                )
                .into());
            }
        }
        if !has_told && start.elapsed() > Duration::from_secs(5) {
            has_told = true;
            slow();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

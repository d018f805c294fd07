//! Writing a file: at once where that can be, through it where it is no file of its own, never over what it does not know.
//!
//! A regular file with one name is replaced: the new one is written beside it, made safe, given owner, group and mode of the old,
//! and renamed. Where that would tear it from its other names, or hand it to another owner, it is written in place, with a whole
//! copy beside it until that is done. Pipes and character devices are written through; all else is refused.

use std::collections::BTreeSet;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rustix::fs::{Access, AtFlags, CWD};

use super::locked::{claim, held, held_file};
use super::place::Place;
use super::{REPLACED, beside, folder_of, sync_folder};

/// Who may read a file that was not there before.
#[derive(Clone, Copy, Debug)]
pub enum Fresh<'a> {
    /// Its owner alone.
    Private,
    /// Whom the process's mask allows.
    Usual,
    /// At most those who may read this file, of which it is a copy.
    Like(&'a Path),
}

/// Names of files that are not whole yet: `.entail-PROCESS-NUMBER.tmp`.
const PREFIX: &str = ".entail-";
const SUFFIX: &str = ".tmp";

/// The bits of a mode that say who may do what.
const ACCESS: u32 = 0o7777;

/// Replaces a file's content at once: after a crash there is the old or the new one, never a part. Where this process holds the
/// file's lock it goes on holding it. Links are followed.
///
/// # Errors
///
/// If it cannot be written, or the user may not write it; the file is as it was.
pub fn replace(path: &Path, content: &[u8], fresh: Fresh<'_>) -> io::Result<()> {
    match Place::of(path)? {
        Place::Stream(mut stream) => stream.write_all(content),
        Place::Missing(path) => {
            std::fs::create_dir_all(folder_of(&path))?;
            let new = NewFile::write(&path, content, fresh, None)?;
            new.put(&path)
        }
        Place::Regular(path, old) => {
            // Renaming asks nobody whether the file itself may be written.
            rustix::fs::accessat(CWD, &path, Access::WRITE_OK, AtFlags::EACCESS)?;
            if old.nlink() > 1 {
                return write_in_place(&path, content);
            }
            match NewFile::write(&path, content, fresh, Some(&old)) {
                Ok(new) => new.put(&path),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    write_in_place(&path, content)
                }
                Err(error) => Err(error),
            }
        }
    }
}

/// Returns whether there is the folder that a file is to stand in.
pub fn has_folder(path: &Path) -> bool {
    folder_of(path).is_dir()
}

/// Writes a file that is not there yet, at once; `false` where something has its name.
///
/// # Errors
///
/// If it cannot be written.
pub fn create(path: &Path, content: &[u8], fresh: Fresh<'_>) -> io::Result<bool> {
    if std::fs::symlink_metadata(path).is_ok() {
        return Ok(false);
    }
    let new = NewFile::write(path, content, fresh, None)?;
    match std::fs::hard_link(&new.path, path) {
        Ok(()) => sync_folder(&folder_of(path)).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Some file systems know no second names.
        Err(_) => new.put(path).map(|()| true),
    }
}

/// A file that is whole and safe on the disk, and has not got its name yet. Dropping it removes it.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
    file: File,
}

impl NewFile {
    /// Writes the content beside `path`, with owner, group and mode of the old file.
    fn write(
        path: &Path,
        content: &[u8],
        fresh: Fresh<'_>,
        old: Option<&Metadata>,
    ) -> io::Result<NewFile> {
        let folder = folder_of(path);
        sweep_once(&folder);
        let mode = if old.is_none() && matches!(fresh, Fresh::Usual) { 0o666 } else { 0o600 };
        let mut new = NewFile::claimed(&folder, mode)?;
        let model = match fresh {
            Fresh::Like(model) => std::fs::metadata(model).ok(),
            _ => None,
        };
        if let Some(owner) = old.or(model.as_ref()) {
            let mine = new.file.metadata()?;
            let is_other = (mine.uid(), mine.gid()) != (owner.uid(), owner.gid());
            let taken = match is_other {
                true => fchown(&new.file, Some(owner.uid()), Some(owner.gid())),
                false => Ok(()),
            };
            match taken {
                // What is written in place keeps its owner.
                Err(error) if old.is_some() => return Err(error),
                Err(_) => {}
                Ok(()) => {
                    let allowed = model.as_ref().map_or(ACCESS, |it| it.mode() & ACCESS);
                    let mode = owner.mode() & allowed & ACCESS;
                    new.file.set_permissions(Permissions::from_mode(mode))?;
                }
            }
        }
        new.file.write_all(content)?;
        new.file.sync_all()?;
        Ok(new)
    }

    /// Makes an empty file that shows that its process lives.
    pub(super) fn claimed(folder: &Path, mode: u32) -> io::Result<NewFile> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id());
            let path = folder.join(name);
            let open =
                OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(&path);
            let file = match open {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let new = NewFile { path, file };
            // Where locks do not work, nobody else's sweeping finds it abandoned either.
            let is_mine = claim(&new.file).unwrap_or(true);
            if is_mine && new.file.metadata()?.nlink() > 0 {
                return Ok(new);
            }
        }
    }

    /// Returns the path of the folder that may lie beside the file, and goes with it.
    pub(super) fn folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    /// Gives the file its name, and takes it from the one that had it. A held lock goes over to it.
    fn put(self, path: &Path) -> io::Result<()> {
        let mut held = held();
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        std::fs::rename(&self.path, &path)?;
        // The locked file may have been removed meanwhile, so that its name could be resolved only now.
        let named = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if let Some(holder) = held.get_mut(&named) {
            let old = std::mem::replace(holder, self.file.try_clone()?.into());
            mark_replaced(&old);
        }
        drop(held);
        sync_folder(&folder_of(&path))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Where it has got its name, this one leads nowhere.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn mark_replaced(old: &File) {
    // With another name left, the file is somebody's copy and stays as it is.
    if old.metadata().is_ok_and(|it| it.nlink() == 0) {
        let _ = old.set_len(0).and_then(|()| old.write_all_at(REPLACED.as_bytes(), 0));
    }
}

/// Where a whole copy lies of what is being written in place.
pub(super) fn whole_copy(path: &Path) -> PathBuf {
    beside(path, "whole")
}

/// Writes into the file itself. A copy beside it is whole until the file is.
fn write_in_place(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = std::fs::canonicalize(path)?;
    let copy = whole_copy(&path);
    let new = NewFile::write(&copy, content, Fresh::Like(&path), None)?;
    new.put(&copy)?;
    write_over(&path, content)?;
    std::fs::remove_file(&copy)
}

fn write_over(path: &Path, content: &[u8]) -> io::Result<()> {
    let held = held_file(path);
    let opened = match &held {
        Some(_) => None,
        None => Some(OpenOptions::new().write(true).open(path)?),
    };
    let Some(file) = held.as_deref().or(opened.as_ref()) else { return Ok(()) };
    file.write_all_at(content, 0)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

/// Returns the whole copy that a process has left which died while it wrote a file in place.
///
/// - `is_torn`: whether the file, as it is, cannot be what anybody meant.
///
/// # Errors
///
/// If the copy cannot be read.
pub fn restore_torn(path: &Path, is_torn: impl FnOnce() -> bool) -> io::Result<Option<Vec<u8>>> {
    let Ok(path) = std::fs::canonicalize(path) else { return Ok(None) };
    let copy = whole_copy(&path);
    if !copy.exists() || !is_torn() {
        return Ok(None);
    }
    super::read(&copy)
}

/// Finishes what a process has begun that died while it wrote a file in place. Only for who holds the file's lock.
///
/// - `is_torn`: whether the file, as it is, cannot be what anybody meant.
pub fn make_whole(path: &Path, is_torn: impl FnOnce() -> bool) {
    let Ok(path) = std::fs::canonicalize(path) else { return };
    let copy = whole_copy(&path);
    if !copy.exists() {
        return;
    }
    let is_whole = match is_torn() {
        true => super::read(&copy)
            .is_ok_and(|it| it.is_some_and(|content| write_over(&path, &content).is_ok())),
        false => true,
    };
    if is_whole {
        // Otherwise it is what the next reader takes.
        let _ = std::fs::remove_file(copy);
    }
}

/// Sweeps each folder at most once.
pub(super) fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut swept = SWEPT.lock();
    if swept.insert(folder.to_path_buf()) {
        sweep(folder);
    }
}

/// Clears a folder of what processes have left that died while they wrote a file. Whatever fails is left for the next time.
pub fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|it| it.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let Some(process) = number.and_then(|it| it.split('-').next()) else { continue };
        let is_other = process != std::process::id().to_string();
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        if is_other && is_file && is_abandoned(&entry.path()) {
            let gone = remove_folder(&entry.path().with_extension(""));
            let _ = gone.and_then(|()| std::fs::remove_file(entry.path()));
        }
    }
}

/// Removes a folder with all that is in it, if it is there.
pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether no process holds a file any more.
fn is_abandoned(path: &Path) -> bool {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.is_ok_and(|it| claim(&it).unwrap_or(false))
}

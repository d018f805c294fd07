//! Locks of files: one that other programs respect, and that lasts until it is given back.
//!
//! It is a record lock over the whole file, as OpenTofu takes one, but it belongs to the open file and not to the process. A
//! process's own lock is lost as soon as the process closes *any* handle of the file – a function of the configuration that
//! reads the state is enough. Both kinds exclude each other.

use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::world::{WITHOUT_WAITING, not_regular};

/// The files that this process has locked, by canonical path.
static HELD: Mutex<BTreeMap<PathBuf, Arc<File>>> = Mutex::new(BTreeMap::new());

pub(super) fn held() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<File>>> {
    HELD.lock()
}

/// Returns the handle by which this process holds the lock of the file that a canonical path names now.
///
/// Another program may have renamed a new file over the one that was locked. The handle still leads to the old one, so it says
/// nothing of what is stored: then there is none.
pub(super) fn held_file(path: &Path) -> Option<Arc<File>> {
    let file = held().get(path).cloned()?;
    is_named(path, &file).then_some(file)
}

/// Whether a path leads to this open file.
fn is_named(path: &Path, file: &File) -> bool {
    std::fs::metadata(path).is_ok_and(|now| is_same_file(&now, file))
}

/// A locked file.
#[derive(Debug)]
pub struct Locked {
    path: PathBuf,
    /// Made for the lock, and empty so far.
    is_new: bool,
}

/// Opens a regular file, creating it where there is none, and takes its lock. `None` if someone else holds it.
///
/// # Errors
///
/// If it cannot be opened for writing, is no regular file, or locks do not work there.
pub fn lock(path: &Path) -> io::Result<Option<Locked>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut held = held();
    loop {
        if std::fs::canonicalize(path).is_ok_and(|it| held.contains_key(&it)) {
            return Ok(None);
        }
        let is_new = !path.exists();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(WITHOUT_WAITING)
            .open(path)?;
        let kind = file.metadata()?.file_type();
        if !kind.is_file() {
            return Err(not_regular(kind));
        }
        if !claim(&file)? {
            return Ok(None);
        }
        // The name may lead to another file by now, if the last holder replaced it.
        if is_named(path, &file) {
            let path = std::fs::canonicalize(path)?;
            held.insert(path.clone(), Arc::new(file));
            return Ok(Some(Locked { path, is_new }));
        }
    }
}

/// Returns whether a file is locked, by this process or another one, without taking the lock; `None` where the system does not
/// tell.
///
/// # Errors
///
/// If the file cannot be opened, or locks do not work there.
pub fn is_locked(path: &Path) -> io::Result<Option<bool>> {
    // A process's own lock is lost when the process closes any handle of the file: it is not opened then.
    if std::fs::canonicalize(path).is_ok_and(|it| held().contains_key(&it)) {
        return Ok(Some(true));
    }
    match OpenOptions::new().read(true).custom_flags(WITHOUT_WAITING).open(path) {
        Ok(file) => is_open_file_locked(&file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(false)),
        Err(error) => Err(error),
    }
}

fn is_same_file(named: &Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|it| it.ino() == named.ino() && it.dev() == named.dev())
}

impl Locked {
    /// Keeps other programs from the file that a path names now, until the handle is dropped. `None` where this lock covers that
    /// file already, or no file is there.
    ///
    /// # Errors
    ///
    /// If the path leads to another file than the locked one, and another program holds that one's lock.
    pub fn cover(&self, path: &Path) -> io::Result<Option<File>> {
        let is_covered = std::fs::canonicalize(path)
            .map_or(true, |at| at == self.path && held_file(&at).is_some());
        if is_covered {
            return Ok(None);
        }
        let open =
            OpenOptions::new().read(true).write(true).custom_flags(WITHOUT_WAITING).open(path);
        let file = match open {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match claim(&file).unwrap_or(true) {
            true => Ok(Some(file)),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Gives the lock back; a file that was made for it and is still empty goes.
    pub fn release(self) -> io::Result<()> {
        let file = held().remove(&self.path);
        let is_empty = |it: &Arc<File>| it.metadata().is_ok_and(|it| it.len() == 0);
        // Another program may have put a file in its place: that one stays.
        if self.is_new && file.as_ref().is_some_and(|it| is_empty(it) && is_named(&self.path, it)) {
            std::fs::remove_file(&self.path)?;
        }
        // A process that is just being started has the file open, too, until it runs its own program: closing alone would leave
        // it the lock for so long.
        file.map_or(Ok(()), |it| unlock_open_file(&it))
    }
}

/// Takes the lock of an open file, for as long as it stays open; `false` if someone else holds it.
///
/// # Errors
///
/// If locks do not work where it lies.
pub fn claim(file: &File) -> io::Result<bool> {
    match lock_open_file(file) {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::PermissionDenied => Ok(false),
            _ => Err(error),
        },
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn lock_open_file(file: &File) -> io::Result<()> {
    set_lock(file, nix::libc::F_WRLCK)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn unlock_open_file(file: &File) -> io::Result<()> {
    set_lock(file, nix::libc::F_UNLCK)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_open_file_locked(file: &File) -> io::Result<Option<bool>> {
    use nix::fcntl::{FcntlArg, fcntl};
    let mut found = whole(nix::libc::F_WRLCK);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut found)).map_err(io::Error::from)?;
    Ok(Some(found.l_type != nix::libc::F_UNLCK as nix::libc::c_short))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_lock(file: &File, kind: nix::libc::c_int) -> io::Result<()> {
    use nix::fcntl::{FcntlArg, fcntl};
    fcntl(file, FcntlArg::F_OFD_SETLK(&whole(kind))).map(drop).map_err(io::Error::from)
}

/// Returns a lock of this kind over the whole file.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn whole(kind: nix::libc::c_int) -> nix::libc::flock {
    use nix::libc;
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Where the system has no locks of open files, the process's own stands in: this program reads locked files through the handle
/// that holds the lock.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn lock_open_file(file: &File) -> io::Result<()> {
    let operation = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    Ok(rustix::fs::fcntl_lock(file, operation)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_open_file_locked(_: &File) -> io::Result<Option<bool>> {
    Ok(None)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn unlock_open_file(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fcntl_lock(file, rustix::fs::FlockOperation::NonBlockingUnlock)?)
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_without_being_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let is_seen = || is_locked(&path).expect("it can be asked");
        assert_eq!(is_seen(), Some(false), "no file is there");
        std::fs::write(&path, "{}").expect("it is written");
        assert_eq!(is_seen(), Some(false));
        let other = File::options().read(true).write(true).open(&path).expect("it is there");
        assert!(claim(&other).expect("locks work here"));
        assert_eq!(is_seen(), Some(true));
        drop(other);
        assert_eq!(is_seen(), Some(false), "looking has taken nothing");
        let locked = lock(&path).expect("it can be locked").expect("it is free");
        assert_eq!(is_seen(), Some(true));
        locked.release().expect("it is given back");
        assert_eq!(is_seen(), Some(false));
    }

    #[test]
    fn whoever_has_the_file_open_too_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        std::fs::write(&path, "{}").expect("it is written");
        let locked = lock(&path).expect("it can be locked").expect("nobody else has it");
        // As a process has it that is being started: the same open file, under another number.
        let own = held().get(&locked.path).cloned().expect("it is held");
        let inherited = own.try_clone().expect("a second handle");
        drop(own);
        locked.release().expect("it is given back");
        let other = File::options().read(true).write(true).open(&path).expect("it is there");
        assert!(claim(&other).expect("locks work here"), "the second handle keeps the lock");
        drop(inherited);
    }
}

//! Files that several programs share: replacing one at once, locking one, and reading one that this process has locked.
//!
//! The lock is the POSIX record lock that OpenTofu takes. Such a lock is lost when the process closes *any* handle of
//! the file, so a locked file is read through the handle that holds the lock, which is kept in `HELD`.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rustix::fs::FlockOperation;

/// What is left in a file that was replaced while others may have it open: whoever then gets its lock fails to read
/// it, instead of going on from an old snapshot and writing to a file without a name.
const REPLACED: &str = "{\"version\": \"this snapshot was replaced; run the command again\"}\n";

/// The files that this process has locked, by canonical path.
static HELD: Mutex<BTreeMap<PathBuf, Arc<File>>> = Mutex::new(BTreeMap::new());

fn held() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<File>>> {
    HELD.lock().unwrap_or_else(|it| it.into_inner())
}

/// Reads a whole file; `None` where there is none.
///
/// Whoever reads a state file in this program does it through here: opening and closing it would release our lock.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    for _ in 0..50 {
        let bytes = match std::fs::canonicalize(path).ok().and_then(|it| held().get(&it).cloned()) {
            Some(file) => read_through(&file)?,
            None => match crate::world::read_regular(path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        // The file was replaced between opening and reading; its name leads to the new one.
        if bytes != REPLACED.as_bytes() {
            return Ok(Some(bytes));
        }
        std::thread::yield_now();
    }
    Err(io::Error::other("the file is being replaced all the time"))
}

fn read_through(file: &File) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is a fifo, a socket or a device, and not a regular file"));
    }
    let mut bytes = vec![0; usize::try_from(metadata.len()).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// A locked file.
#[derive(Debug)]
pub struct Locked {
    path: PathBuf,
    /// Made for the lock, and empty so far.
    is_new: bool,
}

/// Opens a file, creating it where there is none, and takes its lock. `None` if someone else holds it.
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
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        // The name may lead to another file by now, if the last holder replaced it.
        if std::fs::metadata(path).is_ok_and(|now| is_same_file(&now, &file)) {
            let path = std::fs::canonicalize(path)?;
            held.insert(path.clone(), Arc::new(file));
            return Ok(Some(Locked { path, is_new }));
        }
    }
}

fn is_same_file(named: &std::fs::Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|it| it.ino() == named.ino() && it.dev() == named.dev())
}

impl Locked {
    /// Gives the lock back; a file that was made for it and is still empty goes.
    pub fn release(self) -> io::Result<()> {
        let file = held().remove(&self.path);
        if self.is_new
            && file.as_ref().is_some_and(|it| it.metadata().is_ok_and(|it| it.len() == 0))
        {
            std::fs::remove_file(&self.path)?;
        }
        Ok(())
    }
}

/// Replaces a file's content at once: after a crash there is the old or the new one, never a part. Where this process
/// holds the file's lock it goes on holding it.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // Through a symbolic link, the file it leads to is replaced.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    std::fs::create_dir_all(&folder)?;
    let new_path = beside(&path, &format!("{}.tmp", std::process::id()));
    let written = write_new(&new_path, &path, content).and_then(|file| {
        let mut held = held();
        let is_locked = held.contains_key(&path);
        if is_locked {
            rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        }
        std::fs::rename(&new_path, &path)?;
        if is_locked && let Some(old) = held.insert(path.clone(), Arc::new(file)) {
            mark_replaced(&old);
        }
        Ok(())
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&new_path);
    }
    written?;
    sync_folder(&folder)
}

/// Writes the new content, safe on the disk, with the permissions of the old file.
fn write_new(new_path: &Path, path: &Path, content: &[u8]) -> io::Result<File> {
    let _ = std::fs::remove_file(new_path);
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(new_path)?;
    if let Ok(old) = std::fs::metadata(path) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(content)?;
    file.sync_all()?;
    Ok(file)
}

fn mark_replaced(old: &File) {
    // With another name left, the file is somebody's copy and stays as it is.
    if old.metadata().is_ok_and(|it| it.nlink() == 0) {
        let _ = old.set_len(0).and_then(|()| old.write_all_at(REPLACED.as_bytes(), 0));
    }
}

/// Clears away what processes have left that died while they replaced a file. Whatever fails is left for the next time.
pub fn sweep(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let prefix = format!(
        ".{}.",
        name.to_string_lossy().strip_prefix('.').unwrap_or(&name.to_string_lossy())
    );
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name
            .to_str()
            .and_then(|it| it.strip_prefix(&prefix)?.strip_suffix(".tmp")?.parse().ok());
        let id = id.and_then(rustix::process::Pid::from_raw);
        if id.is_some_and(|it| {
            rustix::process::test_kill_process(it) == Err(rustix::io::Errno::SRCH)
        }) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes the names in a folder safe on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes a small file that only this user may read.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// Returns the path of a hidden file that belongs to `path`: `.NAME.SUFFIX` in the same folder.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix('.').unwrap_or(&name);
    path.with_file_name(format!(".{name}.{suffix}"))
}

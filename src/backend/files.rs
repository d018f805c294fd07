//! Files that several programs share: reading them, and the one way in which this program writes files.
//!
//! `replace` and `create` write every file that outlives a command: states, backups, plans, settings, lock files, formatted
//! sources. They know devices, pipes, links, owners and modes; nothing else in the program renames over a file. `lock` is the
//! lock of a state file, `claim` the mark of a file whose process lives.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::world::open_regular;

mod append;
mod folder;
mod large;
mod locked;
mod place;
mod replace;
#[cfg(test)]
mod tests;

pub use append::append_line;
pub use folder::NewFolder;
pub use large::{LargeFile, digest};
pub use locked::{Locked, claim, is_locked, lock};
pub use place::check_keeps;
pub use replace::{Fresh, create, has_folder, make_whole, replace, restore_torn, sweep};

/// What is left in a file that was replaced while others may have it open: whoever then gets its lock fails to read
/// it, instead of going on from an old snapshot and writing to a file without a name.
const REPLACED: &str = "{\"version\": \"this snapshot was replaced; run the command again\"}\n";

/// Reads a whole regular file; `None` where there is none.
///
/// Whoever reads a state file in this program does it through here: it waits until a file that is being replaced is whole.
///
/// # Errors
///
/// If it cannot be read, or is no regular file: a pipe or device would never end, or be empty at the second look.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    for _ in 0..50 {
        let held = std::fs::canonicalize(path).ok().and_then(|it| locked::held_file(&it));
        let bytes = match held {
            Some(file) => read_through(&file)?,
            None => match open_regular(path) {
                Ok(mut file) => {
                    let mut bytes = Vec::new();
                    file.read_to_end(&mut bytes)?;
                    bytes
                }
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

/// Reads a whole file by the handle that holds its lock.
fn read_through(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Makes the names in a folder safe on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes a small hidden file that only this user may read, and that need not outlive the machine. What has its name goes:
/// nobody's link is followed.
pub fn write_note(path: &Path, content: &[u8]) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// Opens a file that is written from its beginning, piece by piece. A file that is not there yet is for this user alone.
///
/// # Errors
///
/// If it cannot be opened for writing.
pub fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Writes a file for people or other programs, which may hold secrets: one that is not there yet is for this user alone.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    open_private(path)?.write_all(content)
}

/// Returns the path of a hidden file that belongs to `path`: `.NAME.SUFFIX` in the same folder.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix('.').unwrap_or(&name);
    path.with_file_name(format!(".{name}.{suffix}"))
}

/// Returns the folder that a path stands in.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

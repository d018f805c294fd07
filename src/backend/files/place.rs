//! Where a path leads, link by link: to a regular file, to nothing yet, or to something that bytes run through.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::folder_of;
use crate::world::{WITHOUT_WAITING, not_regular};

/// As many links as the systems follow.
const MOST_LINKS: usize = 40;

/// Where a path leads.
pub(super) enum Place {
    /// To a regular file, by its own name.
    Regular(PathBuf, Metadata),
    /// To a name that nothing has yet.
    Missing(PathBuf),
    /// To a stream of this process, a pipe or a character device, open for writing.
    Stream(File),
}

impl Place {
    /// Follows a path to what is to be written.
    ///
    /// # Errors
    ///
    /// If it leads to what no file can be written to: a folder, a socket, a disk, a pipe that nobody reads.
    pub(super) fn of(path: &Path) -> io::Result<Place> {
        let mut path = path.to_path_buf();
        for _ in 0..MOST_LINKS {
            if let Some(stream) = own_stream(&path) {
                return Ok(Place::Stream(stream?));
            }
            let found = match std::fs::symlink_metadata(&path) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Place::Missing(path));
                }
                Err(error) => return Err(error),
            };
            if !found.is_symlink() {
                return Place::of_kind(path, found);
            }
            path = folder_of(&path).join(std::fs::read_link(&path)?);
        }
        Err(rustix::io::Errno::LOOP.into())
    }

    fn of_kind(path: PathBuf, found: Metadata) -> io::Result<Place> {
        let kind = found.file_type();
        if kind.is_file() {
            return Ok(Place::Regular(path, found));
        }
        if kind.is_dir() {
            return Err(rustix::io::Errno::ISDIR.into());
        }
        if kind.is_fifo() {
            return Ok(Place::Stream(open_pipe(&path)?));
        }
        if kind.is_char_device() {
            let flags = OFlags::NOCTTY.bits() as i32;
            return Ok(Place::Stream(
                OpenOptions::new().write(true).custom_flags(flags).open(path)?,
            ));
        }
        Err(not_regular(kind))
    }
}

/// Checks that what is written to a path is there afterwards.
///
/// # Errors
///
/// If something is there that is no regular file.
pub fn check_keeps(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(not_regular(found.file_type())),
        Ok(_) if own_stream(path).is_some() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a stream of this process"))
        }
        _ => Ok(()),
    }
}

/// Opens a pipe that somebody reads.
fn open_pipe(path: &Path) -> io::Result<File> {
    let open = OpenOptions::new().write(true).custom_flags(WITHOUT_WAITING).open(path);
    let pipe = open.map_err(|error| match error.raw_os_error() {
        Some(it) if it == rustix::io::Errno::NXIO.raw_os_error() => {
            io::Error::new(io::ErrorKind::BrokenPipe, "it is a pipe that nobody reads")
        }
        _ => error,
    })?;
    // From now on writing waits for the reader.
    let flags = rustix::fs::fcntl_getfl(&pipe)?;
    rustix::fs::fcntl_setfl(&pipe, flags.difference(OFlags::NONBLOCK))?;
    Ok(pipe)
}

/// Returns a stream of this process where the path is one of its names. What is written goes where the stream stands, whatever
/// it was redirected to.
fn own_stream(path: &Path) -> Option<io::Result<File>> {
    let number: u32 = match path.to_str()? {
        "/dev/stdout" => 1,
        "/dev/stderr" => 2,
        _ => {
            let number = path.file_name()?.to_str()?.parse().ok()?;
            let folder = std::fs::canonicalize(folder_of(path)).ok()?;
            let own = Path::new("/proc").join(std::process::id().to_string());
            let is_own = folder == Path::new("/dev/fd")
                || (folder.ends_with("fd") && folder.starts_with(own));
            if is_own { number } else { return None }
        }
    };
    Some(match number {
        1 => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        2 => io::stderr().as_fd().try_clone_to_owned().map(File::from),
        _ => OpenOptions::new().append(true).open(path),
    })
}

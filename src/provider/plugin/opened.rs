//! A plugin's program as it was opened to be checked, so that what is started is what was read, whatever its path leads to by
//! then.
//!
//! The file is read and started through its descriptor. One that is written to after it was checked is not started: its times
//! are compared in the child, right before the program takes over. Where the system has no `/proc/self/fd`, the path is
//! started, after it was seen to lead to the same file; what is swapped in the moment between is not noticed there.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A program that was opened.
#[derive(Debug)]
pub struct Opened {
    path: PathBuf,
    file: File,
    /// What it was like when it was opened.
    stamp: Stamp,
}

/// What changes when a file is written to or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Returns the stamp of what a path leads to.
    pub fn of(path: &Path) -> io::Result<Stamp> {
        std::fs::metadata(path).map(|it| Stamp::from(&it))
    }
}

impl From<&Metadata> for Stamp {
    fn from(it: &Metadata) -> Stamp {
        Stamp {
            device: it.dev(),
            inode: it.ino(),
            size: it.size(),
            written: (it.mtime(), it.mtime_nsec()),
            changed: (it.ctime(), it.ctime_nsec()),
        }
    }
}

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stamp { device, inode, size, written, changed } = self;
        write!(f, "{device} {inode} {size} {}.{} {}.{}", written.0, written.1, changed.0, changed.1)
    }
}

impl Opened {
    /// Opens a program.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is no regular file.
    pub fn open(path: &Path) -> io::Result<Opened> {
        // A fifo would keep this process waiting.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other(format!("{} is not a regular file", path.display())));
        }
        let file = File::open(path)?;
        let stamp = Stamp::from(&file.metadata()?);
        Ok(Opened { path: path.to_owned(), file, stamp })
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it from its first byte.
    pub fn reader(&self) -> impl io::Read + '_ {
        Reader { file: &self.file, at: 0 }
    }

    /// Returns whether it is as it was when it was opened.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        Ok(Stamp::from(&self.file.metadata()?) == self.stamp)
    }

    pub(super) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Returns the path by which the opened file is started.
    ///
    /// # Errors
    ///
    /// If there is none, and its old path leads to another file now.
    pub(super) fn start_path(&self) -> io::Result<PathBuf> {
        let by_descriptor = PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
        if by_descriptor.exists() {
            return Ok(by_descriptor);
        }
        match Stamp::of(&self.path)? == self.stamp {
            true => Ok(self.path.clone()),
            false => Err(io::Error::other("it was replaced after it was checked")),
        }
    }

    /// Returns whether it is a text for another program, which has to open it by its descriptor again.
    pub(super) fn is_script(&self) -> bool {
        let mut front = [0; 2];
        matches!(self.file.read_at(&mut front, 0), Ok(2)) && front == *b"#!"
    }
}

impl AsFd for Opened {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Reads a file from a place of its own.
struct Reader<'f> {
    file: &'f File,
    at: u64,
}

impl io::Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_was_opened_stays_what_it_was_whatever_its_path_leads_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("program"), folder.path().join("other"));
        std::fs::write(&path, "#!checked").expect("a file");
        std::fs::write(&other, "#!swapped").expect("a file");
        let opened = Opened::open(&path).expect("it opens");
        std::fs::rename(&other, &path).expect("it is swapped");
        let mut text = String::new();
        opened.reader().read_to_string(&mut text).expect("it is read");
        assert_eq!((text.as_str(), opened.is_script()), ("#!checked", true));
        let started = std::fs::read_to_string(opened.start_path().expect("a path"));
        assert_eq!(started.expect("it is read"), "#!checked");
    }

    #[test]
    fn a_file_that_is_written_to_is_another_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        std::fs::write(&path, "checked").expect("a file");
        let opened = Opened::open(&path).expect("it opens");
        assert!(opened.is_unchanged().expect("the system tells"));
        std::fs::write(&path, "written over").expect("a file");
        assert!(!opened.is_unchanged().expect("the system tells"));
    }
}

//! A lake in a folder of this machine: who may read its files, who writes it, and which files are there.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::names::{CATALOGUE, EXCHANGE, FOLDER, HINTS, is_own};
use super::store::Listed;
use super::tables::TABLES;

/// The file whose lock an index holds. It also marks a folder as a lake before there is a catalogue.
pub const LOCK: &str = ".entail-lake.lock";

/// The mode of files that their owner alone may read.
const PRIVATE: u32 = 0o600;

/// The mode of folders that their owner alone may enter.
const PRIVATE_FOLDER: u32 = 0o700;

/// A folder with a lake.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// The mode of new files.
    mode: u32,
    /// The mode of new folders.
    folder_mode: u32,
}

/// Why no lake is written into a folder.
#[derive(Debug)]
pub enum Refusal {
    /// It holds this file or folder, but no catalogue.
    Foreign(String),
    /// This part of it is a link.
    Link(String),
}

impl Folder {
    /// Returns a folder. What is new in it is for its owner alone, unless the owner lets others read the catalogue.
    pub fn new(path: &Path) -> Folder {
        let mode = |path: &Path| path.metadata().ok().map(|it| it.mode() & 0o777);
        let catalogue = mode(&path.join(CATALOGUE));
        let folder_mode = catalogue.and_then(|_| mode(path)).unwrap_or(0) | PRIVATE_FOLDER;
        let mode = (catalogue.unwrap_or(0) & 0o666) | PRIVATE;
        Folder { path: path.to_owned(), mode, folder_mode }
    }

    /// Makes the folder of a new lake, for its owner alone. One that is there keeps its mode.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn make(path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(path)
    }

    /// Returns why no lake is written here.
    ///
    /// # Errors
    ///
    /// If it cannot be looked at.
    pub fn refusal(&self) -> io::Result<Option<Refusal>> {
        if !self.has(CATALOGUE)? && !self.has(LOCK)? {
            let mut names = Vec::new();
            for entry in self.path.read_dir()? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            names.retain(|it| !it.starts_with('.'));
            if let Some(name) = names.into_iter().min() {
                return Ok(Some(Refusal::Foreign(name)));
            }
        }
        let tables = table_names().map(|it| format!("{FOLDER}/{it}"));
        let parts = [CATALOGUE, LOCK, FOLDER, EXCHANGE].map(str::to_owned);
        let is_link = |it: &String| self.path.join(it).is_symlink();
        Ok(parts.into_iter().chain(tables).find(is_link).map(Refusal::Link))
    }

    fn has(&self, name: &str) -> io::Result<bool> {
        match self.path.join(name).symlink_metadata() {
            Ok(_) => Ok(true),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// Keeps other indexes out for as long as the file stays open. Nothing where the file system has no locks.
    ///
    /// - `wait`: called before this waits for another index.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or locked.
    pub fn lock(&self, wait: &dyn Fn()) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(PRIVATE);
        let file = options.open(self.path.join(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {
                wait();
                file.lock()?;
                Ok(Some(file))
            }
            Err(TryLockError::Error(why)) if why.kind() == io::ErrorKind::Unsupported => Ok(None),
            Err(TryLockError::Error(why)) => Err(why),
        }
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        if let Some(folder) = path.parent() {
            self.make_below(folder)?;
        }
        let (mut file, begun) = begin(&path)?;
        let written = file
            .set_permissions(Permissions::from_mode(self.mode))
            .and_then(|()| file.write_all(content))
            .and_then(|()| std::fs::rename(&begun, &path));
        if written.is_err() {
            // The error of writing is the one to report; a file that stays is removed by the next index.
            let _ = std::fs::remove_file(&begun);
        }
        written
    }

    fn make_below(&self, folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        if let Some(parent) = folder.parent() {
            self.make_below(parent)?;
        }
        match DirBuilder::new().mode(PRIVATE_FOLDER).create(folder) {
            Ok(()) => std::fs::set_permissions(folder, Permissions::from_mode(self.folder_mode)),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(why) => Err(why),
        }
    }

    /// Removes a file. One that is gone is no error.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match std::fs::remove_file(self.path.join(name)) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
            _ => Ok(()),
        }
    }

    /// Returns the files that have names of a lake. Links are none, and are not followed.
    ///
    /// # Errors
    ///
    /// If a folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let mut found = Vec::new();
        self.list_below("", &mut found)?;
        for name in table_names() {
            self.list_below(&format!("{FOLDER}/{name}"), &mut found)?;
        }
        for round in self.folders_in(EXCHANGE)? {
            self.list_below(&format!("{EXCHANGE}/{round}"), &mut found)?;
        }
        Ok(found)
    }

    fn list_below(&self, folder: &str, found: &mut Vec<Listed>) -> io::Result<()> {
        for entry in self.entries(folder)? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if !is_own(&path) || !entry.file_type()?.is_file() {
                continue;
            }
            match entry.metadata() {
                Ok(it) => found.push(Listed { path, bytes: it.len(), changed: it.modified()? }),
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    fn folders_in(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in self.entries(folder)? {
            if entry.file_type()?.is_dir() {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(found)
    }

    /// The entries of a folder; none where there is no such folder, or a link.
    fn entries(&self, folder: &str) -> io::Result<Vec<std::fs::DirEntry>> {
        let path = self.path.join(folder);
        let is_folder = folder.is_empty() || path.symlink_metadata().is_ok_and(|it| it.is_dir());
        if is_folder { path.read_dir()?.collect() } else { Ok(Vec::new()) }
    }
}

fn table_names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|it| it.name).chain([HINTS])
}

/// Makes an empty file beside a path that gets its name once it is whole: `NAME#NUMBER`.
fn begin(path: &Path) -> io::Result<(File, PathBuf)> {
    for number in 1_u32.. {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("#{number}"));
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&name) {
            Ok(file) => return Ok((file, name.into())),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

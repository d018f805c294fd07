//! The files of a run, for whoever reads: what lies on the disk, and texts that are laid over it.
//!
//! An editor's server lays the buffers that are not saved over a folder, a test lays a whole configuration over nothing.
//! Nothing is written here: what a run leaves behind goes to the disk, by way of `backend::files`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where a run reads its files: a layer of texts, and below it the disk or nothing.
///
/// Cheap to clone. A run sees one layer from its beginning to its end: whoever changes a text changes files of their own, and
/// gives these to another [`World`](super::World). Paths are absolute; `.` and `..` in them are resolved by name, and a laid text
/// is found by the path it was laid at, not by way of a link.
#[derive(Clone, Debug, Default)]
pub struct Files {
    layer: Arc<BTreeMap<PathBuf, Laid>>,
    below: Below,
}

#[derive(Clone, Copy, Debug, Default)]
enum Below {
    #[default]
    Disk,
    Nothing,
}

#[derive(Clone, Debug)]
enum Laid {
    Text(Arc<str>),
    Folder,
    Hidden,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A fifo, a socket or a device.
    Other,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: OsString,
    /// Whether it is a folder itself; a link to one is not.
    pub is_folder: bool,
}

impl Files {
    /// Returns files that are in memory alone: what is not laid is not there.
    pub fn in_memory() -> Files {
        Files { below: Below::Nothing, ..Files::default() }
    }

    /// Returns the files of one folder, in memory alone: texts by their names relative to it, with slashes.
    pub fn of_texts<'a>(root: &Path, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Files {
        let mut files = Files::in_memory();
        files.put(root, Laid::Folder);
        for (name, text) in texts {
            files.lay(&root.join(name), text);
        }
        files
    }

    /// Lays a text over what is at a path. The folders above it are there from then on.
    pub fn lay(&mut self, path: &Path, text: impl Into<Arc<str>>) {
        self.put(path, Laid::Text(text.into()));
    }

    /// Hides what is at a path, as if it were deleted.
    pub fn hide(&mut self, path: &Path) {
        self.put(path, Laid::Hidden);
    }

    /// Takes away what was laid at a path, so that what is below shows again.
    pub fn lift(&mut self, path: &Path) {
        Arc::make_mut(&mut self.layer).remove(&by_name(path));
    }

    /// Returns whether a text is laid at a path: then the path's text is not that of the disk.
    pub fn is_laid(&self, path: &Path) -> bool {
        matches!(self.laid(path), Some(Laid::Text(_)))
    }

    fn put(&mut self, path: &Path, laid: Laid) {
        Arc::make_mut(&mut self.layer).insert(by_name(path), laid);
    }

    /// What the layer has at a path; nothing where that is asked of the disk.
    fn laid(&self, path: &Path) -> Option<Laid> {
        if self.layer.is_empty() {
            return self.is_nothing_below().then_some(Laid::Hidden);
        }
        let path = by_name(path);
        if let Some(laid) = self.layer.get(&path) {
            return Some(laid.clone());
        }
        if self.inside(&path).any(|(_, laid)| !matches!(laid, Laid::Hidden)) {
            return Some(Laid::Folder);
        }
        let is_hidden = path.ancestors().any(|it| matches!(self.layer.get(it), Some(Laid::Hidden)));
        (is_hidden || self.is_nothing_below()).then_some(Laid::Hidden)
    }

    fn is_nothing_below(&self) -> bool {
        matches!(self.below, Below::Nothing)
    }

    /// What is laid below a folder.
    fn inside<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = (&'a Path, &'a Laid)> {
        let from = self
            .layer
            .range::<Path, _>((std::ops::Bound::Excluded(folder), std::ops::Bound::Unbounded));
        from.map(|(path, laid)| (path.as_path(), laid))
            .take_while(move |it| it.0.starts_with(folder))
    }

    /// Returns what a path leads to, by way of links.
    ///
    /// # Errors
    ///
    /// If there is nothing, or it cannot be looked at.
    pub fn kind(&self, path: &Path) -> Result<Kind> {
        match self.laid(path) {
            Some(Laid::Text(_)) => Ok(Kind::File),
            Some(Laid::Folder) => Ok(Kind::Folder),
            Some(Laid::Hidden) => Err(missing()),
            None => std::fs::metadata(path).map(|it| match (it.is_file(), it.is_dir()) {
                (true, _) => Kind::File,
                (_, true) => Kind::Folder,
                _ => Kind::Other,
            }),
        }
    }

    /// Returns whether a path leads to anything that can be looked at.
    pub fn exists(&self, path: &Path) -> bool {
        self.kind(path).is_ok()
    }

    /// Returns whether a path leads to a regular file.
    pub fn is_file(&self, path: &Path) -> bool {
        self.kind(path).is_ok_and(|it| it == Kind::File)
    }

    /// Returns whether a path leads to a folder.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.kind(path).is_ok_and(|it| it == Kind::Folder)
    }

    /// Returns what is in a folder, by name.
    ///
    /// # Errors
    ///
    /// If it is no folder, or cannot be read.
    pub fn entries(&self, folder: &Path) -> Result<Vec<Entry>> {
        let mut found = BTreeMap::new();
        match self.laid(folder) {
            Some(Laid::Text(_)) => return Err(ErrorKind::NotADirectory.into()),
            Some(Laid::Hidden) => return Err(missing()),
            Some(Laid::Folder) if self.is_nothing_below() => {}
            // The disk has more of it, unless the layer alone makes it a folder.
            Some(Laid::Folder) => found = on_disk(folder).unwrap_or_default(),
            None => found = on_disk(folder)?,
        }
        let here = by_name(folder);
        for (path, _) in self.inside(&here) {
            let name = path.strip_prefix(&here).ok().and_then(|it| it.components().next());
            let Some(Component::Normal(name)) = name else { continue };
            match self.laid(&here.join(name)) {
                Some(Laid::Hidden) => found.remove(name),
                Some(laid) => found.insert(name.to_owned(), matches!(laid, Laid::Folder)),
                None => None,
            };
        }
        Ok(found.into_iter().map(|(name, is_folder)| Entry { name, is_folder }).collect())
    }

    /// Reads a whole file that the user names, which may be a pipe that somebody writes; any other with [`Files::read_regular`].
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        self.read_with(path, super::read_given)
    }

    /// Reads a whole file that must be one: a fifo would be waited for, and a device read without end. `/dev/null` is empty.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no regular file.
    pub fn read_regular(&self, path: &Path) -> Result<Vec<u8>> {
        self.read_with(path, super::read_regular)
    }

    /// The same, as text.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no regular file, or no text.
    pub fn read_text(&self, path: &Path) -> Result<String> {
        super::as_text(self.read_regular(path)?)
    }

    fn read_with(
        &self,
        path: &Path,
        from_disk: impl Fn(&Path) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        match self.laid(path) {
            Some(Laid::Text(text)) => Ok(text.as_bytes().to_owned()),
            Some(Laid::Folder) => Err(ErrorKind::IsADirectory.into()),
            Some(Laid::Hidden) => Err(missing()),
            None => from_disk(path),
        }
    }
}

/// The names in a folder of the disk, and whether each is a folder.
fn on_disk(folder: &Path) -> Result<BTreeMap<OsString, bool>> {
    let entries = std::fs::read_dir(folder)?;
    entries.map(|it| it.and_then(|it| Ok((it.file_name(), it.file_type()?.is_dir())))).collect()
}

/// The error of the system for a file that is not there, with its words.
fn missing() -> Error {
    #[cfg(unix)]
    return rustix::io::Errno::NOENT.into();
    #[cfg(not(unix))]
    ErrorKind::NotFound.into()
}

/// Returns where a path leads, links followed; one that is not there yet, by its folder.
pub fn real(path: &Path) -> PathBuf {
    let within = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(within).unwrap_or_else(|| by_name(path))
}

/// Resolves `.` and `..` by name.
pub fn by_name(path: &Path) -> PathBuf {
    let mut done = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                done.pop();
            }
            other => done.push(other),
        }
    }
    done
}

#[cfg(test)]
mod tests;

//! A file of many megabytes, read from its end: the room for all of it at once is had from the system page by page.

use std::fs::{File, Metadata};
use std::hash::Hasher as _;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::{locked, replace};
use crate::state::read::{Backwards, PIECE};
use crate::world::open_regular;

/// A file that is read from its end.
pub struct LargeFile {
    file: Arc<File>,
    /// What it was when it was opened.
    before: Metadata,
    left: usize,
    hasher: FxHasher,
}

impl LargeFile {
    /// Opens a file if it has so many bytes, and nothing tells that it may not be whole.
    pub fn open(path: &Path, least: usize) -> Option<LargeFile> {
        let path = std::fs::canonicalize(path).ok()?;
        if replace::whole_copy(&path).exists() {
            return None;
        }
        let file = match locked::held_file(&path) {
            Some(file) => file,
            None => Arc::new(open_regular(&path).ok()?),
        };
        let before = file.metadata().ok()?;
        let left = usize::try_from(before.len()).ok()?;
        (left >= least).then(|| LargeFile { file, before, left, hasher: FxHasher::default() })
    }

    /// Returns what [`digest()`] returns of the content, once all of it was taken; nothing where it has changed meanwhile.
    pub fn digest(&self) -> Option<String> {
        let now = self.file.metadata().ok()?;
        let told = |it: &Metadata| (it.len(), it.mtime(), it.mtime_nsec());
        let is_same = self.left == 0 && told(&now) == told(&self.before);
        is_same.then(|| text(now.len(), &self.hasher))
    }
}

impl Backwards for LargeFile {
    fn left(&self) -> usize {
        self.left
    }

    fn begin_with(&self, text: &[u8]) -> bool {
        let mut first = vec![0; text.len()];
        self.file.read_exact_at(&mut first, 0).is_ok() && first == text
    }

    fn take(&mut self, into: &mut [u8]) -> io::Result<()> {
        self.left -= into.len();
        self.file.read_exact_at(into, self.left as u64)?;
        self.hasher.write(into);
        Ok(())
    }
}

/// Stands for the content of a file; nothing is the same as an empty file.
pub fn digest(content: &[u8]) -> String {
    let mut hasher = FxHasher::default();
    content.rchunks(PIECE).for_each(|it| hasher.write(it));
    text(content.len() as u64, &hasher)
}

fn text(length: u64, hasher: &FxHasher) -> String {
    format!("{length}-{:x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_has_the_digest_of_its_content_unless_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..2 * PIECE + 17).map(|it| it as u8).collect();
        std::fs::write(&path, &content).expect("it is written");
        assert!(LargeFile::open(&path, content.len() + 1).is_none());
        let mut file = LargeFile::open(&path, content.len()).expect("it is large enough");
        let mut read = Vec::new();
        while file.left() > 0 {
            assert_eq!(file.digest(), None);
            let mut block = vec![0; file.left().min(PIECE)];
            file.take(&mut block).expect("it can be read");
            read.splice(0..0, block);
        }
        assert_eq!((&read, file.digest()), (&content, Some(digest(&content))));
        std::fs::write(&path, &content[1..]).expect("it is written");
        assert_eq!(file.digest(), None);
    }
}

//! Folders in which something is made that gets its name once it is whole.

use std::io;
use std::path::{Path, PathBuf};

use super::replace::{NewFile, remove_folder, sweep_once};

/// A folder for a while, beside what is made in it: `.entail-PROCESS-NUMBER`. Dropping it removes it. Where the process dies before,
/// the next one that makes something there does: a file of the same name shows that the process lives.
#[derive(Debug)]
pub struct NewFolder {
    path: PathBuf,
    claim: Option<NewFile>,
}

impl NewFolder {
    /// Makes a folder within `parent`, which is there.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn within(parent: &Path) -> io::Result<NewFolder> {
        sweep_once(parent);
        let claim = NewFile::claimed(parent, 0o600)?;
        let path = claim.folder();
        std::fs::create_dir(&path)?;
        Ok(NewFolder { path, claim: Some(claim) })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // What cannot be removed now is found by the file that stays beside it.
        if remove_folder(&self.path).is_err() {
            std::mem::forget(self.claim.take());
        }
    }
}

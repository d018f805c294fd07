//! The folders in which plugins have their sockets: for this user alone, and gone with the process, however that ended.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use tempfile::TempDir;

use crate::backend::files;
use crate::error::{Error, ErrorContext};
use crate::world::private_folder;

/// A socket's path must fit into about a hundred bytes.
const PATH: usize = 70;

/// The file whose lock shows that the folder's process lives.
const ALIVE: &str = ".alive";

/// The folder of one plugin's socket.
#[derive(Debug)]
pub(super) struct SocketFolder {
    folder: TempDir,
    _alive: Option<File>,
}

impl SocketFolder {
    /// Makes a folder that only this user can look into, with a short path.
    pub(super) fn new() -> Result<SocketFolder, Error> {
        let usual = std::env::temp_dir();
        let parent = match usual.as_os_str().len() <= PATH {
            true => usual,
            false => PathBuf::from("/tmp"),
        };
        SocketFolder::within(&parent)
    }

    fn within(parent: &Path) -> Result<SocketFolder, Error> {
        sweep_once(parent);
        let folder = private_folder(parent).context("has no place for its socket")?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        // It gets its name when it is locked, so that nobody who sweeps finds it free. Without it the folder is left behind
        // after a kill, and nothing else.
        let unnamed = folder.path().join(".claimed");
        let alive = options.open(&unnamed).ok().filter(|it| files::claim(it).unwrap_or(false));
        let named = std::fs::rename(&unnamed, folder.path().join(ALIVE));
        Ok(SocketFolder { folder, _alive: alive.filter(|_| named.is_ok()) })
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn sweep_once(parent: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut swept = SWEPT.lock();
    if swept.insert(parent.to_path_buf()) {
        sweep(parent);
    }
}

/// Removes the folders of this user that dead processes have left.
fn sweep(parent: &Path) {
    let me = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with("entail")
            && entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == me);
        if is_ours && is_abandoned(&entry.path().join(ALIVE)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether nobody holds the file, which is there.
fn is_abandoned(alive: &Path) -> bool {
    let is_file = std::fs::symlink_metadata(alive).is_ok_and(|it| it.is_file());
    let file = || OpenOptions::new().read(true).write(true).open(alive).ok();
    is_file && file().is_some_and(|it| files::claim(&it).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_look_into_the_folder_of_a_socket() {
        let folder = SocketFolder::new().expect("a folder");
        let mode = std::fs::metadata(folder.path()).expect("it is there").mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn folders_of_dead_processes_go_and_those_of_live_ones_stay() {
        let parent = tempfile::tempdir().expect("a folder");
        let live = SocketFolder::within(parent.path()).expect("a folder");
        let dead = parent.path().join("entailDead");
        let strange = parent.path().join("entailOther");
        std::fs::create_dir(&dead).and_then(|()| std::fs::create_dir(&strange)).expect("folders");
        std::fs::write(dead.join(ALIVE), "").expect("it is written");
        std::fs::write(dead.join("socket"), "").expect("it is written");
        sweep(parent.path());
        assert!(live.path().exists() && strange.exists() && !dead.exists());
    }

    #[test]
    fn whoever_sweeps_finds_no_folder_before_it_is_claimed() {
        let parent = tempfile::tempdir().expect("a folder");
        let swept = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !swept.load(std::sync::atomic::Ordering::Relaxed) {
                    sweep(parent.path());
                }
            });
            let all: Vec<SocketFolder> =
                (0..500).map(|_| SocketFolder::within(parent.path()).expect("a folder")).collect();
            swept.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(all.iter().all(|it| it.path().join(ALIVE).exists()));
        });
    }
}

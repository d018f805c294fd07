//! States in files of this machine, with a backup beside each, locked as OpenTofu locks them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use super::files::{self, Fresh, LargeFile, Locked};
use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::lock_info;
use super::seal::{Part, Seals};
use super::shape::text;
use super::snapshots::Recover;
use super::store::{Content, FILE_NAME, Large, Refused, Store, Version};
use super::workspace;
use crate::world::World;

/// The folder of the other workspaces' states where none is chosen.
pub const WORKSPACE_FOLDER: &str = "terraform.tfstate.d";

/// `backend "local"`
pub const KIND: Kind = Kind {
    name: "local",
    settings: &[
        text("path").filled("local state file path"),
        text("workspace_dir").filled("local workspace directory path"),
    ],
    open: |it| {
        let path = |name| it.text(name).map(PathBuf::from);
        let (path, workspace_folder) = (path("path"), path("workspace_dir"));
        let choice = Choice { path, workspace_folder, ..it.choice.clone() };
        Ok(Arc::new(Local::new(it.world.clone(), choice)))
    },
};

/// Which files a state is read from and written to, as the user writes them: relative to the root module's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Where it is read from until the first write.
    pub read: PathBuf,
    /// Where it is written to.
    pub write: PathBuf,
    /// Where the state before the first write is kept.
    pub backup: Option<PathBuf>,
    /// Whether what has the backup's name already stays, and the backup gets another.
    pub keeps_backups: bool,
}

/// What chooses the files.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// `-state`
    pub state: Option<PathBuf>,
    /// `-state-out`
    pub state_out: Option<PathBuf>,
    /// `-backup`; `-` turns it off.
    pub backup: Option<PathBuf>,
    /// `path` of `backend "local"`, for the default workspace.
    pub path: Option<PathBuf>,
    /// `workspace_dir` of `backend "local"`.
    pub workspace_folder: Option<PathBuf>,
    /// The time that the name of the backup bears, in seconds, where each command keeps one of its own.
    pub dated: Option<i64>,
    /// `-recover`
    pub recover: Option<Recover>,
    /// `-allow-missing-state`
    pub allows_missing: bool,
}

impl Paths {
    /// Returns the files of a workspace.
    pub fn new(choice: &Choice, workspace: &str) -> Paths {
        let usual = || match workspace {
            workspace::DEFAULT | "" => choice.path.clone().unwrap_or_else(|| FILE_NAME.into()),
            name => {
                let folder =
                    choice.workspace_folder.clone().unwrap_or_else(|| WORKSPACE_FOLDER.into());
                folder.join(name).join(FILE_NAME)
            }
        };
        let read = choice.state.clone().unwrap_or_else(usual);
        let write = choice.state_out.clone().unwrap_or_else(|| read.clone());
        let backup = match &choice.backup {
            Some(path) if path.as_os_str() == "-" => None,
            Some(path) => Some(path.clone()),
            None => Some(match choice.dated {
                Some(seconds) => with_suffix(&write, &format!(".{seconds}.backup")),
                None => with_suffix(&write, ".backup"),
            }),
        };
        let keeps_backups = choice.backup.is_none() && choice.dated.is_some();
        Paths { read, write, backup, keeps_backups }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The store in files.
#[derive(Debug)]
pub struct Local {
    world: Arc<World>,
    choice: Choice,
    now: Mutex<BTreeMap<String, Now>>,
}

/// What was done so far in one workspace.
#[derive(Debug, Default)]
struct Now {
    locked: Option<(Locked, String)>,
    has_written: bool,
    has_backup: bool,
}

impl Local {
    /// Returns the store in these files; nothing is touched yet.
    pub fn new(world: Arc<World>, choice: Choice) -> Local {
        Local { world, choice, now: Mutex::default() }
    }

    /// Returns the files of a workspace.
    pub fn paths(&self, workspace: &str) -> Paths {
        Paths::new(&self.choice, workspace)
    }

    /// Returns the folder of the workspaces' states.
    fn folder(&self) -> PathBuf {
        let chosen = self.choice.workspace_folder.clone();
        self.at(&chosen.unwrap_or_else(|| WORKSPACE_FOLDER.into()))
    }

    fn now(&self) -> MutexGuard<'_, BTreeMap<String, Now>> {
        self.now.lock()
    }

    fn at(&self, path: &Path) -> PathBuf {
        self.world.root.join(path)
    }

    /// Reads a file. One that was torn while it was written in place is read from the whole copy beside it.
    ///
    /// Returns what it holds, and what of that is to be used.
    fn read_file(&self, path: &Path) -> io::Result<(Version, Vec<u8>)> {
        let at = self.at(path);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let bytes = files::read(&at).map_err(named)?.unwrap_or_default();
        let version = version_of(&bytes);
        match files::restore_torn(&at, || self.is_torn(&bytes)) {
            Ok(Some(copy)) if !self.is_torn(&copy) => Ok((version, copy)),
            _ => Ok((version, bytes)),
        }
    }

    /// Whether this cannot be what anybody has stored.
    fn is_torn(&self, bytes: &[u8]) -> bool {
        Seals::of(&self.world).read_state(Part::State, bytes).is_err()
    }

    /// Waits for a lock that another holds for a moment, too: between its comparison and its replacement nobody else may write.
    /// One that is held for longer belongs to a run that `-lock=false` does not heed.
    fn momentary_lock(&self, paths: &Paths) -> Option<Locked> {
        let path = self.at(&paths.write);
        for _ in 0..200 {
            match files::lock(&path) {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                other => return other.ok().flatten(),
            }
        }
        None
    }

    /// Extends a held lock to the file that has taken the place of the locked one: a link was turned, or a file renamed over it.
    fn cover(&self, paths: &Paths, now: &Now) -> Result<Option<File>, Refused> {
        let Some((locked, _)) = &now.locked else { return Ok(None) };
        locked.cover(&self.at(&paths.write)).map_err(|why| match why.kind() {
            io::ErrorKind::WouldBlock => Refused::LockLost(
                "another file has taken the place of the locked one, and another program holds its lock"
                    .into(),
            ),
            _ => Refused::Failed(why),
        })
    }

    /// Replaces a file, unless it is not what it was.
    fn replace(
        &self,
        paths: &Paths,
        now: &mut Now,
        (bytes, expected): (&[u8], &Version),
    ) -> Result<Version, Refused> {
        let path = self.at(&paths.write);
        files::check_keeps(&path).map_err(Refused::KeepsNothing)?;
        let old = files::read(&path)?.unwrap_or_default();
        if version_of(&old) != *expected {
            return Err(Refused::Overtaken(old));
        }
        if let Some(backup) = paths.backup.as_ref().filter(|_| !now.has_backup && !old.is_empty()) {
            self.back_up(paths, backup, &old)
                .map_err(|it| Refused::NoBackup(backup.clone(), it))?;
            now.has_backup = true;
        }
        files::replace(&path, bytes, Fresh::Private)?;
        now.has_written = true;
        Ok(version_of(bytes))
    }

    /// Keeps what is there, for the eyes of those who may read it now.
    fn back_up(&self, paths: &Paths, backup: &Path, old: &[u8]) -> io::Result<()> {
        let of = self.at(&paths.write);
        if !paths.keeps_backups {
            return files::replace(&self.at(backup), old, Fresh::Like(&of));
        }
        let stem = backup.as_os_str().to_string_lossy();
        let stem = stem.strip_suffix(".backup").unwrap_or(&stem).to_owned();
        let numbered = (2..).map(|it| PathBuf::from(format!("{stem}-{it}.backup")));
        for name in std::iter::once(backup.to_path_buf()).chain(numbered) {
            if files::create(&self.at(&name), old, Fresh::Like(&of))? {
                break;
            }
        }
        Ok(())
    }

    /// Makes good what processes have left that died while they wrote here. Only for who holds the lock.
    fn sweep(&self, paths: &Paths) {
        let folder = |path: &Path| {
            // A link's file is written where it lies.
            let at = self.at(path);
            at.canonicalize().unwrap_or(at).parent().map(Path::to_path_buf)
        };
        let folders = [Some(&paths.write), paths.backup.as_ref()];
        let folders = folders.into_iter().flatten().filter_map(|it| folder(it));
        let own = [self.world.root.clone(), workspace::data_folder(&self.world)];
        folders.chain(own).for_each(|it| files::sweep(&it));
        let path = self.at(&paths.write);
        let is_torn = || files::read(&path).is_ok_and(|it| self.is_torn(&it.unwrap_or_default()));
        files::make_whole(&path, is_torn);
    }

    /// Empties the file of a state that was copied elsewhere; its backup stays.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or another run holds its lock.
    pub fn erase(&self, workspace: &str) -> io::Result<()> {
        let paths = self.paths(workspace);
        let path = self.at(&paths.write);
        let Some(locked) = files::lock(&path)? else {
            return Err(io::Error::other("another run holds its lock"));
        };
        let erased = (|| {
            if let (Some(backup), Some(text)) = (&paths.backup, files::read(&path)?) {
                files::replace(&self.at(backup), &text, Fresh::Like(&path))?;
            }
            files::replace(&path, b"", Fresh::Private)
        })();
        locked.release().and(erased)
    }
}

fn version_of(bytes: &[u8]) -> Version {
    Version(files::digest(bytes))
}

impl Large for LargeFile {
    fn version(&self) -> Option<Version> {
        self.digest().map(Version)
    }
}

fn info_path(paths: &Paths) -> PathBuf {
    files::beside(&paths.write, "lock.info")
}

#[async_trait]
impl Store for Local {
    fn name(&self, workspace: &str) -> String {
        self.paths(workspace).write.display().to_string()
    }

    fn file(&self, workspace: &str) -> Option<PathBuf> {
        Some(self.paths(workspace).write)
    }

    fn files(&self) -> Vec<PathBuf> {
        let names = workspace::list(&self.folder());
        names.iter().map(|it| self.paths(it).write).collect()
    }

    fn backups(&self) -> Vec<PathBuf> {
        self.choice.backup.iter().filter(|it| it.as_os_str() != "-").cloned().collect()
    }

    fn is_at_hand(&self) -> bool {
        true
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        let paths = self.paths(workspace);
        let has_written = self.now().get(workspace).is_some_and(|it| it.has_written);
        if has_written || paths.read == paths.write {
            let (version, bytes) = self.read_file(&paths.write)?;
            return Ok(Content { bytes, version, is_elsewhere: false });
        }
        let (_, bytes) = self.read_file(&paths.read)?;
        let (version, _) = self.read_file(&paths.write)?;
        Ok(Content { bytes, version, is_elsewhere: true })
    }

    fn large(&self, workspace: &str, least: usize) -> Option<Box<dyn Large>> {
        let paths = self.paths(workspace);
        let is_here = paths.read == paths.write;
        let file = is_here.then(|| LargeFile::open(&self.at(&paths.write), least))??;
        Some(Box::new(file))
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        let paths = self.paths(workspace);
        let mut all = self.now();
        let now = all.entry(workspace.to_owned()).or_default();
        // Without a lock, one is taken for this moment, unless another program holds it.
        let momentary = match now.locked {
            Some(_) => None,
            None => self.momentary_lock(&paths),
        };
        let written = match self.cover(&paths, now) {
            Ok(_cover) => self.replace(&paths, now, (bytes, expected)),
            Err(refused) => Err(refused),
        };
        let released = momentary.map_or(Ok(()), Locked::release);
        let version = written?;
        released?;
        Ok(version)
    }

    async fn check(&self, workspace: &str) -> io::Result<()> {
        files::check_keeps(&self.at(&self.paths(workspace).write))
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        Ok(workspace::list(&self.folder()))
    }

    async fn create(&self, workspace: &str) -> io::Result<()> {
        match workspace {
            workspace::DEFAULT => Ok(()),
            name => std::fs::create_dir_all(self.folder().join(name)),
        }
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        std::fs::remove_dir_all(self.folder().join(workspace))
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let paths = self.paths(workspace);
        let shown = info_path(&paths);
        let locked = files::lock(&self.at(&paths.write))?;
        let Some(locked) = locked else {
            return Err(LockProblem::Held(lock_info::read_info(
                &self.at(&shown),
                &shown.display().to_string(),
            )));
        };
        // What a dead process left here is made good or cleared away: its lock is gone with it.
        self.sweep(&paths);
        let info = LockInfo { path: paths.read.display().to_string(), ..info.clone() };
        let text = serde_json::to_vec(&info).unwrap_or_default();
        if let Err(error) = files::write_note(&self.at(&shown), &text) {
            let _ = std::fs::remove_file(self.at(&shown));
            let _ = locked.release();
            let path = paths.read.display();
            return Err(LockProblem::Failed(format!(
                "could not write lock info for {path:?}: {error}"
            )));
        }
        self.now().entry(workspace.to_owned()).or_default().locked =
            Some((locked, info.id.clone()));
        Ok(info.id)
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        let paths = self.paths(workspace);
        let shown = info_path(&paths);
        let record = || lock_info::read_info(&self.at(&shown), &shown.display().to_string()).ok();
        Ok(match files::is_locked(&self.at(&paths.write))? {
            None => LockState::Unknown,
            Some(false) => LockState::Free,
            Some(true) => LockState::Held(record()),
        })
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let mut all = self.now();
        let held = all.get_mut(workspace).and_then(|it| it.locked.take_if(|it| it.1 == id));
        let Some((locked, _)) = held else { return Err(NotUnlocked::not_locked()) };
        let _ = std::fs::remove_file(self.at(&info_path(&self.paths(workspace))));
        Ok(locked.release()?)
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let paths = self.paths(workspace);
        let shown = info_path(&paths);
        let info_path = self.at(&shown);
        let info = match lock_info::read_info(&info_path, &shown.display().to_string()) {
            Ok(info) => info,
            Err(_) if !info_path.exists() => return Err(NotUnlocked::not_locked()),
            Err(_) => LockInfo { id: id.into(), ..LockInfo::default() },
        };
        if info.id != id {
            return Err(NotUnlocked::other_id(id, info));
        }
        match files::lock(&self.at(&paths.write))? {
            Some(locked) => {
                std::fs::remove_file(&info_path)?;
                Ok(locked.release()?)
            }
            None => Err(NotUnlocked::InUse),
        }
    }

    async fn tidy(&self, workspace: &str) {
        let paths = self.paths(workspace);
        let info = self.at(&info_path(&paths));
        if !info.exists() || !self.at(&paths.write).exists() {
            return;
        }
        if let Ok(Some(locked)) = files::lock(&self.at(&paths.write)) {
            let _ = std::fs::remove_file(info);
            let _ = locked.release();
        }
    }
}

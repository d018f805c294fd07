//! Snapshots in a file of this machine, with a backup beside it, locked as OpenTofu locks it.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rustc_hash::FxHasher;

use super::files::{self, Fresh, Locked};
use super::lock::{self, LockInfo, LockProblem};
use super::{Backend, NotWritten, Snapshot, Stored, workspace};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::{State, read, write};
use crate::world::World;
use stale::Recover;

mod journal;
pub(super) mod stale;
mod trouble;

use journal::Known;
use trouble::{check_successor, no_backup, not_saved, unreadable};

/// The name of a state file where none is chosen.
pub const FILE_NAME: &str = "terraform.tfstate";
/// The folder of the other workspaces' states where none is chosen.
pub const WORKSPACE_FOLDER: &str = "terraform.tfstate.d";

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
    /// What becomes of a journal that does not fit or cannot be read.
    pub recover: Option<Recover>,
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
        Paths { read, write, backup, keeps_backups, recover: choice.recover }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The local backend, for one workspace.
#[derive(Debug)]
pub struct Local {
    world: Arc<World>,
    paths: Paths,
    now: Mutex<Now>,
}

/// What was done so far.
#[derive(Debug, Default)]
struct Now {
    locked: Option<Locked>,
    /// Whether whoever holds the lock may write.
    may_write: bool,
    /// Lineage and serial of the latest snapshot that was read or written.
    last: Option<(String, u64)>,
    /// What the file that is written held when it was last read or written.
    seen: Option<Fingerprint>,
    journal: Known,
    has_written: bool,
    has_backup: bool,
    /// Whether somebody else has written the file since it was read.
    is_overtaken: bool,
}

/// Stands for the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint(usize, u64);

impl Fingerprint {
    fn of(bytes: &[u8]) -> Fingerprint {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        Fingerprint(bytes.len(), hasher.finish())
    }
}

impl Local {
    /// Returns the backend over these files; nothing is touched yet.
    pub fn new(world: Arc<World>, paths: Paths) -> Local {
        Local { world, paths, now: Mutex::default() }
    }

    /// Returns its files.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(|it| it.into_inner())
    }

    fn at(&self, path: &Path) -> PathBuf {
        self.world.root.join(path)
    }

    fn info_path(&self) -> PathBuf {
        files::beside(&self.paths.write, "lock.info")
    }

    fn read_file(&self, now: &Now) -> Result<Vec<u8>, Diagnostics> {
        let path = if now.has_written { &self.paths.write } else { &self.paths.read };
        let bytes = files::read(&self.at(path)).map_err(|error| unreadable(path, &error))?;
        Ok(bytes.unwrap_or_default())
    }

    /// Reads the file that is written.
    fn target(&self) -> Result<Vec<u8>, Diagnostics> {
        let bytes = files::read(&self.at(&self.paths.write));
        Ok(bytes.map_err(|error| unreadable(&self.paths.write, &error))?.unwrap_or_default())
    }

    /// Returns whether the file that is written holds what it did.
    fn is_still(&self, now: &Now, seen: Option<Fingerprint>) -> Result<bool, Diagnostics> {
        let is_same = now.seen == seen;
        Ok(is_same && (seen.is_none() || seen == Some(Fingerprint::of(&self.target()?))))
    }

    fn read_now(&self, now: &mut Now) -> Result<Snapshot, Diagnostics> {
        // The journal first: if its run ends in between, the state read afterwards holds all of it.
        let found = match now.journal {
            Known::Mine => Ok(None),
            _ => journal::look(&self.journal_path()),
        };
        let bytes = self.read_file(now)?;
        let path = if now.has_written { &self.paths.write } else { &self.paths.read };
        let state = read::read(&bytes).or_else(|problems| self.whole(path).ok_or(problems))?;
        let mut snapshot = Snapshot { state, ..Snapshot::default() };
        now.seen = Some(match *path == self.paths.write {
            true => Fingerprint::of(&bytes),
            false => Fingerprint::of(&self.target()?),
        });
        if !matches!(now.journal, Known::Mine) {
            self.take_up(now, found, &mut snapshot)?;
        }
        let last = snapshot.state.as_ref().map(|it| (it.lineage.clone(), it.serial));
        now.last = Some(last.unwrap_or_default());
        Ok(snapshot)
    }

    /// Returns the state of the whole copy beside a file that was torn while it was written in place.
    fn whole(&self, path: &Path) -> Option<Option<State>> {
        let copy = files::restore_torn(&self.at(path), || true).ok().flatten()?;
        read::read(&copy).ok()
    }

    /// Keeps a backup of what is there, then replaces it, unless it is not what it was.
    fn store(&self, now: &mut Now, known: (&str, u64), text: &str) -> Result<Stored, Diagnostics> {
        // Whoever has no lock takes one for this moment, unless another holds it.
        let momentary = match now.locked {
            Some(_) => None,
            None => files::lock(&self.at(&self.paths.write)).ok().flatten(),
        };
        let stored = self.store_guarded(now, known, text);
        let released = momentary.map_or(Ok(()), Locked::release);
        let stored = stored?;
        released.map_err(|it| not_saved(&it))?;
        Ok(stored)
    }

    fn store_guarded(
        &self,
        now: &mut Now,
        (lineage, serial): (&str, u64),
        text: &str,
    ) -> Result<Stored, Diagnostics> {
        let path = self.at(&self.paths.write);
        files::check_keeps(&path).map_err(|it| trouble::keeps_nothing(&self.paths.write, &it))?;
        let old = self.target()?;
        if now.seen.is_some_and(|it| it != Fingerprint::of(&old)) {
            let there = read::read(&old).ok().flatten();
            let known = now.last.clone().unwrap_or_default();
            now.is_overtaken = true;
            return Err(trouble::overtaken(&self.paths.write, there.as_ref(), &known).into());
        }
        if let Some(backup) = self.paths.backup.as_ref().filter(|_| !now.has_backup)
            && !old.is_empty()
        {
            self.back_up(backup, &old).map_err(|error| no_backup(backup, &error))?;
            now.has_backup = true;
        }
        files::replace(&path, text.as_bytes(), Fresh::Private).map_err(|it| not_saved(&it))?;
        now.has_written = true;
        now.seen = Some(Fingerprint::of(text.as_bytes()));
        now.last = Some((lineage.into(), serial));
        Ok(Stored { lineage: lineage.into(), serial, is_written: true })
    }

    /// Keeps what is there, for the eyes of those who may read it now.
    fn back_up(&self, backup: &Path, old: &[u8]) -> std::io::Result<()> {
        let of = self.at(&self.paths.write);
        if !self.paths.keeps_backups {
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

    /// Returns whether the file holds this state already, whatever it looks like.
    ///
    /// - `text`: the state as it would be written, with the next serial.
    fn is_stored(
        &self,
        now: &Now,
        state: &State,
        text: &str,
        of: (&str, u64),
    ) -> Result<bool, Diagnostics> {
        let old = self.read_file(now)?;
        // What looks as we write it is another state if it is not equal; the rest is compared by meaning.
        if let Some(old) = write::body_of(&old, of.0, of.1) {
            return Ok(write::body_of(text.as_bytes(), of.0, of.1 + 1) == Some(old));
        }
        Ok(read::read(&old)?.is_some_and(|old| write::is_same(&old, state)))
    }
}

impl Backend for Local {
    fn read(&self) -> Result<Snapshot, Diagnostics> {
        self.read_now(&mut self.now())
    }

    fn write(&self, state: &State) -> Result<Stored, NotWritten> {
        if self.now().last.is_none() {
            self.read()?;
        }
        let mut now = self.now();
        let (known, serial) = now.last.clone().unwrap_or_default();
        let lineage = match (known.as_str(), state.lineage.as_str()) {
            ("", "") => self.world.uuid(),
            ("", chosen) => chosen.into(),
            (known, _) => known.into(),
        };
        let text = write::write_as(state, &lineage, serial + 1);
        let is_in_place = now.has_written || self.paths.read == self.paths.write;
        let written = self.writing(&mut now, |now| {
            match !known.is_empty()
                && is_in_place
                && self.is_stored(now, state, &text, (&known, serial))?
            {
                true => Ok(Stored { lineage, serial, is_written: false }),
                false => self.store(now, (&lineage, serial + 1), &text),
            }
        });
        written.map_err(|problems| NotWritten { problems, is_overtaken: now.is_overtaken })
    }

    fn import(&self, state: &State, force: bool) -> Result<Stored, Diagnostics> {
        let old = self.read()?.state;
        let mut now = self.now();
        if let Some(old) = old.as_ref().filter(|old| !old.is_empty() && !force) {
            check_successor(state, old)?;
        }
        let related = old.filter(|it| it.lineage == state.lineage);
        if let Some(old) =
            related.as_ref().filter(|it| it.serial >= state.serial && write::is_same(it, state))
        {
            let (lineage, serial) = (old.lineage.clone(), old.serial);
            return Ok(Stored { lineage, serial, is_written: false });
        }
        let lineage =
            if state.lineage.is_empty() { self.world.uuid() } else { state.lineage.clone() };
        // What is forced over a newer state is newer than that: nobody who holds either can overwrite it unnoticed.
        let serial = match related.map(|it| it.serial) {
            Some(newer) if newer >= state.serial => newer + 1,
            _ => state.serial,
        };
        let text = write::write_as(state, &lineage, serial);
        // What an interrupted run finished was in the state that gives way.
        self.writing(&mut now, |now| self.store(now, (&lineage, serial), &text))
    }

    fn lock(&self, info: &LockInfo) -> Result<(), LockProblem> {
        let mut now = self.now();
        let info_path = self.info_path();
        let locked = files::lock(&self.at(&self.paths.write))
            .map_err(|error| LockProblem::Failed(error.to_string()))?;
        let Some(locked) = locked else {
            return Err(LockProblem::Held(lock::read_info(
                &self.at(&info_path),
                &info_path.display().to_string(),
            )));
        };
        // What a dead process left here is made good or cleared away: its lock is gone with it.
        self.sweep();
        let info = LockInfo { path: self.paths.read.display().to_string(), ..info.clone() };
        let text = serde_json::to_vec(&info).unwrap_or_default();
        if let Err(error) = files::write_note(&self.at(&info_path), &text) {
            let _ = std::fs::remove_file(self.at(&info_path));
            let _ = locked.release();
            let path = self.paths.read.display();
            return Err(LockProblem::Failed(format!(
                "could not write lock info for {path:?}: {error}"
            )));
        }
        now.locked = Some(locked);
        now.may_write = info.may_write() || self.paths.recover.is_some();
        // What was read before the lock may be old.
        now.last = None;
        Ok(())
    }

    fn unlock(&self) -> Result<(), Diagnostic> {
        let mut now = self.now();
        let Some(locked) = now.locked.take() else {
            return Err(lock::not_unlocked("LocalState not locked"));
        };
        now.may_write = false;
        let _ = std::fs::remove_file(self.at(&self.info_path()));
        locked.release().map_err(lock::not_unlocked)
    }

    fn force_unlock(&self, id: &str) -> Result<(), Diagnostic> {
        let shown = self.info_path();
        let info_path = self.at(&shown);
        let info = match lock::read_info(&info_path, &shown.display().to_string()) {
            Ok(info) => info,
            Err(_) if !info_path.exists() => {
                return Err(lock::not_unlocked("LocalState not locked"));
            }
            Err(_) => LockInfo { id: id.into(), ..LockInfo::default() },
        };
        if info.id != id {
            return Err(lock::not_unlocked(format!(
                "invalid lock id: {id:?}. current id: {:?}",
                info.id
            ))
            .detail(info.to_string()));
        }
        match files::lock(&self.at(&self.paths.write)) {
            Ok(Some(locked)) => {
                std::fs::remove_file(&info_path).map_err(lock::not_unlocked)?;
                locked.release().map_err(lock::not_unlocked)
            }
            Ok(None) => Err(lock::held_by_another()),
            Err(error) => Err(lock::not_unlocked(error)),
        }
    }

    fn journal(&self) -> Result<PathBuf, Diagnostics> {
        let path = self.at(&self.paths.write);
        files::check_keeps(&path).map_err(|it| trouble::keeps_nothing(&self.paths.write, &it))?;
        self.own_journal(&mut self.now())
    }
}

impl Local {
    /// Makes good what processes have left that died while they wrote here. Only for who holds the lock.
    fn sweep(&self) {
        let folder = |path: &Path| self.at(path).parent().map(Path::to_path_buf);
        let folders = [Some(&self.paths.write), self.paths.backup.as_ref()];
        let folders = folders.into_iter().flatten().filter_map(|it| folder(it));
        let own = [self.world.root.clone(), workspace::data_folder(&self.world)];
        folders.chain(own).for_each(|it| files::sweep(&it));
        let path = self.at(&self.paths.write);
        let is_torn =
            || files::read(&path).is_ok_and(|it| read::read(&it.unwrap_or_default()).is_err());
        files::make_whole(&path, is_torn);
    }

    /// Clears away what a process has left that died while it held the lock, unless somebody holds it.
    pub fn tidy(&self) {
        let info = self.at(&self.info_path());
        if !info.exists() || !self.at(&self.paths.write).exists() {
            return;
        }
        if let Ok(Some(locked)) = files::lock(&self.at(&self.paths.write)) {
            let _ = std::fs::remove_file(info);
            let _ = locked.release();
        }
    }
}

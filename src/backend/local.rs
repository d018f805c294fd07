//! Snapshots in a file of this machine, with a backup beside it, locked as OpenTofu locks it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::files::{self, Locked};
use super::leftover::{self, Leftover};
use super::lock::{self, LockInfo, LockProblem};
use super::{Backend, Snapshot, Stored, workspace};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::{State, read, write};
use crate::world::World;

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
        Paths { read, write, backup }
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
    /// Lineage and serial of the latest snapshot that was read or written.
    last: Option<(String, u64)>,
    has_written: bool,
    has_backup: bool,
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

    fn journal_path(&self) -> PathBuf {
        self.at(&files::beside(&self.paths.write, "journal"))
    }

    fn read_file(&self, now: &Now) -> Result<Vec<u8>, Diagnostics> {
        let path = if now.has_written { &self.paths.write } else { &self.paths.read };
        let bytes = files::read(&self.at(path)).map_err(|error| unreadable(path, &error))?;
        Ok(bytes.unwrap_or_default())
    }

    /// Makes good what an interrupted run has left: what it finished is stored, and its journal goes.
    fn settle(
        &self,
        now: &mut Now,
        leftover: Leftover,
        snapshot: &Snapshot,
    ) -> Result<(), Diagnostics> {
        if snapshot.recovered > 0
            && let Some(state) = &snapshot.state
        {
            self.store(now, (&state.lineage, state.serial), &write::write(state))?;
        }
        match leftover {
            Leftover::Spent => self.clear_journal(),
            Leftover::Precious => {
                std::fs::rename(self.journal_path(), self.at(&self.set_aside_path()))
                    .map_err(|error| not_saved(&error).into())
            }
        }
    }

    /// Where a journal goes that cannot be used, nor thrown away.
    fn set_aside_path(&self) -> PathBuf {
        let suffix = format!("journal.{}", self.world.now().timestamp());
        files::beside(&self.paths.write, &suffix)
    }

    /// Takes up what an interrupted run has left, in a run that has no lock.
    fn settle_unlocked(&self) -> Result<(), Diagnostics> {
        let mut now = self.now();
        let journal = files::read(&self.journal_path()).map_err(|error| not_saved(&error))?;
        let mut snapshot =
            Snapshot { state: read::read(&self.read_file(&now)?)?, ..Snapshot::default() };
        match journal {
            Some(journal) => {
                let leftover =
                    leftover::take_up(&journal, &mut snapshot, &self.journal_names(true));
                self.settle(&mut now, leftover, &snapshot)
            }
            None => Ok(()),
        }
    }

    /// How messages call the journal, and where it is set aside.
    fn journal_names(&self, may_write: bool) -> leftover::Names {
        leftover::Names {
            journal: files::beside(&self.paths.write, "journal"),
            aside: may_write.then(|| self.set_aside_path()),
        }
    }

    /// Keeps a backup of what is there, then replaces it.
    fn store(
        &self,
        now: &mut Now,
        (lineage, serial): (&str, u64),
        text: &str,
    ) -> Result<Stored, Diagnostics> {
        let path = self.at(&self.paths.write);
        if let Some(backup) = self.paths.backup.as_ref().filter(|_| !now.has_backup) {
            let old = files::read(&path)
                .map_err(|error| unreadable(&self.paths.write, &error))?
                .unwrap_or_default();
            if !old.is_empty() {
                files::replace(&self.at(backup), &old)
                    .map_err(|error| no_backup(backup, &error))?;
                now.has_backup = true;
            }
        }
        files::replace(&path, text.as_bytes()).map_err(|error| not_saved(&error))?;
        now.has_written = true;
        now.last = Some((lineage.into(), serial));
        Ok(Stored { lineage: lineage.into(), serial, is_written: true })
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
        let mut now = self.now();
        // The journal first: if its run ends in between, the state read afterwards holds all of it.
        let journal = files::read(&self.journal_path()).ok().flatten();
        let mut snapshot =
            Snapshot { state: read::read(&self.read_file(&now)?)?, ..Snapshot::default() };
        if let Some(journal) = journal {
            let is_mine = now.locked.is_some();
            let names = self.journal_names(is_mine);
            let leftover = leftover::take_up(&journal, &mut snapshot, &names);
            // Whoever holds the lock may write.
            if is_mine {
                self.settle(&mut now, leftover, &snapshot)?;
            }
        }
        now.last = Some(
            snapshot.state.as_ref().map(|it| (it.lineage.clone(), it.serial)).unwrap_or_default(),
        );
        Ok(snapshot)
    }

    fn write(&self, state: &State) -> Result<Stored, Diagnostics> {
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
        let stored = match !known.is_empty()
            && is_in_place
            && self.is_stored(&now, state, &text, (&known, serial))?
        {
            true => Stored { lineage, serial, is_written: false },
            false => self.store(&mut now, (&lineage, serial + 1), &text)?,
        };
        self.clear_journal()?;
        Ok(stored)
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
        let stored = self.store(&mut now, (&lineage, serial), &text)?;
        // What an interrupted run finished was in the state that gives way.
        self.clear_journal()?;
        Ok(stored)
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
        // What a dead process left here is written over or cleared away: its lock is gone with it.
        [Some(&self.paths.write), self.paths.backup.as_ref()]
            .into_iter()
            .flatten()
            .for_each(|it| files::sweep(&self.at(it)));
        let info = LockInfo { path: self.paths.read.display().to_string(), ..info.clone() };
        let text = serde_json::to_vec(&info).unwrap_or_default();
        if let Err(error) = files::write_private(&self.at(&info_path), &text) {
            let _ = std::fs::remove_file(self.at(&info_path));
            let _ = locked.release();
            let path = self.paths.read.display();
            return Err(LockProblem::Failed(format!(
                "could not write lock info for {path:?}: {error}"
            )));
        }
        now.locked = Some(locked);
        // What was read before the lock may be old.
        now.last = None;
        Ok(())
    }

    fn unlock(&self) -> Result<(), Diagnostic> {
        let Some(locked) = self.now().locked.take() else {
            return Err(lock::not_unlocked("LocalState not locked"));
        };
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

    fn journal(&self) -> Result<Option<PathBuf>, Diagnostics> {
        let path = self.journal_path();
        let is_mine = self.now().locked.is_some();
        if is_mine || !path.exists() {
            return Ok(Some(path));
        }
        // Without a lock, another run may be writing this journal right now.
        match files::lock(&self.at(&self.paths.write)) {
            Ok(None) => Ok(None),
            Ok(Some(locked)) => {
                let settled = self.settle_unlocked();
                locked.release().map_err(lock::not_unlocked)?;
                settled.map(|()| Some(path))
            }
            // Locks do not work here; that is what some do without them for.
            Err(_) => self.settle_unlocked().map(|()| Some(path)),
        }
    }
}

impl Local {
    /// Removes the journal, whose steps are all in the file now.
    fn clear_journal(&self) -> Result<(), Diagnostics> {
        match std::fs::remove_file(self.journal_path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(not_saved(&error).into())
            }
            _ => Ok(()),
        }
    }
}

/// Tells whether a snapshot may take the place of another without force.
fn check_successor(new: &State, old: &State) -> Result<(), Diagnostic> {
    let refuse =
        |why: String| Err(Diagnostic::error("Failed to write the imported state").detail(why));
    if new.lineage.is_empty() || old.lineage.is_empty() {
        return Ok(());
    }
    if new.lineage != old.lineage {
        return refuse(format!(
            "cannot import state with lineage {:?} over unrelated state with lineage {:?}",
            new.lineage, old.lineage
        ));
    }
    if new.serial < old.serial {
        return refuse(format!(
            "cannot import state with serial {} over newer state with serial {}",
            new.serial, old.serial
        ));
    }
    if new.serial == old.serial && !write::is_same(new, old) {
        return refuse(format!(
            "cannot overwrite existing state with serial {} with a different state that has the same serial",
            new.serial
        ));
    }
    Ok(())
}

/// The state file exists but cannot be read.
fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read state file")
        .detail(format!("The state file could not be read: {}: {error}", path.display()))
}

/// The new snapshot could not be written.
fn not_saved(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: {error}\n\nThe state file that was there is unchanged."
    ))
}

/// The backup could not be written, so nothing was.
fn no_backup(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: failed to create local state backup file {}: {error}\n\nThe state file that was there is unchanged.",
        path.display()
    ))
}

//! Snapshots of a state in a store: format, serial and lineage, compared before they are written, with a journal of finished steps.

use std::borrow::Borrow;
use std::path::PathBuf;
use std::sync::Arc;

use super::lock::{LockInfo, LockProblem};
use super::moving::{Moves, Way};
use super::seal::{Part, Seals};
use super::store::{Content, Refused, Store, Version, answer_soon, wait, wait_unless_stopped};
use super::{NotWritten, Snapshot, Stored};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::{State, digest, is_same, read, write};
use crate::world::{Stop, World};

mod journal;
pub(crate) mod memory;
mod meanwhile;
mod runs;
mod sealing;
mod stale;
mod trouble;
mod watch;

pub use journal::JournalFile;
pub use runs::Runs;
pub use stale::Recover;

use journal::Known;
use meanwhile::Sent;
use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest, Sha256};
use trouble::{Told, check_successor, next_serial};
use watch::Watch;

/// The snapshots of one workspace.
#[derive(Debug)]
pub struct Snapshots {
    world: Arc<World>,
    store: Arc<dyn Store>,
    workspace: String,
    recover: Option<Recover>,
    has_memory: bool,
    seals: Arc<Seals>,
    moves: Arc<Moves>,
    now: Mutex<Now>,
}

/// What was done so far.
#[derive(Debug, Default)]
struct Now {
    /// The ID of the lock that is held.
    locked: Option<String>,
    /// Whether the lock was free when it was last looked at, so that a journal is that of a run that is over.
    is_free: bool,
    /// Looks after that lock.
    watch: Option<Watch>,
    /// Whether whoever holds the lock may write.
    may_write: bool,
    /// Lineage and serial of the latest snapshot that was read or written.
    last: Option<(String, u64)>,
    /// What stood for the store's content when it was last read or written.
    seen: Option<Version>,
    /// The digest of the latest snapshot that was read or written.
    body: Option<Body>,
    /// Whether this run has written the state.
    has_written: bool,
    journal: Known,
    /// Where the journal lies that belongs to what was read.
    journal_at: Option<PathBuf>,
    /// Whether somebody else has written the place since it was read.
    is_overtaken: bool,
    /// Whether a state was seen here that is gone.
    is_missing: bool,
    /// Whether the user lets the state begin anew where that is so.
    allows_missing: bool,
    /// Whether plain copies were looked for.
    has_sealed_copies: bool,
    /// What is to be told of writes that were done.
    warnings: Diagnostics,
    /// What was sent, where nobody knows yet whether it was stored.
    sent: Option<Sent>,
}

/// What stands for the content of a state.
#[derive(Debug)]
struct Body {
    lineage: String,
    serial: u64,
    digest: [u8; 32],
}

/// So many bytes of a state are not kept beside what was read from them.
const LARGE: usize = if cfg!(test) { 1 << 9 } else { 1 << 26 };

impl Snapshots {
    /// Returns the snapshots that a store keeps of a workspace; nothing is touched yet.
    ///
    /// - `recover`: what becomes of a journal that does not fit or cannot be read.
    pub fn new(
        world: Arc<World>,
        store: Arc<dyn Store>,
        workspace: &str,
        recover: Option<Recover>,
    ) -> Snapshots {
        let (seals, moves) = (Seals::of(&world), Moves::of(&world));
        Snapshots {
            world,
            store,
            workspace: workspace.into(),
            recover,
            has_memory: false,
            seals,
            moves,
            now: Mutex::default(),
        }
    }

    /// Returns how messages call the place.
    pub fn name(&self) -> String {
        self.store.name(&self.workspace)
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Whether others reach the place over a network, and this machine may be one of many that work on it.
    pub fn is_remote(&self) -> bool {
        self.store.is_remote()
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock()
    }

    fn content(&self) -> Result<Content, Diagnostics> {
        // What is written is compared first, also by a run that was asked to stop.
        self.content_unless(&Stop::default())
    }

    /// Reads what is stored, unless the run is asked to stop.
    fn content_unless(&self, stop: &Stop) -> Result<Content, Diagnostics> {
        let moved = (Way::In, self.name(), 0);
        let read = self.moves.during(moved, self.store.read(&self.workspace));
        let content = wait_unless_stopped(&*self.store, stop, read);
        Ok(content.map_err(|it| trouble::unreadable(&it))?)
    }

    /// Returns the text of the state, where that is there at once: for who wants next to nothing of it.
    pub fn at_hand(&self) -> Option<Vec<u8>> {
        let content = self.store.is_at_hand().then(|| self.content())?.ok()?;
        self.seals.open(Part::State, &content.bytes).ok().map(|it| it.to_vec())
    }

    /// Reads the latest snapshot, the journal of an interrupted run taken into account.
    ///
    /// # Errors
    ///
    /// If what is there cannot be read, or the run is asked to stop.
    pub fn read(&self) -> Result<Snapshot, Diagnostics> {
        self.read_now(&mut self.now(), &self.world.stop)
    }

    fn read_now(&self, now: &mut Now, stop: &Stop) -> Result<Snapshot, Diagnostics> {
        // The journal first: if its run ends in between, the state read afterwards holds all of it.
        let found = match now.journal {
            Known::Mine => Vec::new(),
            _ => self.look(),
        };
        let (content, state) = self.latest(now.may_write, stop)?;
        now.body = match &state {
            // Only who writes compares.
            Some(it) if !content.is_elsewhere && now.may_write => {
                self.body(&content.bytes, (&it.lineage, it.serial))
            }
            _ => None,
        };
        let mut snapshot = Snapshot { state, ..Snapshot::default() };
        now.seen = Some(content.version);
        if !matches!(now.journal, Known::Mine) {
            let lineage = snapshot.state.as_ref().map(|it| it.lineage.clone()).unwrap_or_default();
            let (path, found) = self.chosen(found, &lineage);
            now.journal_at = Some(path);
            self.take_up(now, found, &mut snapshot)?;
        }
        let last = snapshot.state.as_ref().map(|it| (it.lineage.clone(), it.serial));
        now.last = Some(last.unwrap_or_default());
        self.compare_with_memory(now, &mut snapshot);
        Ok(snapshot)
    }

    /// Returns what is stored, and the state that it holds.
    ///
    /// - `keeps`: whether the bytes are wanted, however many they are.
    fn latest(&self, keeps: bool, stop: &Stop) -> Result<(Content, Option<State>), Diagnostics> {
        if !keeps && let Some(found) = self.large() {
            return Ok(found);
        }
        let mut content = self.content_unless(stop)?;
        tracing::debug!(place = self.name(), bytes = content.bytes.len(), "state read");
        if !keeps && content.bytes.len() >= LARGE {
            let bytes = std::mem::take(&mut content.bytes);
            match self.seals.take_state(Part::State, bytes) {
                Some(state) => return Ok((content, Some(state))),
                None => content = self.content_unless(stop)?,
            }
        }
        let state = self.seals.read_state(Part::State, &content.bytes);
        let state = state.map_err(|it| self.named(it, content.is_elsewhere))?;
        Ok((content, state))
    }

    /// Like [`latest`](Snapshots::latest), of a large state that can be read without all of its text at once.
    fn large(&self) -> Option<(Content, Option<State>)> {
        let mut stored =
            self.seals.is_unsealed().then(|| self.store.large(&self.workspace, LARGE))??;
        tracing::debug!(place = self.name(), bytes = stored.left(), "state read from its end");
        let state = read::read_from_end(&mut *stored)?;
        let content =
            Content { bytes: Vec::new(), version: stored.version()?, is_elsewhere: false };
        Some((content, Some(state)))
    }

    /// Says beside what is wrong with a state which one it is.
    fn named(&self, problems: Diagnostics, is_elsewhere: bool) -> Diagnostics {
        let name = match is_elsewhere {
            true => "the file that -state names".to_owned(),
            false => self.name(),
        };
        let named = problems.into_iter().map(|mut it| {
            it.detail = format!("{}\n\nIt is the state in {name}.", it.detail);
            it
        });
        Diagnostics(named.collect())
    }

    /// Puts a snapshot in the place of what was read, unless that is not there any more.
    fn store(
        &self,
        now: &mut Now,
        (lineage, serial): (&str, u64),
        text: String,
    ) -> Result<Stored, Diagnostics> {
        if let Some(why) = now.watch.as_ref().and_then(Watch::loss) {
            return Err(trouble::lock_lost(&self.name(), why).into());
        }
        if now.is_missing {
            return Err(trouble::missing_at_write(&self.name()).into());
        }
        let body = self.body(text.as_bytes(), (lineage, serial));
        let sealed = self.seals.seal_state(text)?;
        let seen = match &now.seen {
            Some(seen) => seen.clone(),
            None => self.content()?.version,
        };
        let moved = (Way::Out, self.name(), sealed.len());
        let write = self.store.write(&self.workspace, &sealed, &seen);
        let version = wait(&*self.store, self.moves.during(moved, write));
        let version = version.map_err(|refused| match refused {
            Refused::Overtaken(there) => {
                now.is_overtaken = true;
                let there = self.seals.read_state(Part::State, &there).ok().flatten();
                let known = now.last.clone().unwrap_or_default();
                trouble::overtaken(&self.name(), there.as_ref(), &known)
            }
            Refused::KeepsNothing(why) => trouble::keeps_nothing(&self.name(), &why),
            Refused::NoBackup(path, why) => trouble::no_backup(&path, &why),
            Refused::LockLost(why) => {
                let first = now.watch.as_ref().map_or(&*why, |it| it.note(why.clone()));
                trouble::lock_lost(&self.name(), first)
            }
            Refused::Unsettled(why) => {
                let (bytes, lineage) = (sealed.clone(), lineage.to_owned());
                now.sent = Some(Sent { bytes, lineage, serial });
                trouble::unsettled(&self.name(), &why)
            }
            Refused::Failed(why) => trouble::not_saved(&why),
        })?;
        tracing::info!(place = self.name(), serial, bytes = sealed.len(), "state written");
        now.seen = Some(version);
        now.last = Some((lineage.into(), serial));
        now.body = body;
        now.has_written = true;
        Ok(Stored { lineage: lineage.into(), serial, is_written: true })
    }

    /// Returns what stands for the content of a state: its digest without lineage and serial. Nothing where it looks otherwise than we
    /// write it, or is sealed.
    fn body(&self, text: &[u8], of: (&str, u64)) -> Option<Body> {
        let body = match self.seals.is_installed() {
            true => None,
            false => write::body_of(text, of.0, of.1),
        };
        body.map(|it| Body {
            lineage: of.0.into(),
            serial: of.1,
            digest: Sha256::digest(it).into(),
        })
    }

    /// Returns whether the store holds this state already, whatever it looks like.
    ///
    /// - `text`: the state as it would be written, with the next serial.
    fn is_stored(
        &self,
        now: &Now,
        (state, text): (&State, &str),
        of: (&str, u64),
    ) -> Result<bool, Diagnostics> {
        // A state that was only read is not read again: it may be large.
        if let Some(known) = now.body.as_ref().filter(|it| (&*it.lineage, it.serial) == of) {
            let new = self.body(text.as_bytes(), (of.0, of.1 + 1));
            let is_same = new.is_some_and(|it| it.digest == known.digest);
            return Ok(is_same && self.is_still_there(now)?);
        }
        let content = self.content()?;
        if content.is_elsewhere {
            return Ok(false);
        }
        // What is sealed otherwise than it would be now is written again, so that keys can be changed.
        let Some(old) = self.seals.open_current(Part::State, &content.bytes)? else {
            return Ok(false);
        };
        // What looks as we write it is another state if it is not equal; the rest is compared by meaning.
        if let Some(old) = write::body_of(&old, of.0, of.1) {
            return Ok(write::body_of(text.as_bytes(), of.0, of.1 + 1) == Some(old));
        }
        Ok(read::read(&old)?.is_some_and(|old| is_same(&old, state)))
    }

    /// Writes the next snapshot of what was last read or written: its lineage, and the next serial if anything changed.
    /// The old snapshot stays whole if this fails, and one that somebody else has put there since stays in any case.
    ///
    /// # Errors
    ///
    /// If it was not written; says whether somebody else was first.
    pub fn write(&self, state: &State) -> Result<Stored, NotWritten> {
        let mut now = self.now();
        if now.last.is_none() {
            self.read_now(&mut now, &Stop::default())?;
        }
        self.settle_sent(&mut now)?;
        let (known, serial) = now.last.clone().unwrap_or_default();
        let lineage = match (known.as_str(), state.lineage.as_str()) {
            ("", "") => self.world.uuid(),
            ("", chosen) => chosen.into(),
            (known, _) => known.into(),
        };
        let next = next_serial(serial).map_err(Diagnostics::from)?;
        let text = write::write_as(state, &lineage, next);
        let written = self.writing(&mut now, |now| {
            match !known.is_empty() && self.is_stored(now, (state, &text), (&known, serial))? {
                true => Ok(Stored { lineage, serial, is_written: false }),
                false => self.store(now, (&lineage, next), text),
            }
        });
        if let Ok(stored) = &written {
            self.follow_up(&mut now, state, stored);
        }
        written.map_err(|problems| NotWritten { problems, is_overtaken: now.is_overtaken })
    }

    /// Writes a snapshot as it is, lineage and serial included.
    ///
    /// - `state`: gives it, once what is there has been let go of: both may be large.
    /// - `force`: even over an unrelated or newer one.
    ///
    /// # Errors
    ///
    /// If it may not take the place of what is there, or cannot be written.
    pub fn import<S: Borrow<State>>(
        &self,
        state: impl FnOnce() -> Result<S, Diagnostics>,
        force: bool,
    ) -> Result<Stored, Diagnostics> {
        let old = self.read()?.state.map(|it| Told::of(&it));
        let state = state()?;
        let state = state.borrow();
        let mut now = self.now();
        // A state that the user brings is how one that is gone comes back.
        now.is_missing = false;
        let related = old.as_ref().filter(|it| it.lineage == state.lineage);
        let same = related.filter(|it| it.serial >= state.serial && it.digest == digest(state));
        if let Some(old) = old.as_ref().filter(|old| !old.is_empty && !force) {
            check_successor(state, old, same.is_some())?;
        }
        if let Some(old) = same {
            let (lineage, serial) = (old.lineage.clone(), old.serial);
            return Ok(Stored { lineage, serial, is_written: false });
        }
        let lineage =
            if state.lineage.is_empty() { self.world.uuid() } else { state.lineage.clone() };
        // What is forced over a newer state is newer than that: nobody who holds either can overwrite it unnoticed.
        let serial = match related.map(|it| it.serial) {
            Some(newer) if newer >= state.serial => next_serial(newer)?,
            _ => next_serial(state.serial).map(|_| state.serial)?,
        };
        let text = write::write_as(state, &lineage, serial);
        // What an interrupted run finished was in the state that gives way.
        let written = self.writing(&mut now, |now| self.store(now, (&lineage, serial), text))?;
        self.follow_up(&mut now, state, &written);
        Ok(written)
    }

    /// Takes the lock, in one attempt.
    ///
    /// # Errors
    ///
    /// If somebody holds it, or it cannot be taken at all.
    pub fn lock(&self, info: &LockInfo) -> Result<(), LockProblem> {
        let mut now = self.now();
        let asked = self.store.lock(&self.workspace, info);
        let id = wait(&*self.store, answer_soon(&self.world.stop, asked))?;
        tracing::info!(place = self.name(), id, "lock taken");
        now.locked = Some(id);
        now.watch = Some(Watch::begin(&self.store, &self.workspace, info.may_write()));
        now.may_write = info.may_write() || self.recover.is_some();
        // What was read before the lock may be old.
        now.last = None;
        Ok(())
    }

    /// Gives the lock back.
    ///
    /// # Errors
    ///
    /// If it is not held, or the store does not take it back.
    pub fn unlock(&self) -> Result<(), Diagnostic> {
        let mut now = self.now();
        now.may_write = false;
        now.watch = None;
        let id = now.locked.take().unwrap_or_default();
        tracing::info!(place = self.name(), id, "lock given back");
        wait(&*self.store, self.store.unlock(&self.workspace, &id)).map_err(Diagnostic::from)
    }

    /// Removes the lock `id` that nobody holds any more.
    ///
    /// # Errors
    ///
    /// If it has another ID, or somebody uses it.
    pub fn force_unlock(&self, id: &str) -> Result<(), Diagnostic> {
        wait(&*self.store, self.store.force_unlock(&self.workspace, id)).map_err(Diagnostic::from)
    }
}

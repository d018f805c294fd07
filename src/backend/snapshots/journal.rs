//! The journal beside a state file: looked at, taken up by whoever may write, and never removed by who has not read it.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::stale::{self, Names, StaleJournal};
use super::{Now, Snapshots, trouble};
use crate::backend::lock::LockInfo;
use crate::backend::seal::Seals;
use crate::backend::store::{wait, wait_unless_stopped};
use crate::backend::workspace;
use crate::backend::{Snapshot, files};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::{journal, write};
use crate::world::{Stop, WITHOUT_WAITING, open_regular};

/// The journal as this process knows it.
#[derive(Debug, Default)]
pub(super) enum Known {
    /// There was none.
    #[default]
    Absent,
    /// This process writes it.
    Mine,
    /// It was looked at, and waits for whoever writes.
    Waiting(StaleJournal, Option<Identity>),
}

/// Which file it was, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    number: u64,
    length: u64,
}

impl Identity {
    fn of(found: &Metadata, length: u64) -> Identity {
        Identity { device: found.dev(), number: found.ino(), length }
    }
}

/// A journal as read.
pub(super) struct Open {
    pub(super) text: Vec<u8>,
    /// Whether it is a journal that was never sealed, where nothing unsealed may be.
    pub(super) is_refused: bool,
    identity: Identity,
}

/// Reads a journal; `None` where there is none.
fn look(path: &Path, seals: &Seals) -> io::Result<Option<Open>> {
    let mut file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let found = file.metadata()?;
    let identity = Identity::of(&found, text.len() as u64);
    let opened = seals.open_lines(&text);
    let is_refused = opened != text && journal::is_journal(&text);
    Ok(Some(Open { text: opened, is_refused, identity }))
}

/// The file that a run notes its finished steps in. What is written there is sealed on the way.
#[derive(Clone, Debug)]
pub struct JournalFile {
    /// Where it lies, or will.
    pub path: PathBuf,
    seals: Arc<Seals>,
}

impl JournalFile {
    /// Returns the file of this path.
    pub fn new(path: PathBuf, seals: Arc<Seals>) -> JournalFile {
        JournalFile { path, seals }
    }

    /// Returns lines as they are written.
    ///
    /// # Errors
    ///
    /// If they cannot be sealed.
    pub fn sealed(&self, lines: &str) -> io::Result<Vec<u8>> {
        self.seals.seal_lines(lines).map_err(|it| io::Error::other(it.detail))
    }
}

/// The journal of a state that no other was ever stored before.
const FIRST: &str = "new";

/// What was found in the places where a journal may lie.
type Looked = Vec<(PathBuf, io::Result<Option<Open>>)>;

impl Snapshots {
    /// Returns where finished steps are noted before they are reported.
    ///
    /// # Errors
    ///
    /// If an interrupted run has left something there that cannot be made good, another run is at it, or the place cannot keep
    /// a state.
    pub fn journal(&self) -> Result<JournalFile, Diagnostics> {
        let stop = &self.world.stop;
        wait_unless_stopped(&*self.store, stop, self.store.check(&self.workspace))
            .map_err(|it| trouble::not_checked(&self.name(), &it))?;
        let mut now = self.now();
        // What is begun must be possible to write.
        trouble::next_serial(now.last.as_ref().map_or(0, |it| it.1))?;
        let path = self.own_journal(&mut now)?;
        Ok(JournalFile::new(path, self.seals.clone()))
    }

    fn at(&self, path: &Path) -> PathBuf {
        self.world.root.join(path)
    }

    /// Returns the folder of the journals of states that are not on this machine.
    fn folder(&self) -> PathBuf {
        let folder = workspace::data_folder(&self.world).join("journals");
        folder.strip_prefix(&self.world.root).map(Path::to_path_buf).unwrap_or(folder)
    }

    /// Returns where the journal of a state lies: beside it, or among those of the working directory, by workspace and lineage.
    fn journal_of(&self, lineage: &str) -> PathBuf {
        if let Some(file) = self.store.file(&self.workspace) {
            return files::beside(&file, "journal");
        }
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
        let lineage = match lineage {
            "" => FIRST.to_owned(),
            // Another program may have chosen what no file can be called.
            it => it.chars().map(|it| if is_plain(it) { it } else { '_' }).take(100).collect(),
        };
        self.folder().join(format!(".{}.{lineage}.journal", self.workspace))
    }

    /// Reads every journal that may belong to the state, which is yet to be read.
    pub(super) fn look(&self) -> Looked {
        let first = self.journal_of("");
        let mut paths = vec![first.clone()];
        if self.store.file(&self.workspace).is_none() {
            let start = format!(".{}.", self.workspace);
            let entries =
                std::fs::read_dir(self.at(&self.folder())).into_iter().flatten().flatten();
            let names = entries.filter_map(|it| it.file_name().into_string().ok());
            let names = names.filter(|it| it.starts_with(&start) && it.ends_with(".journal"));
            paths.extend(names.map(|it| self.folder().join(it)).filter(|it| *it != first));
        }
        paths.into_iter().map(|it| (it.clone(), look(&self.at(&it), &self.seals))).collect()
    }

    /// Returns the journal of a state among those that were found: its own, or that of a first run, which had no lineage yet.
    pub(super) fn chosen(
        &self,
        mut looked: Looked,
        lineage: &str,
    ) -> (PathBuf, io::Result<Option<Open>>) {
        let own = self.journal_of(lineage);
        let is_there = |found: &io::Result<Option<Open>>| !matches!(found, Ok(None));
        for path in [&own, &self.journal_of("")] {
            if let Some(at) = looked.iter().position(|it| it.0 == *path && is_there(&it.1)) {
                return looked.swap_remove(at);
            }
        }
        (own, Ok(None))
    }

    fn journal_path(&self, now: &Now) -> PathBuf {
        self.at(&self.shown(now))
    }

    /// Returns the path of the journal as messages name it.
    fn shown(&self, now: &Now) -> PathBuf {
        let lineage = now.last.as_ref().map(|it| it.0.as_str()).unwrap_or_default();
        now.journal_at.clone().unwrap_or_else(|| self.journal_of(lineage))
    }

    /// How messages call the journal, and where it is set aside.
    fn journal_names(&self, now: &Now) -> Names {
        let journal = self.shown(now);
        let free = |suffix: &str| {
            let mut path = journal.clone().into_os_string();
            path.push(suffix);
            let path = PathBuf::from(path);
            (!self.at(&path).exists()).then_some(path)
        };
        let time = self.world.now().timestamp();
        let numbered = (2..).map(|it| format!(".{time}-{it}"));
        let names = std::iter::once(format!(".{time}")).chain(numbered);
        let aside = names.into_iter().find_map(|it| free(&it));
        Names { aside: aside.expect("there are more numbers than files"), journal }
    }

    /// Takes a journal into account. Whoever may write makes good what the interrupted run has left; others only look.
    pub(super) fn take_up(
        &self,
        now: &mut Now,
        found: io::Result<Option<Open>>,
        snapshot: &mut Snapshot,
    ) -> Result<(), Diagnostics> {
        let names = self.journal_names(now);
        let (stale, open) = match found {
            Ok(None) => {
                now.journal = Known::Absent;
                return Ok(());
            }
            Ok(Some(open)) => {
                let is_over = now.locked.is_some() || now.may_write || now.is_free;
                let found = stale::Found {
                    text: &open.text,
                    is_refused: open.is_refused,
                    is_over,
                    logged: self.logged(snapshot),
                };
                let stale = stale::take_up(&found, snapshot, self.recover, &names);
                (stale, Some(open))
            }
            Err(error) => {
                let aside = self.recover.map(|_| StaleJournal::Aside);
                let problem = || StaleJournal::Unsettled(stale::unreadable(&names, &error).into());
                (aside.unwrap_or_else(problem), None)
            }
        };
        if snapshot.is_amended
            && let Some(state) = snapshot.state.as_mut().filter(|it| it.lineage.is_empty())
        {
            state.lineage = self.world.uuid();
        }
        let identity = open.as_ref().map(|it| it.identity);
        if now.may_write {
            let _claim = self.claimed(now, open, &names)?;
            return self.store_taken_up(now, &stale, snapshot, &names);
        }
        if let StaleJournal::Unsettled(problem) = &stale {
            snapshot.warnings.push(stale::as_warning(problem));
        }
        now.journal = Known::Waiting(stale, identity);
        Ok(())
    }

    /// Sees to it that nobody writes the journal any more. The handle that is returned keeps others from taking it up.
    fn claimed(
        &self,
        now: &Now,
        open: Option<Open>,
        names: &Names,
    ) -> Result<Option<File>, Diagnostic> {
        let Some(Open { identity, .. }) = open else { return Ok(None) };
        // Only who may write a file can lock it.
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(WITHOUT_WAITING);
        let file = match options.open(self.journal_path(now)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(stale::changed(names));
            }
            Err(error) => return Err(stale::unreadable(names, &error)),
        };
        let found = file.metadata().map_err(|it| stale::unreadable(names, &it))?;
        // Where locks do not work, nothing can be known.
        if !files::claim(&file).unwrap_or(true) {
            return Err(stale::busy(names));
        }
        match Identity::of(&found, found.len()) == identity {
            true => Ok(Some(file)),
            false => Err(stale::changed(names)),
        }
    }

    /// Stores what was taken up, and puts the journal away.
    fn store_taken_up(
        &self,
        now: &mut Now,
        stale: &StaleJournal,
        snapshot: &Snapshot,
        names: &Names,
    ) -> Result<(), Diagnostics> {
        if let StaleJournal::Unsettled(problem) = stale {
            return Err(Diagnostic::clone(problem).into());
        }
        if snapshot.is_amended
            && let Some(state) = &snapshot.state
        {
            self.store(now, (&state.lineage, state.serial), write::write(state))?;
        }
        now.journal = Known::Absent;
        Ok(self.put_away(now, stale, names)?)
    }

    fn put_away(&self, now: &Now, stale: &StaleJournal, names: &Names) -> Result<(), Diagnostic> {
        let done = match stale {
            StaleJournal::Spent | StaleJournal::Taken => {
                std::fs::remove_file(self.journal_path(now))
            }
            StaleJournal::Aside => std::fs::rename(self.journal_path(now), self.at(&names.aside)),
            StaleJournal::Unsettled(problem) => return Err(Diagnostic::clone(problem)),
        };
        match done {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(trouble::not_saved(&error))
            }
            _ => Ok(()),
        }
    }

    /// Lets `write` replace the state, and then puts the journal away that was read. Nothing is written where there is another
    /// journal, or one that was not wholly read.
    pub(super) fn writing<T>(
        &self,
        now: &mut Now,
        write: impl FnOnce(&mut Now) -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        if matches!(now.journal, Known::Mine) {
            return write(now);
        }
        let names = self.journal_names(now);
        let found = look(&self.journal_path(now), &self.seals);
        let (stale, claim) = match (std::mem::take(&mut now.journal), found) {
            (_, Ok(None)) => return write(now),
            (Known::Waiting(StaleJournal::Unsettled(problem), identity), _) => {
                now.journal = Known::Waiting(StaleJournal::Unsettled(problem.clone()), identity);
                return Err(Diagnostics::from(*problem));
            }
            (Known::Waiting(stale, Some(known)), Ok(Some(open))) if open.identity == known => {
                (stale, self.claimed(now, Some(open), &names)?)
            }
            (Known::Waiting(stale, None), Err(_)) => (stale, None),
            (_, Ok(Some(open))) => {
                self.claimed(now, Some(open), &names)?;
                return Err(stale::changed(&names).into());
            }
            (_, Err(error)) => return Err(stale::unreadable(&names, &error).into()),
        };
        let written = write(now)?;
        self.put_away(now, &stale, &names)?;
        drop(claim);
        Ok(written)
    }

    /// Returns the place of this process's own journal; before that, a run without a lock settles what it has only looked at.
    pub(super) fn own_journal(&self, now: &mut Now) -> Result<PathBuf, Diagnostics> {
        if let Known::Waiting(..) = now.journal {
            // Settled while nobody else can; but without locks, nobody keeps from it either.
            let lock = match now.locked {
                Some(_) => None,
                None => self.lock_for_a_moment(),
            };
            let settled = self.settle_waiting(now);
            if let Some(id) = lock {
                wait(&*self.store, self.store.unlock(&self.workspace, &id))
                    .map_err(Diagnostic::from)?;
            }
            settled?;
        }
        let path = self.journal_path(now);
        if std::fs::symlink_metadata(&path).is_ok() {
            return Err(stale::changed(&self.journal_names(now)).into());
        }
        now.journal = Known::Mine;
        Ok(path)
    }

    fn lock_for_a_moment(&self) -> Option<String> {
        let info = LockInfo::new(&self.world, "journal");
        wait(&*self.store, self.store.lock(&self.workspace, &info)).ok()
    }

    fn settle_waiting(&self, now: &mut Now) -> Result<(), Diagnostics> {
        let known = now.last.clone();
        let seen = now.seen.clone();
        let was_writing = std::mem::replace(&mut now.may_write, true);
        // What was planned rests on what was read before.
        let settled = match self.content() {
            Ok(content) if seen.as_ref() == Some(&content.version) => {
                self.read_now(now, &Stop::default()).map(drop)
            }
            Ok(_) => Err(stale::changed(&self.journal_names(now)).into()),
            Err(problems) => Err(problems),
        };
        now.may_write = was_writing;
        settled?;
        if known.is_some() && now.last != known {
            return Err(stale::changed(&self.journal_names(now)).into());
        }
        Ok(())
    }
}

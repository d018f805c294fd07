//! The journal beside a state file: looked at, taken up by whoever may write, and never removed by who has not read it.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::stale::{self, Names, StaleJournal};
use super::{Local, Now, trouble};
use crate::backend::{Snapshot, files};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::write;
use crate::world::{WITHOUT_WAITING, open_regular};

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
    identity: Identity,
}

/// Reads a journal; `None` where there is none.
pub(super) fn look(path: &Path) -> io::Result<Option<Open>> {
    let mut file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let found = file.metadata()?;
    let identity = Identity::of(&found, text.len() as u64);
    Ok(Some(Open { text, identity }))
}

impl Local {
    pub(super) fn journal_path(&self) -> PathBuf {
        self.at(&files::beside(&self.paths.write, "journal"))
    }

    /// How messages call the journal, and where it is set aside.
    pub(super) fn journal_names(&self) -> Names {
        let free = |suffix: &str| {
            let path = files::beside(&self.paths.write, suffix);
            (!self.at(&path).exists()).then_some(path)
        };
        let time = self.world.now().timestamp();
        let numbered = (2..).map(|it| format!("journal.{time}-{it}"));
        let names = std::iter::once(format!("journal.{time}")).chain(numbered);
        let aside = names.into_iter().find_map(|it| free(&it));
        Names {
            journal: files::beside(&self.paths.write, "journal"),
            aside: aside.expect("there are more numbers than files"),
        }
    }

    /// Takes a journal into account. Whoever may write makes good what the interrupted run has left; others only look.
    pub(super) fn take_up(
        &self,
        now: &mut Now,
        found: io::Result<Option<Open>>,
        snapshot: &mut Snapshot,
    ) -> Result<(), Diagnostics> {
        let names = self.journal_names();
        let (stale, open) = match found {
            Ok(None) => {
                now.journal = Known::Absent;
                return Ok(());
            }
            Ok(Some(open)) => {
                let stale = stale::take_up(
                    &open.text,
                    snapshot,
                    (self.paths.recover, now.locked.is_some() || now.may_write),
                    &names,
                );
                (stale, Some(open))
            }
            Err(error) => {
                let aside = self.paths.recover.map(|_| StaleJournal::Aside);
                let problem = || StaleJournal::Unsettled(stale::unreadable(&names, &error).into());
                (aside.unwrap_or_else(problem), None)
            }
        };
        if snapshot.recovered > 0
            && let Some(state) = snapshot.state.as_mut().filter(|it| it.lineage.is_empty())
        {
            state.lineage = self.world.uuid();
        }
        let identity = open.as_ref().map(|it| it.identity);
        if now.may_write {
            let _claim = self.claimed(open, &names)?;
            return self.settle(now, &stale, snapshot, &names);
        }
        if let StaleJournal::Unsettled(problem) = &stale {
            snapshot.warnings.push(stale::as_warning(problem));
        }
        now.journal = Known::Waiting(stale, identity);
        Ok(())
    }

    /// Sees to it that nobody writes the journal any more. The handle that is returned keeps others from taking it up.
    fn claimed(&self, open: Option<Open>, names: &Names) -> Result<Option<File>, Diagnostic> {
        let Some(Open { identity, .. }) = open else { return Ok(None) };
        // Only who may write a file can lock it.
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(WITHOUT_WAITING);
        let file = match options.open(self.journal_path()) {
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
    fn settle(
        &self,
        now: &mut Now,
        stale: &StaleJournal,
        snapshot: &Snapshot,
        names: &Names,
    ) -> Result<(), Diagnostics> {
        if let StaleJournal::Unsettled(problem) = stale {
            return Err(Diagnostic::clone(problem).into());
        }
        if snapshot.recovered > 0
            && let Some(state) = &snapshot.state
        {
            self.store(now, (&state.lineage, state.serial), &write::write(state))?;
        }
        now.journal = Known::Absent;
        Ok(self.put_away(stale, names)?)
    }

    fn put_away(&self, stale: &StaleJournal, names: &Names) -> Result<(), Diagnostic> {
        let done = match stale {
            StaleJournal::Spent | StaleJournal::Taken => std::fs::remove_file(self.journal_path()),
            StaleJournal::Aside => std::fs::rename(self.journal_path(), self.at(&names.aside)),
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
        let names = self.journal_names();
        let found = look(&self.journal_path());
        let (stale, claim) = match (std::mem::take(&mut now.journal), found) {
            (_, Ok(None)) => return write(now),
            (Known::Waiting(StaleJournal::Unsettled(problem), identity), _) => {
                now.journal = Known::Waiting(StaleJournal::Unsettled(problem.clone()), identity);
                return Err(Diagnostics::from(*problem));
            }
            (Known::Waiting(stale, Some(known)), Ok(Some(open))) if open.identity == known => {
                (stale, self.claimed(Some(open), &names)?)
            }
            (Known::Waiting(stale, None), Err(_)) => (stale, None),
            (_, Ok(Some(open))) => {
                self.claimed(Some(open), &names)?;
                return Err(stale::changed(&names).into());
            }
            (_, Err(error)) => return Err(stale::unreadable(&names, &error).into()),
        };
        let written = write(now)?;
        self.put_away(&stale, &names)?;
        drop(claim);
        Ok(written)
    }

    /// Returns the place of this process's own journal; before that, a run without a lock settles what it has only looked at.
    pub(super) fn own_journal(&self, now: &mut Now) -> Result<PathBuf, Diagnostics> {
        if let Known::Waiting(..) = now.journal {
            // Settled while nobody else can; but without locks, nobody keeps from it either.
            let lock = files::lock(&self.at(&self.paths.write)).ok().flatten();
            let settled = self.settle_waiting(now);
            if let Some(lock) = lock {
                lock.release().map_err(|it| trouble::not_saved(&it))?;
            }
            settled?;
        }
        let path = self.journal_path();
        if std::fs::symlink_metadata(&path).is_ok() {
            return Err(stale::changed(&self.journal_names()).into());
        }
        now.journal = Known::Mine;
        Ok(path)
    }

    fn settle_waiting(&self, now: &mut Now) -> Result<(), Diagnostics> {
        let known = now.last.clone();
        let seen = now.seen;
        let was_writing = std::mem::replace(&mut now.may_write, true);
        // What was planned rests on what was read before.
        let settled = match self.is_still(now, seen) {
            Ok(true) => self.read_now(now).map(drop),
            Ok(false) => Err(stale::changed(&self.journal_names()).into()),
            Err(problems) => Err(problems),
        };
        now.may_write = was_writing;
        settled?;
        if known.is_some() && now.last != known {
            return Err(stale::changed(&self.journal_names()).into());
        }
        Ok(())
    }
}

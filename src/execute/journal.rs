//! The journal of finished steps: each is on the disk before it is reported, many with one sync.
//!
//! [`Journal::append`] only notes a step and gives a ticket; [`Journal::sync_up_to`] waits until that ticket is safe. Tasks
//! that wait at the same time share one sync of the disk, and so does everything that one reporter settles at once.
//!
//! What is about to be asked of a provider is noted first ([`Journal::begin_step`]). [`Journal::hand_over`] gives what is noted
//! to the system, which keeps it whatever becomes of this process, and does not wait for the disk.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::address::Instance;
use crate::backend::{JournalFile, files};
use crate::diagnostic::Diagnostic;
use crate::state::journal::{
    Base, Begun, Chain, Record, begun_json, ended_json, records_json, stored_json,
};

/// The journal of one run. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Inner>);

/// The place of a step in the journal: how many there are up to it.
pub type Ticket = u64;

#[derive(Debug)]
struct Inner {
    at: JournalFile,
    noted: Mutex<Noted>,
    disk: Mutex<Disk>,
    /// Whoever holds it syncs for all who wait.
    turn: tokio::sync::Mutex<()>,
    safe: AtomicU64,
}

/// What is noted and not yet written.
#[derive(Debug)]
struct Noted {
    lines: String,
    chain: Chain,
    last: Ticket,
}

#[derive(Debug, Default)]
struct Disk {
    /// Made with the first record, so that a run that does nothing leaves no trace.
    file: Option<File>,
    /// Why nothing can be written any more. After half a line no later one could be read.
    broken: Option<String>,
}

impl Journal {
    /// Returns the journal of a run that starts from `base`. The file is made with the first record.
    ///
    /// - `known`: how the state that the plan starts from differs from that snapshot: what was moved or has changed outside.
    pub fn open(at: JournalFile, base: &Base, known: &[Record]) -> Journal {
        let (mut chain, mut lines) = Chain::begin(base);
        for record in known {
            lines.push_str(&chain.line(&records_json(std::slice::from_ref(record))));
        }
        let noted = Mutex::new(Noted { lines, chain, last: 0 });
        let inner = Inner {
            at,
            noted,
            disk: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            safe: AtomicU64::new(0),
        };
        Journal(Arc::new(inner))
    }

    /// Makes the file, so that it is known before the first step that steps can be noted.
    pub fn begin(&self) -> Result<(), Diagnostic> {
        let mut disk = self.0.disk.lock();
        let lines = std::mem::take(&mut self.0.noted.lock().lines);
        let begun = self.0.write(&mut disk.file, &lines);
        begun.and_then(|()| disk.file.as_ref().map_or(Ok(()), File::sync_data)).map_err(|error| {
            disk.broken = Some(error.to_string());
            not_begun(&self.0.at.path, &error)
        })
    }

    /// Notes what a finished step has changed, all of it or nothing. It is safe once its ticket is settled.
    pub fn append(&self, records: &[Record]) -> Ticket {
        let is_left_out = crate::world::left_out() == Some("journal:records");
        self.note(&records_json(if is_left_out { &[] } else { records }))
    }

    /// Notes that a provider is about to be asked for a step.
    pub fn begin_step(&self, step: &Begun) -> Ticket {
        self.note(&begun_json(step))
    }

    /// Notes that what was begun with an object is over and has changed nothing.
    pub fn end_step(&self, address: &Instance) -> Ticket {
        self.note(&ended_json(address))
    }

    /// Notes that a snapshot of this serial is about to be written, with everything that is noted before.
    pub fn store(&self, serial: u64) -> Ticket {
        self.note(&stored_json(serial))
    }

    /// Stands for every line that was noted until now; nothing where there is no journal.
    pub fn head(&self) -> Option<String> {
        self.is_begun().then(|| self.0.noted.lock().chain.head())
    }

    fn note(&self, json: &str) -> Ticket {
        let mut noted = self.0.noted.lock();
        let line = noted.chain.line(json);
        noted.lines.push_str(&line);
        noted.last += 1;
        noted.last
    }

    /// Waits until everything up to `ticket` is on the disk.
    pub async fn sync_up_to(&self, ticket: Ticket) -> Result<(), Diagnostic> {
        if self.is_safe(ticket) {
            return Ok(());
        }
        let _turn = self.0.turn.lock().await;
        if self.is_safe(ticket) {
            return Ok(());
        }
        let inner = self.0.clone();
        match tokio::task::spawn_blocking(move || inner.sync()).await {
            Ok(result) => result,
            Err(error) => Err(not_noted(&self.0.at.path, &error)),
        }
    }

    /// Gives everything that is noted to the system: it outlives this process, and not yet the machine.
    pub fn hand_over(&self) -> Result<(), Diagnostic> {
        self.0.hand_over()
    }

    /// Writes everything that is noted to the disk, in this thread.
    pub fn flush(&self) -> Result<(), Diagnostic> {
        self.0.sync()
    }

    /// Whether there is a file: something was noted and written.
    pub fn is_begun(&self) -> bool {
        self.0.disk.lock().file.is_some()
    }

    /// Removes the journal: its steps are in the state by now.
    pub fn remove(&self) -> Result<(), Diagnostic> {
        let mut disk = self.0.disk.lock();
        if disk.file.take().is_none() {
            return Ok(());
        }
        match std::fs::remove_file(&self.0.at.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(not_noted(&self.0.at.path, &error))
            }
            _ => Ok(()),
        }
    }

    fn is_safe(&self, ticket: Ticket) -> bool {
        self.0.safe.load(Ordering::Acquire) >= ticket
    }
}

impl Inner {
    /// Writes and syncs: everything noted until now is safe then.
    fn sync(&self) -> Result<(), Diagnostic> {
        let (mut disk, lines, last) = self.taken()?;
        if last == self.safe.load(Ordering::Acquire) {
            return Ok(());
        }
        let done = self
            .write(&mut disk.file, &lines)
            .and_then(|()| disk.file.as_ref().map_or(Ok(()), File::sync_data));
        self.judged(&mut disk, done)?;
        self.safe.store(last, Ordering::Release);
        Ok(())
    }

    /// Writes, and leaves it to the system when that reaches the disk.
    fn hand_over(&self) -> Result<(), Diagnostic> {
        let (mut disk, lines, _) = self.taken()?;
        let done = if lines.is_empty() { Ok(()) } else { self.write(&mut disk.file, &lines) };
        self.judged(&mut disk, done)
    }

    /// Takes what is noted and not yet written, and the number of the last line of it.
    fn taken(&self) -> Result<(parking_lot::MutexGuard<'_, Disk>, String, Ticket), Diagnostic> {
        let disk = self.disk.lock();
        if let Some(why) = &disk.broken {
            return Err(not_noted(&self.at.path, why));
        }
        let mut noted = self.noted.lock();
        // The first lines wait for the first step.
        let lines = if noted.last == 0 { String::new() } else { std::mem::take(&mut noted.lines) };
        Ok((disk, lines, noted.last))
    }

    fn judged(&self, disk: &mut Disk, done: std::io::Result<()>) -> Result<(), Diagnostic> {
        done.map_err(|error| {
            disk.broken = Some(error.to_string());
            not_noted(&self.at.path, &error)
        })
    }

    fn write(&self, file: &mut Option<File>, lines: &str) -> std::io::Result<()> {
        let file = match file {
            Some(file) => file,
            None => file.insert(self.made()?),
        };
        file.write_all(&self.at.sealed(lines)?)
    }

    /// Makes the file. While it is open, its lock shows that the run goes on.
    fn made(&self) -> std::io::Result<File> {
        if let Some(folder) = self.at.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.at.path)?;
        // Where locks do not work, nobody else can take it up unnoticed either.
        let is_mine = files::claim(&file).unwrap_or(true);
        if !is_mine || file.metadata()?.nlink() == 0 {
            return Err(std::io::Error::other("another run has taken it up"));
        }
        if let Some(folder) = self.at.path.parent() {
            files::sync_folder(folder)?;
        }
        Ok(file)
    }
}

/// There is no place to note finished steps.
fn not_begun(path: &std::path::Path, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: finished steps cannot be noted in {}: {why}\n\n\
         Nothing was begun. The state is to lie where it can be written.",
        path.display()
    ))
}

/// A finished step could not be noted safely.
fn not_noted(path: &std::path::Path, why: &impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: finished steps cannot be noted in {}: {why}\n\n\
         No further step is started. What was finished is still written to the state at the end, if that is possible.",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::journal::read;
    use crate::state::names;

    fn at(path: std::path::PathBuf) -> JournalFile {
        JournalFile::new(path, Default::default())
    }

    fn base() -> Base {
        let lineage = || "abc".to_owned();
        Base { lineage: lineage(), serial: 3, next_lineage: lineage(), ..Base::default() }
    }

    fn gone(key: usize) -> Record {
        Record::Removed {
            address: names::instance(&format!("t.n[{key}]")).expect("an address"),
            deposed: None,
        }
    }

    #[test]
    fn a_journal_that_is_begun_can_be_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(at(folder.path().join("new/journal")), &base(), &[gone(1)]);
        journal.begin().expect("it is made");
        let text = std::fs::read(folder.path().join("new/journal")).expect("it is there");
        assert_eq!((read(&text).base, read(&text).records.len()), (Some(base()), 1));
        std::fs::write(folder.path().join("file"), "").expect("it is written");
        let journal = Journal::open(at(folder.path().join("file/journal")), &base(), &[]);
        assert!(journal.begin().expect_err("it fails").detail.contains("Nothing was begun."));
    }

    #[test]
    fn a_run_without_steps_leaves_no_journal() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(at(folder.path().join("journal")), &base(), &[]);
        journal.flush().expect("there is nothing to write");
        journal.remove().expect("there is nothing to remove");
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is read").count(), 0);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn ten_thousand_steps_of_many_tasks_are_safe_when_settled() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let journal = Journal::open(at(path.clone()), &base(), &[gone(7)]);
        let tasks: Vec<_> = (0..100)
            .map(|task| {
                let (journal, path) = (journal.clone(), path.clone());
                tokio::spawn(async move {
                    for step in 0..100 {
                        journal.append(&[gone(task * 100 + step)]);
                    }
                    let last = journal.append(&[gone(1_000_000 + task)]);
                    journal.sync_up_to(last).await.expect("it is safe");
                    let text = std::fs::read(&path).expect("it is read");
                    assert!(read(&text).records.len() as u64 > last);
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("the task ends well");
        }
        let text = std::fs::read(&path).expect("it is read");
        assert_eq!(read(&text).records.len(), 10_101);
        journal.remove().expect("it is removed");
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_journal_that_cannot_be_written_refuses_every_step() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("file"), "").expect("it is written");
        let journal = Journal::open(at(folder.path().join("file/journal")), &base(), &[]);
        for _ in 0..2 {
            let ticket = journal.append(&[gone(0)]);
            let problem = journal.sync_up_to(ticket).await.expect_err("it fails");
            assert_eq!(problem.summary, "Failed to save state");
        }
    }

    #[test]
    fn a_journal_that_was_not_recovered_is_not_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        std::fs::write(&path, "precious").expect("it is written");
        let journal = Journal::open(at(path.clone()), &base(), &[]);
        journal.append(&[gone(0)]);
        journal.flush().expect_err("it is there already");
        assert_eq!(std::fs::read_to_string(path).expect("it is read"), "precious");
    }
}

//! Where snapshots live and how they are locked: one trait, one file per kind of place.

use std::path::PathBuf;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::State;

pub mod files;

pub mod snapshots;
pub mod lock;
pub mod settings;
#[cfg(test)]
mod tests;
pub mod workspace;

pub use lock::{LockGuard, LockInfo, LockProblem};
pub use snapshots as local;
pub use snapshots::stale::Recover;

/// A snapshot as read.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The state; `None` where nothing was ever written.
    pub state: Option<State>,
    /// How many finished steps of an interrupted run were recovered into it.
    pub recovered: usize,
    /// What the user should know of it.
    pub warnings: Diagnostics,
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The lineage on record now.
    pub lineage: String,
    /// The serial on record now.
    pub serial: u64,
    /// Whether anything was written; an unchanged state is not.
    pub is_written: bool,
}

/// Why a snapshot was not written.
#[derive(Debug)]
pub struct NotWritten {
    /// What the user is told.
    pub problems: Diagnostics,
    /// Whether somebody else has written the place since it was read: then both snapshots are to be kept.
    pub is_overtaken: bool,
}

impl From<Diagnostics> for NotWritten {
    fn from(problems: Diagnostics) -> NotWritten {
        NotWritten { problems, is_overtaken: false }
    }
}

impl From<NotWritten> for Diagnostics {
    fn from(it: NotWritten) -> Diagnostics {
        it.problems
    }
}

/// A place for snapshots of one workspace.
pub trait Backend: Send + Sync {
    /// Reads the latest snapshot, the journal of an interrupted run taken into account.
    fn read(&self) -> Result<Snapshot, Diagnostics>;

    /// Writes the next snapshot of what was last read or written: its lineage, and the next serial if anything changed.
    /// The old snapshot stays whole if this fails, and one that somebody else has put there since stays in any case.
    fn write(&self, state: &State) -> Result<Stored, NotWritten>;

    /// Writes a snapshot as it is, lineage and serial included.
    ///
    /// - `force`: even over an unrelated or newer one.
    fn import(&self, state: &State, force: bool) -> Result<Stored, Diagnostics>;

    /// Takes the lock, in one attempt.
    fn lock(&self, info: &LockInfo) -> Result<(), LockProblem>;

    /// Gives the lock back.
    fn unlock(&self) -> Result<(), Diagnostic>;

    /// Removes the lock `id` that nobody holds any more.
    fn force_unlock(&self, id: &str) -> Result<(), Diagnostic>;

    /// Returns where finished steps are noted before they are reported.
    ///
    /// # Errors
    ///
    /// If an interrupted run has left something there that cannot be made good, another run is at it, or the place cannot keep
    /// a state.
    fn journal(&self) -> Result<PathBuf, Diagnostics>;
}

/// Takes the lock, again and again until `timeout` has passed.
///
/// - `waiting`: called some times a second with the time that has passed; `false` gives up.
pub fn acquire<'a>(
    backend: &'a dyn Backend,
    info: &LockInfo,
    timeout: Duration,
    waiting: &mut dyn FnMut(Duration) -> bool,
) -> Result<LockGuard<'a>, Diagnostics> {
    lock::acquire(backend, info, timeout, waiting)
}

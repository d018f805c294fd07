//! Where states live: a store keeps bytes, snapshots over it know what they mean, and a seal stands between the two.
//!
//! - [`store`]: bytes by workspace, with versions, conditional writes, locks and listing; [`local`] and [`inmem`] are stores.
//! - [`registry`]: which kinds of stores there are ([`kind`]); [`shape`] their settings, [`opening`] what a store is made of.
//! - [`snapshots`]: format, serial, lineage, and the journal of finished steps.
//! - [`seal`]: the one place where bytes are sealed and opened.

use std::time::Duration;

use crate::diagnostic::Diagnostics;
use crate::state::State;

#[cfg(feature = "backend-azurerm")]
pub mod azurerm;
#[cfg(feature = "cloud")]
pub(crate) mod cloud;
#[cfg(feature = "backend-consul")]
mod consul;
#[cfg(test)]
mod contract_tests;
pub mod files;
#[cfg(feature = "backend-gcs")]
pub mod gcs;
#[cfg(feature = "backend-http")]
mod http;
pub mod inmem;
pub mod kind;
#[cfg(feature = "backend-kubernetes")]
mod kubernetes;
pub mod local;
pub mod lock;
mod lock_info;
pub mod moving;
#[cfg(any(feature = "backend-s3", feature = "backend-gcs"))]
pub(crate) mod objects;
pub mod opening;
#[cfg(feature = "backend-pg")]
mod pg;
pub mod registry;
#[cfg(feature = "backend-s3")]
pub mod s3;
pub mod seal;
pub mod settings;
pub mod shape;
pub mod snapshots;
pub mod store;
#[cfg(test)]
mod tests;
pub mod web;
pub mod workspace;

pub use lock::{LockGuard, LockInfo, LockProblem, LockState};
pub use snapshots::{JournalFile, Recover, Runs, Snapshots};

/// A snapshot as read.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The state; `None` where nothing was ever written.
    pub state: Option<State>,
    /// How many finished steps of an interrupted run were recovered into it.
    pub recovered: usize,
    /// Whether a journal has changed it, so that it differs from what is stored.
    pub is_amended: bool,
    /// What the user should know of it.
    pub warnings: Diagnostics,
    /// The state that this working directory has seen in a place where there is none now.
    pub(crate) missing: Option<Box<snapshots::memory::Seen>>,
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

/// Takes the lock, again and again until `timeout` has passed.
///
/// - `waiting`: called some times a second with the time that has passed; `false` gives up.
pub fn acquire<'a>(
    backend: &'a Snapshots,
    info: &LockInfo,
    timeout: Duration,
    waiting: &mut dyn FnMut(Duration) -> bool,
) -> Result<LockGuard<'a>, Diagnostics> {
    lock::acquire(backend, info, timeout, waiting)
}

//! What a run needs of its state while it goes on: whether it still holds the lock, and snapshots in between, so that what is lost with
//! this machine is little.

use bytes::Bytes;

use super::{Now, Snapshots, Watch, trouble};
use crate::backend::store::wait_unless_stopped;
use crate::backend::{LockState, NotWritten, Stored};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::State;

/// What was sent to the store when no answer came.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) bytes: Bytes,
    pub(super) lineage: String,
    pub(super) serial: u64,
}

impl Snapshots {
    /// Whether the state is somebody else's by now: the lock that this run has taken is known to be lost, or somebody has written in
    /// between. Nobody is asked.
    pub fn is_taken_away(&self) -> bool {
        let now = self.now();
        now.is_overtaken || now.watch.as_ref().is_some_and(Watch::has_lost)
    }

    /// Returns whether the lock is held, and by whom. Takes nothing; a store that cannot be asked says nothing.
    pub fn lock_state(&self) -> LockState {
        let asked = self.store.lock_state(&self.workspace);
        let found = wait_unless_stopped(&*self.store, &self.world.stop, asked);
        let found = found.unwrap_or(LockState::Unknown);
        self.now().is_free = found == LockState::Free;
        found
    }

    /// Returns whether the run is asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.world.stop.asked() > 0
    }

    /// Returns the error of a lock that is known to be lost: why, and whose it is now.
    pub fn lost_lock(&self) -> Option<Diagnostic> {
        let now = self.now();
        let why = now.watch.as_ref()?.loss()?;
        Some(trouble::lock_lost(&self.name(), why))
    }

    /// As [`Snapshots::write`], while steps go on being finished.
    ///
    /// - `announce`: hears the serial before anything is written under it, so that the journal fits what may be stored a moment later.
    ///
    /// # Errors
    ///
    /// As for [`Snapshots::write`].
    pub fn write_meanwhile(
        &self,
        state: &State,
        announce: impl FnOnce(u64),
    ) -> Result<Stored, NotWritten> {
        let next = {
            let mut now = self.now();
            self.settle_sent(&mut now)?;
            now.last.as_ref().map_or(0, |it| it.1).saturating_add(1)
        };
        announce(next);
        self.write(state)
    }

    /// Whether a state that this run wrote is still in its place: no other place records the steps that it holds. One that was only
    /// read is not read again.
    pub(super) fn is_still_there(&self, now: &Now) -> Result<bool, Diagnostics> {
        match now.has_written {
            true => Ok(Some(self.content()?.version) == now.seen),
            false => Ok(true),
        }
    }

    /// Finds out whether what was sent without an answer was stored: then this run goes on from that.
    pub(super) fn settle_sent(&self, now: &mut Now) -> Result<(), Diagnostics> {
        if now.sent.is_none() {
            return Ok(());
        }
        let content = self.content()?;
        if let Some(sent) = now.sent.take()
            && sent.bytes == content.bytes
        {
            now.seen = Some(content.version);
            now.last = Some((sent.lineage, sent.serial));
            now.body = None;
        }
        Ok(())
    }
}

//! What this working directory has seen of a state that others reach over a network: its lineage and its latest serial.
//!
//! A place that holds nothing looks like a place where nothing was ever stored. The memory tells the two apart: where a state
//! was seen and is gone, nothing is planned and nothing is written before the user says so.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Now, Snapshots, trouble};
use crate::backend::files::{self, Fresh};
use crate::backend::workspace;
use crate::backend::{Snapshot, Stored};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::state::State;

/// The latest state that was seen in a place.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Seen {
    place: String,
    pub(super) lineage: String,
    pub(super) serial: u64,
}

impl Snapshots {
    /// Remembers what is read and written in `.terraform`, and notices where it is gone.
    pub fn with_memory(mut self) -> Snapshots {
        self.has_memory = self.is_remote();
        self
    }

    /// Takes what is to be told of writes that were done.
    pub fn take_warnings(&self) -> Diagnostics {
        std::mem::take(&mut self.now().warnings)
    }

    /// Lets the state begin anew, although one was seen that is gone: the user has said so.
    pub fn allow_missing(&self) {
        self.now().allows_missing = true;
    }

    /// Returns the error that a command ends with which would go on without a state that was seen.
    ///
    /// - `snapshot`: as it was read.
    pub fn missing(&self, snapshot: &Snapshot) -> Option<Diagnostic> {
        let seen = snapshot.missing.as_ref()?;
        Some(trouble::missing(&self.name(), seen, Memory::Error))
    }

    /// Returns the file of the memory. Its name tells two places apart, and is no path whatever the workspace is called.
    fn memory(&self) -> PathBuf {
        let digest = Sha256::digest(format!("{}\n{}", self.name(), self.workspace));
        let digest: String = digest[..12].iter().map(|it| format!("{it:02x}")).collect();
        workspace::data_folder(&self.world).join("seen").join(format!("{digest}.json"))
    }

    fn seen(&self) -> Option<Seen> {
        let bytes = files::read(&self.memory()).ok()??;
        let seen: Seen = serde_json::from_slice(&bytes).ok()?;
        (seen.place == self.name()).then_some(seen)
    }

    /// Compares what was read with what was seen before.
    pub(super) fn compare_with_memory(&self, now: &mut Now, snapshot: &mut Snapshot) {
        now.is_missing = false;
        if !self.has_memory {
            return;
        }
        let seen = self.seen();
        let state = snapshot.state.as_ref();
        let is_gone = |seen: &Seen| match state {
            None => true,
            // Some programs put an empty state where there is none.
            Some(state) => state.is_empty() && state.lineage != seen.lineage,
        };
        if let Some(seen) = seen.as_ref().filter(|it| is_gone(it)) {
            if !now.allows_missing {
                now.is_missing = true;
                snapshot.warnings.push(trouble::missing(&self.name(), seen, Memory::Warning));
                snapshot.missing = Some(Box::new(seen.clone()));
            }
            return;
        }
        if let Some(state) = state {
            self.remember(seen, (state.is_empty(), &state.lineage, state.serial));
        }
    }

    /// Follows up what was written: it is remembered and, where it is sealed, no plain copy is left.
    pub(super) fn follow_up(&self, now: &mut Now, state: &State, stored: &Stored) {
        if !now.has_sealed_copies && self.seals.seals_states() {
            now.has_sealed_copies = true;
            now.warnings.extend(self.seal_copies());
        }
        if self.has_memory {
            self.remember(self.seen(), (state.is_empty(), &stored.lineage, stored.serial));
        }
    }

    /// Notes what is there now. A memory that cannot be written is no reason to end a command.
    fn remember(&self, seen: Option<Seen>, (is_empty, lineage, serial): (bool, &str, u64)) {
        if is_empty {
            self.forget();
            return;
        }
        let now = Seen { place: self.name(), lineage: lineage.into(), serial };
        // Before `init` there is no folder, and nothing that was set up.
        if seen.as_ref() == Some(&now) || !workspace::data_folder(&self.world).is_dir() {
            return;
        }
        if let Ok(text) = serde_json::to_vec(&now) {
            let _ = files::replace(&self.memory(), &text, Fresh::Private);
        }
    }

    /// Forgets the state: it is gone on purpose, or holds nothing that could be lost.
    pub fn forget(&self) {
        let _ = std::fs::remove_file(self.memory());
    }
}

/// As what a missing state is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// The command ends.
    Error,
    /// The command only looks.
    Warning,
}

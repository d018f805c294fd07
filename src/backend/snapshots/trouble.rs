//! What can go wrong with a state file, one function each.

use std::io::Error;
use std::path::Path;

use super::memory::{Memory, Seen};
use crate::diagnostic::Diagnostic;
use crate::state::{State, digest};
use crate::world::PROGRAM;

/// The state file exists but cannot be read.
pub(super) fn unreadable(error: &Error) -> Diagnostic {
    Diagnostic::error("Failed to read state file")
        .detail(format!("The state file could not be read: {error}"))
}

/// The new snapshot could not be written.
pub(super) fn not_saved(error: &Error) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: {error}\n\nThe state file that was there is unchanged."
    ))
}

/// The backup could not be written, so nothing was.
pub(super) fn no_backup(path: &Path, error: &Error) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: failed to create local state backup file {}: {error}\n\nThe state file that was there is unchanged.",
        path.display()
    ))
}

/// It is not known whether the place can keep a state.
pub(super) fn not_checked(name: &str, error: &Error) -> Diagnostic {
    match error.kind() {
        std::io::ErrorKind::Interrupted => Diagnostic::error("execution halted")
            .detail("The run was interrupted. Nothing was begun."),
        _ => keeps_nothing(name, error),
    }
}

/// The file of the state is none that could keep one.
pub(super) fn keeps_nothing(name: &str, error: &Error) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: {name} cannot keep a state: {error}. Nothing was begun. Choose a regular file."
    ))
}

/// The file is not what it was when it was read.
///
/// - `there`: what it holds now, where that is a state.
/// - `known`: lineage and serial of what was read.
pub(super) fn overtaken(
    name: &str,
    there: Option<&State>,
    (lineage, serial): &(String, u64),
) -> Diagnostic {
    let told = |lineage: &str, serial: u64| match lineage {
        "" => "no state".to_owned(),
        _ => format!("serial {serial} of lineage {lineage}"),
    };
    let now = there.map_or("no state that can be read".into(), |it| told(&it.lineage, it.serial));
    Diagnostic::error("The state was changed by somebody else").detail(format!(
        "{name} was written by another program while this run was going on. It holds {now}; this run has started from {}. It is left as it is.",
        told(lineage, *serial)
    ))
}

/// The lock was held and is not any more, so that somebody else may be at the state.
pub(super) fn lock_lost(name: &str, why: &str) -> Diagnostic {
    Diagnostic::error("The lock of the state was lost").detail(format!(
        "This run held the lock of {name}, and lost it: {why}. No further step is begun and nothing more is written there, for others may be at work on it now."
    ))
}

/// It is not known whether a write has happened.
pub(super) fn unsettled(name: &str, why: &Error) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: {why}\n\nNothing confirms that {name} holds the new state: it may or may not have been written there. Read it before you push another one."
    ))
}

/// Returns the serial of the snapshot that follows.
///
/// # Errors
///
/// If there is none: it would begin again at 0, and count as older than all before it.
pub(super) fn next_serial(serial: u64) -> Result<u64, Diagnostic> {
    serial.checked_add(1).ok_or_else(|| {
        Diagnostic::error("The serial of the state cannot grow").detail(format!(
            "The state has serial {serial}, which no serial follows, so that nothing can be written after it. Nothing was changed.\n\nSuch a \
             serial does not come from counting. Look into the state, print it with \"{PROGRAM} state pull\", give it a lower serial and \
             another lineage, and put it back with \"{PROGRAM} state push -force FILE\"."
        ))
    })
}

/// A state was seen in a place that is empty now.
pub(super) fn missing(name: &str, seen: &Seen, level: Memory) -> Diagnostic {
    let summary = "The state is gone";
    let diagnostic = match level {
        Memory::Error => Diagnostic::error(summary),
        Memory::Warning => Diagnostic::warning(summary),
    };
    diagnostic.detail(format!(
        "{name} holds no state now. This working directory has seen one there: serial {} of lineage {}. Without it every object would be made \
         a second time.\n\nLook for the state first: an older version of it in the place, a backup, another address or account. Put it back \
         with \"{PROGRAM} state push FILE\".\n\nWhere the state is gone on purpose, run the command again with -allow-missing-state.",
        seen.serial, seen.lineage
    ))
}

/// A state would begin anew where one was seen that is gone.
pub(super) fn missing_at_write(name: &str) -> Diagnostic {
    Diagnostic::error("Failed to save state").detail(format!(
        "Error saving state: {name} holds no state now, although this working directory has seen one there. Nothing was written. Put the \
         state back with \"{PROGRAM} state push FILE\" or, where it is gone on purpose, run the command again with -allow-missing-state."
    ))
}

/// What a snapshot is compared by, without what it holds.
pub(super) struct Told {
    pub lineage: String,
    pub serial: u64,
    pub is_empty: bool,
    pub digest: [u8; 32],
}

impl Told {
    pub fn of(state: &State) -> Told {
        let (lineage, is_empty) = (state.lineage.clone(), state.is_empty());
        Told { lineage, serial: state.serial, is_empty, digest: digest(state) }
    }
}

/// Tells whether a snapshot may take the place of another without force.
pub(super) fn check_successor(new: &State, old: &Told, is_same: bool) -> Result<(), Diagnostic> {
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
    if new.serial == old.serial && !is_same {
        return refuse(format!(
            "cannot overwrite existing state with serial {} with a different state that has the same serial",
            new.serial
        ));
    }
    Ok(())
}

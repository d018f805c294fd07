//! The journal that an interrupted run has left: what of it belongs to the state beside it, and what is to become of it.

use std::path::PathBuf;

use super::Snapshot;
use crate::diagnostic::Diagnostic;
use crate::state::State;
use crate::state::journal::{self, Base, Begun, Found, Record};

/// What is to become of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leftover {
    /// All it says is in the state: it can go.
    Spent,
    /// It says what is nowhere else, so it is kept under another name.
    Precious,
}

/// How messages call the files.
pub(super) struct Names {
    /// The journal.
    pub(super) journal: PathBuf,
    /// Where it is kept if it cannot be used; absent for those who only look.
    pub(super) aside: Option<PathBuf>,
}

/// Takes the journal of an interrupted run into account.
pub(super) fn take_up(text: &[u8], snapshot: &mut Snapshot, names: &Names) -> Leftover {
    let Found { base, records, unfinished, damaged } = journal::read(text);
    let Some(base) = base else {
        // The very first line was torn: nothing was reported.
        if records.is_empty() && !text.contains(&b'\n') {
            return Leftover::Spent;
        }
        snapshot.warnings.push(unusable(names));
        return Leftover::Precious;
    };
    let (lineage, serial) =
        snapshot.state.as_ref().map(|it| (it.lineage.clone(), it.serial)).unwrap_or_default();
    let is_next = base.lineage == lineage && base.serial == serial;
    let is_later = base.next_lineage == lineage && serial > base.serial;
    // Whoever only looks may look at a run that is still alive.
    if names.aside.is_some() && !unfinished.is_empty() && (is_next || is_later) {
        snapshot.warnings.push(unrecorded(&unfinished));
    }
    if records.is_empty() && damaged == 0 {
        return Leftover::Spent;
    }
    if is_next {
        snapshot.recovered = records.len();
        snapshot.state = Some(recovered(snapshot.state.take(), &base, records));
        if damaged > 0 {
            snapshot.warnings.push(damage(names, damaged));
            return Leftover::Precious;
        }
        return Leftover::Spent;
    }
    // The run that wrote it, or the one that took it up, has stored it all and died before it could remove it.
    if is_later && snapshot.state.as_ref().is_some_and(|it| journal::holds(it, &records)) {
        return Leftover::Spent;
    }
    snapshot.warnings.push(foreign(names));
    Leftover::Precious
}

/// Returns the state after the finished steps of an interrupted run: a snapshot of its own, one serial on.
fn recovered(state: Option<State>, base: &Base, records: Vec<Record>) -> State {
    let mut state = state.unwrap_or_default();
    state.lineage.clone_from(&base.next_lineage);
    state.serial += 1;
    for record in records {
        state.record(record);
    }
    state
}

fn kept(names: &Names) -> String {
    match &names.aside {
        Some(aside) => format!("It is kept as {}.", aside.display()),
        None => "The next command that changes the state sets it aside.".into(),
    }
}

/// An interrupted run had asked providers for something, and did not live to hear what became of it.
fn unrecorded(steps: &[Begun]) -> Diagnostic {
    let line = |it: &Begun| {
        let what = match it.action.as_str() {
            "create" => "may exist, and is not recorded",
            "delete" => "may be gone, and is still recorded",
            _ => "may have been changed, and is recorded as it was",
        };
        let deposed = it.deposed.as_ref().map(|it| format!(" (deposed {it})")).unwrap_or_default();
        let known: Vec<String> =
            it.known.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
        let known =
            if known.is_empty() { String::new() } else { format!(": {}", known.join(", ")) };
        format!("  - {}{deposed} of {} {what}{known}", it.address, it.provider)
    };
    let lines: Vec<String> = steps.iter().map(line).collect();
    Diagnostic::warning("Objects that may exist unrecorded").detail(format!(
        "An interrupted run had asked for the following, and ended before it heard the answer:\n{}\n\nLook for what may exist before \
         the next apply makes it again: import it, or remove it. What is still recorded is read anew by the next plan.",
        lines.join("\n")
    ))
}

/// A journal lies beside the state that continues another snapshot.
fn foreign(names: &Names) -> Diagnostic {
    Diagnostic::warning("Left-over journal of an interrupted run").detail(format!(
        "{} holds finished steps, but of another snapshot than the state beside it: the state was put back to an older version, or \
         another program has written it since. So these steps are not taken into account, and objects that they made may be missing \
         in the state. {}",
        names.journal.display(),
        kept(names)
    ))
}

/// Some lines of a journal cannot be read.
fn damage(names: &Names, lines: usize) -> Diagnostic {
    Diagnostic::warning("Damaged journal of an interrupted run").detail(format!(
        "{lines} lines of {} cannot be read. The other finished steps are taken into account; objects that those lines tell of may be \
         missing in the state, or recorded as they were before. {}",
        names.journal.display(),
        kept(names)
    ))
}

/// The first line of a journal cannot be read, so that nobody knows what it continues.
fn unusable(names: &Names) -> Diagnostic {
    Diagnostic::warning("Damaged journal of an interrupted run").detail(format!(
        "{} does not say which snapshot it continues, so it is not taken into account. Objects that it tells of may be missing in the \
         state. {}",
        names.journal.display(),
        kept(names)
    ))
}

//! The journal that an interrupted run has left: what of it belongs to the state beside it, and what is to become of it.
//!
//! A journal that is not wholly read, or does not fit, stops every command that writes: it may name objects that are recorded
//! nowhere else. What becomes of it then is for the user to say, who has looked ([`Recover`]).

use std::path::PathBuf;

use crate::address::Instance;
use crate::backend::Snapshot;
use crate::diagnostic::{Diagnostic, Severity};
use crate::state::journal::{self, Begun, Flaw, JournalContents, Record};
use crate::state::{State, Unconfirmed, unconfirmed};

/// What becomes of a journal that does not fit or cannot be read: `-recover`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recover {
    /// The steps that can be read are taken into the state.
    Take,
    /// It is left out.
    Aside,
}

/// What is to become of a journal.
#[derive(Clone, Debug)]
pub(super) enum StaleJournal {
    /// All it says is in the state: it can go.
    Spent,
    /// All it says is in the snapshot: it can go once that is stored.
    Taken,
    /// The user has looked. It is kept under another name.
    Aside,
    /// Nothing is written before the user has looked.
    Unsettled(Box<Diagnostic>),
}

/// How messages call the files.
pub(super) struct Names {
    /// The journal.
    pub(super) journal: PathBuf,
    /// Where it is kept if it cannot be used.
    pub(super) aside: PathBuf,
}

/// A journal that was found, and what is known beside it.
pub(super) struct Found<'a> {
    /// What it says.
    pub(super) text: &'a [u8],
    /// Whether it is a journal that was never sealed, where nothing unsealed may be.
    pub(super) is_refused: bool,
    /// Whether the run that wrote it must be over, because its lock was to be had.
    pub(super) is_over: bool,
    /// The latest serial that the log has of this lineage.
    pub(super) logged: Option<u64>,
}

/// Takes the journal of an interrupted run into account.
pub(super) fn take_up(
    found: &Found<'_>,
    snapshot: &mut Snapshot,
    recover: Option<Recover>,
    names: &Names,
) -> StaleJournal {
    let Found { text, is_refused, is_over, logged } = *found;
    if is_refused {
        return match recover {
            Some(_) => StaleJournal::Aside,
            None => StaleJournal::Unsettled(not_sealed(names).into()),
        };
    }
    let contents = journal::read(text);
    let (lineage, serial) =
        snapshot.state.as_ref().map(|it| (it.lineage.clone(), it.serial)).unwrap_or_default();
    // A state that is older than what the log tells was put back, and so may the journal have been.
    let is_put_back = logged.is_some_and(|it| it > serial);
    let is_next =
        !is_put_back && serial < u64::MAX && continues(&contents, snapshot.state.as_ref());
    let JournalContents { base, records, created, unfinished, flaw, .. } = contents;
    let is_later =
        base.as_ref().is_some_and(|base| base.next_lineage == lineage && serial > base.serial);
    let fits = is_next || is_later;
    let asked = unfinished.iter().filter(|_| is_over && fits);
    let (creations, others): (Vec<_>, Vec<_>) = asked.partition(|it| it.action == "create");
    if !others.is_empty() {
        snapshot.warnings.push(unanswered(&others));
    }
    let notes = new_notes(snapshot.state.as_ref(), &creations, is_next);
    let has_nothing = records.is_empty() && notes.is_empty();
    let next_lineage = base.as_ref().map(|it| it.next_lineage.clone()).unwrap_or_default();
    let recovered = Recovered { next_lineage, records, created, notes };
    if flaw.is_none() {
        // A first line that was torn, or nothing behind it that is not told: nothing was finished.
        if base.is_none() || has_nothing && (fits || unfinished.is_empty()) {
            return StaleJournal::Spent;
        }
        if is_next {
            snapshot.warnings.extend(is_over.then(|| taken_up(&recovered.records)).flatten());
            recovered.recover_into(snapshot);
            return StaleJournal::Taken;
        }
        // The run that wrote it, or the one that took it up, has stored it all and died before it could remove it.
        let state = snapshot.state.as_ref();
        if is_later && state.is_some_and(|it| journal::holds(it, &recovered.records)) {
            if recovered.notes.is_empty() {
                return StaleJournal::Spent;
            }
            Recovered { records: Vec::new(), created: Vec::new(), ..recovered }
                .recover_into(snapshot);
            return StaleJournal::Taken;
        }
    }
    match recover {
        Some(Recover::Aside) => StaleJournal::Aside,
        Some(Recover::Take) => {
            recovered.recover_into(snapshot);
            StaleJournal::Aside
        }
        None => {
            if is_next {
                // Whoever only looks sees what can be seen.
                recovered.recover_into(snapshot);
            }
            StaleJournal::Unsettled(unsettled(flaw, names).into())
        }
    }
}

/// Returns the notes of creations without an answer that the state does not have yet.
///
/// - `is_next`: whether no other program has written the state since; otherwise what is recorded there counts.
fn new_notes(state: Option<&State>, creations: &[&Begun], is_next: bool) -> Vec<Unconfirmed> {
    let is_new = |note: &Unconfirmed| {
        state.is_none_or(|it| {
            !it.unconfirmed.contains(note) && (is_next || it.current(&note.address).is_none())
        })
    };
    creations.iter().filter_map(|it| it.unconfirmed()).filter(is_new).collect()
}

/// Returns whether a journal continues a snapshot: the one that its run started from, or one that the run has stored meanwhile. That
/// has what was finished until then; one that has not is somebody else's of the same serial.
fn continues(contents: &JournalContents, state: Option<&State>) -> bool {
    let Some(base) = &contents.base else { return false };
    let (lineage, serial) = state.map(|it| (&*it.lineage, it.serial)).unwrap_or_default();
    let stored = || contents.stored.iter().filter(|it| it.0 == serial);
    let has =
        |records: usize| state.is_some_and(|it| journal::holds(it, &contents.records[..records]));
    (base.lineage == lineage && base.serial == serial)
        || (base.next_lineage == lineage && stored().any(|it| has(it.1)))
}

/// What a journal says beyond the state.
struct Recovered {
    /// The lineage of the state, where it has none yet.
    next_lineage: String,
    /// Finished steps.
    records: Vec<Record>,
    /// The objects that they have created.
    created: Vec<Instance>,
    /// Creations without an answer.
    notes: Vec<Unconfirmed>,
}

impl Recovered {
    /// Makes the state what it is after the steps of an interrupted run: a snapshot of its own, one serial on.
    fn recover_into(self, snapshot: &mut Snapshot) {
        if self.records.is_empty() && self.notes.is_empty() {
            return;
        }
        let mut state: State = snapshot.state.take().unwrap_or_default();
        if state.lineage.is_empty() {
            state.lineage = self.next_lineage;
        }
        state.serial = state.serial.saturating_add(1);
        snapshot.recovered = self.records.len();
        self.records.into_iter().for_each(|it| state.record(it));
        self.created.iter().for_each(|it| state.confirm(it));
        self.notes.into_iter().for_each(|it| state.note_unconfirmed(it));
        snapshot.state = Some(state);
        snapshot.is_amended = true;
    }
}

/// The most objects of an interrupted run that are named.
const MOST_NAMED: usize = 20;

/// What an interrupted run has finished is taken into the state. Nothing where that was outputs alone.
fn taken_up(records: &[Record]) -> Option<Diagnostic> {
    let mut lines = Vec::new();
    for it in records {
        let (address, deposed, what) = match it {
            Record::Written { address, deposed, .. } => (address, deposed, "is recorded"),
            Record::Removed { address, deposed } => (address, deposed, "is gone"),
            Record::Output { .. } => continue,
        };
        let deposed = deposed.as_ref().map(|it| format!(" (deposed {it})")).unwrap_or_default();
        lines.push(format!("  - {address}{deposed} {what}"));
    }
    let more = lines.len().saturating_sub(MOST_NAMED);
    lines.truncate(MOST_NAMED);
    if more > 0 {
        lines.push(format!("  - and {more} more"));
    }
    (!lines.is_empty()).then(|| {
        Diagnostic::warning("Finished steps of an interrupted run taken up").detail(format!(
            "A run has ended before it could store the state. Its journal has told what it had finished:\n{}\n\nNothing of that is lost, and \
             nothing is to be done about it.",
            lines.join("\n")
        ))
    })
}

/// What whoever only looks is told.
pub(super) fn as_warning(problem: &Diagnostic) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..problem.clone() }
}

/// An interrupted run had asked providers to change or destroy something, and ended before the answer came.
fn unanswered(steps: &[&Begun]) -> Diagnostic {
    let line = |it: &&Begun| {
        let what = match it.action.as_str() {
            "delete" => "may be gone, and is still recorded",
            _ => "may have been changed, and is recorded as it was",
        };
        let deposed = it.deposed.as_ref().map(|it| format!(" (deposed {it})")).unwrap_or_default();
        let name = format!("{}{deposed}", it.address);
        unconfirmed::line(&name, &it.provider, what, &it.known)
    };
    let lines: Vec<String> = steps.iter().map(line).collect();
    Diagnostic::warning("Objects that may have changed unrecorded").detail(format!(
        "An interrupted run had asked for the following, and ended before it heard the answer:\n{}\n\nThe next plan reads each of \
         them again, so nothing is to be done.",
        lines.join("\n")
    ))
}

/// A journal lies beside the state that does not fit, or is not wholly read.
fn unsettled(flaw: Option<Flaw>, names: &Names) -> Diagnostic {
    let journal = names.journal.display();
    let (summary, what) = match flaw {
        None => (
            "Left-over journal of an interrupted run",
            format!(
                "{journal} holds finished steps, but of another snapshot than the state beside it: the state was put back to an older \
                 version, or another program has written it since."
            ),
        ),
        Some(Flaw::Start) => (
            "Damaged journal of an interrupted run",
            format!(
                "{journal} does not say which snapshot it continues: its first line cannot be read."
            ),
        ),
        Some(Flaw::Newer(version)) => (
            "Journal of a newer version",
            format!(
                "{journal} has version {version}, which a newer version of this program has written. That version can take it up."
            ),
        ),
        Some(Flaw::Order(places)) => (
            "Damaged journal of an interrupted run",
            format!(
                "Lines of {journal} were removed, exchanged, moved or doubled, in {}: each line names the one before it, and these do not.",
                if places == 1 { "1 place".to_owned() } else { format!("{places} places") }
            ),
        ),
        Some(Flaw::Older(version)) => (
            "Journal of an older version",
            format!(
                "{journal} has version {version}, in which nothing shows whether lines were removed or moved. The version of the program that has \
                 written it takes it up as it is."
            ),
        ),
        Some(Flaw::Lines(lines)) => (
            "Damaged journal of an interrupted run",
            format!("{lines} of the lines of {journal} cannot be read."),
        ),
    };
    Diagnostic::error(summary).detail(format!("{what} {}", ways_out(names)))
}

/// A journal lies beside the state that is not sealed, where everything must be.
fn not_sealed(names: &Names) -> Diagnostic {
    Diagnostic::error("Journal that is not encrypted").detail(format!(
        "{journal} is not encrypted, and the encryption of the state takes nothing that is not. No run with this configuration has written \
         it: it may be forged, or stem from before the encryption.\n\nLook into it: each line behind the first is a finished step, with the \
         address and the object. If it is yours, take it up once with a fallback to \"unencrypted\" and without \"enforced\". To leave it out, \
         run the command again with -recover=aside, which keeps it as {aside}.",
        journal = names.journal.display(),
        aside = names.aside.display(),
    ))
}

/// A journal lies beside the state that this process cannot read.
pub(super) fn unreadable(names: &Names, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Unreadable journal of an interrupted run").detail(format!(
        "{} cannot be read: {why}. If it is another user's, let that user run a command, or make it readable. {}",
        names.journal.display(),
        ways_out(names)
    ))
}

fn ways_out(names: &Names) -> String {
    format!(
        "Objects that it tells of may exist and be missing in the state, so no command changes the state until this is decided.\n\n\
         Look into it: each line behind the first is a finished step, with the address and the object. Then run the command again with \
         one of\n    -recover=take   to take the steps that can be read into the state\n    -recover=aside  to leave them out\n\
         Either way it is kept, as {}.",
        names.aside.display()
    )
}

/// The process that writes the journal lives.
pub(super) fn busy(names: &Names) -> Diagnostic {
    Diagnostic::error("Another run is changing this state").detail(format!(
        "{} is being written by a run that has not ended, which holds no lock on the state: -lock=false. Nothing was changed. Wait \
         until that run has ended.",
        names.journal.display()
    ))
}

/// The journal is not the one that was read.
pub(super) fn changed(names: &Names) -> Diagnostic {
    Diagnostic::error("Another run has changed this state").detail(format!(
        "{} is not what it was when the state was read: another run has begun since. Nothing was changed. Run the command again.",
        names.journal.display()
    ))
}

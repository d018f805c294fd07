//! Carries a plan out: the executor obeys, it chooses nothing.
//!
//! Steps run side by side as the plan's order allows. A finished step is in the journal before it is reported; a failed
//! one holds back what comes after it, and nothing else.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use entail_rules::order::Order;
use entail_rules::records::Records;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Node, Phase};
use parking_lot::Mutex;

use crate::address::Instance;
use crate::config::Config;
use crate::diagnostic::Diagnostics;
use crate::event::EventObject;
use crate::lower::BlockGraph;
use crate::lower::removed::RemovedBlocks;
use crate::observe::Observer;
use crate::plan::{Action, Plan};
use crate::state::State;
use crate::state::journal::{Begun, Record};
use crate::value::{Str, Value};
use crate::world::World;

mod dependencies;
mod begin;
mod change;
mod checks;
mod failure;
mod finish;
pub mod journal;
mod open;
mod problems;
pub mod provision;
mod queue;
mod remove;
mod place;
mod run;
#[cfg(test)]
mod tests;
mod response;

pub use crate::world::Stop;
pub use place::Place;
pub use queue::Queue;
pub use run::execute;

/// Whoever judges what becomes known while a plan is carried out.
pub trait Watch {
    /// Hears what an object will be, with its arguments final, or has become. Returns what forbids that; errors end the step.
    fn learn(&self, node: Node, value: &Value) -> Diagnostics;
}

/// What carrying out needs besides the plan.
pub struct Context<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The configuration it was made from.
    pub config: &'a Config,
    /// Its blocks.
    pub graph: &'a BlockGraph,
    /// Its `removed` blocks, once somebody asks for them.
    pub removed: OnceLock<RemovedBlocks<'a>>,
    /// Whether a variable of any module has conditions, once somebody asks.
    pub validates: OnceLock<bool>,
    /// The order of steps.
    pub order: &'a Order,
    /// Every fact the plan rests on.
    pub facts: &'a Facts,
    /// Where `create_before_destroy` spreads.
    pub spread: &'a Spread,
    /// What each node is made from.
    pub records: &'a Records,
    /// Values, providers, listener. The values start from the plan's prior state.
    pub observer: &'a Observer<'a>,
    /// Where finished steps are noted.
    pub notes: Notes<'a>,
    /// Where the state is stored, if anywhere.
    pub place: Option<&'a Place<'a>>,
    /// Who is told, once it is safe.
    pub sink: &'a Queue<'a>,
    /// The wish to stop.
    pub stop: &'a Stop,
    /// Who judges what becomes known.
    pub watch: Option<&'a dyn Watch>,
    /// How many steps run at once.
    pub parallelism: usize,
    /// Clock and randomness.
    pub world: &'a Arc<World>,
}

/// Where changes of the state are noted: in the journal at once, in the state when the loop comes round.
pub struct Notes<'a> {
    journal: Option<&'a journal::Journal>,
    fresh: Mutex<Vec<Record>>,
    /// Objects of running steps that are recorded already.
    made: Mutex<Vec<Instance>>,
}

impl<'a> Notes<'a> {
    /// Returns notes that go to a journal, where there is one.
    pub fn new(journal: Option<&'a journal::Journal>) -> Notes<'a> {
        Notes { journal, fresh: Mutex::default(), made: Mutex::default() }
    }

    /// Notes changes that belong together. They are safe once [`Notes::sync`] has returned.
    fn note(&self, records: Vec<Record>) {
        if let Some(journal) = self.journal.filter(|_| !records.is_empty()) {
            journal.append(&records);
        }
        self.fresh.lock().extend(records);
    }

    /// Notes an object of a step that goes on.
    fn note_early(&self, address: &Instance, records: Vec<Record>) {
        self.note(records);
        self.made.lock().push(address.clone());
    }

    /// Returns whether the object of a running step is recorded already.
    fn is_made(&self, address: &Instance) -> bool {
        self.made.lock().contains(address)
    }

    /// Returns whether something was noted that is not in the state yet.
    fn has_fresh(&self) -> bool {
        !self.fresh.lock().is_empty()
    }

    /// Notes that a provider is about to be asked for a step.
    fn begin(&self, step: Option<&Begun>) {
        if let (Some(journal), Some(step)) = (self.journal, step) {
            journal.begin_step(step);
        }
    }

    /// Notes that no answer came to a step that was begun, after all that is noted of it.
    fn unanswered(&self, step: &Begun) {
        self.begin(Some(step));
    }

    /// Notes that what was begun with an object is over and has changed nothing.
    fn end(&self, address: &Instance) {
        if let Some(journal) = self.journal {
            journal.end_step(address);
        }
    }

    /// Notes that a snapshot of this serial is about to be stored. It holds everything that is noted by now.
    fn store(&self, serial: u64) {
        if let Some(journal) = self.journal {
            journal.store(serial);
        }
    }

    /// Gives what is noted to the system, so that it outlives this process.
    fn hand_over(&self) -> Result<(), crate::diagnostic::Diagnostic> {
        self.journal.map_or(Ok(()), journal::Journal::hand_over)
    }

    /// Takes what was noted since the last time into the state.
    fn take_into(&self, state: &mut State) {
        let fresh = std::mem::take(&mut *self.fresh.lock());
        fresh.into_iter().for_each(|it| state.record(it));
    }

    /// Sees to it that everything noted is on the disk.
    fn sync(&self) -> Result<(), crate::diagnostic::Diagnostic> {
        self.journal.map_or(Ok(()), journal::Journal::flush)
    }
}

/// What carrying out came to.
#[derive(Debug, Default)]
pub struct Done {
    /// The state afterwards.
    pub state: State,
    /// How many objects were added, changed, destroyed, imported, forgotten.
    pub added: usize,
    /// Changed in place.
    pub changed: usize,
    /// Destroyed.
    pub destroyed: usize,
    /// Imported.
    pub imported: usize,
    /// Forgotten.
    pub forgotten: usize,
    /// Whether it was stopped before the end.
    pub stopped: bool,
    /// What still ran when it was abandoned: nothing is known of what became of it.
    pub abandoned: Vec<String>,
    /// Whether the state was somebody else's before the end: its lock was lost, or it was written.
    pub is_taken_away: bool,
    /// Whether the journal could not be written, so that it lacks finished steps.
    pub is_journal_torn: bool,
    /// The state as a file, where no file could be written.
    pub unwritten: Option<String>,
    /// What became of each step: those that ended in the order in which they did, then those that did not.
    pub steps: Vec<StepNote>,
    /// The serial of the state that was written, where that differs from the one before.
    pub written: Option<u64>,
    /// Stands for the journal of the run, where it had one: how many lines it had, and the checksum of the last one.
    pub journal: Option<String>,
    /// Whether the state in its place is that of this run, so that another run can go on from it.
    pub is_saved: bool,
    /// The command line that goes on where this run has ended, without secrets.
    pub again: Vec<String>,
    /// Problems.
    pub problems: Diagnostics,
}

/// What became of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepNote {
    /// The object.
    pub address: Instance,
    /// The key of a deposed object.
    pub deposed: Option<Str>,
    /// What was to be done with it.
    pub action: Action,
    /// When it was begun, counted from the beginning of the run.
    pub started: Duration,
    /// For how long it ran.
    pub elapsed: Duration,
    /// What came of it.
    pub outcome: Outcome,
    /// The step that it waited for last: its place among all.
    pub after: Option<usize>,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It failed: the summary of the error, where one names the object.
    Failed(Option<String>),
    /// It still ran when the run was ended, and nothing is known of what became of it.
    Abandoned,
    /// It was not begun, because of this object; `None` where the run was stopped.
    NotAttempted(Option<String>),
}

/// What a step came to: what to note, and what others then read.
#[derive(Debug, Default)]
pub(crate) struct StepResult {
    /// What changed in the state, in order.
    records: Vec<Record>,
    /// The object's new value, for those that read it.
    value: Option<Value>,
    /// Whether what comes after it must not happen.
    failed: bool,
    /// Whether the run was stopped before a provider was asked, so that the step is still to do.
    halted: bool,
    /// What is known of the object that was to be created.
    created: Creation,
    /// What is counted.
    counts: Option<Counted>,
    /// What to report as done; nothing for a step that was not begun.
    reported: Option<Report>,
}

impl StepResult {
    /// Returns the result of a step that was stopped before a provider was asked.
    fn halted() -> StepResult {
        StepResult { halted: true, ..StepResult::default() }
    }
}

/// What a step says of the object that it was to create.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Creation {
    /// Nothing: it creates none, or the provider says that none was created.
    #[default]
    None,
    /// The object is recorded.
    Recorded,
    /// No answer came: the object may exist.
    Unanswered,
}

impl Creation {
    /// Returns what is said where the object of an address is recorded as it is to be, or not.
    fn of(is_recorded: bool) -> Creation {
        if is_recorded { Creation::Recorded } else { Creation::None }
    }
}

/// How a step that was begun has ended.
#[derive(Debug)]
pub(crate) struct Report {
    subject: EventObject,
    action: Action,
    elapsed: Duration,
    /// Whether the object was not made, changed or destroyed as planned. A failed postcondition comes after that.
    errored: bool,
}

/// What a finished step counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Added,
    Changed,
    Destroyed,
    Forgotten,
}

type Vertex = (Node, Phase);

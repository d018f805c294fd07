//! `apply`: carries a plan out and keeps the state, whatever happens.

use crate::world::{PRODUCT, PROGRAM};
use std::collections::{BTreeMap, HashSet};

use super::plan::Planned;
use super::session::Session;
use crate::backend::Snapshot;
use crate::backend::files::{self, Fresh};
use crate::backend::seal::{Part, Seals};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Diagnostics, Sort, Span};
use crate::event::Sink;
use crate::execute::journal::Journal;
use crate::execute::{Context, Done, Notes, Place, Queue, Stop, Watch, execute};
use crate::lower::structure::Structure;
use crate::observe::pool::Pool;
use crate::plan::Plan;
use crate::request::{PlanMode, Request};
use crate::state::State;
use crate::state::journal::{Base, difference};
use crate::value::{Str, Value};
use entail_rules::order::Order;
use entail_rules::records::Records;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Ledger};

mod settled;

use settled::observer;
pub use settled::stored_value;

/// A plan that can be carried out.
pub struct Approved<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The expanded configuration.
    pub structure: &'a Structure,
    /// The order of steps.
    pub order: &'a Order,
    /// Every fact the plan rests on.
    pub facts: &'a Facts,
    /// Where `create_before_destroy` spreads.
    pub spread: &'a Spread,
    /// The root variables.
    pub variables: &'a BTreeMap<Str, Value>,
}

impl<'a> Approved<'a> {
    /// Returns a plan that was just made, as it is.
    ///
    /// # Errors
    ///
    /// If its steps contradict it, which is a fault of the program.
    pub fn of(planned: &'a Planned) -> Result<Approved<'a>, Diagnostics> {
        let finished = &planned.finished;
        Ok(Approved {
            plan: &finished.plan,
            structure: &finished.structure,
            order: planned.order()?,
            facts: &finished.facts,
            spread: &finished.spread,
            variables: &planned.variables.values,
        })
    }

    /// Takes out what was told with the plan: that an output is derived from what is advised against, where the plan knew its value.
    fn leave_out_told(&self, config: &Config, found: &mut Diagnostics) {
        let is_derived = |it: &Diagnostic| matches!(it.sort, Sort::Deprecated(_));
        if !found.iter().any(is_derived) {
            return;
        }
        let was_open =
            |name: &Str| self.plan.outputs.get(name).is_some_and(|it| !it.after.is_wholly_known());
        let modules = config.modules.iter();
        let outputs = modules.flat_map(|(path, it)| it.outputs.iter().map(move |it| (path, it)));
        let told = outputs.filter(|(path, (name, _))| !path.is_root() || !was_open(name));
        let told: HashSet<Span> = told.map(|(_, (_, output))| output.value.span).collect();
        found.0.retain(|it| !(is_derived(it) && it.subject.is_some_and(|it| told.contains(&it))));
    }
}

/// How a plan is carried out.
#[derive(Clone, Copy)]
pub struct Conduct<'a> {
    /// The most steps that run side by side.
    pub parallelism: usize,
    /// Who is told of each step.
    pub sink: &'a dyn Sink,
    /// What may end it early.
    pub stop: &'a Stop,
    /// Who judges what becomes known.
    pub watch: Option<&'a dyn Watch>,
}

/// Carries a plan out. The state is written even if steps failed; while steps finish, the journal keeps them.
///
/// - `snapshot`: what the backend holds now.
///
/// # Errors
///
/// If there is no place to note finished steps; then nothing was begun.
pub async fn apply(
    session: &Session,
    pool: &Pool,
    approved: &Approved<'_>,
    snapshot: &Snapshot,
    conduct: Conduct<'_>,
) -> Result<Done, Diagnostics> {
    if let Some(lost) = session.backend.lost_lock() {
        return Err(lost.into());
    }
    let base = base(session, snapshot, approved);
    let place = Place::of(&session.backend, &base.next_lineage, &session.world)?;
    let file = session.backend.journal()?;
    let old = snapshot.state.as_ref();
    let known = old.map_or_else(
        || difference(&State::default(), &approved.plan.prior_state),
        |it| difference(it, &approved.plan.prior_state),
    );
    let journal = Journal::open(file, &base, &known);
    if !approved.order.step.is_empty()
        && let Err(problem) = journal.begin()
    {
        // Half a first line is of no use to anybody.
        let _ = journal.remove();
        return Err(problem.into());
    }
    let queue = Queue::new(conduct.sink);
    let kept = Kept { journal: Some(&journal), place: Some(&place) };
    let mut done = carry_out((session, pool), approved, &conduct, (&queue, kept)).await;
    if done.state.lineage.is_empty() {
        done.state.lineage.clone_from(&base.next_lineage);
    }
    save(session, &journal, &base, &mut done, &queue);
    Ok(done)
}

/// Carries a plan out in memory: nothing is noted while steps finish, and the state that comes of it is kept by the caller alone.
pub async fn apply_in_memory(
    session: &Session,
    pool: &Pool,
    approved: &Approved<'_>,
    conduct: Conduct<'_>,
) -> Done {
    let queue = Queue::new(conduct.sink);
    let done = carry_out((session, pool), approved, &conduct, (&queue, Kept::default())).await;
    queue.release();
    done
}

/// Where what is done is kept while it is done, if anywhere.
#[derive(Clone, Copy, Default)]
struct Kept<'a> {
    journal: Option<&'a Journal>,
    place: Option<&'a Place<'a>>,
}

/// Runs the steps of a plan, and tells `queue` of them.
async fn carry_out(
    (session, pool): (&Session, &Pool),
    approved: &Approved<'_>,
    conduct: &Conduct<'_>,
    (queue, kept): (&Queue<'_>, Kept<'_>),
) -> Done {
    let Conduct { parallelism, stop, watch, .. } = *conduct;
    let request = Request { mode: approved.plan.mode, parallelism, ..Request::default() };
    let records: Records = session.engine().conclude(&Ledger::of(approved.facts));
    let observer = observer(session, pool, approved, &request, queue);
    let context = Context {
        plan: approved.plan,
        config: &session.config,
        graph: &session.graph,
        removed: Default::default(),
        validates: Default::default(),
        order: approved.order,
        facts: approved.facts,
        spread: approved.spread,
        records: &records,
        observer: &observer,
        notes: Notes::new(kept.journal),
        place: kept.place,
        sink: queue,
        stop,
        watch,
        parallelism,
        world: &session.world,
    };
    let mut done = tokio::select! {
        done = execute(&context) => done,
        never = observer.keep_open() => match never {},
    };
    // A provider that does not answer is not waited for after a second request to stop.
    tokio::select! {
        biased;
        () = observer.close_all() => {}
        () = stop.wait_for(2) => {}
    }
    done.problems.extend(observer.values.take_problems());
    approved.leave_out_told(&session.config, &mut done.problems);
    done
}

/// The snapshot that a run continues.
fn base(session: &Session, snapshot: &Snapshot, approved: &Approved<'_>) -> Base {
    let (lineage, serial) =
        snapshot.state.as_ref().map(|it| (it.lineage.clone(), it.serial)).unwrap_or_default();
    let next_lineage = if lineage.is_empty() { session.world.uuid() } else { lineage.clone() };
    // Where nothing is to be done, there is no journal.
    let has_steps = !approved.order.step.is_empty();
    let plan = if has_steps { super::log::digest(approved.plan) } else { String::new() };
    Base { lineage, serial, next_lineage, plan }
}

/// Writes the state. Where that fails, what was finished is kept in some other way.
fn save(session: &Session, journal: &Journal, base: &Base, done: &mut Done, queue: &Queue<'_>) {
    let torn = journal.flush().err();
    done.journal = journal.head();
    let is_complete = torn.is_none();
    if !done.is_journal_torn {
        done.problems.extend(torn);
    }
    match session.backend.write(&done.state) {
        Ok(stored) => {
            done.is_saved = true;
            done.problems.extend(session.backend.take_warnings());
            // What was stored meanwhile may have been all.
            done.written = Some(stored.serial).filter(|_| stored.is_written).or(done.written);
            queue.release();
            done.problems.extend(journal.remove().err());
        }
        Err(refused) => {
            done.problems.extend(refused.problems);
            // What somebody else has written is no snapshot that the journal continues.
            let kept = match (is_complete && !refused.is_overtaken, journal.is_begun()) {
                (true, true) if session.backend.is_remote() => kept_in_both(session, base, done),
                (true, true) => kept_in_journal(),
                (true, false) => nothing_to_keep(),
                (false, _) => keep(session, base, done, refused.is_overtaken),
            };
            done.problems.push(kept);
            if is_complete {
                queue.release();
            }
            if is_complete && refused.is_overtaken && done.unwritten.is_none() {
                done.problems.extend(journal.remove().err());
            }
            let unsaved = queue.release_unsaved();
            if !unsaved.is_empty() {
                done.problems.push(unrecorded(&unsaved));
            }
        }
    }
}

/// The journal holds all that was finished.
fn kept_in_journal() -> Diagnostic {
    Diagnostic::error("Failed to persist state to backend").detail(
        "The new state could not be written to its place. Nothing is lost: the journal beside it holds every finished step, and the \
         next command takes them up. Once the cause is mended, run the command again.",
    )
}

/// The journal holds all that was finished, but on this machine alone: where the next command runs on another, it needs the state.
fn kept_in_both(session: &Session, base: &Base, done: &mut Done) -> Diagnostic {
    match set_aside(session, base, done) {
        Ok(name) => Diagnostic::error("Failed to persist state to backend").detail(format!(
            "The new state could not be written to its place. Nothing is lost: the journal in this working directory holds every finished step, and the next command that runs here takes them up. \
             The state is in the file \"{name}\" as well. Once the cause is mended, run the command again in this directory; or, from wherever the file is at hand, use:\n    {PROGRAM} state push {name}"
        )),
        Err(_) => kept_in_journal(),
    }
}

/// Returns the serial of a state that is kept beside the configuration. It leaves room for what the journal holds, which the next
/// command may take up first.
fn own_serial(base: &Base, done: &Done) -> u64 {
    done.written.unwrap_or(base.serial).saturating_add(2)
}

/// Writes the state to a file beside the configuration. Returns its name.
fn set_aside(session: &Session, base: &Base, done: &Done) -> Result<String, Diagnostic> {
    let text =
        crate::state::write::write_as(&done.state, &base.next_lineage, own_serial(base, done));
    let sealed = Seals::of(&session.world).seal(Part::State, text.as_bytes())?;
    kept_beside(&session.world.root, &sealed).map_err(|it| {
        Diagnostic::error("Failed to write \"errored.tfstate\"").detail(it.to_string())
    })
}

/// Nothing was carried out, so that there is no journal: what was read, moved or evaluated is so again in the next run.
pub fn nothing_to_keep() -> Diagnostic {
    Diagnostic::error("Failed to persist state to backend").detail(
        "The new state could not be written to its place. No object was made, changed or destroyed, so nothing is lost: what was read \
         is read again, and what was moved is moved again, once the cause is mended and the command is run again.",
    )
}

/// The state cannot be written to its place, and the journal is none to go on from: it is kept beside the configuration.
fn keep(session: &Session, base: &Base, done: &mut Done, is_overtaken: bool) -> Diagnostic {
    let serial = own_serial(base, done);
    let text = crate::state::write::write_as(&done.state, &base.next_lineage, serial);
    let failed = Diagnostic::error("Failed to persist state to backend");
    let sealed = match Seals::of(&session.world).seal(Part::State, text.as_bytes()) {
        Ok(sealed) => sealed,
        Err(problem) => return problem,
    };
    match kept_beside(&session.world.root, &sealed) {
        Ok(name) if is_overtaken => failed.detail(format!(
            "The state of this run, with everything that it has made, is in the file \"{name}\" in the current working directory: lineage {}, serial {}. The state in its place is the other program's. Nothing is lost, but neither knows of what the other has made since they parted.\n\nCompare the two. To make this run's state the one that counts, use the following command, which keeps no object that only the other one has:\n    {PROGRAM} state push -force {name}\n\nTo keep the other one, import into it what only this run's has, or destroy that by hand.",
            base.next_lineage, serial
        )),
        Ok(name) => failed.detail(format!(
            "The error shown above has prevented the updated state from being written to its place. To allow for recovery, it has been written to the file \"{name}\" in the current working directory.\n\nRunning \"{PROGRAM} apply\" again at this point will create a forked state, making it harder to recover.\n\nTo retry writing this state, use the following command:\n    {PROGRAM} state push {name}",
        )),
        Err(error) => {
            // What is sealed of a state is text.
            done.unwritten = Some(String::from_utf8_lossy(&sealed).into_owned());
            failed.detail(format!(
                "The errors shown above prevented the updated state from being written to its place, and the file \"errored.tfstate\" could not be written either ({error}). As a fallback, the raw state data is printed above as a JSON object.\n\nTo retry writing this state, copy the state data (from the first {{ to the last }} inclusive) and save it into a file called errored.tfstate, then run the following command:\n    {PROGRAM} state push errored.tfstate"
            ))
        }
    }
}

/// Writes a state to a file that is not there yet, and returns its name.
fn kept_beside(root: &std::path::Path, text: &[u8]) -> std::io::Result<String> {
    let numbered = (2..).map(|it| format!("errored-{it}.tfstate"));
    for name in std::iter::once("errored.tfstate".to_owned()).chain(numbered) {
        if files::create(&root.join(&name), text, Fresh::Private)? {
            return Ok(name);
        }
    }
    Err(std::io::Error::other("every name is taken"))
}

/// Steps were finished that are recorded in no place of their own.
fn unrecorded(addresses: &[String]) -> Diagnostic {
    Diagnostic::warning("Finished steps are not recorded").detail(format!(
        "These were finished after the journal could not be written any more: {}. Only the state that was saved as told above knows of it.",
        addresses.join(", ")
    ))
}

/// Returns what a finished run is called to account for: the errors that make its exit code 1.
pub fn verdict(done: &Done, mode: PlanMode) -> Diagnostics {
    let mut problems = Diagnostics::new();
    if mode == PlanMode::Destroy && done.forgotten > 0 {
        problems.push(Diagnostic::error("Destroy was successful but left behind forgotten instances").detail(format!(
            "As requested, {PRODUCT} has not deleted {} remote object(s) that are no longer tracked in the state. Those objects can be managed only outside of {PRODUCT} from now on.",
            done.forgotten
        )));
    }
    problems
}

/// What was left out may still be to do.
pub fn incomplete() -> Diagnostic {
    Diagnostic::warning("Applied changes may be incomplete").detail(
        format!("The plan was created with the -target or the -exclude option in effect, so some changes requested in the configuration may have been ignored and the output values may not be fully updated. Run the following command to verify that no other changes are pending:\n    {PROGRAM} plan\n\nNote that the -target and -exclude options are not suitable for routine use, and are provided only for exceptional situations such as recovering from errors or mistakes, or when {PRODUCT} specifically suggests to use it as part of an error message."),
    )
}

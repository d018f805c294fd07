//! The loop that carries steps out: what is ready is started, what is finished is noted, and what is noted is reported.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::{Duration, Instant};

use entail_rules::{Node, Phase};
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{Future, FutureExt};
use rustc_hash::FxHashSet;

use super::failure::Failures;
use super::{
    Context, Counted, Creation, Done, Report, StepResult, Vertex, begin, change, finish, open,
    remove,
};
use crate::address::ProviderConfig;
use crate::diagnostic::Diagnostic;
use crate::event::{Event, EventObject, Sink};
use crate::plan::{Action, Change};
use crate::state::{Object, Unconfirmed};

mod course;
mod meanwhile;
mod steps;
mod stopping;
mod turns;

use self::course::Course;
use self::meanwhile::Pace;
use self::steps::Steps;
use self::turns::Turns;

/// The most finished steps that are noted with one sync of the disk.
const GROUP: usize = 512;
/// The longest that a finished step waits for others to be noted with.
const PATIENCE: Duration = Duration::from_millis(40);
/// How often a step that still runs is reported.
const STILL: Duration = Duration::from_secs(10);

type Step<'s> = Pin<Box<dyn Future<Output = (u32, StepResult)> + 's>>;

/// Carries the plan out and returns what exists afterwards.
pub async fn execute(ctx: &Context<'_>) -> Done {
    let mut run = Run::new(ctx);
    imported(ctx);
    run.confirm_imported();
    let mut open: FuturesUnordered<Step<'_>> = FuturesUnordered::new();
    let (mut closing, mut stopping) = (FuturesUnordered::new(), FuturesUnordered::new());
    while !run.is_over(open.is_empty() && closing.is_empty()) {
        run.start(&mut open);
        run.hand_over();
        let idle = std::mem::take(&mut run.idle);
        if !idle.is_empty() {
            closing.push(ctx.observer.close(idle));
        }
        if run.is_time_to_report(open.is_empty()) {
            run.report();
        }
        if open.is_empty() && closing.is_empty() {
            continue;
        }
        let wait = run.patience();
        tokio::select! {
            Some((step, outcome)) = open.next() => {
                run.take(step, outcome);
                run.hand_over();
            }
            Some(()) = closing.next() => {}
            Some(()) = stopping.next() => {}
            () = ctx.stop.wait_for(run.heard + 1) => stopping.extend(run.hear()),
            () = ctx.sink.filled() => {}
            () = tokio::time::sleep(wait) => run.still(),
        }
        run.store_meanwhile();
    }
    while let Some(Some((step, outcome))) = open.next().now_or_never() {
        run.take(step, outcome);
    }
    run.report();
    // What still runs is abandoned here.
    drop(open);
    run.finish()
}

/// What was imported stands in the state from the start.
fn imported(ctx: &Context<'_>) {
    for change in &ctx.plan.changes {
        if let Some(name) = &change.details.importing {
            ctx.sink.event(Event::ImportStart {
                address: change.address.clone(),
                name: (**name).clone(),
                applying: true,
            });
            ctx.sink.event(Event::ImportComplete {
                address: change.address.clone(),
                name: (**name).clone(),
            });
        }
    }
}

/// A step that runs.
struct Running {
    subject: EventObject,
    action: Action,
    started: Instant,
    /// How many intervals of [`STILL`] were told of.
    told: u64,
}

/// A run so far.
struct Run<'c, 'a> {
    ctx: &'c Context<'a>,
    done: Done,
    steps: Steps<'a>,
    /// What became of each of them.
    course: Course,
    /// What must not run side by side.
    turns: Turns,
    /// Ephemeral resources that nothing uses any more.
    idle: Vec<Node>,
    /// What failed, and what that holds back.
    failures: Failures<'a>,
    /// Changes that failed before anything was asked of the provider.
    unbegun: Vec<&'a Change>,
    running: BTreeMap<u32, Running>,
    /// How many steps were finished since the last report.
    unreported: usize,
    /// Steps that were noted as begun.
    begun: FxHashSet<u32>,
    /// Providers that do not answer at once.
    slow: FxHashSet<&'a ProviderConfig>,
    reported_at: Instant,
    /// When the state is stored meanwhile.
    pace: Pace,
    /// How often the wish to stop was heard.
    heard: u8,
    /// Creations to which no answer came.
    unanswered: Vec<Unconfirmed>,
    /// Whether running steps are abandoned.
    abandons: bool,
}

impl<'c, 'a> Run<'c, 'a> {
    fn new(ctx: &'c Context<'a>) -> Run<'c, 'a> {
        let steps = Steps::of(ctx);
        Run {
            ctx,
            done: Done { state: ctx.plan.prior_state.clone(), ..Done::default() },
            course: Course::new(steps.vertices.len()),
            steps,
            turns: Turns::of(ctx.facts),
            idle: Vec::new(),
            failures: Failures::of(ctx.observer.engine(), ctx.order),
            unbegun: Vec::new(),
            running: BTreeMap::new(),
            unreported: 0,
            begun: FxHashSet::default(),
            slow: FxHashSet::default(),
            reported_at: Instant::now(),
            pace: Pace::default(),
            heard: 0,
            unanswered: Vec::new(),
            abandons: false,
        }
    }

    fn is_over(&self, is_idle: bool) -> bool {
        self.abandons || (is_idle && !self.steps.schedule.has_ready())
    }

    /// Returns whether no further step is to be started.
    fn is_halted(&self) -> bool {
        self.ctx.stop.asked() > 0 || self.done.is_journal_torn || self.is_taken_away()
    }

    /// Starts what is ready, as far as there is room.
    fn start(&mut self, open: &mut FuturesUnordered<Step<'c>>) {
        let ctx = self.ctx;
        while open.len() < ctx.parallelism.max(1) && self.unreported < GROUP {
            let Some(next) = self.steps.schedule.take_ready() else { return };
            let vertex = self.steps.vertices[next as usize];
            let is_held_back = self.failures.hold_back(vertex);
            if !self.steps.steps.contains(&vertex) {
                self.pass(next);
                continue;
            }
            if is_held_back {
                self.pass(next);
                self.let_go(vertex.0);
                continue;
            }
            if self.is_halted() {
                self.done.stopped = true;
                continue;
            }
            let Some(change) = self.steps.changes.get(&vertex.0).copied() else {
                match open::is_ephemeral(ctx, vertex.0) {
                    true => {
                        open.push(Box::pin(open::open(ctx, vertex.0).map(move |it| (next, it))))
                    }
                    false => self.take(next, remove::result(ctx, vertex.0)),
                }
                continue;
            };
            if !self.turns.take(vertex.0, next) {
                continue;
            }
            if !self.announce(next, change, vertex.1) {
                self.done.stopped = true;
                continue;
            }
            self.course.begin(next);
            let existing = self.done.state.object_of(change);
            let mut step: Step<'c> =
                Box::pin(carry_out(ctx, change, vertex, existing).map(move |it| (next, it)));
            match (&mut step).now_or_never() {
                Some((_, outcome)) => self.take(next, outcome),
                None => {
                    let subject = EventObject::at_start(
                        &change.address,
                        change.deposed.as_ref(),
                        &change.before,
                    );
                    let action = shown_action(change, vertex.1);
                    self.running.insert(
                        next,
                        Running { subject, action, started: Instant::now(), told: 0 },
                    );
                    open.push(step);
                    self.slow.insert(&change.served_by.config);
                    // It takes its time: what led to it, and that it runs, is told now.
                    self.report();
                }
            }
        }
    }

    /// Notes a step before it is begun: for the process to die, and where the provider takes its time, for the machine, too.
    /// Whatever was finished before is written by the same call. Returns whether that was possible.
    fn announce(&mut self, step: u32, change: &'a Change, phase: Phase) -> bool {
        let Some(intent) = begin::begun(change, phase) else { return true };
        let notes = &self.ctx.notes;
        notes.begin(Some(&intent));
        self.begun.insert(step);
        let done = match self.slow.contains(&change.served_by.config) {
            true => notes.sync(),
            false => notes.hand_over(),
        };
        self.is_noted(done)
    }

    /// Sees to it that what is finished outlives this process.
    fn hand_over(&mut self) {
        if !self.done.is_journal_torn {
            let done = self.ctx.notes.hand_over();
            self.is_noted(done);
        }
    }

    fn is_noted(&mut self, done: Result<(), Diagnostic>) -> bool {
        let Err(problem) = done else { return true };
        if !self.done.is_journal_torn {
            self.done.is_journal_torn = true;
            self.done.problems.push(problem);
        }
        false
    }

    /// Takes a finished step in: into the state, the journal, and the values that others read.
    fn take(&mut self, step: u32, outcome: StepResult) {
        let ctx = self.ctx;
        let (node, phase) = self.steps.vertices[step as usize];
        self.running.remove(&step);
        if outcome.halted {
            return self.put_back(step, outcome.reported);
        }
        self.course.end(&self.steps, step, Some(&outcome));
        for waiting in self.turns.end(node) {
            self.course.pass_turn(step, waiting);
            self.steps.schedule.again(waiting);
        }
        if self.begun.remove(&step)
            && outcome.records.is_empty()
            && outcome.created != Creation::Unanswered
            && let Some(change) = self.steps.changes.get(&node)
        {
            ctx.notes.end(&change.address);
        }
        self.pace.hear(!outcome.records.is_empty() || self.heard > 0);
        ctx.notes.note(outcome.records);
        ctx.notes.take_into(&mut self.done.state);
        self.note_creation(step, outcome.created);
        if let Some(value) = outcome.value {
            ctx.observer.values.record(node, value);
            ctx.observer.values.decide(node);
        }
        match outcome.counts {
            Some(Counted::Added) => self.done.added += 1,
            Some(Counted::Changed) => self.done.changed += 1,
            Some(Counted::Destroyed) => self.done.destroyed += 1,
            Some(Counted::Forgotten) => {
                self.done.forgotten += 1;
                let address = ctx.observer.values.structure.instance(node);
                address.into_iter().for_each(|it| ctx.sink.event(Event::Forgotten(it)));
            }
            None => {}
        }
        if outcome.failed {
            if outcome.reported.is_none() && phase == Phase::Up {
                self.unbegun.extend(self.steps.changes.get(&node));
            }
            self.failures.add((node, phase));
        }
        self.steps.schedule.complete(step);
        self.idle.extend(ctx.observer.ephemeral_uses.done(node));
        self.let_go(node);
        self.tell_end(outcome.reported);
        self.unreported += 1;
    }

    fn tell_end(&self, report: Option<Report>) {
        let Some(it) = report else { return };
        let event = if it.errored { Event::ApplyErrored } else { Event::ApplyComplete };
        self.ctx.sink.event(event(it.subject, it.action, it.elapsed));
    }

    /// A phase is over in which nothing was done.
    fn pass(&mut self, step: u32) {
        self.course.end(&self.steps, step, None);
        self.steps.schedule.complete(step);
    }

    /// One step of a node is over: perhaps it was the last that its provider instance was kept for.
    fn let_go(&self, node: Node) {
        self.ctx.observer.let_go(node);
    }

    fn is_time_to_report(&self, is_idle: bool) -> bool {
        let has_news = self.unreported > 0 || !self.ctx.sink.is_empty();
        self.unreported >= GROUP
            || (has_news && (is_idle || self.reported_at.elapsed() >= PATIENCE))
    }

    /// Returns how long to wait for news.
    fn patience(&self) -> Duration {
        let has_news =
            self.unreported > 0 || (!self.ctx.sink.is_empty() && !self.done.is_journal_torn);
        let wait = if has_news { PATIENCE } else { Duration::from_secs(1) };
        if self.heard > 0 { wait.min(self.pace.rest()) } else { wait }
    }

    /// Reports finished steps, once they are safe. Where they cannot be made safe, nothing more is started or reported
    /// until the state is written.
    fn report(&mut self) {
        self.unreported = 0;
        self.reported_at = Instant::now();
        let ctx = self.ctx;
        if ctx.sink.is_empty() || self.done.is_journal_torn {
            return;
        }
        match ctx.notes.sync() {
            Ok(()) => ctx.sink.release(),
            Err(problem) => {
                self.done.is_journal_torn = true;
                self.done.problems.push(problem);
            }
        }
    }

    /// Tells of the steps that still run.
    fn still(&mut self) {
        self.tell_taken_away();
        for it in self.running.values_mut() {
            let due = it.started.elapsed().as_secs() / STILL.as_secs();
            if due > it.told {
                it.told = due;
                let elapsed = Duration::from_secs(due * STILL.as_secs());
                self.ctx.sink.event(Event::ApplyProgress(it.subject.clone(), it.action, elapsed));
            }
        }
    }

    fn finish(mut self) -> Done {
        self.ctx.notes.take_into(&mut self.done.state);
        self.done.stopped |= self.is_halted() && self.steps.schedule.left() > 0;
        self.done.is_taken_away = self.is_taken_away();
        self.done.problems.extend(self.ctx.place.and_then(|it| it.backend.lost_lock()));
        self.done.abandoned =
            self.running.values().map(|it| it.subject.address.to_string()).collect();
        self.note_abandoned();
        let abandoned = self.running.keys().copied();
        let structure = &self.ctx.observer.values.structure;
        let name = |node| {
            let address = structure.instance(node).map(|it| it.to_string());
            address.unwrap_or_else(|| "another step".into())
        };
        self.done.steps = self.course.finish(&self.steps, &self.failures, abandoned, name);
        finish::finish(self.ctx, &mut self.done, &self.failures, &self.unbegun);
        let found = self.ctx.observer.values.take_problems();
        self.done.problems.extend(found.settled(self.ctx.observer.values.sources));
        self.done
    }
}

async fn carry_out(
    ctx: &Context<'_>,
    change: &Change,
    vertex: Vertex,
    existing: Option<Object>,
) -> StepResult {
    match (change.action, vertex.1) {
        (Action::Forget, _) => remove::forget(change),
        (Action::Delete, _) => {
            remove::destroy(ctx, change, change.deposed.as_ref(), existing).await
        }
        (Action::DeleteThenCreate, Phase::Down) => {
            remove::destroy(ctx, change, None, existing).await
        }
        (Action::CreateThenDelete, Phase::Late) => {
            remove::destroy(ctx, change, change.details.deposes.as_ref(), existing).await
        }
        (Action::Read, Phase::Up) => change::read(ctx, change, vertex.0).await,
        (Action::NoOp, Phase::Up) => change::check(ctx, change, vertex.0).await,
        (_, Phase::Up) => change::make(ctx, change, vertex.0, existing).await,
        _ => StepResult::default(),
    }
}

/// The action that people see while a step runs.
pub(super) fn shown_action(change: &Change, phase: Phase) -> Action {
    match (change.action, phase) {
        (Action::DeleteThenCreate, Phase::Down) | (Action::CreateThenDelete, Phase::Late) => {
            Action::Delete
        }
        (Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate, _) => {
            Action::Create
        }
        (action, _) => action,
    }
}

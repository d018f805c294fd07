//! Carries a plan out: the executor obeys, it chooses nothing.
//!
//! Steps run side by side as the plan's order allows. A finished step is in the journal before it is reported; a failed
//! one holds back what comes after it, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use entail_rules::order::Order;
use entail_rules::{Facts, Node, Phase};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::Config;
use crate::diagnostic::Diagnostics;
use crate::lower::BlockGraph;
use crate::observe::Observer;
use crate::operation::event::{Event, Sink, Subject};
use crate::plan::{Action, Change, Plan};
use crate::schedule::Schedule;
use crate::state::State;
use crate::state::journal::Record;
use crate::value::Value;
use crate::world::World;

mod change;
mod finish;
pub mod journal;
pub mod record;
mod remove;

/// The most finished steps that are noted with one sync of the disk.
const GROUP: usize = 512;
/// The longest that a finished step waits for others to be noted with.
const PATIENCE: Duration = Duration::from_millis(40);
/// How often a step that still runs is reported.
const STILL: Duration = Duration::from_secs(10);

/// Holds events back until the steps they tell of are safe: in order, so that nothing starts before what it waited for
/// is reported as finished.
pub struct Queue<'a> {
    listener: &'a dyn Sink,
    held: std::sync::Mutex<Vec<Event>>,
}

impl<'a> Queue<'a> {
    /// Returns an empty queue in front of a listener.
    pub fn new(listener: &'a dyn Sink) -> Queue<'a> {
        Queue { listener, held: std::sync::Mutex::default() }
    }

    fn release(&self) {
        let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(|it| it.into_inner()));
        held.into_iter().for_each(|it| self.listener.event(it));
    }

    fn is_empty(&self) -> bool {
        self.held.lock().unwrap_or_else(|it| it.into_inner()).is_empty()
    }
}

impl Sink for Queue<'_> {
    fn event(&self, event: Event) {
        self.held.lock().unwrap_or_else(|it| it.into_inner()).push(event);
    }
}

/// The wish to stop: once, running steps are finished and saved; twice, they are abandoned and what is known is saved.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicU8,
    notify: tokio::sync::Notify,
}

impl Stop {
    /// Asks to stop, once more.
    pub fn ask(&self) -> u8 {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.notify.notify_waiters();
        self.notify.notify_one();
        asked
    }

    /// Returns how often it was asked.
    pub fn asked(&self) -> u8 {
        self.asked.load(Ordering::SeqCst)
    }
}

/// What carrying out needs besides the plan.
pub struct Context<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The configuration it was made from.
    pub config: &'a Config,
    /// Its blocks.
    pub graph: &'a BlockGraph,
    /// The order of steps.
    pub order: &'a Order,
    /// Every fact the plan rests on.
    pub facts: &'a Facts,
    /// Values, providers, listener. The values start from the plan's prior state.
    pub observer: &'a Observer<'a>,
    /// Where finished steps are noted.
    pub journal: Option<&'a journal::Journal>,
    /// Who is told, once it is safe.
    pub sink: &'a Queue<'a>,
    /// The wish to stop.
    pub stop: &'a Stop,
    /// How many steps run at once.
    pub parallelism: usize,
    /// Clock and randomness.
    pub world: &'a Arc<World>,
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
    /// Problems.
    pub problems: Diagnostics,
}

/// What a step came to: what to note, and what others then read.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What changed in the state, in order.
    records: Vec<Record>,
    /// The object's new value, for those that read it.
    value: Option<Value>,
    /// Whether what comes after it must not happen.
    failed: bool,
    /// What is counted.
    counts: Option<Counted>,
    /// What to report as done; nothing for a step that was not begun.
    reported: Option<(Subject, Action, Duration)>,
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

struct Steps<'a> {
    vertices: Vec<Vertex>,
    schedule: Schedule,
    changes: FxHashMap<Node, &'a Change>,
    steps: FxHashSet<Vertex>,
}

/// Carries the plan out and returns what exists afterwards.
pub async fn execute(ctx: &Context<'_>) -> Done {
    let mut done = Done { state: ctx.plan.prior_state.clone(), ..Done::default() };
    let mut steps = steps(ctx);
    let mut failed: FxHashSet<u32> = FxHashSet::default();
    let mut users: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    before(ctx, &steps).into_iter().for_each(|(user, used)| users.entry(used).or_default().push(user));
    imported(ctx);
    let mut open = FuturesUnordered::new();
    let mut running: BTreeMap<u32, (Subject, Action, Instant, u64)> = BTreeMap::new();
    let mut unreported = 0;
    let mut since = Instant::now();
    loop {
        while open.len() < ctx.parallelism.max(1) && unreported < GROUP {
            let Some(next) = steps.schedule.next() else { break };
            let vertex = steps.vertices[next as usize];
            if failed.contains(&next) || (!steps.steps.contains(&vertex)) {
                steps.schedule.settle(next);
                continue;
            }
            if ctx.stop.asked() > 0 {
                done.stopped = true;
                continue;
            }
            let Some(change) = steps.changes.get(&vertex.0).copied() else {
                steps.schedule.settle(next);
                continue;
            };
            let mut step = Box::pin(run(ctx, change, vertex, done.state.clone_object(change)).map(move |it| (next, it)));
            match futures_util::poll!(step.as_mut()) {
                std::task::Poll::Ready((_, outcome)) => {
                    take(ctx, &mut done, &mut steps, &mut failed, &users, next, vertex, outcome, &mut unreported);
                }
                std::task::Poll::Pending => {
                    running.insert(next, (Subject::at_start(&change.address, change.deposed.as_ref(), &change.before), shown_action(change, vertex.1), Instant::now(), 0));
                    open.push(step);
                    // It takes its time: what led to it, and that it runs, is told now.
                    report(ctx, &mut done, &mut unreported);
                }
            }
        }
        if unreported >= GROUP || (unreported > 0 && (since.elapsed() >= PATIENCE || open.is_empty())) {
            report(ctx, &mut done, &mut unreported);
            since = Instant::now();
        }
        if open.is_empty() && !steps.schedule.has_ready() {
            break;
        }
        if open.is_empty() {
            continue;
        }
        let wait = if unreported == 0 { Duration::from_secs(1) } else { PATIENCE };
        tokio::select! {
            finished = open.next() => if let Some((next, outcome)) = finished {
                running.remove(&next);
                let vertex = steps.vertices[next as usize];
                take(ctx, &mut done, &mut steps, &mut failed, &users, next, vertex, outcome, &mut unreported);
            },
            () = ctx.stop.notify.notified() => {
                done.stopped = true;
                if ctx.stop.asked() > 1 {
                    break;
                }
                ctx.observer.pool.stop().await;
            }
            () = tokio::time::sleep(wait) => still(ctx, &mut running),
        }
    }
    report(ctx, &mut done, &mut unreported);
    done.stopped |= ctx.stop.asked() > 0 && steps.schedule.left() > 0;
    drop(open);
    let failed_nodes: FxHashSet<Node> = failed.iter().map(|it| steps.vertices[*it as usize].0).collect();
    finish::finish(ctx, &mut done, &failed_nodes);
    done.problems.extend(ctx.observer.values.take_problems());
    done
}

/// What was imported stands in the state from the start.
fn imported(ctx: &Context<'_>) {
    for change in &ctx.plan.changes {
        if let Some(id) = &change.importing {
            ctx.sink.event(Event::ImportStart { address: change.address.clone(), id: id.clone(), applying: true });
            ctx.sink.event(Event::ImportComplete { address: change.address.clone(), id: id.clone() });
        }
    }
}

fn steps<'a>(ctx: &Context<'a>) -> Steps<'a> {
    let structure = &ctx.observer.values.structure;
    let mut changes = FxHashMap::default();
    for change in &ctx.plan.changes {
        let node = structure.resource_ids.get(&change.address.of()).and_then(|id| {
            let resource = structure.resource(*id);
            match &change.deposed {
                None => resource.instance(&change.address.key),
                Some(key) => resource.deposed.get(&(change.address.key.clone(), key.clone())).copied(),
            }
        });
        if let Some(node) = node {
            changes.insert(node, change);
        }
    }
    let step_set: FxHashSet<Vertex> = ctx.order.step.iter().copied().collect();
    let mut vertices: Vec<Vertex> = ctx.order.step.clone();
    vertices.extend(ctx.order.before.iter().flat_map(|it| [(it.0, it.1), (it.2, it.3)]));
    vertices.sort_unstable();
    vertices.dedup();
    let mut steps = Steps { vertices, schedule: Schedule::default(), changes, steps: step_set };
    let edges = before(ctx, &steps);
    steps.schedule = Schedule::new(steps.vertices.len(), edges);
    steps
}

fn before(ctx: &Context<'_>, steps: &Steps<'_>) -> Vec<(u32, u32)> {
    let index = |vertex: Vertex| steps.vertices.binary_search(&vertex).expect("every end of an edge is a vertex") as u32;
    ctx.order.before.iter().map(|it| (index((it.2, it.3)), index((it.0, it.1)))).collect()
}

async fn run(ctx: &Context<'_>, change: &Change, vertex: Vertex, existing: Option<crate::state::Object>) -> Outcome {
    match (change.action, vertex.1) {
        (Action::Forget, _) => remove::forget(change),
        (Action::Delete, _) => remove::destroy(ctx, change, change.deposed.as_ref(), existing).await,
        (Action::DeleteThenCreate, Phase::Down) => remove::destroy(ctx, change, None, existing).await,
        (Action::CreateThenDelete, Phase::Late) => remove::destroy(ctx, change, change.deposes.as_ref(), existing).await,
        (Action::Read, Phase::Up) => change::read(ctx, change, vertex.0).await,
        (_, Phase::Up) => change::make(ctx, change, vertex.0, existing).await,
        _ => Outcome::default(),
    }
}

/// The action that people see while a step runs.
fn shown_action(change: &Change, phase: Phase) -> Action {
    match (change.action, phase) {
        (Action::DeleteThenCreate, Phase::Down) | (Action::CreateThenDelete, Phase::Late) => Action::Delete,
        (Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate, _) => Action::Create,
        (action, _) => action,
    }
}

/// Takes a finished step in: into the state, the journal, and the values that others read.
#[expect(clippy::too_many_arguments, reason = "the loop's own variables, one place to keep them in step")]
fn take(
    ctx: &Context<'_>,
    done: &mut Done,
    steps: &mut Steps<'_>,
    failed: &mut FxHashSet<u32>,
    users: &FxHashMap<u32, Vec<u32>>,
    next: u32,
    vertex: Vertex,
    outcome: Outcome,
    unreported: &mut usize,
) {
    for record in &outcome.records {
        done.state.record(record.clone());
        ctx.journal.into_iter().for_each(|it| {
            it.append(record);
        });
    }
    if let Some(value) = &outcome.value {
        ctx.observer.values.settle(vertex.0, value.clone());
    }
    match outcome.counts {
        Some(Counted::Added) => done.added += 1,
        Some(Counted::Changed) => done.changed += 1,
        Some(Counted::Destroyed) => done.destroyed += 1,
        Some(Counted::Forgotten) => done.forgotten += 1,
        None => {}
    }
    if outcome.failed {
        let mut open = vec![next];
        while let Some(at) = open.pop() {
            if failed.insert(at) {
                open.extend(users.get(&at).into_iter().flatten());
            }
        }
    }
    steps.schedule.settle(next);
    if let Some((subject, action, elapsed)) = outcome.reported {
        ctx.sink.event(if outcome.failed { Event::ApplyErrored(subject, action, elapsed) } else { Event::ApplyComplete(subject, action, elapsed) });
    }
    *unreported += 1;
}

/// Reports finished steps, once they are safe.
fn report(ctx: &Context<'_>, done: &mut Done, unreported: &mut usize) {
    *unreported = 0;
    if ctx.sink.is_empty() {
        return;
    }
    if let Some(journal) = ctx.journal
        && let Err(problem) = journal.flush()
    {
        done.problems.push(problem);
    }
    ctx.sink.release();
}

/// Tells of the steps that still run.
fn still(ctx: &Context<'_>, running: &mut BTreeMap<u32, (Subject, Action, Instant, u64)>) {
    for (subject, action, started, told) in running.values_mut() {
        let elapsed = started.elapsed();
        let due = elapsed.as_secs() / STILL.as_secs();
        if due > *told {
            *told = due;
            ctx.sink.event(Event::ApplyProgress(subject.clone(), *action, Duration::from_secs(due * STILL.as_secs())));
        }
    }
}

impl State {
    /// Returns a copy of the object that a change is about: the current one, or the one it deposed.
    fn clone_object(&self, change: &Change) -> Option<crate::state::Object> {
        let instance = self.instance(&change.address)?;
        let deposed = change.deposed.as_ref().or(change.deposes.as_ref()).and_then(|it| instance.deposed.get(it));
        deposed.or(instance.current.as_ref().filter(|_| change.deposed.is_none())).map(|it| (**it).clone())
    }
}

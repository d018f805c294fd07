//! `fleet plan` and `fleet apply`: root modules side by side, in the order in which they rest on each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use entail::datalog::Limits;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::policy::query::Cell;
use entail::workflow::Host;
use entail::workflow::elsewhere::Questions;
use entail::world::World;
use parking_lot::{Condvar, Mutex};

use crate::engine::{Choice, facts};
use crate::lake::{Lake, Scan};
use crate::reading;
use crate::settings::Settings;
use crate::stacks::{Named, Place, Stack, find};

mod journal;
mod order;
mod process;
mod report;

use journal::Journal;
use order::Order;
use process::Program;
pub use report::{Ran, Report, Status};

/// What is done with each stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Plan.
    Plan,
    /// Plan, and carry the plan out.
    Apply,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is done.
    pub doing: Doing,
    /// A body whose variable `s` says which stacks.
    pub filter: Option<String>,
    /// The lake that the body is asked of.
    pub lake: Option<String>,
    /// Nothing is run.
    pub is_dry: bool,
    /// What an earlier run has done is done again.
    pub is_anew: bool,
    /// How many stacks run at a time.
    pub parallelism: usize,
}

/// Runs stacks.
///
/// # Errors
///
/// If there is nothing that could be run: stacks that fail stand in the report.
pub fn run(host: &Host<'_>, settings: &Settings, options: &Options) -> Result<Report, Diagnostics> {
    let found = find(host.world, settings);
    let wanted = match &options.filter {
        Some(body) => Some(filtered(host, options, body)?),
        None => None,
    };
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|it| it.contains(name));
    let mut report = Report { problems: found.problems, ..Report::default() };
    let mut stacks = BTreeMap::new();
    for Named { name, stack, .. } in found.stacks.into_iter().filter(|it| is_wanted(&it.name)) {
        match stack {
            Ok(stack) if matches!(stack.place, Place::Module { .. }) => {
                stacks.insert(name, stack);
            }
            Ok(_) => {}
            Err(problems) => {
                let because = Some(reading::in_a_line(&problems));
                let status = Status::Failed;
                report.stacks.push(Ran {
                    stack: name,
                    status,
                    because,
                    after: Vec::new(),
                    says: None,
                });
            }
        }
    }
    let order = Order::of(host.world, &stacks)?;
    if options.is_dry {
        report.stacks.extend(order.dry(&stacks));
        return Ok(report);
    }
    let program = Program::find(host.world)?;
    let journal = Journal::open(host.world, settings, options)?;
    let running = Running {
        world: host.world,
        stacks: &stacks,
        order: &order,
        program: &program,
        journal: &journal,
        options,
        now: Mutex::default(),
        changed: Condvar::new(),
    };
    report.stacks.extend(running.go()?);
    journal.end();
    Ok(report)
}

/// The stacks that a body names.
fn filtered(
    host: &Host<'_>,
    options: &Options,
    body: &str,
) -> Result<BTreeSet<String>, Diagnostics> {
    let questions = Questions::new(host, &Default::default())?;
    let query = questions.body(body)?;
    let lake = Lake::open(host.world, options.lake.as_deref().unwrap_or("lake"))?;
    let catalogue = lake.indexed()?;
    let program = query.program.for_goals(&[query.relation]);
    let scan = Scan::new(&lake, &catalogue);
    let facts = facts(&Choice::default(), &program, None, &scan, Limits::default().time)?;
    let answer = questions.answer(&query, &facts, &Limits::default())?;
    let Some(column) = answer.columns.iter().position(|it| it == "s") else {
        return Err(no_stacks_named(body).into());
    };
    let rows = answer.certain.iter().chain(&answer.possible);
    Ok(rows.map(|row| Cell::text(&row[column])).collect())
}

#[derive(Default)]
struct Now {
    /// What has come of stacks, in the order in which they began.
    ran: Vec<Ran>,
    begun: BTreeSet<String>,
    done: BTreeMap<String, Status>,
    working: usize,
}

struct Running<'a> {
    world: &'a Arc<World>,
    stacks: &'a BTreeMap<String, Stack>,
    order: &'a Order,
    program: &'a Program,
    journal: &'a Journal,
    options: &'a Options,
    now: Mutex<Now>,
    changed: Condvar,
}

impl Running<'_> {
    fn go(&self) -> Result<Vec<Ran>, Diagnostics> {
        let workers: Vec<usize> =
            (0..self.options.parallelism.min(self.stacks.len()).max(1)).collect();
        reading::each(&workers, workers.len(), |_| while self.one() {})?;
        Ok(std::mem::take(&mut self.now.lock().ran))
    }

    /// Runs one stack that is due, or waits for one. Returns false where none will be.
    fn one(&self) -> bool {
        let stack = {
            let mut now = self.now.lock();
            loop {
                if now.begun.len() == self.stacks.len() {
                    return false;
                }
                if let Some(stack) = self.due(&now) {
                    break self.begin(&mut now, stack);
                }
                if now.working == 0 {
                    return false;
                }
                self.changed.wait(&mut now);
            }
        };
        let Some((at, stack)) = stack else { return true };
        let outcome = self.run_or_recall(stack);
        let mut now = self.now.lock();
        now.working -= 1;
        now.done.insert(stack.name.clone(), outcome.status);
        let after = std::mem::take(&mut now.ran[at].after);
        now.ran[at] = Ran { after, ..outcome };
        self.changed.notify_all();
        true
    }

    /// A stack before which nothing is to be done any more.
    fn due(&self, now: &Now) -> Option<&Stack> {
        self.stacks.values().find(|it| {
            let before = self.order.before(&it.name);
            !now.begun.contains(&it.name) && before.iter().all(|it| now.done.contains_key(it))
        })
    }

    /// Begins with a stack; nothing where it is skipped at once.
    fn begin<'s>(&self, now: &mut Now, stack: &'s Stack) -> Option<(usize, &'s Stack)> {
        let before = self.order.before(&stack.name);
        let is_bad =
            |it: &&String| matches!(now.done.get(*it), Some(Status::Failed | Status::Skipped));
        let bad: Vec<String> = before.iter().filter(is_bad).cloned().collect();
        now.begun.insert(stack.name.clone());
        let mut ran = Ran::of(&stack.name, Status::Skipped);
        ran.after = before.iter().cloned().collect();
        let circle = self.order.circle_of(&stack.name);
        ran.because = match (bad.is_empty(), circle) {
            (false, _) => Some(bad.join(", ")),
            (true, Some(circle)) => {
                ran.status = Status::Failed;
                Some(format!("these stacks rest on each other: {}", circle.join(", ")))
            }
            (true, None) => None,
        };
        let is_over = ran.because.is_some();
        let status = ran.status;
        now.ran.push(ran);
        if is_over {
            now.done.insert(stack.name.clone(), status);
            self.changed.notify_all();
            return None;
        }
        now.working += 1;
        Some((now.ran.len() - 1, stack))
    }

    fn run_or_recall(&self, stack: &Stack) -> Ran {
        if let Some(ran) = self.journal.recall(stack) {
            return ran;
        }
        let ran = self.program.run(self.world, stack, self.options.doing);
        self.journal.note(stack, &ran);
        ran
    }
}

fn no_stacks_named(body: &str) -> Diagnostic {
    Diagnostic::error("No stacks named").detail(format!(
        "The filter {body:?} has no variable `s`: it says which stacks, such as 'label(s, \"env\", \"prod\")'."
    ))
}

//! One folder and what can be done with it, for programs that want no terminal: the library's front door.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::apply::{Applied, apply};
use super::explain::{PlanSource, WhyOptions, facts, why};
use super::host::{Ask, Host, Schemas, Tell};
use super::options::{ApplyOptions, PlanOptions};
use super::plan::plan;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::event::{Event, Sink};
use crate::execute::Stop;
use crate::plan::Plan;
use crate::planner::Finished;
use crate::request::{PlanMode, Request};
use crate::state::State;
use crate::world::World;

/// How many calls of providers run at a time where a request does not say.
const USUAL_PARALLELISM: usize = 10;

/// A folder with a configuration, its state and its providers. Nothing is read before it is asked for.
///
/// Each call does all that the command of its name does: it opens the folder, locks and reads the state, and blocks until it is
/// done, on a thread of its own.
pub struct Project {
    world: Arc<World>,
    sources: Sources,
}

/// What an apply came to.
pub struct Outcome {
    /// Whether the plan was carried out; otherwise it was not approved, and nothing was done.
    pub approved: bool,
    /// The state afterwards; empty where nothing was done.
    pub state: State,
    /// What went wrong. What was finished all the same is in the state.
    pub problems: Diagnostics,
    /// The state as the text of a file, where it could be written nowhere: the caller must keep it.
    pub unwritten: Option<String>,
}

impl Project {
    /// Returns the project of a folder, with the environment of this process.
    pub fn open(folder: impl Into<PathBuf>) -> Project {
        let mut world = World::of_this_process();
        world.root = world.cwd.join(folder.into());
        Project::of(world)
    }

    /// Returns the project of a world's root: clock, environment and working directory are the world's.
    pub fn of(world: World) -> Project {
        Project { world: Arc::new(world), sources: Sources::default() }
    }

    /// Returns every source file that was read so far: the places of problems lie in them.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns the wish to stop, which another thread can utter while a call runs.
    pub fn stop(&self) -> &Stop {
        &self.world.stop
    }

    /// Plans, and changes nothing.
    ///
    /// # Errors
    ///
    /// If the plan has errors; warnings stand beside them.
    pub fn plan(&self, request: &Request) -> Result<Plan, Diagnostics> {
        let listener = Listener::new(&|_| false);
        let options = PlanOptions { request: usual(request), ..PlanOptions::default() };
        let made = plan(&self.host(&listener), &options);
        match made {
            Ok(made) if !made.failed => {
                let Finished { plan, .. } = made.finished;
                Ok(plan)
            }
            Ok(_) => Err(listener.told()),
            Err(problems) => Err(listener.with(problems)),
        }
    }

    /// Plans, and carries the plan out if `approves` says so. A plan with nothing to do is not asked about.
    ///
    /// # Errors
    ///
    /// If there is no plan to carry out; then nothing was begun. A run in which steps failed is an [`Outcome`] with errors.
    pub fn apply(
        &self,
        request: &Request,
        approves: impl Fn(&Plan) -> bool + Sync,
    ) -> Result<Outcome, Diagnostics> {
        let listener = Listener::new(&approves);
        let request = Request { carried_out: true, ..usual(request) };
        let options = ApplyOptions { request, ..ApplyOptions::default() };
        match apply(&self.host(&listener), &options) {
            Err(problems) => Err(listener.with(problems)),
            Ok(Applied::Refused) => Err(listener.told()),
            Ok(Applied::Declined(_)) => Ok(Outcome {
                approved: false,
                state: State::default(),
                problems: listener.told(),
                unwritten: None,
            }),
            Ok(Applied::Done(done)) => Ok(Outcome {
                approved: true,
                state: done.state,
                problems: listener.with(done.problems),
                unwritten: done.unwritten,
            }),
        }
    }

    /// Explains, in sentences, what is decided about an instance, an output (`output.NAME`) or a provider.
    ///
    /// # Errors
    ///
    /// If nothing has that address, or no plan can be made.
    pub fn explain(&self, request: &Request, address: &str) -> Result<String, Diagnostics> {
        let listener = Listener::new(&|_| false);
        let options = WhyOptions {
            address: address.to_owned(),
            subject: planned(request),
            ..WhyOptions::default()
        };
        let explained = why(&self.host(&listener), &options);
        explained.map(|it| it.text).map_err(|it| listener.with(it))
    }

    /// Returns the rows of a relation that the plan rests on or that follows from it, each column in words.
    ///
    /// # Errors
    ///
    /// If there is no such relation (`docs/relations.md` has them all), or no plan can be made.
    pub fn facts(
        &self,
        request: &Request,
        relation: &str,
    ) -> Result<Vec<Vec<String>>, Diagnostics> {
        let listener = Listener::new(&|_| false);
        let found = facts(&self.host(&listener), &planned(request), Some(relation));
        let found = found.map_err(|it| listener.with(it))?;
        Ok(found.into_iter().flat_map(|it| it.1).collect())
    }

    fn host<'a>(&'a self, listener: &'a Listener<'a>) -> Host<'a> {
        Host {
            world: &self.world,
            sources: &self.sources,
            tell: listener,
            ask: listener,
            stop: &self.world.stop,
        }
    }
}

/// Returns the request with the usual number of calls at a time where it has none.
fn usual(request: &Request) -> Request {
    let parallelism = match request.parallelism {
        0 => USUAL_PARALLELISM,
        number => number,
    };
    Request { parallelism, ..request.clone() }
}

fn planned(request: &Request) -> PlanSource {
    let planning = PlanOptions { request: usual(request), ..PlanOptions::default() };
    PlanSource { saved: None, planning }
}

/// Collects problems, and approves as the caller's function says.
struct Listener<'a> {
    problems: Mutex<Diagnostics>,
    approves: &'a (dyn Fn(&Plan) -> bool + Sync),
    has_approved: AtomicBool,
}

impl<'a> Listener<'a> {
    fn new(approves: &'a (dyn Fn(&Plan) -> bool + Sync)) -> Listener<'a> {
        Listener { problems: Mutex::default(), approves, has_approved: AtomicBool::new(false) }
    }

    /// Takes what was told so far.
    fn told(&self) -> Diagnostics {
        std::mem::take(&mut *self.problems.lock())
    }

    /// Takes what was told so far, and `more` behind it.
    fn with(&self, more: Diagnostics) -> Diagnostics {
        let mut all = self.told();
        all.extend(more);
        all
    }
}

impl Sink for Listener<'_> {
    fn event(&self, event: Event) {
        if let Event::Diagnostic(problem) = event {
            self.problems((*problem).into());
        }
    }
}

impl Tell for Listener<'_> {
    fn problems(&self, problems: Diagnostics) {
        self.problems.lock().extend(problems);
    }

    fn planned(&self, plan: &Plan, _: &Schemas, problems: Diagnostics) {
        let is_sound = !problems.has_errors();
        self.problems(problems);
        if is_sound && plan.is_applyable() {
            self.has_approved.store((self.approves)(plan), Ordering::SeqCst);
        }
    }
}

impl Ask for Listener<'_> {
    fn may_ask(&self) -> bool {
        false
    }

    fn variable(&self, _: &str, _: Option<&str>, _: bool) -> Option<String> {
        None
    }

    fn approves(&self, _: PlanMode, _: &str) -> Result<bool, Diagnostic> {
        Ok(self.has_approved.load(Ordering::SeqCst))
    }

    fn agrees(&self, _: &str, _: &str) -> Option<bool> {
        None
    }
}

//! One test file: its runs in order, each from the state that the last one on the same module has left, and the end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::cleanup::{Left, destroy, objects};
use super::execute::{Done, Kept, Task};
use super::suite::Suite;
use super::variables::RunOutputs;
use super::{RunOutcome, Status, problems};
use crate::address::Instance;
use crate::config::testing::{TestFile, TestRun};
use crate::execute::Stop;
use crate::state::State;
use crate::value::{Str, Value};

/// How long a run that is ended has to come to its end.
const GRACE: Duration = Duration::from_secs(5);

/// What came of one file.
#[derive(Default)]
pub struct FileOutcome {
    /// Its path.
    pub path: String,
    /// How it went.
    pub status: Status,
    /// Its runs, in order.
    pub runs: Vec<RunOutcome>,
    /// What became of its states at the end.
    pub left: Vec<Left>,
    /// What was there when it was ended early.
    pub interrupted: Option<Interrupted>,
}

/// Objects, deposed ones by their keys.
pub type Objects = Vec<(Instance, Option<Str>)>;

/// What was there when a file was ended early.
pub struct Interrupted {
    /// The run that was at work, and the source of its module where it has one of its own.
    pub run: (String, Option<String>),
    /// The objects of the module under test.
    pub main: Objects,
    /// The objects of other modules, by the run that changed them last, with their sources.
    pub others: Vec<(String, String, Objects)>,
    /// What was about to be made.
    pub making: Vec<Instance>,
}

/// A state of a file.
#[derive(Default)]
struct Place {
    state: State,
    /// The run that changed it last, and what that was made with.
    last: Option<(usize, Kept)>,
}

/// The key of the module under test.
const MAIN: &str = "";

struct Runner<'a> {
    suite: &'a Suite,
    file: &'a TestFile,
    places: BTreeMap<String, Place>,
    /// The outputs of runs that later ones can name, by number of the run.
    outputs: BTreeMap<usize, (String, Value)>,
}

/// Runs a file. Asked to stop once, it leaves out what it has not begun; asked twice, it ends at once and cleans nothing up.
pub async fn run_file(suite: &Suite, file: &TestFile, stop: &Stop) -> FileOutcome {
    let places = BTreeMap::from([(MAIN.to_owned(), Place::default())]);
    let mut runner = Runner { suite, file, places, outputs: BTreeMap::new() };
    let mut outcome =
        FileOutcome { path: file.path.clone(), status: Status::Pass, ..FileOutcome::default() };
    for (index, run) in file.runs.iter().enumerate() {
        let pending = || RunOutcome { name: run.name.text.to_string(), ..RunOutcome::default() };
        if stop.asked() > 1 {
            outcome.runs.push(pending());
            continue;
        }
        if stop.asked() == 1 || outcome.status == Status::Error {
            outcome.runs.push(RunOutcome { status: Status::Skip, ..pending() });
            continue;
        }
        let began = Instant::now();
        let (mut done, interrupted) = runner.execute(index, run, stop).await;
        done.elapsed = began.elapsed();
        outcome.status = outcome.status.max(done.status);
        outcome.runs.push(done);
        outcome.interrupted = outcome.interrupted.or(interrupted);
    }
    if stop.asked() < 2 {
        outcome.left = runner.clean_up(stop).await;
    }
    outcome
}

impl Runner<'_> {
    /// The state that a run works on, and the source of its module where it has one of its own.
    fn key(&self, index: usize) -> String {
        self.suite.helper(self.file, index).map_or(MAIN.to_owned(), |it| it.key.clone())
    }

    async fn execute(
        &mut self,
        index: usize,
        run: &TestRun,
        stop: &Stop,
    ) -> (RunOutcome, Option<Interrupted>) {
        let key = self.key(index);
        let helper = self.suite.helper(self.file, index);
        let config = helper.map_or(&self.suite.config, |it| &it.config);
        let runs = self.known_runs();
        let state = self.places.entry(key.clone()).or_default().state.clone();
        let (making, inner) = (parking_lot::Mutex::default(), Stop::default());
        let task = Task {
            suite: self.suite,
            file: self.file,
            run,
            config,
            runs: &runs,
            stop: &inner,
            making: &making,
        };
        let work = task.execute(state);
        tokio::pin!(work);
        let (done, interrupted) = tokio::select! {
            done = &mut work => (done, None),
            () = stop.wait_for(2) => {
                let seen = self.interrupted(index, run, making.lock().clone());
                inner.ask();
                let done = match tokio::time::timeout(GRACE, &mut work).await {
                    Ok(done) => done,
                    Err(_) => {
                        // What still runs is abandoned.
                        inner.ask();
                        tokio::time::timeout(GRACE, work).await.unwrap_or_default()
                    }
                };
                (done, Some(seen))
            }
        };
        (self.keep(index, &key, run, done, interrupted.is_some()), interrupted)
    }

    /// Keeps what a run leaves.
    fn keep(
        &mut self,
        index: usize,
        key: &str,
        run: &TestRun,
        done: Done,
        is_interrupted: bool,
    ) -> RunOutcome {
        let Done { mut outcome, kept, planned } = done;
        outcome.name = run.name.text.to_string();
        if is_interrupted {
            outcome.status = Status::Error;
            outcome.problems.push(problems::interrupted());
        }
        let name = run.name.text.to_string();
        if let Some(planned) = planned.filter(|_| self.suite.manner.keeps_outputs) {
            self.outputs.insert(index, (name.clone(), object(planned)));
        }
        let Some(kept) = kept else { return outcome };
        let place = self.places.entry(key.to_owned()).or_default();
        if let Some((before, _)) = &place.last
            && !self.suite.manner.keeps_outputs
        {
            self.outputs.remove(before);
        }
        place.state = kept.state.clone();
        let outputs = kept.state.outputs.iter().map(|(name, it)| (name.clone(), it.value.clone()));
        self.outputs.insert(index, (name, object(outputs)));
        place.last = Some((index, kept));
        outcome
    }

    /// Returns the outputs that the next run can name.
    fn known_runs(&self) -> RunOutputs {
        let runs = self.outputs.values();
        runs.map(|(name, value)| (Str::from(name.as_str()), value.clone())).collect()
    }

    fn interrupted(&self, index: usize, run: &TestRun, making: Vec<Instance>) -> Interrupted {
        let own = Some(self.key(index)).filter(|it| it != MAIN);
        let main = self.places.get(MAIN).map(|it| objects(&it.state)).unwrap_or_default();
        let others = self.places.iter().filter(|it| it.0 != MAIN).filter_map(|(key, place)| {
            let (last, _) = place.last.as_ref()?;
            let found = objects(&place.state);
            let name = self.file.runs[*last].name.text.to_string();
            (!found.is_empty()).then(|| (name, key.clone(), found))
        });
        let others = others.collect();
        Interrupted { run: (run.name.text.to_string(), own), main, others, making }
    }

    /// Destroys every state, the one that was changed last first.
    async fn clean_up(&mut self, stop: &Stop) -> Vec<Left> {
        let places = std::mem::take(&mut self.places);
        let mut last: Vec<(usize, Kept)> = places.into_values().filter_map(|it| it.last).collect();
        last.sort_by_key(|it| std::cmp::Reverse(it.0));
        let mut left = Vec::new();
        for (index, kept) in last {
            if stop.asked() > 1 {
                break;
            }
            let name = &self.file.runs[index].name.text;
            let inner = Stop::default();
            let work = destroy(self.suite, name, kept, &inner);
            tokio::pin!(work);
            let done = tokio::select! {
                done = &mut work => done,
                () = stop.wait_for(2) => {
                    inner.ask();
                    work.await
                }
            };
            left.push(done);
        }
        left
    }
}

fn object(outputs: impl IntoIterator<Item = (Str, Value)>) -> Value {
    // Marks are lost on this way.
    Value::object(outputs.into_iter().map(|(name, value)| (name, value.to_plain().into())))
}

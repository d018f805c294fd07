//! States of stacks, read side by side. What cannot be read is told of its stack, and the others go on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use entail::backend::Snapshots;
use entail::backend::local::Choice;
use entail::backend::{registry, workspace};
use entail::diagnostic::{Diagnostic, Diagnostics, Sources};
use entail::operation::backends::likely;
use entail::operation::session::root_place;
use entail::request::{Request, VariableSource};
use entail::state::State;
use entail::world::{Given, World};
use parking_lot::Mutex;

use crate::stacks::{Place, Stack};

/// The stack of a thread that reads: as much as the tallest tree of a document needs.
const ROOM: usize = 64 << 20;

/// Returns how many stacks are read at a time.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 16)
}

/// Does work for each of many, a bounded number at a time; results stand in the order of the items.
///
/// # Errors
///
/// If the system refuses the threads.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Diagnostics> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|it| (at, it))
        } {
            let result = work(item);
            results.lock().push((at, result));
        }
    };
    std::thread::scope(|scope| {
        let count = threads.min(items.len()).max(1);
        let begun: Result<Vec<_>, _> = (0..count)
            .map(|_| std::thread::Builder::new().stack_size(ROOM).spawn_scoped(scope, run))
            .collect();
        begun.map(drop).map_err(|why| no_threads(&why))
    })?;
    let mut results = results.into_inner();
    results.sort_by_key(|it| it.0);
    Ok(results.into_iter().map(|it| it.1).collect())
}

/// Returns the world of a stack: its folder, and the variables that `fleet.hcl` gives.
pub fn world_of(world: &Arc<World>, stack: &Stack) -> Arc<World> {
    match &stack.place {
        Place::State { .. } => world.clone(),
        Place::Module { folder, .. } => {
            let (root, cwd) = (folder.clone(), folder.clone());
            let mut own = World { root, cwd, given: Given::default(), ..(**world).clone() };
            own.given.variables = variables(stack);
            Arc::new(own)
        }
    }
}

/// Returns the variables that `fleet.hcl` gives to a stack.
pub fn variables(stack: &Stack) -> Vec<VariableSource> {
    let Place::Module { variables, var_files, .. } = &stack.place else { return Vec::new() };
    let files = var_files.iter().map(|it| VariableSource::File(PathBuf::from(it)));
    let flags = variables.iter().map(|it| VariableSource::Flag(it.0.clone(), it.1.clone()));
    files.chain(flags).collect()
}

/// Returns what is asked of the configuration of a stack.
pub fn request(stack: &Stack) -> Request {
    Request { variables: variables(stack), ..Request::default() }
}

/// Returns where the state of a stack is kept, whatever was set up.
///
/// # Errors
///
/// If there is no telling.
pub fn open(world: &Arc<World>, stack: &Stack) -> Result<Snapshots, Diagnostics> {
    match &stack.place {
        Place::Module { .. } => {
            let sources = Sources::default();
            let root = root_place(world, &sources)?;
            let data = workspace::data_folder(world);
            let place = likely(&root, &Choice::default(), &data)?;
            Ok(place.backend(&workspace::selected(world)?))
        }
        Place::State { backend, config, workspace, .. } => {
            let kind = registry::kind(backend).ok_or_else(|| gone(&stack.name))?;
            let store = kind.open(world, config, &Choice::default())?;
            Ok(Snapshots::new(world.clone(), store, workspace, None))
        }
    }
}

/// Reads the state of a stack. A root module need not have one.
///
/// # Errors
///
/// If it cannot be read, or there is none where one should be.
pub fn state(world: &Arc<World>, stack: &Stack) -> Result<State, Diagnostics> {
    match open(world, stack)?.read()?.state {
        Some(state) => Ok(state),
        None if matches!(stack.place, Place::Module { .. }) => Ok(State::default()),
        None => Err(gone(&stack.name).into()),
    }
}

/// Returns what stands for the content of a file: its size and when it was changed last.
pub fn file_mark(file: &std::path::Path) -> Option<String> {
    let about = file.metadata().ok()?;
    let changed = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}:{}", about.len(), changed.as_nanos()))
}

/// Returns how many objects a state holds.
pub fn objects(state: &State) -> usize {
    state.resources.values().map(|it| it.instances.len()).sum()
}

/// Which stack has a lineage first: two states of one history are one stack that is named twice.
#[derive(Debug, Default)]
pub struct Lineages(BTreeMap<String, String>);

impl Lineages {
    /// Takes the lineage of a stack.
    ///
    /// # Errors
    ///
    /// If another stack has it.
    pub fn take(&mut self, lineage: &str, stack: &str) -> Result<(), Diagnostics> {
        if lineage.is_empty() {
            return Ok(());
        }
        match self.0.get(lineage) {
            Some(first) if first != stack => Err(same_lineage(stack, first, lineage).into()),
            Some(_) => Ok(()),
            None => {
                self.0.insert(lineage.to_owned(), stack.to_owned());
                Ok(())
            }
        }
    }
}

/// Returns the first problem in a line, as lists and documents have it.
pub fn in_a_line(problems: &Diagnostics) -> String {
    let first = problems.iter().find(|it| it.is_error()).or_else(|| problems.iter().next());
    let Some(it) = first else { return "it cannot be read".to_owned() };
    let detail = it.detail.split_whitespace().collect::<Vec<_>>().join(" ");
    match detail.is_empty() {
        true => it.summary.clone(),
        false => format!("{}: {detail}", it.summary),
    }
}

fn same_lineage(stack: &str, first: &str, lineage: &str) -> Diagnostic {
    Diagnostic::error("Two stacks with one lineage").detail(format!(
        "The state of `{stack}` has the lineage {lineage}, and so has that of `{first}`: one is a copy of the other. Name one of the two in fleet.hcl, or give the copy a lineage of its own."
    ))
}

fn gone(stack: &str) -> Diagnostic {
    Diagnostic::error("No state")
        .detail(format!("There is no state where fleet.hcl says that of `{stack}` is."))
}

fn no_threads(why: &std::io::Error) -> Diagnostics {
    Diagnostic::error("Cannot start working")
        .detail(format!("The system refuses a thread: {why}. See \"ulimit -u\" and \"ulimit -v\"."))
        .into()
}

//! Commands that need the whole house: a session is opened, one operation runs, one view shows it.

use std::sync::Arc;

use entail::backend::{LockGuard, Snapshot};
use entail::diagnostic::{Diagnostic, Diagnostics, Sources};
use entail::observe::pool::Pool;
use entail::observe::supply::Supply;
use entail::operation::session::Session;
use entail::operation::variables;
use entail::request::Request;
use entail::state::State;
use entail::world::World;

use crate::arguments::groups::OutputArgs;
use crate::arguments::request::StateOptions;
use crate::commands::store::take_lock;
use crate::interrupt::Listener;
use crate::ui::{Manner, Ui};
use crate::view::plan::Schemas;

pub mod applying;
pub mod console;
pub mod explaining;
pub mod formatting;
pub mod importing;
pub mod planning;
pub mod plugins;
pub mod preparing;
pub mod providers;
pub mod showing;
pub mod workspaces;

/// The stack that evaluation and planning may need: chains of values recurse as deep as they are long.
const STACK: usize = 1 << 30;

/// How many threads an undertaking takes: workers of the runtime, those that wait for files, that of plugins, and a few more.
const THREADS: usize = 12;

/// Sees whether the system gives that many threads: the runtime takes a refusal for a fault of the program.
fn probe() -> std::io::Result<()> {
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    std::thread::scope(|scope| {
        // All wait until the last is there, or none more can be had.
        let hold = hold;
        let wait = || drop(held.lock().map(|it| it.recv()));
        let started: std::io::Result<Vec<_>> = (0..THREADS)
            .map(|_| std::thread::Builder::new().stack_size(1 << 16).spawn_scoped(scope, wait))
            .collect();
        drop(hold);
        started.map(drop)
    })
}

/// Runs an undertaking where there is room for it, on a runtime of its own.
pub fn with_room<T: Send>(
    work: impl FnOnce(&tokio::runtime::Runtime) -> T + Send,
) -> Result<T, Diagnostics> {
    probe().map_err(|it| no_room(&it))?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|it| no_room(&it))?;
    std::thread::scope(|scope| {
        let worker =
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || work(&runtime));
        let worker = worker.map_err(|it| no_room(&it))?;
        worker.join().map_err(|cause| std::panic::resume_unwind(cause))
    })
}

/// Like [`with_room`], for work that an interrupt ends in good order.
pub fn with_interrupts<T: Send>(
    ui: &Ui,
    work: impl FnOnce(&tokio::runtime::Runtime) -> T + Send,
) -> Result<T, Diagnostics> {
    with_room(|runtime| {
        let over = tokio::sync::Notify::new();
        std::thread::scope(|scope| {
            let listener = Listener::new(runtime);
            let over = &over;
            // Without a thread nobody listens, and an interrupt ends the process as it would any other.
            let _ = std::thread::Builder::new().spawn_scoped(scope, move || {
                listener.map(|it| runtime.block_on(it.listen(ui, over)))
            });
            let ended = Ended(over);
            let result = work(runtime);
            drop(ended);
            result
        })
    })
}

/// Tells the listener that the work is over, even where it ended in a panic.
struct Ended<'a>(&'a tokio::sync::Notify);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Waits for work that leaves nothing behind, unless the user wants it to stop.
pub async fn unless_interrupted<T>(
    ui: &Ui,
    work: impl Future<Output = Result<T, Diagnostics>>,
) -> Result<T, Diagnostics> {
    tokio::select! {
        biased;
        () = ui.interrupts.stop.wait_for(1) => Err(Diagnostic::error("execution halted").into()),
        result = work => result,
    }
}

fn no_room(error: &std::io::Error) -> Diagnostics {
    Diagnostic::error("Cannot start working")
        .detail(format!(
            "The system refuses a thread, or room for its stack: {error}. About {THREADS} threads are needed, and {} MiB of address space for the largest stack; see \"ulimit -u\" and \"ulimit -v\".",
            STACK >> 20
        ))
        .into()
}

/// Sets how the command speaks.
pub fn begin(ui: &mut Ui, output: &OutputArgs, show_sensitive: bool) -> Result<(), Diagnostics> {
    let OutputArgs { messages, input } = output;
    let manner = Manner { json: messages.json, show_sensitive, silent: !input };
    Ok(ui.begin(manner, messages.json_into.as_deref())?)
}

/// Opens the folder to plan in it: its plugins start while the configuration is read, as many at a time as calls may run.
pub fn open_to_plan(
    ui: &Ui,
    world: &Arc<World>,
    state: &StateOptions,
    request: &Request,
) -> Result<Session, Diagnostics> {
    open(ui, world, state, Supply::begin(world, &ui.sources, request.parallelism))
}

/// Opens the folder. What its configuration is warned of is told with the plan; the state is read by [`read_state`].
pub fn open(
    ui: &Ui,
    world: &Arc<World>,
    state: &StateOptions,
    supply: Supply,
) -> Result<Session, Diagnostics> {
    let supply = Arc::new(supply);
    let open =
        || Session::open_with(world.clone(), ui.sources.clone(), &state.files, supply.clone());
    asking(ui, world, open)
}

/// Does what may need variables before there is a plan; asks for those that nobody gives, and does it again.
pub fn asking<T>(
    ui: &Ui,
    world: &World,
    work: impl Fn() -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    loop {
        let result = work();
        let wanted = world.given.take_wanted();
        if result.is_ok() || wanted.is_empty() || !ui.may_ask() {
            return result;
        }
        for name in wanted {
            match ui.variable(&name, None, false) {
                Some(text) => world.given.answer(&name, text),
                None => return result,
            }
        }
    }
}

/// Returns the root variables, asking for those that need a value and have none.
pub fn root_variables(
    ui: &Ui,
    session: &Session,
    request: &Request,
) -> Result<variables::RootVariables, Diagnostics> {
    let (mut inputs, missing, problems) = session.given_variables(request);
    if problems.has_errors() {
        return Err(problems);
    }
    ui.diagnostics(problems);
    let mut unset = Diagnostics::new();
    for name in missing {
        let variable = &session.config.root().variables[&name];
        match ui.variable(&name, variable.description.as_deref(), variable.sensitive) {
            Some(text) => drop(
                inputs.insert(name, variables::read_answer(variable, &text, &session.sources)?),
            ),
            None => unset.push(not_set(&name).at(variable.declared)),
        }
    }
    if unset.has_errors() { Err(unset) } else { session.variables(&inputs) }
}

/// A root variable needs a value, and nobody gives one.
fn not_set(name: &str) -> Diagnostic {
    Diagnostic::error("No value for required variable").detail(format!(
        "The root module input variable \"{name}\" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable."
    ))
}

/// Takes the lock of a session's state.
pub fn lock<'a>(
    ui: &Ui,
    session: &'a Session,
    state: &StateOptions,
    operation: &str,
) -> Result<LockGuard<'a>, Diagnostics> {
    take_lock(ui, &session.world, &session.backend, state.lock, operation)
}

/// Reads the latest snapshot; its warnings are printed.
pub fn read_state(ui: &Ui, session: &Session) -> Result<Snapshot, Diagnostics> {
    let mut snapshot = session.snapshot()?;
    let warnings = std::mem::take(&mut snapshot.warnings);
    ui.diagnostics(warnings);
    Ok(snapshot)
}

/// Returns what the providers of a state's objects announce; what cannot be had is left out.
pub fn schemas_of(world: &Arc<World>, state: &State) -> Result<Schemas, Diagnostics> {
    let needed: Vec<_> = state.resources.values().map(|it| it.provider.provider.clone()).collect();
    let supply = Supply::of(world, &Sources::default());
    with_room(|runtime| schemas(&runtime.block_on(Pool::schemas_only(&supply, needed)).0))
}

/// Returns what every provider of a run announces.
pub fn schemas(pool: &Pool) -> Schemas {
    pool.schemas().map(|(address, schema)| (address.clone(), schema.clone())).collect()
}

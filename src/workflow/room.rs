//! The thread and the runtime that a workflow runs on.

use tokio::runtime::{Builder, Runtime};

use crate::diagnostic::{Diagnostic, Diagnostics};

/// The stack that evaluation and planning may need: chains of values recurse as deep as they are long.
const STACK: usize = 1 << 30;

/// How many threads a workflow takes: workers of the runtime, those that wait for files, that of plugins, and a few more.
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

/// Runs work where there is room for it, on a thread and a runtime of its own, and waits for it.
///
/// # Errors
///
/// If the system refuses a thread.
pub fn with_room<T: Send>(work: impl FnOnce(&Runtime) -> T + Send) -> Result<T, Diagnostics> {
    probe().map_err(|it| no_room(&it))?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|it| no_room(&it))?;
    std::thread::scope(|scope| {
        let worker =
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || work(&runtime));
        let worker = worker.map_err(|it| no_room(&it))?;
        worker.join().map_err(|cause| std::panic::resume_unwind(cause))
    })
}

fn no_room(error: &std::io::Error) -> Diagnostics {
    Diagnostic::error("Cannot start working")
        .detail(format!(
            "The system refuses a thread, or room for its stack: {error}. About {THREADS} threads are needed, and {} MiB of address space for the largest stack; see \"ulimit -u\" and \"ulimit -v\".",
            STACK >> 20
        ))
        .into()
}

//! The thread and the runtime that a workflow runs on.

use tokio::runtime::{Builder, Runtime};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::threads::{self, THREADS};

/// The stack of a workflow, in bytes. Whatever recurses as deep as chains of values are long takes more where it needs it; this is
/// for walking trees of bounded height.
const STACK: usize = 64 << 20;

/// Runs work where there is room for it, on a thread and a runtime of its own, and waits for it.
///
/// # Errors
///
/// If the system refuses a thread.
pub fn with_room<T: Send>(work: impl FnOnce(&Runtime) -> T + Send) -> Result<T, Diagnostics> {
    threads::probe().and_then(|()| threads::probe_descriptors()).map_err(|it| no_room(&it))?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|it| no_room(&it))?;
    let span = tracing::Span::current();
    std::thread::scope(|scope| {
        let work = || span.in_scope(|| work(&runtime));
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let worker = worker.map_err(|it| no_room(&it))?;
        worker.join().map_err(|cause| std::panic::resume_unwind(cause))
    })
}

fn no_room(error: &std::io::Error) -> Diagnostics {
    Diagnostic::error("Cannot start working")
        .detail(format!(
            "The system refuses a thread, room for its stack, or a descriptor: {error}. About {THREADS} threads are needed, {} MiB of address space for the largest stack, and some 30 descriptors; see \"ulimit -u\", \"ulimit -v\" and \"ulimit -n\".",
            STACK >> 20
        ))
        .into()
}

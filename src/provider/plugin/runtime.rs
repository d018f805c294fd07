//! The thread on which everything that has to do with plugin processes runs.
//!
//! It lives as long as the program. A child that is to die with its parent dies with the *thread* that started it, so
//! plugins must not be started from a thread that may end before. Because it is a runtime of its own, calls can be
//! awaited from any other, waited for without one, and go on when nobody waits any more: a provider is not
//! interrupted in the middle of a change because the answer is not wanted.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle};

use crate::error::{Error, ErrorContext};

/// Returns the runtime of plugins; the first call starts it.
///
/// # Errors
///
/// If the system gives no thread.
pub(super) fn handle() -> Result<&'static Handle, Error> {
    static HANDLE: OnceLock<Result<Handle, Error>> = OnceLock::new();
    HANDLE.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<Handle, Error> {
    let runtime =
        Builder::new_current_thread().enable_all().build().context("plugins cannot be run")?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new()
        .name("plugins".into())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))
        .context("plugins cannot be run")?;
    Ok(handle)
}

/// How long the end of the program waits for what is left to do.
const GRACE: Duration = Duration::from_secs(6);

/// What tells that something left to do is done.
static LEFT: Mutex<Vec<Receiver<()>>> = Mutex::new(Vec::new());

/// Does something for which nobody waits, but which is to be done before the program ends.
pub(super) fn finally(work: impl Future<Output = ()> + Send + 'static) {
    let Ok(handle) = handle() else { return };
    let (done, wait) = channel();
    LEFT.lock().push(wait);
    handle.spawn(async move {
        work.await;
        // Perhaps nobody waits any more.
        let _ = done.send(());
    });
}

/// Waits until every plugin that is no longer used has ended, and everything to be remembered is written.
pub fn wait_for_plugins() {
    let left = std::mem::take(&mut *LEFT.lock());
    for wait in left {
        // One that hangs is left behind; it dies with this process.
        let _ = wait.recv_timeout(GRACE);
    }
}

//! Locks: who holds one, waiting for one, and giving it back.

use std::time::{Duration, Instant};

pub use super::lock_info::{LockInfo, LockProblem, LockState, NotUnlocked};

use super::snapshots::Snapshots;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::PRODUCT;

/// A lock that is held; dropping it gives it back.
pub struct LockGuard<'a> {
    backend: Option<&'a Snapshots>,
}

impl std::fmt::Debug for LockGuard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LockGuard")
    }
}

impl LockGuard<'_> {
    /// Returns a guard of nothing, for `-lock=false`.
    pub fn none() -> LockGuard<'static> {
        LockGuard { backend: None }
    }

    /// Gives the lock back and says if that failed.
    pub fn release(mut self) -> Result<(), Diagnostics> {
        let Some(backend) = self.backend.take() else { return Ok(()) };
        backend.unlock().map_err(|problem| releasing_failed(&problem.to_string()).into())
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        if let Some(backend) = self.backend.take() {
            // Whoever wants to hear of a failure calls `release`.
            let _ = backend.unlock();
        }
    }
}

pub(super) fn acquire<'a>(
    backend: &'a Snapshots,
    info: &LockInfo,
    timeout: Duration,
    waiting: &mut dyn FnMut(Duration) -> bool,
) -> Result<LockGuard<'a>, Diagnostics> {
    const TICK: Duration = Duration::from_millis(100);
    let start = Instant::now();
    // A run that was stopped before it began waits for nothing.
    if backend.is_stopped() {
        return Err(Diagnostic::error("execution halted").into());
    }
    loop {
        let problem = match backend.lock(info) {
            Ok(()) => return Ok(LockGuard { backend: Some(backend) }),
            Err(problem) => problem,
        };
        let passed = start.elapsed();
        let is_held = !matches!(problem, LockProblem::Failed(_));
        let is_worth_waiting = is_held && passed < timeout && !backend.is_stopped();
        if !is_worth_waiting || !waiting(passed) {
            return Err(not_acquired(&problem).into());
        }
        std::thread::sleep(TICK.min(timeout.saturating_sub(passed)));
    }
}

/// Someone else holds the lock, or it cannot be taken.
pub fn not_acquired(problem: &LockProblem) -> Diagnostic {
    Diagnostic::error("Error acquiring the state lock").detail(format!(
        "Error message: {problem}\n\n\
         {PRODUCT} acquires a state lock to protect the state from being written\n\
         by multiple users at the same time. Please resolve the issue above and try\n\
         again. For most commands, you can disable locking with the \"-lock=false\"\n\
         flag, but this is not recommended."
    ))
}

/// The lock could not be given back.
fn releasing_failed(why: &str) -> Diagnostic {
    Diagnostic::error("Error releasing the state lock").detail(format!(
        "Error message: {why}\n\n\
         The state may still count as locked. If later commands find it held although nobody uses it,\n\
         \"force-unlock\" removes the lock."
    ))
}

//! The state that commands on it work with: opened, locked, read, written.

use std::sync::Arc;

use entail::backend::local::{Choice, Local};
use entail::backend::{Backend, LockGuard, LockInfo, acquire};
use entail::diagnostic::Diagnostics;
use entail::operation::session::open_backend;
use entail::state::State;
use entail::world::World;

use crate::arguments::request::LockOptions;
use crate::ui::Ui;

/// An open place of states.
pub struct Store {
    backend: Local,
    world: Arc<World>,
}

impl Store {
    /// Opens the state of the selected workspace, where flags and the `backend` block say that it is.
    pub fn open(ui: &Ui, world: &Arc<World>, files: &Choice) -> Result<Store, Diagnostics> {
        Ok(Store { backend: open_backend(world, &ui.sources, files)?, world: world.clone() })
    }

    /// Reads the state; nothing where none was ever written. Warnings are printed.
    pub fn read(&self, ui: &Ui) -> Result<Option<State>, Diagnostics> {
        let snapshot = self.backend.read()?;
        ui.diagnostics(snapshot.warnings);
        Ok(snapshot.state)
    }

    /// Takes the lock, and says so where that takes long.
    pub fn lock(
        &self,
        ui: &Ui,
        lock: LockOptions,
        operation: &str,
    ) -> Result<LockGuard<'_>, Diagnostics> {
        take_lock(ui, &self.world, &self.backend, lock, operation)
    }

    /// Reads, changes and writes the state under its lock. Returns what `change` has to tell, once it is safe.
    pub fn change(
        &self,
        ui: &Ui,
        lock: LockOptions,
        operation: &str,
        change: impl FnOnce(&mut State) -> Result<Vec<String>, Diagnostics>,
    ) -> Result<Vec<String>, Diagnostics> {
        let guard = self.lock(ui, lock, operation)?;
        let mut state = self.read(ui)?.ok_or_else(no_state)?;
        let lines = change(&mut state)?;
        self.backend.write(&state)?;
        guard.release()?;
        Ok(lines)
    }

    /// Returns the place itself.
    pub fn backend(&self) -> &dyn Backend {
        &self.backend
    }
}

/// Takes the lock of a state, and says so where that takes long.
pub fn take_lock<'a>(
    ui: &Ui,
    world: &World,
    backend: &'a dyn Backend,
    lock: LockOptions,
    operation: &str,
) -> Result<LockGuard<'a>, Diagnostics> {
    if !lock.enabled {
        return Ok(LockGuard::none());
    }
    let mut has_said = false;
    let mut waiting = |passed: std::time::Duration| {
        if !has_said && passed.as_millis() >= 400 {
            has_said = true;
            ui.say("Acquiring state lock. This may take a few moments...\n");
        }
        ui.interrupts.stop.asked() == 0
    };
    acquire(backend, &LockInfo::new(world, operation), lock.timeout, &mut waiting)
}

/// There is no state.
pub fn no_state() -> Diagnostics {
    entail::operation::state_commands::no_state().into()
}

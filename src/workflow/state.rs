//! Commands on the state alone: `state …`, `taint`, `untaint`. It is opened, locked, read, changed, written.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use super::host::Host;
use super::open;
use super::options::{LockOptions, StateOptions};
use crate::address::target::Target;
use crate::address::{Instance, Mode, Provider};
use crate::backend::local::Choice;
use crate::backend::seal::Seals;
use crate::backend::{LockGuard, Recover, Snapshots};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::operation::session::open_backend;
use crate::operation::state_commands::{self as operation, Run, no_state};
use crate::state::State;
use crate::value::text::shown;
use crate::world::World;

/// An open place of states.
pub struct OpenState {
    backend: Snapshots,
}

impl OpenState {
    /// Opens the state of the selected workspace, where options and the `backend` block say that it is.
    ///
    /// # Errors
    ///
    /// If the `backend` block cannot be read or needs `init` first.
    pub fn open(host: &Host<'_>, files: &Choice) -> Result<OpenState, Diagnostics> {
        Ok(OpenState { backend: open_backend(host.world, host.sources, files)? })
    }

    /// Reads the state; nothing where none was ever written. Warnings are told.
    ///
    /// # Errors
    ///
    /// If what lies there is no state.
    pub fn read(&self, host: &Host<'_>) -> Result<Option<State>, Diagnostics> {
        let snapshot = self.backend.read()?;
        host.tell.problems(snapshot.warnings);
        Ok(snapshot.state)
    }

    /// Takes the lock. Where that takes long it is told, once.
    ///
    /// # Errors
    ///
    /// If it is held for longer than it is waited for.
    pub fn lock(
        &self,
        host: &Host<'_>,
        lock: LockOptions,
        operation: &str,
    ) -> Result<LockGuard<'_>, Diagnostics> {
        open::lock(host, &self.backend, lock, operation)
    }

    /// Reads, changes and writes the state under its lock. Returns what `change` has to tell, once it is safe.
    ///
    /// # Errors
    ///
    /// If there is no state, or one of the steps fails.
    pub fn change(
        &self,
        host: &Host<'_>,
        lock: LockOptions,
        operation: &str,
        change: impl FnOnce(&mut State) -> Result<Vec<String>, Diagnostics>,
    ) -> Result<Vec<String>, Diagnostics> {
        let guard = self.lock(host, lock, operation)?;
        let mut state = self.read(host)?.ok_or_else(no_state)?;
        let lines = change(&mut state)?;
        self.backend.write(&state)?;
        host.tell.problems(self.backend.take_warnings());
        guard.release()?;
        Ok(lines)
    }

    /// Returns the place itself.
    pub fn backend(&self) -> &Snapshots {
        &self.backend
    }
}

/// Each command that moves things keeps the state before it in a file of its own.
pub fn dated(world: &Arc<World>, choice: &Choice) -> Choice {
    Choice { dated: Some(world.now().timestamp()), ..choice.clone() }
}

/// Gives something another address, in the same state or, where options name another file to write to, in that one.
/// Returns the lines that say what was done.
///
/// - `backup_out`: where the other state is kept as it was.
///
/// # Errors
///
/// If the move makes no sense, or a state cannot be read or written.
pub fn mv(
    host: &Host<'_>,
    options: &StateOptions,
    backup_out: Option<PathBuf>,
    (addresses, run): ((&Target, &Target), Run),
) -> Result<Vec<String>, Diagnostics> {
    // Another file to write to is another state, which the objects move into.
    let other = options.files.state_out.clone().map(|file| {
        let recover = options.files.recover;
        let files = Choice { state: Some(file), backup: backup_out, recover, ..Choice::default() };
        OpenState::open(host, &dated(host.world, &files))
    });
    let files = Choice { state_out: None, ..options.files.clone() };
    let store = OpenState::open(host, &dated(host.world, &files))?;
    let Some(other) = other.transpose()? else {
        return store.change(host, options.lock, "state-mv", |state| {
            operation::mv(state, None, addresses, run)
        });
    };
    let guard = other.lock(host, options.lock, "state-mv")?;
    let mut there = other.read(host)?.unwrap_or_default();
    let lines = store.change(host, options.lock, "state-mv", |state| {
        let lines = operation::mv(state, Some(&mut there), addresses, run)?;
        if run == Run::Real {
            // Written first: what is in both states is not lost.
            other.backend().write(&there)?;
            host.tell.problems(other.backend().take_warnings());
        }
        Ok(lines)
    })?;
    guard.release()?;
    Ok(lines)
}

/// Forgets what is named. Returns the lines that say what was done.
///
/// # Errors
///
/// If nothing is there to forget, or the state cannot be read or written.
pub fn remove(
    host: &Host<'_>,
    options: &StateOptions,
    targets: &[Target],
    run: Run,
) -> Result<Vec<String>, Diagnostics> {
    let store = OpenState::open(host, &dated(host.world, &options.files))?;
    store.change(host, options.lock, "state-rm", |state| operation::remove(state, targets, run))
}

/// Reads the text of a state that somebody gives.
pub type Given<'g> = dyn Fn() -> Result<Cow<'g, [u8]>, Diagnostics> + 'g;

/// Replaces the state of the selected workspace.
///
/// - `given`: reads what takes its place. It is asked twice: two large states, or their texts, are not held at once.
///
/// # Errors
///
/// If it has another lineage or is newer, unless `force` says otherwise.
pub fn push(
    host: &Host<'_>,
    (lock, recover): (LockOptions, Option<Recover>),
    (name, given): (&str, &Given<'_>),
    force: bool,
) -> Result<(), Diagnostics> {
    let store = OpenState::open(host, &Choice { recover, ..Choice::default() })?;
    let nothing = || Diagnostics::from(Diagnostic::error("It holds no state"));
    let read = || {
        let text = given()?;
        let new = Seals::of(host.world).read_given_state(&text);
        new.and_then(|it| it.ok_or_else(nothing)).map_err(|it| no_source(name, &it).into())
    };
    // What is wrong with it is told before anything is locked.
    read().map(drop)?;
    let guard = store.lock(host, lock, "state-push")?;
    store.backend().import(read, force)?;
    host.tell.problems(store.backend().take_warnings());
    guard.release()
}

/// Writes another provider source into every resource that has this one. Returns the lines that say what was done.
///
/// # Errors
///
/// If there is no state, or it cannot be read or written.
pub fn replace_provider(
    host: &Host<'_>,
    store: &OpenState,
    lock: LockOptions,
    (from, to): (&Provider, &Provider),
) -> Result<Vec<String>, Diagnostics> {
    store.change(host, lock, "state-replace-provider", |state| {
        let number = operation::replace_provider(state, from, to);
        Ok(vec![format!("Successfully replaced provider for {number} resources.")])
    })
}

/// A mark on an object that says whether it is to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is to be replaced.
    Taint,
    /// It is not.
    Untaint,
}

impl Mark {
    /// Returns the name of the command that sets it.
    pub fn command(self) -> &'static str {
        match self {
            Mark::Taint => "taint",
            Mark::Untaint => "untaint",
        }
    }

    fn set(self, state: &mut State, address: &Instance) -> Result<String, Diagnostic> {
        match self {
            Mark::Taint => operation::taint(state, address),
            Mark::Untaint => operation::untaint(state, address),
        }
    }
}

/// Sets the mark of an object, or takes it off. Returns the lines that say what was done.
///
/// - `allow_missing`: whether an object that is not there is a warning only.
///
/// # Errors
///
/// If the object cannot bear the mark, or the state cannot be read or written.
pub fn mark(
    host: &Host<'_>,
    options: &StateOptions,
    (address, mark): (&Instance, Mark),
    allow_missing: bool,
) -> Result<Vec<String>, Diagnostics> {
    if address.resource.mode != Mode::Managed {
        return Err(Diagnostic::error("Invalid resource address")
            .detail(format!("Resource instance {address} cannot be tainted"))
            .into());
    }
    let store = OpenState::open(host, &options.files)?;
    let is_missing = |state: &State| state.instance(address).is_none_or(|it| it.current.is_none());
    if allow_missing && store.read(host)?.is_none_or(|it| is_missing(&it)) {
        host.tell.problems(operation::missing_is_allowed(address).into());
        return Ok(Vec::new());
    }
    if store.read(host)?.is_none() {
        // Without a state there is no such instance either.
        mark.set(&mut State::default(), address)?;
    }
    store.change(host, options.lock, mark.command(), |it| Ok(vec![mark.set(it, address)?]))
}

/// What was given is no state.
fn no_source(file: &str, problems: &Diagnostics) -> Diagnostic {
    let why: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Diagnostic::error(format!("Failed to read source state {}", shown(file))).detail(why.join("\n"))
}

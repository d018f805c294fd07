//! `workspace …`: states of one configuration are made, chosen and removed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::backends::Place;
use super::session::open_place;
use crate::address::Mode;
use crate::backend::seal::Seals;
use crate::backend::{LockGuard, LockInfo, Snapshots, acquire, workspace};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, system_words};
use crate::state::State;
use crate::world::World;

/// What became of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceChange {
    /// It is new, and selected.
    Created,
    /// It is selected.
    Selected,
    /// It was selected already.
    Same,
    /// It is gone.
    Deleted,
    /// It is gone, and there were objects in it.
    DeletedWithObjects,
}

/// Lists the workspaces, and returns the selected one beside them.
pub fn list(world: &Arc<World>, sources: &Sources) -> Result<(Vec<String>, String), Diagnostics> {
    let place = open_place(world, sources)?;
    Ok((place.workspaces()?, workspace::selected(world)?))
}

/// A state file that a new workspace begins with, and how long its lock is waited for; `None` takes none.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The file.
    pub file: &'a Path,
    /// How long.
    pub lock: Option<Duration>,
}

/// Makes a workspace and selects it. One that is given a state is filled before it is selected: a run that came in between would
/// make everything again.
///
/// # Errors
///
/// If its name cannot be one, or is one already, another is selected by the environment, or what is given is no state.
pub fn create(
    world: &Arc<World>,
    sources: &Sources,
    name: &str,
    given: Option<Given<'_>>,
) -> Result<WorkspaceChange, Diagnostics> {
    if !workspace::is_valid_name(name) {
        return Err(invalid_name(name).into());
    }
    if workspace::is_overridden(world) && workspace::selected(world)? != name {
        return Err(overridden(
            "The workspace is overridden using the TF_WORKSPACE environment variable",
            "To create a new workspace, either unset this environment variable or update it to match the workspace name you are trying to create, and then run this command again.",
        )
        .into());
    }
    let place = open_place(world, sources)?;
    if place.workspaces()?.iter().any(|it| it == name) {
        return Err(Diagnostic::error(format!("Workspace {name:?} already exists"))
            .detail("A workspace having the given name already exists")
            .into());
    }
    let Some(given) = given else { return make(world, &place, name) };
    let state = given_state(world, given.file)?;
    made(&place, name)?;
    let backend = place.backend(name);
    let guard = locked(world, &backend, given.lock, "workspace-new")?;
    backend.import(|| Ok(&state), true)?;
    drop(guard);
    choose(world, name)?;
    Ok(WorkspaceChange::Created)
}

fn make(world: &World, place: &Place, name: &str) -> Result<WorkspaceChange, Diagnostics> {
    made(place, name)?;
    choose(world, name)?;
    Ok(WorkspaceChange::Created)
}

fn made(place: &Place, name: &str) -> Result<(), Diagnostics> {
    place.create(name)
}

fn choose(world: &World, name: &str) -> Result<(), Diagnostic> {
    workspace::select(world, name).map_err(|it| {
        Diagnostic::error("Error selecting the new workspace")
            .detail(format!("Failed selecting the new workspace {name}: {it}"))
    })
}

/// Reads the state that a new workspace is given.
fn given_state(world: &World, file: &Path) -> Result<State, Diagnostics> {
    let problem = |summary: &str, detail: String| Diagnostic::error(summary).detail(detail);
    let shown = file.display().to_string();
    let bytes = world.files.read(&world.root.join(file)).map_err(|it| {
        let detail = format!(
            "Failed opening the given state {shown:?}: open {shown}: {}",
            system_words(&it)
        );
        problem("Error opening the given state", detail)
    })?;
    let unreadable = |why: &str| {
        let detail = format!("Failed reading the given state {shown:?}: {why}");
        problem("Error reading the given state", detail)
    };
    match Seals::of(world).read_given_state(&bytes) {
        Ok(Some(state)) => Ok(state),
        Ok(None) => Err(unreadable("no state").into()),
        Err(problems) => {
            let why = problems.iter().next().map(ToString::to_string).unwrap_or_default();
            Err(unreadable(&why).into())
        }
    }
}

/// Selects a workspace.
///
/// - `may_create`: makes it where it does not exist.
pub fn select(
    world: &Arc<World>,
    sources: &Sources,
    name: &str,
    may_create: bool,
) -> Result<WorkspaceChange, Diagnostics> {
    if workspace::is_overridden(world) {
        return Err(overridden(
            "The selected workspace is overridden using the TF_WORKSPACE environment variable",
            "To select a new workspace, either update this environment variable or unset it and then run this command again.",
        )
        .into());
    }
    let place = open_place(world, sources)?;
    if !workspace::is_valid_name(name) {
        return Err(invalid_name(name).into());
    }
    if workspace::selected(world)? == name {
        return Ok(WorkspaceChange::Same);
    }
    if !place.workspaces()?.iter().any(|it| it == name) {
        return if may_create { make(world, &place, name) } else { Err(unknown(name).into()) };
    }
    choose(world, name)?;
    Ok(WorkspaceChange::Selected)
}

/// Deletes a workspace.
///
/// - `force`: even if it has objects.
pub fn delete(
    world: &Arc<World>,
    sources: &Sources,
    name: &str,
    force: bool,
    lock: Option<Duration>,
) -> Result<WorkspaceChange, Diagnostics> {
    let place = open_place(world, sources)?;
    if !place.workspaces()?.iter().any(|it| it == name) {
        return Err(unknown(name).into());
    }
    if workspace::selected(world)? == name {
        return Err(Diagnostic::error(format!("Workspace {name:?} is your active workspace"))
            .detail("You cannot delete the currently active workspace. Please switch to another workspace and try again.")
            .into());
    }
    let backend = place.backend(name);
    let guard = locked(world, &backend, lock, "workspace-delete")?;
    let state = backend.read()?.state.unwrap_or_default();
    let objects = objects(&state);
    if !objects.is_empty() && !force {
        return Err(not_empty(name, &objects).into());
    }
    // A journal that was not read does not go with the rest.
    backend.journal()?;
    // The lock is held until there is nothing left to lock; its file goes with the folder.
    let deleted = place.delete(name);
    drop(guard);
    deleted.map_err(|why| {
        Diagnostic::error("Workspace deletion failed")
            .detail(format!("Failed to delete the given workspace: {why}"))
    })?;
    Ok(if objects.is_empty() {
        WorkspaceChange::Deleted
    } else {
        WorkspaceChange::DeletedWithObjects
    })
}

/// Names every object of a state, if any of them is managed.
fn objects(state: &State) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_managed = false;
    for (address, _, instance) in state.instances() {
        is_managed |= address.resource.mode == Mode::Managed;
        found.extend(instance.current.iter().map(|_| address.to_string()));
        let deposed = instance.deposed.keys();
        found.extend(deposed.map(|it| format!("{address} (deposed object {it})")));
    }
    if is_managed { found } else { Vec::new() }
}

fn locked<'a>(
    world: &World,
    backend: &'a Snapshots,
    lock: Option<Duration>,
    operation: &str,
) -> Result<LockGuard<'a>, Diagnostics> {
    match lock {
        None => Ok(LockGuard::none()),
        Some(timeout) => acquire(backend, &LockInfo::new(world, operation), timeout, &mut |_| true),
    }
}

fn overridden(summary: &str, detail: &str) -> Diagnostic {
    Diagnostic::error(summary).detail(detail)
}

fn invalid_name(name: &str) -> Diagnostic {
    Diagnostic::error("Invalid workspace name").detail(format!(
        "The workspace name {name:?} is not allowed. The name must contain only URL safe characters, and no path separators, and cannot be \".\" or \"..\"."
    ))
}

fn unknown(name: &str) -> Diagnostic {
    Diagnostic::error(format!("Workspace {name:?} doesn't exist")).detail(
        "You can create this workspace with the \"new\" subcommand \nor include the \"-or-create\" flag with the \"select\" subcommand.",
    )
}

fn not_empty(name: &str, objects: &[String]) -> Diagnostic {
    let list: String = objects.iter().map(|it| format!("\n  - {it}")).collect();
    Diagnostic::error("Workspace is not empty").detail(format!(
        "Workspace {name:?} is currently tracking the following resource instances:{list}\n\nWithout the workspace, nothing keeps track of these objects any more, and they would have to be deleted by other means. Destroy them before you delete the workspace.\n\nTo delete the workspace all the same, and forget these objects, use the -force option."
    ))
}

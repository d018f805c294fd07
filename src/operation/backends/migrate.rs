//! States are copied from one backend to another: one workspace or all of them, under both locks.

use std::sync::Arc;
use std::time::Duration;

use super::asking::{Asking, is_filled};
use super::{Place, problems};
use crate::backend::{LockGuard, LockInfo, Snapshots, acquire, workspace};
use crate::diagnostic::Diagnostics;
use crate::state::{self, State};
use crate::world::World;

/// From where to where, and how.
pub(super) struct Migration<'a> {
    pub from: &'a Place,
    pub to: &'a Place,
    pub world: &'a Arc<World>,
    pub force: bool,
    pub lock: Option<Duration>,
    pub asking: &'a dyn Asking,
}

/// Copies what there is to copy. Returns the workspaces whose states are in the new place now.
pub(super) fn migrate(migration: &Migration) -> Result<Vec<String>, Diagnostics> {
    let names = migration.from.all_workspaces()?;
    if let [only] = &names[..]
        && only == workspace::DEFAULT
    {
        return copied(migration, [(only.clone(), only.clone())], migration.force);
    }
    if !migration.to.store.has_workspaces() {
        return migrate_one(migration);
    }
    let (old, new) = (migration.from.kind, migration.to.kind);
    let question = format!("Do you want to migrate all workspaces to {new:?}?");
    let explanation = format!(
        "Both the existing {old:?} backend and the newly configured one have workspaces. All of\nthem are copied, under the same names, and what is there under these names is\noverwritten. To copy only some, pull and push their states one by one.\n\n\"yes\" copies all states, \"no\" stops here."
    );
    agree(migration, &question, &explanation)?;
    copied(migration, names.into_iter().map(|it| (it.clone(), it)), true)
}

/// Copies the selected workspace alone, as the default one: the new place has no other.
fn migrate_one(migration: &Migration) -> Result<Vec<String>, Diagnostics> {
    let (old, new) = (migration.from.kind, migration.to.kind);
    let selected = workspace::selected(migration.world)?;
    let question = format!(
        "Destination state {new:?} doesn't support workspaces.\nDo you want to copy only your current workspace?"
    );
    let explanation = format!(
        "The existing {old:?} backend has workspaces, and the newly configured {new:?} backend has\nthe default one alone. Only the state of the selected workspace ({selected}) is copied there.\nThe others stay where they are, and nothing is deleted.\n\n\"yes\" copies it, \"no\" stops here."
    );
    agree(migration, &question, &explanation)?;
    let done = copied(migration, [(selected, workspace::DEFAULT.to_owned())], migration.force)?;
    workspace::select(migration.world, workspace::DEFAULT)
        .map_err(|it| problems::not_selected(&it))?;
    Ok(done)
}

/// Asks whether to go on, unless the user has said so already.
fn agree(migration: &Migration, question: &str, explanation: &str) -> Result<(), Diagnostics> {
    match migration.force
        || migration.asking.ask(question, explanation).ok_or_else(problems::cannot_ask)?
    {
        true => Ok(()),
        false => Err(problems::aborted().into()),
    }
}

fn copied(
    migration: &Migration,
    names: impl IntoIterator<Item = (String, String)>,
    force: bool,
) -> Result<Vec<String>, Diagnostics> {
    let mut done = Vec::new();
    for (name, target) in names {
        if copy(migration, &name, &target, force)? {
            done.push(name);
        }
    }
    Ok(done)
}

/// Copies the state of one workspace, unless there is nothing to copy, or it is there already. Returns whether it is there now.
fn copy(
    migration: &Migration,
    name: &str,
    target_name: &str,
    force: bool,
) -> Result<bool, Diagnostics> {
    let (from, to) = (migration.from.backend(name), migration.to.backend(target_name));
    let found = from.read()?;
    if found.missing.is_some() {
        return Err(problems::source_is_gone(&from.name()).into());
    }
    let source = found.state;
    if !is_filled(source.as_ref()) {
        return Ok(false);
    }
    migration.to.create(target_name)?;
    if is_same(source.as_ref(), to.read()?.state.as_ref()) {
        // A migration that was killed has left its locks.
        migration.from.tidy(name);
        migration.to.tidy(target_name);
        return Ok(true);
    }
    let _source = lock(migration, &from, "migration source state")?;
    let _target = lock(migration, &to, "migration destination state")?;
    let Some(source) = from.read()?.state.filter(|it| !it.is_empty()) else { return Ok(false) };
    let target = to.read()?.state;
    if !force {
        let (old, new) = (migration.from.kind, migration.to.kind);
        let explanation = match is_filled(target.as_ref()) {
            false => format!(
                "A state was found while migrating the previous {old:?} backend to the newly configured\n{new:?} backend, which has none yet.\n\n\"yes\" copies the state, \"no\" starts with an empty one."
            ),
            true => format!(
                "A state was found while migrating the previous {old:?} backend to the newly configured\n{new:?} backend, which has a state of its own.\n\nPrevious: {}\nNew:      {}\n\n\"yes\" overwrites the new one with the previous one, \"no\" goes on with the new one.",
                from.name(),
                to.name()
            ),
        };
        let question = "Do you want to copy existing state to the new backend?";
        match migration.asking.ask(question, &explanation) {
            Some(true) => {}
            Some(false) => return Ok(false),
            None => return Err(problems::cannot_ask().into()),
        }
    }
    to.import(|| Ok(&source), true)?;
    Ok(true)
}

fn is_same(a: Option<&State>, b: Option<&State>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.lineage == b.lineage && state::is_same(a, b),
        _ => false,
    }
}

fn lock<'a>(
    migration: &Migration,
    backend: &'a Snapshots,
    operation: &str,
) -> Result<LockGuard<'a>, Diagnostics> {
    match migration.lock {
        None => Ok(LockGuard::none()),
        Some(timeout) => {
            acquire(backend, &LockInfo::new(migration.world, operation), timeout, &mut |_| true)
        }
    }
}

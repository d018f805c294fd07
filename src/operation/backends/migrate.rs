//! States are copied from one backend to another: one workspace or all of them, under both locks.

use std::sync::Arc;
use std::time::Duration;

use super::asking::{Asking, is_filled};
use super::{Place, problems};
use crate::backend::{LockGuard, LockInfo, Snapshots, acquire, workspace};
use crate::diagnostic::Diagnostics;
use crate::state::{State, write};
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

/// Copies what there is to copy.
pub(super) fn migrate(migration: &Migration) -> Result<(), Diagnostics> {
    let names = migration.from.workspaces()?;
    if let [only] = &names[..]
        && only == workspace::DEFAULT
    {
        return copy(migration, only, migration.force);
    }
    let (old, new) = (migration.from.kind, migration.to.kind);
    let question = format!("Do you want to migrate all workspaces to {new:?}?");
    let explanation = format!(
        "Both the existing {old:?} backend and the newly configured one have workspaces. All of\nthem are copied, under the same names, and what is there under these names is\noverwritten. To copy only some, pull and push their states one by one.\n\n\"yes\" copies all states, \"no\" stops here."
    );
    if !migration.force {
        match migration.asking.ask(&question, &explanation) {
            Some(true) => {}
            Some(false) => return Err(problems::aborted().into()),
            None => return Err(problems::cannot_ask().into()),
        }
    }
    names.iter().try_for_each(|name| copy(migration, name, true))
}

/// Copies the state of one workspace, unless there is nothing to copy, or it is there already.
fn copy(migration: &Migration, name: &str, force: bool) -> Result<(), Diagnostics> {
    let (from, to) = (migration.from.backend(name), migration.to.backend(name));
    let source = from.read()?.state;
    if !is_filled(source.as_ref()) {
        return Ok(());
    }
    let create = |it| problems::not_selected(&it);
    migration.to.create(name).map_err(create)?;
    if is_same(source.as_ref(), to.read()?.state.as_ref()) {
        // A migration that was killed has left its locks.
        migration.from.tidy(name);
        migration.to.tidy(name);
        return Ok(());
    }
    let _source = lock(migration, &from, "migration source state")?;
    let _target = lock(migration, &to, "migration destination state")?;
    let Some(source) = from.read()?.state.filter(|it| !it.is_empty()) else { return Ok(()) };
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
            Some(false) => return Ok(()),
            None => return Err(problems::cannot_ask().into()),
        }
    }
    to.import(&source, true)?;
    Ok(())
}

fn is_same(a: Option<&State>, b: Option<&State>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.lineage == b.lineage && write::is_same(a, b),
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

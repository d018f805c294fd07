//! Which backend a working directory has: what the configuration says beside what `init` has set up.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::local::Choice;
use crate::backend::local::Local;
use crate::backend::registry::{self, Kind};
use crate::backend::settings::{self, Settings};
use crate::backend::shape::{Arguments, Shape, Unfit};
use crate::backend::store::{Store, wait, wait_unless_stopped};
use crate::backend::workspace::DEFAULT;
use crate::backend::{LockGuard, LockInfo, Recover, Snapshot, Snapshots, acquire};
use crate::config::early::{StaticModule, settings as evaluated};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::state::State;
use crate::value::Value;
use crate::world::World;

mod asking;
mod init;
mod migrate;
mod overriding;
mod problems;
#[cfg(test)]
mod tests;

pub use asking::{Asking, Event};
pub use init::{Init, initialize};

/// What the configuration says of the backend, evaluated.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub kind: &'static Kind,
    pub arguments: Arguments,
    pub hash: u64,
}

/// Evaluates the backend block of the root module; nothing without one.
pub(super) fn declared(root: &StaticModule) -> Result<Option<Declared>, Diagnostics> {
    let Some(block) = &root.module().backend else { return Ok(None) };
    let given = evaluated::backend_arguments(root, block)?;
    let Some(kind) = check_kind(root, "Invalid backend type")? else { return Ok(None) };
    let mut problems = Diagnostics::new();
    let mut arguments = kind.unset();
    for it in given {
        let of_blocks = kind.settings.iter().find(|known| known.name == &*it.name.text);
        let of_blocks = of_blocks.map(|known| matches!(known.shape, Shape::Blocks(_)));
        if it.is_block && of_blocks != Some(true) {
            problems.push(problems::unsupported_block(&it.name, of_blocks.is_some()));
            continue;
        }
        let value = argument(kind, (&it.name.text, it.name.span), (&it.value, it.at));
        if let Some(value) = problems.take(value) {
            arguments.insert(it.name.text.to_string(), value);
        }
    }
    if problems.has_errors() {
        return Err(problems);
    }
    let hash = settings::hash(kind.name, &arguments);
    Ok(Some(Declared { kind, arguments, hash }))
}

/// Returns the kind and the arguments of the backend that the root module names; nothing where it names none.
///
/// # Errors
///
/// If they make no sense.
pub fn arguments(root: &StaticModule) -> Result<Option<(String, Arguments)>, Diagnostics> {
    Ok(declared(root)?.map(|it| (it.kind.name.to_owned(), it.arguments)))
}

/// Returns the kind of backend that the root module names; nothing where it names none.
///
/// # Errors
///
/// If there is no such kind: under `summary`.
fn check_kind(root: &StaticModule, summary: &str) -> Result<Option<&'static Kind>, Diagnostic> {
    let Some(block) = &root.module().backend else { return Ok(None) };
    let unsupported = || {
        Diagnostic::error(summary)
            .detail(registry::why_not(&block.kind.text))
            .at(block.kind.span)
            .within(block.declared)
    };
    registry::kind(&block.kind.text).map(Some).ok_or_else(unsupported)
}

/// Reads one argument.
fn argument(
    kind: &Kind,
    (name, named): (&str, Span),
    (value, at): (&Value, Span),
) -> Result<Value, Diagnostic> {
    kind.setting(name, value).map_err(|unfit| match unfit {
        Unfit::Unknown => problems::unsupported_argument(name, named),
        Unfit::Type(why) => problems::inappropriate(name, &why, at),
        Unfit::Empty(what) => problems::empty(name, what).at(at),
    })
}

/// Returns the backend that was set up, if the configuration still says the same.
///
/// # Errors
///
/// If `init` has to run first; the message says why.
pub fn set_up(root: &StaticModule, choice: &Choice, data: &Path) -> Result<Place, Diagnostics> {
    let world = &root.context().world;
    let declared = declared(root)?;
    let saved = settings::read(data)?;
    match (declared, saved) {
        (None, None) => Ok(Place::usual(world, choice)),
        (None, Some(saved)) => Err(problems::unset(&saved.kind).into()),
        (Some(declared), None) => Err(problems::initial(declared.kind.name).into()),
        (Some(declared), Some(saved)) => match is_unchanged(&declared, &saved) {
            true => Place::of(world, declared.kind, &saved.arguments, choice),
            false => {
                let because = variables(root);
                Err(problems::changed(&saved.kind, declared.kind.name, &because).into())
            }
        },
    }
}

/// Returns whether what is set up still is what the configuration says.
fn is_unchanged(declared: &Declared, saved: &Settings) -> bool {
    saved.kind == declared.kind.name
        && (saved.hash == declared.hash || saved.arguments == declared.arguments)
}

/// Says which variables decide the backend's arguments.
fn variables(root: &StaticModule) -> String {
    let Some(block) = &root.module().backend else { return String::new() };
    let mut found: Vec<String> = Vec::new();
    for it in &block.body.attributes {
        for (name, value) in root.decided_by(&it.value) {
            let text = format!("var.{name}, which is now {value}");
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found.join(", and on ")
}

/// Evaluates the backend's arguments and nothing else, so that a variable without a value is asked for.
///
/// # Errors
///
/// If one has no value; a backend that is not there is no error yet.
pub fn check_arguments(root: &StaticModule) -> Result<(), Diagnostics> {
    let Some(block) = &root.module().backend else { return Ok(()) };
    evaluated::backend_arguments(root, block).map(drop)
}

/// Returns the backend as far as it can be told, whatever `init` has set up: for commands that must not fail.
pub fn likely(root: &StaticModule, choice: &Choice, data: &Path) -> Result<Place, Diagnostics> {
    let world = &root.context().world;
    let Some(block) = &root.module().backend else { return Ok(Place::usual(world, choice)) };
    if let Some(saved) = settings::read(data).ok().flatten()
        && let Some(kind) = registry::kind(&saved.kind)
    {
        return Place::of(world, kind, &saved.arguments, choice);
    }
    if registry::kind(&block.kind.text).is_none() {
        return Ok(Place::usual(world, choice));
    }
    match declared(root)? {
        Some(declared) => Place::of(world, declared.kind, &declared.arguments, choice),
        None => Ok(Place::usual(world, choice)),
    }
}

/// A backend with all its workspaces.
#[derive(Clone, Debug)]
pub struct Place {
    world: Arc<World>,
    kind: &'static str,
    store: Arc<dyn Store>,
    recover: Option<Recover>,
    allows_missing: bool,
}

impl Place {
    /// Returns the place of states where no backend is configured: files in the working directory.
    pub fn usual(world: &Arc<World>, choice: &Choice) -> Place {
        let store = Arc::new(Local::new(world.clone(), choice.clone()));
        Place::with(world, "local", store, choice)
    }

    fn of(
        world: &Arc<World>,
        kind: &Kind,
        arguments: &Arguments,
        choice: &Choice,
    ) -> Result<Place, Diagnostics> {
        let store = kind.open(world, arguments, choice)?;
        Ok(Place::with(world, kind.name, store, choice))
    }

    fn with(
        world: &Arc<World>,
        kind: &'static str,
        store: Arc<dyn Store>,
        choice: &Choice,
    ) -> Place {
        let (recover, allows_missing) = (choice.recover, choice.allows_missing);
        Place { world: world.clone(), kind, store, recover, allows_missing }
    }

    /// Lists the workspaces, the default one first.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    pub fn workspaces(&self) -> Result<Vec<String>, Diagnostic> {
        wait_unless_stopped(&*self.store, &self.world.stop, self.store.list())
            .map_err(|it| problems::not_listed(&it))
    }

    /// Lists the workspaces as [`Place::workspaces`]; the default one alone where there can be no others.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    fn all_workspaces(&self) -> Result<Vec<String>, Diagnostic> {
        match self.store.has_workspaces() {
            true => self.workspaces(),
            false => Ok(vec![DEFAULT.to_owned()]),
        }
    }

    /// Returns the states of one workspace.
    pub fn backend(&self, workspace: &str) -> Snapshots {
        let snapshots =
            Snapshots::new(self.world.clone(), self.store.clone(), workspace, self.recover);
        let snapshots = snapshots.with_memory();
        if self.allows_missing {
            snapshots.allow_missing();
        }
        snapshots
    }

    /// Makes a workspace.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn create(&self, workspace: &str) -> Result<(), Diagnostics> {
        let failed = |why: &dyn std::fmt::Display| problems::not_created(workspace, why);
        wait(&*self.store, self.store.create(workspace)).map_err(|it| failed(&it))?;
        // Elsewhere than on this machine a workspace is there once it has a state, and others want one that can be read.
        let needs_state = workspace != DEFAULT || self.store.begins_with_state();
        if self.store.is_remote() && needs_state {
            let snapshots = self.backend(workspace);
            if workspace != DEFAULT {
                // It is made now, whatever was seen of one of its name.
                snapshots.allow_missing();
            }
            // The next command says that a state is gone, and asks.
            let is_absent = |it: &Snapshot| it.state.is_none() && it.missing.is_none();
            if is_absent(&snapshots.read()?) {
                let info = LockInfo::new(&self.world, "init");
                let guard = match self.store.guards_creation() {
                    true => acquire(&snapshots, &info, Duration::ZERO, &mut |_| true)?,
                    false => LockGuard::none(),
                };
                // Another process may have made it before the lock was taken.
                if is_absent(&snapshots.read()?) {
                    snapshots.write(&State::default()).map_err(Diagnostics::from)?;
                }
                drop(guard);
            }
        }
        Ok(())
    }

    /// Clears away what a process has left that died while it held a lock.
    fn tidy(&self, workspace: &str) {
        let tidied = async {
            self.store.tidy(workspace).await;
            std::io::Result::Ok(())
        };
        // What cannot be cleared away now is for whoever takes the lock next.
        let _ = wait(&*self.store, tidied);
    }

    /// Removes the states of a workspace.
    ///
    /// # Errors
    ///
    /// If they cannot be removed.
    pub fn delete(&self, workspace: &str) -> std::io::Result<()> {
        wait(&*self.store, self.store.delete(workspace))?;
        self.backend(workspace).forget();
        Ok(())
    }
}

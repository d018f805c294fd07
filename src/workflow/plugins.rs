//! `providers lock`, `providers mirror`, `providers schema`: the plugins of a configuration.

use std::path::Path;

use super::host::{Host, Schemas};
use super::open::schemas;
use super::with_room;
use crate::diagnostic::Diagnostics;
use crate::install::Requirements;
use crate::observe::pool::Pool;
use crate::operation::plugins as operation;
use crate::operation::plugins::{lock, mirror};
use crate::operation::session::{Readings, Session};

fn open(host: &Host<'_>, reads_state: bool) -> Result<Session, Diagnostics> {
    let (world, sources) = (host.world.clone(), host.sources.clone());
    Session::open_unchecked(world, sources, Readings::One, reads_state)
}

fn required(host: &Host<'_>) -> Result<Requirements, Diagnostics> {
    let (required, problems) = Requirements::of(&open(host, false)?.config);
    if problems.has_errors() { Err(problems) } else { Ok(required) }
}

/// Adds checksums to the lock file. Returns whether there were any to add; warnings are told.
///
/// # Errors
///
/// If a package cannot be had; the lock file is left as it was.
pub fn lock(
    host: &Host<'_>,
    choices: &lock::Choices,
    tell: &(dyn Fn(lock::Progress) + Sync),
) -> Result<bool, Diagnostics> {
    with_room(|runtime| {
        let required = required(host)?;
        let work = lock::lock(host.world, host.sources, &required, choices, tell);
        let (has_news, problems) = runtime.block_on(host.unless_stopped(work))?;
        host.tell.problems(problems);
        Ok(has_news)
    })?
}

/// Fills a folder with archives of plugins, for platforms given as `OS_ARCH`. Problems with one provider do not keep others
/// from it; all come back.
///
/// # Errors
///
/// If the configuration cannot be read or a platform is none.
pub fn mirror(
    host: &Host<'_>,
    platforms: &[String],
    folder: &Path,
    tell: &(dyn Fn(mirror::Progress) + Sync),
) -> Result<Diagnostics, Diagnostics> {
    let platforms = lock::platforms(platforms)?;
    with_room(|runtime| {
        let required = required(host)?;
        let work = mirror::mirror(host.world, host.sources, &required, &platforms, folder, tell);
        runtime.block_on(host.unless_stopped(async { Ok(work.await) }))
    })?
}

/// Returns what the providers of configuration and state accept and return. Warnings are told.
///
/// # Errors
///
/// If the configuration cannot be read, or a schema cannot be had.
pub fn describe(host: &Host<'_>) -> Result<Schemas, Diagnostics> {
    with_room(|runtime| {
        let session = open(host, true)?;
        let state = session.snapshot()?.state.unwrap_or_default();
        let (required, problems) = operation::required(&session, &state);
        if problems.has_errors() {
            return Err(problems);
        }
        let needed = required.0.into_keys();
        let (pool, problems) =
            runtime.block_on(Pool::schemas_only(&session.provider_sources, needed));
        if problems.has_errors() {
            return Err(problems);
        }
        host.tell.problems(problems);
        Ok(schemas(&pool))
    })?
}

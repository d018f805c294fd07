//! `import`: finds an object that exists and records it in the state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::host::Host;
use super::log::command;
use super::open::{lock, read_state, root_variables};
use super::options::StateOptions;
use super::with_room;
use crate::address::Instance;
use crate::config::files::config_files;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::operation::import::{self as operation, Refusal, check_target, wrong_mode};
use crate::operation::log;
use crate::operation::session::Session;
use crate::request::Request;
use crate::world::{PRODUCT, World};

/// What `import` is asked.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The instance that adopts the object.
    pub address: Instance,
    /// What the provider knows the object by.
    pub id: String,
    /// Variables and parallelism.
    pub request: Request,
    /// Where the state lies, and its lock.
    pub state: StateOptions,
    /// The folder of the configuration, where it is not the working directory.
    pub config: Option<PathBuf>,
}

/// What came of an import.
pub enum Imported {
    /// The object is recorded. Warnings are not told yet.
    Done(Diagnostics),
    /// No block declares the resource, which the module with this name should have. Nothing was done.
    NoBlock(String),
}

/// Finds an object and records it in the state.
///
/// # Errors
///
/// If there is no such object, or the instance cannot adopt it. Then the state stays as it is.
pub fn import(host: &Host<'_>, options: &ImportOptions) -> Result<Imported, Diagnostics> {
    if let Some(problem) = wrong_mode(&options.address) {
        return Err(problem.into());
    }
    with_room(|runtime| {
        let session = open(host, options)?;
        match check_target(&session.config, &options.address) {
            Ok(()) => {}
            Err(Refusal::Problem(problem)) => return Err(problem.into()),
            Err(Refusal::NoBlock(module)) => return Ok(Imported::NoBlock(module)),
        }
        let began = host.world.now();
        let adopts = Some((options.address.clone(), options.id.clone()));
        let request = Request { adopts, ..options.request.clone() };
        let guard = lock(host, &session.backend, options.state.lock, "import")?;
        let snapshot = read_state(host, &session)?;
        let variables = root_variables(host, &session, &request)?;
        let known = snapshot.state.unwrap_or_default();
        let work = operation::import(&session, &request, known, variables, host.tell);
        let imported = runtime.block_on(host.unless_stopped(work))?;
        let stored = session.backend.write(&imported.state)?;
        let serial = Some(stored.serial).filter(|_| stored.is_written);
        let origin = log::Origin {
            operation: "import",
            began,
            command: command(&session),
            workspace: &session.workspace,
            plan: None,
            recovered: snapshot.recovered,
            overridden: Vec::new(),
        };
        let run = origin.imported(host.world, &options.address, serial);
        let not_logged = log::append(&session.backend, &run).err();
        guard.release()?;
        let mut warnings = imported.warnings;
        warnings.extend(session.backend.take_warnings());
        warnings.extend(not_logged);
        warnings.extend(session.warnings.iter().cloned());
        Ok(Imported::Done(warnings))
    })?
}

/// Opens the folder of the configuration, which may be another one; the state is that of the working directory.
fn open(host: &Host<'_>, options: &ImportOptions) -> Result<Session, Diagnostics> {
    let (named, files) = (options.config.as_deref(), &options.state.files);
    let folder = host.world.root.join(named.unwrap_or(Path::new("")));
    let found = config_files(&host.world.files, &folder);
    if found.is_none_or(|it| it.is_empty()) {
        let shown = named.unwrap_or(Path::new("."));
        return Err(no_files(shown).into());
    }
    let Some(_) = named else {
        return Session::open(host.world.clone(), host.sources.clone(), files);
    };
    let elsewhere = Arc::new(World { root: folder, ..World::clone(host.world) });
    let mut session = Session::open(elsewhere, host.sources.clone(), files)?;
    session.keep_state_in(host.world, files);
    Ok(session)
}

fn no_files(folder: &Path) -> Diagnostic {
    Diagnostic::error(format!("No {PRODUCT} configuration files")).detail(format!(
        "The directory {} does not contain any {PRODUCT} configuration files (.tf or .tf.json). To specify a different configuration directory, use the -config=\"...\" command line option.",
        folder.display()
    ))
}

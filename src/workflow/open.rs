//! What workflows begin with: the folder is opened, its variables are had, its state is locked and read.

use std::sync::Arc;

use super::host::{Host, Schemas};
use super::options::{LockOptions, StateOptions};
use super::validate::all_problems;
use crate::backend::{LockGuard, LockInfo, LockState, Snapshot, Snapshots, acquire, workspace};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::install::Requirements;
use crate::observe::pool::Pool;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::backends;
use crate::operation::session::{Session, needs_configuration, of_root_files, root_place};
use crate::operation::variables::{self, RootVariables};
use crate::request::{PlanMode, Request};
use crate::state::State;

/// Opens the folder to plan in it: its plugins start while the configuration is read, as many at a time as calls may run.
///
/// # Errors
///
/// If the configuration cannot be used, or needs `init` first.
pub(super) async fn open_to_plan(
    host: &Host<'_>,
    state: &StateOptions,
    request: &Request,
) -> Result<Session, Diagnostics> {
    refuse_without_configuration(host, request)?;
    open_to_refresh(host, state, request).await
}

/// Like [`open_to_plan`], also where there is no configuration: what exists can be looked at.
///
/// # Errors
///
/// As for [`open_to_plan`].
pub(super) async fn open_to_refresh(
    host: &Host<'_>,
    state: &StateOptions,
    request: &Request,
) -> Result<Session, Diagnostics> {
    let providers = ProviderSources::begin(host.world, host.sources, request.parallelism);
    match open(host, state, providers) {
        Ok(session) => Ok(session),
        Err(problems) => match told_first(host, state) {
            Some(found) => Err(found),
            None => Err(all_problems(host, request, problems).await),
        },
    }
}

/// Refuses a request in a folder without configuration, unless everything is to be destroyed anyway.
///
/// # Errors
///
/// If there is none.
pub(super) fn refuse_without_configuration(
    host: &Host<'_>,
    request: &Request,
) -> Result<(), Diagnostics> {
    match request.mode {
        PlanMode::Destroy => Ok(()),
        PlanMode::Normal | PlanMode::RefreshOnly => needs_configuration(host.world),
    }
}

/// Returns what is told before anybody looks at modules and names: what is wrong with single files, and what keeps the backend from
/// being used.
fn told_first(host: &Host<'_>, state: &StateOptions) -> Option<Diagnostics> {
    let of_files = of_root_files(host.world, host.sources);
    if of_files.has_errors() {
        return Some(of_files);
    }
    let root = root_place(host.world, host.sources).ok()?;
    let data = workspace::data_folder(host.world);
    backends::set_up(&root, &state.files, &data)
        .err()
        .map(|found| of_files.into_iter().chain(found).collect::<Vec<_>>().into())
}

/// Opens the folder. What its configuration is warned of is told with the plan; the state is read by [`read_state`].
///
/// # Errors
///
/// As for [`open_to_plan`].
pub(super) fn open(
    host: &Host<'_>,
    state: &StateOptions,
    provider_sources: ProviderSources,
) -> Result<Session, Diagnostics> {
    let provider_sources = Arc::new(provider_sources);
    let span = tracing::info_span!("read the configuration");
    let _entered = span.enter();
    host.asking(|| {
        let (world, sources) = (host.world.clone(), host.sources.clone());
        Session::open_with(world, sources, &state.files, provider_sources.clone())
    })
}

/// Returns the root variables, asking for those that need a value and have none.
///
/// # Errors
///
/// If a value is wrong, or nobody gives one.
pub(super) fn root_variables(
    host: &Host<'_>,
    session: &Session,
    request: &Request,
) -> Result<RootVariables, Diagnostics> {
    let (mut inputs, missing, problems) = session.given_variables(request);
    if problems.has_errors() {
        return Err(problems);
    }
    host.tell.problems(problems);
    let mut unset = Diagnostics::new();
    for name in missing {
        let variable = &session.config.root().variables[&name];
        match host.ask.variable(&name, variable.description.as_deref(), variable.sensitive) {
            Some(text) => drop(
                inputs.insert(name, variables::read_answer(variable, &text, &session.sources)?),
            ),
            None => unset.push(not_set(&name).at(variable.declared)),
        }
    }
    if !unset.has_errors() {
        return session.variables(&inputs);
    }
    // Both are to be mended before anything can be planned.
    let mut wrong = unready_providers(session);
    wrong.extend(unset);
    Err(wrong)
}

/// Compares the providers that are locked and installed with those that the configuration requires.
pub(super) fn unready_providers(session: &Session) -> Diagnostics {
    match session.provider_sources.plugins() {
        Ok(plugins) => plugins.check(&Requirements::of(&session.config).0),
        Err(unreadable) => unreadable,
    }
}

/// Returns which root variables need a value, where none is given and nobody is asked.
pub(super) fn unset_variables(session: &Session, request: &Request) -> Diagnostics {
    let (_, missing, mut problems) = session.given_variables(request);
    let variables = &session.config.root().variables;
    problems.extend(missing.iter().map(|it| not_set(it).at(variables[it].declared)));
    problems
}

/// A root variable needs a value, and nobody gives one.
fn not_set(name: &str) -> Diagnostic {
    Diagnostic::error("No value for required variable").detail(format!(
        "The root module input variable \"{name}\" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable."
    ))
}

/// Takes the lock of a state. Where that takes long it is told, once.
///
/// # Errors
///
/// If it is held for longer than it is waited for.
pub fn lock<'a>(
    host: &Host<'_>,
    backend: &'a Snapshots,
    options: LockOptions,
    operation: &str,
) -> Result<LockGuard<'a>, Diagnostics> {
    if !options.enabled {
        return Ok(LockGuard::none());
    }
    let mut is_told = false;
    let mut waiting = |passed: std::time::Duration| {
        if !is_told && passed.as_millis() >= 400 {
            is_told = true;
            host.tell.waits_for_lock();
        }
        host.stop.asked() == 0
    };
    acquire(backend, &LockInfo::new(host.world, operation), options.timeout, &mut waiting)
}

/// Reads the latest snapshot for a command that changes nothing, as [`read_state`] does. Takes no lock, and reports a run in
/// progress.
///
/// - `lock`: if it is not enabled, a run in progress is not reported.
pub(super) fn read_state_to_answer(
    host: &Host<'_>,
    session: &Session,
    lock: LockOptions,
) -> Result<Snapshot, Diagnostics> {
    if lock.enabled {
        report_run_in_progress(host, &session.backend);
    }
    read_state(host, session)
}

/// Reports that another run holds the lock of a state, if its store can tell.
pub(super) fn report_run_in_progress(host: &Host<'_>, backend: &Snapshots) {
    if let LockState::Held(holder) = backend.lock_state() {
        host.tell.run_in_progress(holder.as_ref());
    }
}

/// Reads the latest snapshot. Reports its warnings, and the objects that may exist without a record.
pub(super) fn read_state(host: &Host<'_>, session: &Session) -> Result<Snapshot, Diagnostics> {
    let mut snapshot = session.snapshot()?;
    if let Some(missing) = session.backend.missing(&snapshot) {
        let explanation =
            format!("{}\n\nOnly \"yes\" goes on with an empty state.", missing.detail);
        if host.ask.agrees("Do you want to begin with an empty state?", &explanation) != Some(true)
        {
            return Err(missing.into());
        }
        session.backend.allow_missing();
        snapshot = session.snapshot()?;
    }
    let mut warnings = std::mem::take(&mut snapshot.warnings);
    warnings.extend(snapshot.state.as_ref().and_then(State::unconfirmed_warning));
    host.tell.problems(warnings);
    Ok(snapshot)
}

/// Returns what the providers of a state's objects announce; what cannot be had is left out.
///
/// # Errors
///
/// If the system refuses a thread.
pub fn schemas_of(host: &Host<'_>, state: &State) -> Result<Schemas, Diagnostics> {
    let needed: Vec<_> = state.resources.values().map(|it| it.provider.provider.clone()).collect();
    let provider_sources = ProviderSources::of(host.world, host.sources);
    super::with_room(|runtime| {
        schemas(&runtime.block_on(Pool::schemas_only(&provider_sources, needed)).0)
    })
}

/// Returns what every provider of a run announces.
pub(super) fn schemas(pool: &Pool) -> Schemas {
    pool.schemas().map(|(address, schema)| (address.clone(), schema.clone())).collect()
}

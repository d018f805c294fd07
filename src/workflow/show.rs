//! `show`: the state, a saved plan, the configuration, as data and as documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::host::{Host, Schemas};
use super::open::schemas;
use super::state::OpenState;
use super::with_room;
use crate::address::Provider;
use crate::backend::local::Choice;
use crate::backend::seal::{Seals, is_sealed_plan};
use crate::config::{Config, load_module};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::observe::pool::Pool;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::saved;
use crate::operation::session::{self, Session};
use crate::plan::configuration::{document, module_document};
use crate::plan::file::is_archive;
use crate::plan::{Plan, action_tokens, json, state_json};
use crate::policy::Report;
use crate::schema::ProviderSchema;
use crate::state::State;
use crate::world::PROGRAM;

/// What to show.
#[derive(Clone, Debug, PartialEq)]
pub enum ShowTarget {
    /// The current state.
    State,
    /// A saved plan.
    Plan(PathBuf),
    /// A saved plan or a state: whatever the file is.
    File(PathBuf),
    /// The configuration.
    Config,
    /// One module.
    Module(PathBuf),
}

/// Something that can be shown.
pub enum Shown {
    /// A state, with what its providers announce.
    State(Box<State>, Schemas),
    /// There is no state yet.
    NoState,
    /// A saved plan, with what its providers announce, and what policies said of it.
    Plan(Box<Plan>, Schemas, Option<Report>),
    /// A JSON document.
    Document(String),
}

/// Reads what is asked for, to be shown to people. The configuration and a module are documents in any case.
///
/// # Errors
///
/// If it cannot be read.
pub fn show(host: &Host<'_>, subject: &ShowTarget) -> Result<Shown, Diagnostics> {
    with_room(|runtime| {
        runtime.block_on(async {
            Ok(match found(host, subject)? {
                Opened::State(None) => Shown::NoState,
                Opened::State(Some(state)) => {
                    let (schemas, _) = of_state(host, &state).await;
                    Shown::State(Box::new(state), schemas)
                }
                Opened::Plan(loaded) => {
                    let loaded = *loaded;
                    let (_, schemas, _) = of_plan(host, &loaded).await?;
                    let said = loaded.report();
                    Shown::Plan(Box::new(loaded.plan), schemas, said)
                }
                Opened::Config => Shown::Document(configuration(host).await?),
                Opened::Module(text) => Shown::Document(text),
            })
        })
    })?
}

/// Reads what is asked for and returns it as a JSON document.
///
/// # Errors
///
/// If it cannot be read, or a provider's schema cannot be had.
pub fn show_json(host: &Host<'_>, subject: &ShowTarget) -> Result<String, Diagnostics> {
    with_room(|runtime| {
        runtime.block_on(async {
            match found(host, subject)? {
                Opened::State(state) => state_document(host, &state.unwrap_or_default()).await,
                Opened::Plan(loaded) => {
                    let (config, schemas, problems) = of_plan(host, &loaded).await?;
                    if problems.has_errors() {
                        return Err(problems);
                    }
                    let find = |provider: &Provider| find(&schemas, provider);
                    let document = json::plan_document(&loaded.plan, &config, &find, host.sources)?;
                    Ok(with_verdicts(document, loaded.verdicts()))
                }
                Opened::Config => configuration(host).await,
                Opened::Module(text) => Ok(text),
            }
        })
    })?
}

/// Adds what policies said to the document of a plan.
fn with_verdicts(document: String, verdicts: Option<serde_json::Value>) -> String {
    match (verdicts, document.trim_end().strip_suffix('}')) {
        (Some(verdicts), Some(inner)) => format!("{inner},\"policy\":{verdicts}}}"),
        _ => document,
    }
}

/// Returns a state as a JSON document.
///
/// # Errors
///
/// If a provider's schema cannot be had.
pub fn state_json(host: &Host<'_>, state: &State) -> Result<String, Diagnostics> {
    with_room(|runtime| runtime.block_on(state_document(host, state)))?
}

/// What was found of what is asked for.
pub(super) enum Opened {
    State(Option<State>),
    Plan(Box<saved::Loaded>),
    Config,
    Module(String),
}

/// Returns what a saved plan does: the resource of each object, with the words for its action.
///
/// # Errors
///
/// If it cannot be read.
pub fn planned(host: &Host<'_>, plan: &Path) -> Result<Vec<(String, &'static str)>, Diagnostics> {
    let loaded = saved::load(host.world, host.sources, &host.world.root.join(plan))?;
    let changes = loaded.plan.changes.iter();
    let words = changes.map(|it| {
        let action = match action_tokens(it.action) {
            [one] => *one,
            _ => "replace",
        };
        (it.address.config().to_string(), action)
    });
    Ok(words.collect())
}

pub(super) fn found(host: &Host<'_>, subject: &ShowTarget) -> Result<Opened, Diagnostics> {
    let path = |it: &Path| host.world.root.join(it);
    Ok(match subject {
        ShowTarget::State => Opened::State(OpenState::open(host, &Choice::default())?.read(host)?),
        ShowTarget::Plan(file) => {
            Opened::Plan(Box::new(saved::load(host.world, host.sources, &path(file))?))
        }
        ShowTarget::File(file) => {
            let bytes = host.world.files.read(&path(file)).map_err(|it| unreadable(file, &it))?;
            if is_archive(&bytes) || is_sealed_plan(&bytes) {
                return Ok(Opened::Plan(Box::new(saved::load(
                    host.world,
                    host.sources,
                    &path(file),
                )?)));
            }
            // What the file is sealed with may stand in the configuration, where there is one.
            let _ = session::unseal(host.world, host.sources);
            let state = Seals::of(host.world)
                .read_given_state(&bytes)
                .map_err(|_| unreadable_kind(file))?;
            Opened::State(Some(state.unwrap_or_default()))
        }
        ShowTarget::Config => Opened::Config,
        ShowTarget::Module(folder) => Opened::Module(module(host, folder)?),
    })
}

/// Reads the current state, or the one in a file; nothing where none was ever written.
///
/// # Errors
///
/// If it cannot be read, or the file is a saved plan.
pub(super) fn recorded(host: &Host<'_>, file: Option<&Path>) -> Result<Option<State>, Diagnostics> {
    let target = file.map_or(ShowTarget::State, |it| ShowTarget::File(it.to_owned()));
    match found(host, &target)? {
        Opened::State(state) => Ok(state),
        _ => Err(no_state_in(file).into()),
    }
}

fn find(schemas: &Schemas, provider: &Provider) -> Option<Arc<ProviderSchema>> {
    schemas.get(provider).cloned()
}

async fn configuration(host: &Host<'_>) -> Result<String, Diagnostics> {
    let (world, sources) = (host.world.clone(), host.sources.clone());
    let (session, problems) = Session::open_for_validation(world, sources)?;
    if problems.has_errors() {
        return Err(problems);
    }
    let needed = session.needed_providers(&State::default());
    let (pool, problems) = Pool::schemas_only(&session.provider_sources, needed).await;
    if problems.has_errors() {
        return Err(problems);
    }
    let find = |provider: &Provider| pool.schema(provider).cloned();
    Ok(document(&session.config, &find, host.sources))
}

fn module(host: &Host<'_>, folder: &Path) -> Result<String, Diagnostics> {
    let (module, problems) = load_module(
        &host.world.files,
        &host.world.root.join(folder),
        &folder.display().to_string(),
        host.sources,
    );
    match module {
        Some(module) if !problems.has_errors() => Ok(module_document(module).to_string()),
        _ => Err(problems),
    }
}

pub(super) async fn of_state(host: &Host<'_>, state: &State) -> (Schemas, Diagnostics) {
    let needed = state.resources.values().map(|it| it.provider.provider.clone());
    let (pool, problems) =
        Pool::schemas_only(&ProviderSources::of(host.world, host.sources), needed).await;
    (schemas(&pool), problems)
}

async fn state_document(host: &Host<'_>, state: &State) -> Result<String, Diagnostics> {
    let (schemas, problems) = of_state(host, state).await;
    if problems.has_errors() {
        return Err(problems);
    }
    let find = |provider: &Provider| find(&schemas, provider);
    Ok(state_json::state_document(state, &find)?.to_string())
}

/// Returns the configuration that a saved plan holds, and what the providers of plan and configuration announce.
pub(super) async fn of_plan(
    host: &Host<'_>,
    loaded: &saved::Loaded,
) -> Result<(Config, Schemas, Diagnostics), Diagnostics> {
    let config = loaded.config(host.world, host.sources)?;
    let plan = &loaded.plan;
    let mut needed: Vec<Provider> =
        plan.prior_state.resources.values().map(|it| it.provider.provider.clone()).collect();
    needed.extend(plan.changes.iter().map(|it| it.served_by.config.provider.clone()));
    needed.extend(config.modules.values().flat_map(|it| {
        let blocks = it.providers.iter().map(|it| it.source.clone());
        blocks.chain(it.resource_providers().cloned())
    }));
    let (pool, problems) =
        Pool::schemas_only(&ProviderSources::of(host.world, host.sources), needed).await;
    Ok((config, schemas(&pool), problems))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let problem = Diagnostic::error("Failed to read the given file as a state or plan file");
    match error.kind() {
        std::io::ErrorKind::NotFound => problem.detail(format!(
            "There is no file {}. To show one object of the state: {PROGRAM} state show ADDRESS. To show the whole state: {PROGRAM} show",
            path.display()
        )),
        _ => problem.detail(format!("{}: {error}", path.display())),
    }
}

fn unreadable_kind(path: &Path) -> Diagnostic {
    Diagnostic::error("Failed to read the given file as a state or plan file")
        .detail(format!("{} is neither a saved plan nor a state.", path.display()))
}

fn no_state_in(file: Option<&Path>) -> Diagnostic {
    let name = file.map_or(String::new(), |it| it.display().to_string());
    Diagnostic::error("Not a state")
        .detail(format!("{name} is a saved plan. Ask it with -plan={name}, or take away -state."))
}

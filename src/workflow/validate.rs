//! `validate`: checks a folder's configuration without its state.

use std::collections::BTreeMap;
use std::path::Path;

use super::host::Host;
use super::open::{unready_providers, unset_variables};
use super::with_room;
use crate::config::{Config, check, files};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::encryption;
use crate::execute::provision;
use crate::install::Requirements;
use crate::lower::trace::providers as provider_keys;
use crate::observe::pool::Pool;
use crate::observe::provisioners::Provisioners;
use crate::operation::session::{Readings, Session};
use crate::operation::validate;
use crate::request::{LintSelection, Request};
use crate::state::State;
use crate::testing::{Open, helpers_of};
use crate::world::VariableSource;

/// Returns all that is wrong with the configuration of the world's root, warnings included.
///
/// # Errors
///
/// If the system refuses a thread.
///
/// - `tests`: the folder of tests, where these are checked, too.
/// - `lint`: the lint rules whose findings are among the warnings.
pub fn validate(
    host: &Host<'_>,
    tests: Option<&Path>,
    lint: &LintSelection,
) -> Result<Diagnostics, Diagnostics> {
    with_room(|runtime| {
        runtime.block_on(async {
            let loaded = Session::load_by_itself(host.world.clone(), host.sources.clone());
            let (mut session, problems) = match loaded {
                Ok(loaded) => loaded,
                // Where a test cannot be read, nothing is told of what the root module calls.
                Err(problems) => {
                    let read = tests.map(|it| helpers_of(host.world, it, host.sources));
                    return read.and_then(Result::err).unwrap_or(problems);
                }
            };
            let tests = tests.map(|directory| {
                let (world, sources) = (host.world, host.sources);
                let tests = Open { world, sources, directory };
                let checked = tests.check(&session.config)?;
                session.also_required = tests.requirements(&session.config)?.0;
                Ok::<_, Diagnostics>(checked)
            });
            let (told, beside) = match tests.unwrap_or_else(|| Ok(Default::default())) {
                Ok(checked) => checked,
                Err(broken) => {
                    let mut all = problems;
                    all.extend(broken);
                    return all;
                }
            };
            let mut found = check_loaded(&session, problems, lint).await.unwrap_or_else(|it| it);
            found.extend(files::of_others(&host.world.files, &host.world.root));
            found.extend(told);
            for config in beside {
                found.extend(check_helper(&session, &config).await.unwrap_or_else(|it| it));
            }
            found
        })
    })
}

/// What was found in a configuration that is being written.
#[derive(Clone, Debug, Default)]
pub struct Inspected {
    /// What is wrong.
    pub problems: Diagnostics,
    /// Whether everything was looked at. Otherwise blocks cannot be read, and nobody knows whether the others fit together.
    pub is_whole: bool,
}

/// Returns what can be said of a configuration that is being written: what [`validate()`] says, though nothing need be installed, and
/// what is wrong in one place keeps nobody from looking at the others.
///
/// # Errors
///
/// If the system refuses a thread.
pub fn inspect(host: &Host<'_>, tests: Option<&Path>) -> Result<Inspected, Diagnostics> {
    with_room(|runtime| {
        let loaded = Session::load_in_place(host.world.clone(), host.sources.clone());
        let (session, mut found) = match loaded {
            Ok(loaded) => loaded,
            Err(problems) => return Inspected { problems: problems.once(), is_whole: false },
        };
        // What cannot be read has no parts that could fit together.
        let is_whole = !found.has_errors();
        if is_whole {
            if let Some(directory) = tests {
                let (world, sources) = (host.world, host.sources);
                let checked = Open { world, sources, directory }.check(&session.config);
                match checked {
                    Ok((told, _)) | Err(told) => found.extend(told),
                }
            }
            found.extend(runtime.block_on(inspect_loaded(&session)));
        }
        Inspected { problems: found.once(), is_whole }
    })
}

/// Looks at names, and at every block whose provider is at hand.
async fn inspect_loaded(session: &Session) -> Diagnostics {
    let mut found = encryption::check(session.config.root_place());
    found.extend(provider_keys::problems(&session.config, &session.sources));
    found.extend(inspect_values(session));
    let told = session.check_all_names();
    let fits = !check::check_calls(&session.config).has_errors();
    let needed = session.needed_providers(&State::default());
    let (pool, unusable) = Pool::start(&session.provider_sources, needed).await;
    found.extend(unusable);
    match fits {
        true => found.extend(validate::check_with(session, &pool, told).await),
        false => found.extend(told),
    }
    found
}

/// Looks at the values that files have for the root module's variables: those that every run reads, and each that a flag may name.
fn inspect_values(session: &Session) -> Diagnostics {
    let entries = session.world.files.entries(&session.world.root).unwrap_or_default();
    let names =
        entries.into_iter().filter(|it| !it.is_folder).filter_map(|it| it.name.into_string().ok());
    let is_given = |it: &String| it.ends_with(".tfvars") || it.ends_with(".tfvars.json");
    let named = names.filter(is_given).map(|it| vec![VariableSource::File(it.into())]);
    let mut found = Diagnostics::new();
    for variables in std::iter::once(Vec::new()).chain(named) {
        let request = Request { variables, ..Request::default() };
        let (inputs, _, problems) = session.given_variables(&request);
        found.extend(problems);
        for (name, input) in inputs {
            let place = input.origin.span();
            let one = BTreeMap::from([(name, input)]);
            let told = session.variables_or_unknown(&one).err().unwrap_or_default();
            // What is wrong with a value is told where it stands, not where its variable is declared.
            found.extend(told.into_iter().map(|it| it.at(place)));
        }
    }
    found.once()
}

/// Checks a module that a test runs in the place of the one under test.
async fn check_helper(session: &Session, config: &Config) -> Result<Diagnostics, Diagnostics> {
    let place = (session.world.clone(), session.sources.clone());
    let (workspace, providers) = (session.workspace.clone(), session.provider_sources.clone());
    let (helper, told) =
        Session::of_test(place, workspace, config.clone(), providers, Default::default())?;
    let needed = helper.needed_providers(&State::default());
    let (pool, mut unusable) = Pool::start(&helper.provider_sources, needed).await;
    if let Ok(plugins) = helper.provider_sources.plugins() {
        unusable.extend(plugins.check_available(&Requirements::of(&helper.config).0));
    }
    if unusable.has_errors() {
        return Err(unusable.once());
    }
    Ok(validate::check_with(&helper, &pool, told).await)
}

/// Returns why a folder could not be opened to plan, and with it all that [`validate()`] finds: names that are wrong keep nobody
/// from looking at the arguments of blocks.
pub(super) async fn all_problems(
    host: &Host<'_>,
    request: &Request,
    problems: Diagnostics,
) -> Diagnostics {
    let is_elsewhere = |it: &Diagnostic| it.severity == Severity::Error && it.subject.is_none();
    if problems.iter().any(is_elsewhere) {
        // It is not the configuration that is wrong.
        return problems;
    }
    let (session, warnings) =
        match Session::load(host.world.clone(), host.sources.clone(), Readings::FilesFirst) {
            Ok(loaded) => loaded,
            Err(mut found) => {
                found.join(problems);
                return found;
            }
        };
    let missing = not_ready(host, &session, request);
    if missing.has_errors() {
        return warnings.into_iter().chain(missing).collect::<Vec<_>>().into();
    }
    match check_loaded(&session, warnings, &request.lint).await {
        Ok(mut found) | Err(mut found) if found.has_errors() => {
            // What is said of names is told as far as anybody looks there.
            let named = session.check_names().unwrap_or_else(|it| it);
            found.join(problems.beyond(&named));
            found
        }
        _ => problems,
    }
}

/// Returns what is missing before names are looked at: providers and provisioners, and values of variables that nobody
/// can be asked for.
fn not_ready(host: &Host<'_>, session: &Session, request: &Request) -> Diagnostics {
    let mut missing = unready_providers(session);
    if !host.ask.may_ask() {
        missing.extend(unset_variables(session, request));
    }
    if !missing.has_errors() {
        let plugins = Provisioners::of(&session.world);
        missing.extend(provision::unknown_kinds(&session.config, &session.sources, &plugins));
    }
    missing
}

/// Checks a configuration that is read, providers first, then names, then every block; what is wrong with providers or
/// module calls is told alone. `problems` are those of reading it.
async fn check_loaded(
    session: &Session,
    mut problems: Diagnostics,
    lint: &LintSelection,
) -> Result<Diagnostics, Diagnostics> {
    let plugins = session.provider_sources.plugins().ok();
    let missing = plugins.map(|it| it.check_cached()).unwrap_or_default();
    if missing.has_errors() {
        problems.extend(missing);
        return Err(problems);
    }
    let required = Requirements::of(&session.config).0;
    let needed = session.needed_providers(&State::default());
    // What is required and not used is asked too: whoever validates learns that a package cannot run.
    let idle: Vec<_> = required.0.keys().filter(|it| !needed.contains(it)).cloned().collect();
    let (pool, mut unusable) = Pool::start(&session.provider_sources, needed).await;
    unusable.extend(Pool::unusable(&session.provider_sources, idle).await);
    if let Some(plugins) = plugins {
        unusable.extend(plugins.check_available(&required.and(session.also_required.clone())));
    }
    // One that cannot be had cannot be started either.
    unusable = unusable.once();
    let provisioners = &pool.provisioners;
    unusable.extend(provision::unknown_kinds(&session.config, &session.sources, provisioners));
    let is_unusable = unusable.has_errors();
    problems.extend(unusable);
    if is_unusable {
        return Err(problems);
    }
    problems.extend(validate::check_with(session, &pool, session.check_names()?).await);
    problems.extend(validate::lint::check(session, &pool, lint));
    problems.extend(plugins.and_then(|it| it.warning()));
    Ok(problems)
}

//! `validate`: checks a folder's configuration without its state.

use std::path::Path;

use super::host::Host;
use super::with_room;
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::install::Requirements;
use crate::observe::pool::Pool;
use crate::operation::session::Session;
use crate::operation::validate;
use crate::state::State;
use crate::testing::Open;

/// Returns all that is wrong with the configuration of the world's root, warnings included.
///
/// # Errors
///
/// If the system refuses a thread.
///
/// - `tests`: the folder of tests, where these are checked, too.
pub fn validate(host: &Host<'_>, tests: Option<&Path>) -> Result<Diagnostics, Diagnostics> {
    with_room(|runtime| {
        runtime.block_on(async {
            let (session, problems) = match Session::load(host.world.clone(), host.sources.clone())
            {
                Ok(loaded) => loaded,
                Err(problems) => return problems,
            };
            let tests = tests.map(|directory| {
                let (world, sources) = (host.world, host.sources);
                Open { world, sources, directory }.check(&session.config)
            });
            let (told, beside) = match tests.unwrap_or_else(|| Ok(Default::default())) {
                Ok(checked) => checked,
                Err(broken) => {
                    let mut all = problems;
                    all.extend(broken);
                    return all.once();
                }
            };
            let mut found = check_loaded(&session, problems).await.unwrap_or_else(|it| it);
            found.extend(told);
            for config in beside {
                found.extend(check_helper(&session, &config).await.unwrap_or_else(|it| it));
            }
            found.once()
        })
    })
}

/// Checks a module that a test runs in the place of the one under test.
async fn check_helper(session: &Session, config: &Config) -> Result<Diagnostics, Diagnostics> {
    let place = (session.world.clone(), session.sources.clone());
    let (workspace, providers) = (session.workspace.clone(), session.provider_sources.clone());
    let (helper, told) =
        Session::of_test(place, workspace, config.clone(), providers, Default::default())?;
    let needed = helper.needed_providers(&State::default());
    let (pool, unusable) = Pool::start(&helper.provider_sources, needed).await;
    if unusable.has_errors() {
        return Err(unusable);
    }
    let mut found = validate::check(&helper, &pool, &told).await;
    found.extend(told);
    Ok(found)
}

/// Returns why a folder could not be opened to plan, and with it all that [`validate`] finds: names that are wrong keep nobody
/// from looking at the arguments of blocks.
pub(super) async fn all_problems(host: &Host<'_>, problems: Diagnostics) -> Diagnostics {
    let is_elsewhere = |it: &Diagnostic| it.severity == Severity::Error && it.subject.is_none();
    if problems.iter().any(is_elsewhere) {
        // It is not the configuration that is wrong.
        return problems;
    }
    let mut all = match check(host).await {
        Ok(found) | Err(found) if found.has_errors() => found,
        _ => return problems,
    };
    let is_new = |it: &Diagnostic, all: &Diagnostics| {
        !all.iter().any(|other| (&other.summary, &other.detail) == (&it.summary, &it.detail))
    };
    for problem in problems {
        if is_new(&problem, &all) {
            all.push(problem);
        }
    }
    all
}

/// Checks providers first, then names, then every block; what is wrong with providers or module calls is told alone.
async fn check(host: &Host<'_>) -> Result<Diagnostics, Diagnostics> {
    let (session, problems) = Session::load(host.world.clone(), host.sources.clone())?;
    check_loaded(&session, problems).await
}

/// Checks a configuration that is read; `problems` are those of reading it.
async fn check_loaded(
    session: &Session,
    mut problems: Diagnostics,
) -> Result<Diagnostics, Diagnostics> {
    let (pool, mut unusable) =
        Pool::start(&session.provider_sources, session.needed_providers(&State::default())).await;
    let plugins = session.provider_sources.plugins().ok();
    if let Some(plugins) = plugins {
        unusable.extend(plugins.check_available(&Requirements::of(&session.config).0));
    }
    if unusable.has_errors() {
        return Err(unusable.once());
    }
    problems.extend(unusable);
    let told = session.check_names()?;
    problems.extend(validate::check(session, &pool, &told).await);
    problems.extend(validate::missing_keys(session));
    problems.extend(told);
    problems.extend(plugins.and_then(|it| it.warning()));
    Ok(problems.once())
}

//! `validate`: checks a folder's configuration without its state.

use super::host::Host;
use super::with_room;
use crate::diagnostic::Diagnostics;
use crate::install::Requirements;
use crate::observe::pool::Pool;
use crate::operation::session::Session;
use crate::operation::validate;
use crate::state::State;

/// Returns all that is wrong with the configuration of the world's root, warnings included.
///
/// # Errors
///
/// If the system refuses a thread.
pub fn validate(host: &Host<'_>) -> Result<Diagnostics, Diagnostics> {
    with_room(|runtime| runtime.block_on(check(host)).unwrap_or_else(|it| it))
}

/// Checks providers first, then names, then every block; what is wrong with providers or module calls is told alone.
async fn check(host: &Host<'_>) -> Result<Diagnostics, Diagnostics> {
    let (session, mut problems) = Session::load(host.world.clone(), host.sources.clone())?;
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
    problems.extend(validate::check(&session, &pool, &told).await);
    problems.extend(validate::missing_keys(&session));
    problems.extend(told);
    problems.extend(plugins.and_then(|it| it.warning()));
    Ok(problems.once())
}

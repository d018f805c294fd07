//! `providers`: the providers that a configuration needs, and on demand who serves what.

use super::host::Host;
use super::open::{read_state, root_variables};
use super::with_room;
use crate::backend::local::Choice;
use crate::diagnostic::Diagnostics;
use crate::operation::plan as operation;
use crate::operation::requirements;
use crate::operation::session::Session;
use crate::request::Request;
use crate::state::State;

pub use crate::operation::requirements::{Lacking, Need, Required, Served};

/// What configuration and state need.
pub struct Needs {
    /// The configuration, module by module.
    pub required: Required,
    /// The state.
    pub in_state: Vec<Need>,
    /// Every provider instance with what it serves, and what nobody serves; only where that was asked for.
    pub instances: Option<(Vec<Served>, Vec<Lacking>)>,
}

/// Finds out what is needed; with a request also who serves what, without asking any provider.
///
/// # Errors
///
/// If the configuration or the state cannot be read.
pub fn requirements(host: &Host<'_>, instances: Option<&Request>) -> Result<Needs, Diagnostics> {
    with_room(|_| {
        let (world, sources) = (host.world.clone(), host.sources.clone());
        let mut session = Session::open(world, sources, &Choice::default())?;
        host.tell.problems(std::mem::take(&mut session.warnings));
        let state = read_state(host, &session)?.state.unwrap_or_default();
        let plugins = session.provider_sources.plugins()?;
        let required = requirements::required(&session, plugins);
        let in_state = requirements::of_state(&state, plugins);
        let instances = match instances {
            Some(request) => Some(serving(host, &session, request, state)?),
            None => None,
        };
        Ok(Needs { required, in_state, instances })
    })?
}

fn serving(
    host: &Host<'_>,
    session: &Session,
    request: &Request,
    state: State,
) -> Result<(Vec<Served>, Vec<Lacking>), Diagnostics> {
    let variables = root_variables(host, session, request)?;
    let known = operation::whatif(session, request, state, &variables)?;
    Ok((requirements::instances(session, &known), requirements::lacking(&known)))
}

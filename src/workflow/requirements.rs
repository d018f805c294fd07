//! `providers`: the providers that a configuration needs, and on demand who serves what.

use std::path::Path;
use std::sync::Arc;

use super::host::Host;
use super::open::{read_state, root_variables};
use super::with_room;
use crate::backend::local::Choice;
use crate::config::Config;
use crate::diagnostic::Diagnostics;
use crate::install::Plugins;
use crate::operation::plan as operation;
use crate::operation::requirements;
use crate::operation::session::{Session, needs_configuration};
use crate::request::Request;
use crate::state::State;
use crate::testing::{FileNeeds, Open};

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
/// - `tests`: the folder of tests.
///
/// # Errors
///
/// If the configuration or the state cannot be read.
pub fn requirements(
    host: &Host<'_>,
    instances: Option<&Request>,
    tests: &Path,
) -> Result<Needs, Diagnostics> {
    with_room(|_| {
        let (world, sources) = (host.world.clone(), host.sources.clone());
        needs_configuration(host.world)?;
        let mut session = Session::open(world, sources, &Choice::default())?;
        host.tell.problems(std::mem::take(&mut session.warnings));
        let state = read_state(host, &session)?.state.unwrap_or_default();
        let plugins = session.provider_sources.plugins()?;
        let mut required = requirements::required(&session.config, plugins, String::new());
        let tests = Open { world: host.world, sources: host.sources, directory: tests };
        let (needs, found) = tests.needs(&session.config)?;
        host.tell.problems(found);
        required.modules.extend(needs.iter().map(|it| of_test(it, plugins)));
        let in_state = requirements::of_state(&state, plugins);
        let instances = match instances {
            Some(request) => Some(serving(host, &session, request, state)?),
            None => None,
        };
        Ok(Needs { required, in_state, instances })
    })?
}

/// Returns what a test file needs by itself.
fn of_test(needs: &FileNeeds, plugins: &Plugins) -> Required {
    let providers = needs.providers.iter();
    let providers = providers.map(|it| Need::new(plugins, it.clone(), String::new()));
    let run = |(name, config): &(String, Arc<Config>)| {
        requirements::required(config, plugins, format!("run.{name}"))
    };
    Required {
        name: needs.name.clone(),
        providers: providers.collect(),
        modules: needs.runs.iter().map(run).collect(),
    }
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

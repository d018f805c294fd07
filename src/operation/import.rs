//! `import`: an existing object becomes an instance's at once, without a plan.
//!
//! The walk is that of a plan that records only: data sources are read, nothing is planned, and the one object is found
//! and read on the way. What stands in the state already stays as it is written there.

use super::plan::{self, Planned};
use super::session::Session;
use crate::address::{Instance, Mode};
use crate::config::Config;
use crate::config::inputs::RootVariables;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::Sink;
use crate::lower::Structure;
use crate::observe::imports::without_block;
use crate::request::{PlanMode, Request};
use crate::state::State;

/// What an import found.
pub struct Imported {
    /// The state with the object in it.
    pub state: State,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// Why an address cannot be imported to.
pub enum Refusal {
    /// Something is wrong with it.
    Problem(Diagnostic),
    /// No block declares the resource, which the module with this name should have.
    NoBlock(String),
}

/// Checks that an address is a managed resource's, and that the configuration declares that resource.
pub fn check_target(config: &Config, address: &Instance) -> Result<(), Refusal> {
    let path = address.module.module();
    let Some(module) = config.module(&path) else {
        return Err(Refusal::Problem(Diagnostic::error("Import to non-existent module").detail(format!(
            "{} is not defined in the configuration. Please add configuration for this module before importing into it.",
            address.module
        ))));
    };
    if module.resources.contains_key(&address.resource) {
        return Ok(());
    }
    let name =
        if path.is_root() { "the root module".to_owned() } else { address.module.to_string() };
    Err(Refusal::NoBlock(name))
}

/// Returns what is wrong with importing to something else than a managed resource.
pub fn wrong_mode(address: &Instance) -> Option<Diagnostic> {
    let what = match address.resource.mode {
        Mode::Managed => return None,
        Mode::Data => "a data resource",
        Mode::Ephemeral => "an ephemeral resource",
    };
    Some(Diagnostic::error("Invalid target resource address").detail(format!(
        "A managed resource address is required. Importing into {what} is not allowed."
    )))
}

/// Finds and reads the object that `request` adopts, and returns the state with it.
///
/// # Errors
///
/// If there is no such object, the instance has one already, or something on the way cannot be evaluated or read.
pub async fn import(
    session: &Session,
    request: &Request,
    state: State,
    variables: RootVariables,
    sink: &dyn Sink,
) -> Result<Imported, Diagnostics> {
    let request = Request { mode: PlanMode::RefreshOnly, skip_refresh: true, ..request.clone() };
    let Planned { finished, .. } = plan::plan(session, &request, state, variables, sink).await?;
    if finished.problems.has_errors() {
        return Err(finished.problems);
    }
    if let Some((address, _)) = &request.adopts
        && !declares(&finished.structure, address)
    {
        return Err(without_block(address, None).into());
    }
    let mut state = finished.plan.prior_state;
    if let Some((address, _)) = &request.adopts {
        state.confirm(address);
    }
    Ok(Imported { state, warnings: finished.problems })
}

fn declares(structure: &Structure, address: &Instance) -> bool {
    let resource = structure.resource_id(&address.of());
    resource.is_some_and(|it| structure.resource(it).instances.contains_key(&address.key))
}

//! Configurations that tests have made of others: opened without a state of their own.

use std::sync::Arc;

use super::Session;
use crate::backend::local::Choice;
use crate::config::{Config, check};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::lower::BlockGraph;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::backends;
use crate::provider::mock::Mocks;
use crate::reason;
use crate::world::World;

impl Session {
    /// Opens a configuration that a test has made of one. Nothing is read or stored: the states of tests lie in memory. What is wrong with
    /// names comes beside it.
    ///
    /// # Errors
    ///
    /// If providers or module calls do not fit together, or values depend on themselves.
    pub fn of_test(
        (world, sources): (Arc<World>, Sources),
        workspace: String,
        config: Config,
        provider_sources: Arc<ProviderSources>,
        mocks: Mocks,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        let mut problems = crate::config::check_providers(&config, &sources);
        if problems.has_errors() {
            return Err(problems);
        }
        let blocks = BlockGraph::unconnected(reason::named(&world)?, &config);
        let calls = check::check_calls(&config);
        if calls.has_errors() {
            return Err(calls);
        }
        let graph = blocks.connected(&config);
        problems.extend(super::checked(&config, &graph, &sources));
        let circles: Vec<Diagnostic> =
            problems.iter().filter(|it| it.summary.starts_with("Cycle: ")).cloned().collect();
        if !circles.is_empty() {
            // The values of a circle cannot be evaluated, so no other check can run.
            return Err(circles.into());
        }
        let graph = graph.without_circles();
        let place = backends::Place::usual(&world, &Choice::default());
        let session =
            Session::new((world, sources), workspace, (config, graph), &place, provider_sources);
        Ok((Session { mocks: Arc::new(mocks), ..session }, problems))
    }
}

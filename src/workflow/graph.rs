//! `graph`: what waits for what, and what rests on what.

use std::path::PathBuf;

use super::explain::known_early;
use super::host::Host;
use super::options::PlanOptions;
use super::with_room;
use crate::backend::local::Choice;
use crate::diagnostic::Diagnostics;
use crate::operation::explain::ExplainContext;
use crate::operation::graph::{blocks, objects, steps};
use crate::operation::saved;
use crate::operation::session::Session;

pub use crate::operation::graph::{
    Graph, GraphEdge, GraphNode, GraphOptions, Kind, Link, Phase, Subject,
};

/// Which graph is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// That of this saved plan, else of the configuration.
    pub plan: Option<PathBuf>,
    /// Objects rather than blocks or steps.
    pub instances: bool,
    /// What is around this address, rather than everything.
    pub around: Option<String>,
    /// How blocks are drawn.
    pub blocks: GraphOptions,
    /// What the objects of a configuration depend on: its variables, and where the state is.
    pub planning: PlanOptions,
}

/// Returns the graph; and what is wrong with a configuration whose circles are drawn.
///
/// # Errors
///
/// If the configuration or the plan cannot be read, or nothing has the address.
pub fn graph(host: &Host<'_>, wanted: &Wanted) -> Result<(Graph, Diagnostics), Diagnostics> {
    with_room(|_| {
        let (whole, problems) = whole(host, wanted)?;
        Ok(match &wanted.around {
            Some(address) => (whole.around(address)?, problems),
            None => (whole, problems),
        })
    })?
}

fn whole(host: &Host<'_>, wanted: &Wanted) -> Result<(Graph, Diagnostics), Diagnostics> {
    let (world, sources) = (host.world.clone(), host.sources.clone());
    if let Some(path) = &wanted.plan {
        let loaded = saved::load(&world, &sources, &world.root.join(path))?;
        let graph = match wanted.instances {
            true => objects::graph(&ExplainContext::of_saved(&world, &loaded)?, Some(&loaded.plan)),
            false => steps::graph(&loaded),
        };
        return Ok((graph, Diagnostics::new()));
    }
    if wanted.instances {
        let context = known_early(host, &wanted.planning)?;
        return Ok((objects::graph(&context, None), Diagnostics::new()));
    }
    let (session, problems) = match wanted.blocks.draws_cycles {
        true => Session::open_for_validation(world, sources)?,
        false => (Session::open(world, sources, &Choice::default())?, Diagnostics::new()),
    };
    Ok((blocks::graph(&session, wanted.blocks, wanted.around.is_some()), problems))
}

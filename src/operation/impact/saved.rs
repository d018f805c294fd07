//! What a saved plan's nodes are derived from: the plan's own configuration is traced again, and its parts are followed.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::Start;
use crate::config::Config;
use crate::config::inputs::RootVariables;
use crate::diagnostic::{Diagnostics, Sources};
use crate::lower::structure::NodeKind;
use crate::lower::trace::{Followed, Repetitions};
use crate::lower::{BlockGraph, Lowered, Moved, Provenance, Structure};
use crate::operation::explain::ExplainContext;
use crate::operation::impact::Direction;
use crate::operation::saved::Loaded;
use crate::planner::{self, Inputs};
use crate::reason;
use crate::request::Request;
use crate::world::World;

/// The configuration of a saved plan, to be traced.
pub struct SavedTrace<'a> {
    loaded: &'a Loaded,
    config: &'a Config,
    graph: BlockGraph,
    variables: RootVariables,
    world: &'a Arc<World>,
    sources: &'a Sources,
}

impl<'a> SavedTrace<'a> {
    /// Prepares the trace of a saved plan.
    ///
    /// # Errors
    ///
    /// If the engine that the environment names is unknown.
    pub fn of(
        loaded: &'a Loaded,
        config: &'a Config,
        (world, sources): (&'a Arc<World>, &'a Sources),
    ) -> Result<SavedTrace<'a>, Diagnostics> {
        let graph = BlockGraph::of(reason::named(world)?, config);
        let values = loaded.variables(config, &BTreeMap::new());
        let variables = RootVariables { values, ..RootVariables::default() };
        Ok(SavedTrace { loaded, config, graph, variables, world, sources })
    }

    fn trace(&self, followed: &Followed) -> Result<Lowered, Diagnostics> {
        let request = Request::default();
        let (moved, moves) = (BTreeMap::new(), Moved::default());
        let known = planner::structure(&Inputs {
            config: self.config,
            graph: &self.graph,
            state: &self.loaded.plan.prior_state,
            moved: &moved,
            moves: &moves,
            request: &request,
            variables: &self.variables,
            world: self.world,
            workspace: &self.loaded.plan.workspace,
            sources: self.sources,
            repetitions: Repetitions::NONE,
            followed: Some(followed),
        });
        Ok(known?.lowered)
    }

    /// Adds to a saved plan's context what its nodes are derived from.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be traced.
    pub fn followed(
        &self,
        context: ExplainContext,
        start: &Start,
        direction: Direction,
    ) -> Result<ExplainContext, Diagnostics> {
        let followed = context.followed(start, direction);
        let first = self.trace(&Followed::default())?;
        let named = Numbering::of(&first.structure);
        let wanted = followed.0.iter().filter_map(|it| named.get(&context.structure, *it));
        let followed = Followed(wanted.collect());
        let traced = if followed.0.is_empty() { first } else { self.trace(&followed)? };
        let provenance = translated(&traced, &context);
        Ok(context.with_provenance(provenance))
    }
}

/// The nodes of a structure by what they are and are called: other traces number them differently.
struct Numbering(FxHashMap<(Discriminant<NodeKind>, String), Node>);

impl Numbering {
    fn of(structure: &Structure) -> Numbering {
        let all = (0..structure.nodes.len() as u32).map(Node);
        let named = |it: Node| ((discriminant(structure.kind(it)), structure.name(it)), it);
        Numbering(all.map(named).collect())
    }

    /// Returns the node that another structure calls like this node of its own.
    fn get(&self, structure: &Structure, node: Node) -> Option<Node> {
        self.0.get(&(discriminant(structure.kind(node)), structure.name(node))).copied()
    }
}

/// Returns the provenance in the numbers of a plan. A node that only the walk found has none: it depends on all of a value of which it
/// reads a part.
fn translated(traced: &Lowered, context: &ExplainContext) -> Provenance {
    let own = Numbering::of(&context.structure);
    let count = traced.structure.nodes.len() as u32;
    let number: Vec<Option<Node>> =
        (0..count).map(|it| own.get(&traced.structure, Node(it))).collect();
    let pair = |it: &(Node, Node)| Some((number[it.0.0 as usize]?, number[it.1.0 as usize]?));
    let mut provenance = Provenance {
        rows: traced.provenance.rows.iter().filter_map(pair).collect(),
        superseded: traced.provenance.superseded.iter().filter_map(pair).collect(),
    };
    let mut is_traced = vec![false; context.structure.nodes.len()];
    number.iter().flatten().for_each(|it| is_traced[it.0 as usize] = true);
    let found = context.facts.waits_for.iter().filter(|it| !is_traced[it.0.0 as usize]);
    provenance.rows.extend(found.filter(|it| context.is_value(it.1)));
    provenance
}

//! The steps of a plan and what waits for what.

use entail_rules::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{Context, Vertex};
use crate::plan::Change;
use crate::schedule::Schedule;

/// The steps of a plan and what waits for what.
pub(super) struct Steps<'a> {
    /// Steps and the phases between them, sorted.
    pub(super) vertices: Vec<Vertex>,
    pub(super) schedule: Schedule,
    pub(super) changes: FxHashMap<Node, &'a Change>,
    pub(super) steps: FxHashSet<Vertex>,
}

impl<'a> Steps<'a> {
    pub(super) fn of(ctx: &Context<'a>) -> Steps<'a> {
        let order = ctx.order;
        let mut vertices: Vec<Vertex> = order.step.clone();
        vertices.extend(order.before.iter().flat_map(|it| [(it.0, it.1), (it.2, it.3)]));
        vertices.sort_unstable();
        vertices.dedup();
        let index = |vertex: Vertex| {
            vertices.binary_search(&vertex).expect("every end of an edge is a vertex") as u32
        };
        let waits: Vec<(u32, u32)> =
            order.before.iter().map(|it| (index((it.2, it.3)), index((it.0, it.1)))).collect();
        let schedule = Schedule::new(vertices.len(), waits);
        Steps {
            schedule,
            changes: changes(ctx),
            steps: order.step.iter().copied().collect(),
            vertices,
        }
    }
}

/// The change of each node.
pub(super) fn changes<'a>(ctx: &Context<'a>) -> FxHashMap<Node, &'a Change> {
    let structure = &ctx.observer.values.structure;
    let node_of = |change: &Change| {
        let resource = structure.resource(structure.resource_id(&change.address.of())?);
        match &change.deposed {
            None => resource.instance(&change.address.key),
            Some(key) => {
                resource.besides.deposed.get(&(change.address.key.clone(), key.clone())).copied()
            }
        }
    };
    ctx.plan.changes.iter().filter_map(|change| Some((node_of(change)?, change))).collect()
}

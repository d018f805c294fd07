//! `impact`: what would be touched if something changed, nearest first, and what something rests on.
//!
//! Follows what reads what, instance by instance, and what recorded objects rest on where nothing declares them any more. Objects, root
//! outputs and checks count as steps; what only hands values on – variables, locals, outputs of modules, keys – lies on the way.

mod edits;
mod git;
mod saved;
mod shown;
mod start;
mod values;

use std::collections::BTreeSet;

use entail_rules::{Action, Node};
use rustc_hash::{FxHashMap, FxHashSet};

pub use edits::{Edit, Edits};
pub use git::since;
pub use saved::SavedTrace;
pub use shown::Paths;
pub use start::Start;

use super::dependencies::{Adjacency, EdgeKind, Reach, Towards, reach};
use super::explain::ExplainContext;
use crate::explain::Leaves;
use crate::lower::Structure;
use crate::lower::structure::NodeKind;
use crate::plan::Plan;
use crate::world::falsifies;

/// The kinds of edges by which a change goes on. What only waits is not changed, nor is a block by what its object depended on before.
const FOLLOWED: &[EdgeKind] = &[EdgeKind::Value, EdgeKind::Possible, EdgeKind::Recorded];

/// What is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direction {
    /// Whether it is asked what the changed rests on, instead of what rests on it.
    pub reverse: bool,
    /// How many steps away one looks.
    pub depth: Option<usize>,
}

/// Something that would be touched.
#[derive(Clone, Debug)]
struct Touched {
    /// Its number among the steps.
    step: usize,
    /// What hands values on between the step before and it.
    through: Vec<String>,
}

/// One step of a way. A whole way for each of many would be as long as all of them.
#[derive(Clone, Debug)]
struct Step {
    /// What it is called.
    address: String,
    /// The number of the step before it.
    before: Option<usize>,
    /// The number of the step with which its way begins.
    first: usize,
    /// How many steps it is away; 0 for what changes itself.
    distance: usize,
}

/// What would be touched, nearest first.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    touched: Vec<Touched>,
    /// What was met, each after the step before it.
    steps: Vec<Step>,
    /// What no block declares and no state holds any more.
    gone: Vec<String>,
    /// Whether only what a plan touches is listed.
    is_of_plan: bool,
}

/// Finds what would be touched by a change of these.
///
/// - `plan`: lists only what this plan touches.
pub fn impact(
    context: &ExplainContext,
    start: &Start,
    direction: Direction,
    plan: Option<&Plan>,
) -> Impact {
    let touches = plan.map(|it| touched_by(it, &context.structure));
    let towards = if direction.reverse { Towards::Sources } else { Towards::Dependents };
    let next = context.dependencies().adjacency(towards, FOLLOWED);
    let is_listed = |it: Node| touches.as_ref().is_none_or(|all| all.contains(&it));
    Impact {
        gone: start.gone.clone(),
        is_of_plan: plan.is_some(),
        ..follow(context, &start.nodes, &next, direction, is_listed)
    }
}

/// Lists what edges lead to from some nodes, nearest first.
///
/// - `is_listed`: whether a node that is met is listed; it lies on the ways to others all the same.
pub fn follow(
    context: &ExplainContext,
    start: &BTreeSet<Node>,
    next: &Adjacency,
    direction: Direction,
    is_listed: impl Fn(Node) -> bool,
) -> Impact {
    let structure = &context.structure;
    let counts = |it: Node| counts(structure, it, direction.reverse);
    let depth = if falsifies("impact of objects") { Some(1) } else { direction.depth };
    let found = reach(start.iter().copied(), next, |it| usize::from(counts(it)), depth);
    let Reach { reached, mut order } = found;
    let is_listed = |node: Node| {
        (counts(node) && context.is_there(node) || start.contains(&node)) && is_listed(node)
    };
    let ways = Ways { context, reached: &reached, reverse: direction.reverse };
    let mut found = Impact::default();
    let mut numbers: FxHashMap<Node, usize> = FxHashMap::default();
    order.retain(|it| ways.is_step(*it));
    order.sort_by_cached_key(|it| (reached[it].0, structure.instance(*it)));
    for node in order {
        let (before, through) = ways.before(node);
        let step = found.step(context.name(node), before.map(|it| numbers[&it]));
        numbers.insert(node, step);
        if is_listed(node) {
            found.list(step, through);
        }
    }
    found
}

/// Whether a node is a step, and not only on the way. What one rests on in the end are the root module's variables.
fn counts(structure: &Structure, node: Node, reverse: bool) -> bool {
    match structure.kind(node) {
        NodeKind::Variable(module, _) => reverse && *module == Structure::ROOT,
        NodeKind::Object(..) | NodeKind::Pending(_) | NodeKind::Check(..) => true,
        NodeKind::Output(module, _) => *module == Structure::ROOT,
        _ => false,
    }
}

/// What a plan changes.
fn touched_by(plan: &Plan, structure: &Structure) -> FxHashSet<Node> {
    let changes = plan.changes.iter().filter(|it| it.action != Action::NoOp);
    let objects = changes.filter_map(|it| {
        let resource = structure.resource(structure.resource_id(&it.address.of())?);
        resource.instance(&it.address.key)
    });
    let root = structure.modules.first().map(|it| &it.outputs);
    let outputs = plan.outputs.iter().filter(|it| it.1.action != Action::NoOp);
    let outputs = outputs.filter_map(|it| root?.get(it.0).copied());
    objects.chain(outputs).collect()
}

/// How what was reached was reached.
struct Ways<'a> {
    context: &'a ExplainContext,
    /// How many steps each is away, and from where it was reached.
    reached: &'a FxHashMap<Node, (usize, Option<Node>)>,
    reverse: bool,
}

impl Ways<'_> {
    /// Whether a node is a step: it counts as one, or is where one begins.
    fn is_step(&self, node: Node) -> bool {
        counts(&self.context.structure, node, self.reverse) || self.reached[&node].1.is_none()
    }

    /// Returns the step before a node, and what hands values on between the two.
    fn before(&self, node: Node) -> (Option<Node>, Vec<String>) {
        let mut through = Vec::new();
        let (mut last, mut at) = (node, self.reached[&node].1);
        while let Some(here) = at {
            through.extend(self.between(last, here));
            if self.is_step(here) {
                break;
            }
            through.push(here);
            (last, at) = (here, self.reached[&here].1);
        }
        through.retain(|it| is_named(&self.context.structure, *it));
        let names = through.iter().rev().map(|it| self.context.name(*it));
        (at, names.collect())
    }

    /// Returns what hands values on between two nodes of a way, from the later one on.
    fn between(&self, later: Node, earlier: Node) -> Vec<Node> {
        match self.reverse {
            false => self.context.between(later, earlier),
            true => self.context.between(earlier, later).into_iter().rev().collect(),
        }
    }
}

/// Whether something on the way has a name that its author wrote.
fn is_named(structure: &Structure, node: Node) -> bool {
    matches!(
        structure.kind(node),
        NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..) | NodeKind::Provider(_)
    )
}

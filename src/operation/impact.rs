//! `impact`: what would be touched if something changed, nearest first, and what something rests on.
//!
//! Follows what reads what, instance by instance, and what recorded objects rest on where nothing declares them any more. Objects, root
//! outputs and checks count as steps; what only hands values on – variables, locals, outputs of modules, keys – lies on the way.

mod edits;
mod git;
mod shown;
mod start;
mod values;

use std::collections::VecDeque;

use entail_rules::{Action, Node};
use rustc_hash::{FxHashMap, FxHashSet};

pub use edits::{Edit, Edits};
pub use git::since;
pub use shown::Paths;
pub use start::Start;

use super::explain::{ExplainContext, Provenance};
use crate::explain::Leaves;
use crate::lower::Structure;
use crate::lower::structure::NodeKind;
use crate::plan::Plan;

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
    let structure = &context.structure;
    let next = edges(context, direction.reverse);
    let touches = plan.map(|it| touched_by(it, structure));
    let first: FxHashSet<Node> = start.nodes.iter().copied().collect();
    let mut reached: FxHashMap<Node, (usize, Option<Node>)> =
        first.iter().map(|it| (*it, (0, None))).collect();
    let mut order = Vec::new();
    let mut todo: VecDeque<Node> = start.nodes.iter().copied().collect();
    // What counts no step goes first, so that every node is met on a shortest way.
    let mut done: FxHashSet<Node> = FxHashSet::default();
    while let Some(node) = todo.pop_front() {
        if !done.insert(node) {
            continue;
        }
        order.push(node);
        let distance = reached[&node].0;
        for other in next.get(&node).into_iter().flatten() {
            let step = usize::from(counts(structure, *other, direction.reverse));
            let further = distance + step;
            if direction.depth.is_some_and(|most| further > most) || done.contains(other) {
                continue;
            }
            let known = reached.get(other).map(|it| it.0);
            if known.is_none_or(|known| further < known) {
                reached.insert(*other, (further, Some(node)));
                if step == 0 { todo.push_front(*other) } else { todo.push_back(*other) }
            }
        }
    }
    let is_listed = |node: &Node| {
        (counts(structure, *node, direction.reverse) && context.is_there(*node)
            || first.contains(node))
            && touches.as_ref().is_none_or(|it| it.contains(node))
    };
    let ways = Ways { context, reached: &reached, reverse: direction.reverse };
    let mut found = Impact { gone: start.gone.clone(), ..Impact::default() };
    let mut numbers: FxHashMap<Node, usize> = FxHashMap::default();
    order.retain(|it| ways.is_step(*it));
    order.sort_by_cached_key(|it| (reached[it].0, structure.instance(*it)));
    for node in order {
        let (before, through) = ways.before(node);
        let step = found.step(context.name(node), before.map(|it| numbers[&it]));
        numbers.insert(node, step);
        if is_listed(&node) {
            found.list(step, through);
        }
    }
    found
}

/// What each node hands its changes to; or, the other way, what it reads.
fn edges(context: &ExplainContext, reverse: bool) -> FxHashMap<Node, Vec<Node>> {
    let mut next: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    let mut add = |reader: Node, read: Node| {
        let (from, to) = if reverse { (reader, read) } else { (read, reader) };
        next.entry(from).or_default().push(to);
    };
    let facts = &context.facts;
    facts.reads.iter().filter(|it| !is_replaced(context, it)).for_each(|it| add(it.0, it.1));
    context.provenance.iter().flat_map(Provenance::rows).for_each(|it| add(it.0, it.1));
    facts.may_read.iter().for_each(|it| add(it.0, it.1));
    // What the state says of dependencies counts only where no block says otherwise.
    let is_declared = |node: &Node| facts.declared.binary_search(&(*node,)).is_ok();
    facts.needs.iter().filter(|it| !is_declared(&it.0)).for_each(|it| add(it.0, it.1));
    for all in next.values_mut() {
        all.sort_unstable();
        all.dedup();
    }
    next
}

/// Returns whether the provenance says more exactly what this reader is derived from.
fn is_replaced(context: &ExplainContext, &(reader, read): &(Node, Node)) -> bool {
    let Some(provenance) = &context.provenance else { return false };
    let kind = |node| context.structure.kind(node);
    match kind(reader) {
        NodeKind::Repetition(_) | NodeKind::CallKeys(_) => {
            let is_whole = matches!(kind(read), NodeKind::Collection(_) | NodeKind::Call(_));
            is_whole || context.is_value(read) || matches!(kind(read), NodeKind::Object(..))
        }
        NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..) => {
            provenance.has_values && context.is_value(read)
        }
        _ => false,
    }
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

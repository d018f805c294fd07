//! `impact`: what would be touched if something changed, nearest first, and what something rests on.
//!
//! Follows what reads what, instance by instance, and what recorded objects rest on where nothing declares them any more. Objects, root
//! outputs and checks count as steps; what only hands values on – variables, locals, outputs of modules, keys – lies on the way.

mod edits;
mod git;
mod start;

use std::collections::VecDeque;

use entail_rules::{Action, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

pub use edits::{Edit, Edits};
pub use git::since;
pub use start::Start;

use super::explain::ExplainContext;
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// What it is called.
    pub address: String,
    /// How many steps it is away; 0 for what changes itself.
    pub distance: usize,
    /// The steps that lead there, what changes first, itself last.
    pub path: Vec<String>,
    /// What hands values on between the last two of them.
    pub through: Vec<String>,
}

/// What would be touched, nearest first.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// All of it.
    pub touched: Vec<Touched>,
    /// What no block declares and no state holds any more.
    pub gone: Vec<String>,
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
    let listed = order.into_iter().filter(is_listed);
    let mut touched: Vec<Touched> =
        listed.map(|it| told(context, &reached, it, direction.reverse)).collect();
    touched.sort_by_key(|it| it.distance);
    Impact { touched, gone: start.gone.clone() }
}

/// What each node hands its changes to; or, the other way, what it reads.
fn edges(context: &ExplainContext, reverse: bool) -> FxHashMap<Node, Vec<Node>> {
    let mut next: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    let mut add = |reader: Node, read: Node| {
        let (from, to) = if reverse { (reader, read) } else { (read, reader) };
        next.entry(from).or_default().push(to);
    };
    let facts = &context.facts;
    facts.reads.iter().for_each(|it| add(it.0, it.1));
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

fn told(
    context: &ExplainContext,
    reached: &FxHashMap<Node, (usize, Option<Node>)>,
    node: Node,
    reverse: bool,
) -> Touched {
    let structure = &context.structure;
    let (mut path, mut through, mut at) = (Vec::new(), Vec::new(), Some(node));
    while let Some(here) = at {
        let (_, before) = reached[&here];
        match counts(structure, here, reverse) || before.is_none() {
            true => path.push(context.name(here)),
            false if path.len() == 1 && is_named(structure, here) => {
                through.push(context.name(here));
            }
            false => {}
        }
        at = before;
    }
    path.reverse();
    through.reverse();
    Touched { address: context.name(node), distance: reached[&node].0, path, through }
}

/// Whether something on the way has a name that its author wrote.
fn is_named(structure: &Structure, node: Node) -> bool {
    matches!(
        structure.kind(node),
        NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..) | NodeKind::Provider(_)
    )
}

impl Impact {
    /// Returns it as text: each on a line, nearest first.
    pub fn text(&self, direction: Direction) -> String {
        let mut out = String::new();
        let width = self.touched.iter().map(|it| it.address.chars().count()).max().unwrap_or(0);
        let width = width.min(60);
        for it in &self.touched {
            let before = it.path.len().checked_sub(2).map(|at| it.path[at].as_str());
            let mut via: Vec<&str> = before.into_iter().collect();
            via.extend(it.through.iter().map(String::as_str));
            let via =
                if via.is_empty() { String::new() } else { format!("  {}", via.join(" → ")) };
            let gap = width.saturating_sub(it.address.chars().count());
            let line = format!("{:>4}  {}{}{via}", it.distance, it.address, " ".repeat(gap));
            out.push_str(line.trim_end());
            out.push('\n');
        }
        for gone in &self.gone {
            out.push_str(&format!("   -  {gone} is gone, and the state holds nothing of it\n"));
        }
        let further = self.touched.iter().filter(|it| it.distance > 0).count();
        let furthest = self.touched.iter().map(|it| it.distance).max().unwrap_or(0);
        let what = match (direction.reverse, further) {
            (true, 0) => "It rests on nothing else.".to_owned(),
            (false, 0) => "Nothing else would be touched.".to_owned(),
            (true, many) => format!("It rests on {many}, at most {furthest} away."),
            (false, many) => format!("{many} more would be touched, at most {furthest} away."),
        };
        out.push_str(&what);
        out.push('\n');
        out
    }

    /// Returns it as JSON.
    pub fn to_json(&self) -> Json {
        let impacted = self.touched.iter().map(|it| {
            json!({
                "address": it.address, "distance": it.distance, "path": it.path, "through": it.through,
            })
        });
        json!({
            "format_version": "1.0",
            "impacted": impacted.collect::<Vec<_>>(),
            "gone": self.gone,
        })
    }
}

//! What of a plan rests on what: the graph of the nodes that are worth drawing.
//!
//! What lies between them – locals, variables, collections, objects that stay as they are – is passed through where that makes no more
//! edges, and else stays as a junction: a thousand instances that read a thousand others are two thousand edges, not a million.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Node;

use super::context::ExplainContext;
use crate::explain::Leaves;
use crate::lower::Structure;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId};
use crate::operation::dependencies::{Dependencies, EdgeKind};
use crate::reachable::Reachable;
use crate::state::State;

/// The kinds of edges that are drawn: all but those that are only possible.
const FOLLOWED: &[EdgeKind] =
    &[EdgeKind::Value, EdgeKind::Order, EdgeKind::Recorded, EdgeKind::Former];

/// The graph of a plan.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// What is drawn, in the order in which the run numbers it.
    pub all: Vec<Link>,
    /// Where each node stands among them.
    places: BTreeMap<Node, usize>,
}

/// One node of the graph.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// What it is called.
    pub name: String,
    /// The block that it is an instance of; its name where it is none.
    pub block: String,
    /// The module that it is in, without keys; nothing for the root module.
    pub module: String,
    /// Whether it only lies between others.
    pub is_junction: bool,
    /// What it rests on, by position.
    pub rests_on: Vec<usize>,
}

impl Links {
    /// Returns the graph of what is worth drawing.
    pub(in crate::operation) fn of(context: &ExplainContext, worth: &BTreeSet<Node>) -> Links {
        let mut between = Between::of(&context.dependencies(), worth);
        between.pass_through(worth);
        let nodes: BTreeSet<Node> =
            worth.iter().chain(between.down.keys()).chain(between.up.keys()).copied().collect();
        let places: BTreeMap<Node, usize> = nodes.iter().copied().zip(0..).collect();
        let link = |node: &Node| {
            let below = between.down.get(node).into_iter().flatten();
            let (block, module) = within(&context.structure, *node);
            Link {
                name: context.name(*node),
                block,
                module,
                is_junction: !worth.contains(node),
                rests_on: below.filter_map(|it| places.get(it).copied()).collect(),
            }
        };
        Links { all: nodes.iter().map(link).collect(), places }
    }

    /// Returns the graph of a state: which objects rest on which, as it records that.
    pub fn of_state(state: &State) -> Links {
        let mut links = Links::default();
        let mut blocks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for (address, ..) in state.instances() {
            let (name, block) = (address.to_string(), address.config().to_string());
            names.insert(name.clone(), links.all.len());
            blocks.entry(block.clone()).or_default().push(links.all.len());
            let module = address.config().module.to_string();
            links.all.push(Link { name, block, module, ..Link::default() });
        }
        for (at, (.., instance)) in state.instances().enumerate() {
            let Some(object) = &instance.current else { continue };
            links.all[at].rests_on = match &object.reads {
                Some(reads) => reads.iter().filter_map(|it| names.get(&**it).copied()).collect(),
                None => {
                    let all = object.dependencies.iter();
                    all.filter_map(|it| links.whole(it, &mut blocks)).collect()
                }
            };
        }
        links
    }

    /// What stands for all instances of a block: the only one, or a junction before them.
    fn whole(&mut self, block: &str, blocks: &mut BTreeMap<String, Vec<usize>>) -> Option<usize> {
        let instances = blocks.get_mut(block)?;
        if instances.len() > 1 {
            let link = Link {
                name: format!("{block} (all instances)"),
                block: block.to_owned(),
                module: self.all[instances[0]].module.clone(),
                is_junction: true,
                rests_on: std::mem::replace(instances, vec![self.all.len()]),
            };
            self.all.push(link);
        }
        instances.first().copied()
    }

    /// Returns where a node stands, if it is drawn.
    pub(super) fn place(&self, node: Node) -> Option<usize> {
        self.places.get(&node).copied()
    }
}

/// The block and the module of a node.
pub(in crate::operation) fn within(structure: &Structure, node: Node) -> (String, String) {
    let resource = |id: &ResourceId| {
        let block = structure.resource(*id).address.config();
        (block.to_string(), block.module.to_string())
    };
    let placed = |id: &ModuleId| structure.module(*id).address.module().to_string();
    match structure.kind(node) {
        NodeKind::Object(id, _)
        | NodeKind::Deposed(id, ..)
        | NodeKind::Repetition(id)
        | NodeKind::Collection(id)
        | NodeKind::Pending(id) => resource(id),
        NodeKind::Variable(id, _) | NodeKind::Local(id, _) | NodeKind::Check(id, _) => {
            (structure.name(node), placed(id))
        }
        NodeKind::Output(id, _) | NodeKind::Module(id) => (structure.name(node), placed(id)),
        NodeKind::CallKeys(id)
        | NodeKind::Call(id)
        | NodeKind::Given(id, _)
        | NodeKind::Inside(id) => (structure.name(node), placed(&structure.call(*id).parent)),
        NodeKind::Recorded(_) | NodeKind::Provider(_) => (structure.name(node), String::new()),
    }
}

/// Edges in both directions.
#[derive(Default)]
struct Between {
    down: BTreeMap<Node, BTreeSet<Node>>,
    up: BTreeMap<Node, BTreeSet<Node>>,
}

impl Between {
    /// The edges that matter to some nodes: those that lead from one of them to another, whatever lies between.
    fn of(dependencies: &Dependencies, worth: &BTreeSet<Node>) -> Between {
        let mut all = Between::default();
        dependencies.pairs(FOLLOWED).for_each(|(from, to)| all.insert(from, to));
        let (below, above) = (reached(&all.down, worth), reached(&all.up, worth));
        let matters = |it: &Node| below.contains(it) && above.contains(it);
        let mut kept = Between::default();
        for (from, targets) in all.down.iter().filter(|it| matters(it.0)) {
            targets.iter().filter(|it| matters(it)).for_each(|it| kept.insert(*from, *it));
        }
        kept
    }

    fn insert(&mut self, from: Node, to: Node) {
        self.down.entry(from).or_default().insert(to);
        self.up.entry(to).or_default().insert(from);
    }

    /// Takes away what is not worth drawing, as long as that leaves no more edges than there were.
    fn pass_through(&mut self, worth: &BTreeSet<Node>) {
        let inner: Vec<Node> = self.down.keys().filter(|it| !worth.contains(it)).copied().collect();
        for node in inner {
            let count =
                |of: &BTreeMap<Node, BTreeSet<Node>>| of.get(&node).map_or(0, BTreeSet::len);
            let (above, below) = (count(&self.up), count(&self.down));
            if above * below > above + below {
                continue;
            }
            let above = self.up.remove(&node).unwrap_or_default();
            let below = self.down.remove(&node).unwrap_or_default();
            for it in &above {
                self.down.entry(*it).or_default().remove(&node);
            }
            for it in &below {
                self.up.entry(*it).or_default().remove(&node);
            }
            for from in &above {
                below.iter().filter(|it| *it != from).for_each(|it| self.insert(*from, *it));
            }
        }
    }
}

/// Everything that can be reached from some nodes, themselves included.
fn reached(edges: &BTreeMap<Node, BTreeSet<Node>>, from: &BTreeSet<Node>) -> BTreeSet<Node> {
    Reachable::from(from.iter().copied(), |it| edges.get(&it).into_iter().flatten().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use entail_rules::Facts;

    use super::*;

    /// The edges that are left between the nodes below `inner`.
    fn check(edges: &[(u32, u32)], worth: &[u32]) -> Vec<(u32, u32)> {
        let reads = edges.iter().map(|it| (Node(it.0), Node(it.1))).collect();
        let facts = Facts { reads, ..Facts::default() };
        let worth: BTreeSet<Node> = worth.iter().copied().map(Node).collect();
        let mut between = Between::of(&Dependencies::of(&facts, None), &worth);
        between.pass_through(&worth);
        let all = between.down.iter();
        all.flat_map(|(from, to)| to.iter().map(|it| (from.0, it.0))).collect()
    }

    #[test]
    fn what_lies_between_is_passed_through() {
        assert_eq!(check(&[(0, 1), (1, 2), (2, 3)], &[0, 3]), [(0, 3)]);
        assert_eq!(check(&[(0, 1), (1, 9), (8, 0)], &[0, 1]), [(0, 1)]);
    }

    #[test]
    fn what_many_read_of_many_stays_a_junction() {
        let many: Vec<(u32, u32)> = (0..5).flat_map(|it| [(it, 10), (10, 20 + it)]).collect();
        let worth: Vec<u32> = (0..5).chain(20..25).collect();
        assert_eq!(
            check(&many, &worth),
            many.iter().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        );
    }
}

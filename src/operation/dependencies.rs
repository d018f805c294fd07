//! What depends on what: one relation between all nodes of a run, each edge with its kind. Questions about effects, ways and graphs
//! read it, and name the kinds that they follow.

use std::collections::VecDeque;

use entail_rules::{Facts, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lower::{Provenance, Structure};
use crate::world::falsifies;

/// Why a node depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// Its value or its keys are derived from the other, or its `depends_on`, provider or trigger names it; or it is read or opened
    /// late, and its results are not known, where something is to be done with the other.
    Value,
    /// One of the instances that it stands for may read the other, or may be the other.
    Possible,
    /// It waits for the other, of which it reads a part.
    Order,
    /// The state records the dependency, and no block declares the object any more.
    Recorded,
    /// The state records the dependency, but a block declares the object and says what it depends on now.
    Former,
}

/// Which nodes depend on which.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    /// `(n, m, kind)`: `n` depends on `m`.
    edges: Vec<(Node, Node, EdgeKind)>,
}

/// The edges of some kinds in one direction: the neighbours of each node, sorted.
pub type Adjacency = FxHashMap<Node, Vec<Node>>;

/// Which way edges are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    /// From a node to those that depend on it.
    Dependents,
    /// From a node to those that it depends on.
    Sources,
}

impl Dependencies {
    /// Returns the dependencies that facts state.
    ///
    /// - `provenance`: what values and objects are derived from, part by part; where it says more exactly what a node depends on, it
    ///   takes the place of the facts.
    pub fn of(facts: &Facts, provenance: Option<&Provenance>) -> Dependencies {
        let superseded: FxHashSet<(Node, Node)> =
            provenance.into_iter().flat_map(|it| &it.superseded).copied().collect();
        let stands = |it: &&(Node, Node)| superseded.is_empty() || !superseded.contains(it);
        let rows = provenance.filter(|_| !falsifies("impact")).into_iter().flat_map(|it| &it.rows);
        let is_declared = |it: &&(Node, Node)| facts.declared.binary_search(&(it.0,)).is_ok();
        let waits = waits(facts, &superseded, provenance);
        let mut edges = Vec::with_capacity(facts.reads.len() + facts.waits_for.len());
        let mut add = |kind, rows: &mut dyn Iterator<Item = &(Node, Node)>| {
            edges.extend(rows.filter(|it| it.0 != it.1).map(|it| (it.0, it.1, kind)));
        };
        add(EdgeKind::Value, &mut facts.reads.iter().filter(stands).chain(rows));
        add(EdgeKind::Value, &mut waits.iter());
        add(EdgeKind::Possible, &mut facts.may_read.iter().filter(stands));
        add(EdgeKind::Possible, &mut late_instances(facts).iter());
        add(EdgeKind::Order, &mut facts.waits_for.iter());
        add(EdgeKind::Recorded, &mut facts.needs.iter().filter(|it| !is_declared(it)));
        add(EdgeKind::Former, &mut facts.needs.iter().filter(is_declared));
        Dependencies { edges }
    }

    /// Adds that the outputs of what stands for all instances of a module call may be those of the instances that are named or in
    /// the state.
    pub fn with_stand_ins(mut self, structure: &Structure) -> Dependencies {
        let calls = structure.calls.iter().filter(|it| it.pending);
        for (call, stand_in) in calls.filter_map(|it| Some((it, it.instances.values().next()?))) {
            let named: Vec<_> =
                call.named.values().map(|it| &structure.module(*it).outputs).collect();
            for (name, output) in structure.module(*stand_in).outputs.iter() {
                let own = named.iter().filter_map(|it| it.get(name));
                self.edges.extend(own.map(|it| (*output, *it, EdgeKind::Possible)));
            }
        }
        self
    }

    /// Iterates over the pairs of a node and one that it depends on, over edges of these kinds.
    pub fn pairs(&self, kinds: &[EdgeKind]) -> impl Iterator<Item = (Node, Node)> {
        self.edges.iter().filter(|it| kinds.contains(&it.2)).map(|it| (it.0, it.1))
    }

    /// Returns the edges of these kinds, for who follows them in one direction.
    pub fn adjacency(&self, towards: Towards, kinds: &[EdgeKind]) -> Adjacency {
        let mut next = Adjacency::default();
        for (node, source) in self.pairs(kinds) {
            let (from, to) = match towards {
                Towards::Dependents => (source, node),
                Towards::Sources => (node, source),
            };
            next.entry(from).or_default().push(to);
        }
        for all in next.values_mut() {
            all.sort_unstable();
            all.dedup();
        }
        next
    }
}

/// Returns which instances may be among those that are read before their keys are known: `(n, m)`.
fn late_instances(facts: &Facts) -> Vec<(Node, Node)> {
    let mut instances: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    facts.late.iter().for_each(|it| instances.entry(it.1).or_default().push(it.0));
    let of = |it: &(Node, Node)| {
        let all = instances.get(&it.1).into_iter().flatten();
        all.map(|instance| (it.0, *instance)).collect::<Vec<_>>()
    };
    facts.reads_open.iter().flat_map(of).collect()
}

/// Returns what data sources and ephemeral resources wait for: `(n, m)`. That they read of `m` only what stays as it is, or nothing,
/// makes no difference.
fn waits(
    facts: &Facts,
    superseded: &FxHashSet<(Node, Node)>,
    provenance: Option<&Provenance>,
) -> Vec<(Node, Node)> {
    let mut found: Vec<(Node, Node)> = facts.data_waits.clone();
    let is_conditional = |it: Node| facts.has_conditions.binary_search(&(it,)).is_ok();
    let waiting = facts.data.iter().chain(&facts.ephemeral).map(|it| it.0);
    let conditional = waiting.filter(|it| is_conditional(*it)).map(|it| (it, it));
    let behind = facts.data_waits_behind.iter().copied();
    let mut known: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    for (node, behind) in behind.chain(conditional) {
        let is_left = |it: &(Node, Node)| {
            superseded.contains(it)
                && provenance.is_none_or(|all| all.rows.binary_search(it).is_err())
        };
        let all = known.entry(behind).or_insert_with(|| read_in_parts(facts, is_left, behind));
        found.extend(all.iter().map(|it| (node, *it)));
        found.push((node, behind));
    }
    found
}

/// Returns what is read, behind a node, only by something that is derived from other parts of it.
///
/// - `is_left`: whether that is how the first of a pair reads the second.
fn read_in_parts(
    facts: &Facts,
    is_left: impl Fn(&(Node, Node)) -> bool,
    behind: Node,
) -> Vec<Node> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::from_iter([behind]);
    let mut open = vec![behind];
    while let Some(node) = open.pop() {
        let first = facts.reads.partition_point(|it| it.0 < node);
        for pair in facts.reads[first..].iter().take_while(|it| it.0 == node) {
            if is_left(pair) {
                found.push(pair.1);
            }
            if seen.insert(pair.1) {
                open.push(pair.1);
            }
        }
    }
    found
}

/// What can be reached from some nodes, and on which shortest way.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// How far each node is away, and the node before it on the way; `None` for a start.
    pub reached: FxHashMap<Node, (usize, Option<Node>)>,
    /// The nodes, nearest first.
    pub order: Vec<Node>,
}

/// Follows edges from some nodes until nothing new is met, or everything is as far away as allowed.
///
/// - `weight`: how many steps it takes to get to a node: 0 or 1.
pub fn reach(
    start: impl IntoIterator<Item = Node>,
    next: &Adjacency,
    weight: impl Fn(Node) -> usize,
    depth: Option<usize>,
) -> Reach {
    let mut found = Reach::default();
    let mut todo: VecDeque<Node> = start.into_iter().collect();
    found.reached.extend(todo.iter().map(|it| (*it, (0, None))));
    // A node without weight goes first, so that every node is met on a shortest way.
    let mut done: FxHashSet<Node> = FxHashSet::default();
    while let Some(node) = todo.pop_front() {
        if !done.insert(node) {
            continue;
        }
        found.order.push(node);
        let distance = found.reached[&node].0;
        for &other in next.get(&node).into_iter().flatten() {
            let step = weight(other);
            let further = distance + step;
            if depth.is_some_and(|most| further > most) || done.contains(&other) {
                continue;
            }
            let known = found.reached.get(&other).map(|it| it.0);
            if known.is_none_or(|known| further < known) {
                found.reached.insert(other, (further, Some(node)));
                if step == 0 { todo.push_front(other) } else { todo.push_back(other) }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[EdgeKind] = &[EdgeKind::Value, EdgeKind::Possible, EdgeKind::Recorded];

    fn pairs(rows: &[(u32, u32)]) -> Vec<(Node, Node)> {
        rows.iter().map(|it| (Node(it.0), Node(it.1))).collect()
    }

    #[test]
    fn provenance_takes_the_place_of_reads_that_it_says_more_exactly() {
        let facts = Facts { reads: pairs(&[(0, 1), (0, 2), (1, 3)]), ..Facts::default() };
        let provenance = Provenance { rows: pairs(&[(0, 4)]), superseded: pairs(&[(0, 1)]) };
        let found = Dependencies::of(&facts, Some(&provenance));
        assert_eq!(found.pairs(ALL).collect::<Vec<_>>(), pairs(&[(0, 2), (1, 3), (0, 4)]));
    }

    #[test]
    fn the_state_speaks_only_for_objects_without_a_block() {
        let facts = Facts {
            declared: vec![(Node(0),)],
            needs: pairs(&[(0, 1), (2, 1)]),
            ..Facts::default()
        };
        let found = Dependencies::of(&facts, None);
        assert_eq!(found.pairs(ALL).collect::<Vec<_>>(), pairs(&[(2, 1)]));
    }

    #[test]
    fn nodes_without_weight_lie_on_the_way() {
        let facts = Facts { reads: pairs(&[(1, 0), (2, 1), (3, 2), (3, 0)]), ..Facts::default() };
        let next = Dependencies::of(&facts, None).adjacency(Towards::Dependents, ALL);
        let found = reach([Node(0)], &next, |it| usize::from(it == Node(3)), None);
        assert_eq!(found.reached[&Node(2)].0, 0);
        assert_eq!(found.reached[&Node(3)].0, 1);
        assert_eq!(found.order.last(), Some(&Node(3)));
        let none = reach([Node(0)], &next, |_| 1, Some(1));
        assert!(!none.reached.contains_key(&Node(2)));
    }
}

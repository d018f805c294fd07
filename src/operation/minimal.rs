//! `minimal`: the fewest flags that bring certain changes and no others that are not needed for them, or that keep certain objects as they are.
//!
//! The rules of selection decide what a flag brings along. Here their conclusions are read: which addresses are enough.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::selection::Selection;
use entail_rules::{Facts, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dependencies::Adjacency;
use super::explain::{Asked, ExplainContext};
use crate::config::check::cycles::components;
use crate::diagnostic::Diagnostic;
use crate::explain::Leaves;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId};
use crate::planner::Structured;
use crate::reachable::Reachable;
use crate::world::falsifies;

/// What the flags are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To bring changes: what is targeted brings along what it depends on.
    Change,
    /// To keep objects as they are: what is excluded takes along what depends on it.
    Keep,
}

impl Purpose {
    /// Returns the objects that flags reach: those that take part, or those that are left out.
    fn reached(self, selection: &Selection) -> &[(Node,)] {
        match self {
            Purpose::Change => &selection.want,
            Purpose::Keep => &selection.out,
        }
    }

    /// Returns what brings along what, in a run whose flags name everything that is asked for.
    pub fn brings(self, facts: &Facts, selection: &Selection) -> Adjacency {
        let mut next = Adjacency::default();
        let mut add = |cause: Node, brought: Node| {
            if cause != brought && !falsifies("minimal") {
                next.entry(cause).or_default().push(brought);
            }
        };
        match self {
            Purpose::Change => selection.wanted_by.iter().for_each(|it| add(it.1, it.0)),
            Purpose::Keep => {
                let by = selection.excluded_by.iter().chain(&selection.doubted_by);
                by.for_each(|it| add(it.1, it.0));
                // An object that stays keeps what it depends on, even through objects that are not left out.
                let stays: FxHashSet<Node> = selection.kept.iter().map(|it| it.0).collect();
                let kept = facts.needs.iter().filter(|it| stays.contains(&it.0));
                kept.for_each(|it| add(it.0, it.1));
            }
        }
        next
    }
}

/// A run, and what its flags are for.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// What its numbers stand for.
    pub context: &'a ExplainContext,
    /// What was concluded before any provider was asked.
    pub known: &'a Structured,
    /// What its flags are for.
    pub purpose: Purpose,
    /// Addresses that flags have to name anyway.
    pub given: &'a [String],
}

/// The objects that are asked for.
pub struct Wanted {
    /// Their nodes.
    pub nodes: BTreeSet<Node>,
}

/// A flag that names an object, a resource or a module, of which all is asked for.
struct Candidate {
    address: String,
    nodes: BTreeSet<Node>,
}

impl Wanted {
    /// Finds the objects that addresses name.
    ///
    /// # Errors
    ///
    /// If nothing has an address, or there is no object in what has it.
    pub fn read(addresses: &[String], context: &ExplainContext) -> Result<Wanted, Diagnostic> {
        let mut nodes = BTreeSet::new();
        for text in addresses {
            let found = Asked::read(text, context)?.objects(context);
            if found.is_empty() {
                return Err(Diagnostic::error("No object has that address").detail(format!(
                    "{text} is no resource instance, no resource and no module with any."
                )));
            }
            nodes.extend(found);
        }
        Ok(Wanted { nodes })
    }

    /// Returns the objects that have these names in another run.
    pub fn named(names: &BTreeSet<String>, context: &ExplainContext) -> Wanted {
        Wanted { nodes: names.iter().filter_map(|it| context.find(it)).collect() }
    }

    /// Returns the addresses of all objects, one for each.
    pub fn names(&self, context: &ExplainContext) -> BTreeSet<String> {
        self.nodes.iter().map(|it| name(context, *it)).collect()
    }

    /// Returns the fewest addresses that reach everything in `needed`, and that name nothing that is not asked for.
    ///
    /// - `run`: a run whose flags name everything that is asked for.
    /// - `needed`: the names of those of the objects that need a flag.
    /// - `conclude`: what follows from flags with these addresses.
    ///
    /// # Errors
    ///
    /// Those of `conclude`.
    pub fn addresses<E>(
        &self,
        run: &Run<'_>,
        needed: &BTreeSet<String>,
        conclude: impl Fn(&[String]) -> Result<Structured, E>,
    ) -> Result<Vec<String>, E> {
        let Run { context, known, purpose, given } = *run;
        let next = purpose.brings(&known.lowered.facts, &known.selection);
        let is_needed = |it: &Node| needed.contains(&name(context, *it));
        let nodes = self.nodes.iter().copied().filter(is_needed).collect();
        let given = given.iter().filter_map(|it| Asked::read(it, context).ok());
        let given = given.flat_map(|it| it.objects(context)).collect();
        let mut chosen = self.cover(context, &first_groups(&nodes, &given, &next));
        // One reason may not be enough where a conclusion has several premises: then each address is tried on its own.
        let reaches = |addresses: &[String]| -> Result<bool, E> {
            let known = conclude(addresses)?;
            let structure = &known.lowered.structure;
            let name = |node: Node| match structure.kind(node) {
                NodeKind::Pending(id) => structure.resource(*id).address.to_string(),
                _ => structure.name(node),
            };
            let reached = purpose.reached(&known.selection).iter();
            let reached: FxHashSet<String> = reached.map(|it| name(it.0)).collect();
            Ok(needed.iter().all(|it| reached.contains(it)))
        };
        if reaches(&chosen)? {
            return Ok(chosen);
        }
        chosen.extend(needed.iter().cloned());
        chosen.sort();
        chosen.dedup();
        pruned(chosen, reaches)
    }

    /// Chooses as few addresses as name one object of each group; of those that name as many groups, the narrowest.
    fn cover(&self, context: &ExplainContext, groups: &[BTreeSet<Node>]) -> Vec<String> {
        let candidates = self.candidates(context);
        let mut left: BTreeSet<usize> = (0..groups.len()).collect();
        let mut chosen = Vec::new();
        let group_of: FxHashMap<Node, usize> = groups
            .iter()
            .enumerate()
            .flat_map(|(at, all)| all.iter().map(move |it| (*it, at)))
            .collect();
        let covered: Vec<BTreeSet<usize>> = candidates
            .iter()
            .map(|it| it.nodes.iter().filter_map(|it| group_of.get(it).copied()).collect())
            .collect();
        while !left.is_empty() {
            let best = (0..candidates.len()).max_by_key(|&it| {
                let count = covered[it].intersection(&left).count();
                (count, std::cmp::Reverse(candidates[it].nodes.len()), std::cmp::Reverse(it))
            });
            let Some(best) = best.filter(|it| !covered[*it].is_disjoint(&left)) else { break };
            left.retain(|it| !covered[best].contains(it));
            chosen.push(candidates[best].address.clone());
        }
        chosen.sort();
        chosen
    }

    /// Everything that a flag may name: each object, and each resource and module of which all is asked for.
    fn candidates(&self, context: &ExplainContext) -> Vec<Candidate> {
        let structure = &context.structure;
        let mut found: Vec<Candidate> = Vec::new();
        let mut resources: BTreeSet<ResourceId> = BTreeSet::new();
        let mut modules: BTreeSet<ModuleId> = BTreeSet::new();
        for &node in &self.nodes {
            found.push(Candidate { address: name(context, node), nodes: BTreeSet::from([node]) });
            let (NodeKind::Object(id, _) | NodeKind::Pending(id)) = structure.kind(node) else {
                continue;
            };
            resources.insert(*id);
            let mut module = Some(structure.resource(*id).address.module.clone());
            while let Some(at) = module.filter(|it| !it.is_root()) {
                modules.extend(structure.module_id(&at));
                module = at.parent().map(|it| it.0);
            }
        }
        let resources = resources
            .into_iter()
            .map(|it| (structure.resource(it).address.to_string(), Asked::Resource(it)));
        let modules = modules
            .into_iter()
            .map(|it| (structure.module(it).address.to_string(), Asked::Module(it)));
        for (address, asked) in resources.chain(modules) {
            let nodes: BTreeSet<Node> = asked.objects(context).into_iter().collect();
            if nodes.len() > 1 && nodes.is_subset(&self.nodes) {
                found.push(Candidate { address, nodes });
            }
        }
        found
    }
}

/// Leaves out one address after the other, as long as the others do.
///
/// # Errors
///
/// Those of `does`.
pub fn pruned<E>(
    mut addresses: Vec<String>,
    mut does: impl FnMut(&[String]) -> Result<bool, E>,
) -> Result<Vec<String>, E> {
    let mut at = 0;
    while at < addresses.len() {
        let mut fewer = addresses.clone();
        fewer.remove(at);
        if does(&fewer)? { addresses = fewer } else { at += 1 }
    }
    Ok(addresses)
}

/// The address of an object; of what stands for instances that are not known yet, that of the resource.
fn name(context: &ExplainContext, node: Node) -> String {
    match context.structure.kind(node) {
        NodeKind::Pending(id) => context.structure.resource(*id).address.to_string(),
        _ => context.name(node),
    }
}

/// Groups nodes that bring each other along, and returns the groups that no other group brings along.
///
/// - `given`: nodes that have flags anyway.
fn first_groups(
    nodes: &BTreeSet<Node>,
    given: &BTreeSet<Node>,
    next: &Adjacency,
) -> Vec<BTreeSet<Node>> {
    let ends = next.iter().flat_map(|it| it.1.iter().chain([it.0]));
    let all: BTreeSet<Node> = ends.chain(nodes).chain(given).copied().collect();
    let all: Vec<Node> = all.into_iter().collect();
    let place = |node: &Node| all.binary_search(node).map_or(0, |it| it as u32);
    let links: Vec<Vec<(u32, ())>> = all
        .iter()
        .map(|it| next.get(it).into_iter().flatten().map(|it| (place(it), ())).collect())
        .collect();
    // The component of each node, called by its first node.
    let mut component: Vec<u32> = (0..all.len() as u32).collect();
    for found in components(all.len(), |it| &links[it as usize]) {
        let first = found.iter().copied().min().unwrap_or_default();
        found.into_iter().for_each(|it| component[it as usize] = first);
    }
    let mut below: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (from, targets) in links.iter().enumerate() {
        let own = component[from];
        let others = targets.iter().map(|it| component[it.0 as usize]).filter(|it| *it != own);
        below.entry(own).or_default().extend(others);
    }
    let mut groups: BTreeMap<u32, BTreeSet<Node>> = BTreeMap::new();
    for node in nodes {
        groups.entry(component[place(node) as usize]).or_default().insert(*node);
    }
    let below = |it: u32| below.get(&it).into_iter().flatten().copied();
    let given = given.iter().map(|it| component[place(it) as usize]);
    let start = groups.keys().flat_map(|it| below(*it)).chain(given);
    let brought: FxHashSet<u32> = Reachable::from(start, below).collect();
    groups.into_iter().filter(|it| !brought.contains(&it.0)).map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The groups among the first nodes, where the pairs bring along.
    fn check(count: u32, given: &[u32], pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut next = Adjacency::default();
        pairs.iter().for_each(|it| next.entry(Node(it.0)).or_default().push(Node(it.1)));
        let given = given.iter().copied().map(Node).collect();
        let found = first_groups(&(0..count).map(Node).collect(), &given, &next);
        found.iter().map(|it| it.iter().map(|it| it.0).collect()).collect()
    }

    #[test]
    fn a_group_that_another_brings_along_needs_no_flag() {
        assert_eq!(check(3, &[], &[]), [[0], [1], [2]]);
        assert_eq!(check(3, &[], &[(0, 1), (1, 2)]), [[0]]);
        assert_eq!(check(3, &[], &[(2, 9), (9, 1), (1, 0)]), [[2]]);
        assert_eq!(check(3, &[], &[(0, 1), (1, 0), (1, 2)]), [[0, 1]]);
        assert_eq!(check(3, &[9, 2], &[(9, 1)]), [[0]]);
    }
}

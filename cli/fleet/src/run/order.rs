//! Which stack comes before which: as `fleet.hcl` says, and as they read the outputs of each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use entail::diagnostic::Diagnostics;
use entail::world::World;

use super::report::{Ran, Status};
use crate::facts::Extractor;
use crate::index::place_of_module;
use crate::reading;
use crate::stacks::{Place, Stack, is_named};

/// The order of stacks.
#[derive(Clone, Debug, Default)]
pub struct Order {
    before: BTreeMap<String, BTreeSet<String>>,
    circles: BTreeMap<String, Vec<String>>,
}

impl Order {
    /// Finds the order of stacks.
    ///
    /// # Errors
    ///
    /// If nothing can be concluded here at all. What cannot be read of a stack shows when it runs.
    pub fn of(world: &Arc<World>, stacks: &BTreeMap<String, Stack>) -> Result<Order, Diagnostics> {
        let (all, extractor) = (stacks.values().collect::<Vec<_>>(), Extractor::new(world)?);
        let read = reading::each(&all, reading::threads(), |stack| {
            let own = reading::world_of(world, stack);
            let at = match &stack.place {
                Place::Module { folder, .. } => place_of_module(&own, folder),
                Place::State { .. } => String::new(),
            };
            let reads = extractor.reads(stack).unwrap_or_default();
            (at, reads)
        })?;
        let places: BTreeMap<&str, &str> =
            all.iter().zip(&read).map(|(it, read)| (read.0.as_str(), it.name.as_str())).collect();
        let mut order = Order::default();
        for (stack, (_, reads)) in all.iter().zip(&read) {
            let declared = stacks.keys().filter(|it| {
                *it != &stack.name && stack.after.iter().any(|pattern| is_named(pattern, it))
            });
            let read = reads.iter().filter_map(|it| places.get(it.as_str()));
            let read = read.filter(|it| **it != stack.name).map(|it| (*it).to_owned());
            order.before.insert(stack.name.clone(), declared.cloned().chain(read).collect());
        }
        order.find_circles();
        Ok(order)
    }

    /// Returns what comes before a stack; of a circle, what is not in it.
    pub fn before(&self, stack: &str) -> BTreeSet<String> {
        let circle = self.circles.get(stack);
        let all = self.before.get(stack).into_iter().flatten();
        all.filter(|it| !circle.is_some_and(|circle| circle.contains(it))).cloned().collect()
    }

    /// Returns the stacks that rest on each other, where this is one of them.
    pub fn circle_of(&self, stack: &str) -> Option<&Vec<String>> {
        self.circles.get(stack)
    }

    /// Returns what would be run, in order.
    pub fn dry(&self, stacks: &BTreeMap<String, Stack>) -> Vec<Ran> {
        let (mut ran, mut done): (Vec<Ran>, BTreeSet<String>) = (Vec::new(), BTreeSet::new());
        while done.len() < stacks.len() {
            let is_due = |it: &&String| !done.contains(*it) && self.before(it).is_subset(&done);
            let Some(next) = stacks.keys().find(is_due).cloned() else { break };
            let mut it = Ran::of(&next, Status::Skipped);
            it.because = Some("dry run".to_owned());
            it.after = self.before(&next).into_iter().collect();
            if let Some(circle) = self.circle_of(&next) {
                it.status = Status::Failed;
                it.because =
                    Some(format!("these stacks rest on each other: {}", circle.join(", ")));
            }
            ran.push(it);
            done.insert(next);
        }
        ran
    }

    /// Finds the stacks from which one comes back to them.
    fn find_circles(&mut self) {
        let reach = |from: &str| -> BTreeSet<&str> {
            let mut reached: BTreeSet<&str> = BTreeSet::new();
            let mut open: Vec<&str> = vec![from];
            while let Some(at) = open.pop() {
                for next in self.before.get(at).into_iter().flatten() {
                    if reached.insert(next) {
                        open.push(next);
                    }
                }
            }
            reached
        };
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.before.keys().map(|it| (it.as_str(), reach(it))).collect();
        let mut circles = BTreeMap::new();
        for (stack, all) in reached.iter().filter(|it| it.1.contains(it.0)) {
            let back =
                all.iter().filter(|it| reached.get(**it).is_some_and(|it| it.contains(stack)));
            circles.insert((*stack).to_owned(), back.map(|it| (*it).to_owned()).collect());
        }
        self.circles = circles;
    }
}

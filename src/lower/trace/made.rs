//! The instances that were made of each module.

use crate::lower::blocks::VariantId;
use crate::lower::structure::ModuleId;

/// The instances of each module, those that were made last first.
///
/// There may be half a million of each: they are looked up by their numbers.
#[derive(Default)]
pub(super) struct Made {
    /// The last one of each module.
    last: Vec<Option<ModuleId>>,
    /// For each instance, the one that was made of the same module before.
    before: Vec<Option<ModuleId>>,
    /// The first instance that counts, while only those are asked for that are made from then on.
    since: usize,
}

impl Made {
    /// No instances of so many modules.
    pub fn of_modules(count: usize) -> Made {
        Made { last: vec![None; count], before: Vec::with_capacity(count), since: 0 }
    }

    /// Adds an instance of a module; it was made after all others.
    pub fn add(&mut self, module: VariantId, instance: ModuleId) {
        let before = self.last[module.index()].replace(instance);
        self.before.resize(instance.index(), None);
        self.before.push(before);
    }

    /// Returns the instances of a module that count, the last one first.
    pub fn of(&self, module: VariantId) -> impl Iterator<Item = ModuleId> {
        let last = self.last[module.index()];
        let all = std::iter::successors(last, |it| self.before[it.index()]);
        all.take_while(|it| it.index() >= self.since)
    }

    /// Lets instances count only from this one on. Returns from which on they did.
    pub fn count_from(&mut self, first: usize) -> usize {
        std::mem::replace(&mut self.since, first)
    }
}

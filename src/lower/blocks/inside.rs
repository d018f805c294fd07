//! Everything inside of a module: one block for all who depend on it, so that not each of them refers to all of it.

use super::{BlockGraph, BlockKey, VariantId};
use crate::value::Str;

impl BlockGraph {
    /// Returns the outputs of a call that some `depends_on` names by themselves.
    ///
    /// - `block`: the number of the block of the call.
    pub fn outputs_depended_on(&self, block: usize) -> impl Iterator<Item = &Str> {
        self.depended_on.get(&(block as u32)).into_iter().flatten()
    }

    /// Returns whether some `depends_on` names everything in a call of a module, or in a call around that.
    pub fn is_depended_on(&self, module: VariantId, call: &Str) -> bool {
        self.depended_on_within.contains(&module)
            || self.find(module, &BlockKey::Inside(call.clone())).is_some()
    }

    /// Returns the blocks that a block refers to, each inside of a module that it depends on by itself.
    pub fn referred_to(&self, block: usize) -> impl Iterator<Item = usize> {
        self.edges(block).iter().flat_map(|&(to, _)| {
            let inside = match self.block(to as usize).key {
                BlockKey::Inside(_) => self.edges(to as usize),
                _ => &[],
            };
            let itself = Some(to).filter(|_| inside.is_empty());
            itself.into_iter().chain(inside.iter().map(|it| it.0)).map(|it| it as usize)
        })
    }

    /// The blocks of a module and of those that it calls, as they are called there.
    pub(super) fn inside(&self, module: VariantId) -> impl Iterator<Item = usize> {
        let mut modules = vec![module];
        let mut at = 0;
        while let Some(&next) = modules.get(at) {
            let code = &self.modules[next];
            modules.extend(code.calls().flat_map(|it| self.modules.called(next, it)));
            at += 1;
        }
        modules.into_iter().flat_map(|it| self.modules[it].blocks())
    }
}

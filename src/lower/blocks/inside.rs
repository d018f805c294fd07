//! Everything inside of a module: one block for all who depend on it, so that not each of them refers to all of it.

use super::{BlockGraph, BlockKey, BlockNode};
use crate::config::{Config, Variant};
use crate::diagnostic::Span;
use crate::value::Str;

impl BlockGraph {
    /// Returns the block of everything inside of what a call leads to; the first who asks for it lets it be made. Nothing
    /// where there is no such call.
    pub(super) fn inside_of(
        &mut self,
        config: &Config,
        caller: &Variant,
        call: &Str,
    ) -> Option<usize> {
        let itself = self.find(caller, BlockKey::Call(call.clone()))?;
        let key = BlockKey::Inside(call.clone());
        if let Some(known) = self.find(caller, key.clone()) {
            return Some(known);
        }
        let mut targets = vec![itself];
        let mut modules = Vec::new();
        for (child, module) in config.called(caller, call) {
            let output = |name: &Str| self.find(&child, BlockKey::Output(name.clone()));
            targets.extend(module.outputs.keys().filter_map(output));
            let is_resource = |it: &usize| matches!(self.blocks[*it].key, BlockKey::Resource(_));
            targets.extend(self.inside(&child).filter(is_resource));
            modules.push(child);
        }
        let number = self.blocks.len();
        self.add(caller, key);
        self.plain.push(false);
        self.wholes.insert(number, modules);
        self.blocks[number].edges = targets.into_iter().map(|it| (it, Span::default())).collect();
        Some(number)
    }

    /// Returns the outputs of a call that some `depends_on` names by themselves.
    pub fn outputs_depended_on(&self, caller: &Variant, call: &Str) -> impl Iterator<Item = &Str> {
        self.depended_on.get(&(caller.clone(), call.clone())).into_iter().flatten()
    }

    /// Returns the blocks that a block refers to, each inside of a module that it depends on by itself.
    pub fn referred_to(&self, block: usize) -> impl Iterator<Item = usize> {
        self.blocks[block].edges.iter().flat_map(|&(to, _)| {
            let inside = match self.blocks[to].key {
                BlockKey::Inside(_) => &self.blocks[to].edges[..],
                _ => &[],
            };
            let itself = Some(to).filter(|_| inside.is_empty());
            itself.into_iter().chain(inside.iter().map(|it| it.0))
        })
    }

    /// The blocks of a module and of those that it calls. Blocks are sorted by the depth of their module, then by its name.
    pub(super) fn inside(&self, variant: &Variant) -> impl Iterator<Item = usize> {
        let module = &variant.path;
        let blocks = &self.blocks[..self.declared];
        let deepest = blocks.last().map_or(0, |it| it.module.path.0.len());
        let place = |it: &BlockNode, depth: usize| {
            let own = &it.module.path.0;
            own.len().cmp(&depth).then_with(|| own[..module.0.len()].cmp(&module.0))
        };
        let all = (module.0.len()..=deepest).flat_map(move |depth| {
            let start = blocks.partition_point(|it| place(it, depth).is_lt());
            let count = blocks[start..].partition_point(|it| place(it, depth).is_eq());
            start..start + count
        });
        let is_one = !self.callers.contains_key(module);
        all.filter(move |it| is_one || self.is_within(&self.blocks[*it].module, variant))
    }

    /// Whether a module is, or is called by, another one whose path leads to it.
    fn is_within(&self, variant: &Variant, outer: &Variant) -> bool {
        let (mut path, mut number) = (variant.path.clone(), variant.number);
        while path.0.len() > outer.path.0.len()
            && let Some((above, _)) = path.parent()
        {
            number = self.callers.get(&path).map_or(0, |it| it[number as usize]);
            path = above;
        }
        number == outer.number
    }
}

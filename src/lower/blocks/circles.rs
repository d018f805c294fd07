//! Circles of blocks, opened: for who looks at a configuration whatever is wrong with it.

use std::mem::take;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::{BlockGraph, BlockKey, BlockNode, Edge};
use crate::config::Variant;
use crate::config::check::Suspects;
use crate::config::check::cycles::components;
use crate::diagnostic::Span;

/// Blocks that wait for each other, or for themselves.
#[derive(Clone, Debug, Default)]
pub struct Circles {
    /// The number of the circle that a block is in.
    pub of: FxHashMap<(Variant, BlockKey), u32>,
    /// The references within circles, which the graph is without: who refers to what, and where.
    pub opened: Vec<(usize, usize, Span)>,
}

impl BlockGraph {
    /// Returns the graph without the references from a block of a circle to one of the same circle. What is in a module
    /// still stands behind its call.
    pub fn without_circles(mut self) -> BlockGraph {
        let count = self.count();
        let alone = (0..count as u32).filter(|it| self.refers_to_itself(*it));
        let mut all = components(count, |it| self.edges(it as usize));
        all.extend(alone.map(|it| vec![it]));
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        for (circle, blocks) in all.iter().enumerate() {
            for block in blocks {
                number.entry(*block).or_insert(circle as u32);
            }
        }
        let before = BlockGraph {
            edges: take(&mut self.edges),
            starts: take(&mut self.starts),
            ..BlockGraph::default()
        };
        for from in 0..count {
            let mut edges = before.edges(from).to_vec();
            if let Some(circle) = number.get(&(from as u32)) {
                let is_within = |to: u32| number.get(&to) == Some(circle);
                let is_opened = |it: &Edge| is_within(it.0) && !self.stands_in(from, it.0 as usize);
                let (opened, kept): (Vec<_>, Vec<_>) = edges.into_iter().partition(is_opened);
                let BlockNode { module, key } = self.block(from);
                let block = (self.modules[module].variant.clone(), key.clone());
                let of = &mut self.circles;
                of.of.insert(block, *circle);
                of.opened.extend(opened.into_iter().map(|(to, at)| (from, to as usize, at)));
                edges = kept;
                self.plain[from] = false;
            }
            self.end_block(&mut edges);
        }
        self.circles.opened.sort_unstable();
        self.sorted = OnceLock::new();
        self
    }

    /// Returns what may wait for itself, for the checks of the configuration: of a graph whose edges are drawn.
    pub fn suspects(&self) -> Suspects {
        let own = (0..self.count() as u32).filter(|it| self.refers_to_itself(*it));
        let opened = self.circles.opened.iter().filter(|it| it.0 == it.1).map(|it| it.0);
        let named = |block: usize| match self.block(block).key {
            BlockKey::Resource(name) => Some((self.module_of(block).variant.clone(), name.clone())),
            _ => None,
        };
        Suspects {
            is_circular: !self.circles.opened.is_empty() || self.sorted().is_none(),
            selves: own.map(|it| it as usize).chain(opened).filter_map(named).collect(),
        }
    }

    fn refers_to_itself(&self, block: u32) -> bool {
        self.edges(block as usize).iter().any(|it| it.0 == block)
    }

    /// Whether a block stands in the module that another one calls.
    fn stands_in(&self, inner: usize, call: usize) -> bool {
        self.module_of(inner).caller.is_some_and(|it| it.1 as usize == call)
    }
}

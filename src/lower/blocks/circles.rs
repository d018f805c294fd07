//! Circles of blocks, opened: for who looks at a configuration whatever is wrong with it.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::{BlockGraph, BlockKey, BlockNode};
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
        let links: Vec<Vec<(u32, Span)>> = self.blocks.iter().map(links).collect();
        let alone = (0..links.len() as u32).filter(|it| refers_to_itself(&links, *it));
        let mut all = components(links.len(), |it| &links[it as usize][..]);
        all.extend(alone.map(|it| vec![it]));
        let mut number: FxHashMap<usize, u32> = FxHashMap::default();
        for (circle, blocks) in all.iter().enumerate() {
            for block in blocks {
                number.entry(*block as usize).or_insert(circle as u32);
            }
        }
        for (&from, circle) in &number {
            let edges = std::mem::take(&mut self.blocks[from].edges);
            let node = &self.blocks[from];
            let is_within = |to: usize| number.get(&to) == Some(circle);
            let (opened, kept): (Vec<_>, Vec<_>) = edges
                .into_iter()
                .partition(|it| is_within(it.0) && !stands_in(node, &self.blocks[it.0]));
            self.circles.of.insert((node.module.clone(), node.key.clone()), *circle);
            self.circles.opened.extend(opened.into_iter().map(|(to, at)| (from, to, at)));
            self.blocks[from].edges = kept;
            self.plain[from] = false;
        }
        self.circles.opened.sort_unstable();
        self.sorted = OnceLock::new();
        self
    }

    /// Returns what may wait for itself, for the checks of the configuration: of a graph whose edges are drawn.
    pub fn suspects(&self) -> Suspects {
        let own = |(from, it): (usize, &BlockNode)| {
            it.edges.iter().any(|it| it.0 == from).then_some(from)
        };
        let own = self.blocks.iter().enumerate().filter_map(own);
        let opened = self.circles.opened.iter().filter(|it| it.0 == it.1).map(|it| it.0);
        let named = |block: usize| match &self.blocks[block] {
            BlockNode { module, key: BlockKey::Resource(name), .. } => {
                Some((module.clone(), name.clone()))
            }
            _ => None,
        };
        Suspects {
            is_circular: !self.circles.opened.is_empty() || self.sorted().is_none(),
            selves: own.chain(opened).filter_map(named).collect(),
        }
    }
}

fn links(block: &BlockNode) -> Vec<(u32, Span)> {
    block.edges.iter().map(|it| (it.0 as u32, it.1)).collect()
}

fn refers_to_itself(links: &[Vec<(u32, Span)>], block: u32) -> bool {
    links[block as usize].iter().any(|it| it.0 == block)
}

/// Whether a block stands in the module that another one calls.
fn stands_in(inner: &BlockNode, call: &BlockNode) -> bool {
    let BlockKey::Call(name) = &call.key else { return false };
    let parent = inner.module.path.parent();
    parent.is_some_and(|(above, own)| above == call.module.path && own == *name)
}

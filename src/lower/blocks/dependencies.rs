//! The resources that a resource block rests on, as OpenTofu records them.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashSet;

use super::{BlockGraph, BlockKey};
use crate::address::Mode;
use crate::value::Str;

/// The most `dependencies` that are recorded transitively; beyond that, the nearest ones only.
pub const MOST_DEPENDENCIES: usize = 256;

/// What is found once for all blocks.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The name of each block that is a resource, with its place among all of them.
    names: OnceLock<Vec<Option<(u32, Str)>>>,
    /// Of each block, whether it was found to rest on more than [`MOST_DEPENDENCIES`].
    beyond: OnceLock<Vec<AtomicBool>>,
}

impl BlockGraph {
    /// Returns the resources that a resource block rests on, as OpenTofu records them: every one it refers to, directly
    /// or through anything, up to [`MOST_DEPENDENCIES`]; beyond that only the nearest ones. Sorted by text.
    pub fn dependencies(&self, start: usize) -> Vec<Str> {
        self.named(self.resting_on(start))
    }

    /// Returns the same as [`BlockGraph::dependencies`], which are likely to be these: then no names are made.
    pub fn dependencies_like<'l>(&self, start: usize, likely: &'l [Str]) -> Cow<'l, [Str]> {
        let blocks = self.resting_on(start);
        if self.known.names.get().is_none() && self.are_called(&blocks, likely) {
            return likely.into();
        }
        self.named(blocks).into()
    }

    fn resting_on(&self, start: usize) -> Vec<usize> {
        self.all_resources(start).unwrap_or_else(|| self.nearest_resources(start))
    }

    fn named(&self, blocks: Vec<usize>) -> Vec<Str> {
        if blocks.is_empty() {
            return Vec::new();
        }
        let known = self.resource_names();
        let mut names: Vec<&(u32, Str)> =
            blocks.into_iter().filter_map(|it| known[it].as_ref()).collect();
        names.sort_unstable_by_key(|it| it.0);
        names.dedup_by(|a, b| a.1 == b.1);
        names.into_iter().map(|it| it.1.clone()).collect()
    }

    /// Returns whether these are the names of resource blocks, as they are recorded: in order and each once.
    pub(super) fn are_called(&self, blocks: &[usize], names: &[Str]) -> bool {
        /// So many are compared with each other: of more, each is looked for.
        const FEW: usize = 8;
        if blocks.len() != names.len() || !names.is_sorted_by(|a, b| a < b) {
            return false;
        }
        let mut text = String::new();
        let mut place = |block: usize| {
            if names.len() <= FEW {
                return names.iter().position(|it| self.is_called(block, it));
            }
            text.clear();
            write!(text, "{}", self.resource(block)?).ok()?;
            names.binary_search_by(|it| (**it).cmp(&text)).ok()
        };
        // Blocks of a module that has several sources may share a name.
        let mut are_found = vec![false; names.len()];
        blocks
            .iter()
            .all(|it| place(*it).is_some_and(|it| !std::mem::replace(&mut are_found[it], true)))
    }

    /// Returns whether this is the name of a resource block as it is recorded.
    fn is_called(&self, block: usize, text: &str) -> bool {
        let BlockKey::Resource(name) = self.block(block).key else { return false };
        let path = &self.module_of(block).variant.path.0;
        let within = path.iter().try_fold(text, |rest, call| {
            rest.strip_prefix("module.")?.strip_prefix(&**call)?.strip_prefix('.')
        });
        let bare = within.and_then(|it| match name.mode {
            Mode::Managed => Some(it),
            Mode::Data => it.strip_prefix("data."),
            Mode::Ephemeral => it.strip_prefix("ephemeral."),
        });
        let last = bare.and_then(|it| it.strip_prefix(&*name.kind)?.strip_prefix('.'));
        last.is_some_and(|it| *it == *name.name)
    }

    /// Every name is made once.
    fn resource_names(&self) -> &[Option<(u32, Str)>] {
        self.known.names.get_or_init(|| {
            let name = |block: usize| Some((block, Str::from(self.resource(block)?.to_string())));
            let mut sorted: Vec<(usize, Str)> = (0..self.count()).filter_map(name).collect();
            sorted.sort_unstable_by(|a, b| a.1.cmp(&b.1));
            let mut names = vec![None; self.count()];
            sorted
                .into_iter()
                .enumerate()
                .for_each(|(place, (block, name))| names[block] = Some((place as u32, name)));
            names
        })
    }

    /// Returns the resource blocks that a block refers to, directly or through values, calls and providers.
    pub fn nearest_resources(&self, start: usize) -> Vec<usize> {
        let mut found = Vec::new();
        self.search(start, false, |next| {
            let is_resource = self.is_resource(next);
            if is_resource {
                found.push(next);
            }
            Some(!is_resource)
        });
        found
    }

    /// The resource blocks that a block refers to through anything; nothing where they are too many. Who refers to a block that
    /// rests on too many does so too, and need not count them again.
    fn all_resources(&self, start: usize) -> Option<Vec<usize>> {
        let beyond = self
            .known
            .beyond
            .get_or_init(|| (0..self.count()).map(|_| AtomicBool::new(false)).collect());
        let mut found = Vec::new();
        let is_whole = self.search(start, true, |next| {
            if beyond[next].load(Ordering::Relaxed) {
                return None;
            }
            if self.is_resource(next) {
                found.push(next);
            }
            (found.len() <= MOST_DEPENDENCIES).then_some(true)
        });
        if !is_whole {
            beyond[start].store(true, Ordering::Relaxed);
        }
        is_whole.then_some(found)
    }

    fn is_resource(&self, block: usize) -> bool {
        matches!(self.block(block).key, BlockKey::Resource(_))
    }

    /// Goes through what a block refers to, each block once, as long as `visit` says whether to go on behind it. Returns whether it
    /// did so to the end.
    fn search(
        &self,
        start: usize,
        with_wholes: bool,
        mut visit: impl FnMut(usize) -> Option<bool>,
    ) -> bool {
        if self.edges(start).is_empty() && !self.wholes.contains_key(&(start as u32)) {
            return true;
        }
        let mut seen = Seen::default();
        seen.insert(start as u32);
        let mut open = vec![start];
        while let Some(block) = open.pop() {
            let wholes = self.wholes.get(&(block as u32)).filter(|_| with_wholes);
            let inside = wholes.into_iter().flatten().flat_map(|it| self.inside(*it));
            for next in self.edges(block).iter().map(|it| it.0 as usize).chain(inside) {
                if !seen.insert(next as u32) {
                    continue;
                }
                match visit(next) {
                    Some(true) => open.push(next),
                    Some(false) => {}
                    None => return false,
                }
            }
        }
        true
    }
}

/// Blocks that were come by: mostly few, which are found faster one after the other.
#[derive(Default)]
struct Seen {
    few: Vec<u32>,
    many: FxHashSet<u32>,
}

impl Seen {
    const FEW: usize = 16;

    /// Returns whether it was not there.
    fn insert(&mut self, block: u32) -> bool {
        if self.few.contains(&block) {
            return false;
        }
        if self.few.len() == Seen::FEW {
            return self.many.insert(block);
        }
        self.few.push(block);
        true
    }
}

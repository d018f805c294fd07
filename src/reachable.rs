//! Following edges: everything that can be reached from some things, each once.

use std::hash::Hash;

use rustc_hash::FxHashSet;

/// What can be reached, itself included: an iterator that is done when nothing new is met. It may be started again, and does not go
/// where it has been.
#[derive(Clone, Debug)]
pub struct Reachable<T, F> {
    next: F,
    seen: FxHashSet<T>,
    open: Vec<T>,
}

impl<T: Copy + Eq + Hash, I: IntoIterator<Item = T>, F: FnMut(T) -> I> Reachable<T, F> {
    /// Starts from some things.
    ///
    /// - `next`: what one leads to.
    pub fn from(start: impl IntoIterator<Item = T>, next: F) -> Self {
        let mut reachable = Reachable { next, seen: FxHashSet::default(), open: Vec::new() };
        reachable.start(start);
        reachable
    }

    /// Goes on from further things.
    pub fn start(&mut self, from: impl IntoIterator<Item = T>) {
        self.open.extend(from);
    }
}

impl<T: Copy + Eq + Hash, I: IntoIterator<Item = T>, F: FnMut(T) -> I> Iterator
    for Reachable<T, F>
{
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            let next = self.open.pop()?;
            if self.seen.insert(next) {
                self.open.extend((self.next)(next));
                return Some(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(it: u32) -> Vec<u32> {
        match it {
            0 => vec![1, 2],
            1 => vec![3],
            2 => vec![3, 0],
            5 => vec![3, 6],
            _ => Vec::new(),
        }
    }

    #[test]
    fn each_is_met_once_in_a_circle_too() {
        let mut found: Vec<u32> = Reachable::from([0], below).collect();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3]);
    }

    #[test]
    fn a_second_start_goes_where_nothing_was() {
        let mut reachable = Reachable::from([0], below);
        assert_eq!(reachable.by_ref().count(), 4);
        reachable.start([5]);
        let mut found: Vec<u32> = reachable.collect();
        found.sort_unstable();
        assert_eq!(found, [5, 6]);
    }
}

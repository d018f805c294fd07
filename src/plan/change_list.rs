//! The changes of a plan, each in a place of its own: what was found of a million objects makes room for them one by one.

use std::iter::Map;
use std::ops::{Index, IndexMut};

use super::Change;

/// A list of changes.
#[derive(Clone, Debug, Default)]
#[expect(clippy::vec_box, reason = "in one piece, all of it would be needed at once")]
pub struct ChangeList(Vec<Box<Change>>);

impl ChangeList {
    /// Returns those there are, each in its place among `count`.
    pub fn at_places(
        count: usize,
        changes: impl IntoIterator<Item = (usize, Option<Change>)>,
    ) -> ChangeList {
        let mut places: Vec<Option<Box<Change>>> = vec![None; count];
        for (place, change) in changes {
            places[place] = change.map(Box::new);
        }
        ChangeList(places.into_iter().flatten().collect())
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one at the end.
    pub fn push(&mut self, change: Change) {
        self.0.push(Box::new(change));
    }

    /// Iterates over them.
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|it| it)
    }

    /// Iterates over them, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Change> {
        self.0.iter_mut().map(|it| &mut **it)
    }

    /// Puts them in the order of addresses; of one instance the current object comes first.
    pub fn sort(&mut self) {
        self.0.sort_by(|a, b| a.place().cmp(&b.place()));
    }

    /// Returns whether they are in that order.
    pub fn is_sorted(&self) -> bool {
        self.0.is_sorted_by(|a, b| a.place() <= b.place())
    }

    /// Keeps those of which `stays` says so.
    pub fn retain(&mut self, mut stays: impl FnMut(&Change) -> bool) {
        self.0.retain(|it| stays(it));
    }
}

/// Iterates over changes.
pub type Iter<'a> = Map<std::slice::Iter<'a, Box<Change>>, fn(&Box<Change>) -> &Change>;

impl<'a> IntoIterator for &'a ChangeList {
    type Item = &'a Change;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Extend<Change> for ChangeList {
    fn extend<I: IntoIterator<Item = Change>>(&mut self, changes: I) {
        self.0.extend(changes.into_iter().map(Box::new));
    }
}

impl FromIterator<Change> for ChangeList {
    fn from_iter<I: IntoIterator<Item = Change>>(changes: I) -> ChangeList {
        ChangeList(changes.into_iter().map(Box::new).collect())
    }
}

impl Index<usize> for ChangeList {
    type Output = Change;

    fn index(&self, at: usize) -> &Change {
        &self.0[at]
    }
}

impl IndexMut<usize> for ChangeList {
    fn index_mut(&mut self, at: usize) -> &mut Change {
        &mut self.0[at]
    }
}

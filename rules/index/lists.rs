//! Lists of rows that keep less than all of them: what nobody asks for again takes no room.

use std::cell::Cell;
use std::marker::PhantomData;

use ascent::internal::{RelFullIndexRead, RelFullIndexWrite, RelIndexMerge, RelIndexWrite};

/// The list of the rows of a relation that nobody reads from outside: it has none, for they stand in the indices.
#[derive(Clone, Copy, Debug)]
pub struct Unread<T>(PhantomData<T>);

impl<T> Default for Unread<T> {
    fn default() -> Self {
        Unread(PhantomData)
    }
}

impl<T> Unread<T> {
    /// Takes a row in, which is nowhere but in the indices.
    pub fn push(&mut self, _: T) {}

    /// Returns how many rows stand in it.
    pub fn len(&self) -> usize {
        0
    }

    /// Returns the rows that stand in it.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        [].iter()
    }
}

/// The list of the rows that a relation was told from outside and that no rule concludes: they are gone once they stand in the indices.
pub struct Told<T>(Cell<Vec<T>>);

impl<T> Default for Told<T> {
    fn default() -> Self {
        Told::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for Told<T> {
    fn from(rows: Vec<T>) -> Told<T> {
        Told(Cell::new(rows))
    }
}

impl<T> Told<T> {
    /// Hands out the rows, which stand in it no more.
    pub fn iter(&self) -> std::vec::IntoIter<T> {
        self.0.take().into_iter()
    }

    /// Returns how many rows stand in it once they were handed out.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "a summary that ascent writes, and nobody asks for, counts them"
        )
    )]
    pub fn len(&self) -> usize {
        0
    }
}

/// What would tell of each row of a relation whether it is there, of which nobody asks that.
#[derive(Clone, Copy, Debug)]
pub struct Unasked<K>(PhantomData<K>);

impl<K> Default for Unasked<K> {
    fn default() -> Self {
        Unasked(PhantomData)
    }
}

impl<K> RelIndexWrite for Unasked<K> {
    type Key = K;
    type Value = ();

    fn index_insert(&mut self, _: K, (): ()) {}
}

impl<K> RelIndexMerge for Unasked<K> {
    fn move_index_contents(_: &mut Self, _: &mut Self) {}
}

impl<K: Clone> RelFullIndexWrite for Unasked<K> {
    type Key = K;
    type Value = ();

    fn insert_if_not_present(&mut self, _: &K, (): ()) -> bool {
        true
    }
}

impl<K> RelFullIndexRead<'_> for Unasked<K> {
    type Key = K;

    fn contains_key(&self, _: &K) -> bool {
        false
    }
}

//! By which columns rows are found, and where what belongs to each value of them is kept.

use std::hash::Hash;

use super::pages::Pages;
use super::sharing::{First, Noted, Sharing};
use crate::atom::Atom;

/// The columns by which rows are found.
pub trait Columns: Clone + Eq {
    /// Where something is kept for each value of them.
    type Map<V: Default>: Map<Self, V>;
    /// What tells whether there is a row, where these are all columns.
    type Known: Known<Self>;
}

/// Something for each of some columns.
pub trait Map<K, V>: Default {
    /// Returns what is kept for `key`, if anything was.
    fn get(&self, key: &K) -> Option<&V>;

    /// Returns what is kept for `key`, made where there is nothing yet.
    fn at(&mut self, key: &K) -> &mut V;
}

/// Which rows there are.
pub trait Known<K>: Default {
    /// Returns whether there is a row among those that were noted.
    fn has(&self, rows: &[K], row: &K) -> bool;

    /// Notes a row that is to stand behind the others, and returns whether it is none of them.
    fn note(&mut self, rows: &[K], row: &K) -> bool;
}

/// Rows as a mark for each.
#[derive(Default)]
pub struct Marks<M>(M);

impl<K, M: Map<K, bool>> Known<K> for Marks<M> {
    fn has(&self, _: &[K], row: &K) -> bool {
        self.0.get(row).is_some_and(|it| *it)
    }

    fn note(&mut self, _: &[K], row: &K) -> bool {
        !std::mem::replace(self.0.at(row), true)
    }
}

impl Columns for () {
    type Map<V: Default> = Option<V>;
    type Known = Marks<Option<bool>>;
}

impl<A: Atom> Columns for (A,) {
    type Map<V: Default> = Pages<V>;
    type Known = Marks<Pages<bool>>;
}

impl<A: Atom, B> First for (A, B) {
    fn first(&self) -> u64 {
        self.0.word()
    }
}

impl<A: Atom + Hash, B: Atom + Hash> Columns for (A, B) {
    type Map<V: Default> = Pairs<A, B, V>;
    type Known = KnownPairs<A, B>;
}

macro_rules! rows {
    ($( ($First:ident $(, $A:ident)*) )+) => { $(
        impl<$First: Atom, $($A),*> First for ($First, $($A),*) {
            fn first(&self) -> u64 {
                self.0.word()
            }
        }

        impl<$First: Atom + Hash, $($A: Atom + Hash),*> Columns for ($First, $($A),*) {
            type Map<V: Default> = Sharing<Self, V>;
            type Known = Noted;
        }
    )+ };
}
rows! { (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G) (A, B, C, D, E, F, G, H) }

impl<V: Default> Map<(), V> for Option<V> {
    fn get(&self, (): &()) -> Option<&V> {
        self.as_ref()
    }

    fn at(&mut self, (): &()) -> &mut V {
        self.get_or_insert_default()
    }
}

impl<A: Atom, V: Default> Map<(A,), V> for Pages<V> {
    fn get(&self, key: &(A,)) -> Option<&V> {
        self.found(key.0.word())
    }

    fn at(&mut self, key: &(A,)) -> &mut V {
        self.made(key.0.word())
    }
}

/// Something for each of some pairs.
pub enum Pairs<A, B, V> {
    /// Of a word and a thing: by the word, and then by the thing's number. Most words go with few things, or with none.
    Numbered(Vec<Pages<V>>),
    /// Of two things
    Things(Sharing<(A, B), V>),
}

impl<A: Atom, B: Atom, V> Pairs<A, B, V> {
    /// What has fewer values than this is a word.
    const MANY: u64 = 64;

    /// Returns the word of a pair and the number of the other.
    fn split((a, b): &(A, B)) -> (usize, u64) {
        match B::COUNT < A::COUNT {
            true => (b.word() as usize, a.word()),
            false => (a.word() as usize, b.word()),
        }
    }
}

impl<A: Atom, B: Atom, V> Default for Pairs<A, B, V> {
    fn default() -> Self {
        match A::COUNT < Self::MANY || B::COUNT < Self::MANY {
            true => Pairs::Numbered(Vec::new()),
            false => Pairs::Things(Default::default()),
        }
    }
}

/// Which pairs there are: marked by number where one of the two is a word.
pub enum KnownPairs<A, B> {
    /// Of a word and a thing
    Marked(Marks<Pairs<A, B, bool>>),
    /// Of two things
    Things(Noted),
}

impl<A: Atom, B: Atom> Default for KnownPairs<A, B> {
    fn default() -> Self {
        match Pairs::default() {
            Pairs::Things(_) => KnownPairs::Things(Noted::default()),
            marks => KnownPairs::Marked(Marks(marks)),
        }
    }
}

impl<A: Atom + Hash, B: Atom + Hash> Known<(A, B)> for KnownPairs<A, B> {
    fn has(&self, rows: &[(A, B)], row: &(A, B)) -> bool {
        match self {
            KnownPairs::Marked(marks) => marks.has(rows, row),
            KnownPairs::Things(noted) => noted.has(rows, row),
        }
    }

    fn note(&mut self, rows: &[(A, B)], row: &(A, B)) -> bool {
        match self {
            KnownPairs::Marked(marks) => marks.note(rows, row),
            KnownPairs::Things(noted) => noted.note(rows, row),
        }
    }
}

impl<A: Atom + Hash, B: Atom + Hash, V: Default> Map<(A, B), V> for Pairs<A, B, V> {
    fn get(&self, key: &(A, B)) -> Option<&V> {
        match self {
            Pairs::Numbered(words) => {
                let (word, number) = Self::split(key);
                words.get(word)?.found(number)
            }
            Pairs::Things(things) => things.get(key),
        }
    }

    fn at(&mut self, key: &(A, B)) -> &mut V {
        match self {
            Pairs::Numbered(words) => {
                let (word, number) = Self::split(key);
                if words.len() <= word {
                    words.resize_with(word + 1, Pages::default);
                }
                words[word].made(number)
            }
            Pairs::Things(things) => things.at(key),
        }
    }
}

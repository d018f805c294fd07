//! How the compiled rules find rows by the columns that a rule binds, in place of Ascent's own hash maps.
//!
//! Most columns are small whole numbers, given out one after the other. What is found by one such column stands in pages, in the order
//! of the numbers: what is asked for one after the other lies side by side, and nothing is hashed. Few rows, as they come in each
//! round of a recursion, are hashed all the same. Ascent asks for this by `#![ds(crate::index)]` (`ascent!` in `lib.rs`).

use std::cell::OnceCell;

use ascent::internal::{
    RelFullIndexRead, RelFullIndexWrite, RelIndexMerge, RelIndexRead, RelIndexReadAll,
    RelIndexWrite, ToRelIndex,
};

mod columns;
mod lists;
mod pages;
mod sharing;
#[cfg(test)]
mod tests;

pub use columns::Columns;
use columns::{Known, Map};
pub use lists::{Told, Unasked, Unread};

/// Where the rows that agree in some columns begin and end, counted from one: 0 where there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chain {
    first: u32,
    last: u32,
}

/// What else a row says, and where the next one is that agrees with it, counted from one.
#[derive(Clone, Debug)]
struct Link<T> {
    rest: T,
    next: u32,
}

/// The rows of a relation by some of its columns.
pub struct By<K: Columns, T> {
    /// Each value of the columns once, in the order in which they came.
    keys: Vec<K>,
    chains: K::Map<Chain>,
    /// All rows, in the order in which they came: a list for each value would take more room than what it lists.
    links: Vec<Link<T>>,
}

impl<K: Columns, T> By<K, T> {
    fn add(&mut self, key: K, rest: T) {
        self.links.push(Link { rest, next: 0 });
        let added = self.links.len() as u32;
        let chain = self.chains.at(&key);
        match chain.first {
            0 => {
                chain.first = added;
                self.keys.push(key);
            }
            _ => self.links[chain.last as usize - 1].next = added,
        }
        chain.last = added;
    }

    fn of(&self, key: &K) -> Rest<'_, T> {
        let first = self.chains.get(key).map_or(0, |it| it.first);
        Rest { links: &self.links, next: first }
    }
}

/// Goes through the rows that agree, in the order in which they came.
pub struct Rest<'a, T> {
    links: &'a [Link<T>],
    next: u32,
}

impl<'a, T> Iterator for Rest<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        let link = self.links.get((self.next as usize).wrapping_sub(1))?;
        self.next = link.next;
        Some(&link.rest)
    }
}

impl<T> Clone for Rest<'_, T> {
    fn clone(&self) -> Self {
        Rest { links: self.links, next: self.next }
    }
}

/// The rows of a relation, each once.
pub struct All<K: Columns> {
    /// The rows, in the order in which they came. Those that were told from outside may stand here twice.
    rows: Vec<K>,
    /// Which rows there are, as soon as somebody asks: many relations are only ever read by some of their columns.
    known: OnceCell<K::Known>,
}

impl<K: Columns> All<K> {
    fn known(&self) -> &K::Known {
        self.known.get_or_init(|| {
            let mut known = K::Known::default();
            for (place, row) in self.rows.iter().enumerate() {
                known.note(&self.rows[..place], row);
            }
            known
        })
    }

    fn has(&self, row: &K) -> bool {
        !self.rows.is_empty() && self.known().has(&self.rows, row)
    }

    fn add(&mut self, row: &K) -> bool {
        self.known();
        let is_new = self.known.get_mut().is_some_and(|it| it.note(&self.rows, row));
        if is_new {
            self.rows.push(row.clone());
        }
        is_new
    }
}

impl<K: Columns, T> Default for By<K, T> {
    fn default() -> Self {
        By { keys: Vec::new(), chains: Default::default(), links: Vec::new() }
    }
}

impl<K: Columns> Default for All<K> {
    fn default() -> Self {
        All { rows: Vec::new(), known: OnceCell::new() }
    }
}

impl<K: Columns, T> RelIndexWrite for By<K, T> {
    type Key = K;
    type Value = T;

    fn index_insert(&mut self, key: K, row: T) {
        self.add(key, row);
    }
}

impl<K: Columns, T: Clone> RelIndexMerge for By<K, T> {
    fn move_index_contents(from: &mut Self, to: &mut Self) {
        if from.links.len() > to.links.len() {
            std::mem::swap(from, to);
        }
        let from = std::mem::take(from);
        for key in &from.keys {
            from.of(key).for_each(|it| to.add(key.clone(), it.clone()));
        }
    }
}

impl<'a, K: Columns + 'a, T: Clone + 'a> RelIndexRead<'a> for By<K, T> {
    type Key = K;
    type Value = &'a T;
    type IteratorType = Rest<'a, T>;

    fn index_get(&'a self, key: &K) -> Option<Rest<'a, T>> {
        Some(self.of(key)).filter(|it| it.next > 0)
    }

    fn len_estimate(&'a self) -> usize {
        self.keys.len()
    }

    fn is_empty(&'a self) -> bool {
        self.keys.is_empty()
    }
}

impl<'a, K: Columns + 'a, T: Clone + 'a> RelIndexReadAll<'a> for By<K, T> {
    type Key = &'a K;
    type Value = &'a T;
    type ValueIteratorType = Rest<'a, T>;
    type AllIteratorType = Groups<'a, K, T>;

    fn iter_all(&'a self) -> Groups<'a, K, T> {
        Groups { keys: self.keys.iter(), rows: self }
    }
}

/// Goes through rows, those together that agree.
pub struct Groups<'a, K: Columns, T> {
    keys: std::slice::Iter<'a, K>,
    rows: &'a By<K, T>,
}

impl<'a, K: Columns, T: 'a> Iterator for Groups<'a, K, T> {
    type Item = (&'a K, Rest<'a, T>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.keys.next()?;
        Some((key, self.rows.of(key)))
    }
}

impl<K: Columns> RelIndexWrite for All<K> {
    type Key = K;
    type Value = ();

    fn index_insert(&mut self, row: K, (): ()) {
        match self.known.get() {
            None => self.rows.push(row),
            Some(_) => drop(self.add(&row)),
        }
    }
}

impl<K: Columns> RelIndexMerge for All<K> {
    fn move_index_contents(from: &mut Self, to: &mut Self) {
        if from.rows.len() > to.rows.len() {
            std::mem::swap(from, to);
        }
        for row in std::mem::take(from).rows {
            to.add(&row);
        }
    }
}

impl<K: Columns> RelFullIndexWrite for All<K> {
    type Key = K;
    type Value = ();

    fn insert_if_not_present(&mut self, row: &K, (): ()) -> bool {
        self.add(row)
    }
}

impl<K: Columns> RelFullIndexRead<'_> for All<K> {
    type Key = K;

    fn contains_key(&self, row: &K) -> bool {
        self.has(row)
    }
}

impl<'a, K: Columns + 'a> RelIndexRead<'a> for All<K> {
    type Key = K;
    type Value = &'a ();
    type IteratorType = std::iter::Once<&'a ()>;

    fn index_get(&'a self, row: &K) -> Option<Self::IteratorType> {
        self.has(row).then(|| std::iter::once(&()))
    }

    fn len_estimate(&'a self) -> usize {
        self.rows.len()
    }

    fn is_empty(&'a self) -> bool {
        self.rows.is_empty()
    }
}

type Alone<'a, K> = (&'a K, std::iter::Once<&'a ()>);

impl<'a, K: Columns + 'a> RelIndexReadAll<'a> for All<K> {
    type Key = &'a K;
    type Value = &'a ();
    type ValueIteratorType = std::iter::Once<&'a ()>;
    type AllIteratorType = std::iter::Map<std::slice::Iter<'a, K>, fn(&'a K) -> Alone<'a, K>>;

    fn iter_all(&'a self) -> Self::AllIteratorType {
        self.rows.iter().map(|row| (row, std::iter::once(&())))
    }
}

macro_rules! is_its_own_index {
    ($( ($K:ident $(, $T:ident)?) $Index:ty; )+) => { $(
        impl<$K: Columns $(, $T)?, Rows> ToRelIndex<Rows> for $Index {
            type RelIndex<'a>
                = &'a Self
            where
                Self: 'a,
                Rows: 'a;
            type RelIndexWrite<'a>
                = &'a mut Self
            where
                Self: 'a,
                Rows: 'a;

            fn to_rel_index<'a>(&'a self, _: &'a Rows) -> &'a Self {
                self
            }

            fn to_rel_index_write<'a>(&'a mut self, _: &'a mut Rows) -> &'a mut Self {
                self
            }
        }
    )+ };
}
is_its_own_index! {
    (K, T) By<K, T>;
    (K) All<K>;
    (K) Unasked<K>;
}

macro_rules! rel_codegen {
    ($($all:tt)*) => {};
}

/// The list of the rows of a relation. Relations that are only on the way to others, and large ones that only facts or strata before
/// tell of, are named here; who puts one in whose rows are asked for is told so by the compiler.
macro_rules! rel {
    (Program_edge, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Unread<$Row> };
    (Program_led, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Unread<$Row> };
    (Program_leads, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Unread<$Row> };
    (Program_reads, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Told<$Row> };
    (Program_needs, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Told<$Row> };
    (Program_object, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Told<$Row> };
    (Program_of, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Told<$Row> };
    (Program_declared, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Told<$Row> };
    (Program_managed, $Row:ty, $indices:expr, ser, ()) => { $crate::index::Told<$Row> };
    ($name:ident, $Row:ty, $indices:expr, ser, ()) => { ::std::vec::Vec<$Row> };
}

macro_rules! rel_ind_common {
    ($name:ident, $Row:ty, $indices:expr, ser, ()) => {
        ()
    };
}

/// What tells whether a relation has a row. Large relations of which no rule asks that are named here: a row that is concluded twice
/// stands there twice. None of them leads back to itself but through one that has each row once; who asks of one whether it has a row is
/// told by the compiler.
macro_rules! rel_full_ind {
    (Program_edge, $Row:ty, $indices:expr, ser, (), $Key:ty, $Rest:ty) => { $crate::index::Unasked<$Key> };
    (Program_before, $Row:ty, $indices:expr, ser, (), $Key:ty, $Rest:ty) => { $crate::index::Unasked<$Key> };
    (Program_chosen, $Row:ty, $indices:expr, ser, (), $Key:ty, $Rest:ty) => { $crate::index::Unasked<$Key> };
    ($name:ident, $Row:ty, $indices:expr, ser, (), $Key:ty, $Rest:ty) => { $crate::index::All<$Key> };
}

macro_rules! rel_ind {
    ($name:ident, $Row:ty, $indices:expr, ser, (), $columns:expr, $Key:ty, $Rest:ty) => {
        $crate::index::By<$Key, $Rest>
    };
}

pub(crate) use {rel, rel_codegen, rel_full_ind, rel_ind, rel_ind_common};

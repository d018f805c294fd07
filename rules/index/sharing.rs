//! Rows by their first column, as long as few share it: most relations say something of a thing, and little of each.

use std::hash::{BuildHasher, Hash};
use std::mem::replace;

use ascent::internal::RelFullIndexType;
use hashbrown::hash_table::{Entry, HashTable};
use rustc_hash::FxBuildHasher;

use super::columns::{Known, Map};
use super::pages::Pages;

/// What has a first column.
pub trait First {
    /// Returns it as a whole number.
    fn first(&self) -> u64;
}

/// Where more than so many share the first column, all rows are hashed.
const FEW: u32 = 16;

/// Something for each of some columns.
pub enum Sharing<K, V> {
    /// By the first of them. Those that share it follow each other, the last one first.
    Chained {
        /// Where the last one of each stands, counted from one.
        last: Pages<u32>,
        /// What is kept, with where the next one stands, counted from one.
        kept: Vec<(K, V, u32)>,
    },
    /// By all of them
    Hashed(RelFullIndexType<K, V>),
}

impl<K, V> Default for Sharing<K, V> {
    fn default() -> Self {
        Sharing::Chained { last: Pages::default(), kept: Vec::new() }
    }
}

/// Follows a chain from a place counted from one, and returns the place of what is wanted, counted from zero, or how many were passed.
fn follow(
    mut at: u32,
    next: impl Fn(usize) -> u32,
    is_it: impl Fn(usize) -> bool,
) -> Result<usize, u32> {
    let mut passed = 0;
    while let Some(place) = (at as usize).checked_sub(1) {
        if is_it(place) {
            return Ok(place);
        }
        (at, passed) = (next(place), passed + 1);
    }
    Err(passed)
}

impl<K: Eq + First, V> Sharing<K, V> {
    /// Returns the place of a key where rows are chained, or how many others share its first column.
    fn place(last: &Pages<u32>, kept: &[(K, V, u32)], key: &K) -> Result<usize, u32> {
        let first = last.found(key.first()).copied().unwrap_or(0);
        follow(first, |it| kept[it].2, |it| kept[it].0 == *key)
    }
}

impl<K: Clone + Eq + Hash + First, V: Default> Map<K, V> for Sharing<K, V> {
    fn get(&self, key: &K) -> Option<&V> {
        match self {
            Sharing::Chained { last, kept } => {
                Sharing::place(last, kept, key).ok().map(|it| &kept[it].1)
            }
            Sharing::Hashed(all) => all.get(key),
        }
    }

    fn at(&mut self, key: &K) -> &mut V {
        let place = match self {
            Sharing::Chained { last, kept } => match Sharing::place(last, kept, key) {
                Err(others) if others < FEW => {
                    let next = replace(last.made(key.first()), kept.len() as u32 + 1);
                    kept.push((key.clone(), V::default(), next));
                    Some(kept.len() - 1)
                }
                place => place.ok(),
            },
            Sharing::Hashed(_) => None,
        };
        if place.is_none()
            && let Sharing::Chained { kept, .. } = self
        {
            let kept = std::mem::take(kept).into_iter();
            *self = Sharing::Hashed(kept.map(|(key, value, _)| (key, value)).collect());
        }
        match self {
            Sharing::Chained { kept, .. } => &mut kept[place.unwrap_or_default()].1,
            Sharing::Hashed(all) => all.entry(key.clone()).or_default(),
        }
    }
}

/// Which rows there are, as places: what they are stands in the rows alone.
pub enum Noted {
    /// By the first column, counted from one: the last row of each, and for each row the one before it.
    Chained { last: Pages<u32>, before: Vec<u32> },
    /// By all columns
    Hashed(HashTable<u32>),
}

impl Default for Noted {
    fn default() -> Self {
        Noted::Chained { last: Pages::default(), before: Vec::new() }
    }
}

/// Notes the row that is to stand at a place among those by hash, and returns whether it is none of them.
fn note<K: Eq + Hash>(places: &mut HashTable<u32>, rows: &[K], row: &K, place: u32) -> bool {
    let hash = |it: &K| FxBuildHasher.hash_one(it);
    let is_it = |it: &u32| rows[*it as usize] == *row;
    match places.entry(hash(row), is_it, |it| hash(&rows[*it as usize])) {
        Entry::Occupied(_) => false,
        Entry::Vacant(free) => {
            free.insert(place);
            true
        }
    }
}

impl Noted {
    /// Returns the place of a row where rows are chained, or how many others share its first column.
    fn place<K: Eq + First>(
        (last, before): (&Pages<u32>, &[u32]),
        rows: &[K],
        row: &K,
    ) -> Result<usize, u32> {
        let first = last.found(row.first()).copied().unwrap_or(0);
        follow(first, |it| before[it], |it| rows[it] == *row)
    }
}

impl<K: Eq + Hash + First> Known<K> for Noted {
    fn has(&self, rows: &[K], row: &K) -> bool {
        match self {
            Noted::Chained { last, before } => Noted::place((last, before), rows, row).is_ok(),
            Noted::Hashed(places) => {
                places.find(FxBuildHasher.hash_one(row), |it| rows[*it as usize] == *row).is_some()
            }
        }
    }

    fn note(&mut self, rows: &[K], row: &K) -> bool {
        if let Noted::Chained { last, before } = self {
            match Noted::place((last, before), rows, row) {
                Ok(_) => return false,
                Err(FEW..) => {
                    let mut places = HashTable::new();
                    for (place, known) in rows.iter().enumerate() {
                        note(&mut places, rows, known, place as u32);
                    }
                    *self = Noted::Hashed(places);
                }
                Err(_) => {
                    // Rows that stand there twice were not noted again.
                    before.resize(rows.len(), 0);
                    before.push(replace(last.made(row.first()), rows.len() as u32 + 1));
                    return true;
                }
            }
        }
        let Noted::Hashed(places) = self else { return true };
        note(places, rows, row, rows.len() as u32)
    }
}

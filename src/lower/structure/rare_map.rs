//! A map that most things have nothing in: one word where it is empty.

use std::collections::{BTreeMap, btree_map};
use std::ops::{Deref, DerefMut};

/// A map that is boxed, and made when first something is put in.
#[expect(clippy::box_collection, reason = "one word is what it is for")]
#[derive(Clone, Debug)]
pub struct RareMap<K, V>(Option<Box<BTreeMap<K, V>>>);

impl<K: 'static, V: 'static> RareMap<K, V> {
    const EMPTY: &'static BTreeMap<K, V> = &BTreeMap::new();

    /// Returns an empty one.
    pub fn new() -> RareMap<K, V> {
        RareMap(None)
    }
}

impl<K: 'static, V: 'static> Default for RareMap<K, V> {
    fn default() -> RareMap<K, V> {
        RareMap::new()
    }
}

impl<K: 'static, V: 'static> Deref for RareMap<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        self.0.as_deref().unwrap_or(Self::EMPTY)
    }
}

/// Makes the map: whoever only takes something out asks first whether anything is in it.
impl<K: 'static, V: 'static> DerefMut for RareMap<K, V> {
    fn deref_mut(&mut self) -> &mut BTreeMap<K, V> {
        self.0.get_or_insert_default()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for RareMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> RareMap<K, V> {
        let map: BTreeMap<K, V> = entries.into_iter().collect();
        RareMap((!map.is_empty()).then(|| Box::new(map)))
    }
}

impl<'a, K: 'static, V: 'static> IntoIterator for &'a RareMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = btree_map::Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_one_is_one_word_and_says_that_it_has_nothing() {
        assert_eq!(size_of::<RareMap<String, String>>(), size_of::<usize>());
        let mut map: RareMap<u8, &str> = RareMap::new();
        assert!(map.is_empty() && map.get(&1).is_none() && map.0.is_none());
        map.insert(1, "a");
        assert_eq!(map.iter().collect::<Vec<_>>(), [(&1, &"a")]);
        assert!([].into_iter().collect::<RareMap<u8, u8>>().0.is_none());
    }
}

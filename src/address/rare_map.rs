//! A map that most things have nothing in: one word where it is empty.

use std::borrow::Borrow;
use std::collections::{BTreeMap, btree_map};
use std::ops::{Deref, DerefMut};
use std::{fmt, iter, option};

/// A map that is boxed, and made when first something is put in.
#[expect(clippy::box_collection, reason = "one word is what it is for")]
#[derive(Clone)]
pub struct RareMap<K, V>(Option<Box<BTreeMap<K, V>>>);

impl<K: 'static, V: 'static> RareMap<K, V> {
    const EMPTY: &'static BTreeMap<K, V> = &BTreeMap::new();

    /// Returns an empty one.
    pub fn new() -> RareMap<K, V> {
        RareMap(None)
    }

    /// Iterates over keys and what stands under them, to be changed.
    pub fn iter_mut(&mut self) -> Changing<'_, K, V> {
        self.0.as_deref_mut().into_iter().flatten()
    }

    /// Returns what stands under the keys, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|it| it.1)
    }

    /// Keeps what `wanted` wants.
    pub fn retain(&mut self, wanted: impl FnMut(&K, &mut V) -> bool)
    where
        K: Ord,
    {
        if let Some(map) = &mut self.0 {
            map.retain(wanted);
        }
    }

    /// Takes away what stands under a key.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q> + Ord,
    {
        self.0.as_mut()?.remove(key)
    }

    /// Returns what stands under a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q> + Ord,
    {
        self.0.as_mut()?.get_mut(key)
    }
}

/// Keys and what stands under them, to be changed.
pub type Changing<'a, K, V> = iter::Flatten<option::IntoIter<&'a mut BTreeMap<K, V>>>;

impl<K: 'static, V: 'static> Default for RareMap<K, V> {
    fn default() -> RareMap<K, V> {
        RareMap::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for RareMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().flat_map(|it| it.iter())).finish()
    }
}

impl<K: 'static, V: 'static> Deref for RareMap<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        self.0.as_deref().unwrap_or(Self::EMPTY)
    }
}

/// Makes the map. What it has to offer without that stands above.
impl<K: 'static, V: 'static> DerefMut for RareMap<K, V> {
    fn deref_mut(&mut self) -> &mut BTreeMap<K, V> {
        self.0.get_or_insert_default()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for RareMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> RareMap<K, V> {
        entries.into_iter().collect::<BTreeMap<K, V>>().into()
    }
}

impl<K, V> From<BTreeMap<K, V>> for RareMap<K, V> {
    fn from(map: BTreeMap<K, V>) -> RareMap<K, V> {
        RareMap((!map.is_empty()).then(|| Box::new(map)))
    }
}

impl<K: PartialEq + 'static, V: PartialEq + 'static> PartialEq for RareMap<K, V> {
    fn eq(&self, other: &RareMap<K, V>) -> bool {
        **self == **other
    }
}

impl<K: Eq + 'static, V: Eq + 'static> Eq for RareMap<K, V> {}

impl<K, V> IntoIterator for RareMap<K, V> {
    type Item = (K, V);
    type IntoIter = btree_map::IntoIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map_or(BTreeMap::new(), |it| *it).into_iter()
    }
}

impl<'a, K: 'static, V: 'static> IntoIterator for &'a mut RareMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = Changing<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
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
        assert!(map.remove(&1).is_none() && map.get_mut(&1).is_none());
        map.retain(|_, _| false);
        assert!(map.iter_mut().next().is_none() && map.0.is_none());
        map.insert(1, "a");
        assert_eq!(map.iter().collect::<Vec<_>>(), [(&1, &"a")]);
        assert!([].into_iter().collect::<RareMap<u8, u8>>().0.is_none());
    }
}

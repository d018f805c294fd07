//! What the instances of one block have, by key: most blocks do not repeat, and then it lies here without a tree of its own.

use std::collections::btree_map;
use std::{iter, option};

use super::rare_map::Changing;
use super::{InstanceKey, RareMap};

/// A map by instance key, in the order of the keys.
#[derive(Clone, Debug)]
pub struct Keyed<T> {
    /// What stands under no key, which comes before all others.
    plain: Option<T>,
    rest: RareMap<InstanceKey, T>,
}

impl<T: 'static> Default for Keyed<T> {
    fn default() -> Keyed<T> {
        Keyed { plain: None, rest: RareMap::new() }
    }
}

impl<T: PartialEq + 'static> PartialEq for Keyed<T> {
    fn eq(&self, other: &Keyed<T>) -> bool {
        self.plain == other.plain && self.rest == other.rest
    }
}

impl<T: Eq + 'static> Eq for Keyed<T> {}

/// The key of a block that does not repeat.
const NO_KEY: &InstanceKey = &InstanceKey::None;

impl<T: 'static> Keyed<T> {
    /// Returns a map without entries.
    pub fn new() -> Keyed<T> {
        Keyed::default()
    }

    /// Returns what stands under a key.
    pub fn get(&self, key: &InstanceKey) -> Option<&T> {
        match key {
            InstanceKey::None => self.plain.as_ref(),
            key => self.rest.get(key),
        }
    }

    /// Returns what stands under a key, to be changed.
    pub fn get_mut(&mut self, key: &InstanceKey) -> Option<&mut T> {
        match key {
            InstanceKey::None => self.plain.as_mut(),
            key => self.rest.get_mut(key),
        }
    }

    /// Returns whether anything stands under a key.
    pub fn contains_key(&self, key: &InstanceKey) -> bool {
        self.get(key).is_some()
    }

    /// Puts something under a key; returns what stood there.
    pub fn insert(&mut self, key: InstanceKey, value: T) -> Option<T> {
        match key {
            InstanceKey::None => self.plain.replace(value),
            key => self.rest.insert(key, value),
        }
    }

    /// Takes away what stands under a key.
    pub fn remove(&mut self, key: &InstanceKey) -> Option<T> {
        match key {
            InstanceKey::None => self.plain.take(),
            key => self.rest.remove(key),
        }
    }

    /// Returns what stands under a key, made where nothing does.
    pub fn or_default(&mut self, key: InstanceKey) -> &mut T
    where
        T: Default,
    {
        match key {
            InstanceKey::None => self.plain.get_or_insert_default(),
            key => self.rest.entry(key).or_default(),
        }
    }

    /// Keeps what `wanted` wants.
    pub fn retain(&mut self, mut wanted: impl FnMut(&InstanceKey, &mut T) -> bool) {
        if self.plain.as_mut().is_some_and(|it| !wanted(NO_KEY, it)) {
            self.plain = None;
        }
        self.rest.retain(wanted);
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        usize::from(self.plain.is_some()) + self.rest.len()
    }

    /// Returns whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.plain.is_none() && self.rest.is_empty()
    }

    /// Returns keys and what stands under them, in the order of the keys.
    pub fn iter(&self) -> Iter<'_, T> {
        iter::zip(iter::repeat_n(NO_KEY, 1), self.plain.iter()).chain(self.rest.iter())
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &InstanceKey> + Clone {
        self.plain.iter().map(|_| NO_KEY).chain(self.rest.keys())
    }

    /// Returns what stands under the keys, in their order.
    pub fn values(
        &self,
    ) -> iter::Chain<option::Iter<'_, T>, btree_map::Values<'_, InstanceKey, T>> {
        self.plain.iter().chain(self.rest.values())
    }

    /// Returns what stands under the keys, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.plain.iter_mut().chain(self.rest.values_mut())
    }
}

/// Keys and what stands under them.
type Iter<'a, T> = iter::Chain<
    iter::Zip<iter::RepeatN<&'a InstanceKey>, option::Iter<'a, T>>,
    btree_map::Iter<'a, InstanceKey, T>,
>;

impl<'a, T: 'static> IntoIterator for &'a Keyed<T> {
    type Item = (&'a InstanceKey, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: 'static> IntoIterator for &'a mut Keyed<T> {
    type Item = (&'a InstanceKey, &'a mut T);
    type IntoIter = iter::Chain<
        iter::Zip<iter::RepeatN<&'a InstanceKey>, option::IterMut<'a, T>>,
        Changing<'a, InstanceKey, T>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        iter::zip(iter::repeat_n(NO_KEY, 1), self.plain.iter_mut()).chain(self.rest.iter_mut())
    }
}

impl<T> IntoIterator for Keyed<T> {
    type Item = (InstanceKey, T);
    type IntoIter = iter::Chain<
        iter::Zip<iter::RepeatN<InstanceKey>, option::IntoIter<T>>,
        btree_map::IntoIter<InstanceKey, T>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        iter::zip(iter::repeat_n(InstanceKey::None, 1), self.plain).chain(self.rest)
    }
}

impl<T: 'static> FromIterator<(InstanceKey, T)> for Keyed<T> {
    fn from_iter<I: IntoIterator<Item = (InstanceKey, T)>>(entries: I) -> Keyed<T> {
        let mut keyed = Keyed::new();
        entries.into_iter().for_each(|(key, value)| drop(keyed.insert(key, value)));
        keyed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{InstanceKey, Keyed};

    fn key() -> impl Strategy<Value = InstanceKey> {
        prop_oneof![
            Just(InstanceKey::None),
            (0..3i64).prop_map(InstanceKey::Int),
            "[ab]".prop_map(|it| InstanceKey::Str(it.into())),
        ]
    }

    proptest! {
        #[test]
        fn it_is_what_a_tree_would_be(
            steps in prop::collection::vec((key(), prop::option::of(0..9u8)), 0..12)
        ) {
            let (mut keyed, mut tree) = (Keyed::new(), BTreeMap::new());
            for (key, value) in steps {
                match value {
                    Some(value) => prop_assert_eq!(
                        keyed.insert(key.clone(), value),
                        tree.insert(key.clone(), value)
                    ),
                    None => prop_assert_eq!(keyed.remove(&key), tree.remove(&key)),
                }
                prop_assert_eq!(keyed.get(&key), tree.get(&key));
                prop_assert_eq!(keyed.len(), tree.len());
                prop_assert_eq!(keyed.is_empty(), tree.is_empty());
                prop_assert!(keyed.iter().eq(tree.iter()));
                prop_assert!(keyed.keys().rev().eq(tree.keys().rev()));
                prop_assert!(keyed.values().rev().eq(tree.values().rev()));
            }
            let is_even = |_: &InstanceKey, it: &mut u8| it.is_multiple_of(2);
            keyed.retain(is_even);
            tree.retain(is_even);
            *keyed.or_default(InstanceKey::None) += 1;
            *tree.entry(InstanceKey::None).or_default() += 1;
            for (_, it) in &mut keyed {
                *it += 1;
            }
            tree.values_mut().for_each(|it| *it += 1);
            prop_assert_eq!(&keyed, &tree.clone().into_iter().collect());
            prop_assert!(keyed.into_iter().eq(tree));
        }
    }
}

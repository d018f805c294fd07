//! The resource blocks of a module.

use std::hash::BuildHasher;
use std::ops::Index;
use std::sync::Arc;

use hashbrown::hash_table::{Entry, HashTable};
use rustc_hash::FxBuildHasher;

use super::Resource;
use crate::address::{ResourceName, ResourceNameRef};
use crate::syntax::Near;
use crate::value::Str;

/// The resource blocks of a module, each once, in the order of their names.
///
/// A module may have a million. So names stand in the blocks alone, and a block is found by the hash of its name, or by its
/// position where that is known.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    all: Vec<Arc<Resource>>,
    /// Positions in `all`.
    index: HashTable<u32>,
}

fn hash_of(name: ResourceNameRef<'_>) -> u64 {
    FxBuildHasher.hash_one(name)
}

/// The first bytes of a text as a number: texts of which it differs stand in the order of these numbers.
fn first_letters(text: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    u64::from_be_bytes(first)
}

impl Resources {
    /// Adds a block at the end, unless there is one of that name; [`sort`](Resources::sort) brings it to its place.
    ///
    /// # Errors
    ///
    /// Gives the block back where its name is taken.
    pub fn add(&mut self, block: Arc<Resource>) -> Result<(), Arc<Resource>> {
        let all = &self.all;
        let is_it = |it: &u32| all[*it as usize].name == block.name;
        let hash_again = |it: &u32| hash_of(all[*it as usize].name.as_ref());
        let Entry::Vacant(free) = self.index.entry(hash_of(block.name.as_ref()), is_it, hash_again)
        else {
            return Err(block);
        };
        free.insert(all.len() as u32);
        self.all.push(block);
        Ok(())
    }

    /// Makes room for so many more blocks: an index that grows hashes all names again each time.
    pub fn reserve(&mut self, more: usize) {
        let all = &self.all;
        self.index.reserve(more, |it| hash_of(all[*it as usize].name.as_ref()));
        self.all.reserve(more);
    }

    /// Brings the blocks into the order of their names.
    pub fn sort(&mut self) {
        if self.all.is_sorted_by(|a, b| a.name <= b.name) {
            return;
        }
        // Most names differ in what stands beside them here, so that few are looked up to compare them.
        let begins = |(at, block): (usize, &Arc<Resource>)| {
            let ResourceName { mode, kind, name } = &block.name;
            (*mode, kind.clone(), first_letters(name), at as u32)
        };
        let mut order: Vec<_> = self.all.iter().enumerate().map(begins).collect();
        order.sort_unstable_by(|a, b| {
            let name = |it: u32| &self.all[it as usize].name;
            match a.0 == b.0 && Str::ptr_eq(&a.1, &b.1) && a.2 != b.2 {
                true => a.2.cmp(&b.2),
                false => name(a.3).cmp(name(b.3)),
            }
        });
        let mut positions = vec![0; order.len()];
        for (position, it) in order.iter().enumerate() {
            positions[it.3 as usize] = position as u32;
        }
        self.index.iter_mut().for_each(|it| *it = positions[*it as usize]);
        self.all = order.into_iter().map(|it| self.all[it.3 as usize].clone()).collect();
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the place of a block among all of them.
    pub fn position(&self, name: &ResourceName) -> Option<usize> {
        self.find(name.as_ref())
    }

    fn find(&self, name: ResourceNameRef<'_>) -> Option<usize> {
        let is_it = |it: &u32| self.all[*it as usize].name == name;
        self.index.find(hash_of(name), is_it).map(|it| *it as usize)
    }

    /// Returns the block of that name and its place, which is likely to be `near`: then nothing is searched for.
    pub fn get_near(
        &self,
        near: usize,
        name: ResourceNameRef<'_>,
    ) -> Option<(usize, &Arc<Resource>)> {
        let guess = self.all.get(near).filter(|it| it.name == name);
        let place = guess.map(|_| near).or_else(|| self.find(name))?;
        Some((place, &self.all[place]))
    }

    /// Returns the block that a reference names and its place, which is looked for where it was the last time.
    pub fn named(&self, name: ResourceNameRef<'_>, near: &Near) -> Option<(usize, &Arc<Resource>)> {
        let found = self.get_near(near.place(), name)?;
        near.found_at(found.0);
        Some(found)
    }

    /// Returns the block at a position.
    pub fn at(&self, position: usize) -> Option<&Arc<Resource>> {
        self.all.get(position)
    }

    /// Returns the block of that name.
    pub fn get(&self, name: &ResourceName) -> Option<&Arc<Resource>> {
        self.position(name).map(|it| &self.all[it])
    }

    /// Returns the block of that name, to change all of it but its name.
    pub fn get_mut(&mut self, name: &ResourceName) -> Option<&mut Arc<Resource>> {
        self.position(name).map(|it| &mut self.all[it])
    }

    /// Returns whether there is a block of that name.
    pub fn contains_key(&self, name: &ResourceName) -> bool {
        self.position(name).is_some()
    }

    /// Returns the names.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &ResourceName> + Clone {
        self.all.iter().map(|it| &it.name)
    }

    /// Returns the blocks.
    pub fn values(&self) -> std::slice::Iter<'_, Arc<Resource>> {
        self.all.iter()
    }

    /// Returns the blocks, to change all of them but their names.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, Arc<Resource>> {
        self.all.iter_mut()
    }
}

impl Extend<Arc<Resource>> for Resources {
    /// Adds blocks whose names are not taken, and brings all into order.
    fn extend<I: IntoIterator<Item = Arc<Resource>>>(&mut self, blocks: I) {
        blocks.into_iter().for_each(|it| drop(self.add(it)));
        self.sort();
    }
}

impl Index<&ResourceName> for Resources {
    type Output = Arc<Resource>;

    fn index(&self, name: &ResourceName) -> &Arc<Resource> {
        self.get(name).expect("the block is one of its module")
    }
}

impl<'a> IntoIterator for &'a Resources {
    type Item = (&'a ResourceName, &'a Arc<Resource>);
    type IntoIter = std::iter::Map<
        std::slice::Iter<'a, Arc<Resource>>,
        fn(&'a Arc<Resource>) -> (&'a ResourceName, &'a Arc<Resource>),
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter().map(|it| (&it.name, it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Mode;
    use crate::config::tests::load;

    fn some(names: &[&str]) -> Resources {
        let block = |name: &&str| format!("resource \"x_thing\" \"{name}\" {{}}\n");
        let text: String = names.iter().map(block).collect();
        load(&format!("-- main.tf --\n{text}")).root().resources.clone()
    }

    #[test]
    fn blocks_are_found_by_name_and_stand_in_order_whatever_order_they_came_in() {
        let written =
            ["b", "subnetworks_b", "c", "a", "subnetworks_a", "ab", "subnetwo", "subnetworks"];
        let resources = some(&written);
        let names: Vec<&str> = resources.keys().map(|it| &*it.name).collect();
        let mut sorted = written.to_vec();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
        for (position, name) in names.iter().enumerate() {
            let name = ResourceName::managed("x_thing", name);
            assert_eq!(resources.position(&name), Some(position));
            for near in 0..9 {
                let found = resources.get_near(near, name.as_ref());
                assert_eq!(found.map(|it| (it.0, &it.1.name)), Some((position, &name)));
            }
            let near = Near::default();
            for _ in 0..2 {
                assert_eq!(resources.named(name.as_ref(), &near).map(|it| it.0), Some(position));
                assert_eq!(near.place(), position);
            }
            assert_eq!(resources[&name].name, name);
        }
        assert!(!resources.contains_key(&ResourceName::managed("x_thing", "d")));
        let data = ResourceName { mode: Mode::Data, ..ResourceName::managed("x_thing", "a") };
        assert!(resources.get(&data).is_none());
    }

    #[test]
    fn a_block_whose_name_is_taken_comes_back() {
        let mut resources = some(&["a"]);
        let again = resources.values().next().expect("a block").clone();
        assert!(resources.add(again).is_err());
        assert_eq!(resources.len(), 1);
    }
}

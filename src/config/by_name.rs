//! Blocks of a module that are found by their names: its resources, its calls.

use std::hash::{BuildHasher, Hash};
use std::ops::Index;
use std::sync::Arc;

use hashbrown::hash_table::{Entry, HashTable};
use rustc_hash::FxBuildHasher;

use super::{ModuleCall, Resource};
use crate::address::{Mode, ResourceName, ResourceNameRef};
use crate::lately::Lately;
use crate::syntax::Near;
use crate::value::Str;

/// The resource blocks of a module.
pub type Resources = ByName<Resource>;

/// The calls of a module.
pub type Calls = ByName<ModuleCall>;

/// A block with a name that no other of its kind has in its module.
pub trait Named {
    /// The name.
    type Name: Ord;
    /// The name as somebody else holds it.
    type Ref<'n>: Copy + Hash;
    /// What tells whether two names differ at most in their last part: where it is the same, they do.
    type Head: PartialEq;

    /// Returns the name.
    fn name(&self) -> &Self::Name;
    /// Returns the name for whoever looks for it.
    fn name_ref(&self) -> Self::Ref<'_>;
    /// Returns whether this is the name.
    fn is_named(&self, name: Self::Ref<'_>) -> bool;
    /// Returns what the name begins with, and its last part.
    fn parts(&self) -> (Self::Head, &str);
}

impl Named for Resource {
    type Name = ResourceName;
    type Ref<'n> = ResourceNameRef<'n>;
    /// Few types have so many resources that their name is held once.
    type Head = (Mode, *const u8);

    fn name(&self) -> &ResourceName {
        &self.name
    }

    fn name_ref(&self) -> ResourceNameRef<'_> {
        self.name.as_ref()
    }

    fn is_named(&self, name: ResourceNameRef<'_>) -> bool {
        self.name == name
    }

    fn parts(&self) -> ((Mode, *const u8), &str) {
        ((self.name.mode, self.name.kind.as_ptr()), &self.name.name)
    }
}

impl Named for ModuleCall {
    type Name = Str;
    type Ref<'n> = &'n str;
    type Head = ();

    fn name(&self) -> &Str {
        &self.name.text
    }

    fn name_ref(&self) -> &str {
        &self.name.text
    }

    fn is_named(&self, name: &str) -> bool {
        *self.name.text == *name
    }

    fn parts(&self) -> ((), &str) {
        ((), &self.name.text)
    }
}

/// Blocks of a module, each once, in the order of their names.
///
/// A module may have a million. So names stand in the blocks alone, and a block is found by the hash of its name, or by its
/// position where that is known.
#[derive(Clone, Debug)]
pub struct ByName<T> {
    all: Vec<Arc<T>>,
    /// Positions in `all`.
    index: HashTable<u32>,
}

/// The places of the blocks that were passed last, for whoever goes through all in order: what a block names mostly stands near it,
/// and that the index of a million names does not tell without being looked up somewhere else each time.
///
/// A guess: a place is that of the last block that was passed whose name has a hash like this.
#[derive(Debug, Default)]
pub struct Passed(Lately<u32>);

impl Passed {
    /// Notes that a block stands at a place.
    pub fn pass<T: Named>(&mut self, place: usize, block: &T) {
        self.0.meet(hash_of::<T>(block.name_ref()), place as u32);
    }
}

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName { all: Vec::new(), index: HashTable::new() }
    }
}

fn hash_of<T: Named>(name: T::Ref<'_>) -> u64 {
    FxBuildHasher.hash_one(name)
}

/// The first bytes of a text as a number: texts of which it differs stand in the order of these numbers.
fn first_letters(text: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    u64::from_be_bytes(first)
}

impl<T: Named> ByName<T> {
    /// Adds a block at the end, unless there is one of that name; [`sort`](ByName::sort) brings it to its place.
    ///
    /// # Errors
    ///
    /// Gives the block back where its name is taken.
    pub fn add(&mut self, block: Arc<T>) -> Result<(), Arc<T>> {
        let all = &self.all;
        let is_it = |it: &u32| all[*it as usize].is_named(block.name_ref());
        let hash_again = |it: &u32| hash_of::<T>(all[*it as usize].name_ref());
        let Entry::Vacant(free) =
            self.index.entry(hash_of::<T>(block.name_ref()), is_it, hash_again)
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
        self.index.reserve(more, |it| hash_of::<T>(all[*it as usize].name_ref()));
        self.all.reserve(more);
    }

    /// Brings the blocks into the order of their names.
    pub fn sort(&mut self) {
        if self.all.is_sorted_by(|a, b| a.name() <= b.name()) {
            return;
        }
        // Most names differ in what stands beside them here, so that few are looked up to compare them.
        let begins = |(at, block): (usize, &Arc<T>)| {
            let (head, last) = block.parts();
            (head, first_letters(last), at as u32)
        };
        let mut order: Vec<_> = self.all.iter().enumerate().map(begins).collect();
        order.sort_unstable_by(|a, b| {
            let name = |it: u32| self.all[it as usize].name();
            match a.0 == b.0 && a.1 != b.1 {
                true => a.1.cmp(&b.1),
                false => name(a.2).cmp(name(b.2)),
            }
        });
        let mut positions = vec![0; order.len()];
        for (position, it) in order.iter().enumerate() {
            positions[it.2 as usize] = position as u32;
        }
        self.index.iter_mut().for_each(|it| *it = positions[*it as usize]);
        // Not in the room of the order, which is larger.
        self.all = order.iter().map(|it| self.all[it.2 as usize].clone()).collect();
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
    pub fn position(&self, name: T::Ref<'_>) -> Option<usize> {
        let is_it = |it: &u32| self.all[*it as usize].is_named(name);
        self.index.find(hash_of::<T>(name), is_it).map(|it| *it as usize)
    }

    /// Returns the block of that name and its place, which is likely to be `near`: then nothing is searched for.
    pub fn get_near(&self, near: usize, name: T::Ref<'_>) -> Option<(usize, &Arc<T>)> {
        let guess = self.all.get(near).filter(|it| it.is_named(name));
        let place = guess.map(|_| near).or_else(|| self.position(name))?;
        Some((place, &self.all[place]))
    }

    /// Returns the block that a reference names and its place, which is looked for where it was the last time.
    pub fn named(&self, name: T::Ref<'_>, near: &Near) -> Option<(usize, &Arc<T>)> {
        let found = self.get_near(near.place(), name)?;
        near.found_at(found.0);
        Some(found)
    }

    /// Like [`named`](ByName::named), for whoever goes through all blocks in order and has looked for none of their names before.
    pub fn named_lately(
        &self,
        name: T::Ref<'_>,
        near: &Near,
        passed: &Passed,
    ) -> Option<(usize, &Arc<T>)> {
        let is_it = |it: &usize| self.all.get(*it).is_some_and(|it| it.is_named(name));
        let hash = hash_of::<T>(name);
        let guess = passed.0.guess(hash).map(|it| *it as usize).filter(is_it);
        let found = self.get_near(guess.unwrap_or_else(|| near.place()), name)?;
        near.found_at(found.0);
        Some(found)
    }

    /// Returns the block at a position.
    pub fn at(&self, position: usize) -> Option<&Arc<T>> {
        self.all.get(position)
    }

    fn find(&self, name: T::Ref<'_>) -> Option<&Arc<T>> {
        self.position(name).map(|it| &self.all[it])
    }

    fn find_mut(&mut self, name: T::Ref<'_>) -> Option<&mut Arc<T>> {
        self.position(name).map(|it| &mut self.all[it])
    }

    /// Returns the names.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &T::Name> + Clone {
        self.all.iter().map(|it| it.name())
    }

    /// Returns the blocks.
    pub fn values(&self) -> std::slice::Iter<'_, Arc<T>> {
        self.all.iter()
    }

    /// Returns the blocks, to change all of them but their names.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, Arc<T>> {
        self.all.iter_mut()
    }
}

impl Resources {
    /// Returns the block of that name.
    pub fn get(&self, name: &ResourceName) -> Option<&Arc<Resource>> {
        self.find(name.as_ref())
    }

    /// Returns the block of that name, to change all of it but its name.
    pub fn get_mut(&mut self, name: &ResourceName) -> Option<&mut Arc<Resource>> {
        self.find_mut(name.as_ref())
    }

    /// Returns whether there is a block of that name.
    pub fn contains_key(&self, name: &ResourceName) -> bool {
        self.get(name).is_some()
    }
}

impl Calls {
    /// Returns the call of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<ModuleCall>> {
        self.find(name)
    }

    /// Returns the call of that name, to change all of it but its name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Arc<ModuleCall>> {
        self.find_mut(name)
    }

    /// Returns whether there is a call of that name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl<T: Named> Extend<Arc<T>> for ByName<T> {
    /// Adds blocks whose names are not taken, and brings all into order.
    fn extend<I: IntoIterator<Item = Arc<T>>>(&mut self, blocks: I) {
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

impl Index<&str> for Calls {
    type Output = Arc<ModuleCall>;

    fn index(&self, name: &str) -> &Arc<ModuleCall> {
        self.get(name).expect("the call is one of its module")
    }
}

impl<'a, T: Named> IntoIterator for &'a ByName<T> {
    type Item = (&'a T::Name, &'a Arc<T>);
    type IntoIter =
        std::iter::Map<std::slice::Iter<'a, Arc<T>>, fn(&'a Arc<T>) -> (&'a T::Name, &'a Arc<T>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter().map(|it| (it.name(), it))
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
            assert_eq!(resources.position(name.as_ref()), Some(position));
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
        // Whatever was passed is a guess: nothing yet, all of these, or what stood at these places elsewhere.
        let mut passed = Passed::default();
        for _ in 0..2 {
            for (position, block) in resources.values().enumerate() {
                let found = resources.named_lately(block.name_ref(), &Near::default(), &passed);
                assert_eq!(found.map(|it| it.0), Some(position));
                passed.pass(position, &**block);
            }
        }
        let fewer = some(&written[..3]);
        for (position, block) in fewer.values().enumerate() {
            let found = fewer.named_lately(block.name_ref(), &Near::default(), &passed);
            assert_eq!(found.map(|it| it.0), Some(position));
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

    #[test]
    fn calls_stand_in_order_and_are_found() {
        let calls = ["b", "a", "ab", "subnetworks", "subnetworks_a"];
        let block = |name: &&str| format!("module \"{name}\" {{ source = \"./m\" }}\n");
        let text: String = calls.iter().map(block).collect();
        let config = load(&format!("-- main.tf --\n{text}-- m/main.tf --\nlocals {{}}\n"));
        let calls = &config.root().calls;
        let names: Vec<&str> = calls.keys().map(|it| &**it).collect();
        assert_eq!(names, ["a", "ab", "b", "subnetworks", "subnetworks_a"]);
        for (place, name) in names.iter().enumerate() {
            assert_eq!(calls.position(name), Some(place));
            assert_eq!(*calls[*name].name.text, **name);
        }
        assert!(!calls.contains_key("subnetwork"));
    }
}

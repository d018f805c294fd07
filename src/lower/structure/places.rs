//! What each block of a module has become: a table by the place of the block, four bytes each.

use std::marker::PhantomData;
use std::num::NonZeroU32;

/// Numbers of things by the place of their block in the configuration of a module. It takes no room until it has one.
#[derive(Clone, Debug)]
pub struct Places<T>(Box<[Option<NonZeroU32>]>, PhantomData<T>);

impl<T> Default for Places<T> {
    fn default() -> Places<T> {
        Places(Box::default(), PhantomData)
    }
}

impl<T: From<u32> + Into<u32>> Places<T> {
    /// Returns whether no block has become anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many places there are, the last of which may be free.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns what the block at a place has become.
    pub fn get(&self, place: usize) -> Option<T> {
        self.0.get(place)?.map(number)
    }

    /// Says what the block at a place has become, one of so many.
    pub fn set(&mut self, place: usize, thing: T, blocks: usize) {
        if self.0.len() <= place {
            let mut longer = std::mem::take(&mut self.0).into_vec();
            longer.resize(blocks.max(place + 1), None);
            self.0 = longer.into();
        }
        self.0[place] = NonZeroU32::new(thing.into() + 1);
    }

    /// Returns everything that has a place, in the order of the places.
    pub fn all(&self) -> impl Iterator<Item = T> {
        self.behind(0)
    }

    /// Returns everything that stands at a place or behind it.
    pub fn behind(&self, place: usize) -> impl Iterator<Item = T> {
        self.0.iter().skip(place).flatten().map(|it| number(*it))
    }
}

fn number<T: From<u32>>(it: NonZeroU32) -> T {
    T::from(it.get() - 1)
}

#[cfg(test)]
mod tests {
    use super::Places;
    use crate::lower::structure::ResourceId;

    #[test]
    fn each_place_has_what_was_set_last() {
        let mut places = Places::default();
        assert!(places.is_empty());
        places.set(2, ResourceId(0), 3);
        places.set(0, ResourceId(7), 3);
        places.set(0, ResourceId(8), 3);
        assert_eq!(places.get(0), Some(ResourceId(8)));
        assert_eq!(places.get(2), Some(ResourceId(0)));
        assert_eq!((places.get(1), places.get(3)), (None, None));
        assert!(places.all().eq([ResourceId(8), ResourceId(0)]));
        assert!(places.behind(1).eq([ResourceId(0)]));
        assert_eq!(places.len(), 3);
    }
}

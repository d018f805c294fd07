//! Which resource each block of a module has become: a table by the place of the block, four bytes each.

use std::num::NonZeroU32;

use super::ResourceId;

/// Resources by the place of their block in the configuration of a module. It takes no room until it has one.
#[derive(Clone, Debug, Default)]
pub struct Places(Box<[Option<NonZeroU32>]>);

impl Places {
    /// Returns whether no block has become a resource.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what the block at a place has become.
    pub fn get(&self, place: usize) -> Option<ResourceId> {
        self.0.get(place)?.map(|it| ResourceId(it.get() - 1))
    }

    /// Says what the block at a place has become, one of so many.
    pub fn set(&mut self, place: usize, resource: ResourceId, blocks: usize) {
        if self.0.len() <= place {
            let mut longer = std::mem::take(&mut self.0).into_vec();
            longer.resize(blocks.max(place + 1), None);
            self.0 = longer.into();
        }
        self.0[place] = NonZeroU32::new(resource.0 + 1);
    }

    /// Returns every resource that has a place.
    pub fn all(&self) -> impl Iterator<Item = ResourceId> {
        self.0.iter().flatten().map(|it| ResourceId(it.get() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, ResourceId};

    #[test]
    fn each_place_has_the_resource_that_was_set_last() {
        let mut places = Places::default();
        assert!(places.is_empty());
        places.set(2, ResourceId(0), 3);
        places.set(0, ResourceId(7), 3);
        places.set(0, ResourceId(8), 3);
        assert_eq!(places.get(0), Some(ResourceId(8)));
        assert_eq!(places.get(2), Some(ResourceId(0)));
        assert_eq!((places.get(1), places.get(3)), (None, None));
        assert!(places.all().eq([ResourceId(8), ResourceId(0)]));
    }
}

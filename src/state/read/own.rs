//! Our own record: what each object was made from.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::super::version4::{MadeFrom, OwnV4};
use super::super::{Resources, names, write};
use crate::address::Mode;
use crate::value::Str;

/// Returns what can be relied on.
pub(super) fn complete(own: OwnV4<'_>) -> Option<MadeFrom<'_>> {
    own.made_from.or_else(|| {
        let mut old = own.reads?;
        old.0.retain(|it| is_complete(it.1.iter().map(|it| &*it.0)));
        Some(old)
    })
}

/// Whether what an older version wrote of an object says all: where it names data, what is behind that is missing.
pub(in crate::state) fn is_complete<'t>(mut reads: impl Iterator<Item = &'t str>) -> bool {
    reads.all(|it| {
        let resource = names::resource(it).or_else(|| Some(names::instance(it)?.of()));
        resource.is_none_or(|it| it.resource.mode != Mode::Data)
    })
}

/// Names of objects, and of what each was made from, mostly in the order of the resources.
pub(super) type Names = Vec<(Str, Box<[Str]>)>;

/// What our own record says of the objects that are read next, the last first: what an object rests on has mostly been read there
/// before, and need not be searched for among all names.
pub(in crate::state) struct Likely<'m>(&'m [(Str, Box<[Str]>)]);

impl<'m> Likely<'m> {
    /// Returns the record of those that are left.
    pub(in crate::state) fn of(left: &'m [(Str, Box<[Str]>)]) -> Likely<'m> {
        Likely(left)
    }

    /// Returns how many are left.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    /// Returns the names of the next list that begins with this one; of none where that is not near.
    pub(super) fn names_with(&mut self, first: &str) -> &'m [Str] {
        for skipped in 0..2 {
            let Some(place) = self.0.len().checked_sub(skipped + 1) else { break };
            let names = &self.0[place].1;
            if names.first().is_some_and(|it| **it == *first) {
                self.0 = &self.0[..place];
                return names;
            }
        }
        &[]
    }
}

/// Gives objects what our own record says of them. What it says of others is passed over: another program may have removed them.
pub(super) fn give(resources: &mut Resources, own: &mut Names) {
    if own.is_empty() {
        return;
    }
    // Nearly always it says of all that it knows in their order, and of some it says nothing.
    let mut next = 0;
    give_each(resources, |name| {
        let record = own.get_mut(next).filter(|it| *it.0 == *name)?;
        next += 1;
        Some(std::mem::take(record))
    });
    if next < own.len() {
        let mut left: FxHashMap<Str, Box<[Str]>> = own.drain(next..).collect();
        give_each(resources, |name| left.remove_entry(name));
    }
}

/// Asks for the record of each object that has none, by the name that it has there.
fn give_each(resources: &mut Resources, mut record: impl FnMut(&str) -> Option<(Str, Box<[Str]>)>) {
    let mut name = String::new();
    for (address, resource) in resources.iter_mut() {
        for (key, instance) in &mut resource.instances {
            name.clear();
            write!(name, "{address}{key}").expect("text grows");
            for (deposed, object) in &mut instance.deposed {
                if object.reads.is_none() {
                    object.reads = record(&write::own_key(&name, Some(deposed))).map(|it| it.1);
                }
            }
            let Some(object) = instance.current.as_mut().filter(|it| it.reads.is_none()) else {
                continue;
            };
            if let Some((name, reads)) = record(&name) {
                object.reads = Some(reads);
                // Who is named by nobody needs no name.
                object.recorded_as =
                    Some(name).filter(|it| Str::strong_count(it).is_none_or(|it| it > 1));
            }
        }
    }
}

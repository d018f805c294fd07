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
    let mut own = InOrder { all: own, next: 0, places: None };
    let mut name = String::new();
    for (address, resource) in resources.iter_mut() {
        for (key, instance) in &mut resource.instances {
            name.clear();
            write!(name, "{address}{key}").expect("text grows");
            for (deposed, object) in &mut instance.deposed {
                object.reads = own.take(&write::own_key(&name, Some(deposed))).map(|it| it.1);
            }
            if let Some(object) = &mut instance.current {
                let Some((name, reads)) = own.take(&name) else { continue };
                object.reads = Some(reads);
                // Who is named by nobody needs no name.
                object.recorded_as =
                    Some(name).filter(|it| Str::strong_count(it).is_none_or(|it| it > 1));
            }
        }
    }
}

/// Finds names that are mostly asked for in the order in which they stand.
struct InOrder<'m> {
    all: &'m mut [(Str, Box<[Str]>)],
    /// Behind the one that was found last.
    next: usize,
    /// Where each stands, once one was asked for that does not stand next.
    places: Option<FxHashMap<Str, usize>>,
}

impl InOrder<'_> {
    fn take(&mut self, name: &str) -> Option<(Str, Box<[Str]>)> {
        let is_next = self.all.get(self.next).is_some_and(|it| *it.0 == *name);
        let place = match is_next {
            true => self.next,
            false => {
                let all = self.all.iter().enumerate();
                let place = |(at, it): (usize, &(Str, _))| (it.0.clone(), at);
                *self.places.get_or_insert_with(|| all.map(place).collect()).get(name)?
            }
        };
        self.next = place + 1;
        Some(std::mem::take(&mut self.all[place]))
    }
}

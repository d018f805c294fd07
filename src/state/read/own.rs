//! Our own record: what each object was made from.

use std::fmt::{self, Write as _};

use rustc_hash::FxHashMap;

use super::super::version4::{MadeFrom, OwnV4, Text};
use super::super::{Resources, Unconfirmed, names, write};
use crate::address::{InstanceKey, Mode, Resource};
use crate::value::Str;

/// Returns what can be relied on.
pub(super) fn complete<'a>(own: &mut OwnV4<'a>) -> Option<MadeFrom<'a>> {
    own.made_from.take().or_else(|| {
        let mut old = own.reads.take()?;
        old.0.retain(|it| is_complete(it.1.iter().map(|it| &*it.0)));
        Some(old)
    })
}

/// Returns what may exist without a record. A note whose address cannot be read is passed over.
pub(super) fn unconfirmed(own: OwnV4<'_>) -> Vec<Unconfirmed> {
    let notes = own.unconfirmed.unwrap_or_default().into_iter();
    let read = notes.filter_map(|it| {
        Some(Unconfirmed {
            address: names::instance(&it.address.0)?,
            provider: Text::filled(&it.provider).unwrap_or_default().to_owned(),
            known: it.known.unwrap_or_default().into_iter().collect(),
        })
    });
    read.collect()
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

/// What our own record says of the instances of the resource that is read next, of a file that is read from its last resource: what
/// an object rests on has mostly been read there before, and need not be searched for among all names.
pub(in crate::state) struct Likely<'m> {
    left: &'m [(Str, Box<[Str]>)],
    /// Where that of the next instance is likely to stand.
    next: usize,
    /// The first place at which one was found.
    first: usize,
}

impl<'m> Likely<'m> {
    /// Returns the record of so many instances, which ends what is left of it.
    pub(in crate::state) fn of(left: &'m [(Str, Box<[Str]>)], count: usize) -> Likely<'m> {
        Likely { left, next: left.len().saturating_sub(count), first: left.len() }
    }

    /// Returns how much is left of the record then.
    pub(super) fn left(&self) -> usize {
        self.first
    }

    /// Returns what an instance was made from; nothing where its record is not near.
    pub(super) fn names_of(&mut self, resource: &Resource, key: &InstanceKey) -> &'m [Str] {
        // Of an instance before nothing may be said, and what is said of others may be left over.
        let near = [0, 1, -1, -2, -3].map(|it| self.next.wrapping_add_signed(it));
        let is_it =
            |place: &usize| self.left.get(*place).is_some_and(|it| is_name(&it.0, resource, key));
        let Some(place) = near.into_iter().find(is_it) else { return &[] };
        self.next = place + 1;
        self.first = self.first.min(place);
        &self.left[place].1
    }
}

/// Returns whether a text is the address of an instance, which is not put together for that.
fn is_name(text: &str, resource: &Resource, key: &InstanceKey) -> bool {
    struct Left<'t>(&'t str);
    impl fmt::Write for Left<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
            Ok(())
        }
    }
    let mut left = Left(text);
    write!(left, "{resource}{key}").is_ok() && left.0.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{ModuleInstance, ResourceName};

    #[test]
    fn the_record_of_a_resource_is_found_from_the_last_though_some_is_missing_and_some_is_left_over()
     {
        let own: Names =
            ["x.a[0]", "x.a[2]", "x.gone", "x.b", "x.gone[0]", "x.gone[1]", "x.gone[2]"]
                .map(|it| (it.into(), [format!("behind {it}").into()].into()))
                .into();
        let mut left = own.len();
        let mut found = |name: &str, keys: &[InstanceKey]| {
            let resource = ResourceName::managed("x", name);
            let resource = Resource { module: ModuleInstance::default(), resource };
            let mut likely = Likely::of(&own[..left], keys.len());
            let names: Vec<String> =
                keys.iter().map(|it| likely.names_of(&resource, it).join("")).collect();
            left = likely.left();
            (names.join(", "), left)
        };
        assert_eq!(found("c", &[InstanceKey::None]), (String::new(), 7));
        assert_eq!(found("b", &[InstanceKey::None]), ("behind x.b".into(), 3));
        let keys = [0, 1, 2].map(InstanceKey::Int);
        assert_eq!(found("a", &keys), ("behind x.a[0], , behind x.a[2]".into(), 0));
        assert_eq!(found("a", &keys), (", , ".into(), 0));
    }
}

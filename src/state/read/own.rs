//! Our own record: what each object was made from.

use std::borrow::Cow;

use super::super::version4::{MadeFrom, OwnV4, Text};
use super::super::{Object, Resources, names, write};
use super::Reader;
use crate::address::Mode;

/// Returns what can be relied on.
pub(super) fn complete(own: OwnV4<'_>) -> Option<MadeFrom<'_>> {
    own.made_from.or_else(|| {
        let mut old = own.reads?;
        old.retain(|_, it| is_complete(it.iter().map(|it| &*it.0)));
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

impl Reader {
    /// Gives objects what our own record says of them. What it says of others is passed over: another program may have
    /// removed them.
    pub(super) fn own(&mut self, resources: &mut Resources, own: &MadeFrom<'_>) {
        let mut give = |name: String, object: &mut Object| {
            if let Some(reads) = own.get(&Text(Cow::Owned(name))) {
                object.reads = Some(reads.iter().map(|it| self.name(&it.0)).collect());
            }
        };
        for (address, resource) in resources.iter_mut() {
            for (key, instance) in &mut resource.instances {
                let name = format!("{address}{key}");
                for (deposed, object) in &mut instance.deposed {
                    give(write::own_key(&name, Some(deposed)), object);
                }
                if let Some(object) = &mut instance.current {
                    give(write::own_key(&name, None), object);
                }
            }
        }
    }
}

//! `uses` where few stacks changed: only pairs of which one end is in a stack that changed are found anew, and the others are kept.
//!
//! What identities the changed stacks had and have, and what their objects mention, is looked for in the values of the other stacks that
//! may hold it, as the hints of their buckets say. Where an identity of theirs is one of an object that did not change, too, how many stacks have it may be
//! another number now: then everything is joined again.

use std::collections::{BTreeMap, BTreeSet};

use entail::address::{Instance, Mode};
use entail::diagnostic::Diagnostics;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use super::hints::{Meeting, Sought};
use super::{Run, no_room};
use crate::lake::{Bucket, Catalogue, HINTS, Scan, Wanted, bucket_of, table};
use crate::reading;
use crate::uses::{Digest, IDENTITIES, Uses, digest, is_identity};

/// What was found of one object that did not change.
#[derive(Default)]
struct Hits {
    identities: Vec<Digest>,
    texts: Vec<Digest>,
}

/// An object: its stack, its address.
type Object = (String, String);

/// Objects that did not change.
type Found = BTreeMap<Object, Hits>;

impl Run<'_> {
    /// Finds the pairs with an end in a stack that changed, and keeps the others; returns false where all are to be found anew.
    ///
    /// - `uses`: what was read of the stacks that changed.
    pub(super) fn join_changed(
        &self,
        catalogue: &mut Catalogue,
        uses: &mut Uses,
        changed: &BTreeSet<String>,
    ) -> Result<bool, Diagnostics> {
        let mut own: FxHashSet<Digest> = uses.identities().collect();
        self.old_identities(changed, &mut own)?;
        let mentioned = uses.texts().map_err(|why| no_room(&why))?;
        let found = self.look(catalogue, changed, (&own, &mentioned))?;
        if found.values().any(|it| it.identities.iter().any(|it| own.contains(it))) {
            return Ok(false);
        }
        for ((stack, address), hits) in found {
            uses.add((&stack, &address), hits.identities, hits.texts)
                .map_err(|why| no_room(&why))?;
        }
        let uses = std::mem::replace(uses, Uses::new().map_err(|why| no_room(&why))?);
        let mut pairs = Vec::new();
        let of = |it: (&str, &str)| (it.0.to_owned(), it.1.to_owned());
        uses.join(&mut |user, used| pairs.push((of(user), of(used))))
            .map_err(|why| no_room(&why))?;
        self.replace(catalogue, changed, &pairs)?;
        Ok(true)
    }

    /// The identities that objects of the changed stacks had.
    fn old_identities(
        &self,
        changed: &BTreeSet<String>,
        own: &mut FxHashSet<Digest>,
    ) -> Result<(), Diagnostics> {
        let Some(table) = table("attribute") else { return Ok(()) };
        let names = IDENTITIES.iter().map(|it| (*it).to_owned());
        let wanted = Wanted {
            columns: vec!["value"],
            only: vec![("stack", changed.clone()), ("attribute", names.collect())],
            buckets: Some(changed.iter().map(|it| bucket_of(it, self.buckets)).collect()),
            ..Wanted::all(table)
        };
        Scan::new(self.lake, &self.last).rows(&wanted, &mut |row| {
            if let Some(json) = row[0] {
                leaves(json, &mut |it| own.extend(digest(it)));
            }
        })
    }

    /// Looks for identities and texts in the values of all stacks that did not change.
    fn look(
        &self,
        catalogue: &Catalogue,
        changed: &BTreeSet<String>,
        (own, mentioned): (&FxHashSet<Digest>, &FxHashSet<Digest>),
    ) -> Result<Found, Diagnostics> {
        let Some(table) = table("attribute") else { return Ok(Found::new()) };
        let columns = vec!["stack", "node", "type", "attribute", "value"];
        let sought = Sought::new(own, mentioned);
        let found: Mutex<Found> = Mutex::default();
        let buckets: BTreeSet<u32> = catalogue.files_of(table.name).map(|it| it.0).collect();
        let buckets: Vec<u32> = buckets.into_iter().collect();
        let looked = reading::each(&buckets, reading::threads(), |bucket| {
            let meeting = self.meeting(catalogue, *bucket, (&sought, changed))?;
            let mut only = Vec::new();
            if let Some(it) = meeting {
                if it.stacks.is_empty() {
                    return Ok(());
                }
                if !it.is_by_text {
                    only.push((
                        "attribute",
                        IDENTITIES.iter().map(|it| (*it).to_owned()).collect(),
                    ));
                }
                only.push(("stack", it.stacks));
            }
            let buckets = Some(BTreeSet::from([*bucket]));
            let wanted = Wanted { table, columns: columns.clone(), only, buckets };
            let mut hits: FxHashMap<Object, Hits> = FxHashMap::default();
            Scan::new(self.lake, catalogue).rows_alone(&wanted, &mut |row| {
                let [Some(stack), Some(node), Some(kind), Some(name), Some(json)] = row[..] else {
                    return;
                };
                if kind == "output" {
                    return;
                }
                let is_own = is_identity(name) && json.starts_with('"');
                leaves(json, &mut |text| {
                    let Some(digest) = digest(text) else { return };
                    let is_hit = own.contains(&digest) || is_own && mentioned.contains(&digest);
                    if !is_hit || changed.contains(stack) {
                        return;
                    }
                    let hits = hits.entry((stack.to_owned(), node.to_owned())).or_default();
                    match is_own {
                        true => hits.identities.push(digest),
                        false => hits.texts.push(digest),
                    }
                });
            })?;
            found.lock().extend(hits.into_iter().map(|(object, hits)| {
                let hits = without_own(&object.1, hits);
                (object, hits)
            }));
            Ok(())
        })?;
        looked.into_iter().collect::<Result<(), Diagnostics>>()?;
        Ok(found.into_inner())
    }

    /// Whose values in a bucket are to be read; nothing where nobody knows.
    fn meeting(
        &self,
        catalogue: &Catalogue,
        bucket: u32,
        (sought, changed): (&Sought, &BTreeSet<String>),
    ) -> Result<Option<Meeting>, Diagnostics> {
        let file = catalogue.files.get(HINTS).and_then(|it| it.get(&bucket));
        let Some(file) = file else { return Ok(None) };
        let bytes = self.lake.read(&file.path)?;
        Ok(bytes.and_then(|it| sought.meets(&it, changed)))
    }

    /// Writes the pairs of the stacks that changed in the place of those that were there.
    fn replace(
        &self,
        catalogue: &mut Catalogue,
        changed: &BTreeSet<String>,
        pairs: &[(Object, Object)],
    ) -> Result<(), Diagnostics> {
        for (forth, back) in [("uses", "used_by"), ("used_by", "uses")] {
            let (Some(table), Some(other)) = (table(forth), table(back)) else { continue };
            let of = |it: &str| bucket_of(it, self.buckets);
            let mut touched: BTreeSet<u32> = changed.iter().map(|it| of(it)).collect();
            // Who was beside a stack that changed stands in the table of the other way.
            let wanted = Wanted {
                columns: vec!["other_stack"],
                only: vec![("stack", changed.clone())],
                buckets: Some(touched.clone()),
                ..Wanted::all(other)
            };
            let mut beside = BTreeSet::new();
            Scan::new(self.lake, &self.last).rows(&wanted, &mut |row| {
                beside.extend(row[0].map(of));
            })?;
            touched.append(&mut beside);
            let mut rows: BTreeMap<u32, Vec<[&str; 4]>> = BTreeMap::new();
            for (user, used) in pairs {
                let (one, two) = if forth == "uses" { (user, used) } else { (used, user) };
                rows.entry(of(&one.0)).or_default().push([&one.0, &one.1, &two.0, &two.1]);
            }
            touched.extend(rows.keys());
            let mut files = self.last.files.get(forth).cloned().unwrap_or_default();
            for number in touched {
                let mut bucket = Bucket::default();
                if let Some(file) = files.remove(&number) {
                    let is_kept = |it: Option<&str>| it.is_some_and(|it| !changed.contains(it));
                    let stays = |row: &[Option<&str>]| is_kept(row[0]) && is_kept(row[2]);
                    self.take_in(&mut bucket, table, &file, &stays)?;
                }
                for row in rows.get(&number).into_iter().flatten() {
                    bucket.add(table, row);
                }
                if let Some(file) = self.write(&mut bucket, table, number)? {
                    files.insert(number, file);
                }
            }
            catalogue.files.insert(forth.to_owned(), files);
        }
        Ok(())
    }
}

/// What an object mentions that is no identity of its own; a data source is nobody's identity.
fn without_own(address: &str, mut hits: Hits) -> Hits {
    let Hits { identities, texts } = &mut hits;
    texts.retain(|it| !identities.contains(it));
    let is_managed = address.parse::<Instance>().is_ok_and(|it| it.resource.mode == Mode::Managed);
    if !is_managed {
        identities.clear();
    }
    hits
}

/// Shows the texts in a value.
pub(super) fn leaves(json: &str, see: &mut dyn FnMut(&str)) {
    match json.as_bytes().first() {
        Some(b'"') if !json.contains('\\') => see(&json[1..json.len().max(2) - 1]),
        Some(b'"' | b'[' | b'{') if json.contains('"') => {
            if let Ok(value) = serde_json::from_str::<Json>(json) {
                texts_of(&value, see);
            }
        }
        _ => {}
    }
}

fn texts_of(value: &Json, see: &mut dyn FnMut(&str)) {
    match value {
        Json::String(text) => see(text),
        Json::Array(all) => all.iter().for_each(|it| texts_of(it, see)),
        Json::Object(all) => all.values().for_each(|it| texts_of(it, see)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

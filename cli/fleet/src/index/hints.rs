//! What stands for the identities and the texts in the values of each stack: a change of others shows by it whose values need not be read.
//!
//! A file of each bucket has, one stack behind the other, its name and two sorted lists of numbers. It is no table: nobody asks it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::joining::leaves;
use crate::lake::{Bucket, table};
use crate::uses::{Digest, digest, is_identity};

/// The first bytes of a digest, as a number.
type Short = u64;

/// What a stack holds.
#[derive(Debug, Default, PartialEq)]
struct Held {
    identities: Vec<Short>,
    texts: Vec<Short>,
}

/// What is looked for.
pub struct Sought {
    own: FxHashSet<Short>,
    mentioned: FxHashSet<Short>,
}

/// Whose values are to be read.
#[derive(Debug, Default, PartialEq)]
pub struct Meeting {
    /// The stacks.
    pub stacks: BTreeSet<String>,
    /// Whether values beside identities may matter.
    pub is_by_text: bool,
}

impl Sought {
    /// Returns what is looked for.
    ///
    /// - `own`: identities, which others may have and mention.
    /// - `mentioned`: texts, which may be identities of others.
    pub fn new(own: &FxHashSet<Digest>, mentioned: &FxHashSet<Digest>) -> Sought {
        let short = |all: &FxHashSet<Digest>| all.iter().map(short).collect();
        Sought { own: short(own), mentioned: short(mentioned) }
    }

    /// Returns the stacks of a file that may hold some of it, but for those that changed; nothing where the file makes no sense.
    pub fn meets(&self, file: &[u8], changed: &BTreeSet<String>) -> Option<Meeting> {
        let mut meeting = Meeting::default();
        for (stack, held) in read(file)? {
            if changed.contains(&stack) {
                continue;
            }
            let is_by_text = held.texts.iter().any(|it| self.own.contains(it));
            let is_sought = |it: &Short| self.own.contains(it) || self.mentioned.contains(it);
            if is_by_text || held.identities.iter().any(is_sought) {
                meeting.stacks.insert(stack);
                meeting.is_by_text |= is_by_text;
            }
        }
        Some(meeting)
    }
}

/// Returns the file of a bucket.
pub fn of(bucket: &Bucket) -> Vec<u8> {
    let mut stacks: BTreeMap<&str, Held> = BTreeMap::new();
    let Some(table) = table("attribute") else { return Vec::new() };
    // A text stands in many rows, and is looked at once.
    let mut known: FxHashMap<u32, Vec<Short>> = FxHashMap::default();
    for row in bucket.cells(table) {
        let texts = [row[0], row[2], row[3], row[4]].map(|it| bucket.shown(it));
        let [Some(stack), Some(kind), Some(name), Some(json)] = texts else { continue };
        if kind == "output" {
            continue;
        }
        let found = known.entry(row[4]).or_insert_with(|| {
            let mut found = Vec::new();
            leaves(json, &mut |it| found.extend(digest(it).as_ref().map(short)));
            found
        });
        let held = stacks.entry(stack).or_default();
        match is_identity(name) && json.starts_with('"') {
            true => held.identities.extend(&*found),
            false => held.texts.extend(&*found),
        }
    }
    let mut file = Vec::new();
    for (stack, mut held) in stacks {
        write_text(&mut file, stack);
        for all in [&mut held.identities, &mut held.texts] {
            all.sort_unstable();
            all.dedup();
            file.extend((all.len() as u32).to_le_bytes());
            all.iter().for_each(|it| file.extend(it.to_le_bytes()));
        }
    }
    file
}

fn write_text(file: &mut Vec<u8>, text: &str) {
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(text.as_bytes());
}

/// Reads a file; nothing where it ends too soon.
fn read(mut file: &[u8]) -> Option<Vec<(String, Held)>> {
    let mut found = Vec::new();
    while !file.is_empty() {
        let length = length(&mut file)?;
        let name = file.split_off(..length)?;
        let name = String::from_utf8(name.to_vec()).ok()?;
        found.push((name, Held { identities: shorts(&mut file)?, texts: shorts(&mut file)? }));
    }
    Some(found)
}

fn length(file: &mut &[u8]) -> Option<usize> {
    let (bytes, rest) = file.split_first_chunk()?;
    *file = rest;
    Some(u32::from_le_bytes(*bytes) as usize)
}

fn shorts(file: &mut &[u8]) -> Option<Vec<Short>> {
    let count = length(file)?;
    let bytes = file.split_off(..count.checked_mul(size_of::<Short>())?)?;
    let (chunks, _) = bytes.as_chunks();
    Some(chunks.iter().map(|it| Short::from_le_bytes(*it)).collect())
}

fn short(digest: &Digest) -> Short {
    digest.first_chunk().map_or(0, |it| Short::from_le_bytes(*it))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rustc_hash::FxHashSet;

    use super::{Meeting, Sought, of};
    use crate::lake::{Bucket, table};
    use crate::uses::{Digest, digest};

    fn digests(texts: &[&str]) -> FxHashSet<Digest> {
        texts.iter().filter_map(|it| digest(it)).collect()
    }

    #[test]
    fn stacks_that_may_meet_what_is_sought_are_named() {
        let mut bucket = Bucket::default();
        let table = table("attribute").expect("a table");
        let rows = [
            ["net", "vpc.a", "vpc", "id", r#""vpc-12345678""#, "false"],
            ["app", "web.w", "web", "nets", r#"[{"of":"vpc-12345678","no":1}]"#, "false"],
            ["app", "web.w", "web", "id", r#""web-12345678""#, "false"],
            ["other", "output.o", "output", "value", r#""vpc-12345678""#, "false"],
        ];
        rows.iter().for_each(|it| bucket.add(table, it));
        let file = of(&bucket);
        let meets = |own: &[&str], mentioned: &[&str], changed: &[&str]| {
            let changed = changed.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<_>>();
            Sought::new(&digests(own), &digests(mentioned)).meets(&file, &changed)
        };
        let found = |stacks: &[&str], is_by_text| {
            let stacks = stacks.iter().map(|it| (*it).to_owned()).collect();
            Some(Meeting { stacks, is_by_text })
        };
        assert_eq!(meets(&["vpc-12345678"], &[], &[]), found(&["app", "net"], true));
        assert_eq!(meets(&["vpc-12345678"], &[], &["app"]), found(&["net"], false));
        assert_eq!(meets(&[], &["vpc-12345678"], &[]), found(&["net"], false));
        assert_eq!(meets(&["gone-12345678"], &["gone-12345678"], &[]), found(&[], false));
        let short = Sought::new(&digests(&[]), &digests(&[]));
        assert_eq!(short.meets(&file[..file.len() - 1], &BTreeSet::new()), None);
    }
}

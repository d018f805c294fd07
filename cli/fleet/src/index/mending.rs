//! Files of a lake that are gone or damaged: an index finds them, and writes them again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use entail::diagnostic::Diagnostics;
use sha2::{Digest as _, Sha256};

use super::{ACROSS, hex};
use crate::lake::{Catalogue, File, Lake, Listed};
use crate::reading;

/// What is wrong with the files that a catalogue names.
#[derive(Debug, Default)]
pub struct Damage {
    /// Whether any file is gone or damaged.
    pub is_any: bool,
    /// The buckets that have such a file: their stacks are read again.
    pub buckets: BTreeSet<u32>,
}

/// A file that a catalogue names, with its table and bucket.
struct Named<'a> {
    table: &'a str,
    bucket: u32,
    file: &'a File,
}

/// Takes the files that are gone or damaged out of a catalogue, and returns where they were.
///
/// A file is damaged if its size is another, or if it was written after the catalogue and has another digest.
///
/// - `listed`: the files of the lake.
///
/// # Errors
///
/// If a file cannot be read.
pub fn take_out_damaged(
    lake: &Lake,
    last: &mut Catalogue,
    listed: &[Listed],
) -> Result<Damage, Diagnostics> {
    let Some(time) = lake.catalogue_time()? else { return Ok(Damage::default()) };
    let found: BTreeMap<&str, &Listed> = listed.iter().map(|it| (it.path.as_str(), it)).collect();
    let named: Vec<Named<'_>> = last
        .files
        .iter()
        .flat_map(|(table, files)| {
            files.iter().map(move |(bucket, file)| Named { table, bucket: *bucket, file })
        })
        .collect();
    let damaged = reading::each(&named, reading::threads(), |it| -> Result<_, Diagnostics> {
        let is_whole = match found.get(it.file.path.as_str()) {
            Some(found) => is_whole(lake, it.file, found, time)?,
            None => false,
        };
        Ok((!is_whole).then(|| (it.table.to_owned(), it.bucket)))
    })?;
    let mut damage = Damage::default();
    let damaged = damaged.into_iter().collect::<Result<Vec<_>, Diagnostics>>()?;
    for (table, bucket) in damaged.into_iter().flatten() {
        damage.is_any = true;
        if !ACROSS.contains(&&*table) {
            damage.buckets.insert(bucket);
        }
        if let Some(files) = last.files.get_mut(&table) {
            files.remove(&bucket);
        }
    }
    Ok(damage)
}

fn is_whole(
    lake: &Lake,
    file: &File,
    found: &Listed,
    time: SystemTime,
) -> Result<bool, Diagnostics> {
    if found.bytes != file.bytes as u64 {
        return Ok(false);
    }
    // An index writes the catalogue after all files that it names.
    if found.changed < time {
        return Ok(true);
    }
    let content = lake.read(&file.path)?;
    Ok(content.is_some_and(|it| hex(&Sha256::digest(&it)[..16]) == file.digest))
}

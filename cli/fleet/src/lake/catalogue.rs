//! The catalogue of a lake: its version, its stacks, and which files are whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the layout of lakes. A lake of another one is made anew.
pub const VERSION: u32 = 1;

/// What stands in `catalogue.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    /// [`VERSION`]
    pub version: u32,
    /// The version of the vocabulary whose relations the tables have.
    pub vocabulary: String,
    /// Counts the catalogues of this lake.
    pub generation: u64,
    /// Over how many buckets the stacks are spread.
    pub buckets: u32,
    /// The stacks, by name.
    pub stacks: BTreeMap<String, Indexed>,
    /// The files, by table and bucket.
    pub files: BTreeMap<String, BTreeMap<u32, File>>,
}

/// A stack as it was indexed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Indexed {
    /// The lineage of its state.
    pub lineage: String,
    /// The serial of its state.
    pub serial: u64,
    /// The digest of what was read: state, configuration and labels.
    pub digest: String,
    /// What stands for all that without reading it; nothing where only reading tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// How many objects its state holds.
    pub objects: usize,
    /// The folders of its modules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<std::path::PathBuf>,
    /// Why it could not be read when last tried; its rows are those of before then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where its configuration or its state is, as proofs name it.
    pub place: String,
    /// Where its state is, as those that read it name the place.
    #[serde(default)]
    pub at: String,
    /// Whether a saved plan of it was read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_planned: bool,
    /// The places of states that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
}

/// A file of a lake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Its path in the lake.
    pub path: String,
    /// How many rows it has.
    pub rows: usize,
    /// How many bytes it has.
    pub bytes: usize,
    /// What stands for its content.
    pub digest: String,
}

impl Catalogue {
    /// Returns the bucket of a stack.
    pub fn bucket(&self, stack: &str) -> u32 {
        bucket_of(stack, self.buckets)
    }

    /// Returns the files of a table, each with its bucket.
    pub fn files_of(&self, table: &str) -> impl Iterator<Item = (u32, &File)> {
        self.files.get(table).into_iter().flatten().map(|it| (*it.0, it.1))
    }

    /// Returns how many bytes all files have.
    pub fn bytes(&self) -> usize {
        let files = self.files.values().flat_map(BTreeMap::values);
        files.fold(0, |all, it| all.saturating_add(it.bytes))
    }

    /// Returns how many objects all states hold.
    pub fn objects(&self) -> usize {
        self.stacks.values().fold(0, |all, it| all.saturating_add(it.objects))
    }

    /// Returns whether the stacks can keep their buckets with this number of buckets.
    pub fn fits(&self, wanted: u32) -> bool {
        let is_possible = (1..=MOST_BUCKETS as u32).contains(&self.buckets);
        is_possible && wanted <= self.buckets.saturating_mul(4)
    }
}

/// Over how many buckets stacks are spread at most.
const MOST_BUCKETS: usize = 1 << 14;

/// Returns how many buckets so many stacks are spread over: five to ten stacks in each while there are no more than
/// 16,384 buckets, so that there are few files, and a change writes little again.
pub fn buckets_for(stacks: usize) -> u32 {
    (stacks / 10).next_power_of_two().clamp(1, MOST_BUCKETS) as u32
}

/// Returns the bucket of a stack: the same whatever else there is, in every run.
pub fn bucket_of(stack: &str, buckets: u32) -> u32 {
    // FNV-1a: it must never change, and hashes of the library may.
    let hash = stack.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    ((hash ^ (hash >> 32)) % u64::from(buckets.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::{Catalogue, bucket_of, buckets_for};

    #[test]
    fn buckets_that_grow_too_large_or_cannot_be_are_spread_anew() {
        let fits = |buckets, wanted| Catalogue { buckets, ..Catalogue::default() }.fits(wanted);
        assert!(fits(16, 1) && fits(16, 64) && fits(16_384, 16_384));
        assert!(!fits(16, 128) && !fits(0, 1) && !fits(16_385, 1) && !fits(u32::MAX, 16));
    }

    #[test]
    fn stacks_are_spread_evenly_and_always_alike() {
        assert_eq!(
            [0, 3, 100, 10_000, 20_000, 100_000, 10_000_000].map(buckets_for),
            [1, 1, 16, 1024, 2048, 16_384, 16_384]
        );
        assert_eq!(bucket_of("live/app", 16), bucket_of("live/app", 16));
        let mut counts = [0; 16];
        for number in 0..16_000 {
            counts[bucket_of(&format!("team-{number}/prod"), 16) as usize] += 1;
        }
        assert!(counts.iter().all(|it| (800..1200).contains(it)), "{counts:?}");
    }
}

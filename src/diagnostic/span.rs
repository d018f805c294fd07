//! Places in texts, in eight bytes each.

use std::cmp::Ordering;
use std::fmt;

use parking_lot::RwLock;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::FileId;

/// A place in a source file: byte offsets, end exclusive. The file is one of the [`Sources`](super::Sources) that it came from.
///
/// Trees of a large configuration hold tens of millions, nearly all of them short and in one of few files. What is neither stands
/// in a table that the whole process shares, each place once, so that what is equal looks equal.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte; a number in the table, where the length says so.
    start: u32,
    /// The length in the lower bits, the file in those above.
    packed: [u8; 3],
    room: Room,
}

/// A byte that has one value, so that what may be a place or something else takes no more room than a place.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Room {
    #[default]
    Taken,
}

/// How many bits the length has. The file has the other ones.
const LENGTH_BITS: u32 = 11;

/// The length of what stands in the table.
const ELSEWHERE: u32 = (1 << LENGTH_BITS) - 1;

/// The files before this one need no table.
const FILES: u32 = 1 << (24 - LENGTH_BITS);

/// File, first byte, and one past the last.
type Whole = (FileId, u32, u32);

/// Places that take more room than a [`Span`] has.
struct Table {
    all: Vec<Whole>,
    numbers: FxHashMap<Whole, u32>,
}

static TABLE: RwLock<Table> =
    RwLock::new(Table { all: Vec::new(), numbers: FxHashMap::with_hasher(FxBuildHasher) });

impl Span {
    /// Returns the span of `start..end` in `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span::of((file, start as u32, end as u32))
    }

    #[inline]
    fn of(whole: Whole) -> Span {
        let (file, start, end) = whole;
        match end.checked_sub(start) {
            Some(length) if length < ELSEWHERE && file.0 < FILES => {
                Span::packed(start, file.0 << LENGTH_BITS | length)
            }
            _ => Span::packed(elsewhere(whole), ELSEWHERE),
        }
    }

    #[inline]
    fn packed(start: u32, packed: u32) -> Span {
        let [a, b, c, _] = packed.to_le_bytes();
        Span { start, packed: [a, b, c], room: Room::Taken }
    }

    #[inline]
    fn whole(self) -> Whole {
        let [a, b, c] = self.packed;
        let packed = u32::from_le_bytes([a, b, c, 0]);
        match packed & ELSEWHERE {
            ELSEWHERE => from_elsewhere(self.start),
            length => (FileId(packed >> LENGTH_BITS), self.start, self.start + length),
        }
    }

    /// Returns the file, as [`Sources::add`](super::Sources::add) numbered it.
    pub fn file(self) -> FileId {
        self.whole().0
    }

    /// Returns the first byte.
    pub fn start(self) -> u32 {
        self.whole().1
    }

    /// Returns one past the last byte.
    pub fn end(self) -> u32 {
        self.whole().2
    }

    /// Returns the span that begins at another byte.
    pub fn starting_at(self, start: u32) -> Span {
        Span::of((self.file(), start, self.end()))
    }

    /// Returns the span that ends before another byte.
    pub fn ending_at(self, end: u32) -> Span {
        Span::of((self.file(), self.start(), end))
    }

    /// Returns its first byte.
    pub fn first(self) -> Span {
        self.ending_at(self.end().min(self.start() + 1))
    }

    /// Returns its last byte.
    pub fn last(self) -> Span {
        self.starting_at(self.end().saturating_sub(1).max(self.start()))
    }

    /// Returns whether another span lies in this one.
    pub fn contains(self, other: Span) -> bool {
        let ((file, start, end), (of, from, to)) = (self.whole(), other.whole());
        file == of && start <= from && to <= end
    }

    /// Returns the smallest span that covers both. Both lie in one file.
    #[inline]
    pub fn to(self, other: Span) -> Span {
        let ((file, start, end), (_, from, to)) = (self.whole(), other.whole());
        Span::of((file, start.min(from), end.max(to)))
    }
}

/// Returns the place that has a number in the table.
#[cold]
fn from_elsewhere(number: u32) -> Whole {
    TABLE.read().all[number as usize]
}

/// Returns the number of a place in the table.
#[cold]
fn elsewhere(whole: Whole) -> u32 {
    let known = TABLE.read().numbers.get(&whole).copied();
    known.unwrap_or_else(|| {
        let mut table = TABLE.write();
        let Table { all, numbers } = &mut *table;
        *numbers.entry(whole).or_insert_with(|| {
            all.push(whole);
            all.len() as u32 - 1
        })
    })
}

impl Ord for Span {
    fn cmp(&self, other: &Span) -> Ordering {
        self.whole().cmp(&other.whole())
    }
}

impl PartialOrd for Span {
    fn partial_cmp(&self, other: &Span) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, start, end) = self.whole();
        f.debug_struct("Span")
            .field("file", &file)
            .field("start", &start)
            .field("end", &end)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn anywhere() -> impl Strategy<Value = Whole> {
        let number = || prop_oneof![0..4_u32, 2_040..2_052_u32, 8_188..8_196_u32, any::<u32>()];
        (number(), number(), number()).prop_map(|(file, start, end)| (FileId(file), start, end))
    }

    proptest! {
        #[test]
        fn a_place_is_what_it_was_made_of_however_far_and_long((one, other) in (anywhere(), anywhere())) {
            let (first, second) = (Span::of(one), Span::of(other));
            prop_assert_eq!((first.file(), first.start(), first.end()), one);
            prop_assert_eq!(first, Span::of(one));
            prop_assert_eq!(first == second, one == other);
            prop_assert_eq!(first.cmp(&second), one.cmp(&other));
            prop_assert_eq!(first.starting_at(other.1), Span::of((one.0, other.1, one.2)));
            prop_assert_eq!(first.ending_at(other.2), Span::of((one.0, one.1, other.2)));
        }
    }

    #[test]
    fn a_place_takes_eight_bytes_and_one_that_may_be_missing_as_many() {
        assert_eq!((size_of::<Span>(), size_of::<Option<Span>>()), (8, 8));
    }
}

//! `hashicorp/random`: values that are drawn once and then stay, until a keeper changes.

use std::sync::LazyLock;

use super::attribute::{Attribute, text_map, values_differ};
use super::resource::Problem;
use super::table::Table;
use crate::world::World;

mod encoded;
mod integer;
mod pet;
mod source;
mod text;
mod unique;
mod words;

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let unique: [&'static dyn super::resource::Kind; 3] =
        [&unique::UUID, &unique::UUID4, &unique::UUID7];
    Table::new(
        &[
            &encoded::RandomBytes,
            &encoded::RandomId,
            &integer::RandomInteger,
            &integer::RandomShuffle,
            &pet::RandomPet,
            &text::RandomPassword,
            &text::RandomString,
            unique[0],
            unique[1],
            unique[2],
        ],
        &[],
        &[&encoded::EphemeralBytes, &text::EphemeralPassword],
        &[],
    )
});

/// More than this is never drawn at once: it would only fill the memory.
const MOST: i64 = 1 << 26;

/// Values that make a new object when they change.
const KEEPERS: Attribute = text_map("keepers").optional().replaces_when(values_differ);

/// Returns this many random bytes.
fn bytes(world: &World, length: i64) -> Result<Vec<u8>, Problem> {
    let mut bytes = vec![0; size(length)?];
    world.random(&mut bytes);
    Ok(bytes)
}

/// Returns a length as a size.
fn size(length: i64) -> Result<usize, Problem> {
    match usize::try_from(length) {
        Ok(size) if length <= MOST => Ok(size),
        _ => Err(Problem::error(
            "Randomness Generation Error",
            format!("A length of {length} is not possible; it lies between 0 and {MOST}."),
        )),
    }
}

/// Returns a random number below `limit`, each equally likely. `limit` is not 0.
fn below(world: &World, limit: usize) -> usize {
    let limit = limit as u64;
    let unfair = u64::MAX - u64::MAX % limit;
    loop {
        let mut bytes = [0; 8];
        world.random(&mut bytes);
        let drawn = u64::from_le_bytes(bytes);
        if drawn < unfair {
            return (drawn % limit) as usize;
        }
    }
}

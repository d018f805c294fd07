//! Values as msgpack, the form in which they travel to providers and back.
//!
//! Both directions follow a type: bytes alone do not say what a number, a string or an array is meant to be. Where the
//! type is `Dynamic`, a value is an array of two: its type as JSON, and the value. What is unknown is an extension, with
//! what is known about it inside.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::{from_msgpack, from_msgpack_lossy};
pub use encode::to_msgpack;

/// The extension of an unknown value of which nothing else is known.
const PLAIN_UNKNOWN: u8 = 0;
/// The extension of an unknown value with a map of what is known about it.
const REFINED_UNKNOWN: u8 = 12;

/// The keys of what is known about an unknown value.
mod key {
    pub const NULL: u64 = 1;
    pub const PREFIX: u64 = 2;
    pub const LOWER: u64 = 3;
    pub const UPPER: u64 = 4;
    pub const MIN_LENGTH: u64 = 5;
    pub const MAX_LENGTH: u64 = 6;
}

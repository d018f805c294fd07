//! JSON: values of a known type, values whose type the text implies, and types.
//!
//! Numbers keep every digit. Where the type is `Dynamic`, a stored value is wrapped as `{"value":…,"type":…}`.

mod decode;
mod encode;
mod layout;
mod paths;
mod read;
mod types;

pub use decode::{from_json, from_json_implied, from_stored_json, implied_type};
pub use encode::{Escape, quote, to_json, to_plain_json, to_state_json};
pub use layout::has_layout;
pub use paths::{paths_from_json, paths_to_json};
pub use types::{type_from_json, type_to_json};

#[cfg(test)]
mod tests;

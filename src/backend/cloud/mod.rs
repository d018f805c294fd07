//! What the stores in clouds share: signed requests and their repetition, the way credentials look at the world, lock records.
//!
//! Signatures and the many ways to credentials come from the `reqsign` crates, requests go through the client that the rest of
//! the house uses. The vendors' own SDKs were weighed: docs/building.md says why not.

pub(super) mod context;
#[cfg(test)]
pub(super) mod double;
pub(super) mod record;
pub(super) mod route;
pub(super) mod trouble;
pub(super) mod web;

pub(super) use route::Route;
pub(super) use trouble::Trouble;
pub(super) use web::{Answer, Ask, Way};

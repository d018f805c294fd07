//! What the stores in clouds share: signed requests and their repetition, the way credentials look at the world, lock records.
//!
//! Signatures and the many ways to credentials come from the `reqsign` crates, requests go through the client that the rest of
//! the house uses. The vendors' own SDKs were weighed: docs/building.md says why not.

pub(crate) mod context;
#[cfg(test)]
pub(crate) mod double;
pub(crate) mod pages;
pub(crate) mod record;
pub(crate) mod route;
pub(crate) mod trouble;
pub(crate) mod web;

pub(crate) use pages::Markers;
pub(crate) use route::Route;
pub(crate) use trouble::Trouble;
pub(crate) use web::{Answer, Ask, Way};

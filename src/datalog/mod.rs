//! The rule language at run time: read rules as text, check them, evaluate them with a proof for every row.
//!
//! The language is the plain part of Ascent's: relations of whole numbers, rules over atoms, `_`, constants, `!r(…)`,
//! comparisons, arithmetic, `let` and `agg count|min|max|sum`. The strata of the `rules` crate are read from the very
//! text that is compiled (`reason/shipped.rs`). Policies say more: references into values, and expressions of the
//! configuration language. Values are numbered, so that columns stay whole numbers; what is not known yet makes a
//! conclusion possible instead of certain.
//!
//! Nothing here knows what a relation means.

mod aggregate;
pub mod check;
pub mod coverage;
pub mod database;
pub mod domain;
pub mod evaluate;
pub mod formula;
mod infer;
pub mod joiner;
mod joins;
pub mod kinds;
pub mod limits;
mod loose;
mod matcher;
mod narrow;
pub mod parse;
pub mod plan;
pub mod prefix;
mod problem;
pub mod query;
mod reader;
mod reading;
pub mod syntax;
pub mod values;
mod walk;

pub use check::Program;
pub use database::{Database, Table};
pub use domain::{Domain, Tense, is_as_written};
pub use joiner::Stopped;
pub use limits::{Exceeded, Limits};
pub use matcher::Failure;
pub use values::Values;

#[doc(hidden)]
pub mod random;
#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod values_tests;

//! The rule language at run time: read rules as text, check them, evaluate them with a proof for every row.
//!
//! The language is the plain part of Ascent's: relations of whole numbers, rules over atoms, `_`, constants, `!r(…)`,
//! comparisons, arithmetic, `let` and `agg count|min|max|sum`; and columns of text (`Text`), which the strata do without. The strata of the `rules` crate are read from the very
//! text that is compiled (`reason/shipped.rs`); files of users' rules are read the same way.
//!
//! Nothing here knows what a relation means.

pub mod check;
pub mod database;
pub mod evaluate;
pub mod kinds;
pub mod parse;
mod plan;
mod problem;
mod reader;
pub mod syntax;
pub mod texts;

pub use check::Program;
pub use database::Database;
pub use texts::Texts;

#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
mod tests;

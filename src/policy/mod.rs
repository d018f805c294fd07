//! Policies: rules of one's own, which judge a configuration or a plan, with a proof for every verdict.
//!
//! A policy is a file in the language of the strata (`datalog`). It reads the vocabulary (`rules/policy.rules`), which is made of rules
//! over the relations of the planner and over what the documents say ([`model`]). Values are looked up when a rule looks at them, and
//! become numbers then; what is not known yet makes a verdict possible instead of certain. Nothing here decides what a plan does.

mod asked;
pub mod cases;
pub mod catalogue;
pub mod elsewhere;
pub mod judge;
mod levels;
pub mod lint;
pub mod model;
mod naming;
mod places;
pub mod premises;
pub mod proof;
pub mod proven;
pub mod query;
mod recorded;
pub mod reference;
mod repeated;
pub mod rules;
pub mod shaping;
mod source;
mod told;
pub mod verdict;
mod waits;
pub mod waivers;
pub mod watch;
pub mod why;
pub mod why_not;
pub mod written;

pub use asked::Asked;
pub use judge::judge;
pub use model::Model;
pub use rules::Policies;
pub use source::{Origin, PolicySource};
pub use verdict::{Report, Verdict};

/// The version of the vocabulary, which is that of the catalogue of relations.
pub const VOCABULARY_VERSION: &str = entail_rules::catalogue::VERSION;

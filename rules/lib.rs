//! The vocabulary and the rules of entail: every planning decision, as Datalog over small ids.
//!
//! Each stratum is one file with one `ascent!` program and one pure function from facts to conclusions. The same text
//! is compiled here and embedded in [`TEXTS`], from which the library reads it again at run time to prove conclusions.
//!
//! No relation holds a string, a float or a value; nothing here reads a file, a clock or a network.

/// The rules of a stratum, compiled: Ascent's own macro, with rows found as `index.rs` finds them.
macro_rules! ascent {
    ($($rules:tt)*) => {
        ::ascent::ascent! { #![ds($crate::index)] $($rules)* }
    };
}

#[macro_use]
mod tables;
mod index;
mod sorting;

#[cfg(test)]
mod claims;

pub mod atom;
pub mod calls;
pub mod catalogue;
pub mod changes;
pub mod closing;
pub mod configurations;
pub mod decide;
pub mod ephemerals;
pub mod facts;
pub mod instances;
pub mod ephemeral_uses;
pub mod ledger;
pub mod library;
pub mod lint;
pub mod moves;
pub mod order;
pub mod outputs;
pub mod providers;
pub mod recall;
pub mod records;
pub mod selection;
pub mod spread;
pub mod text;
pub mod violations;

/// The vocabulary of policies, in the language of policies: interpreted, never compiled.
pub const POLICY_VOCABULARY: &str = include_str!("policy.rules");

pub use atom::{
    Action, Alias, Atom, Block, Choice, Config, Definition, End, Family, Fate, Flag, Hit, Keep,
    Key, KeyKind, Lack, LintName, Mode, Module, Node, Phase, Protection, Reason, Repetition, Seen,
    Site, Statement, TypeKind, ValueType, Violation,
};
pub use facts::Facts;
pub use ledger::{Conclusions, Ledger, Stratum, TEXTS, Text};
pub use tables::{Relation, Row, Rows, Tables, beside, rows_of};

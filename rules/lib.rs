//! The vocabulary and the rules of entail: every planning decision, as Datalog over small ids.
//!
//! Each stratum is one file with one `ascent!` program and one pure function from facts to conclusions. The same text
//! is compiled here and embedded in [`TEXTS`], from which the library reads it again at run time to prove conclusions.
//!
//! No relation holds a string, a float or a value; nothing here reads a file, a clock or a network.

#[macro_use]
mod tables;

pub mod atom;
pub mod changes;
pub mod closing;
pub mod configurations;
pub mod decide;
pub mod ephemerals;
pub mod facts;
pub mod instances;
pub mod leases;
pub mod moves;
pub mod order;
pub mod outputs;
pub mod providers;
pub mod records;
pub mod selection;
pub mod spread;
pub mod text;
pub mod violations;

pub use atom::{
    Action, Alias, Atom, Block, Choice, Config, End, Family, Fate, Flag, Hit, Keep, Key, KeyKind,
    Lack, Mode, Module, Node, Phase, Protection, Reason, Repetition, Seen, Statement, Violation,
};
pub use facts::Facts;
pub use tables::{Relation, Row, Rows, Tables};

/// The source of one stratum.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The stratum, as its file is called.
    pub name: &'static str,
    /// The whole file, with exactly one `ascent! { … }` in it.
    pub source: &'static str,
}

/// The strata in the order in which they are concluded: each rests only on base facts and on those before it.
pub const TEXTS: &[Text] = &[
    Text { name: "moves", source: include_str!("moves.rs") },
    Text { name: "configurations", source: include_str!("configurations.rs") },
    Text { name: "providers", source: include_str!("providers.rs") },
    Text { name: "instances", source: include_str!("instances.rs") },
    Text { name: "selection", source: include_str!("selection.rs") },
    Text { name: "spread", source: include_str!("spread.rs") },
    Text { name: "decide", source: include_str!("decide.rs") },
    Text { name: "outputs", source: include_str!("outputs.rs") },
    Text { name: "changes", source: include_str!("changes.rs") },
    Text { name: "ephemerals", source: include_str!("ephemerals.rs") },
    Text { name: "order", source: include_str!("order.rs") },
    Text { name: "violations", source: include_str!("violations.rs") },
    Text { name: "leases", source: include_str!("leases.rs") },
    Text { name: "records", source: include_str!("records.rs") },
    Text { name: "closing", source: include_str!("closing.rs") },
];

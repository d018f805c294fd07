//! Whole commands: lock, read, plan, ask, apply, save.
//!
//! A workflow takes a [`Host`] – the world, the sources, whoever is told and asked – and options, and gives plain values
//! back. It reads no arguments and prints nothing, so that a terminal, a test runner or an editor's server can run it. Each
//! one blocks until it is done, on a thread and a runtime of its own ([`with_room`]).

mod host;
mod room;

mod ahead;
pub mod apply;
mod asking;
pub mod console;
pub mod diff;
pub mod elsewhere;
pub mod explain;
pub mod format;
pub mod graph;
pub mod impact;
pub mod import;
pub mod init;
pub mod judging;
pub mod log;
pub mod login;
pub mod minimal;
pub mod names;
pub mod open;
pub mod options;
pub mod page;
pub mod plan;
pub mod plugins;
pub mod policy;
pub mod project;
pub mod query;
pub mod recorded;
pub mod refresh;
pub mod requirements;
pub mod show;
pub mod state;
pub mod test;
pub mod unused;
pub mod validate;
mod vocabulary;
pub mod why;

pub use ahead::{Ahead, Coming};
pub use asking::AskedOf;
pub use host::{Ask, Host, Nobody, Schemas, Tell};
pub use options::{LockOptions, StateOptions};
pub use room::with_room;

#[cfg(test)]
mod seal_tests;
#[cfg(test)]
mod tests;

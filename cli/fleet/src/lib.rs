//! Fleets: thousands of stacks – root modules with states, and bare states – as facts. They are listed, indexed into a lake, asked,
//! judged, and planned and applied side by side.
//!
//! - [`settings`]: `fleet.hcl`; [`stacks`]: which stacks it names; [`reading`]: their states, side by side.
//! - [`facts`]: what is true of one stack; [`uses`]: what only several show; [`lake`]: where all of it is kept; [`index`]: how it gets there.
//! - [`ask`]: a lake as rules see it; [`impact`]: what rests on what across stacks.
//! - [`run`]: plans and applies, each in a process of its own.
//! - [`arguments`], [`commands`]: the command line.
//!
//! What rules decide, the library decides: a stack's rows are its conclusions, and questions go to its engines.

pub mod arguments;
pub mod ask;
pub mod commands;
pub mod decided;
pub mod engine;
pub mod facts;
pub mod impact;
pub mod index;
pub mod lake;
pub mod list;
mod nodes;
mod patterns;
pub mod reading;
pub mod run;
mod secrets;
pub mod settings;
pub mod stacks;
mod texts;
pub mod uses;

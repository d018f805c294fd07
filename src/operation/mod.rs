//! Whole undertakings: init, validate, plan, apply, destroy, import, state.

pub mod apply;
pub mod attributes;
pub mod backends;
pub mod console;
pub mod explain;
pub mod generate;
pub mod graph;
pub mod impact;
pub mod import;
pub mod models;
pub mod modules;
pub mod plan;
pub mod policies;
pub mod plugins;
pub mod requirements;
pub mod saved;
pub mod session;
pub mod state_commands;
mod state_problems;
pub mod validate;
pub mod workspaces;
pub use crate::config::inputs as variables;

#[cfg(test)]
mod tests;

//! Whole undertakings: init, validate, plan, apply, destroy, import, state.

pub mod apply;
pub mod attributes;
pub mod backends;
pub mod console;
pub mod dependencies;
pub mod difference;
pub mod explain;
pub mod generate;
pub mod git;
pub mod graph;
pub mod impact;
pub mod import;
pub mod log;
pub mod minimal;
pub mod mocked;
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
pub mod unused;
pub mod validate;
pub mod workspaces;
pub use crate::config::inputs as variables;

#[cfg(test)]
mod tests;

//! Whole undertakings: init, validate, plan, apply, destroy, import, state.

pub mod apply;
pub mod attributes;
pub mod check;
pub mod console;
pub mod event;
pub mod explain;
pub mod graph;
pub mod modules;
pub mod plan;
pub mod plugins;
pub mod saved;
pub mod session;
pub mod state_commands;
mod state_problems;
pub mod validate;
pub use crate::config::inputs as variables;

#[cfg(test)]
mod tests;

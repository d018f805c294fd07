//! Whole undertakings: init, validate, plan, apply, destroy, import, state.

pub mod event;
pub mod modules;
pub mod state_commands;
pub mod variables;

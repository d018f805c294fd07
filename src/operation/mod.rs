//! Whole undertakings: init, validate, plan, apply, destroy, import, state.

pub mod event;
pub mod state_commands;

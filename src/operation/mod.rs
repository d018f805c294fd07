//! Whole undertakings: init, validate, plan, apply, destroy, import, state.

pub mod apply;
pub mod attributes;
pub mod event;
pub mod modules;
pub mod plan;
pub mod saved;
pub mod session;
pub mod state_commands;
pub mod validate;
pub mod variables;

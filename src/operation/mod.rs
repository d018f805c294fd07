//! Whole undertakings, from files to files.

pub mod state_commands;
mod state_problems;

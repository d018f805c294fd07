//! Whole undertakings, one file each: what a command does, without its words.

pub mod modules;
#[cfg(test)]
mod tests;
pub mod variables;

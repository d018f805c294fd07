//! What people and programs see: text for the terminal, JSON for machines. Takes values, gives text, decides nothing.

pub mod diagnostics;
pub mod difference;
mod drawing;
pub mod ending;
pub mod function;
pub mod graph;
pub mod init;
pub mod json;
pub mod junit;
pub mod log;
pub mod login;
pub mod markdown;
mod markup;
pub mod moving;
pub mod output;
pub mod page;
pub mod plan;
pub mod plugins;
pub mod policy;
pub mod progress;
pub mod query;
pub mod requirements;
pub mod running;
pub mod schema;
pub mod snippet;
pub mod state;
pub mod style;
pub mod test;
pub mod validate;

/// The version of OpenTofu whose formats this program reads and writes.
pub const COMPATIBLE_VERSION: &str = "1.12.6";

//! The terminal of entail: arguments, one workflow, one view.

pub mod arguments;
pub mod commands;
pub mod complete;
pub mod external;
pub mod interrupt;
#[cfg(feature = "lsp")]
mod lsp;
pub mod run;
mod telemetry;
pub mod standard;
pub mod ui;
pub mod view;
mod watching;

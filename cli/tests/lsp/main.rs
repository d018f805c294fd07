//! The language server, asked by a client over its real standard input and output.
#![cfg(feature = "lsp")]
#![expect(clippy::print_stderr, reason = "a tool that is missing is told")]

mod client;
mod editor;
mod hostile;
mod lifecycle;
mod mending;
mod problems;
mod reading;
mod renaming;
mod untrusted;
mod writing;

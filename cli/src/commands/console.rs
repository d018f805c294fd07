//! `console`: evaluates expressions line by line.

use std::path::PathBuf;

use crate::arguments::groups::{LockArgs, VariableArgs};

/// Try expressions at an interactive command prompt
///
/// Evaluates one expression per line in the scope of the root module.
#[derive(clap::Args, Debug)]
pub struct ConsoleArgs {
    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

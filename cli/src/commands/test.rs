//! `test`: runs the tests of a module.

use std::path::PathBuf;

use clap::ArgAction;

use crate::arguments::groups::{OutputArgs, VariableArgs};

/// Execute integration tests for modules
///
/// Runs every test file, and destroys what it made.
#[derive(clap::Args, Debug)]
pub struct TestArgs {
    /// Run this test file. May be repeated
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub filter: Vec<String>,

    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Print the plan or the state of every run
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub verbose: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

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

    #[command(flatten)]
    pub variables: VariableArgs,
    #[command(flatten)]
    pub output: OutputArgs,

    #[arg(hide = true)]
    pub words: Vec<String>,
}

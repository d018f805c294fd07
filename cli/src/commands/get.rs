//! `get`: installs modules, and nothing else.

use std::path::PathBuf;

use clap::ArgAction;

use crate::arguments::groups::{OutputArgs, VariableArgs};

/// Install or upgrade remote modules
///
/// Installs the modules that the configuration calls, and theirs.
#[derive(clap::Args, Debug)]
pub struct GetArgs {
    /// Install the newest versions that the constraints allow
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub update: bool,

    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

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

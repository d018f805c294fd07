//! `validate`: checks a configuration, without state and without touching anything.

use std::path::PathBuf;

use clap::ArgAction;
use entail::diagnostic::Diagnostic;

use super::at_most_one;
use crate::arguments::groups::{OutputArgs, VariableArgs};

/// Check whether the configuration is valid
///
/// Checks what can be known from the configuration alone: syntax, references, types, what providers accept.
#[derive(clap::Args, Debug)]
pub struct ValidateArgs {
    /// Do not check tests
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub no_tests: bool,

    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The directory to check
    #[arg(value_name = "[DIR]", hide = true)]
    pub words: Vec<String>,
}

impl ValidateArgs {
    /// Returns the directory to check, where one is named.
    pub fn directory(&self) -> Result<Option<&str>, Diagnostic> {
        at_most_one(
            &self.words,
            "Too many command line arguments",
            "Expected at most one positional argument.",
        )
    }
}

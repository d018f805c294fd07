//! `import`: takes an existing object into the state at once.

use std::path::PathBuf;

use clap::ArgAction;
use entail::diagnostic::Diagnostic;

use super::words;
use crate::arguments::groups::{OutputArgs, StateArgs, VariableArgs};

/// Associate existing infrastructure with a resource
///
/// Reads the object with this id and records it under this address, which the configuration must declare.
#[derive(clap::Args, Debug)]
pub struct ImportArgs {
    /// The directory of the configuration
    #[arg(long, value_name = "DIR")]
    pub config: Option<PathBuf>,

    /// How many things to do at once
    #[arg(long, value_name = "10", default_value_t = 10, hide_default_value = true)]
    pub parallelism: i64,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,

    /// The address and the id
    #[arg(value_name = "ADDRESS ID", hide = true)]
    pub words: Vec<String>,
}

impl ImportArgs {
    /// Returns the address and the import id.
    pub fn address_and_id(&self) -> Result<&[String; 2], Diagnostic> {
        words(
            &self.words,
            "Invalid number of arguments",
            "The import command expects two arguments",
        )
    }
}

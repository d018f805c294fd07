//! `workspace …`: several states of one configuration.

use std::path::PathBuf;

use clap::{ArgAction, Subcommand};
use entail::diagnostic::Diagnostic;

use super::words;
use crate::arguments::groups::{LockArgs, OutputArgs, VariableArgs};

/// Workspace management
///
/// A workspace is a state of its own for the same configuration.
#[derive(clap::Args, Debug)]
pub struct WorkspaceArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: WorkspaceCommand,
}

/// What to do with workspaces.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true, subcommand_required = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum WorkspaceCommand {
    Delete(DeleteArgs),
    List(ListArgs),
    New(NewArgs),
    Select(SelectArgs),
    Show(ShowArgs),
}

/// Delete a workspace
#[derive(clap::Args, Debug)]
pub struct DeleteArgs {
    /// Delete it even if it has objects, which stay as they are
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub force: bool,

    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The name
    #[arg(value_name = "NAME", hide = true)]
    pub words: Vec<String>,
}

/// List workspaces
#[derive(clap::Args, Debug)]
pub struct ListArgs {
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

/// Create a new workspace and switch to it
#[derive(clap::Args, Debug)]
pub struct NewArgs {
    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,

    /// Start with the state in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The name
    #[arg(value_name = "NAME", hide = true)]
    pub words: Vec<String>,
}

/// Switch to a workspace
#[derive(clap::Args, Debug)]
pub struct SelectArgs {
    /// Create it where it does not exist
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub or_create: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The name
    #[arg(value_name = "NAME", hide = true)]
    pub words: Vec<String>,
}

/// Show the name of the current workspace
#[derive(clap::Args, Debug)]
pub struct ShowArgs {
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

/// Returns the one name that `delete`, `new` and `select` take.
pub fn name(given: &[String]) -> Result<&str, Diagnostic> {
    let [name] = words(given, "Invalid arguments list", "Expected a single argument: NAME.")?;
    Ok(name)
}

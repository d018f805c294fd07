//! The arguments of the commands that look at a state or change it by hand.

use std::path::PathBuf;

use clap::{ArgAction, Subcommand};
use entail::backend::Recover;
use entail::diagnostic::Diagnostic;

use super::super::{miscounted, words};
use crate::arguments::flags;
use crate::arguments::groups::{LockArgs, MessageArgs, StateArgs as StateFiles, VariableArgs};

/// Advanced state management
///
/// Every subcommand that changes the state keeps a copy of the previous one beside it.
#[derive(clap::Args, Debug)]
pub struct StateArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: StateCommand,
}

/// What to do with the state.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true, subcommand_required = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum StateCommand {
    #[command(alias = "ls")]
    List(ListArgs),
    #[command(alias = "move")]
    Mv(MoveArgs),
    Pull(PullArgs),
    Push(PushArgs),
    ReplaceProvider(ReplaceProviderArgs),
    #[command(alias = "remove")]
    Rm(RemoveArgs),
    Show(ShowArgs),
}

/// List resources in the state
///
/// Prints the address of every instance, or of those within the addresses that are named.
#[derive(clap::Args, Debug)]
pub struct ListArgs {
    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Only instances whose `id` is this
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// Addresses
    #[arg(value_name = "[ADDRESS...]", hide = true)]
    pub words: Vec<String>,
}

/// Move an item in the state
///
/// Gives an instance, a resource or a module another address.
#[derive(clap::Args, Debug)]
pub struct MoveArgs {
    /// Say what would be moved, and move nothing
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub dry_run: bool,

    /// Keep the previous destination state in this file
    #[arg(long, value_name = "FILE")]
    pub backup_out: Option<PathBuf>,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateFiles,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// The present and the new address
    #[arg(value_name = "SOURCE DESTINATION", hide = true)]
    pub words: Vec<String>,
}

impl MoveArgs {
    /// Returns the present and the new address.
    pub fn addresses(&self) -> Result<&[String; 2], Diagnostic> {
        words(&self.words, "Invalid number of arguments", "Exactly two arguments expected")
    }
}

/// Pull current state and output to stdout
///
/// Prints the state as JSON.
#[derive(clap::Args, Debug)]
pub struct PullArgs {
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Update remote state from a local state file
///
/// Replaces the state by that in a file, unless it has another lineage or is newer.
#[derive(clap::Args, Debug)]
pub struct PushArgs {
    /// Replace the state whatever its lineage and serial
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub force: bool,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// What to do with the journal of an interrupted run that does not fit or cannot be read, after looking into it: `take`
    /// its steps into the state, or leave it `aside`
    #[arg(long, value_name = "take|aside", value_parser = flags::recover)]
    pub recover: Option<Recover>,

    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// The file; `-` is the standard input
    #[arg(value_name = "PATH", hide = true)]
    pub words: Vec<String>,
}

impl PushArgs {
    /// Returns the file.
    pub fn file(&self) -> Result<&str, Diagnostic> {
        let [file] =
            words(&self.words, "Invalid number of arguments", "Exactly one argument expected")?;
        Ok(file)
    }
}

/// Replace provider in the state
///
/// Writes another provider source into every resource that has this one.
#[derive(clap::Args, Debug)]
pub struct ReplaceProviderArgs {
    /// Do not ask for approval
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub auto_approve: bool,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateFiles,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// The present and the new source
    #[arg(value_name = "FROM TO", hide = true)]
    pub words: Vec<String>,
}

impl ReplaceProviderArgs {
    /// Returns the present and the new source.
    pub fn sources(&self) -> Result<&[String; 2], Diagnostic> {
        words(&self.words, "Invalid number of arguments", "Exactly two arguments expected")
    }
}

/// Remove instances from the state
///
/// Forgets instances, resources or modules. What they stand for stays as it is.
#[derive(clap::Args, Debug)]
pub struct RemoveArgs {
    /// Say what would be removed, and remove nothing
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub dry_run: bool,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateFiles,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// Addresses
    #[arg(value_name = "ADDRESS...", hide = true)]
    pub words: Vec<String>,
}

impl RemoveArgs {
    /// Returns the addresses.
    pub fn addresses(&self) -> Result<&[String], Diagnostic> {
        let problem =
            || miscounted("Invalid number of arguments", "At least one address is required");
        if self.words.is_empty() { Err(problem()) } else { Ok(&self.words) }
    }
}

/// Show a resource in the state
///
/// Prints the attributes of one instance.
#[derive(clap::Args, Debug)]
pub struct ShowArgs {
    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Show sensitive values
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub show_sensitive: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// The address of an instance
    #[arg(value_name = "ADDRESS", hide = true)]
    pub words: Vec<String>,
}

impl ShowArgs {
    /// Returns the address.
    pub fn address(&self) -> Result<&str, Diagnostic> {
        let [address] =
            words(&self.words, "Invalid number of arguments", "Exactly one argument expected")?;
        Ok(address)
    }
}

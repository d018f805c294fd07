//! `taint` and `untaint`: have the next plan replace an object, or not.

use clap::ArgAction;
use entail::diagnostic::Diagnostic;

use super::words;
use crate::arguments::groups::{StateArgs, VariableArgs};

/// Mark a resource instance as not fully functional
///
/// The next plan replaces the object. `plan -replace=ADDRESS` does the same without touching the state first.
#[derive(clap::Args, Debug)]
pub struct TaintArgs {
    /// What both take.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Remove the 'tainted' state from a resource instance
///
/// The next plan keeps the object.
#[derive(clap::Args, Debug)]
pub struct UntaintArgs {
    /// What both take.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What both take.
#[derive(clap::Args, Debug)]
pub struct CommonArgs {
    /// Succeed where there is no such instance
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub allow_missing: bool,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// The address of an instance
    #[arg(value_name = "ADDRESS", hide = true)]
    pub words: Vec<String>,
}

impl CommonArgs {
    /// Returns the address; `command` is the command's name.
    pub fn address(&self, command: &str) -> Result<&str, Diagnostic> {
        let detail = format!("The {command} command expects exactly one argument.");
        let [address] = words(&self.words, "Invalid arguments", &detail)?;
        Ok(address)
    }
}

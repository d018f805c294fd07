//! `facts`: prints the relations that a plan rests on.

use std::path::PathBuf;

use clap::ArgAction;
use entail::diagnostic::Diagnostic;

use super::at_most_one;
use crate::arguments::groups::{PlanningArgs, StateArgs, VariableArgs};

/// Print the relations of a plan
///
/// Prints the rows of all relations, or of the one that is named.
#[derive(clap::Args, Debug)]
pub struct FactsArgs {
    /// The relations of this saved plan
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Instead of rows, list the relations: columns, who writes and who reads them, since which version; plans nothing
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub catalogue: bool,

    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,

    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,

    /// The name of a relation
    #[arg(value_name = "[RELATION]", hide = true)]
    pub words: Vec<String>,
}

impl FactsArgs {
    /// Returns the relation, where one is named.
    pub fn relation(&self) -> Result<Option<&str>, Diagnostic> {
        at_most_one(
            &self.words,
            "Too many command line arguments",
            "Expected at most one positional argument.",
        )
    }
}

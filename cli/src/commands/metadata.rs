//! `metadata`: what the language offers, for other programs.

use clap::{ArgAction, Subcommand};
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::world::PROGRAM;

use crate::ui::Ui;
use crate::view::function;

/// Metadata related commands
#[derive(clap::Args, Debug)]
pub struct MetadataArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: MetadataCommand,
}

/// What to describe.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true, subcommand_required = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum MetadataCommand {
    Functions(FunctionsArgs),
}

/// Show signatures and descriptions for the available functions
#[derive(clap::Args, Debug)]
pub struct FunctionsArgs {
    /// Write JSON; must be given
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Writes signatures and descriptions of all functions.
pub fn run(ui: &Ui, args: &MetadataArgs) -> Result<u8, Diagnostics> {
    let MetadataCommand::Functions(args) = &args.command;
    super::no_words(&args.words)?;
    if !args.json {
        return Err(Diagnostic::error("Invalid arguments")
            .detail(format!(
                "The `{PROGRAM} metadata functions` command requires the `-json` flag."
            ))
            .into());
    }
    ui.json(&format!("{}\n", function::all()));
    Ok(0)
}

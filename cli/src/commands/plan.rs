//! `plan`: shows what would be done.

use std::path::PathBuf;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::plan::signature::SigningKey;
use entail::request::Request;

use super::words;
use crate::arguments::groups::{OutputArgs, PlanningArgs, StateArgs, VariableArgs};
use crate::arguments::request::{self, StateOptions};
use crate::ui::Ui;

/// Show changes required by the current configuration
///
/// Plans what would be done to make the world as the configuration says, and does nothing. The plan can be saved to a
/// file, which `apply` then carries out exactly.
#[derive(clap::Args, Debug)]
pub struct PlanArgs {
    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Exit with 0 where there is nothing to do, 1 after an error, 2 where there are changes
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub detailed_exitcode: bool,

    /// Write configuration for imported objects that have none into this new file
    #[arg(long, value_name = "FILE")]
    pub generate_config_out: Option<PathBuf>,

    /// Save the plan in this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Sign the saved plan with the Ed25519 private key in this file, in PEM
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,

    /// Show sensitive values
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub show_sensitive: bool,

    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// What `plan` is asked.
#[derive(Debug)]
pub struct PlanOptions {
    /// What to plan.
    pub request: Request,
    /// Where the state lies, and its lock.
    pub state: StateOptions,
    /// Where to save the plan.
    pub out: Option<PathBuf>,
    /// The key that signs it.
    pub key: Option<SigningKey>,
    /// Whether the exit code tells of changes.
    pub detailed_exitcode: bool,
}

impl PlanArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn options(&self, ui: &Ui) -> Result<PlanOptions, Diagnostics> {
        words::<0>(
            &self.words,
            "Too many command line arguments",
            "To specify a working directory for the plan, use the global -chdir flag.",
        )?;
        let mut request = request::build(&self.planning, &self.variables, &ui.sources)?;
        request.generate_config_out = self.generate_config_out.clone();
        Ok(PlanOptions {
            request,
            state: StateOptions::from(&self.state),
            key: self.key()?,
            out: self.out.clone(),
            detailed_exitcode: self.detailed_exitcode,
        })
    }

    /// Reads the key before anything is planned.
    fn key(&self) -> Result<Option<SigningKey>, Diagnostic> {
        match (&self.sign, &self.out) {
            (Some(_), None) => Err(Diagnostic::error("Nothing to sign").detail(
                "The -sign option signs a saved plan. Say with -out=FILE where it is to be saved.",
            )),
            (Some(path), Some(_)) => SigningKey::read(path).map(Some),
            (None, _) => Ok(None),
        }
    }
}

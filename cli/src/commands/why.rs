//! `why`: explains one decision of a plan.

use std::path::PathBuf;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};

use super::plan::PlanOptions;
use super::words;
use crate::arguments::groups::{PlanningArgs, StateArgs, VariableArgs};
use crate::arguments::request::{self, StateOptions};
use crate::ui::Ui;

/// Explain one decision of the plan
///
/// Plans as `plan` would, changes nothing, and explains what is decided about an instance, an output (`output.NAME`) or a
/// provider: the rules that led there, and what they rest on. With -plan, explains a saved plan.
#[derive(clap::Args, Debug)]
pub struct WhyArgs {
    /// Explain a decision of this saved plan; needs no provider and no configuration
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Say why this action is not taken: `create`, `update`, `replace`, `delete`, `select`, `exclude`
    #[arg(long, value_name = "ACTION")]
    pub not: Option<String>,

    /// Say which provider instance serves the object, and why that one
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub provider: bool,

    /// How many steps back to go
    #[arg(long, value_name = "STEPS")]
    pub depth: Option<usize>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,

    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,

    /// What to explain
    #[arg(value_name = "ADDRESS", hide = true)]
    pub words: Vec<String>,
}

/// What `why` is asked.
#[derive(Debug)]
pub struct WhyOptions {
    /// The address as written.
    pub address: String,
    /// The action that is missed, where one is.
    pub not: Option<String>,
    /// How many steps back to go.
    pub depth: Option<usize>,
    /// A saved plan.
    pub plan: Option<PathBuf>,
    /// What to plan otherwise.
    pub planning: PlanOptions,
}

impl WhyArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn options(&self, ui: &Ui) -> Result<WhyOptions, Diagnostics> {
        let detail = "The why command expects exactly one argument: the address of an instance, or output.NAME.";
        let [address] = words(&self.words, "Invalid number of arguments", detail)?;
        if self.depth == Some(0) {
            return Err(Diagnostic::error("Invalid depth")
                .detail("The -depth option must be 1 or more.")
                .into());
        }
        let planning = PlanOptions {
            request: request::build(&self.planning, &self.variables, &ui.sources)?,
            state: StateOptions::from(&self.state),
            out: None,
            key: None,
            detailed_exitcode: false,
        };
        Ok(WhyOptions {
            address: address.clone(),
            not: self.not.clone(),
            depth: self.depth,
            plan: self.plan.clone(),
            planning,
        })
    }
}

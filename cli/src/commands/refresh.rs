//! `refresh`: `apply -refresh-only -auto-approve` under its old name.

use entail::diagnostic::Diagnostics;
use entail::request::PlanMode;

use super::apply::ApplyOptions;
use super::words;
use crate::arguments::groups::{OutputArgs, PlanningArgs, StateArgs, VariableArgs};
use crate::arguments::request::{self, StateOptions};
use crate::ui::Ui;

/// Update the state to match remote systems
///
/// Reads every object and records what changed outside, without a question. `apply -refresh-only` shows the changes first.
#[derive(clap::Args, Debug)]
pub struct RefreshArgs {
    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
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

impl RefreshArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn options(&self, ui: &Ui) -> Result<ApplyOptions, Diagnostics> {
        words::<0>(
            &self.words,
            "Too many command line arguments",
            "Expected no positional arguments.",
        )?;
        let mut request = request::build(&self.planning, &self.variables, &ui.sources)?;
        request.carried_out = true;
        request.mode = PlanMode::RefreshOnly;
        Ok(ApplyOptions {
            request,
            plan: None,
            trusted: None,
            state: StateOptions::from(&self.state),
            stage: entail::operation::event::Stage::Apply,
            auto_approve: true,
            suppress_forget_errors: false,
        })
    }
}

//! What a question is asked of: the flags that `why`, `query` and `facts` share.

use std::path::PathBuf;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::options::PlanOptions;
use entail::workflow::{AskedOf, StateOptions};

use crate::arguments::groups::{PlanningArgs, VariableArgs};
use crate::arguments::request;
use crate::ui::Ui;

/// A saved plan, or one that is made for the question.
#[derive(clap::Args, Debug)]
pub struct SubjectArgs {
    /// Ask about this saved plan; needs no provider and no configuration
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,

    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
}

impl SubjectArgs {
    /// Returns what to plan; beside a saved plan, nothing may be asked for.
    pub fn planning(&self, ui: &Ui, state: StateOptions) -> Result<PlanOptions, Diagnostics> {
        let request = request::build(&self.planning, &self.variables, &ui.sources)?;
        if self.plan.is_some() {
            request::beside_plan(&request)?;
        }
        Ok(PlanOptions { request, state, ..PlanOptions::default() })
    }
}

/// A plan, or the configuration alone.
#[derive(clap::Args, Debug)]
pub struct AskedArgs {
    /// A plan.
    #[command(flatten)]
    pub subject: SubjectArgs,

    /// Ask about the configuration alone, as `policy check` does: no init, no provider, no state, no credentials
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub config: bool,
}

impl AskedArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn of(&self, ui: &Ui, state: StateOptions) -> Result<AskedOf, Diagnostics> {
        let planning = self.subject.planning(ui, state)?;
        match (&self.subject.plan, self.config) {
            (Some(_), true) => Err(Diagnostic::error("Incompatible options")
                .detail("Of -plan and -config, only one can be asked.")
                .into()),
            (Some(file), false) => Ok(AskedOf::Saved(file.clone())),
            (None, true) => {
                request::beside(&planning.request, "-config", &["-var"])?;
                Ok(AskedOf::Configuration(Box::new(planning.request)))
            }
            (None, false) => Ok(AskedOf::Plan(Box::new(planning))),
        }
    }
}

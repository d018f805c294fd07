//! `why`: explains one decision of a plan.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::StateOptions;
use entail::workflow::explain::{Form, PlanSource, WhyOptions, why};
use entail::workflow::options::PlanOptions;
use entail::world::World;

use super::{silence, words};
use crate::arguments::groups::{PlanningArgs, StateArgs, VariableArgs};
use crate::arguments::request;
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

    /// Say why this relation holds of the address, such as `made_from` or `kept_until`; `facts -catalogue` lists them
    #[arg(long, value_name = "RELATION")]
    pub of: Option<String>,

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
        let asked = [self.not.is_some(), self.provider, self.of.is_some()];
        if self.of.is_some() && asked.iter().filter(|it| **it).count() > 1 {
            return Err(Diagnostic::error("Incompatible options")
                .detail("The -of option asks another question than -not and -provider. Use one of them.")
                .into());
        }
        let request = request::build(&self.planning, &self.variables, &ui.sources)?;
        if self.plan.is_some() {
            request::beside_plan(&request)?;
        }
        let state = StateOptions::from(&self.state);
        Ok(WhyOptions {
            address: address.clone(),
            not: self.not.clone(),
            provider: self.provider,
            relation: self.of.clone(),
            form: if self.json { Form::Json } else { Form::Text(self.depth) },
            subject: PlanSource {
                saved: self.plan.clone(),
                planning: PlanOptions { request, state, ..PlanOptions::default() },
            },
        })
    }
}

/// Explains one decision.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &WhyArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    let options = args.options(ui)?;
    ui.out(&why(&ui.host(world), &options)?);
    Ok(0)
}

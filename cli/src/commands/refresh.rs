//! `refresh`: `apply -refresh-only -auto-approve` under its old name, and stricter: where a condition fails, nothing is recorded.

use std::sync::Arc;

use entail::diagnostic::Diagnostics;
use entail::workflow::StateOptions;
use entail::workflow::apply::Applied;
use entail::workflow::options::ApplyOptions;
use entail::workflow::refresh::refresh;
use entail::world::World;

use super::{apply, begin, present, words};
use crate::arguments::groups::{LintArgs, OutputArgs, PlanningArgs, StateArgs, VariableArgs};
use crate::arguments::request;
use crate::interrupt;
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
    /// Lint rules.
    #[command(flatten)]
    pub lint: LintArgs,
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
        request.lint = self.lint.selection()?;
        Ok(ApplyOptions {
            policies: Default::default(),
            request,
            plan: None,
            trusted: None,
            state: StateOptions::from(&self.state),
            auto_approve: true,
            suppress_forget_errors: false,
        })
    }
}

/// Records what changed outside, and asks nothing.
pub fn run(
    ui: &mut Ui,
    world: &Arc<World>,
    args: &RefreshArgs,
    options: &ApplyOptions,
) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    let ui = &*ui;
    let applied = interrupt::heeding(ui, || refresh(&ui.host(world), options))??;
    let Applied::Done(mut done) = applied else { return Ok(1) };
    let code = apply::report(ui, &mut done);
    if code == 0 {
        present::outputs(ui, &done.state);
    }
    Ok(code)
}

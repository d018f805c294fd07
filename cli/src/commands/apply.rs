//! `apply`: carries a plan out, a saved one or a new one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::event::{Event, Sink, Stage};
use entail::execute::Done;
use entail::operation::log::Step;
use entail::plan::signature::Trusted;
use entail::request::Request;
use entail::workflow::StateOptions;
use entail::workflow::apply::{Applied, apply};
use entail::workflow::options::ApplyOptions;
use entail::world::World;

use super::policy::JudgingArgs;
use super::{at_most_one, begin, present};
use crate::arguments::groups::{LintArgs, OutputArgs, PlanningArgs, StateArgs, VariableArgs};
use crate::arguments::request;
use crate::interrupt;
use crate::ui::Ui;
use crate::view::ending::ending;
use crate::view::plan::reading::Reading;

/// Create or update infrastructure
///
/// Plans, asks for approval, and makes the world as the configuration says. Given the file of a saved plan, carries out
/// exactly that plan and asks nothing.
#[derive(clap::Args, Clone, Debug)]
pub struct ApplyArgs {
    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Do not ask for approval
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub auto_approve: bool,

    /// Show sensitive values
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub show_sensitive: bool,

    /// Do not count it as an error where destroying forgets objects rather than destroying them
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub suppress_forget_errors: bool,

    /// Apply only a saved plan that is signed by a key in this file, in PEM; without a value, in the file that
    /// ENTAIL_TRUSTED_KEYS names
    #[arg(long, value_name = "KEYS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub require_signed: Option<String>,

    /// Lint rules.
    #[command(flatten)]
    pub lint: LintArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,
    /// What the plan is judged by.
    #[command(flatten)]
    pub policies: JudgingArgs,

    /// The file of a saved plan
    #[arg(value_name = "[PLAN]", hide = true)]
    pub words: Vec<String>,
}

impl ApplyArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn options(&self, ui: &Ui, world: &World) -> Result<ApplyOptions, Diagnostics> {
        let summary = "Too many command line arguments";
        let plan = at_most_one(&self.words, summary, "Expected at most one positional argument.")?;
        if self.output.messages.json && plan.is_none() && !self.auto_approve {
            return Err(approval_impossible().into());
        }
        let request = request::build(&self.planning, &self.variables, &ui.sources)?;
        Ok(ApplyOptions {
            request: Request { carried_out: true, lint: self.lint.selection()?, ..request },
            trusted: self.trusted(world, plan)?,
            plan: plan.map(PathBuf::from),
            state: StateOptions::from(&self.state),
            auto_approve: self.auto_approve,
            suppress_forget_errors: self.suppress_forget_errors,
            policies: self.policies.options()?,
        })
    }
}

impl ApplyArgs {
    fn trusted(&self, world: &World, plan: Option<&str>) -> Result<Option<Trusted>, Diagnostic> {
        let Some(file) = &self.require_signed else { return Ok(None) };
        let refused = |detail| Err(Diagnostic::error("Signed plan required").detail(detail));
        if plan.is_none() {
            return refused(
                "The -require-signed option applies saved plans only. Make one with \"plan -out=FILE -sign=KEY\", and give FILE.",
            );
        }
        match Some(file.as_str())
            .filter(|it| !it.is_empty())
            .or(world.variable("ENTAIL_TRUSTED_KEYS"))
        {
            Some(file) => Trusted::read(&world.root.join(file)).map(Some),
            None => refused(
                "The -require-signed option needs to know whose plans are trusted. Name a file of public keys with -require-signed=KEYS, or with the environment variable ENTAIL_TRUSTED_KEYS.",
            ),
        }
    }
}

/// `-json` leaves no place for a question.
fn approval_impossible() -> Diagnostic {
    Diagnostic::error("Plan file or auto-approve required").detail(
        "With -json no approval can be asked for. Apply a saved plan file, or enable the -auto-approve option.",
    )
}

/// Plans and applies, or applies a saved plan.
///
/// - `stage`: what the closing line says was done.
pub fn run(
    ui: &mut Ui,
    world: &Arc<World>,
    args: &ApplyArgs,
    (options, stage): (ApplyOptions, Stage),
) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, args.show_sensitive)?;
    ui.reads(Reading::default(), options.request.compat_opentofu);
    let ui = &*ui;
    let applied = interrupt::heeding(ui, || apply(&ui.host(world), &options))??;
    Ok(match applied {
        Applied::Refused => 1,
        Applied::Declined(mode) => {
            ui.cancelled(mode);
            1
        }
        Applied::Done(mut done) => {
            if options.request.compat_opentofu {
                // What is printed is what OpenTofu prints, which has no table of steps.
                done.steps.clear();
            }
            let code = report(ui, &mut done);
            if code == 0 {
                let state_out = options.state.files.state_out.as_deref();
                present::done(ui, stage, Some(&done.state), state_out);
            }
            code
        }
    })
}

/// Shows what went wrong in a run, after a state that could not be kept anywhere else. Returns the exit code.
pub fn report(ui: &Ui, done: &mut Done) -> u8 {
    match &done.unwritten {
        Some(state) if ui.is_json() => ui.event(Event::Message(state.clone())),
        Some(state) => ui.json(state),
        None => {}
    }
    let steps: Vec<Step> = done.steps.iter().map(|it| Step::of(it, &done.problems)).collect();
    let code = ui.diagnostics(std::mem::take(&mut done.problems));
    let table = ending(&steps, done, &ui.error_style());
    if !ui.is_json() && !table.is_empty() {
        ui.err(&table);
    }
    code
}

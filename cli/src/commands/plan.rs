//! `plan`: shows what would be done.

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::plan::signature::SigningKey;
use entail::workflow::StateOptions;
use entail::workflow::options::PlanOptions;
use entail::workflow::plan::plan;
use entail::world::World;

use super::documents::DocumentArgs;
use super::policy::JudgingArgs;
use super::{begin, present, words};
use crate::arguments::groups::{
    LintArgs, OutputArgs, PlanningArgs, ReadingArgs, StateArgs, VariableArgs,
};
use crate::arguments::request;
use crate::interrupt;
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

    /// Lint rules.
    #[command(flatten)]
    pub lint: LintArgs,

    /// Plan without this provider, by its type: it needs no credentials, and what it would decide is unknown. May be repeated
    #[arg(long, value_name = "TYPE", action = ArgAction::Append, conflicts_with = "out")]
    pub mock: Vec<String>,

    /// Save the plan in this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Sign the saved plan with the Ed25519 private key in this file, in PEM
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,

    /// Show sensitive values
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub show_sensitive: bool,

    /// What is written for others to read.
    #[command(flatten)]
    pub documents: DocumentArgs,

    /// Show only changes in this module or resource. May be repeated
    #[arg(long, value_name = "ADDRESS", action = ArgAction::Append)]
    pub module: Vec<String>,

    /// What of the plan is shown.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,
    /// What the plan is judged by.
    #[command(flatten)]
    pub policies: JudgingArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
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
        request.lint = self.lint.selection()?;
        request.only_shown = self.out.is_none();
        Ok(PlanOptions {
            request,
            state: StateOptions::from(&self.state),
            key: self.key()?,
            mocks: self.mock.clone(),
            out: self.out.clone(),
            policies: self.policies.options()?,
        })
    }

    /// Reads the key before anything is planned.
    fn key(&self) -> Result<Option<SigningKey>, Diagnostic> {
        match (&self.sign, &self.out) {
            (Some(_), None) => Err(Diagnostic::error("Nothing to sign").detail(
                "The -sign option signs a saved plan. Say with -out=FILE where it is to be saved.",
            )),
            (Some(path), Some(_)) if path.as_os_str().is_empty() => Err(Diagnostic::error(
                "No key to sign with",
            )
            .detail(
                "The -sign option names no file. A plan that is not signed is saved without -sign.",
            )),
            (Some(path), Some(_)) => SigningKey::read(path).map(Some),
            (None, _) => Ok(None),
        }
    }
}

/// Plans, shows the plan, and saves it where asked.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &PlanArgs) -> Result<u8, Diagnostics> {
    let documents = &args.documents;
    documents.check(&args.output, args.show_sensitive)?;
    begin(ui, &args.output, args.show_sensitive)?;
    if documents.is_alone() {
        ui.gives_way();
    }
    let options = args.options(ui)?;
    let reading = args.reading.reading(&args.module)?;
    ui.reads(reading, options.request.compat_opentofu);
    let ui = &*ui;
    let made = interrupt::heeding(ui, || plan(&ui.host(world), &options))?;
    let written = documents.write(ui, world, made.as_ref(), options.out.as_deref());
    let made = match (made, written) {
        (Ok(made), written) => written.map(|()| made)?,
        (Err(mut problems), written) => {
            problems.extend(written.err().into_iter().flat_map(|it| it.0));
            return Err(problems);
        }
    };
    // The process ends: giving a million objects back one after the other would only delay that.
    let made = ManuallyDrop::new(made);
    let plan = &made.finished.plan;
    if !made.failed {
        let generated = options.request.generate_config_out.as_deref();
        let generated = generated.filter(|_| made.has_generated);
        present::next_step(ui, plan, options.out.as_deref(), generated);
    }
    Ok(present::exit_code(plan, args.detailed_exitcode, made.failed))
}

//! `output`: prints root outputs as the state has them.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::state::OpenState;
use entail::world::World;

use super::{at_most_one, present};
use crate::arguments::groups::VariableArgs;
use crate::ui::Ui;
use crate::view::output::{Form, render};

/// Show output values from your root module
///
/// Prints all outputs, or the one that is named.
#[derive(clap::Args, Debug)]
pub struct OutputArgs {
    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write the JSON into a file, beside the text for people
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,

    /// Write the one named value as it is, without quotes and without a newline
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub raw: bool,

    /// Show sensitive values
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub show_sensitive: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// The name of an output
    #[arg(value_name = "[NAME]", hide = true)]
    pub words: Vec<String>,
}

impl OutputArgs {
    /// Returns the name that is asked for and the form, or what is wrong with the flags.
    pub fn asked(&self) -> Result<(Option<&str>, Form), Diagnostic> {
        let name = at_most_one(
            &self.words,
            "Unexpected argument",
            "The output command expects exactly one argument with the name of an output variable or no arguments to show all outputs.",
        )?;
        let form = match (self.json, self.raw) {
            (true, true) => {
                return Err(Diagnostic::error("Invalid output format")
                    .detail("The -raw and -json options are mutually-exclusive."));
            }
            (true, false) => Form::Json,
            (false, true) => Form::Raw,
            (false, false) => Form::Text,
        };
        if form == Form::Raw && name.is_none() {
            let problem = Diagnostic::error("Output name required");
            return Err(problem.detail(
                "You must give the name of a single output value when using the -raw option.",
            ));
        }
        Ok((name, form))
    }
}

/// Prints outputs.
pub fn run(ui: &Ui, world: &Arc<World>, args: &OutputArgs) -> Result<u8, Diagnostics> {
    let (name, form) = args.asked()?;
    let files = Choice { state: args.state.clone(), ..Choice::default() };
    let host = ui.host(world);
    let state = OpenState::open(&host, &files)?.read(&host)?.unwrap_or_default();
    if let Some(path) = &args.json_into {
        let text = render(&state.outputs, name, Form::Json, true)?;
        present::document(world, path, &text)?;
    }
    let text = render(&state.outputs, name, form, args.show_sensitive)?;
    match form {
        Form::Text => ui.out(&text),
        Form::Json => ui.json(&text),
        Form::Raw => ui.exact(&text),
    }
    Ok(0)
}

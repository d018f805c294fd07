//! `minimal`: the fewest flags that bring certain changes, or keep certain objects.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::minimal::Purpose;
use entail::request::Request;
use entail::workflow::StateOptions;
use entail::workflow::minimal::{MinimalOptions, minimal, nothing};
use entail::workflow::options::PlanOptions;
use entail::world::World;

use super::{no_words, silence};
use crate::arguments::groups::{ReadStateArgs, VariableArgs};
use crate::ui::Ui;

/// Show the fewest flags that bring certain changes
///
/// With -change, finds the smallest set of -target flags that brings exactly these changes and what they need; with -keep, the smallest
/// set of -exclude flags that leaves these objects as they are. Plans with the flags that it found, and says what else they do, and why.
#[derive(clap::Args, Debug)]
pub struct MinimalArgs {
    /// What is to change: an instance, a resource, a module. May be repeated
    #[arg(long, value_name = "ADDRESS", action = ArgAction::Append)]
    pub change: Vec<String>,

    /// What is to stay as it is. May be repeated
    #[arg(long, value_name = "ADDRESS", action = ArgAction::Append)]
    pub keep: Vec<String>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Where the state is read.
    #[command(flatten)]
    pub state: ReadStateArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Prints the flags, and what they do.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &MinimalArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    no_words(&args.words)?;
    let (purpose, addresses) = match (args.change.is_empty(), args.keep.is_empty()) {
        (false, true) => (Purpose::Change, args.change.clone()),
        (true, false) => (Purpose::Keep, args.keep.clone()),
        (true, true) => return Err(nothing().into()),
        (false, false) => {
            return Err(Diagnostic::error("Incompatible options")
                .detail("-change asks for targets, -keep for exclusions. Use one of them.")
                .into());
        }
    };
    let request = Request { variables: args.variables.sources()?, ..Request::default() };
    let state = StateOptions::from(&args.state);
    let planning = PlanOptions { request, state, ..PlanOptions::default() };
    let found = minimal(&ui.host(world), &MinimalOptions { purpose, addresses, planning })?;
    match args.json {
        true => ui.json(&format!("{:#}\n", found.to_json())),
        false => ui.out(&found.text()),
    }
    Ok(0)
}

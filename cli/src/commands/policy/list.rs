//! `policy list`: the rules in force.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::workflow::policy::lints::{Named, rules};
use entail::world::World;

use super::ChoiceArgs;
use crate::commands::no_words;
use crate::commands::silence;
use crate::ui::Ui;
use crate::view::policy::rules as view;

/// List the rules in force
///
/// Each with where it stands, how much it matters, and what it says.
#[derive(clap::Args, Debug)]
pub struct ListArgs {
    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Nothing.
    #[arg(value_name = "", hide = true)]
    pub words: Vec<String>,
}

/// Lists rules. Exits with 2 where a policy is faulty.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ListArgs) -> Result<u8, Diagnostics> {
    silence(ui, false)?;
    no_words(&args.words)?;
    let named = Named { words: Vec::new(), choice: (&args.choice).into() };
    let (policies, problems) = match rules(&ui.host(world), &named) {
        Ok(found) => found,
        Err(problems) => {
            ui.diagnostics(problems);
            return Ok(2);
        }
    };
    match args.json {
        true => ui.json(&view::list_json(&policies)),
        false => ui.out(&view::list(&policies)),
    }
    let code = if problems.has_errors() { 2 } else { 0 };
    ui.remarks(problems);
    Ok(code)
}

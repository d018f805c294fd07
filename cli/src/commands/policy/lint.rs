//! `policy lint`: what is most likely not meant.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::workflow::policy::lints::{Named, find};
use entail::world::World;

use super::ChoiceArgs;
use crate::commands::silence;
use crate::ui::Ui;
use crate::view::policy::rules as view;

/// Find mistakes in policies
///
/// Names relations that nothing reads, misspelt names, rules that cannot fire or have no sentence, parts of rules that have
/// nothing in common, relations that may change with any version, duplicates, and variables used once. Exits with 1 where
/// something is found.
#[derive(clap::Args, Debug)]
pub struct LintArgs {
    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Files and folders of policies: these alone
    #[arg(value_name = "[DIR|FILE...]", hide = true)]
    pub words: Vec<String>,
}

/// Prints what is found.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &LintArgs) -> Result<u8, Diagnostics> {
    silence(ui, false)?;
    let named = Named { words: args.words.clone(), choice: (&args.choice).into() };
    let (findings, files) = find(&ui.host(world), &named)?;
    match args.json {
        true => ui.json(&view::findings_json(&findings, &ui.sources)),
        false => ui.out(&view::findings(&findings, files, &ui.sources)),
    }
    Ok(u8::from(!findings.is_empty()))
}

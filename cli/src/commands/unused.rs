//! `unused`: what is declared and nothing reads.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::operation::unused::{text, to_json};
use entail::workflow::unused::unused;
use entail::world::World;

use super::no_words;
use crate::ui::Ui;

/// Show what is declared and nothing reads
///
/// Lists variables, local values, outputs of modules, provider configurations and data sources that nothing reads, or only what is
/// itself read by nothing. Asks no provider and reads no state. With -check, exits with 2 where there is any.
#[derive(clap::Args, Debug)]
pub struct UnusedArgs {
    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Exit with 2 where there is any
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub check: bool,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Lists what nothing reads.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &UnusedArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let found = unused(&ui.host(world))?;
    match args.json {
        true => ui.json(&format!("{:#}\n", to_json(&found))),
        false => ui.out(&text(&found)),
    }
    Ok(if args.check && !found.is_empty() { 2 } else { 0 })
}

//! `get`: installs modules, and nothing else.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::operation::modules::Progress;
use entail::workflow::init::{Step, get};
use entail::world::World;

use super::{begin, no_words};
use crate::arguments::groups::{OutputArgs, VariableArgs};
use crate::ui::Ui;

/// Install or upgrade remote modules
///
/// Installs the modules that the configuration calls, and theirs.
#[derive(clap::Args, Debug)]
pub struct GetArgs {
    /// Install the newest versions that the constraints allow
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub update: bool,

    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Installs modules only.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &GetArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    no_words(&args.words)?;
    let ui = &*ui;
    get(&ui.host(world), args.update, &|progress| match progress {
        Progress::Begun => {}
        other => ui.step(&Step::ModuleProgress(other)),
    })?;
    Ok(0)
}

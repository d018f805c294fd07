//! `get`: installs modules and policies, and nothing else.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::workflow::init::get;
use entail::world::World;

use super::{begin, no_words};
use crate::arguments::groups::{OutputArgs, VariableArgs};
use crate::interrupt::heeding;
use crate::ui::Ui;

/// Install or upgrade remote modules
///
/// Installs the modules that the configuration calls, and theirs, and the policies that lie elsewhere.
#[derive(clap::Args, Debug)]
pub struct GetArgs {
    /// Install the newest versions that the constraints allow
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub update: bool,

    /// Install the policies at this source address, too. May be repeated
    #[arg(long, value_name = "SOURCE", action = ArgAction::Append)]
    pub policy: Vec<String>,

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

/// Installs modules and policies only.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &GetArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    no_words(&args.words)?;
    let ui = &*ui;
    let how = (args.update, &*args.test_directory);
    let tell = |step| ui.step(&step);
    heeding(ui, || get(&ui.host(world), how, &args.policy, &tell))??;
    Ok(0)
}

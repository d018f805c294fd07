//! `taint` and `untaint`: have the next plan replace an object, or not.

use std::sync::Arc;

use clap::ArgAction;
use entail::address::Instance;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::StateOptions;
use entail::workflow::state::{Mark, mark};
use entail::world::World;

use super::words;
use crate::arguments::groups::{MessageArgs, StateArgs, VariableArgs};
use crate::interrupt::changing_state;
use crate::ui::{Manner, Ui};

/// Mark a resource instance as not fully functional
///
/// The next plan replaces the object. `plan -replace=ADDRESS` does the same without touching the state first.
#[derive(clap::Args, Debug)]
pub struct TaintArgs {
    /// What both take.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Remove the 'tainted' state from a resource instance
///
/// The next plan keeps the object.
#[derive(clap::Args, Debug)]
pub struct UntaintArgs {
    /// What both take.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What both take.
#[derive(clap::Args, Debug)]
pub struct CommonArgs {
    /// Succeed where there is no such instance
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub allow_missing: bool,

    /// Continue where the backend runs another version
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub ignore_remote_version: bool,

    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// The address of an instance
    #[arg(value_name = "ADDRESS", hide = true)]
    pub words: Vec<String>,
}

impl CommonArgs {
    /// Returns the address; `command` is the command's name.
    pub fn address(&self, command: &str) -> Result<&str, Diagnostic> {
        let detail = format!("The {command} command expects exactly one argument.");
        let [address] = words(&self.words, "Invalid arguments", &detail)?;
        Ok(address)
    }
}

/// Marks an object to be replaced.
pub fn taint(ui: &mut Ui, world: &Arc<World>, args: &TaintArgs) -> Result<u8, Diagnostics> {
    set(ui, world, &args.common, Mark::Taint)
}

/// Takes the mark off an object.
pub fn untaint(ui: &mut Ui, world: &Arc<World>, args: &UntaintArgs) -> Result<u8, Diagnostics> {
    set(ui, world, &args.common, Mark::Untaint)
}

fn set(ui: &mut Ui, world: &Arc<World>, args: &CommonArgs, to: Mark) -> Result<u8, Diagnostics> {
    let manner = Manner { json: args.output.json, ..Manner::default() };
    ui.begin(manner, args.output.json_into.as_deref())?;
    let ui = &*ui;
    let address: Instance = args.address(to.command())?.parse()?;
    let options = StateOptions::from(&args.state);
    let work = || mark(&ui.host(world), &options, (&address, to), args.allow_missing);
    for line in changing_state(ui, work)? {
        ui.say(&format!("{line}\n"));
        ui.message(&line);
    }
    Ok(0)
}

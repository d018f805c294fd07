//! `taint` and `untaint`: have the next plan replace an object, or not.

use std::sync::Arc;

use clap::ArgAction;
use entail::address::{Instance, Mode};
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::state_commands;
use entail::state::State;
use entail::world::World;

use super::store::Store;
use super::words;
use crate::arguments::groups::{MessageArgs, StateArgs, VariableArgs};
use crate::arguments::request::StateOptions;
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
    mark(ui, world, (&args.common, "taint"), state_commands::taint)
}

/// Takes the mark off an object.
pub fn untaint(ui: &mut Ui, world: &Arc<World>, args: &UntaintArgs) -> Result<u8, Diagnostics> {
    mark(ui, world, (&args.common, "untaint"), state_commands::untaint)
}

fn mark(
    ui: &mut Ui,
    world: &Arc<World>,
    (args, command): (&CommonArgs, &str),
    change: fn(&mut State, &Instance) -> Result<String, Diagnostic>,
) -> Result<u8, Diagnostics> {
    let manner = Manner { json: args.output.json, ..Manner::default() };
    ui.begin(manner, args.output.json_into.as_deref())?;
    let ui = &*ui;
    let address: Instance = args.address(command)?.parse()?;
    if address.resource.mode != Mode::Managed {
        let problem = Diagnostic::error("Invalid resource address");
        return Err(problem
            .detail(format!("Resource instance {address} cannot be tainted"))
            .into());
    }
    let options = StateOptions::from(&args.state);
    let store = Store::open(ui, world, &options.files)?;
    let is_missing = |state: &State| state.instance(&address).is_none_or(|it| it.current.is_none());
    if args.allow_missing && store.read(ui)?.is_none_or(|it| is_missing(&it)) {
        return Ok(ui.diagnostics(state_commands::missing_is_allowed(&address).into()));
    }
    if store.read(ui)?.is_none() {
        // Without a state there is no such instance either.
        change(&mut State::default(), &address)?;
    }
    for line in store.change(ui, options.lock, command, |it| Ok(vec![change(it, &address)?]))? {
        ui.say(&format!("{line}\n"));
        ui.message(&line);
    }
    Ok(0)
}

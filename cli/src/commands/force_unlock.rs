//! `force-unlock`: takes away a lock that nobody holds any more.

use std::sync::Arc;

use clap::ArgAction;
use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::state::OpenState;
use entail::world::{PRODUCT, World};

use super::words;
use crate::arguments::groups::{MessageArgs, VariableArgs};
use crate::interrupt::changing_state;
use crate::ui::{Manner, Ui};
use crate::view::style::Paint;

/// Release a stuck lock on the current workspace
///
/// Takes the lock with this id away. Whoever holds it is not told.
#[derive(clap::Args, Debug)]
pub struct ForceUnlockArgs {
    /// Do not ask for approval
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub force: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// The id of the lock
    #[arg(value_name = "LOCK_ID", hide = true)]
    pub words: Vec<String>,
}

impl ForceUnlockArgs {
    /// Returns the id of the lock.
    pub fn id(&self) -> Result<&str, Diagnostic> {
        let [id] =
            words(&self.words, "Wrong number of arguments", "Expected a single argument: LOCK_ID")?;
        Ok(id)
    }
}

/// Takes the lock away, after a question.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ForceUnlockArgs) -> Result<u8, Diagnostics> {
    let manner = Manner { json: args.output.json, ..Manner::default() };
    ui.begin(manner, args.output.json_into.as_deref())?;
    let ui = &*ui;
    let id = args.id()?;
    let store = OpenState::open(&ui.host(world), &Choice::default())?;
    if !args.force {
        let explanation = format!(
            "The lock on the state will be taken away.\nThis will allow local {PRODUCT} commands to modify this state, even \
                           though it\nmay still be in use. Only 'yes' will be accepted to confirm."
        );
        let answer = ui.ask("Do you really want to force-unlock?", &explanation, false);
        if answer.map_err(|it| Diagnostic::error(format!("Error asking for confirmation: {it}")))?
            != "yes"
        {
            ui.message("force-unlock cancelled");
            ui.say("force-unlock cancelled.\n");
            return Ok(1);
        }
    }
    changing_state(ui, || Ok(store.backend().force_unlock(id)?))?;
    ui.message(&format!("The state has been unlocked, and {PRODUCT} commands should now be able to obtain a new lock on the remote state."));
    let done = format!("{PRODUCT} state has been successfully unlocked!");
    ui.say(&format!(
        "{}\n\nThe state has been unlocked, and {PRODUCT} commands should now be able to\nobtain a new lock on the remote state.\n",
        ui.style().paint(&[Paint::Bold, Paint::Green], &done)
    ));
    Ok(0)
}

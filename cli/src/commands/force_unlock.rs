//! `force-unlock`: takes away a lock that nobody holds any more.

use clap::ArgAction;
use entail::diagnostic::Diagnostic;

use super::words;
use crate::arguments::groups::VariableArgs;

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

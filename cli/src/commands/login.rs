//! `login` and `logout`: tokens of hosts, got with a browser, kept, and forgotten.

use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::login::{self as workflow, Guide, Step};
use entail::world::World;

use super::{begin, words};
use crate::arguments::groups::{OutputArgs, VariableArgs};
use crate::interrupt::heeding;
use crate::ui::Ui;
use crate::view::login as view;

/// Obtain and save credentials for a remote host
///
/// Gets a token from a host that gives them, after a question: it opens a browser, where one logs in. The token is kept by the credentials
/// helper that the CLI configuration names, else in the file credentials.tfrc.json of the folder ~/.terraform.d, or of
/// $XDG_CONFIG_HOME/opentofu where there is no such folder.
#[derive(clap::Args, Debug)]
pub struct LoginArgs {
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The host
    #[arg(value_name = "HOST", hide = true)]
    pub words: Vec<String>,
}

/// Remove locally-stored credentials for a remote host
///
/// Forgets the token that `login` has kept. At the host it stays valid until somebody revokes it there; what was written into the CLI
/// configuration by hand stays as it is.
#[derive(clap::Args, Debug)]
pub struct LogoutArgs {
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The host
    #[arg(value_name = "HOST", hide = true)]
    pub words: Vec<String>,
}

/// Tells on the terminal, and opens pages with what the system has for that.
struct Terminal<'a>(&'a Ui);

impl Guide for Terminal<'_> {
    fn told(&self, step: Step) {
        self.0.say(&view::text(&step, self.0.style()));
        self.0.message(&view::message(&step));
    }

    fn opens(&self, address: &str) -> bool {
        open::that_detached(address).is_ok()
    }
}

/// Gets a token from a host.
pub fn login(ui: &mut Ui, world: &Arc<World>, args: &LoginArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    let host = host(&args.words, "login", "log in to")?;
    let ui = &*ui;
    heeding(ui, || workflow::login(&ui.host(world), host, &Terminal(ui)))??;
    Ok(0)
}

/// Forgets the token of a host.
pub fn logout(ui: &mut Ui, world: &Arc<World>, args: &LogoutArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    let host = host(&args.words, "logout", "log out of")?;
    let ui = &*ui;
    heeding(ui, || workflow::logout(&ui.host(world), host, &Terminal(ui)))??;
    Ok(0)
}

fn host<'a>(given: &'a [String], command: &str, what: &str) -> Result<&'a str, Diagnostic> {
    let detail = format!("The {command} command expects exactly one argument: the host to {what}.");
    let [host] = words(given, "Unexpected argument", &detail)?;
    Ok(host)
}

//! `console`: evaluates expressions line by line.

use std::path::PathBuf;
use std::sync::Arc;

use entail::backend::local::Choice;
use entail::diagnostic::Diagnostics;
use entail::request::Request;
use entail::workflow::console::{Console, HELP, Lines, console};
use entail::workflow::{LockOptions, StateOptions};
use entail::world::World;

use super::words;
use crate::arguments::groups::{LockArgs, VariableArgs};
use crate::ui::Ui;

/// Try expressions at an interactive command prompt
///
/// Evaluates one expression per line in the scope of the root module.
#[derive(clap::Args, Debug)]
pub struct ConsoleArgs {
    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Evaluates every line until the input ends, or `exit`. On a pipe, the first error ends it.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ConsoleArgs) -> Result<u8, Diagnostics> {
    let (summary, detail) =
        ("Too many command line arguments", "Expected at most one positional argument.");
    words::<0>(&args.words, summary, detail)?;
    let files = Choice { state: args.state.clone(), ..Choice::default() };
    let state = StateOptions { files, lock: LockOptions::from(&args.lock) };
    let request = Request { variables: args.variables.sources()?, ..Request::default() };
    ui.converse();
    let ui = &*ui;
    console(&ui.host(world), &state, &request, |console| converse(ui, console))
}

fn converse(ui: &Ui, console: &Console<'_>) -> u8 {
    let mut lines = Lines::default();
    let mut prompt = "> ".to_owned();
    while let Some(line) = ui.line(&prompt) {
        let text = match lines.take(&line) {
            Ok(text) => text,
            Err(depth) => {
                prompt = format!("{} ", ".".repeat(depth));
                continue;
            }
        };
        prompt = "> ".to_owned();
        match text.trim() {
            "exit" => return 0,
            "help" => ui.out(&format!("{HELP}\n")),
            "" => ui.out("\n"),
            _ => match console.answer(&text) {
                Ok(answer) => ui.out(&format!("{answer}\n")),
                Err(problems) => {
                    let code = ui.diagnostics(problems);
                    if !ui.is_conversation() {
                        return code;
                    }
                }
            },
        }
    }
    0
}

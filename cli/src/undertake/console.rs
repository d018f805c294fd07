//! `console`: reads expressions line by line and prints what they give.

use std::sync::Arc;

use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::observe::pool::Pool;
use entail::observe::values::Values;
use entail::operation::console::{self, HELP, Lines};
use entail::operation::session::Session;
use entail::request::Request;
use entail::world::World;

use super::{lock, read_state, with_room};
use crate::arguments::request::{LockOptions, StateOptions};
use crate::commands::console::ConsoleArgs;
use crate::commands::words;
use crate::ui::Ui;

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
    with_room(|runtime| {
        let (session, mut problems) =
            Session::open_for_console(world.clone(), ui.sources.clone(), &state.files)?;
        let _lock = lock(ui, &session, &state, "console")?;
        let stored = read_state(ui, &session)?.state.unwrap_or_default();
        let (inputs, _, found) = session.given_variables(&request);
        problems.extend(found);
        if problems.has_errors() {
            return Err(problems);
        }
        let variables = session.variables_or_unknown(&inputs)?;
        let (pool, found) =
            runtime.block_on(Pool::start(&session.supply, session.needed_providers(&stored)));
        problems.extend(found);
        // Without what the providers announce, hardly anything could be told of the objects.
        if problems.has_errors() {
            return Err(problems);
        }
        let values = console::open(&session, &pool, &stored, &variables)?;
        problems.extend(values.take_problems());
        if problems.has_errors() {
            problems.push(Diagnostic::warning(
                "Due to the problems above, some expressions may produce unexpected results.",
            ));
        }
        ui.diagnostics(problems.once());
        Ok(converse(ui, &values, &pool))
    })?
}

fn converse(ui: &Ui, values: &Values<'_>, pool: &Pool) -> u8 {
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
            _ => match console::answer(values, pool, &text) {
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

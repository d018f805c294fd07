//! `log`: what was done to the state, run by run.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::log::{Found, Run, find};
use entail::workflow::log::runs;
use entail::world::World;

use super::{at_most_one, present, silence};
use crate::ui::Ui;
use crate::view::log as view;
use crate::view::page::log as page;

/// Show what was done to the state: every apply, destroy, refresh and import
///
/// Lists the runs that have changed the state or tried to, newest first; with the name of a run (RUN, or the beginning of one), or with
/// -last, that run with each of its steps; with an address (ADDRESS), the history of that object. The log lies beside the state and
/// holds no values of objects. Asks no provider.
#[derive(clap::Args, Debug)]
pub struct LogArgs {
    /// Show the last run
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub last: bool,

    /// Draw a bar for each step of the run, and mark the critical path
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub timeline: bool,

    /// List at most so many runs
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<usize>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write a page for a browser, into this file or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub html: Option<String>,

    /// Show the log of this state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// A run or an address.
    #[arg(value_name = "[RUN|ADDRESS]", hide = true)]
    pub words: Vec<String>,
}

/// Shows the log.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &LogArgs) -> Result<u8, Diagnostics> {
    silence(ui, true)?;
    let summary = "Too many command line arguments";
    let word = at_most_one(&args.words, summary, "Expected at most one run or address.")?;
    let shows_one = args.last || word.is_some_and(|it| !it.contains('.'));
    if args.last && word.is_some() {
        return Err(incompatible("-last names the run already.").into());
    }
    if args.timeline && !shows_one {
        return Err(incompatible("-timeline draws one run: name it, or use -last.").into());
    }
    if args.html.is_some() && args.json {
        return Err(incompatible("Of -html and -json, only one can be written.").into());
    }
    let files = Choice { state: args.state.clone(), ..Choice::default() };
    let runs = runs(&ui.host(world), &files)?;
    if args.last {
        return match runs.last() {
            Some(last) => show(ui, world, args, last),
            None => Err(nothing().into()),
        };
    }
    match word.map(|it| find(&runs, it)).transpose()? {
        None => {
            let newest: Vec<&Run> =
                runs.iter().rev().take(args.limit.unwrap_or(usize::MAX)).collect();
            match (args.json, &args.html) {
                (true, _) => ui.json(&view::to_json(&newest)),
                (_, Some(file)) => return present::page(ui, world, file, &page::draw(&newest)),
                (false, None) => ui.out(&view::list(&newest, &ui.style())),
            }
        }
        Some(Found::Run(run)) => return show(ui, world, args, run),
        Some(Found::History(_)) if args.html.is_some() => {
            return Err(incompatible(
                "A page is drawn of runs: -html does not go with an address.",
            )
            .into());
        }
        Some(Found::History(history)) => match args.json {
            true => ui.json(&view::history_to_json(&history)),
            false => ui.out(&view::history(&history, &ui.style())),
        },
    }
    Ok(0)
}

fn show(ui: &Ui, world: &World, args: &LogArgs, run: &Run) -> Result<u8, Diagnostics> {
    let style = ui.style();
    if let Some(file) = &args.html {
        return present::page(ui, world, file, &page::draw(&[run]));
    }
    match (args.json, args.timeline) {
        (true, _) => ui.json(&view::run_to_json(run)),
        (false, true) => ui.out(&view::timeline(run, &style)),
        (false, false) => ui.out(&view::run(run, &style)),
    }
    Ok(0)
}

fn incompatible(why: &str) -> Diagnostic {
    Diagnostic::error("Incompatible options").detail(why)
}

fn nothing() -> Diagnostic {
    Diagnostic::error("No runs in the log").detail(
        "Nothing was applied, destroyed, refreshed or imported here since there is a log, or the state is another one: a workspace, or a file that -state names.",
    )
}

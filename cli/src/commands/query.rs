//! `query`: prints the rows of any body of a rule.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::query::{QueryOptions, query};
use entail::workflow::{AskedOf, StateOptions};
use entail::world::World;

use super::policy::{ChoiceArgs, LimitArgs};
use super::subject::AskedArgs;
use super::{silence, words};
use crate::arguments::groups::UnusedLockArgs;
use crate::arguments::request;
use crate::ui::Ui;
use crate::view::query as view;

/// Ask a plan, a state or a configuration
///
/// Prints what the variables of a query can be. A query is the body of a rule, in the language of policies: it may use the
/// vocabulary (`policy docs`), the relations of the policies in force, and those of the planner as `core::NAME`. Without -plan,
/// -state and -config, plans as `plan` would, and changes nothing.
#[derive(clap::Args, Debug)]
pub struct QueryArgs {
    /// A plan, or the configuration.
    #[command(flatten)]
    pub asked: AskedArgs,

    /// Ask the state alone: the current one, or the one in a file. Needs no configuration
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub state: Option<String>,

    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// What it may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write comma-separated values, as RFC 4180 has them: rows that hold for certain
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub csv: bool,

    /// Write rows that are only possible into the CSV, too, and a last column that says which they are
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub possible: bool,

    /// No lock.
    #[command(flatten)]
    pub lock: UnusedLockArgs,

    /// What to ask
    #[arg(value_name = "QUERY", hide = true)]
    pub words: Vec<String>,
}

impl QueryArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn options(&self, ui: &Ui) -> Result<QueryOptions, Diagnostics> {
        let detail = "The query command expects exactly one argument: the body of a rule, in quotes, such as 'resource(n, t)'.";
        let [body] = words(&self.words, "Invalid number of arguments", detail)?;
        if self.json && self.csv {
            return Err(Diagnostic::error("More than one format")
                .detail("Of -json and -csv, only one can be written.")
                .into());
        }
        if self.possible && !self.csv {
            return Err(Diagnostic::error("Incompatible options")
                .detail("The -possible option is for -csv: the table and the JSON have possible rows in any case.")
                .into());
        }
        Ok(QueryOptions {
            body: body.clone(),
            of: self.asked_of(ui)?,
            policies: (&self.choice).into(),
            limits: self.limits.limits()?,
        })
    }

    fn asked_of(&self, ui: &Ui) -> Result<AskedOf, Diagnostics> {
        let asked = &self.asked;
        let Some(file) = &self.state else {
            return asked.of(ui, StateOptions::default());
        };
        if asked.subject.plan.is_some() || asked.config {
            return Err(Diagnostic::error("Incompatible options")
                .detail("Of -plan, -state and -config, only one can be asked.")
                .into());
        }
        let planning = asked.subject.planning(ui, StateOptions::default())?;
        request::beside(&planning.request, "-state", &[])?;
        let file = Some(file).filter(|it| !it.is_empty());
        Ok(AskedOf::State(file.map(PathBuf::from)))
    }
}

/// Asks, and prints the answer.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &QueryArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.asked.subject.input)?;
    let options = args.options(ui)?;
    let answer = query(&ui.host(world), &options)?;
    match (args.json, args.csv) {
        (true, _) => ui.json(&format!("{:#}\n", answer.to_json())),
        (_, true) => ui.out(&view::csv(&answer, args.possible)),
        _ => ui.out(&view::table(&answer, &ui.style())),
    }
    if args.csv && !args.possible && !answer.possible.is_empty() {
        ui.remarks(view::left_out(answer.possible.len()).into());
    }
    ui.remarks(answer.problems);
    Ok(0)
}

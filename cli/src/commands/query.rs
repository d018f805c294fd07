//! `query`: prints the rows of any body of a rule.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::request::Request;
use entail::workflow::options::PlanOptions;
use entail::workflow::query::{QueryOptions, query};
use entail::workflow::{AskedOf, LockOptions, StateOptions};
use entail::world::World;

use super::policy::{ChoiceArgs, LimitArgs};
use super::{silence, words};
use crate::arguments::groups::{LockArgs, PlanningArgs, VariableArgs};
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
    /// Ask this saved plan; needs no provider and no configuration
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Ask the state alone: the current one, or the one in a file. Needs no configuration
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub state: Option<String>,

    /// Ask the configuration alone: no init, no provider, no state, no credentials
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub config: bool,

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

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,

    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,

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
        let request = request::build(&self.planning, &self.variables, &ui.sources)?;
        Ok(QueryOptions {
            body: body.clone(),
            of: self.asked_of(request)?,
            policies: (&self.choice).into(),
            limits: self.limits.limits()?,
        })
    }

    fn asked_of(&self, request: Request) -> Result<AskedOf, Diagnostic> {
        match (&self.plan, &self.state, self.config) {
            (None, None, false) => {
                let lock = LockOptions::from(&self.lock);
                let state = StateOptions { files: Choice::default(), lock };
                Ok(AskedOf::Plan(Box::new(PlanOptions {
                    request,
                    state,
                    ..PlanOptions::default()
                })))
            }
            (Some(file), None, false) => {
                request::beside_plan(&request)?;
                Ok(AskedOf::Saved(file.clone()))
            }
            (None, Some(file), false) => {
                request::beside(&request, "-state", &[])?;
                let file = Some(file).filter(|it| !it.is_empty());
                Ok(AskedOf::State(file.map(PathBuf::from)))
            }
            (None, None, true) => {
                request::beside(&request, "-config", &["-var"])?;
                Ok(AskedOf::Configuration(Box::new(request)))
            }
            _ => Err(Diagnostic::error("Incompatible options")
                .detail("Of -plan, -state and -config, only one can be asked.")),
        }
    }
}

/// Asks, and prints the answer.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &QueryArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    let options = args.options(ui)?;
    let answer = query(&ui.host(world), &options)?;
    ui.out(&match (args.json, args.csv) {
        (true, _) => format!("{:#}\n", answer.to_json()),
        (_, true) => view::csv(&answer, args.possible),
        _ => view::table(&answer, &ui.style()),
    });
    if args.csv && !args.possible && !answer.possible.is_empty() {
        ui.remarks(view::left_out(answer.possible.len()).into());
    }
    ui.remarks(answer.problems);
    Ok(0)
}

//! `impact`: what would be touched if something changed.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::impact::Direction;
use entail::request::Request;
use entail::workflow::StateOptions;
use entail::workflow::impact::{ImpactOptions, impact};
use entail::workflow::judging::PolicyOptions;
use entail::workflow::options::PlanOptions;
use entail::world::World;

use super::policy::{ChoiceArgs, LimitArgs};
use super::silence;
use crate::arguments::groups::{ReadStateArgs, VariableArgs};
use crate::arguments::request;
use crate::ui::Ui;

/// Show what would be touched if something changed
///
/// Follows what reads what from the given addresses (ADDRESS, var.NAME, local.NAME), places in files (FILE:LINE, FILE:FIRST-LAST) or
/// everything that was edited since a commit, and lists what would be touched, nearest first. Asks no provider.
#[derive(clap::Args, Debug)]
pub struct ImpactArgs {
    /// Begin with what was edited since this commit, branch or tag of git
    #[arg(long, value_name = "GITREF")]
    pub since: Option<String>,

    /// Show what it rests on instead
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub reverse: bool,

    /// Look at most so many steps away
    #[arg(long, value_name = "STEPS")]
    pub depth: Option<usize>,

    /// List only what this saved plan touches
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Ask nothing; nothing is ever asked
    #[arg(long, action = ArgAction::Set, default_value_t = true, hide = true)]
    pub input: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Where the state is read.
    #[command(flatten)]
    pub state: ReadStateArgs,
    /// Which policies shape it.
    #[command(flatten)]
    pub policies: ChoiceArgs,
    /// What they may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What changes
    #[arg(value_name = "ADDRESS|FILE:LINE...", hide = true)]
    pub words: Vec<String>,
}

/// Lists what would be touched.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ImpactArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    if args.depth == Some(0) {
        return Err(Diagnostic::error("Invalid depth")
            .detail("The -depth option must be 1 or more.")
            .into());
    }
    let request = Request { variables: args.variables.sources()?, ..Request::default() };
    if args.plan.is_some() {
        request::beside_plan(&request)?;
    }
    let policies = PolicyOptions {
        choice: (&args.policies).into(),
        limits: args.limits.limits()?,
        ..PolicyOptions::default()
    };
    let state = StateOptions::from(&args.state);
    let planning = PlanOptions { request, state, policies, ..PlanOptions::default() };
    let direction = Direction { reverse: args.reverse, depth: args.depth };
    let options = ImpactOptions {
        of: args.words.clone(),
        since: args.since.clone(),
        direction,
        plan: args.plan.clone(),
        planning,
    };
    let (found, problems) = impact(&ui.host(world), &options)?;
    match args.json {
        true => ui.json(&format!("{}\n", found.to_json())),
        false => ui.out(&found.text(direction)),
    }
    ui.remarks(problems);
    Ok(0)
}

//! `whatif`: what a selection takes in and leaves out, before anything is planned.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::policy::Asked;
use entail::workflow::StateOptions;
use entail::workflow::explain::whatif;
use entail::workflow::judging::PolicyOptions;
use entail::workflow::options::PlanOptions;
use entail::world::World;
use serde_json::{Value as Json, json};

use super::policy::{ChoiceArgs, LimitArgs};
use super::{no_words, silence};
use crate::arguments::groups::{PlanningArgs, ReadStateArgs, VariableArgs};
use crate::arguments::request;
use crate::ui::Ui;
use crate::view::policy::asked;

/// Show what -target and -exclude would select
///
/// Prints what takes part in a plan with these flags, what is left out and through whom, and what is not targeted. Needs no
/// provider and no `init`.
#[derive(clap::Args, Debug)]
pub struct WhatifArgs {
    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,

    /// Where the state is read.
    #[command(flatten)]
    pub state: ReadStateArgs,
    /// Which policies shape it.
    #[command(flatten)]
    pub policies: ChoiceArgs,
    /// What they may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Prints what takes part in a run, and through whom the rest does not; asks no provider.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &WhatifArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    no_words(&args.words)?;
    let state = StateOptions::from(&args.state);
    let request = request::build(&args.planning, &args.variables, &ui.sources)?;
    let ui = &*ui;
    let policies = PolicyOptions {
        choice: (&args.policies).into(),
        limits: args.limits.limits()?,
        ..PolicyOptions::default()
    };
    let options = PlanOptions { request, state, policies, ..PlanOptions::default() };
    let (parts, problems) = whatif(&ui.host(world), &options)?;
    if !args.json {
        ui.out(&parts.text());
        let shaped = asked(&parts.asked);
        if !shaped.is_empty() {
            ui.out(&format!("\n{shaped}"));
        }
        return Ok(ui.diagnostics(problems));
    }
    let excluded = parts.excluded.iter();
    let excluded: Vec<Json> =
        excluded.map(|(address, via)| json!({"address": address, "through": via})).collect();
    let document = json!({
        "selected": parts.selected,
        "excluded": excluded,
        "untargeted": parts.untargeted,
        "undecided": parts.open,
        "told": parts.told,
        "values_left_out": parts.values,
        "undecided_values": parts.open_values,
        "shaped": parts.asked.iter().map(Asked::to_json).collect::<Vec<_>>(),
    });
    let code = u8::from(problems.has_errors());
    ui.json(&format!("{document:#}\n"));
    ui.remarks(problems);
    Ok(code)
}

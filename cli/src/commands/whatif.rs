//! `whatif`: what a selection takes in and leaves out, before anything is planned.

use clap::ArgAction;

use crate::arguments::groups::{PlanningArgs, StateArgs, VariableArgs};

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

    /// Where the state lies, and its lock.
    #[command(flatten)]
    pub state: StateArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

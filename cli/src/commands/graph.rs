//! `graph`: the steps of an operation and their order, for Graphviz.

use std::path::PathBuf;

use clap::ArgAction;

use crate::arguments::groups::VariableArgs;

/// Generate a Graphviz graph of the steps in an operation
///
/// Prints a graph in the DOT language.
#[derive(clap::Args, Debug)]
pub struct GraphArgs {
    /// The graph of this saved plan
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Which graph: `plan`, `plan-refresh-only`, `plan-destroy` or `apply`
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,

    /// Colour the edges of cycles
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub draw_cycles: bool,

    /// Without effect
    #[arg(long, hide = true)]
    pub module_depth: Option<i64>,

    /// Without effect
    #[arg(long, hide = true, action = ArgAction::Set, default_value_t = false)]
    pub verbose: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

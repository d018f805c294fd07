//! `graph`: the steps of an operation and their order, for Graphviz.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::request::Request;
use entail::workflow::explain::{GraphOptions, graph};
use entail::world::World;

use super::{no_words, silence};
use crate::arguments::groups::VariableArgs;
use crate::arguments::request;
use crate::ui::Ui;

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

    /// Draw a configuration although blocks wait for each other in circles, and colour these
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub draw_cycles: bool,

    /// Without effect
    #[arg(long, hide = true)]
    pub module_depth: Option<i64>,

    /// Draw the ends of providers as well
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub verbose: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

impl GraphArgs {
    /// Checks which graph is asked for.
    ///
    /// # Errors
    ///
    /// If there is no such graph, or the one of steps is asked for and no plan is given.
    pub fn check(&self) -> Result<(), Diagnostic> {
        match self.kind.as_deref() {
            None | Some("plan" | "plan-refresh-only" | "plan-destroy") => Ok(()),
            Some("apply") if self.plan.is_some() => Ok(()),
            Some("apply") => Err(Diagnostic::error("No plan to show")
                .detail("The graph of an apply is that of a saved plan: name its file with -plan=FILE.")),
            Some(kind @ ("eval" | "validate")) => Err(Diagnostic::error("Graph type no longer available")
                .detail(format!("There is no graph of type \"{kind}\" any more; -type=plan shows much the same."))),
            Some(kind) => Err(Diagnostic::error("Unsupported graph type").detail(format!(
                "There is no graph of type \"{kind}\": it is \"plan\", \"plan-refresh-only\", \"plan-destroy\" or \"apply\"."
            ))),
        }
    }
}

/// Prints what waits for what, as a drawing program reads it.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &GraphArgs) -> Result<u8, Diagnostics> {
    silence(ui, true)?;
    no_words(&args.words)?;
    args.check()?;
    if args.plan.is_some() {
        let variables = args.variables.sources()?;
        request::beside_plan(&Request { variables, ..Request::default() })?;
    }
    let options = GraphOptions { draws_cycles: args.draw_cycles, is_verbose: args.verbose };
    let (drawn, problems) = graph(&ui.host(world), args.plan.as_deref(), options)?;
    ui.out(&drawn);
    Ok(ui.diagnostics(problems))
}

//! `graph`: what waits for what, as DOT, as JSON or as a drawing.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::request::Request;
use entail::workflow::graph::{GraphOptions, Wanted, graph};
use entail::workflow::options::PlanOptions;
use entail::world::World;

use super::{no_words, present, silence};
use crate::arguments::groups::VariableArgs;
use crate::arguments::request;
use crate::ui::Ui;
use crate::view::graph as view;

/// Generate a Graphviz graph of the steps in an operation
///
/// Prints a graph in the DOT language: of the blocks of the configuration, of the steps of a saved plan, or, with -instances, of objects
/// and what each rests on. With -svg, draws it, for which nothing else is needed.
#[derive(clap::Args, Debug)]
pub struct GraphArgs {
    /// The graph of this saved plan
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Which graph: `plan`, `plan-refresh-only`, `plan-destroy` or `apply`
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,

    /// Draw objects rather than blocks or steps: every instance, and what it rests on
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub instances: bool,

    /// Draw only what is next to this, one edge each way
    #[arg(long, value_name = "ADDRESS")]
    pub around: Option<String>,

    /// Draw it, into this file or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub svg: Option<String>,

    /// Write JSON: nodes, edges and the phases of steps
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

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
    /// If there is no such graph, the one of steps is asked for and no plan is given, or two things exclude each other.
    pub fn check(&self) -> Result<(), Diagnostic> {
        let incompatible = |why: &str| Err(Diagnostic::error("Incompatible options").detail(why));
        if self.json && self.svg.is_some() {
            return incompatible("Of -json and -svg, only one can be written.");
        }
        if self.instances && self.draw_cycles {
            return incompatible(
                "Where blocks wait for each other in circles, no instances are known: -draw-cycles does not go with -instances.",
            );
        }
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

    fn wanted(&self) -> Result<Wanted, Diagnostics> {
        let variables = self.variables.sources()?;
        let request = Request { variables, ..Request::default() };
        if self.plan.is_some() {
            request::beside_plan(&request)?;
        }
        Ok(Wanted {
            plan: self.plan.clone(),
            instances: self.instances,
            around: self.around.clone(),
            blocks: GraphOptions { draws_cycles: self.draw_cycles, is_verbose: self.verbose },
            planning: PlanOptions { request, ..PlanOptions::default() },
        })
    }
}

/// Writes what waits for what.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &GraphArgs) -> Result<u8, Diagnostics> {
    silence(ui, true)?;
    no_words(&args.words)?;
    args.check()?;
    let (graph, problems) = graph(&ui.host(world), &args.wanted()?)?;
    let code = match &args.svg {
        Some(file) => {
            let drawing = view::svg::document(&graph)?;
            present::written(ui, world, ("svg", "drawing"), file, &drawing)?
        }
        None if args.json => {
            ui.json(&view::json(&graph));
            0
        }
        None => {
            ui.out(&view::dot(&graph));
            0
        }
    };
    Ok(code.max(ui.diagnostics(problems)))
}

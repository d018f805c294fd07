//! `diff`: how two plans differ.

use std::sync::Arc;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser};
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::request::{PlanMode, Request};
use entail::workflow::StateOptions;
use entail::workflow::diff::{Side, diff};
use entail::workflow::options::PlanOptions;
use entail::world::World;

use super::{miscounted, silence};
use crate::arguments::flags::{misunderstood, normalise};
use crate::arguments::groups::{PlanningArgs, ReadStateArgs, VariableArgs};
use crate::arguments::request;
use crate::ui::Ui;

/// Show how two plans differ
///
/// Compares two saved plans (PLAN_A PLAN_B), or a saved plan with one made now (PLAN_A), or two that are made now: options before `--`
/// hold for both, those behind it (planning options, -var, -var-file and -workspace) for the second one only. What appears, disappears,
/// changes its action or its values is listed by module. Exits with 0 where both do the same, and with 2 where they differ.
#[derive(clap::Args, Debug)]
pub struct DiffArgs {
    /// Make the first plan from the configuration of this commit, branch or tag of git
    #[arg(long, value_name = "GITREF")]
    pub since: Option<String>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,

    /// What to plan.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Where the state is read.
    #[command(flatten)]
    pub state: ReadStateArgs,

    /// Saved plans, and options of the second plan.
    #[arg(value_name = "[PLAN_A] [PLAN_B] [-- OPTIONS]", hide = true)]
    pub words: Vec<String>,

    /// Options of the second plan.
    #[arg(last = true, hide = true, allow_hyphen_values = true)]
    pub other: Vec<String>,
}

/// What may stand behind `--`.
#[derive(Parser, Debug)]
#[command(disable_help_flag = true, disable_version_flag = true, args_override_self = true)]
struct OtherArgs {
    /// The workspace of the second plan
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
    #[command(flatten)]
    planning: PlanningArgs,
    #[command(flatten)]
    variables: VariableArgs,
}

impl DiffArgs {
    fn sides(&self, ui: &Ui) -> Result<(Side, Side), Diagnostics> {
        let own = request::build(&self.planning, &self.variables, &ui.sources)?;
        let state = StateOptions::from(&self.state);
        let side = |request: Request| Side {
            planning: PlanOptions { request, state: state.clone(), ..PlanOptions::default() },
            ..Side::default()
        };
        let (mut one, mut other) = (side(own.clone()), side(own.clone()));
        one.reference = self.since.clone();
        let of_plans = |it: &Request| {
            request::beside_plan(it).map(|()| self.since.is_some() || !self.other.is_empty())
        };
        match self.words.as_slice() {
            [] => {}
            [first] => {
                if self.since.is_some() {
                    return Err(incompatible(
                        "The first plan is either saved, or made from a commit.",
                    ));
                }
                one.saved = Some(first.into());
            }
            [first, second] => {
                if of_plans(&own)? {
                    return Err(incompatible(
                        "Two saved plans are compared as they are: there is nothing to plan.",
                    ));
                }
                (one.saved, other.saved) = (Some(first.into()), Some(second.into()));
                return Ok((one, other));
            }
            _ => {
                return Err(miscounted(
                    "Invalid number of arguments",
                    "The diff command expects at most two saved plans.",
                )
                .into());
            }
        }
        let (request, workspace) = self.second(own, ui)?;
        other.planning.request = request;
        other.workspace = workspace;
        if self.words.is_empty() && self.since.is_none() && self.other.is_empty() {
            return Err(Diagnostic::error("Nothing to compare")
                .detail("The diff command expects saved plans, -since=COMMIT, or options of a second plan behind --, such as: diff -- -var size=2")
                .into());
        }
        Ok((one, other))
    }

    /// What is asked of the second plan: what holds for both, and what stands behind `--`.
    fn second(&self, own: Request, ui: &Ui) -> Result<(Request, Option<String>), Diagnostics> {
        let grammar = OtherArgs::command();
        let words = normalise(self.other.clone(), &[&grammar])?;
        let words = std::iter::once("diff".to_owned()).chain(words);
        let matches = grammar.try_get_matches_from(words).map_err(|it| misunderstood(&it))?;
        let args = OtherArgs::from_arg_matches(&matches).map_err(|it| misunderstood(&it))?;
        let more = request::build(&args.planning, &args.variables, &ui.sources)?;
        let is_usual = more.mode == PlanMode::Normal;
        let request = Request {
            mode: if is_usual { own.mode } else { more.mode },
            skip_refresh: own.skip_refresh || more.skip_refresh,
            targets: [own.targets, more.targets].concat(),
            excludes: [own.excludes, more.excludes].concat(),
            replaces: [own.replaces, more.replaces].concat(),
            variables: [own.variables, more.variables].concat(),
            compat_opentofu: own.compat_opentofu || more.compat_opentofu,
            ..own
        };
        Ok((request, args.workspace))
    }
}

fn incompatible(detail: &str) -> Diagnostics {
    Diagnostic::error("Incompatible options").detail(detail).into()
}

/// Compares two plans: exits with 2 where they differ.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &DiffArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.input)?;
    let (one, other) = args.sides(ui)?;
    let found = diff(&ui.host(world), &one, &other)?;
    match args.json {
        true => ui.json(&format!("{:#}\n", found.to_json())),
        false => ui.out(&found.text()),
    }
    Ok(if found.all.is_empty() { 0 } else { 2 })
}

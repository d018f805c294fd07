//! `policy …`: rules of one's own, over configurations and plans.

use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, Subcommand};
use entail::datalog::Limits;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::policies::PolicyChoice;
use entail::policy::Report;
use entail::policy::verdict::Overruling;
use entail::request::Request;
use entail::workflow::judging::PolicyOptions;
use entail::workflow::policy::{self as workflow, CheckOptions};
use entail::world::World;

use super::{at_most_one, silence};
use crate::arguments::groups::VariableArgs;
use crate::ui::Ui;
use crate::view::{junit, policy as view};

mod docs;
mod fmt;
mod lint;
mod list;
mod test;

/// Judge configurations by rules of one's own
///
/// Policies are files that end in .rules: beside the root module and in called modules in a folder `policies`, named by
/// -policy, or from the library that ships.
#[derive(clap::Args, Debug)]
pub struct PolicyArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PolicyCommand,
}

/// What to do with policies.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true, subcommand_required = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum PolicyCommand {
    Check(CheckArgs),
    Docs(docs::DocsArgs),
    Fmt(fmt::FmtArgs),
    Lint(lint::LintArgs),
    List(list::ListArgs),
    Test(test::TestArgs),
}

/// Which policies.
#[derive(clap::Args, Clone, Debug)]
pub struct ChoiceArgs {
    /// Judge by this file, folder, part of the library (library:NAME) or installed source address, too
    #[arg(long, value_name = "PATH|SOURCE")]
    pub policy: Vec<String>,

    /// Judge by no policies but required ones
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub no_policies: bool,
}

impl From<&ChoiceArgs> for PolicyChoice {
    fn from(args: &ChoiceArgs) -> PolicyChoice {
        PolicyChoice { named: args.policy.clone(), none: args.no_policies }
    }
}

/// What rules may take.
#[derive(clap::Args, Clone, Debug)]
pub struct LimitArgs {
    /// Let rules take this much: rows=NUMBER, steps=NUMBER or time=SECONDS. May be repeated
    #[arg(long, value_name = "BOUND=NUMBER")]
    pub policy_limit: Vec<String>,
}

impl LimitArgs {
    /// Returns the bounds, those that are usual where nothing is said.
    pub fn limits(&self) -> Result<Limits, Diagnostic> {
        let mut limits = Limits::default();
        for given in &self.policy_limit {
            set_limit(&mut limits, given).ok_or_else(|| no_limit(given))?;
        }
        Ok(limits)
    }
}

fn set_limit(limits: &mut Limits, given: &str) -> Option<()> {
    let (name, number) = given.split_once('=')?;
    let number = number.trim().parse().ok().filter(|it| *it > 0)?;
    match name.trim() {
        "rows" => limits.rows = number,
        "steps" => limits.steps = number,
        "time" => limits.time = Duration::from_secs(number),
        _ => return None,
    }
    Some(())
}

fn no_limit(given: &str) -> Diagnostic {
    Diagnostic::error("Invalid -policy-limit").detail(format!(
        "The option is -policy-limit=rows=NUMBER, -policy-limit=steps=NUMBER or -policy-limit=time=SECONDS, with a whole number above zero, not {given:?}."
    ))
}

/// What a plan is judged by, and which denials are overruled.
#[derive(clap::Args, Clone, Debug)]
pub struct JudgingArgs {
    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// What they may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Overrule the denials of a rule, of one address with RULE@ADDRESS; -because says why
    #[arg(long = "override", value_name = "RULE")]
    pub overruled: Vec<String>,

    /// Why denials are overruled
    #[arg(long, value_name = "REASON")]
    pub because: Option<String>,
}

impl JudgingArgs {
    /// Returns what is asked, or what is missing.
    pub fn options(&self) -> Result<PolicyOptions, Diagnostic> {
        let because = self.because.as_deref().map(str::trim).filter(|it| !it.is_empty());
        if because.is_some() && self.overruled.is_empty() {
            return Err(nothing_overruled());
        }
        let overruled = self.overruled.iter().map(|it| {
            let because = because.ok_or_else(no_reason)?.to_owned();
            let (rule, address) = match it.split_once('@') {
                Some((rule, address)) => (rule.to_owned(), Some(address.to_owned())),
                None => (it.clone(), None),
            };
            Ok(Overruling { rule, address, because })
        });
        Ok(PolicyOptions {
            choice: (&self.choice).into(),
            overruled: overruled.collect::<Result<_, Diagnostic>>()?,
            limits: self.limits.limits()?,
        })
    }
}

fn nothing_overruled() -> Diagnostic {
    Diagnostic::error("Reason without anything to overrule").detail(
        "The -because option says why a denial is overruled: name the rule with -override=RULE or -override=RULE@ADDRESS.",
    )
}

fn no_reason() -> Diagnostic {
    Diagnostic::error("Overruled without a reason").detail(
        "The -override option needs to be told why: -because=\"the reason\". The reason is shown with the plan, and kept in it.",
    )
}

/// Judge a configuration
///
/// Needs no init, no provider, no state and no credentials. What the configuration does not say is not known: what rests on
/// it is only possible, and shown with -possible. Exits with 1 where something is denied, and with 2 where policies, configuration
/// or flags are faulty.
#[derive(clap::Args, Debug)]
pub struct CheckArgs {
    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// What they may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Show what is only possible, too
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub possible: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write SARIF 2.1.0
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub sarif: bool,

    /// Write JUnit's XML
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub junit: bool,

    /// Write Markdown
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub markdown: bool,

    /// The folder to judge
    #[arg(value_name = "[DIR]", hide = true)]
    pub words: Vec<String>,
}

/// Runs a subcommand.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &PolicyArgs) -> Result<u8, Diagnostics> {
    match &args.command {
        PolicyCommand::Check(args) => {
            let answer = check(ui, world, args);
            answered(ui, answer)
        }
        PolicyCommand::Docs(args) => docs::run(ui, world, args),
        PolicyCommand::Fmt(args) => fmt::run(ui, world, args),
        PolicyCommand::Lint(args) => {
            let answer = lint::run(ui, world, args);
            answered(ui, answer)
        }
        PolicyCommand::List(args) => list::run(ui, world, args),
        PolicyCommand::Test(args) => {
            let answer = test::run(ui, world, args);
            answered(ui, answer)
        }
    }
}

/// Where 1 is an answer (denied, failed, found), whatever keeps a command from answering is 2.
fn answered(ui: &Ui, answer: Result<u8, Diagnostics>) -> Result<u8, Diagnostics> {
    Ok(answer.unwrap_or_else(|problems| {
        ui.diagnostics(problems);
        NO_ANSWER
    }))
}

/// What a command exits with that cannot answer, though 1 would be an answer of it.
const NO_ANSWER: u8 = 2;

/// Returns what a command exits with whose flags cannot be read.
pub fn misuse_code(command: &str) -> u8 {
    match command {
        "policy check" | "policy lint" | "policy test" => NO_ANSWER,
        _ => 1,
    }
}

fn check(ui: &mut Ui, world: &Arc<World>, args: &CheckArgs) -> Result<u8, Diagnostics> {
    silence(ui, false)?;
    let detail = "The policy check command judges one folder.";
    let folder = at_most_one(&args.words, "Too many command line arguments", detail)?;
    let formats = [args.json, args.sarif, args.junit, args.markdown];
    if formats.iter().filter(|it| **it).count() > 1 {
        return Err(one_format());
    }
    let request = Request { variables: args.variables.sources()?, ..Request::default() };
    let options = CheckOptions {
        policies: (&args.choice).into(),
        folder: folder.map(Into::into),
        request,
        limits: args.limits.limits()?,
    };
    let checked = match workflow::check(&ui.host(world), &options) {
        Ok(checked) => checked,
        Err(problems) => {
            if args.json {
                let report = Report { problems: problems.clone(), ..Report::default() };
                ui.json(&format!("{:#}\n", report.to_json(args.possible, &ui.sources)));
            }
            ui.diagnostics(problems);
            return Ok(NO_ANSWER);
        }
    };
    let has_failed = checked.problems.has_errors();
    let report = &checked.report;
    let rules = &checked.rules;
    let possible = args.possible;
    match formats {
        [true, ..] => {
            // Programs find all that was told in the document.
            let mut told = report.clone();
            told.problems.extend(checked.problems.clone());
            ui.json(&format!("{:#}\n", told.to_json(possible, &ui.sources)));
        }
        [_, true, ..] => {
            ui.json(&format!("{:#}\n", view::sarif::document(report, rules, possible)))
        }
        [_, _, true, _] => {
            let suites = view::junit::suites(report, rules, possible);
            ui.out(&junit::document(Some("policies"), &suites));
        }
        [.., true] => ui.out(&view::markdown::document(report, possible)),
        _ => ui.out(&view::report(report, possible, &ui.style())),
    }
    if !args.json {
        ui.remarks(report.problems.clone());
    } else if !has_failed {
        return Ok(u8::from(report.is_denied()));
    }
    ui.remarks(checked.problems);
    Ok(match has_failed {
        true => 2,
        false => u8::from(report.is_denied()),
    })
}

fn one_format() -> Diagnostics {
    Diagnostic::error("More than one format")
        .detail("Of -json, -sarif, -junit and -markdown, only one can be written.")
        .into()
}

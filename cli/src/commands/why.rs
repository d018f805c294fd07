//! `why`: explains one decision of a plan.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::policies::PolicyChoice;
use entail::policy::why::Asked;
use entail::workflow::explain::{Form, PlanSource, WhyOptions, why};
use entail::workflow::why::{VerdictOptions, why_policy};
use entail::world::World;

use super::policy::LimitArgs;
use super::subject::AskedArgs;
use super::{at_most_one, silence, words};
use crate::arguments::groups::ReadStateArgs;
use crate::ui::Ui;

/// Explain one decision of the plan
///
/// Plans as `plan` would, changes nothing, and explains what is decided about an instance, an output (`output.NAME`), a module or
/// a provider: one sentence that answers, then its causes, in at most ten lines. With -plan, explains a saved plan. With -policy, explains why a
/// policy says what it says of an address, or why it says nothing: then it exits with 1. Only then -config may be given.
#[derive(clap::Args, Debug)]
pub struct WhyArgs {
    /// A plan; with -policy, or the configuration.
    #[command(flatten)]
    pub asked: AskedArgs,

    /// Say why this action is not taken: `create`, `update`, `replace`, `delete`, `select`, `exclude`
    #[arg(long, value_name = "ACTION")]
    pub not: Option<String>,

    /// Say which provider instance serves the object, and why that one
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub provider: bool,

    /// Say what the steps of the object wait for; without an address, only the longest way through the run
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub order: bool,

    /// Say why this relation holds of the address, such as `made_from` or `kept_until`; `facts -catalogue` lists them
    #[arg(long, value_name = "RELATION")]
    pub of: Option<String>,

    /// Say why this rule of a policy says what it says of the address, or why it does not; without an address, of the plan
    #[arg(long, value_name = "RULE")]
    pub policy: Option<String>,

    /// With -policy: have this file, folder or part of the library (library:NAME) in force, too; what `plan` calls -policy
    #[arg(long, value_name = "PATH|SOURCE")]
    pub policies: Vec<String>,

    /// What rules may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Show every line of the answer, and its proof: the rules that led there, and what they depend on
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub full: bool,

    /// How many steps back to go
    #[arg(long, value_name = "STEPS")]
    pub depth: Option<usize>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Where the state is read.
    #[command(flatten)]
    pub state: ReadStateArgs,

    /// What to explain
    #[arg(value_name = "[ADDRESS]", hide = true)]
    pub words: Vec<String>,
}

impl WhyArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn options(&self, ui: &Ui) -> Result<WhyOptions, Diagnostics> {
        let detail = "The why command expects exactly one argument: the address of an instance, or output.NAME.";
        let address = match self.order {
            true => at_most_one(&self.words, "Invalid number of arguments", detail)?,
            false => {
                let [address] = words(&self.words, "Invalid number of arguments", detail)?;
                Some(address.as_str())
            }
        };
        self.check()?;
        if self.asked.config || !self.policies.is_empty() {
            return Err(incompatible("The -config and -policies options are for -policy=RULE."));
        }
        Ok(WhyOptions {
            address: address.unwrap_or_default().to_owned(),
            order: self.order,
            not: self.not.clone(),
            provider: self.provider,
            relation: self.of.clone(),
            form: self.form(),
            full: self.full,
            subject: PlanSource {
                saved: self.asked.subject.plan.clone(),
                planning: self.asked.subject.planning(ui, (&self.state).into())?,
            },
        })
    }

    /// Returns what is asked of a policy, or what is wrong with the flags.
    pub fn verdict_options(&self, rule: &str, ui: &Ui) -> Result<VerdictOptions, Diagnostics> {
        let detail = "With -policy, the why command expects at most one argument: an address. Without one, the plan as a whole is meant.";
        let address = at_most_one(&self.words, "Invalid number of arguments", detail)?;
        self.check()?;
        let of = self.asked.of(ui, (&self.state).into())?;
        let asked = Asked {
            rule: rule.to_owned(),
            address: address.unwrap_or_default().to_owned(),
            limits: self.limits.limits()?,
        };
        let policies = PolicyChoice { named: self.policies.clone(), ..PolicyChoice::default() };
        Ok(VerdictOptions { asked, of, policies, form: self.form() })
    }

    fn check(&self) -> Result<(), Diagnostics> {
        if self.depth == Some(0) {
            return Err(Diagnostic::error("Invalid depth")
                .detail("The -depth option must be 1 or more.")
                .into());
        }
        let named = [
            (self.of.is_some(), "-of"),
            (self.policy.is_some(), "-policy"),
            (self.order, "-order"),
        ];
        let others = [self.not.is_some(), self.provider];
        match named.iter().filter(|it| it.0).map(|it| it.1).collect::<Vec<_>>().as_slice() {
            [] => Ok(()),
            [one] if others.contains(&true) => Err(incompatible(&format!(
                "The {one} option asks another question than -not and -provider. Use one of them."
            ))),
            [_] => Ok(()),
            [one, other, ..] => Err(incompatible(&format!(
                "The {one} option asks another question than {other}. Use one of them."
            ))),
        }
    }

    fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text(self.depth) }
    }
}

fn incompatible(detail: &str) -> Diagnostics {
    Diagnostic::error("Incompatible options").detail(detail).into()
}

/// Explains one decision, or one verdict. Exits with 1 if the plan has errors, or the verdict is not given.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &WhyArgs) -> Result<u8, Diagnostics> {
    silence(ui, args.asked.subject.input)?;
    if let Some(rule) = &args.policy {
        let options = args.verdict_options(rule, ui)?;
        let answered = why_policy(&ui.host(world), &options)?;
        ui.json_or_text(args.json, &answered.text);
        ui.remarks(answered.problems);
        return Ok(u8::from(!answered.is_given));
    }
    let options = args.options(ui)?;
    let explained = why(&ui.host(world), &options)?;
    ui.json_or_text(args.json, &explained.text);
    Ok(u8::from(explained.has_errors))
}

//! Judging while a plan is carried out: what was only possible is judged again whenever a step learns a value that it rests on.

use std::collections::BTreeSet;

use entail_rules::{Node, Tables};
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::judge::{tell_all, verdicts_of};
use super::model::Model;
use super::rules::{Level, Policies};
use super::verdict::{Overruling, Report, Verdict};
use super::waivers;
use crate::datalog::check::{Literal, Step};
use crate::datalog::evaluate::evaluate_over;
use crate::datalog::formula::Use;
use crate::datalog::{Database, Limits, Program, Tense};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::execute;
use crate::value::{Str, Value};

/// The denials of a plan that wait for values, and who waits with them.
pub struct Watch<'w> {
    policies: &'w Policies,
    model: &'w Model<'w>,
    limits: &'w Limits,
    overruled: &'w [Overruling],
    waivers: Vec<waivers::Written>,
    /// The rules whose denials are possible, with what they rest on.
    program: Program,
    /// What was told to them before they conclude anything.
    told: Database,
    /// The arguments that rules look at; nothing where any may be meant.
    names: Option<BTreeSet<Str>>,
    /// Denials that were told before.
    known: Mutex<FxHashSet<Denial>>,
    /// Who is told of each denial.
    tell: &'w (dyn Fn(&Verdict) + Sync),
}

/// Rule, address and message.
type Denial = (String, String, String);

impl<'w> Watch<'w> {
    /// Returns who watches the possible denials of a plan; nobody where it has none.
    pub fn of(
        policies: &'w Policies,
        (model, tables): (&'w Model<'w>, &[&dyn Tables]),
        report: &Report,
        (overruled, limits): (&'w [Overruling], &'w Limits),
        tell: &'w (dyn Fn(&Verdict) + Sync),
    ) -> Option<Watch<'w>> {
        let waits = |it: &&Verdict| {
            let is_settled = it.waived.is_some() || it.overridden.is_some();
            it.level == Level::Deny && !it.is_certain && !is_settled
        };
        let open: BTreeSet<&str> =
            report.verdicts.iter().filter(waits).map(|it| it.name.as_str()).collect();
        if open.is_empty() {
            return None;
        }
        let is_open = |it: usize| open.contains(policies.rules[it].shown.as_str());
        let program = policies.program.keep_rules(|it| policies.info[it].is_none_or(is_open));
        let goals: Vec<usize> = program.relation("deny").into_iter().collect();
        let program = program.for_goals(&goals);
        let (waivers, _) = waivers::find(model.sources);
        let in_force = waivers::in_force(&waivers, model);
        let told = tell_all(&program, model, tables, &in_force);
        let known = report.verdicts.iter().filter(|it| it.is_certain).map(denial).collect();
        let names = names(&program);
        let known = Mutex::new(known);
        Some(Watch {
            policies,
            model,
            limits,
            overruled,
            waivers,
            program,
            told,
            names,
            known,
            tell,
        })
    }

    /// Whether a value says more than was known of an object, of what some rule looks at.
    fn is_news(&self, node: Node, value: &Value) -> bool {
        let learned = self.model.memo.learned.lock().get(&node.0).cloned();
        let change = self.model.plan.as_ref().and_then(|it| it.change(node));
        let Some(old) = learned.or_else(|| change.map(|it| it.after.clone())) else { return true };
        let (old, new) = (old.bare(), value.bare());
        let is_read = |name: &Str| self.names.as_ref().is_none_or(|it| it.contains(name));
        let at =
            |name: &Str| new.entries().into_iter().find(|it| it.0 == *name).map(|it| it.1.clone());
        old.entries().into_iter().any(|(name, known)| {
            is_read(&name) && !known.is_wholly_known() && at(&name).as_ref() != Some(known)
        })
    }

    /// Judges again what was possible. Returns denials that are certain by now and nobody was told of.
    fn judged(&self) -> Result<Vec<Verdict>, Diagnostics> {
        self.model.memo.known.lock().clear();
        let mut database = self.told.clone();
        evaluate_over(&self.program, &mut database, Some(self.model), self.limits)
            .map_err(|it| super::judge::stopped(&self.program, self.model, it, self.limits))?;
        let mut report = Report {
            verdicts: verdicts_of(self.policies, self.model, &self.program, &database),
            ..Report::default()
        };
        waivers::apply(&mut report, &self.waivers, self.policies, self.model);
        report.overrule(self.overruled);
        let mut known = self.known.lock();
        let is_new = |it: &Verdict| it.counts() && it.level == Level::Deny;
        Ok(report
            .verdicts
            .into_iter()
            .filter(is_new)
            .filter(|it| known.insert(denial(it)))
            .collect())
    }
}

impl execute::Watch for Watch<'_> {
    fn learn(&self, node: Node, value: &Value) -> Diagnostics {
        let is_news = self.is_news(node, value);
        self.model.memo.learned.lock().insert(node.0, value.clone());
        if !is_news {
            return Diagnostics::new();
        }
        match self.judged() {
            Ok(denials) => {
                denials.iter().for_each(self.tell);
                Diagnostics(denials.iter().map(|it| self.denied(node, it)).collect())
            }
            Err(problems) => problems,
        }
    }
}

impl Watch<'_> {
    fn denied(&self, node: Node, verdict: &Verdict) -> Diagnostic {
        let help = verdict.rule.help.as_ref().map_or(String::new(), |it| format!("\n\nHelp: {it}"));
        let address = self.model.address(node);
        let problem = Diagnostic::error(format!("Denied by policy {}", verdict.name)).detail(format!(
            "{}\n\nThat became known with {address}, whose step ends here: what was done is recorded, and what comes after it is not done.{help}",
            verdict.message
        ));
        let problem = problem.about(address);
        match self.model.declared(node) {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}

fn denial(verdict: &Verdict) -> Denial {
    (verdict.name.clone(), verdict.address.clone(), verdict.message.clone())
}

/// The first steps of all references to nodes as they will be; nothing where any may be meant.
fn names(program: &Program) -> Option<BTreeSet<Str>> {
    // What outputs and variables are rests on anything.
    let rests_on = |name: &str| program.relation(name).is_some_and(|it| program.rests_on(it));
    if rests_on("model::value") {
        return None;
    }
    let mut names = BTreeSet::new();
    for literal in program.rules.iter().flat_map(|it| &it.body) {
        match literal {
            Literal::Refers(it, _)
            | Literal::Lacks(it, _)
            | Literal::Member(_, it)
            | Literal::AggregateOf { reference: it, .. } => match it.steps.first() {
                Some(Step::Name(name)) => drop(names.insert(name.clone())),
                _ => return None,
            },
            Literal::If(it) | Literal::Compute(_, it)
                if it.uses.iter().any(|it| it.2 == Use::Whole(Tense::Planned)) =>
            {
                return None;
            }
            _ => {}
        }
    }
    Some(names)
}

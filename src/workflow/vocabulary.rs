//! The public relations that the vocabulary or policies conclude: their rows, and why each is there.

use super::asking::{Asked, AskedOf, Question, ask};
use super::explain::{Explained, Form, PlanSource, WhyOptions, before_plan};
use super::host::Host;
use super::why::lines;
use crate::datalog::Limits;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::explain::render::align;
use crate::operation::explain::{ExplainContext, Relation};
use crate::operation::models;
use crate::policy::model::{Memo, Model};
use crate::policy::query::{Answer, Scope, Subject, rows_of};
use crate::policy::reference::vocabulary_policies;
use crate::policy::why::{self, Decisions, why_rows};
use crate::world::PROGRAM;

/// Public relations that may be known before any provider is asked.
const EARLY: &[&str] = &["each_key", "served_by"];

/// Returns the rows of a public relation. Rows that are only possible are counted in a warning.
///
/// # Errors
///
/// If no plan can be made, or its rules take too much.
pub(super) fn rows(
    host: &Host<'_>,
    subject: &PlanSource,
    name: &str,
) -> Result<Relation, Diagnostics> {
    let is_early = subject.saved.is_none() && EARLY.contains(&name);
    let early = if is_early { early(host, subject, name)? } else { None };
    let Answer { columns, certain, possible, problems } = match early {
        Some((answer, true)) => answer,
        early => match planned(host, subject, name) {
            Ok(answer) => answer,
            Err(problems) => {
                let (answer, _) = early.ok_or_else(|| problems.clone())?;
                host.tell.problems(problems);
                answer
            }
        },
    };
    host.tell.problems(problems);
    if !possible.is_empty() {
        host.tell.problems(only_possible(name, columns.len(), possible.len()).into());
    }
    let literals = certain.iter().map(|row| {
        let cells = row.iter().zip(&columns);
        cells.map(|(cell, kind)| cell.literal(kind)).collect()
    });
    Ok((name.to_owned(), literals.collect()))
}

/// Returns the rows as a plan has them.
fn planned(host: &Host<'_>, subject: &PlanSource, name: &str) -> Result<Answer, Diagnostics> {
    let policies = &subject.planning.policies;
    let mut asking = Rows { name, limits: &policies.limits, answer: None };
    let by = (&policies.choice, &policies.limits);
    let warnings = ask(host, &asked_of(subject), by, &mut asking)?;
    host.tell.problems(warnings);
    Ok(asking.answer.unwrap_or_default())
}

fn asked_of(subject: &PlanSource) -> AskedOf {
    match &subject.saved {
        Some(path) => AskedOf::Saved(path.clone()),
        None => AskedOf::Plan(Box::new(subject.planning.clone())),
    }
}

/// Returns the rows that are known before any provider is asked, and whether these are all.
fn early(
    host: &Host<'_>,
    subject: &PlanSource,
    name: &str,
) -> Result<Option<(Answer, bool)>, Diagnostics> {
    let (session, known, _) = before_plan(host, &subject.planning)?;
    let Ok(known) = known else { return Ok(None) };
    let facts = &known.lowered.facts;
    let open = [facts.pending.len(), facts.call_keys.len(), known.providers.awaits.len()];
    let variables = Default::default();
    let policies = vocabulary_policies();
    let model = Model {
        values: policies.values().clone(),
        memo: Memo::around(&session.graph),
        ..models::of_lowered(&session, &known.lowered, &variables)
    };
    let subject = Subject {
        model: &model,
        tables: &[facts, &known.providers],
        waivers: &[],
        scope: Scope::Configuration,
    };
    // No column of these relations holds a number that only a plan has a name for.
    let names = |_: &str, word: u64| word.to_string();
    let answer = rows_of(policies, name, &subject, &names, &Limits::default())?;
    Ok(Some((answer, open == [0; 3])))
}

struct Rows<'a> {
    name: &'a str,
    limits: &'a Limits,
    answer: Option<Answer>,
}

impl Question for Rows<'_> {
    fn prepare(&mut self, _: &crate::policy::Policies) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn ask(&mut self, asked: &Asked<'_>) -> Result<(), Diagnostics> {
        let context: ExplainContext = (asked.context)()?;
        let names = |kind: &str, word: u64| context.word(kind, word);
        let found = rows_of(asked.policies, self.name, &asked.subject, &names, self.limits)?;
        self.answer = Some(found);
        Ok(())
    }
}

fn only_possible(name: &str, columns: usize, count: usize) -> Diagnostic {
    let rows = if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
    let names: Vec<String> = (1..=columns).map(|it| format!("c{it}")).collect();
    Diagnostic::warning("Possible rows left out").detail(format!(
        "{rows} only possible, because not everything is known yet. To see them, run: {PROGRAM} query '{name}({})'",
        names.join(", ")
    ))
}

/// Answers why a public relation says what it says of an address.
///
/// # Errors
///
/// If nothing has the address, no plan can be made, or its rules take too much.
pub(super) fn why_of(
    host: &Host<'_>,
    options: &WhyOptions,
    relation: &str,
) -> Result<Explained, Diagnostics> {
    let planning = &options.subject.planning;
    let limits = &planning.policies.limits;
    let address = &options.address;
    let mut asking = Proofs { relation, address, limits, answer: None };
    let choice = &planning.policies.choice;
    let warnings = ask(host, &asked_of(&options.subject), (choice, limits), &mut asking)?;
    host.tell.problems(warnings);
    let sound = |text| Explained { text, has_errors: false };
    let Some(answer) = asking.answer else { return Ok(sound(String::new())) };
    host.tell.problems(answer.problems.clone());
    Ok(sound(match options.form {
        Form::Json => format!("{:#}\n", answer.document),
        Form::Text(depth) => align(&lines(&answer, depth.unwrap_or(usize::MAX))),
    }))
}

struct Proofs<'a> {
    relation: &'a str,
    address: &'a str,
    limits: &'a Limits,
    answer: Option<why::Answer>,
}

impl Question for Proofs<'_> {
    fn prepare(&mut self, _: &crate::policy::Policies) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn ask(&mut self, asked: &Asked<'_>) -> Result<(), Diagnostics> {
        let context = (asked.context)()?;
        let known = |names: &[&str]| context.known(names);
        let decisions = Decisions { known: &known, leaves: &context };
        let of = (self.relation, self.address);
        self.answer = Some(why_rows(asked.policies, &asked.subject, of, self.limits, decisions)?);
        Ok(())
    }
}

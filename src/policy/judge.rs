//! Judging: rules over facts and values become verdicts.

use std::collections::BTreeSet;

use entail_rules::Tables;

use super::elsewhere::Elsewhere;
use super::model::Model;
use super::proof::Explainer;
use super::rules::{JUDGING, Policies, Waiver};
use super::verdict::Report;
use super::{told, waivers};
use crate::datalog::query::NAME;
use crate::datalog::{Database, Domain, Exceeded, Failure, Limits, Program, Stopped, kinds};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::reason::{ENGINES, Engine};

mod verdicts;

pub(super) use verdicts::{info_of, of as verdicts_of};

/// Rules and what they concluded.
pub struct Judged {
    /// The rules that were evaluated.
    pub program: Program,
    /// Their conclusions.
    pub database: Database,
    /// The verdicts.
    pub report: Report,
}

/// Judges a configuration, or a plan.
///
/// - `tables`: the facts of the planner, and what it concluded from them.
///
/// # Errors
///
/// If the rules take more than they may.
pub fn judge(
    policies: &Policies,
    model: &Model<'_>,
    tables: &[&dyn Tables],
    waivers: &[waivers::Written],
    limits: &Limits,
) -> Result<Judged, Diagnostics> {
    let mut report = Report::default();
    let program = to_evaluate(policies, model.plan.is_some(), &mut report);
    let in_force = waivers::in_force(waivers, model);
    let (database, problems) = evaluated(&program, model, tables, &in_force, limits)?;
    report.problems.extend(problems);
    report.verdicts = verdicts::of(policies, model, &program, &database);
    waivers::apply(&mut report, waivers, policies, model);
    explain(model, &program, &database, &mut report);
    let objects = ["resource", "data_source", "ephemeral_resource"];
    let objects = objects.iter().filter_map(|it| program.relation(it));
    report.resources = objects.map(|it| database.table(it).positions().count()).sum();
    Ok(Judged { program, database, report })
}

/// Returns what rules conclude about a model, with warnings of what could not be evaluated.
///
/// # Errors
///
/// If the rules take more than they may.
pub(super) fn evaluated(
    program: &Program,
    model: &Model<'_>,
    tables: &[&dyn Tables],
    waivers: &[Waiver],
    limits: &Limits,
) -> Result<(Database, Diagnostics), Diagnostics> {
    let mut database = tell_all(program, model, tables, waivers);
    let engine = model.elsewhere.map_or(ENGINES[0] as &dyn Engine, Elsewhere::engine);
    let failures = engine
        .evaluate(program, &mut database, Some(model), limits)
        .map_err(|it| stopped(program, model, it, limits))?;
    let problems = failures.iter().map(|it| failed(program, model, it)).collect();
    Ok((database, Diagnostics(problems)))
}

/// Returns what rules conclude about a model that nobody has waived anything of.
///
/// # Errors
///
/// If the rules take more than the limits allow.
pub fn concluded(
    program: &Program,
    model: &Model<'_>,
    tables: &[&dyn Tables],
    limits: &Limits,
) -> Result<Database, Diagnostics> {
    Ok(evaluated(program, model, tables, &[], limits)?.0)
}

/// Returns what rules are told before they conclude anything.
pub(super) fn tell_all(
    program: &Program,
    model: &Model<'_>,
    tables: &[&dyn Tables],
    waivers: &[Waiver],
) -> Database {
    let mut database = Database::new(program);
    if let Some(elsewhere) = model.elsewhere {
        elsewhere.tell(program, &mut database);
        return database;
    }
    for tables in tables {
        give(program, *tables, &mut database);
    }
    told::tell(model, waivers, program, &mut database);
    database
}

/// The rules that the verdicts rest on, and those that count what is judged. Rules that need a plan are named where there is none.
fn to_evaluate(policies: &Policies, has_plan: bool, report: &mut Report) -> Program {
    let is_judging = |head: &BTreeSet<String>| JUDGING.iter().any(|it| head.contains(it.0));
    let mut rules = 0;
    for rule in policies.rules.iter().filter(|it| is_judging(&it.heads)) {
        match rule.needs_plan && !has_plan {
            true => report.not_judged.push(rule.shown.clone()),
            false => rules += 1,
        }
    }
    report.rules = rules;
    let wanted = |at: usize| match policies.info[at] {
        Some(info) => has_plan || !policies.rules[info].needs_plan,
        None => true,
    };
    let program = policies.program.keep_rules(wanted);
    let heads = JUDGING.iter().map(|it| it.0);
    let counted = ["resource", "data_source", "ephemeral_resource", "destroyed"];
    let goals: Vec<usize> = heads.chain(counted).filter_map(|it| program.relation(it)).collect();
    program.for_goals(&goals)
}

/// Gives the rows that some rule reads, under the names by which policies know them.
fn give(program: &Program, tables: &dyn Tables, database: &mut Database) {
    let mut row = Vec::new();
    tables.for_each_relation(&mut |relation, rows| {
        let number = program.relation(&format!("core::{}", relation.name));
        let Some(number) = number.filter(|it| program.rests_on(*it)) else { return };
        let numbers: Vec<bool> = relation.columns.iter().map(|it| kinds::is_number(it)).collect();
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            for (word, is_number) in row.iter_mut().zip(&numbers) {
                if *is_number {
                    *word = program.values.number(word.cast_signed());
                }
            }
            database.give(number, &row);
        }
    });
}

/// How many verdicts are told with what they rest on.
const EXPLAINED: usize = 100;

/// How many steps back a verdict is explained where it is listed.
const STEPS: usize = 2;

fn explain(model: &Model<'_>, program: &Program, database: &Database, report: &mut Report) {
    let core = |_: &str, _: &[u64]| Vec::new();
    let explainer = Explainer { program, database, model, core: &core, deepest: STEPS };
    for verdict in report.verdicts.iter_mut().take(EXPLAINED) {
        verdict.why = explainer.lines(verdict.row.0, verdict.row.1);
    }
}

/// Says why rules were not evaluated to their end.
pub(super) fn stopped(
    program: &Program,
    model: &Model<'_>,
    it: Stopped,
    limits: &Limits,
) -> Diagnostics {
    match it {
        Stopped::Exceeded(it) => exceeded(program, model, &it, limits),
        Stopped::Failed(problem) => (*problem).into(),
    }
}

/// Says what rules took too much of.
fn exceeded(program: &Program, model: &Model<'_>, it: &Exceeded, limits: &Limits) -> Diagnostics {
    let rule = &program.rules[it.rule];
    let (what, unit) = match it.limit {
        "rows" => (format!("concluded more than {} rows", limits.rows), "NUMBER"),
        "steps" => (format!("took more than {} steps", limits.steps), "NUMBER"),
        _ => (format!("took longer than {} s", limits.time.as_secs()), "SECONDS"),
    };
    let place = rule.places.get(it.premise).copied().unwrap_or(rule.span);
    // The vocabulary is no file that anybody could look into.
    let premise = model.sources.text(place).filter(|it| !it.is_empty());
    let premise = premise.map_or(String::new(), |it| format!("`{it}` of "));
    Diagnostic::error("Policies take too much")
        .detail(format!(
            "The rules {what} when {premise}{} was evaluated. Premises that have no variable in common pair everything with everything: give them one, or put what they share into a relation of its own. If it is meant so, raise the bound: -policy-limit={}={unit}.",
            called(program, rule), it.limit
        ))
        .at(place)
        .within(rule.span)
        .into()
}

/// What a rule is called: its name, or what it concludes.
fn called(program: &Program, rule: &crate::datalog::check::Rule) -> String {
    match rule.sentence.is_empty() {
        true => format!("the rule that concludes `{}`", program.shown_name(rule.head)),
        false => format!("the rule `{}`", rule.name),
    }
}

fn failed(program: &Program, model: &Model<'_>, failure: &Failure) -> Diagnostic {
    let rule = &program.rules[failure.rule];
    let node = rule.kinds.iter().zip(&failure.values).find_map(|(kind, word)| {
        (kind == kinds::NODE).then_some(*word).flatten().map(|it| model.show(kind, it))
    });
    let why = failure.problems.iter().find(|it| it.is_error());
    let why = why.map_or(String::new(), |it| format!("{}: {}", it.summary, it.detail));
    let of = node.map_or(String::new(), |it| format!(" for {it}"));
    let place = failure.problems.iter().find_map(|it| it.subject).unwrap_or(rule.span);
    let (summary, what, which) = match rule.name.as_str() {
        NAME => ("An expression of the query failed", "the query".to_owned(), "the row"),
        _ => ("An expression of a policy failed", called(program, rule), "what it says"),
    };
    Diagnostic::warning(summary)
        .detail(format!(
            "It could not be decided whether {what} holds{of}, so that {which} is only possible. {why}"
        ))
        .at(place)
}

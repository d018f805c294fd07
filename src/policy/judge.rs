//! Judging: rules over facts and values become verdicts.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Node, Tables, atom::Atom};

use super::model::Model;
use super::proof::Explainer;
use super::rules::{JUDGING, Level, Policies, SHAPING, Waiver};
use super::verdict::{Report, Verdict, level_of};
use super::{told, waivers};
use crate::datalog::evaluate::{binding, evaluate_over};
use crate::datalog::query::NAME;
use crate::datalog::{Database, Domain, Exceeded, Failure, Limits, Program, Values, kinds, values};
use crate::diagnostic::{Diagnostic, Diagnostics};

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
    let in_force = waivers::in_force(waivers, model);
    let has_plan = model.plan.is_some();
    let program = to_evaluate(policies, has_plan, &mut report);
    let (database, failed) = conclude(&program, model, tables, &in_force, limits)?;
    report.problems.extend(failed);
    verdicts(policies, model, &program, &database, &mut report);
    waivers::apply(&mut report, waivers, policies, model);
    explain(model, &program, &database, &mut report);
    let objects = ["resource", "data_source", "ephemeral_resource"];
    let objects = objects.iter().filter_map(|it| program.relation(it));
    report.resources = objects.map(|it| database.table(it).positions().count()).sum();
    Ok(Judged { program, database, report })
}

/// Evaluates rules over what is told of a model. Returns what they conclude, and the expressions that failed.
pub(super) fn conclude(
    program: &Program,
    model: &Model<'_>,
    tables: &[&dyn Tables],
    in_force: &[Waiver],
    limits: &Limits,
) -> Result<(Database, Diagnostics), Diagnostics> {
    let mut database = Database::new(program);
    for tables in tables {
        give(program, *tables, &mut database);
    }
    told::tell(model, in_force, program, &mut database);
    let failures = evaluate_over(program, &mut database, Some(model), limits)
        .map_err(|it| exceeded(program, &it, limits))?;
    let failed: Vec<_> = failures.iter().map(|it| failed(program, model, it)).collect();
    Ok((database, Diagnostics::from(failed)))
}

/// The rules that the verdicts rest on, and those that count what is judged. Rules that need a plan are named where there is none.
fn to_evaluate(policies: &Policies, has_plan: bool, report: &mut Report) -> Program {
    let is_judging = |head: &BTreeSet<String>| JUDGING.iter().any(|it| head.contains(it.0));
    let mut rules = 0;
    for rule in policies.rules.iter().filter(|it| is_judging(&it.heads)) {
        match rule.needs_plan && !has_plan {
            true => report.not_judged.push(shown_name(policies, rule)),
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

fn verdicts(
    policies: &Policies,
    model: &Model<'_>,
    program: &Program,
    database: &Database,
    report: &mut Report,
) {
    let mut certain: BTreeSet<(usize, Node)> = BTreeSet::new();
    let mut found: Vec<(usize, Node, Verdict)> = Vec::new();
    let destroyed = program.relation("destroyed").map(|it| database.table(it));
    for (head, level) in JUDGING {
        let Some(relation) = program.relation(head) else { continue };
        let table = database.table(relation);
        let is_protecting = *head == "protect";
        for position in table.positions() {
            let row = table.row(position);
            let Some((node, info)) = place_of(row, &program.values) else { continue };
            let rule = &policies.rules[info];
            if !is_in_charge(rule, model, node) {
                continue;
            }
            // What would destroy it is refused, also where it only may be protected.
            if is_protecting && destroyed.is_none_or(|it| it.position(&row[..1]).is_none()) {
                continue;
            }
            let is_certain = is_protecting || table.is_certain(position);
            if is_certain {
                certain.insert((info, node));
            }
            let message = row.get(1).map_or(String::new(), |it| program.values.show(*it));
            let place = model.declared(node).and_then(|span| {
                let at = model.sources.position(span.file, span.start);
                Some((model.sources.get(span.file)?.name.clone(), at.line, at.column))
            });
            let bound = binding(program, database, Some(model), relation, position);
            let sentence = sentence(&rule.sentence, bound.as_ref(), program, model);
            let waits_for = match is_certain {
                true => Vec::new(),
                false => waits(bound.as_ref(), program, model),
            };
            found.push((
                info,
                node,
                Verdict {
                    name: shown_name(policies, rule),
                    level: level_of(*level, rule),
                    is_certain,
                    address: model.address(node),
                    message,
                    sentence,
                    place,
                    waived: None,
                    overridden: None,
                    waits_for,
                    why: Vec::new(),
                    row: (relation, position),
                    rule: rule.clone(),
                },
            ));
        }
    }
    // What is certain of a place needs no possibility beside it.
    found.retain(|(info, node, it)| it.is_certain || !certain.contains(&(*info, *node)));
    report.verdicts = found.into_iter().map(|it| it.2).collect();
    report.verdicts.sort_by(|a, b| {
        let key = |it: &Verdict| {
            (it.level, it.name.clone(), it.address.clone(), it.message.clone(), it.is_certain)
        };
        key(a).cmp(&key(b))
    });
    report.verdicts.dedup_by(|a, b| {
        a.name == b.name && a.address == b.address && a.message == b.message && a.level == b.level
    });
}

/// How many verdicts are told with what they rest on; `why` tells of any.
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

/// The node that a row is about, and the rule that it comes of.
fn place_of(row: &[u64], known: &Values) -> Option<(Node, usize)> {
    let node = Node::from_word(*row.first()?)?;
    let info = known.value(*row.last()?)?.as_int()?;
    Some((node, usize::try_from(info).ok()?))
}

/// Whether a rule may say something of a node: one of a called module may only of what is in its instances.
fn is_in_charge(rule: &super::rules::RuleInfo, model: &Model<'_>, node: Node) -> bool {
    rule.module.as_ref().is_none_or(|module| model.is_within(node, module))
}

/// The name of a rule; with its group before it where another group has a rule of that name.
pub(super) fn shown_name(policies: &Policies, rule: &super::rules::RuleInfo) -> String {
    let others = policies.rules.iter().filter(|it| it.name == rule.name && it.group != rule.group);
    match others.count() {
        0 => rule.name.clone(),
        _ => format!("{}:{}", rule.group, rule.name),
    }
}

/// A sentence with its variables filled in.
fn sentence(
    sentence: &str,
    bound: Option<&(usize, Vec<Option<u64>>)>,
    program: &Program,
    model: &Model<'_>,
) -> String {
    let Some((rule, words)) = bound else { return sentence.replace('`', "") };
    let rule = &program.rules[*rule];
    let mut filled: BTreeMap<&str, String> = BTreeMap::new();
    for (at, name) in rule.variables.iter().enumerate() {
        if let Some(word) = words[at] {
            let shown = match values::is_value(word) {
                true => program.values.show(word),
                false => model.show(&rule.kinds[at], word).to_string(),
            };
            filled.insert(name, shown);
        }
    }
    let parts = sentence.split('`').enumerate().map(|(at, part)| match at % 2 {
        1 => filled.get(part).cloned().unwrap_or_else(|| part.to_owned()),
        _ => part.to_owned(),
    });
    parts.collect()
}

/// What is not known yet of what a possible verdict rests on.
fn waits(
    bound: Option<&(usize, Vec<Option<u64>>)>,
    program: &Program,
    model: &Model<'_>,
) -> Vec<String> {
    use crate::datalog::check::Literal;
    let Some((rule, words)) = bound else { return Vec::new() };
    let rule = &program.rules[*rule];
    let mut found = BTreeSet::new();
    for literal in &rule.body {
        let (Literal::Refers(reference, _)
        | Literal::Lacks(reference, _)
        | Literal::Member(_, reference)
        | Literal::AggregateOf { reference, .. }) = literal
        else {
            continue;
        };
        let Some(word) = words[reference.root].filter(|it| !values::is_value(*it)) else {
            continue;
        };
        let Some(value) = model.value_of(reference.tense.of_node(word)) else { continue };
        let address = model.show(&rule.kinds[reference.root], word);
        if let Some(path) = reference.first_unknown(&value) {
            found.insert(format!("{address}{path}"));
        }
    }
    found.into_iter().collect()
}

fn exceeded(program: &Program, it: &Exceeded, limits: &Limits) -> Diagnostics {
    let rule = &program.rules[it.rule];
    let what = match it.limit {
        "rows" => format!("more than {} rows", limits.rows),
        "steps" => format!("more than {} steps", limits.steps),
        _ => format!("longer than {} s", limits.time.as_secs()),
    };
    let place = rule.places.get(it.premise).copied().unwrap_or(rule.span);
    Diagnostic::error("Policies take too much")
        .detail(format!(
            "The rules took {what} when `{}` was evaluated. Parts of a rule that have no variable in common pair everything with everything; give them one, or raise the bound with -policy-limit={}=NUMBER.",
            rule.name, it.limit
        ))
        .at(place)
        .within(rule.span)
        .into()
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
        NAME => ("An expression of the query failed", "The query".to_owned(), "the row"),
        name => ("An expression of a policy failed", format!("The rule `{name}`"), "its verdict"),
    };
    Diagnostic::warning(summary)
        .detail(format!("{what} could not be decided{of}, so that {which} is only possible. {why}"))
        .at(place)
}

/// Returns whether a head shapes a plan.
pub fn is_shaping(head: &str) -> bool {
    SHAPING.contains(&head) && head != "protect"
}

/// Returns the level of a judging head.
pub fn level(head: &str) -> Option<Level> {
    JUDGING.iter().find(|it| it.0 == head).map(|it| it.1)
}

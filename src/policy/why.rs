//! Why a rule says what it says of a place, or why it says nothing.

use crate::world::PROGRAM;
use std::collections::HashMap;

use entail_rules::Node;
use serde_json::{Value as Json, json};

use super::judge::{self, Judged};
use super::model::Model;
use super::proof::{Explainer, Line, Proof};
use super::query::{Scope, Subject};
use super::rules::{Level, Policies, RuleInfo};
use super::verdict::{Overruling, Verdict};
use super::waivers;
use super::why_not::{Failed, why_not};
use crate::datalog::{Domain, Limits, kinds, values};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::explain::{Known, Leaves, render};

/// What is asked of a verdict.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The rule's name; with its group before it where another group has one of that name.
    pub rule: String,
    /// The address; empty for the plan as a whole.
    pub address: String,
    /// What the rules may take.
    pub limits: Limits,
}

/// What the planner's own decisions are explained from.
#[derive(Clone, Copy)]
pub struct Decisions<'a> {
    /// Concludes what some relations rest on, and them, in a way that remembers why.
    pub known: &'a dyn Fn(&[&str]) -> Known,
    /// What ids are called, and where facts come from.
    pub leaves: &'a dyn Leaves,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whether the verdict is given, and nobody has waived or overruled it.
    pub is_given: bool,
    /// Line by line.
    pub lines: Vec<Line>,
    /// As a document.
    pub document: Json,
    /// What else should be known.
    pub problems: Diagnostics,
}

impl Policies {
    /// Returns the rules of a name.
    ///
    /// # Errors
    ///
    /// If no policy in force has a rule of that name.
    pub fn rules_of_name(&self, name: &str) -> Result<Vec<usize>, Diagnostic> {
        let is_meant =
            |it: &&usize| self.rules[**it].name == name || full_name(&self.rules[**it]) == name;
        let all: Vec<usize> = (0..self.rules.len()).collect();
        let found: Vec<usize> = all.iter().filter(is_meant).copied().collect();
        if found.is_empty() { Err(self.no_such_rule(name)) } else { Ok(found) }
    }

    fn no_such_rule(&self, name: &str) -> Diagnostic {
        let mut names: Vec<&str> = self.rules.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let distance = |it: &&str| strsim::damerau_levenshtein(it, name);
        let near = names.iter().copied().min_by_key(distance);
        let near = near.filter(|it| distance(it) <= 1 + name.len() / 4);
        let shipped = super::reference::file_of(name);
        let hint = match (near, shipped) {
            (Some(near), _) => format!(" Did you mean {near}?"),
            (None, Some(file)) => {
                format!(" It is one of the library: -policies=library:{file} has it in force.")
            }
            (None, None) if names.is_empty() => " No policies are in force.".to_owned(),
            (None, None) => format!(" {PROGRAM} policy list names those in force."),
        };
        Diagnostic::error("Unknown rule")
            .detail(format!("No policy in force has a rule called {name}.{hint}"))
    }
}

/// A rule's name with its group before it.
fn full_name(rule: &RuleInfo) -> String {
    format!("{}:{}", rule.group, rule.name)
}

/// Answers why a rule says something of a place, or why it does not.
///
/// - `overruled`: the denials that were overruled when a saved plan was made.
///
/// # Errors
///
/// If there is no such rule or address, or judging takes too much.
pub fn why(
    policies: &Policies,
    subject: &Subject<'_>,
    asked: &Asked,
    overruled: &[Overruling],
    decisions: Decisions<'_>,
) -> Result<Answer, Diagnostics> {
    let rules = policies.rules_of_name(&asked.rule)?;
    let Subject { model, tables, waivers, .. } = *subject;
    let node = find(model, &asked.address)?;
    let mut judged = judge::judge(policies, model, tables, waivers, &asked.limits)?;
    judged.report.overrule(overruled);
    let names: Vec<String> = rules.iter().map(|it| policies.rules[*it].shown.clone()).collect();
    let is_of_rule = |it: &&Verdict| names.contains(&it.name);
    let of_rule: Vec<&Verdict> = judged.report.verdicts.iter().filter(is_of_rule).collect();
    let here = of_rule.iter().filter(|it| it.address == asked.address).copied().collect::<Vec<_>>();
    if !here.is_empty() {
        return Ok(Given { judged: &judged, subject, decisions }.answer(asked, &here));
    }
    let elsewhere: Vec<&str> = of_rule.iter().map(|it| it.address.as_str()).collect();
    let missing = Missing { policies, subject, rules: &rules, node, judged: &judged };
    missing.answer(asked, &elsewhere)
}

/// What of a plan or a configuration has an address.
fn find(model: &Model<'_>, address: &str) -> Result<Node, Diagnostic> {
    if let Some(elsewhere) = model.elsewhere {
        return elsewhere.find(address).ok_or_else(|| {
            Diagnostic::error("Nothing has that address")
                .detail(format!("{address} is in no stack that was read."))
        });
    }
    let objects = (0..model.structure.nodes.len() as u32).map(Node);
    let modules = (0..model.structure.modules.len() as u32)
        .map(|it| model.module_node(crate::lower::structure::ModuleId(it)));
    let all = std::iter::once(model.whole()).chain(objects).chain(modules);
    let mut names: Vec<(String, Node)> = all.map(|it| (model.address(it), it)).collect();
    if let Some(at) = names.iter().position(|it| it.0 == address) {
        return Ok(names.swap_remove(at).1);
    }
    let distance = |it: &&(String, Node)| (strsim::levenshtein(&it.0, address), it.0.clone());
    let placed = names.iter().filter(|it| model.declared(it.1).is_some());
    let near = placed.min_by_key(distance).filter(|it| distance(it).0 <= 6);
    let hint = near.map_or(String::new(), |it| format!(" Did you mean {}?", it.0));
    Err(Diagnostic::error("Nothing has that address")
        .detail(format!("{address} is neither declared nor in the state.{hint}")))
}

/// Answers why a public relation says what it says of a place: the proof of each row that is about it, or that mentions it where no
/// row is about it.
///
/// # Errors
///
/// If nothing has that address, or the rules take more than the limits allow.
pub fn why_rows(
    policies: &Policies,
    subject: &Subject<'_>,
    (relation, address): (&str, &str),
    limits: &Limits,
    decisions: Decisions<'_>,
) -> Result<Answer, Diagnostics> {
    let &Subject { model, tables, waivers, .. } = subject;
    let Some(number) = policies.program.relation(relation) else {
        return Err(super::catalogue::no_such_relation(relation).into());
    };
    let node = find(model, address)?;
    let program = policies.program.for_goals(&[number]);
    let in_force = waivers::in_force(waivers, model);
    let (database, problems) = judge::evaluated(&program, model, tables, &in_force, limits)?;
    let table = database.table(number);
    let columns = program.relations[number].columns.iter().enumerate();
    let about = columns.filter(|it| it.1 == kinds::NODE).find_map(|(column, _)| {
        let is_named = |it: &usize| table.row(*it)[column] == entail_rules::Atom::word(node);
        Some(table.positions().filter(is_named).collect::<Vec<_>>()).filter(|it| !it.is_empty())
    });
    let silent = |_: &str, _: &[u64]| Vec::new();
    let (program, database) = (&program, &database);
    let explainer = |core| Explainer { program, database, model, core, deepest: usize::MAX };
    let mut about = about.unwrap_or_default();
    let columns = &program.relations[number].columns;
    about.sort_by_cached_key(|it| shown_row(model, columns, table.row(*it)));
    let about = about.into_iter();
    let proofs: Vec<Proof> = about.map(|it| explainer(&silent).proof(number, it)).collect();
    let planner = Planner::of(&explainer(&silent), &proofs, decisions);
    let core = |name: &str, row: &[u64]| planner.lines(name, row);
    let explainer = explainer(&core);
    let mut lines: Vec<Line> = proofs.iter().flat_map(|it| explainer.told(it)).collect();
    if lines.is_empty() {
        let text = format!("{relation} says nothing of {address}.");
        lines.push(Line { depth: 0, text, place: String::new() });
    }
    let document = |name: &str, row: &[u64]| planner.document(name, row);
    let documents = proofs.iter().map(|it| explainer.document(it, &document));
    let document = json!({ "address": address, "proofs": documents.collect::<Vec<_>>() });
    Ok(Answer { is_given: !proofs.is_empty(), lines, document, problems })
}

/// The cells of a row as they are shown.
fn shown_row(model: &Model<'_>, columns: &[String], row: &[u64]) -> Vec<String> {
    let cells = row.iter().zip(columns);
    let shown = cells.map(|(word, kind)| match values::is_value(*word) {
        true => model.values.show(*word),
        false => model.show(kind, *word).to_string(),
    });
    shown.collect()
}

/// A verdict that is there.
struct Given<'a> {
    judged: &'a Judged,
    subject: &'a Subject<'a>,
    decisions: Decisions<'a>,
}

impl Given<'_> {
    fn answer(&self, asked: &Asked, verdicts: &[&Verdict]) -> Answer {
        let Judged { program, database, .. } = self.judged;
        let silent = |_: &str, _: &[u64]| Vec::new();
        let model = self.subject.model;
        let explainer = |core| Explainer { program, database, model, core, deepest: usize::MAX };
        let proofs: Vec<Proof> =
            verdicts.iter().map(|it| explainer(&silent).proof(it.row.0, it.row.1)).collect();
        let planner = Planner::of(&explainer(&silent), &proofs, self.decisions);
        let core = |name: &str, row: &[u64]| planner.lines(name, row);
        let explainer = explainer(&core);
        let (mut lines, mut documents) = (Vec::new(), Vec::new());
        for (verdict, proof) in verdicts.iter().zip(&proofs) {
            lines.push(head(verdict));
            let deeper = |it: Line| Line { depth: it.depth + 1, ..it };
            lines.extend(explainer.told(proof).into_iter().map(deeper));
            lines.extend(tail(verdict));
            let mut document = verdict.to_json();
            document["proof"] = explainer.document(proof, &|name, row| planner.document(name, row));
            documents.push(document);
        }
        let is_given = verdicts.iter().any(|it| it.waived.is_none() && it.overridden.is_none());
        Answer {
            is_given,
            lines,
            document: json!({
                "format_version": "1.0",
                "rule": asked.rule,
                "address": asked.address,
                "given": is_given,
                "verdicts": documents,
            }),
            problems: Diagnostics::new(),
        }
    }
}

/// What is said, and of what.
fn head(verdict: &Verdict) -> Line {
    let what = match (verdict.level, verdict.is_certain) {
        (Level::Deny, true) => "is denied",
        (Level::Deny, false) => "may be denied",
        (Level::Warn, true) => "gets a warning",
        (Level::Warn, false) => "may get a warning",
        (Level::Note, true) => "gets a note",
        (Level::Note, false) => "may get a note",
    };
    let place =
        verdict.place.as_ref().map(|(file, line, column)| format!("{file}:{line},{column}"));
    Line {
        depth: 0,
        text: format!("{} {what}: {}", named(&verdict.address), verdict.message),
        place: place.unwrap_or_default(),
    }
}

/// What else there is to say of a verdict.
fn tail(verdict: &Verdict) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut say = |text: String, place: String| lines.push(Line { depth: 0, text, place });
    if !verdict.waits_for.is_empty() {
        say(format!("It waits for {}", verdict.waits_for.join(", ")), String::new());
    }
    if let Some(waived) = &verdict.waived {
        let until = waived.until.as_ref().map_or(String::new(), |it| format!(" until {it}"));
        let place = format!("{}:{}", waived.file, waived.line);
        say(format!("It is waived{until}: {}", waived.reason), place);
    }
    if let Some(because) = &verdict.overridden {
        say(format!("It is overridden: {because}"), "-override".to_owned());
    }
    lines
}

fn named(address: &str) -> &str {
    if address.is_empty() { "The plan" } else { address }
}

/// What the planner concluded, with its own proofs.
struct Planner<'a> {
    known: Known,
    leaves: &'a dyn Leaves,
    /// The relations that have columns of numbers, which policies see as values.
    numbers: HashMap<&'static str, Vec<bool>>,
    values: &'a crate::datalog::Values,
}

impl<'a> Planner<'a> {
    /// Concludes again what some proofs end at.
    fn of(explainer: &Explainer<'a>, proofs: &[Proof], decisions: Decisions<'a>) -> Planner<'a> {
        let steps = proofs.iter().flat_map(|it| &it.steps);
        let names = steps.map(|it| explainer.program.relations[it.relation].name.as_str());
        let mut named: Vec<&str> = names.filter_map(|it| it.strip_prefix("core::")).collect();
        named.sort_unstable();
        named.dedup();
        let catalogue = crate::reason::catalogue::catalogue().iter();
        let numbers = catalogue.map(|it| {
            let columns = it.relation.columns.iter().map(|it| kinds::is_number(it));
            (it.relation.name, columns.collect())
        });
        let numbers = numbers.collect();
        let known = (decisions.known)(&named);
        Planner { known, leaves: decisions.leaves, numbers, values: &explainer.program.values }
    }

    /// A row of the planner's as it knows it.
    fn row(&self, name: &str, row: &[u64]) -> Vec<u64> {
        let numbers = self.numbers.get(name);
        let is_number = |at: usize| numbers.is_some_and(|it| it.get(at) == Some(&true));
        let words = row.iter().enumerate().map(|(at, word)| match is_number(at) {
            true => {
                let value = self.values.value(*word).and_then(|it| it.as_int());
                value.map_or(*word, i64::cast_unsigned)
            }
            false => *word,
        });
        words.collect()
    }

    fn lines(&self, name: &str, row: &[u64]) -> Vec<render::Line> {
        let proof = self.known.why(name, &self.row(name, row));
        proof.map_or(Vec::new(), |it| render::lines(&it, self.leaves))
    }

    fn document(&self, name: &str, row: &[u64]) -> Option<Json> {
        let proof = self.known.why(name, &self.row(name, row))?;
        Some(crate::explain::to_json(&proof, self.leaves))
    }
}

/// A verdict that is not there.
struct Missing<'a> {
    policies: &'a Policies,
    subject: &'a Subject<'a>,
    /// The rules of the name.
    rules: &'a [usize],
    node: Node,
    judged: &'a Judged,
}

impl Missing<'_> {
    fn answer(&self, asked: &Asked, elsewhere: &[&str]) -> Result<Answer, Diagnostics> {
        let (policies, model) = (self.policies, self.subject.model);
        let mut lines = vec![Line {
            depth: 0,
            text: format!(
                "{} says nothing of {}",
                asked.rule,
                match asked.address.as_str() {
                    "" => "the plan",
                    address => address,
                }
            ),
            place: model.declared(self.node).map_or(String::new(), |it| model.sources.place(it)),
        }];
        let (mut documents, mut reasons) = (Vec::new(), Vec::new());
        for rule in self.rules {
            let info = &policies.rules[*rule];
            if let Some(reason) = self.not_judged(info) {
                let place = model.sources.place(info.span);
                lines.push(Line { depth: 1, text: reason.clone(), place });
                reasons.push(reason);
                continue;
            }
            let written: Vec<usize> = (0..policies.program.rules.len())
                .filter(|it| policies.info[*it] == Some(*rule))
                .collect();
            let word = entail_rules::Atom::word(self.node);
            let found = why_not(policies, self.subject, (&written, word), &asked.limits)?;
            if found.is_empty() {
                let reason = self.though_met(info);
                lines.push(Line {
                    depth: 1,
                    text: reason.clone(),
                    place: model.sources.place(info.span),
                });
                reasons.push(reason);
            }
            found.iter().for_each(|it| it.tell(1, &mut lines));
            documents.extend(found.iter().map(Failed::to_json));
        }
        if !elsewhere.is_empty() {
            let (count, shown) = (elsewhere.len(), &elsewhere[..elsewhere.len().min(5)]);
            let shown: Vec<&str> = shown.iter().map(|it| named(it)).collect();
            let more = count.saturating_sub(shown.len());
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let text = format!("It says something of {}{more}", shown.join(", "));
            lines.push(Line { depth: 0, text, place: String::new() });
        }
        let document = json!({
            "format_version": "1.0",
            "rule": asked.rule,
            "address": asked.address,
            "given": false,
            "verdicts": [],
            "reasons": reasons,
            "attempts": documents,
            "elsewhere": elsewhere,
        });
        Ok(Answer { is_given: false, lines, document, problems: Diagnostics::new() })
    }

    /// Why a rule does not judge this at all.
    fn not_judged(&self, info: &RuleInfo) -> Option<String> {
        let model = self.subject.model;
        if self.subject.scope == Scope::Configuration && info.needs_plan {
            return Some(
                "it rests on what a plan does, or on what exists: it is judged with a plan only, without -config"
                    .to_owned(),
            );
        }
        let is_within = info.modules.iter().any(|it| model.is_within(self.node, it));
        (!info.modules.is_empty() && !is_within).then(|| {
            let modules = info.modules.join(", ");
            format!("it stands in module {modules}, and judges what that makes alone")
        })
    }

    /// Why a rule says nothing though all of its body is met.
    fn though_met(&self, info: &RuleInfo) -> String {
        let is_possible = self.judged.report.verdicts.iter().any(|it| it.name == info.name);
        match info.heads.contains("protect") {
            true => "it protects it, and the plan does not destroy it".to_owned(),
            false if is_possible => "what it says there, another rule of its name says".to_owned(),
            false => "nothing that it concludes is a verdict here".to_owned(),
        }
    }
}

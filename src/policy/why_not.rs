//! Why a rule says nothing of a place: for each rule of that name, the part of its body that fails there, and why that fails.

use serde_json::{Value as Json, json};

use super::judge::evaluated;
use super::proof::{Application, Explainer, Line};
use super::query::{Scope, Subject};
use super::rules::Policies;
use super::waivers;
use crate::datalog::check::{Literal, Pattern, Term};
use crate::datalog::prefix::Prefixes;
use crate::datalog::{Database, Limits, Program, values};
use crate::diagnostic::Diagnostics;

/// How many steps back it is looked for what fails.
const DEEPEST: usize = 3;

/// How many rules are tried in all.
const MOST: usize = 24;

/// How many of several things that are there are named.
const SHOWN: usize = 3;

/// Why a rule concludes nothing of what is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The rule: its name, or what it concludes.
    pub rule: String,
    /// Where it stands.
    pub place: String,
    /// How many parts of its body are met together, counted from the first.
    pub met: usize,
    /// What fails.
    pub text: String,
    /// Where that stands in the rule.
    pub at: String,
    /// The rules that could have concluded what fails, or the proof of what should not be there.
    pub because: Because,
}

/// What is behind something that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// Nothing more is said.
    Nothing,
    /// None of these rules concludes it.
    Rules(Vec<Failed>),
    /// It is there, though it should not be.
    Holds(Vec<Line>),
}

/// Looks for what fails in each of some rules, where their conclusions begin with a word.
///
/// # Errors
///
/// If that takes too much.
pub fn why_not(
    policies: &Policies,
    subject: &Subject<'_>,
    (rules, first): (&[usize], u64),
    limits: &Limits,
) -> Result<Vec<Failed>, Diagnostics> {
    let mut search = Search { policies, subject, limits, followed: Vec::new() };
    search.rules(rules, &[Some(first)], 0)
}

struct Search<'a> {
    policies: &'a Policies,
    subject: &'a Subject<'a>,
    limits: &'a Limits,
    /// What has been asked already: a rule, and the words of its conclusion.
    followed: Vec<(usize, Vec<Option<u64>>)>,
}

impl Search<'_> {
    fn rules(
        &mut self,
        rules: &[usize],
        wanted: &[Option<u64>],
        depth: usize,
    ) -> Result<Vec<Failed>, Diagnostics> {
        let mut program = self.policies.program.clone();
        let rules_before = program.rules.len();
        let mut asked: Vec<Prefixes> = Vec::new();
        for rule in rules {
            let what = (*rule, wanted.to_vec());
            if self.followed.len() >= MOST || self.followed.contains(&what) {
                continue;
            }
            self.followed.push(what);
            asked.extend(program.add_prefixes(*rule, wanted));
        }
        let goals: Vec<usize> = asked.iter().flat_map(|it| it.relations.clone()).collect();
        let is_judged = |it: usize| {
            self.subject.scope != Scope::Configuration
                || self.policies.is_judged_by_configuration(it)
        };
        let tried = program.keep_rules(|it| it >= rules_before || is_judged(it));
        let tried = tried.for_goals(&goals);
        let Subject { model, tables, waivers, .. } = *self.subject;
        let in_force = waivers::in_force(waivers, model);
        let (database, _) = evaluated(&tried, model, tables, &in_force, self.limits)?;
        let mut found = Vec::new();
        for prefixes in &asked {
            let what = Tried { program: &program, evaluated: &tried, database: &database };
            found.extend(self.failed(&what, prefixes, depth)?);
        }
        Ok(found)
    }

    /// What fails in one rule; nothing where all of it is met.
    fn failed(
        &mut self,
        tried: &Tried<'_>,
        prefixes: &Prefixes,
        depth: usize,
    ) -> Result<Option<Failed>, Diagnostics> {
        let rule = &tried.program.rules[prefixes.rule];
        let is_met = |it: &usize| !tried.database.table(prefixes.relations[*it]).is_empty();
        let met = (0..=rule.body.len()).rev().find(is_met).unwrap_or(0);
        let Some(literal) = rule.body.get(met) else { return Ok(None) };
        let table = tried.database.table(prefixes.relations[met]);
        let mut rows: Vec<usize> = table.positions().collect();
        rows.sort_by_key(|it| !table.is_certain(*it));
        let words = rows.first().map(|it| prefixes.words(tried.program, met, table.row(*it)));
        let words = words.unwrap_or_else(|| vec![None; rule.variables.len()]);
        let application = Application { rule: prefixes.rule, words, premises: Vec::new() };
        let explainer = Explainer {
            program: tried.program,
            database: tried.database,
            model: self.subject.model,
            core: &|_, _| Vec::new(),
            deepest: usize::MAX,
        };
        let text = explainer.literal(&application, met);
        let (text, because) = match literal {
            Literal::Holds(pattern) => {
                let because = self.rules_of(pattern, &application.words, depth)?;
                (format!("{text} does not hold"), because)
            }
            Literal::Absent(pattern) => {
                let holds = tried.first(pattern, &application.words);
                let lines = holds.map(|it| lines_of(tried, self.subject, pattern.relation, it));
                (format!("{text} holds"), lines.map_or(Because::Nothing, Because::Holds))
            }
            Literal::Refers(reference, Some(_)) => {
                let found = explainer.reached(&application, reference);
                (format!("{text} does not hold: {}", shown(&found)), Because::Nothing)
            }
            Literal::Refers(reference, None) | Literal::Member(_, reference) => {
                let _ = reference;
                (format!("there is no {text}"), Because::Nothing)
            }
            Literal::Lacks(reference, _) => {
                let found = explainer.reached(&application, reference);
                (format!("there is {text}: {}", shown(&found)), Because::Nothing)
            }
            Literal::If(_) => {
                (format!("{} is not true", text.trim_start_matches("if ")), Because::Nothing)
            }
            _ => (format!("{text} has no value"), Because::Nothing),
        };
        let span = rule.places.get(met).copied().unwrap_or(rule.span);
        Ok(Some(Failed {
            rule: self.policies.called(prefixes.rule),
            place: self.subject.model.sources.place(rule.span),
            met,
            text,
            at: explainer.place(span),
            because,
        }))
    }

    /// Why nothing concludes what a pattern wants, where policies could have.
    fn rules_of(
        &mut self,
        pattern: &Pattern,
        words: &[Option<u64>],
        depth: usize,
    ) -> Result<Because, Diagnostics> {
        let program = &self.policies.program;
        let all = program.rules.iter().enumerate();
        let concluding = all.filter(|it| it.1.head == pattern.relation && !it.1.group.is_empty());
        let concluding: Vec<usize> = concluding.map(|it| it.0).collect();
        if concluding.is_empty() || depth + 1 >= DEEPEST {
            return Ok(Because::Nothing);
        }
        let wanted: Vec<Option<u64>> = pattern.terms.iter().map(|it| word_of(it, words)).collect();
        let found = self.rules(&concluding, &wanted, depth + 1)?;
        Ok(if found.is_empty() { Because::Nothing } else { Because::Rules(found) })
    }
}

/// What came of an evaluation of prefixes.
struct Tried<'a> {
    /// All rules, by the numbers that they have.
    program: &'a Program,
    /// Those that were evaluated, as rows remember them.
    evaluated: &'a Program,
    database: &'a Database,
}

impl Tried<'_> {
    /// The first row that a pattern matches.
    fn first(&self, pattern: &Pattern, words: &[Option<u64>]) -> Option<usize> {
        let table = self.database.table(pattern.relation);
        let wanted: Vec<_> = pattern.terms.iter().map(|it| word_of(it, words)).collect();
        let fits = |position: &usize| {
            let row = table.row(*position).iter().zip(&wanted);
            row.clone()
                .all(|(word, wanted)| wanted.is_none_or(|it| values::key(it) == values::key(*word)))
        };
        let mut positions = table.positions();
        positions.find(fits)
    }
}

fn word_of(term: &Term, words: &[Option<u64>]) -> Option<u64> {
    match term {
        Term::Any => None,
        Term::Word(it) => Some(*it),
        Term::Variable(it) => words[*it],
        Term::InTense(tense, it) => Some(tense.of_node(words[*it]?)),
    }
}

fn lines_of(
    tried: &Tried<'_>,
    subject: &Subject<'_>,
    relation: usize,
    position: usize,
) -> Vec<Line> {
    let explainer = Explainer {
        program: tried.evaluated,
        database: tried.database,
        model: subject.model,
        core: &|_, _| Vec::new(),
        deepest: usize::MAX,
    };
    explainer.lines(relation, position)
}

fn shown(found: &[String]) -> String {
    let mut named: Vec<String> = found.iter().take(SHOWN).cloned().collect();
    if let more @ 1.. = found.len().saturating_sub(SHOWN) {
        named.push(format!("{more} more"));
    }
    match named.len() {
        0 => "there is nothing".to_owned(),
        _ => format!("there is {}", named.join(", ")),
    }
}

impl Failed {
    /// Adds it line by line.
    pub fn tell(&self, depth: usize, lines: &mut Vec<Line>) {
        lines.push(Line { depth, text: self.text.clone(), place: self.at.clone() });
        match &self.because {
            Because::Nothing => {}
            Because::Rules(failed) => failed.iter().for_each(|it| it.tell(depth + 1, lines)),
            Because::Holds(told) => lines
                .extend(told.iter().map(|it| Line { depth: it.depth + depth + 1, ..it.clone() })),
        }
    }

    /// Returns it as a document.
    pub fn to_json(&self) -> Json {
        let mut document = json!({
            "rule": self.rule,
            "place": self.place,
            "met": self.met,
            "fails": self.text,
            "at": Some(&self.at).filter(|it| !it.is_empty()),
        });
        match &self.because {
            Because::Nothing => {}
            Because::Rules(failed) => {
                document["because"] = failed.iter().map(Failed::to_json).collect();
            }
            Because::Holds(lines) => {
                let lines = lines.iter().map(|it| {
                    json!({
                        "depth": it.depth,
                        "sentence": it.text,
                        "place": Some(&it.place).filter(|it| !it.is_empty()),
                    })
                });
                document["holds"] = lines.collect();
            }
        }
        document
    }
}

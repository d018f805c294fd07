//! Matches one rule: rows, references and expressions, depth first, with what is certain and what is only possible.
//!
//! What is not known yet may be anything: a match that rests on it is possible, not certain. A negation crosses over: it is certain
//! where nothing possible is there, and possible where nothing certain is.

use crate::diagnostic::Diagnostics;
use crate::value::{Type, convert};

use super::aggregate;
use super::check::{Literal, Pattern, Program, Rule, Term, Value};
use super::database::{Database, Table};
use super::domain::{Domain, Tense};
use super::evaluate::{compare, compute};
use super::formula::Formula;
use super::joiner::UNSEEN;
use super::limits::Spent;
use super::plan::{Range, Step};
use super::values;

mod chains;
mod found;
mod references;
mod words;

pub(super) use found::Found;

/// An expression that failed on the way to a conclusion.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The rule.
    pub rule: usize,
    /// The words of its variables, where they had any.
    pub values: Vec<Option<u64>>,
    /// Why.
    pub problems: Diagnostics,
}

/// The words of a rule's variables, where they have any.
pub type Bound = Vec<Option<u64>>;

/// Matches the steps of one rule. Rules are short, so the recursion is shallow.
pub(super) struct Matcher<'a> {
    program: &'a Program,
    number: usize,
    rule: &'a Rule,
    steps: &'a [Step<'a>],
    database: &'a Database,
    domain: Option<&'a dyn Domain>,
    values: Vec<Option<u64>>,
    undo: Vec<(usize, Option<u64>)>,
    premises: Vec<u32>,
    /// The rows that some premises are to be, by position; none where all are open.
    given: &'a [u32],
    is_certain: bool,
    failed: Option<Diagnostics>,
    found: Found,
    /// The one match that is wanted, with its conclusion: for proofs.
    wanted: Option<(&'a [u64], Option<Bound>)>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(
        program: &'a Program,
        number: usize,
        steps: &'a [Step<'a>],
        premises: usize,
        database: &'a Database,
        domain: Option<&'a dyn Domain>,
    ) -> Matcher<'a> {
        let rule = &program.rules[number];
        Matcher {
            program,
            number,
            rule,
            steps,
            database,
            domain,
            values: vec![None; rule.variables.len()],
            undo: Vec::new(),
            premises: vec![0; premises],
            given: &[],
            is_certain: true,
            failed: None,
            found: Found::default(),
            wanted: None,
        }
    }

    pub(super) fn run(&mut self, spent: &mut Spent) {
        self.matches(0, spent);
    }

    /// Goes on from rows that fit together.
    pub(super) fn run_from(&mut self, given: &'a [u32], spent: &mut Spent) {
        self.given = given;
        self.matches(0, spent);
    }

    pub(super) fn into_found(self) -> Found {
        self.found
    }

    /// Returns what the variables are where the rule concludes this row.
    pub(super) fn binding(mut self, row: &'a [u64], spent: &mut Spent) -> Option<Vec<Option<u64>>> {
        self.wanted = Some((row, None));
        self.matches(0, spent);
        self.wanted?.1
    }

    fn matches(&mut self, at: usize, spent: &mut Spent) {
        if spent.exceeded.is_some() || self.wanted.as_ref().is_some_and(|it| it.1.is_some()) {
            return;
        }
        let steps = self.steps;
        match steps.get(at) {
            None => self.conclude(spent),
            Some(Step::Scan { premise, pattern, index, range }) => {
                self.scan((at, *premise), pattern, *index, *range, spent);
            }
            Some(Step::Absent(pattern, index)) => match self.holds(pattern, *index) {
                Some(true) => {}
                held => self.go_on(at, held.is_none(), spent),
            },
            Some(Step::Test(literal)) => self.test(at, literal, spent),
            Some(Step::Aggregate(literal, index)) => self.aggregate(at, literal, *index, spent),
        }
    }

    /// Goes on behind a step, and comes back to what was known before it.
    fn go_on(&mut self, at: usize, is_certain: bool, spent: &mut Spent) {
        let before = self.is_certain;
        self.is_certain &= is_certain;
        self.matches(at + 1, spent);
        self.is_certain = before;
    }

    fn conclude(&mut self, spent: &mut Spent) {
        let start = self.found.rows.len();
        for term in &self.rule.terms {
            let word = match term {
                Value::Message(parts) => Some(self.message(parts)),
                term => compute(term, &self.values),
            };
            let Some(word) = word else { return self.found.rows.truncate(start) };
            self.found.rows.push(word);
        }
        self.found.met += 1;
        if let Some((row, binding)) = &mut self.wanted {
            if self.found.rows[start..] == **row {
                *binding = Some(self.values.clone());
            }
            return self.found.rows.truncate(start);
        }
        if let (Some(problems), None) = (&self.failed, &self.found.failure) {
            let (rule, values, problems) = (self.number, self.values.clone(), problems.clone());
            self.found.failure = Some(Failure { rule, values, problems });
        }
        let table = &self.database.tables[self.rule.head];
        let known = table.position(&self.found.rows[start..]);
        if known.is_some_and(|it| table.is_certain(it) || !self.is_certain) {
            return self.found.rows.truncate(start);
        }
        spent.row(self.number, self.rule.body.len().saturating_sub(1));
        self.found.premises.extend_from_slice(&self.premises);
        self.found.certain.push(self.is_certain);
    }

    fn scan(
        &mut self,
        place: (usize, usize),
        pattern: &'a Pattern,
        index: Option<usize>,
        range: Range,
        spent: &mut Spent,
    ) {
        if let Some(&position) = self.given.get(place.1).filter(|it| **it != UNSEEN) {
            return self.try_row(place, pattern, position as usize, spent);
        }
        let table = &self.database.tables[pattern.relation];
        match index.filter(|_| !self.is_open(pattern)) {
            Some(index) => {
                for newest in self.chains(table, index, pattern) {
                    for position in table.chain(index, newest) {
                        if position < range.from {
                            break;
                        }
                        if position < range.to {
                            self.try_row(place, pattern, position, spent);
                        }
                    }
                }
                for &position in table.open(index) {
                    if (range.from..range.to).contains(&(position as usize)) {
                        self.try_row(place, pattern, position as usize, spent);
                    }
                }
            }
            None => {
                for position in range.from..range.to {
                    self.try_row(place, pattern, position, spent);
                }
            }
        }
    }

    /// Goes on with the variables that this row gives, if it matches, and takes them back.
    fn try_row(
        &mut self,
        (at, premise): (usize, usize),
        pattern: &Pattern,
        position: usize,
        spent: &mut Spent,
    ) {
        if !spent.step(self.number, at) {
            return;
        }
        let table = &self.database.tables[pattern.relation];
        // What a row rested on may have become certain since: it is found again all the same.
        if table.is_replaced(position) && self.wanted.is_none() {
            return;
        }
        let (undo, before) = (self.undo.len(), self.is_certain);
        self.is_certain &= table.is_certain(position);
        let mut terms = pattern.terms.iter().zip(table.row(position));
        if terms.all(|(term, word)| self.unify(term, *word)) {
            self.premises[premise] = position as u32;
            self.matches(at + 1, spent);
        }
        self.restore(undo, before);
    }

    fn restore(&mut self, undo: usize, is_certain: bool) {
        while self.undo.len() > undo {
            let Some((variable, before)) = self.undo.pop() else { break };
            self.values[variable] = before;
        }
        self.is_certain = is_certain;
    }

    /// Makes a term this word, if it can be. What is only possible is not certain from here on.
    fn unify(&mut self, term: &Term, word: u64) -> bool {
        match term {
            Term::Any => true,
            Term::Word(it) => self.meets(*it, word),
            Term::Variable(it) => self.unify_variable(*it, word),
            Term::InTense(tense, it) => {
                let (found, node) = Tense::split(word);
                found == *tense && self.unify_variable(*it, node)
            }
        }
    }

    fn unify_variable(&mut self, variable: usize, word: u64) -> bool {
        let before = self.values[variable];
        match before {
            Some(known) if !self.meets(known, word) => return false,
            // The more that is known of it, and of its being secret, the better.
            Some(known) => {
                let better = self.program.values.narrower(known, word);
                let better = match values::is_secret(known) || values::is_secret(word) {
                    true => values::secret(better),
                    false => better,
                };
                if better == known {
                    return true;
                }
                self.values[variable] = Some(better);
            }
            None => self.values[variable] = Some(word),
        }
        self.undo.push((variable, before));
        true
    }

    fn meets(&mut self, one: u64, other: u64) -> bool {
        if one == other && values::is_one(one) {
            return true;
        }
        if !self.program.has_values {
            return one == other;
        }
        self.program.values.same(one, other).unwrap_or_else(|| {
            self.is_certain = false;
            true
        })
    }

    /// Returns whether a row matches: for certain, perhaps, or none does.
    fn holds(&mut self, pattern: &'a Pattern, index: Option<usize>) -> Option<bool> {
        let mut held = None;
        self.rows(pattern, index, &mut |_, is_certain| {
            held = Some(is_certain || held == Some(true));
            !is_certain
        });
        held
    }

    /// Shows every row that matches, and whether for certain, until `see` has seen enough.
    fn rows(
        &mut self,
        pattern: &'a Pattern,
        index: Option<usize>,
        see: &mut dyn FnMut(&[u64], bool) -> bool,
    ) {
        let table = &self.database.tables[pattern.relation];
        let Some(index) = index.filter(|_| !self.is_open(pattern)) else {
            for position in 0..table.len() {
                if !self.see_row(table, pattern, position, see) {
                    return;
                }
            }
            return;
        };
        let open = table.open(index).iter().map(|it| *it as usize);
        let same = self.chains(table, index, pattern);
        for position in same.flat_map(|it| table.chain(index, it)).chain(open) {
            if !self.see_row(table, pattern, position, see) {
                return;
            }
        }
    }

    /// Shows a row if it matches, and returns whether others are wanted.
    fn see_row(
        &mut self,
        table: &Table,
        pattern: &Pattern,
        position: usize,
        see: &mut dyn FnMut(&[u64], bool) -> bool,
    ) -> bool {
        if table.is_replaced(position) {
            return true;
        }
        let (undo, before) = (self.undo.len(), self.is_certain);
        self.is_certain = table.is_certain(position);
        let row = table.row(position);
        let fits = pattern.terms.iter().zip(row).all(|(term, word)| self.unify(term, *word));
        let is_certain = self.is_certain;
        self.restore(undo, before);
        !fits || see(row, is_certain)
    }

    fn test(&mut self, at: usize, literal: &'a Literal, spent: &mut Spent) {
        if !spent.step(self.number, at) {
            return;
        }
        match literal {
            Literal::Compare(comparison, left, right) => {
                let sides = (compute(left, &self.values), compute(right, &self.values));
                if let (Some(left), Some(right)) = sides
                    && compare(*comparison, left, right)
                {
                    self.matches(at + 1, spent);
                }
            }
            Literal::Let(variable, value) => {
                if let Some(word) = compute(value, &self.values) {
                    self.with(at, *variable, word, true, spent);
                }
            }
            Literal::Refers(reference, equals) => self.refers(at, reference, *equals, spent),
            Literal::Lacks(reference, equals) => match self.leads(reference, *equals) {
                Some(true) => {}
                led => self.go_on(at, led.is_none(), spent),
            },
            Literal::Member(variable, reference) => self.member(at, *variable, reference, spent),
            Literal::If(formula) => self.condition(at, formula, spent),
            Literal::Compute(variable, formula) => {
                let (value, problems) = self.formula(formula);
                let word = self.word_of(*variable, formula, &value);
                self.attempt(problems, |matcher, is_certain| {
                    matcher.with(at, *variable, word, is_certain, spent);
                });
            }
            Literal::AggregateOf { result, function, over, reference } => {
                let counted = self.over_reference(*over, reference);
                self.counted(at, *result, aggregate::compute(*function, &counted), spent);
            }
            Literal::Holds(_) | Literal::Absent(_) | Literal::Aggregate { .. } => {}
        }
    }

    /// Goes on with a variable's value, unless it has another one.
    fn with(&mut self, at: usize, variable: usize, word: u64, is_certain: bool, spent: &mut Spent) {
        let (undo, before) = (self.undo.len(), self.is_certain);
        self.is_certain &= is_certain;
        if self.unify_variable(variable, word) {
            self.matches(at + 1, spent);
        }
        self.restore(undo, before);
    }

    /// Does something with a value whose expression may have failed: then it is only possible, and is told if it matters.
    fn attempt(&mut self, problems: Diagnostics, go_on: impl FnOnce(&mut Self, bool)) {
        let has_failed = problems.has_errors();
        let before = self.failed.clone();
        if has_failed && self.failed.is_none() {
            self.failed = Some(problems);
        }
        go_on(self, !has_failed);
        self.failed = before;
    }

    fn condition(&mut self, at: usize, formula: &Formula, spent: &mut Spent) {
        let (value, mut problems) = self.formula(formula);
        let converted = convert(&value, Type::BOOL).ok().filter(|it| !it.is_null());
        if converted.is_none() && !problems.has_errors() {
            problems.push(super::problem::no_truth(formula.span));
        }
        let truth = converted.and_then(|it| it.as_bool());
        match truth {
            Some(false) if !problems.has_errors() => {}
            truth => self.attempt(problems, |matcher, is_certain| {
                matcher.go_on(at, is_certain && truth == Some(true), spent);
            }),
        }
    }
}

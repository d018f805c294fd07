//! What tests of rules ask of an evaluation: how far a rule comes, and whether it would conclude more without one of its premises.

use super::check::{Literal, Part, Program, Rule, Value};
use super::database::Database;
use super::domain::Domain;
use super::evaluate;
use super::limits::{Limits, Spent};
use super::matcher::{Found, Matcher};
use super::plan::{self, Range};

/// A finished evaluation that is asked what its rules would do otherwise. Nothing is added to it but indexes.
pub struct Probe<'a> {
    program: Program,
    database: &'a mut Database,
    domain: Option<&'a dyn Domain>,
}

impl<'a> Probe<'a> {
    /// Returns a probe of what was evaluated.
    pub fn new(
        program: &Program,
        database: &'a mut Database,
        domain: Option<&'a dyn Domain>,
    ) -> Probe<'a> {
        Probe { program: program.clone(), database, domain }
    }

    /// Returns how many premises of a rule are met together, counted from the first, in the order in which they are read.
    pub fn reached(&mut self, rule: usize) -> usize {
        let whole = self.program.rules[rule].clone();
        let is_met = |it: &usize| {
            let body = whole.body[..*it].to_vec();
            self.program.rules[rule] = Rule { body, terms: Vec::new(), ..whole.clone() };
            self.binds(rule)
        };
        let reached = (1..=whole.body.len()).rev().find(is_met).unwrap_or(0);
        self.program.rules[rule] = whole;
        reached
    }

    /// Returns whether a rule would conclude something new without one of its premises; nothing where it says nothing then,
    /// because a variable would have no value.
    pub fn gains_without(&mut self, rule: usize, premise: usize) -> Option<bool> {
        let less = without(&self.program.rules[rule], premise)?;
        let whole = std::mem::replace(&mut self.program.rules[rule], less);
        let found = self.found(rule);
        self.program.rules[rule] = whole;
        Some(!found.certain.is_empty())
    }

    /// Whether the body of a rule without a head is met.
    fn binds(&mut self, rule: usize) -> bool {
        let ranges = self.ranges(rule);
        let steps = plan::plan(&self.program.rules[rule], &ranges, None, self.database);
        let matcher =
            Matcher::new(&self.program, rule, &steps, ranges.len(), self.database, self.domain);
        matcher.binding(&[], &mut Spent::new(&Limits::default())).is_some()
    }

    fn found(&mut self, rule: usize) -> Found {
        let ranges = self.ranges(rule);
        let steps = plan::plan(&self.program.rules[rule], &ranges, None, self.database);
        let mut matcher =
            Matcher::new(&self.program, rule, &steps, ranges.len(), self.database, self.domain);
        matcher.run(&mut Spent::new(&Limits::default()));
        matcher.into_found()
    }

    fn ranges(&self, rule: usize) -> Vec<Range> {
        let all = |relation: usize| Range { from: 0, to: self.database.table(relation).len() };
        evaluate::positive(&self.program.rules[rule]).map(|it| all(it.1.relation)).collect()
    }
}

/// Returns a rule without one of its premises; nothing where a variable would have no value then.
pub fn without(rule: &Rule, premise: usize) -> Option<Rule> {
    let mut less = rule.clone();
    if premise >= less.body.len() {
        return None;
    }
    less.body.remove(premise);
    if premise < less.places.len() {
        less.places.remove(premise);
    }
    is_safe(&less).then_some(less)
}

/// Whether everything in a rule that needs a value gets one.
fn is_safe(rule: &Rule) -> bool {
    let mut bound = vec![false; rule.variables.len()];
    let mut waiting: Vec<(Option<usize>, &Literal)> =
        rule.body.iter().map(|it| (None, it)).collect();
    while !waiting.is_empty() {
        let can_be_decided = |it: &&Literal| matches!(it, Literal::Holds(_));
        let next = waiting
            .iter()
            .position(|it| can_be_decided(&it.1) || plan::is_ready(it.1, &waiting, &bound));
        let Some(next) = next else { return false };
        plan::bind(waiting.remove(next).1, &mut bound);
    }
    rule.terms.iter().all(|it| match it {
        Value::Message(parts) => parts.iter().all(|it| match it {
            Part::Text(_) => true,
            Part::Variable(it) => bound[*it],
            Part::Reference(it) => bound[it.root],
        }),
        other => plan::is_known(other, &bound),
    })
}

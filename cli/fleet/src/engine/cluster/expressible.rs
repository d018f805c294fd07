//! Which relations a cluster can conclude: those whose rules say nothing but which rows of tables are there, and which are not.

use std::collections::BTreeSet;

use entail::datalog::Program;
use entail::datalog::check::{Literal, Pattern, Rule, Term, Value};

use super::tables::{of_relation, rows_of};
use crate::lake::Catalogue;

/// What a cluster can conclude.
#[derive(Debug)]
pub struct Expressible {
    /// The relations.
    pub relations: BTreeSet<usize>,
    /// Those that the question, or a rule that is evaluated here, needs.
    pub needed: BTreeSet<usize>,
    /// The tables of the lake that their rules read, as relations.
    pub read: BTreeSet<usize>,
    /// How many rows these have.
    pub rows: usize,
}

impl Expressible {
    /// Finds what of a program a cluster can conclude.
    pub fn of(program: &Program, goal: Option<usize>, catalogue: &Catalogue) -> Expressible {
        let numbers = 0..program.relations.len();
        let given: BTreeSet<usize> = numbers
            .clone()
            .filter(|it| of_relation(&program.relations[*it].name).is_some())
            .collect();
        let mut relations: BTreeSet<usize> = numbers
            .filter(|it| program.rules.iter().any(|rule| rule.head == *it) && !given.contains(it))
            .collect();
        loop {
            let is_said = |it: usize| given.contains(&it) || relations.contains(&it);
            let is_left = |it: &usize| {
                let mut rules = program.rules.iter().filter(|rule| rule.head == *it);
                rules.all(|rule| is_expressible(program, rule, &is_said))
            };
            let left: BTreeSet<usize> = relations.iter().copied().filter(is_left).collect();
            if left == relations {
                break;
            }
            relations = left;
        }
        let (own, others): (Vec<&Rule>, Vec<&Rule>) =
            program.rules.iter().partition(|it| relations.contains(&it.head));
        let used = |rules: &[&Rule]| -> BTreeSet<usize> {
            rules.iter().flat_map(|it| &it.body).filter_map(Literal::relation).collect()
        };
        let needed = used(&others).into_iter().chain(goal).filter(|it| relations.contains(it));
        let read: BTreeSet<usize> = used(&own).intersection(&given).copied().collect();
        let rows = read.iter().map(|it| rows_of(&program.relations[*it].name, catalogue)).sum();
        Expressible { needed: needed.collect(), relations, read, rows }
    }
}

fn is_expressible(program: &Program, rule: &Rule, is_said: &dyn Fn(usize) -> bool) -> bool {
    let is_text = |word: u64| program.values.as_text(word).is_some();
    let is_pattern = |it: &Pattern| {
        let mut terms = it.terms.iter();
        is_said(it.relation)
            && it.variables().next().is_some()
            && terms.all(|it| match it {
                Term::Variable(_) | Term::Any => true,
                Term::Word(word) => is_text(*word),
                Term::InTense(..) => false,
            })
    };
    let is_literal = |it: &Literal| match it {
        Literal::Holds(it) | Literal::Absent(it) => is_pattern(it),
        _ => false,
    };
    let is_term = |it: &Value| match it {
        Value::Variable(_) => true,
        Value::Word(word) => is_text(*word),
        Value::InTense(..) | Value::Arithmetic(..) | Value::Message(_) => false,
    };
    rule.body.iter().any(|it| matches!(it, Literal::Holds(_)))
        && rule.body.iter().all(is_literal)
        && !rule.terms.is_empty()
        && rule.terms.iter().all(is_term)
}

//! Joins over values: where a rule compares what two references lead to, one side becomes rows that can be looked up.
//!
//! `resource(a, "x"), a.name == v, resource(b, "y"), b.name == v` would look at every pair. With the rows of `b.name` beside it, the
//! pairs are found by their value. The rule keeps what it says; the rows only narrow down what is looked at.

use super::check::{Literal, Pattern, Program, Reference, Relation, Rule, Step, Term, Value};
use super::kinds;

/// Gives a program the rows by which its joins over values are looked up.
pub fn index_joins(program: &mut Program) {
    for at in 0..program.rules.len() {
        for (root, value, reference, guard) in joins(&program.rules[at]) {
            let relation = rows_of(program, at, (root, value), reference, guard);
            let terms = vec![Term::Variable(root), Term::Variable(value)];
            let place = program.rules[at].span;
            let rule = &mut program.rules[at];
            rule.body.push(Literal::Holds(Pattern { relation, terms }));
            rule.places.push(place);
        }
    }
    program.restratify();
}

/// The references of a rule that another part of it is joined with by value: root, value, reference, and what the root is.
fn joins(rule: &Rule) -> Vec<(usize, usize, Reference, Pattern)> {
    let references = rule.body.iter().filter_map(|it| match it {
        Literal::Refers(reference, Some(Term::Variable(value))) => Some((reference, *value)),
        _ => None,
    });
    let found = references.filter_map(|(reference, value)| {
        let root = reference.root;
        let has_variable_key =
            reference.steps.iter().any(|it| matches!(it, Step::Key(Term::Variable(_))));
        if has_variable_key || !is_joined(rule, root, value) {
            return None;
        }
        let guard = rule.body.iter().find_map(|it| guard(it, root))?;
        Some((root, value, reference.clone(), guard))
    });
    found.collect()
}

/// Whether something that does not rest on the root gives or wants the value.
fn is_joined(rule: &Rule, root: usize, value: usize) -> bool {
    rule.body.iter().any(|it| match it {
        Literal::Refers(other, Some(Term::Variable(it))) => *it == value && other.root != root,
        Literal::Holds(pattern) => {
            pattern.terms.contains(&Term::Variable(value))
                && !pattern.terms.contains(&Term::Variable(root))
        }
        _ => false,
    })
}

/// What a part of a body says of a variable alone.
fn guard(literal: &Literal, root: usize) -> Option<Pattern> {
    let Literal::Holds(pattern) = literal else { return None };
    let own = pattern.terms.iter().filter(|it| **it == Term::Variable(root)).count();
    let terms = pattern.terms.iter().map(|it| match it {
        Term::Variable(it) if *it != root => Term::Any,
        Term::InTense(..) => Term::Any,
        other => *other,
    });
    (own == 1).then(|| Pattern { relation: pattern.relation, terms: terms.collect() })
}

/// Adds a relation of roots and values, with the rule that makes it. Returns its number.
fn rows_of(
    program: &mut Program,
    at: usize,
    (root, value): (usize, usize),
    reference: Reference,
    guard: Pattern,
) -> usize {
    let kind = program.rules[at].kinds.get(root).cloned().unwrap_or_default();
    let name = format!("values of rule {at}, {root} and {value}");
    let relation = program.add_relation(Relation {
        name,
        columns: vec![kind, kinds::VALUE.to_owned()],
        doc: Vec::new(),
        is_derived: true,
        is_given: false,
        is_closed: true,
    });
    let rule = &program.rules[at];
    let made = Rule {
        head: relation,
        terms: vec![Value::Variable(root), Value::Variable(value)],
        body: vec![Literal::Holds(guard), Literal::Refers(reference, Some(Term::Variable(value)))],
        notes: Vec::new(),
        places: vec![rule.span; 2],
        ..rule.clone()
    };
    program.rules.push(made);
    relation
}

//! Joins over values: where a rule compares what two references lead to, one side becomes rows that can be looked up.
//!
//! `resource(a, "x"), a.name == v, resource(b, "y"), b.name == v` would look at every pair. With the rows of `b.name` beside it, the
//! pairs are found by their value. The rows only narrow down what an evaluation looks at: nobody else sees them. They come last, among the
//! relations, the rules and the premises of a rule, so that all numbers mean what they mean without them.

use std::borrow::Cow;

use super::check::{Literal, Pattern, Program, Reference, Relation, Rule, Step, Term, Value};
use super::kinds;

/// Returns a program with the rows by which its joins over values are looked up, and for each further rule the one that it serves.
pub(super) fn indexed(program: &Program) -> (Cow<'_, Program>, Vec<usize>) {
    let all = program.rules.iter().enumerate();
    let found: Vec<_> =
        all.flat_map(|(at, it)| joins(it).into_iter().map(move |it| (at, it))).collect();
    if found.is_empty() {
        return (Cow::Borrowed(program), Vec::new());
    }
    let mut with = program.clone();
    let mut serves = Vec::new();
    for (at, (root, value, reference, guard)) in found {
        let relation = rows_of(&mut with, at, (root, value), reference, guard);
        let terms = vec![Term::Variable(root), Term::Variable(value)];
        with.rules[at].body.push(Literal::Holds(Pattern { relation, terms }));
        serves.push(at);
    }
    with.restratify();
    (Cow::Owned(with), serves)
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
        is_needed: true,
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

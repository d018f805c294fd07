//! Relations that nobody declared: their columns hold what the rules put there.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostics;

use super::check::{Literal, Program, Relation, Source, Value};
use super::syntax::{self, Expression, Text, Variable};
use super::{check::own_name, kinds, problem};

/// Declares the relations that rules of a group conclude and nobody declares, with the kinds that follow from their use.
pub(super) fn declare_own(
    program: &mut Program,
    texts: &[(&Source<'_>, Text)],
    problems: &mut Diagnostics,
) {
    let mut open: BTreeSet<usize> = BTreeSet::new();
    for (source, text) in texts {
        for head in text.rules.iter().flat_map(|it| &it.heads) {
            if head.relation.contains("::") {
                problems.push(problem::given_relation(&head.relation, head.span));
            } else if is_own(program, source.group, head, problems) {
                open.insert(program.add_relation(Relation {
                    name: own_name(source.group, &head.relation),
                    columns: vec![String::new(); head.terms.len()],
                    doc: Vec::new(),
                    is_derived: false,
                    is_given: false,
                    is_closed: false,
                    is_needed: true,
                }));
            }
        }
    }
    while texts.iter().any(|(source, text)| {
        // Not lazily: every rule may say something.
        let rules = text.rules.iter().map(|it| learn(program, source.group, it, &open));
        rules.fold(false, |any, one| any | one)
    }) {}
    for relation in open {
        for column in &mut program.relations[relation].columns {
            if column.is_empty() {
                *column = kinds::VALUE.to_owned();
            }
        }
    }
}

/// Returns whether a head is of a relation that its group has to have for itself. An author's relation goes before a shared one
/// that is new.
fn is_own(program: &Program, group: &str, head: &syntax::Head, problems: &mut Diagnostics) -> bool {
    let Some(known) = program.relation_in(group, &head.relation) else { return true };
    let is_shared = !group.is_empty() && !program.relations[known].name.contains('@');
    let since = program.added_in(&head.relation).filter(|_| is_shared);
    problems.extend(since.map(|it| problem::public_name(&head.relation, it, head.span)));
    since.is_some()
}

/// Learns what one rule says of the columns of open relations. Returns whether that is new.
fn learn(program: &mut Program, group: &str, rule: &syntax::Rule, open: &BTreeSet<usize>) -> bool {
    let known = variables(program, group, rule);
    let mut is_new = false;
    for head in &rule.heads {
        let Some(number) = program.relation_in(group, &head.relation) else { continue };
        if !open.contains(&number) {
            continue;
        }
        for (term, column) in head.terms.iter().zip(&mut program.relations[number].columns) {
            let kind = match term {
                Expression::Variable(it) => known.get(it.name.as_str()).cloned(),
                Expression::Constant(kind, ..) => Some(kind.clone()),
                Expression::InTense(..) => Some(kinds::NODE.to_owned()),
                _ => Some(kinds::VALUE.to_owned()),
            };
            if let Some(kind) = kind.filter(|_| column.is_empty()) {
                *column = kind;
                is_new = true;
            }
        }
    }
    is_new
}

/// The kinds of a rule's variables, as far as its body says.
fn variables(program: &Program, group: &str, rule: &syntax::Rule) -> BTreeMap<String, String> {
    let mut known = BTreeMap::new();
    let mut learn = |variable: &Variable, kind: &str| {
        if !kind.is_empty() {
            known.entry(variable.name.clone()).or_insert_with(|| kind.to_owned());
        }
    };
    let value = kinds::VALUE;
    for literal in &rule.body {
        match literal {
            syntax::Literal::Holds(atom) | syntax::Literal::Aggregate { atom, .. } => {
                if let Some(number) = program.relation_in(group, &atom.relation) {
                    let number = program.of_arity(number, &atom.relation, atom.terms.len());
                    let columns = &program.relations[number].columns;
                    for (term, kind) in atom.terms.iter().zip(columns) {
                        match term {
                            Some(Expression::Variable(it)) => learn(it, kind),
                            Some(Expression::InTense(_, it)) => learn(it, kinds::NODE),
                            _ => {}
                        }
                    }
                }
                if let syntax::Literal::Aggregate { result, .. } = literal {
                    learn(result, value);
                }
            }
            syntax::Literal::Refers { reference, equals, .. } => {
                keys(reference, &mut learn);
                if let Some(Expression::Variable(it)) = equals {
                    learn(it, value);
                }
            }
            syntax::Literal::Member(variable, reference) => {
                keys(reference, &mut learn);
                learn(variable, value);
            }
            syntax::Literal::AggregateOf { result, reference, .. } => {
                keys(reference, &mut learn);
                learn(result, value);
            }
            syntax::Literal::Compute(variable, _) => learn(variable, value),
            _ => {}
        }
    }
    known
}

fn keys(reference: &syntax::Reference, learn: &mut impl FnMut(&Variable, &str)) {
    for step in &reference.steps {
        if let syntax::Step::Key(Some(Expression::Variable(it))) = step {
            learn(it, kinds::VALUE);
        }
    }
}

/// Refuses rules that compute a value from conclusions that rest on the value: that need not end.
pub(super) fn refuse_computed_recursion(program: &mut Program, problems: &mut Diagnostics) {
    let mut refused = Vec::new();
    for (at, rule) in program.rules.iter().enumerate() {
        let computed: Vec<usize> = rule.body.iter().filter_map(computes).collect();
        let gives = |term: &Value| match term {
            Value::Variable(it) => computed.contains(it),
            Value::Message(_) => true,
            _ => false,
        };
        if !rule.terms.iter().any(gives) {
            continue;
        }
        let read = rule.body.iter().filter_map(Literal::relation);
        let circle = read.filter_map(|it| program.way(it, rule.head)).next();
        if let Some(mut circle) = circle {
            circle.insert(0, rule.head);
            let names: Vec<&str> = circle.iter().map(|it| program.shown_name(*it)).collect();
            let computes = rule.body.iter().position(|it| computes(it).is_some());
            let place = computes.and_then(|it| rule.places.get(it)).copied().unwrap_or(rule.span);
            problems.push(problem::computed_recursion(&names, place));
            refused.push(at);
        }
    }
    for at in refused.into_iter().rev() {
        let rule = program.rules.remove(at);
        if program.relations[rule.head].name.contains('@') {
            program.faulty.insert(rule.head);
        }
    }
}

/// Returns the variable whose value a part of a body computes.
fn computes(literal: &Literal) -> Option<usize> {
    match literal {
        Literal::Compute(it, _)
        | Literal::Aggregate { result: it, .. }
        | Literal::AggregateOf { result: it, .. } => Some(*it),
        _ => None,
    }
}

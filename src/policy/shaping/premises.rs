//! What rules that shape a plan may rest on: what is known before it is made.

use crate::datalog::check::{Literal, Pattern, Term};
use crate::datalog::formula::Use;
use crate::datalog::{Program, Tense, kinds};
use crate::diagnostic::{Diagnostic, Span};
use crate::policy::rules::is_of_plans_alone;

/// Returns what is wrong with a rule that shapes a plan: the premise, its own or of a helper, that only a plan can decide.
pub fn unfit(program: &Program, rule: usize) -> Option<Diagnostic> {
    let mut seen = vec![false; program.relations.len()];
    let mut waiting = vec![rule];
    while let Some(at) = waiting.pop() {
        for (number, literal) in program.rules[at].body.iter().enumerate() {
            if let Some(what) = late(program, at, literal) {
                let place = program.rules[at].places.get(number).copied();
                let place = place.unwrap_or(program.rules[at].span);
                return Some(too_late(program, (rule, at), &what, place));
            }
            let Some(relation) = literal.relation() else { continue };
            // What the vocabulary says besides, it says of a configuration as well.
            let is_own = program.relations[relation].name.contains('@');
            if !std::mem::replace(&mut seen[relation], true) && is_own {
                let rules = program.rules.iter().enumerate();
                waiting.extend(rules.filter(|it| it.1.head == relation).map(|it| it.0));
            }
        }
    }
    None
}

/// What a premise looks at that only a plan knows.
fn late(program: &Program, rule: usize, literal: &Literal) -> Option<String> {
    match literal {
        Literal::Holds(it) | Literal::Absent(it) | Literal::Aggregate { pattern: it, .. } => {
            late_rows(program, it)
        }
        Literal::Refers(it, _)
        | Literal::Lacks(it, _)
        | Literal::Member(_, it)
        | Literal::AggregateOf { reference: it, .. } => {
            late_value(program, rule, it.root, it.tense)
        }
        Literal::If(it) | Literal::Compute(_, it) => it.uses.iter().find_map(|(_, root, how)| {
            let Use::Whole(tense) = how else { return None };
            late_value(program, rule, *root, *tense)
        }),
        Literal::Compare(..) | Literal::Let(..) => None,
    }
}

fn late_rows(program: &Program, pattern: &Pattern) -> Option<String> {
    let name = program.relations[pattern.relation].name.as_str();
    let is_of_plans = is_of_plans_alone(name);
    let is_of_values = name == "argument"
        || name == "tag"
            && !matches!(pattern.terms[0], Term::InTense(Tense::Config | Tense::State, _));
    let is_old = pattern.terms.iter().any(|it| matches!(it, Term::InTense(Tense::Old, _)));
    match (is_of_plans || is_old, is_of_values) {
        (true, _) => Some(format!("`{}`", program.shown_name(pattern.relation))),
        (false, true) => Some(format!("planned values, which `{name}` tells of here")),
        _ => None,
    }
}

fn late_value(program: &Program, rule: usize, root: usize, tense: Tense) -> Option<String> {
    let of = &program.rules[rule];
    if of.kinds[root] != kinds::NODE {
        return None;
    }
    // What variables are given is known from the start.
    let is_given = of.body.iter().any(|it| match it {
        Literal::Holds(it) => {
            program.relations[it.relation].name == "variable" && it.terms[0] == Term::Variable(root)
        }
        _ => false,
    });
    let name = &of.variables[root];
    match tense {
        Tense::Planned if !is_given => Some(format!("what `{name}` will be")),
        Tense::Old => Some(format!("what `{name}` is after refresh")),
        _ => None,
    }
}

fn too_late(program: &Program, (rule, at): (usize, usize), what: &str, place: Span) -> Diagnostic {
    let (of, by) = (&program.rules[rule], &program.rules[at]);
    let through = match rule == at {
        true => String::new(),
        false => format!(", through `{}`", program.shown_name(by.head)),
    };
    Diagnostic::error("Policy that shapes a plan rests on it")
        .detail(format!(
            "`{}` concludes `{}`, and rests on {what}{through}. That is known only when the plan is made. Look at `config(n)`, `state(n)`, `existing`, `tag(config(n), …)`, places and dependencies instead.",
            of.name,
            program.shown_name(of.head)
        ))
        .at(place)
        .within(by.span)
}

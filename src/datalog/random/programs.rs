//! Random programs: recursion, negation, conditions, arithmetic and aggregates over small numbers.

use std::fmt::Write;

use super::numbers;

/// How many columns relations have: those that facts fill, then those that rules conclude.
const GIVEN: [usize; 3] = [1, 2, 3];
const CONCLUDED: [usize; 4] = [2, 1, 3, 2];

/// How many different variables a rule has.
const VARIABLES: u64 = 5;

/// A term of an atom.
#[derive(Clone, Copy)]
enum Term {
    Variable(u64),
    Number(u64),
    Any,
}

type Chance<'c> = &'c mut dyn FnMut(u64) -> u64;

/// Returns the text of a random program in the dialect of strata, its facts included. Its rules come to an end: what is computed is
/// never concluded from itself.
pub fn program(seed: u64) -> String {
    let mut chance = numbers(seed);
    let mut text = String::new();
    let all = GIVEN.iter().enumerate().map(|it| ("g", it));
    let all = all.chain(CONCLUDED.iter().enumerate().map(|it| ("c", it)));
    for (letter, (number, columns)) in all {
        let columns = vec!["u32"; *columns].join(", ");
        _ = writeln!(text, "relation {letter}{number}({columns});");
    }
    for (number, columns) in GIVEN.iter().enumerate() {
        for _ in 0..chance(9) {
            let row: Vec<String> = (0..*columns).map(|_| chance(5).to_string()).collect();
            _ = writeln!(text, "g{number}({});", row.join(", "));
        }
    }
    for (number, columns) in CONCLUDED.iter().enumerate() {
        for _ in 0..=chance(3) {
            text.push_str(&rule(&mut chance, number, *columns));
        }
    }
    text
}

fn rule(chance: Chance<'_>, number: usize, columns: usize) -> String {
    let is_recursive = number > 0 && chance(3) == 0;
    let mut parts = Vec::new();
    let mut bound = Vec::new();
    let atoms: Vec<(String, Vec<Term>)> = (0..=chance(3))
        .map(|_| atom(chance, if is_recursive { number + 1 } else { number }, None))
        .collect();
    for (_, terms) in &atoms {
        bound.extend(terms.iter().filter_map(|it| match it {
            Term::Variable(it) => Some(*it),
            _ => None,
        }));
    }
    let known = bound.clone();
    let pick = |chance: Chance<'_>| known[chance(known.len() as u64) as usize];
    let mut further = Vec::new();
    if !known.is_empty() {
        if chance(3) == 0 {
            let (name, terms) = atom(chance, number, Some(&known));
            further.push(format!("!{name}({})", shown(&terms)));
        }
        if chance(3) == 0 {
            let comparison = ["<", "<=", "==", "!=", ">", ">="][chance(6) as usize];
            further.push(format!("if x{} {comparison} x{}", pick(chance), pick(chance)));
        }
        if !is_recursive && chance(3) == 0 {
            let operator = ["+", "-", "*", "/", "%"][chance(5) as usize];
            further.push(format!("let y = x{} {operator} x{}", pick(chance), pick(chance)));
        }
        if !is_recursive && chance(4) == 0 {
            let function = ["min(w)", "max(w)", "sum(w)", "count()"][chance(4) as usize];
            let over = if function == "count()" { "_" } else { "w" };
            further.push(match chance(2) {
                0 => format!("agg z = {function} in g1(x{}, {over})", pick(chance)),
                _ => format!("agg z = {function} in g2({over}, _, x{})", pick(chance)),
            });
        }
    }
    let made: Vec<&str> = ["y", "z"]
        .into_iter()
        .filter(|it| further.iter().any(|part| part.contains(&format!(" {it} ="))))
        .collect();
    let head: Vec<String> = (0..columns)
        .map(|_| match chance(4) {
            0 if !made.is_empty() => made[chance(made.len() as u64) as usize].to_owned(),
            _ if known.is_empty() => chance(5).to_string(),
            1 => chance(5).to_string(),
            _ => format!("x{}", pick(chance)),
        })
        .collect();
    parts.extend(atoms.iter().map(|(name, terms)| format!("{name}({})", shown(terms))));
    parts.extend(further);
    without_single(format!("c{number}({}) <-- {};\n", head.join(", "), parts.join(", ")))
}

/// An atom of a relation that facts fill, or of one of the first `concluded`; of known variables alone where these are given.
fn atom(chance: Chance<'_>, concluded: usize, known: Option<&[u64]>) -> (String, Vec<Term>) {
    let which = chance((GIVEN.len() + concluded) as u64) as usize;
    let (name, columns) = match which.checked_sub(GIVEN.len()) {
        Some(it) => (format!("c{it}"), CONCLUDED[it]),
        None => (format!("g{which}"), GIVEN[which]),
    };
    let terms = (0..columns).map(|_| match (chance(6), known) {
        (0, _) => Term::Number(chance(5)),
        (1, _) => Term::Any,
        (_, Some(known)) => Term::Variable(known[chance(known.len() as u64) as usize]),
        _ => Term::Variable(chance(VARIABLES)),
    });
    (name, terms.collect())
}

fn shown(terms: &[Term]) -> String {
    let shown = terms.iter().map(|it| match it {
        Term::Variable(it) => format!("x{it}"),
        Term::Number(it) => it.to_string(),
        Term::Any => "_".to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// A variable that stands once says nothing: rules do not have such.
fn without_single(mut rule: String) -> String {
    for name in (0..VARIABLES).map(|it| format!("x{it}")) {
        if rule.matches(&name).count() == 1 {
            rule = rule.replace(&name, "_");
        }
    }
    rule
}

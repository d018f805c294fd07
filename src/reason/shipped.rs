//! The strata of the `rules` crate, read from the text that is compiled; and whether all engines agree on them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use entail_rules::{Conclusions, Facts, TEXTS, Tables, Text};

use super::{Derived, ENGINES, Engine};
use crate::datalog::Program;
use crate::datalog::check::Source;
use crate::diagnostic::FileId;

/// Returns all strata as one program.
pub fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| read(TEXTS))
}

/// Returns one stratum as a program.
///
/// # Panics
///
/// If there is none of that name.
pub(super) fn stratum(name: &str) -> &'static Program {
    static PROGRAMS: OnceLock<BTreeMap<&str, Program>> = OnceLock::new();
    let all = PROGRAMS.get_or_init(|| TEXTS.iter().map(|it| (it.name, read(&[*it]))).collect());
    all.get(name).expect("a stratum has a text")
}

fn read(texts: &[Text]) -> Program {
    let sources: Vec<Source<'_>> = texts
        .iter()
        .map(|it| Source { name: it.name, file: FileId::default(), text: it.source })
        .collect();
    let (program, problems) = Program::read(&sources);
    assert!(!problems.has_errors(), "the shipped rules are sound: {problems:?}");
    program
}

/// Returns everything that all rules, as one program, derive from facts.
pub fn derive(engine: &dyn Engine, facts: &Facts) -> Derived {
    engine.derive(program().clone(), &[facts])
}

/// Checks that conclusions, made stratum by stratum, are what all rules as one program derive.
///
/// # Errors
///
/// The first relation that differs, with a few of its rows.
pub fn agree(derived: &Derived, conclusions: &Conclusions) -> Result<(), String> {
    let mut result = Ok(());
    for tables in conclusions.tables() {
        each(tables, &mut |relation, concluded| {
            let derived = derived.rows(relation).into_iter().collect();
            result = result.clone().and_then(|()| same(relation, &concluded, &derived));
        });
    }
    result
}

/// Checks that every engine concludes the same from facts, stratum by stratum and as one program.
///
/// # Errors
///
/// The first relation that differs, with a few of its rows.
pub fn all_agree(facts: &Facts) -> Result<(), String> {
    let mut all = ENGINES.iter().map(|it| (it, it.conclude_all(facts)));
    let (_, first) = all.next().expect("there is an engine");
    for (engine, other) in all {
        for (one, other) in first.tables().into_iter().zip(other.tables()) {
            let mut rows = BTreeMap::new();
            each(other, &mut |relation, found| drop(rows.insert(relation, found)));
            let mut result = Ok(());
            each(one, &mut |relation, found| {
                result = result.clone().and_then(|()| same(relation, &found, &rows[relation]));
            });
            result?;
        }
        agree(&derive(*engine, facts), &other)?;
    }
    Ok(())
}

/// Shows the rows of every relation.
fn each(tables: &dyn Tables, see: &mut dyn FnMut(&'static str, BTreeSet<Vec<u64>>)) {
    tables.for_each_relation(&mut |relation, rows| {
        let mut row = Vec::new();
        let mut all = BTreeSet::new();
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            all.insert(row.clone());
        }
        see(relation.name, all);
    });
}

fn same(
    relation: &str,
    one: &BTreeSet<Vec<u64>>,
    other: &BTreeSet<Vec<u64>>,
) -> Result<(), String> {
    if one == other {
        return Ok(());
    }
    let only_one: Vec<_> = one.difference(other).take(5).collect();
    let only_other: Vec<_> = other.difference(one).take(5).collect();
    Err(format!("`{relation}` differs: only one has {only_one:?}, only the other {only_other:?}"))
}

//! The strata of the `rules` crate, read from the text that is compiled; and whether all engines agree on them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

use entail_rules::{Conclusions, Facts, TEXTS, Tables, Text};

use super::{Derived, Engine, EngineRef, engine};
use crate::datalog::Program;
use crate::datalog::check::Source;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::world::World;

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
        .map(|it| Source { name: it.name, text: it.source, ..Source::default() })
        .collect();
    let (program, problems) = Program::read(&sources);
    assert!(!problems.has_errors(), "the shipped rules are sound: {problems:?}");
    program
}

/// Returns everything that all rules, as one program, derive from facts.
pub fn derive(engine: &dyn Engine, facts: &Facts) -> Derived {
    engine.derive(program().clone(), &[facts])
}

/// Notes the rules that facts meet, where `ENTAIL_SELF_CHECK` names a file for that.
///
/// # Errors
///
/// If that file cannot be written.
pub fn note_met(world: &World, facts: impl FnOnce() -> Facts) -> Result<(), Diagnostic> {
    let asked = world.variable("ENTAIL_SELF_CHECK").filter(|it| it.contains('/'));
    let Some(file) = asked else { return Ok(()) };
    let derived = derive(engine(world), &facts());
    note_rules(Path::new(file), &derived.rules_met().map(str::to_owned).collect())
}

/// Adds the names of rules to a file, one a line: those that a run met, for whoever wants to know which it never does.
///
/// # Errors
///
/// If the file cannot be written.
pub fn note_rules(path: &Path, rules: &BTreeSet<String>) -> Result<(), Diagnostic> {
    let lines: String = rules.iter().map(|it| format!("{it}\n")).collect();
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut it| it.write_all(lines.as_bytes())).map_err(|it| {
        Diagnostic::error("Rules cannot be noted").detail(format!(
            "`ENTAIL_SELF_CHECK` names {}, which cannot be written: {it}. Set it to a file that can be, or to 1.",
            path.display()
        ))
    })
}

/// Checks that conclusions, made stratum by stratum, are what all rules as one program derive.
///
/// # Errors
///
/// The first relation that differs, with a few of its rows.
pub fn agree(derived: &Derived, conclusions: &Conclusions) -> Result<(), Error> {
    let mut result = Ok(());
    for tables in conclusions.tables() {
        each(tables, &mut |relation, concluded| {
            let derived = derived.rows(relation).into_iter().collect();
            result = result.clone().and_then(|()| same(relation, &concluded, &derived));
        });
    }
    result
}

/// Checks that all of some engines conclude the same from facts, stratum by stratum and as one program.
///
/// # Errors
///
/// The first relation that differs, with a few of its rows.
pub fn all_agree(engines: &[EngineRef], facts: &Facts) -> Result<(), Error> {
    let mut all = engines.iter().map(|it| (it, it.conclude_all(facts)));
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

fn same(relation: &str, one: &BTreeSet<Vec<u64>>, other: &BTreeSet<Vec<u64>>) -> Result<(), Error> {
    if one == other {
        return Ok(());
    }
    let only_one: Vec<_> = one.difference(other).take(5).collect();
    let only_other: Vec<_> = other.difference(one).take(5).collect();
    Err(format!("`{relation}` differs: only one has {only_one:?}, only the other {only_other:?}")
        .into())
}

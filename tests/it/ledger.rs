//! Every relation has someone who writes it and someone who reads it.

use std::collections::BTreeSet;
use std::fs;

use entail::datalog::check::Literal;
use entail::datalog::shipped::{self, Conclusions};
use entail_rules::Facts;
use entail_rules::facts::WRITERS;
use regex::Regex;

use crate::support::{root, sources};

/// The code that stands over the rules, without what tests and describes the rules themselves.
fn library() -> String {
    let is_told = |name: &str| {
        !name.contains("tests")
            && !name.starts_with("src/datalog")
            && name != "src/explain/manual.rs"
    };
    let all = sources(&["src", "cli/src"]).into_iter().filter(|it| is_told(&it.0));
    let code =
        all.map(|it| it.1.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned());
    code.collect()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid expression")
}

#[test]
fn every_base_relation_is_written_where_the_declaration_says() {
    let mut unwritten = Vec::new();
    for relation in Facts::RELATIONS {
        let name = relation.name;
        let writes = pattern(&format!(
            r"\.{name}\s*\.(?:push|extend)|\.{name} = |Facts \{{[^}}]*\b{name}: "
        ));
        let files = WRITERS.iter().find(|it| it.0 == relation.group).map_or(&[][..], |it| it.1);
        let mut texts = files.iter().map(|it| fs::read_to_string(root().join(it)).expect("a file"));
        if !texts.any(|it| writes.is_match(&it)) {
            unwritten.push(format!("{name}: none of {files:?}"));
        }
    }
    assert_eq!(unwritten, [""; 0], "base relations that nobody writes");
}

#[test]
fn every_base_relation_is_read() {
    let (program, code) = (shipped::program(), library());
    let unread = Facts::RELATIONS.iter().map(|it| it.name).filter(|name| {
        let reads = pattern(&format!(r"facts\.{name}\b"));
        program.relation(name).is_none() && !reads.is_match(&code)
    });
    assert_eq!(unread.collect::<Vec<_>>(), [""; 0], "base relations that nobody reads");
}

/// What a rule concludes is read by the planner, by those who explain and verify, or by a rule whose conclusion is.
#[test]
fn every_conclusion_leads_to_something_that_is_read() {
    let (program, code) = (shipped::program(), library());
    let is_read = |name: &str| {
        pattern(&format!(r#"\b(?:{READERS})\.{name}\b|\)\.{name}\b|"{name}""#)).is_match(&code)
    };
    let mut known: BTreeSet<usize> =
        (0..program.relations.len()).filter(|it| is_read(&program.relations[*it].name)).collect();
    loop {
        let before = known.len();
        for rule in program.rules.iter().filter(|it| known.contains(&it.head)).collect::<Vec<_>>() {
            known.extend(rule.body.iter().filter_map(|it| match it {
                Literal::Holds(it) | Literal::Absent(it) => Some(it.relation),
                Literal::Aggregate { pattern, .. } => Some(pattern.relation),
                Literal::Compare(..) | Literal::Let(..) => None,
            }));
        }
        if known.len() == before {
            break;
        }
    }
    let idle = program.relations.iter().enumerate();
    let idle: Vec<&str> = idle
        .filter(|it| it.1.is_derived && !known.contains(&it.0) && !ASKED.contains(&&*it.1.name))
        .map(|it| it.1.name.as_str())
        .collect();
    assert_eq!(idle, [""; 0], "conclusions that lead to nothing");
}

/// What only people ask for, with `facts`: what each name of a provider configuration means, and the causes of what takes part.
const ASKED: &[&str] = &["provider_alias", "wanted_by", "doubted_by"];

/// What conclusions are called where the library reads them.
const READERS: &str = "selection|providers|instances|spread|decisions|order|settled|found|violations|arranged|known|judged|concluded|changes|outputs|records|closing";

#[test]
fn no_relation_is_both_told_and_concluded() {
    let mut names: BTreeSet<&str> = Facts::RELATIONS.iter().map(|it| it.name).collect();
    for tables in Conclusions::default().tables() {
        for relation in tables.relations() {
            assert!(names.insert(relation.name), "{} has two writers", relation.name);
        }
    }
}

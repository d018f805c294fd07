//! Every relation has someone who writes it and someone who reads it, and every rule says something of some whole case.

use std::collections::BTreeSet;
use std::fs;

use entail::datalog::check::Literal;
use entail::reason::catalogue::catalogue;
use entail::reason::shipped;
use entail_rules::catalogue::{FORMER, PEOPLE, READERS, VERSION};
use entail_rules::facts::WRITERS;
use entail_rules::{Conclusions, Facts};
use regex::Regex;

use crate::support::{root, rules_met, sources};

/// The code of a room, without its tests.
fn room(name: &str) -> String {
    let folder = if name == "cli" { "cli/src".to_owned() } else { format!("src/{name}") };
    let code = sources(&[folder.as_str()]).into_iter().filter(|it| !it.0.contains("tests"));
    code.map(|it| it.1.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned())
        .collect()
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
fn every_relation_is_read() {
    let unread = catalogue().iter().filter(|it| it.read_by.is_empty()).map(|it| it.relation.name);
    assert_eq!(unread.collect::<Vec<_>>(), [""; 0], "relations that nobody reads");
}

/// What conclusions and facts are called where the library reads them.
const NAMES: &str = "facts|moves|configurations|providers|instances|selection|spread|outputs|decisions|changes|order|violations|\
    arranged|concluded|settled|selected|decided|output_changes|found|known|judged|records|closing|calls|all";

#[test]
fn the_rooms_that_the_catalogue_names_read_what_it_says() {
    let mut wrong = Vec::new();
    for (name, rooms) in READERS {
        if catalogue().iter().all(|it| it.relation.name != *name) {
            wrong.push(format!("{name}: no such relation"));
        }
        let reads = pattern(&format!(r"\b(?:{NAMES})(?:\(\))?\s*\.{name}\b"));
        for reader in rooms.iter().filter(|it| **it != PEOPLE) {
            if !reads.is_match(&room(reader)) {
                wrong.push(format!("{name}: {reader} does not read it"));
            }
        }
    }
    assert_eq!(wrong, [""; 0], "readers that the catalogue names");
}

/// What a rule concludes is read by a room, or by a rule whose conclusion is.
#[test]
fn every_conclusion_leads_to_something_that_is_read() {
    let program = shipped::program();
    let of_rooms = READERS.iter().filter_map(|it| program.relation(it.0));
    let mut known: BTreeSet<usize> = of_rooms.collect();
    loop {
        let before = known.len();
        for rule in program.rules.iter().filter(|it| known.contains(&it.head)).collect::<Vec<_>>() {
            known.extend(rule.body.iter().filter_map(Literal::relation));
        }
        if known.len() == before {
            break;
        }
    }
    let idle = program.relations.iter().enumerate();
    let idle: Vec<&str> = idle
        .filter(|it| it.1.is_derived && !known.contains(&it.0))
        .map(|it| it.1.name.as_str())
        .collect();
    assert_eq!(idle, [""; 0], "conclusions that lead to nothing");
}

/// What each name of a provider configuration means, and the causes of what takes part: nothing rests on these.
#[test]
fn few_relations_are_there_for_people_alone() {
    let for_people = READERS.iter().filter(|it| it.1 == [PEOPLE]).map(|it| it.0);
    assert_eq!(for_people.collect::<Vec<_>>(), ["provider_alias", "doubted_by", "wanted_by"]);
}

#[test]
fn no_relation_is_both_told_and_concluded() {
    let mut names: BTreeSet<&str> = Facts::RELATIONS.iter().map(|it| it.name).collect();
    for tables in Conclusions::default().tables() {
        for relation in tables.relations() {
            assert!(names.insert(relation.name), "{} has two writers", relation.name);
        }
    }
}

/// A rule that no configuration meets is one that nobody needs, or that nobody tested whole.
#[test]
fn every_rule_is_met_by_some_whole_case() {
    let Some(met) = rules_met() else { return };
    let rules = &shipped::program().rules;
    let idle: BTreeSet<&str> =
        rules.iter().map(|it| it.name.as_str()).filter(|it| !met.contains(*it)).collect();
    let known: BTreeSet<&str> = NOT_MET.iter().map(|it| it.0).collect();
    assert_eq!(
        idle, known,
        "rules that no case in testdata meets, and those of which that is known"
    );
}

/// The rules that no case meets, and why.
const NOT_MET: &[(&str, &str)] = &[
    ("configurations.lacks-key", CHECKED),
    ("configurations.repeats-inherited", CHECKED),
    ("configurations.unconfigured", CHECKED),
    ("providers.no-configuration", CHECKED),
    ("order.opened-for-provider", ARGUMENTS),
    ("order.provider-first", ARGUMENTS),
    ("order.half-known", ARGUMENTS),
    ("order.new-object", ARGUMENTS),
    ("order.new-data", ARGUMENTS),
    ("order.from-new", ARGUMENTS),
    ("order.from-new-value", ARGUMENTS),
    ("order.bound", ARGUMENTS),
    ("order.bound-behind", ARGUMENTS),
    ("order.goes-configured", ARGUMENTS),
    ("order.provider-made-first", ARGUMENTS),
    ("outputs.undecided-all", BEFORE),
    ("decide.held-orphan", NONE_KNOWN),
    ("selection.keys-depend-part", NONE_KNOWN),
    ("decide.drift-changed", OUTSIDE),
    ("providers.read", ARGUMENTS),
    ("providers.read-behind", ARGUMENTS),
    ("selection.provider-required", ARGUMENTS),
    ("selection.provider-required-by", ARGUMENTS),
    ("calls.has-unknown", ARGUMENTS),
    ("calls.unrefreshed", ARGUMENTS),
    ("calls.unrefreshed-destroyed", ARGUMENTS),
    ("calls.not-imported", ARGUMENTS),
    ("decide.deferred-provider", ARGUMENTS),
    ("decide.opening-for-provider", ARGUMENTS),
    ("decide.opens-later-provider", ARGUMENTS),
    ("decide.half-configured", ARGUMENTS),
    ("decide.half-configured-whole", ARGUMENTS),
];

/// What a block asks for is looked up when the configuration is checked, and missing there.
const CHECKED: &str = "the check of the configuration refuses it before there are facts";
/// The embedded providers take none; the plugin of `scripted.rs` does.
const ARGUMENTS: &str = "it takes a provider whose arguments are known late";
/// The embedded providers find an object as it is, or gone; the plugin of `scripted.rs` finds one changed.
const OUTSIDE: &str = "it takes a provider that finds an object changed";
/// `whatif` asks before the walk; a plan knows all keys at its end.
const BEFORE: &str = "it takes a question that is asked before keys are known";
/// The tests of the stratum meet it.
const NONE_KNOWN: &str = "no configuration is known that leads there";

/// A relation cannot be there since a version that is still to come.
#[test]
fn every_relation_is_there_since_some_version_until_now() {
    let number = |text: &str| {
        let (major, minor) = text.split_once('.').expect("MAJOR.MINOR");
        let number = |it: &str| it.parse::<u32>().expect("a number");
        (number(major), number(minor))
    };
    for entry in catalogue() {
        assert!(number(entry.relation.since) <= number(VERSION), "{}", entry.relation.name);
    }
}

#[test]
fn what_was_renamed_is_there_under_its_name_now_alone() {
    let program = shipped::program();
    let named: BTreeSet<&str> = (program.relations.iter().map(|it| it.name.as_str()))
        .chain(program.rules.iter().flat_map(|it| [it.name.as_str(), it.source.as_str()]))
        .collect();
    for (was, is) in FORMER {
        assert!(named.contains(is) && !named.contains(was), "{was} is {is}");
    }
}

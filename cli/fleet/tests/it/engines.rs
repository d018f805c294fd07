//! All engines conclude the same: of every stratum, and of random programs.

use std::collections::BTreeSet;
use std::path::Path;

use entail::datalog::check::{Program, Source};
use entail::datalog::{Database, Limits, random};
use entail::reason::{Compiled, Engine, EngineRef, Interpreted, shipped};
use entail_fleet::engine::Columnar;
use entail_rules::{Facts, Tables};
use serde_json::{Value as Json, json};

use crate::support::{Fleet, files, with};

/// Joins whole columns however few rows there are.
static COLUMNAR: Columnar = Columnar::from(0);

const ALL: &[EngineRef] = &[&Compiled, &Interpreted, &COLUMNAR];

/// How many are tried: few by day, as many as the variable says at night.
fn tried(usual: u64) -> u64 {
    std::env::var("ENTAIL_PROGRAMS").ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// The numbers of what is tried: others where the variable says so.
fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let seed = std::env::var("ENTAIL_SEED").ok().and_then(|it| it.parse::<u64>().ok());
    let first = seed.unwrap_or_default() * 10_000;
    first + 1..=first + count
}

#[test]
fn all_engines_agree_on_every_stratum() {
    for seed in seeds(tried(200).div_ceil(50)) {
        let facts = random::facts(seed);
        if let Err(difference) = shipped::all_agree(ALL, &facts) {
            panic!("seed {seed}: {difference}\n{facts:?}");
        }
    }
}

#[test]
fn all_engines_agree_on_random_programs() {
    let (mut rows, mut met) = (0, BTreeSet::new());
    let all = tried(200);
    for seed in seeds(all) {
        let text = random::program(seed);
        let source = Source { name: "random", text: &text, ..Source::default() };
        let (program, _) = Program::read(&[source]);
        let (one, other) = (concluded(&Interpreted, &program), concluded(&COLUMNAR, &program));
        for (number, relation) in program.relations.iter().enumerate() {
            let words = |it: &Database| -> BTreeSet<Vec<u64>> {
                it.table(number).rows().map(<[u64]>::to_vec).collect()
            };
            assert_eq!(words(&one), words(&other), "seed {seed}: {}\n{text}", relation.name);
            rows += words(&one).len();
        }
        for (number, rule) in program.rules.iter().enumerate() {
            let times = (one.times_met(number), other.times_met(number));
            assert_eq!(times.0, times.1, "seed {seed}: {}\n{text}", rule.name);
            met.extend((times.0 > 0).then_some(rule.body.len()));
        }
    }
    assert!(COLUMNAR.joined() > all, "columns are joined: {} times", COLUMNAR.joined());
    assert!(rows as u64 > all && met.len() > 2, "random programs conclude something: {rows} rows");
}

fn concluded(engine: &dyn Engine, program: &Program) -> Database {
    let mut database = Database::new(program);
    let done = engine.evaluate(program, &mut database, None, &Limits::NONE);
    done.unwrap_or_else(|why| panic!("{}: {why:?}", engine.name()));
    database
}

#[test]
fn facts_that_conclude_nothing_conclude_nothing() {
    let facts = Facts::default();
    assert_eq!(shipped::all_agree(ALL, &facts), Ok(()));
    facts.for_each_relation(&mut |relation, rows| assert_eq!(rows.count(), 0, "{}", relation.name));
}

/// Objects of every type that a rule of the library names, with the attributes that its file names: some are there, some are what rules
/// look for, some are sensitive.
fn objects(seed: u64) -> Vec<Json> {
    let mut chance = random::numbers(seed);
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/library");
    let mut all = Vec::new();
    for file in
        files(Path::new(library)).iter().filter(|it| it.extension().is_some_and(|it| it == "rules"))
    {
        let text = std::fs::read_to_string(file).expect("rules");
        let quoted = || text.split('"').skip(1).step_by(2);
        let is_type =
            |it: &&str| ["aws_", "azurerm_", "google_"].iter().any(|begin| it.starts_with(begin));
        let kinds: BTreeSet<&str> = quoted().filter(is_type).collect();
        let is_name = |it: char| it.is_ascii_lowercase() || it == '_' || it.is_ascii_digit();
        let names: BTreeSet<&str> = text
            .split('.')
            .skip(1)
            .filter_map(|it| it.split(|it| !is_name(it)).next())
            .filter(|it| it.len() > 2 && !it.contains("aws"))
            .collect();
        let words: Vec<&str> = quoted().filter(|it| it.len() < 30 && !is_type(it)).collect();
        for kind in kinds {
            for number in 0..2 {
                let id = format!("{kind}-{number:08}");
                let mut attributes = json!({ "id": id });
                for name in &names {
                    let value = match chance(9) {
                        0 => json!(true),
                        1 => json!(false),
                        2 => json!(chance(100)),
                        3 if !words.is_empty() => json!(words[chance(words.len() as u64) as usize]),
                        4 => {
                            json!([{ "enabled": chance(2) == 0, "id": format!("{kind}-00000000") }])
                        }
                        5 => json!(format!("{kind}-00000000")),
                        _ => continue,
                    };
                    attributes[*name] = value;
                }
                let sensitive: Vec<&str> =
                    names.iter().copied().filter(|_| chance(40) == 0).collect();
                let name = format!("r{}", all.len());
                all.push(with(kind, &name, attributes, &[], &sensitive));
            }
        }
    }
    all
}

#[test]
fn both_engines_of_a_fleet_judge_alike_by_the_whole_library() {
    for seed in seeds(tried(100).div_ceil(100)) {
        let fleet = Fleet::new("states \"all\" {\n  paths = [\"s/*.tfstate\"]\n}\n");
        let objects = objects(seed);
        let half = objects.len() / 2;
        fleet.state("s/one.tfstate", "one", &objects[..half]);
        fleet.state("s/two.tfstate", "two", &objects[half..]);
        fleet.run(&["index"]).ok();
        let judged = |engine: &str| {
            let engine = format!("-engine={engine}");
            let words = ["policy", "check", "-json", "-policy=library:all", &engine];
            let ran = fleet.run(&words);
            assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
            let mut report: Json = serde_json::from_str(&ran.out).expect("a document");
            for verdict in report["verdicts"].as_array_mut().expect("verdicts") {
                // One of several ways to the same verdict is told.
                verdict["why"].take();
            }
            // Of expressions that failed one is told for each rule, whichever comes first.
            for problem in report["diagnostics"].as_array_mut().expect("diagnostics") {
                let detail = problem["detail"].as_str().unwrap_or_default();
                *problem = json!(detail.split(" holds").next());
            }
            report
        };
        let (one, other) = (judged("interpreted"), judged("columnar:0"));
        let verdicts = |it: &Json| it["verdicts"].as_array().cloned().unwrap_or_default();
        assert!(verdicts(&one).len() > 300, "{}", one["summary"]);
        for (one, other) in verdicts(&one).iter().zip(verdicts(&other)) {
            assert_eq!(*one, other, "seed {seed}");
        }
        assert!(one == other, "seed {seed}: {} and {}", one["diagnostics"], other["diagnostics"]);
    }
}

//! Random rules over random configurations: what a policy says does not depend on how it is written down, and what is certain stays so.
//!
//! An ordinary run tries some; `ENTAIL_POLICIES=10000` tries that many, from another beginning with `ENTAIL_SEED`.

#![expect(clippy::print_stderr, reason = "how many rules were tried, and how they ended")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use entail::datalog::Limits;
use entail::diagnostic::{Diagnostics, Sources};
use entail::policy::Report;
use entail::workflow::policy::testing::{TestOptions, test};
use entail::workflow::policy::{CheckOptions, Checked, check};
use entail::workflow::{Host, Nobody};
use entail::world::{Files, World};
use entail_rules::library::LIBRARY;

use crate::support::dice::Dice;
use crate::support::number;
use crate::support::rules::{self, Rule};

/// How many are tried, and where they begin.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let (count, seed) = (number("ENTAIL_POLICIES").unwrap_or(usual), number("ENTAIL_SEED"));
    let first = seed.map_or(1, |it| 1 + it.wrapping_mul(1_000_003));
    first..first + count
}

/// Judges a configuration in memory; nothing where a rule is faulty.
fn judged(texts: &[(&str, &str)]) -> Option<Report> {
    let (checked, is_faulty) = checked(texts, Limits::default());
    let checked = checked.expect("the configuration can be read");
    (!is_faulty).then_some(checked.report)
}

/// Judges a configuration in memory, and says whether a rule is faulty.
fn checked(texts: &[(&str, &str)], limits: Limits) -> (Result<Checked, Diagnostics>, bool) {
    let root = Path::new("/root-of-random-policies");
    let world = World {
        cwd: root.into(),
        root: root.into(),
        environment: Default::default(),
        files: Files::of_texts(root, texts.iter().copied()),
        ..World::of_this_process()
    };
    let (world, stop, sources) = (Arc::new(world), Default::default(), Sources::default());
    let host = Host { world: &world, sources: &sources, tell: &Nobody, ask: &Nobody, stop: &stop };
    let checked = check(&host, &CheckOptions { limits, ..CheckOptions::default() });
    let is_faulty = |it: &entail::diagnostic::Diagnostic| {
        let file = it.subject.map(|it| sources.place(it));
        it.is_error() && file.is_some_and(|it| it.contains(".rules"))
    };
    let problems = checked.as_ref().map_or_else(|it| it, |it| &it.problems);
    let is_faulty = problems.iter().any(is_faulty);
    (checked, is_faulty)
}

/// Verdicts as documents, without lines of rules.
fn documents(report: &Report) -> Vec<String> {
    let document = |it: &entail::policy::verdict::Verdict| {
        let mut document = it.to_json();
        let members = document.as_object_mut().expect("an object");
        members.remove("rule_line");
        members.remove("rule_file");
        members.remove("waits_for");
        document.to_string()
    };
    report.verdicts.iter().map(document).collect()
}

/// What a report says of rules and addresses: for certain, and at all.
fn said(report: &Report) -> [BTreeSet<(String, String)>; 2] {
    let all = report.verdicts.iter();
    let key = |it: &entail::policy::verdict::Verdict| (it.name.clone(), it.address.clone());
    [all.clone().filter(|it| it.is_certain).map(key).collect(), all.map(key).collect()]
}

#[test]
fn what_is_certain_stays_so_when_values_become_known() {
    let (mut tried, mut certain, mut possible) = (0, 0, 0);
    for seed in seeds(150) {
        let mut dice = Dice(seed);
        let config = rules::configuration(&mut dice);
        let rules = rules::text(&rules::rules(&mut dice));
        let texts = [("main.tf", &*config), ("policies/p.rules", &*rules)];
        let Some(before) = judged(&texts) else { continue };
        tried += 1;
        let mut values = rules::values(&mut dice, false);
        let mut reports = vec![(String::new(), before)];
        for _ in 0..2 {
            let texts = [texts[0], texts[1], ("terraform.tfvars", &*values)];
            let report = judged(&texts).expect("the rules are the same");
            reports.push((values.clone(), report));
            // What had a value keeps it.
            let more = rules::values(&mut dice, true);
            let is_new = |line: &&str| {
                let name = line.split(' ').next().unwrap_or_default();
                !values.lines().any(|it| it.split(' ').next() == Some(name))
            };
            let added: Vec<&str> = more.lines().filter(is_new).collect();
            values = format!("{values}{}\n", added.join("\n"));
        }
        for pair in reports.windows(2) {
            let [(certain_before, all_before), (certain_after, all_after)] =
                [&pair[0].1, &pair[1].1].map(said).map(|[a, b]| (a, b));
            let context =
                format!("seed {seed}\n{config}\n-- {}\n-- {}\n{rules}", pair[0].0, pair[1].0);
            for it in &certain_before {
                assert!(certain_after.contains(it), "{it:?} is taken back: {context}");
            }
            for it in &all_after {
                let (rule, address) = it;
                // Before keys are known, one instance stands for all.
                let whole = address.split('[').next().unwrap_or_default();
                let stands = (rule.clone(), format!("{whole}[*]"));
                let was_possible = all_before.contains(it) || all_before.contains(&stands);
                assert!(was_possible, "{it:?} was not possible: {context}");
            }
            certain += certain_after.len();
            possible += all_before.len() - certain_before.len();
        }
    }
    assert!(tried > 50 && certain > tried && possible > tried, "{tried} {certain} {possible}");
}

/// Holds verdicts of rules against those of the same rules written otherwise.
#[track_caller]
fn are_alike(seed: u64, config: &str, texts: &[String], others: &[String]) -> bool {
    let named = |texts: &[String]| -> Vec<(String, String)> {
        let all = texts.iter().enumerate();
        all.map(|(at, text)| (format!("policies/p{at}.rules"), text.clone())).collect()
    };
    let judge = |texts: &[String]| {
        let named = named(texts);
        let mut all = vec![("main.tf", config)];
        all.extend(named.iter().map(|(name, text)| (&**name, &**text)));
        judged(&all)
    };
    let (Some(one), other) = (judge(texts), judge(others)) else { return false };
    let context =
        format!("seed {seed}\n{config}\n{}\n---- and\n{}", texts.join("--\n"), others.join("--\n"));
    let other = other.unwrap_or_else(|| panic!("only one of them can be read: {context}"));
    pretty_assertions::assert_eq!(documents(&one), documents(&other), "{context}");
    true
}

fn shuffle<T>(dice: &mut Dice, items: &mut [T]) {
    for at in (1..items.len()).rev() {
        items.swap(at, dice.below(at + 1));
    }
}

#[test]
fn order_of_rules_files_and_premises_changes_nothing() {
    let mut tried = 0;
    for seed in seeds(100) {
        let mut dice = Dice(seed);
        let config = rules::configuration(&mut dice);
        let rules = rules::rules(&mut dice);
        let mut others = rules.clone();
        shuffle(&mut dice, &mut others);
        for rule in others.iter_mut().filter(|it| !it.is_ordered()) {
            shuffle(&mut dice, &mut rule.premises);
        }
        let (first, rest) = others.split_at(dice.below(others.len()));
        let others = [rules::text(first), rules::text(rest)];
        tried += usize::from(are_alike(seed, &config, &[rules::text(&rules)], &others));
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn a_relation_taken_out_of_a_rule_says_the_same() {
    let mut tried = 0;
    for seed in seeds(100) {
        let mut dice = Dice(seed);
        let config = rules::configuration(&mut dice);
        let rules = rules::rules(&mut dice);
        let mut others: Vec<Rule> = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            // An aggregate is over what stands before it, and not over what is taken out.
            match rule.premises.len() {
                2.. if !rule.is_ordered()
                    && !rule.head.starts_with(&rule.premises[1].text[..2]) =>
                {
                    let split = 1 + dice.below(rule.premises.len() - 1);
                    others.extend(rule.split(split, &format!("part_{at}")));
                }
                _ => others.push(rule.clone()),
            }
        }
        let [one, other] = [&rules, &others].map(|it| rules::text(it));
        tried += usize::from(are_alike(seed, &config, &[one], &[other]));
    }
    assert!(tried > 30, "{tried}");
}

/// What may stand anywhere in rules.
const STRANGE: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "<--",
    "!",
    "==",
    ".",
    "\"",
    "{{",
    "if ",
    "let x = ",
    " in ",
    "agg ",
    "old(",
    "count()",
    "// @rule a.b: c\n",
    "// @severity",
    "_",
    "n",
    "true",
    "-1",
    "1e999",
    "999999999999999999999",
    "::",
    "core::",
    "deny(n, \"x\") <-- ",
    "h0(n) <-- h0(n);",
    "relation r(Node);",
    "\u{202e}",
    "\u{0}",
    "é",
    "\r\n",
    "${",
    "[_]",
    "[k]",
    "..",
    "jsondecode(",
    "[for a in ",
    "n.a.b.c",
    "? :",
    "/*",
    "#",
    "plan(p), ",
    "sum(x) in ",
    "range(1000000)",
    "\\",
];

/// Changes a text in a place or two.
fn mutated(dice: &mut Dice, text: &str) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(4) {
        if text.is_empty() {
            break;
        }
        let at = dice.below(text.len());
        let end = (at + 1 + dice.below(30)).min(text.len());
        match dice.below(5) {
            0 => drop(text.drain(at..end)),
            1 => {
                let part = text[at..end].to_vec();
                let to = dice.below(text.len());
                text.splice(to..to, part);
            }
            2 => drop(text.splice(at..end, dice.pick(STRANGE).chars())),
            3 => drop(text.splice(at..at, dice.pick(STRANGE).repeat(1 + dice.below(3)).chars())),
            _ => {
                let strange = dice.pick(STRANGE).repeat(if dice.one_in(20) { 600 } else { 2 });
                text.splice(at..at, strange.chars());
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn whatever_a_rule_file_holds_it_is_judged_or_told_within_bounds() {
    let limits = Limits { rows: 20_000, steps: 200_000, time: Duration::from_secs(5) };
    let (mut faulty, mut exceeded) = (0, 0);
    let (mut longest, seeds) = (Duration::ZERO, seeds(300));
    for seed in seeds.clone() {
        let mut dice = Dice(seed);
        let config = rules::configuration(&mut dice);
        let text = match dice.below(3) {
            0 => dice.pick(LIBRARY).1.to_owned(),
            _ => rules::text(&rules::rules(&mut dice)),
        };
        let text = if dice.one_in(4) { text } else { mutated(&mut dice, &text) };
        let texts = [("main.tf", &*config), ("policies/p.rules", &*text)];
        let begun = Instant::now();
        let judge = || checked(&texts, limits.clone());
        let (judged, is_faulty) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(judge))
            .unwrap_or_else(|_| panic!("seed {seed}: it panics over\n{config}\n----\n{text}"));
        longest = longest.max(begun.elapsed());
        assert!(longest < 4 * limits.time, "seed {seed} takes {longest:?}\n{config}\n----\n{text}");
        faulty += u64::from(is_faulty);
        exceeded += u64::from(judged.is_err());
    }
    eprintln!(
        "{seeds:?}: {faulty} faulty, {exceeded} ended by a bound, the longest took {longest:?}"
    );
    let count = seeds.end - seeds.start;
    assert!(faulty > count / 4 && faulty < count * 9 / 10, "{faulty} of {count} are faulty");
}

const CASES: &str = r#"
case "denied" {
  configuration = <<-HCL
    variable "a" { default = "x" }
    resource "t_a" "r" { a = var.a }
  HCL
  variables = { a = "y" }
  expect "a.a" {
    on      = ["t_a.r"]
    certain = true
  }
}
case "planned" {
  configuration = "resource \"terraform_data\" \"r\" { input = 1 }"
  plan          = true
  state         = "fixtures/none.tfstate"
  expect_none   = true
}
case "a folder" {
  directory = "fixtures"
  expect "a.b" {}
}
"#;

#[test]
fn whatever_a_file_of_cases_holds_it_is_run_or_told() {
    let strange = [
        "case \"x\" {",
        "}",
        "expect \"a.b\" {",
        "plan = true",
        "directory = \"..\"",
        "on = [",
        "<<-HCL",
        "null",
    ];
    let rules = "// @rule a.a: `n` is y\ndeny(n, \"{n}\") <-- resource(n, _), n.a == \"y\";\n// @rule a.b: `n`\nwarn(n, \"{n}\") <-- resource(n, _), !n.a;\n";
    let root = Path::new("/root-of-random-cases");
    for seed in seeds(100) {
        let mut dice = Dice(seed);
        let mut text = mutated(&mut dice, CASES);
        if dice.one_in(2) {
            let places: Vec<usize> = text.match_indices('\n').map(|it| it.0).collect();
            let at = if places.is_empty() { 0 } else { *dice.pick(&places) };
            text.insert_str(at, &format!("\n{}\n", dice.pick(&strange)));
        }
        let texts = [
            ("policies/p.rules", rules),
            ("policies/p.policytest.hcl", &text),
            ("policies/fixtures/main.tf", "resource \"t_a\" \"r\" {}\n"),
        ];
        let world = World {
            cwd: root.into(),
            root: root.into(),
            environment: Default::default(),
            files: Files::of_texts(root, texts),
            ..World::of_this_process()
        };
        let (world, stop, sources) = (Arc::new(world), Default::default(), Sources::default());
        let host =
            Host { world: &world, sources: &sources, tell: &Nobody, ask: &Nobody, stop: &stop };
        let options = TestOptions { coverage: true, mutate: true, ..TestOptions::default() };
        let run = || test(&host, &options);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
            .unwrap_or_else(|_| panic!("seed {seed}: it panics over\n{text}"));
        // Nothing passes that cannot be read.
        let tested = ended.as_ref().map_or(0, |it| it.files.len());
        assert!(tested > 0 || ended.is_err() || !text.contains("case"), "seed {seed}\n{text}");
    }
}

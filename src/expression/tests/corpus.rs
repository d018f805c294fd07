//! Runs the corpus of expressions that stands beside the repository, where it is there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::*;
use super::support::{Known, value_of};
use crate::value::json;

/// The share of records that must agree, per cent.
const WANTED: usize = 95;

/// Where the corpus is: beside the repository, or where `ENTAIL_CONFORMANCE` says.
fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance"));
    let folder = std::env::var_os("ENTAIL_CONFORMANCE").map_or_else(beside, PathBuf::from);
    folder.join("visible/expressions.jsonl").exists().then_some(folder)
}

/// What the record wants and what came, where they differ.
fn difference(record: &serde_json::Value, scope: &Known) -> Option<String> {
    let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let expression = text("expr");
    let (value, problems) = value_of(&expression, scope);
    let error = problems.iter().find(|it| it.is_error());
    if record.get("error").is_some() {
        let wanted = format!("{}: {}", text("error"), text("error_detail"));
        return match error {
            Some(_) => None,
            None => Some(format!("want error {wanted}, got {}", print::format_value(&value))),
        };
    }
    if let Some(error) = error {
        return Some(format!("unexpected {error}"));
    }
    let (bare, _) = value.unmark_deep();
    let got = json::to_json(&bare).unwrap_or_else(|error| error.to_string());
    let number_text = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    if got != text("json") && number_text(&got) != number_text(&text("json")) {
        return Some(format!("want {}, got {got}", text("json")));
    }
    let plain = |it: &str| {
        it.chars()
            .filter(|it| !it.is_whitespace())
            .collect::<String>()
            .replace(",]", "]")
            .replace(",}", "}")
            .replace(",)", ")")
    };
    let (wanted, got) = (plain(&text("type")), plain(&print::format_type(bare.ty())));
    if wanted != got {
        return Some(format!("want type {wanted}, got {got}"));
    }
    let shown = print::format_value(&value);
    if let Some(console) = record["console"].as_str()
        && console != shown.replace('\r', "")
    {
        return Some(format!("want on the console {console}, got {shown}"));
    }
    (record["sensitive"].as_bool().unwrap_or(false) != value.contains_sensitive())
        .then(|| "sensitivity differs".to_owned())
}

/// Whether the message agrees, too.
fn agrees(record: &serde_json::Value, scope: &Known) -> bool {
    let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let (_, problems) = value_of(&text("expr"), scope);
    problems.iter().any(|it| {
        it.summary == text("error")
            && it.detail.split_whitespace().eq(text("error_detail").split_whitespace())
    })
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped corpus must not look like a passed one")]
fn the_corpus_of_expressions_agrees() {
    let Some(folder) = folder() else {
        eprintln!("SKIPPED: there is no corpus of expressions beside the repository");
        return;
    };
    let scope = Known::at(&folder);
    let filter = std::env::var("CORPUS_TOPIC").unwrap_or_default();
    let corpus = std::fs::read_to_string(folder.join("visible/expressions.jsonl"))
        .expect("the corpus is readable");
    let (mut topics, mut failures) = (BTreeMap::<String, (usize, usize)>::new(), Vec::new());
    let (mut messages, mut errors, mut unlike) = (0, 0, Vec::new());
    for line in corpus.lines().filter(|it| !it.is_empty()) {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record is JSON");
        let topic = record["topic"].as_str().unwrap_or_default().to_owned();
        if record["dialect"] == "terraform" || !topic.contains(&filter) {
            continue;
        }
        let counts = topics.entry(topic.clone()).or_default();
        counts.1 += 1;
        match difference(&record, &scope) {
            None => counts.0 += 1,
            Some(why) => failures.push(format!(
                "{topic}: {}\n    {why}",
                record["expr"].as_str().unwrap_or_default()
            )),
        }
        if record.get("error").is_some() {
            errors += 1;
            if agrees(&record, &scope) {
                messages += 1;
            } else if !filter.is_empty() {
                let (_, got) = value_of(record["expr"].as_str().unwrap_or_default(), &scope);
                unlike.push(format!(
                    "{}\n    want {}: {}\n    got  {:?}",
                    record["expr"],
                    record["error"],
                    record["error_detail"],
                    got.iter().map(ToString::to_string).collect::<Vec<_>>()
                ));
            }
        }
    }
    let (passed, total) = topics.values().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    for (topic, (passed, total)) in topics.iter().filter(|it| it.1.0 < it.1.1) {
        eprintln!("{topic:30} {passed:5} of {total:5}");
    }
    if std::env::var_os("CORPUS_SHOW").is_some() {
        failures.iter().chain(&unlike).for_each(|it| eprintln!("{it}"));
    }
    eprintln!(
        "{passed} of {total} records agree; {messages} of {errors} error messages agree to the letter"
    );
    assert!(passed * 100 >= total * WANTED, "fewer than {WANTED} % of the corpus agree");
}

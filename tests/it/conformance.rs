//! The corpora in `testdata/conformance/`: what the real program gave, and what we give.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use regex::Regex;
use serde_json::Value;

use super::answer;
use crate::support::root;

fn records(file: &str) -> Vec<Value> {
    let path = root().join("testdata/conformance").join(file);
    let text = fs::read_to_string(path).expect("a corpus");
    text.lines().map(|it| serde_json::from_str(it).expect("a record")).collect()
}

fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_default()
}

/// The records that are known to fail, by id, each with its reason.
fn known() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("testdata/conformance/known")).expect("the list");
    let entry = |it: &str| {
        let (id, reason) = it.split_once(' ').expect("an id and a reason");
        (id.to_owned(), reason.trim().to_owned())
    };
    text.lines().filter(|it| !it.is_empty() && !it.starts_with('#')).map(entry).collect()
}

/// Every record that fails must be known to, and every one that is known to must fail.
#[track_caller]
fn assert_as_known(file: &str, difference: impl Fn(&Value) -> Option<String>) {
    let (known, records) = (known(), records(file));
    let mut wrong = Vec::new();
    for record in &records {
        let id = text(record, "id");
        match (difference(record), known.contains_key(id)) {
            (Some(why), false) => wrong.push(format!("{id} {}: {why}", text(record, "topic"))),
            (None, true) => wrong.push(format!("{id} passes: take it from the list")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), records.len(), wrong.join("\n"));
}

/// What the record wants and what came, where they differ.
fn expression_difference(record: &Value) -> Option<String> {
    if record["dialect"] == "terraform" {
        return None;
    }
    let got = answer::evaluate(text(record, "expr"), &root().join("testdata/conformance"));
    if record.get("error").is_some() {
        let got = got.ok()?;
        return Some(format!("wants the error {}, got {}", text(record, "error"), got.console));
    }
    let got = match got {
        Ok(it) => it,
        Err(it) => return Some(format!("unexpected {}: {}", it.summary, it.detail)),
    };
    let number = |text: &str| serde_json::from_str::<Value>(text).ok();
    let wants = text(record, "json");
    if got.json != wants && number(&got.json) != number(wants) {
        return Some(format!("wants {wants}, got {}", got.json));
    }
    let (wants, ty) = (plain(text(record, "type")), plain(&got.ty));
    if wants != ty {
        return Some(format!("wants the type {wants}, got {ty}"));
    }
    if record["console"].as_str().is_some_and(|it| it != got.console) {
        return Some(format!("wants on the console {}, got {:?}", record["console"], got.console));
    }
    (record["sensitive"].as_bool().unwrap_or(false) != got.is_sensitive)
        .then(|| "sensitivity differs".to_owned())
}

/// A type without what may differ: blanks, and commas before a closing bracket.
fn plain(ty: &str) -> String {
    let comma = Regex::new(r",([)\]}])").expect("a valid expression");
    let bare: String = ty.chars().filter(|it| !it.is_whitespace()).collect();
    comma.replace_all(&bare, "$1").into_owned()
}

#[test]
fn expressions_give_what_the_real_program_gives() {
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(|| assert_as_known("expressions.jsonl", expression_difference))
        .expect("a thread")
        .join()
        .unwrap_or_else(|cause| std::panic::resume_unwind(cause));
}

#[test]
fn files_are_formatted_as_the_real_program_formats_them() {
    assert_as_known("fmt.jsonl", |record| {
        match (answer::format(text(record, "in")), record["out"].as_str()) {
            (Ok(got), Some(wants)) => {
                (got != wants).then(|| format!("wants {wants:?}, got {got:?}"))
            }
            (Ok(got), None) => Some(format!("wants an error, got {got:?}")),
            (Err(it), Some(_)) => Some(format!("unexpected {}: {}", it.summary, it.detail)),
            (Err(_), None) => None,
        }
    });
}

#[test]
fn the_list_of_known_failures_names_records_and_the_page_on_compatibility_names_them_too() {
    let all: BTreeSet<String> = ["expressions.jsonl", "fmt.jsonl"]
        .iter()
        .flat_map(|it| records(it))
        .map(|it| text(&it, "id").to_owned())
        .collect();
    let page = fs::read_to_string(root().join("docs/compatibility.md")).expect("the page");
    for (id, reason) in known() {
        assert!(all.contains(&id), "{id} is no record");
        assert!(page.contains(&reason), "docs/compatibility.md does not say: {reason}");
    }
}

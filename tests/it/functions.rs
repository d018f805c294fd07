//! Every function with arguments of every kind – null, unknown, sensitive, empty, huge, of another type – beside OpenTofu.
//!
//! `testdata/conformance/calls.txt` has a call of each function, its arguments apart from each other by tabs. Each argument is replaced
//! in turn, and one is left out or added. What OpenTofu 1.13-dev gives stands in `testdata/conformance/functions.txt`:
//! `UPDATE_EXPECT=1` writes it, where `ENTAIL_TOFU` names OpenTofu. `ENTAIL_TOFU` alone compares it with that program.

#![expect(clippy::print_stderr, reason = "a comparison that is left out says so")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{binary, root};

/// How calls begin whose results differ from those of the table, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("base64gzip(", "another library compresses otherwise"),
    (
        "contains([\"a\", \"b\"], null)",
        "the real program gives an unknown that never becomes known",
    ),
];

/// The longest result that is written out, in characters.
const LONGEST: usize = 120;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Bool,
    List,
    Object,
}

const KINDS: [Kind; 5] = [Kind::Text, Kind::Number, Kind::Bool, Kind::List, Kind::Object];

impl Kind {
    fn of(argument: &str) -> Kind {
        match argument.as_bytes().first() {
            Some(b'"') => Kind::Text,
            Some(b'[') => Kind::List,
            Some(b'{') => Kind::Object,
            Some(b't' | b'f') => Kind::Bool,
            _ => Kind::Number,
        }
    }

    /// Null of a type, unknown of a type, empty, huge, and one like any other.
    fn values(self) -> [&'static str; 5] {
        match self {
            Kind::Text => [
                "tostring(null)",
                "terraform_data.u.id",
                "\"\"",
                "join(\"\", [for i in range(1000) : \"ab\"])",
                "\"x\"",
            ],
            Kind::Number => ["tonumber(null)", "tonumber(terraform_data.u.id)", "0", "1e300", "7"],
            Kind::Bool => ["tobool(null)", "tobool(terraform_data.u.id)", "false", "true", "true"],
            Kind::List => [
                "tolist(null)",
                "split(\",\", terraform_data.u.id)",
                "[]",
                "[for i in range(1000) : \"a${i}\"]",
                "[\"x\"]",
            ],
            Kind::Object => [
                "tomap(null)",
                "zipmap(split(\",\", terraform_data.u.id), split(\",\", terraform_data.u.id))",
                "{}",
                "{ for i in range(300) : \"k${i}\" => \"v\" }",
                "{ x = \"y\" }",
            ],
        }
    }
}

/// Returns what stands in place of an argument.
fn variants(argument: &str) -> Vec<String> {
    let kind = Kind::of(argument);
    let [null, unknown, empty, huge, _] = kind.values();
    let mut all: Vec<String> =
        ["null", null, unknown, "terraform_data.u.output", empty, huge].map(str::to_owned).into();
    all.push(format!("sensitive({argument})"));
    let inner = argument.get(1..argument.len() - 1).unwrap_or_default().trim();
    let items = ["null", "terraform_data.u.id", "sensitive(\"s\")"];
    match kind {
        Kind::List => {
            let comma = if inner.is_empty() { "" } else { ", " };
            all.extend(items.map(|it| format!("[{inner}{comma}{it}]")));
            all.extend([format!("toset({argument})"), "[null]".to_owned()]);
        }
        Kind::Object => {
            all.extend(items.map(|it| format!("{{ {inner}, z = {it} }}")));
            all.push("{ a = null }".to_owned());
        }
        _ => {}
    }
    all.extend(KINDS.iter().filter(|it| **it != kind).map(|it| it.values()[4].to_owned()));
    all
}

/// Returns every call.
fn calls() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("testdata/conformance/calls.txt"));
    let mut all: Vec<String> = Vec::new();
    for line in text.expect("the calls").lines() {
        let (name, arguments) = line.split_once('\t').expect("a name and arguments");
        let arguments: Vec<&str> = arguments.split('\t').collect();
        let mut add = |arguments: &[&str]| {
            let call = format!("{name}({})", arguments.join(", "));
            if !all.contains(&call) {
                all.push(call);
            }
        };
        add(&arguments);
        for at in 0..arguments.len() {
            for variant in variants(arguments[at]) {
                let mut changed = arguments.clone();
                changed[at] = &variant;
                add(&changed);
            }
        }
        add(&arguments[..arguments.len() - 1]);
        add(&[&arguments[..], &["\"more\""]].concat());
    }
    all
}

/// Returns what a program makes of the calls.
fn results(program: &Path, calls: &[String]) -> BTreeMap<String, String> {
    let mut text = "resource \"terraform_data\" \"u\" {\n  input = timestamp()\n}\n".to_owned();
    for (at, call) in calls.iter().enumerate() {
        let _ = write!(
            text,
            "output \"value{at}\" {{\n  value     = try(jsonencode([{call}]), \"failed\")\n  sensitive = true\n}}\n\
             output \"sensitive{at}\" {{\n  value = try(issensitive(jsonencode([{call}])), null)\n}}\n"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.tf"), text).expect("the configuration");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder.path());
        command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("TF_INPUT", "0");
        command.output().expect("the program starts")
    };
    run(&["init", "-no-color"]);
    let planned = run(&["plan", "-no-color", "-out=plan"]);
    assert!(planned.status.success(), "{}", String::from_utf8_lossy(&planned.stderr));
    let document: Value =
        serde_json::from_slice(&run(&["show", "-json", "plan"]).stdout).expect("a plan");
    let outputs = &document["output_changes"];
    let told = |(at, call): (usize, &String)| {
        let value = &outputs[format!("value{at}")];
        let result = match (value["after_unknown"].as_bool(), value["after"].as_str()) {
            (Some(true), _) => "unknown".to_owned(),
            (_, Some(text)) => shortened(text),
            (_, None) => "nothing".to_owned(),
        };
        let is_sensitive = outputs[format!("sensitive{at}")]["after"] == true;
        (call.clone(), if is_sensitive { format!("{result} sensitive") } else { result })
    };
    calls.iter().enumerate().map(told).collect()
}

/// Of a long text the beginning, and how long it is with what its characters add up to.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let sum = text.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let first: String = text.chars().take(LONGEST / 2).collect();
    format!("{first}… {count} characters, {sum:016x}")
}

fn table(results: &BTreeMap<String, String>, calls: &[String]) -> String {
    calls.iter().map(|it| format!("{it}\t{}\n", results[it])).collect()
}

fn table_file() -> PathBuf {
    root().join("testdata/conformance/functions.txt")
}

#[test]
fn functions_give_what_they_give_in_the_real_program() {
    let calls = calls();
    let other = std::env::var_os("ENTAIL_TOFU").map(PathBuf::from);
    let theirs = other.map(|it| table(&results(&it, &calls), &calls));
    if let Some(theirs) = &theirs
        && std::env::var_os("UPDATE_EXPECT").is_some()
    {
        std::fs::write(table_file(), theirs).expect("the table");
    }
    let recorded = std::fs::read_to_string(table_file()).expect("the table");
    match &theirs {
        Some(theirs) => assert_eq!(&recorded, theirs, "the table is of another release"),
        None => eprintln!("ENTAIL_TOFU names no program: only the recorded table is compared"),
    }
    let ours = results(binary::path(), &calls);
    let mut differing = String::new();
    let mut count = 0;
    for line in recorded.lines() {
        let (call, theirs) = line.rsplit_once('\t').expect("a call and its result");
        let Some(ours) = ours.get(call) else { continue };
        count += 1;
        if ours != theirs && !OTHERWISE.iter().any(|it| call.starts_with(it.0)) {
            let _ = writeln!(differing, "{call}\n    theirs: {theirs}\n    ours:   {ours}");
        }
    }
    assert_eq!(count, calls.len(), "the table lacks calls");
    assert_eq!(differing, "", "of {count} calls");
}

//! The same plans by OpenTofu: every case of `testdata/` that both can run, compared in `show -json`, member by member.
//!
//! Needs the program: `ENTAIL_TOFU=/path/to/tofu`. Providers other than the builtin one must be found by its own means
//! (`TF_CLI_CONFIG_FILE`, mirrors). What differs on purpose stands in `ON_PURPOSE`, and in `docs/compatibility.md`.

#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Case, CaseCommand, binary, root};

/// Members that differ on purpose: the end of the path, `*` for any one step; and why.
const ON_PURPOSE: &[(&str, &str)] = &[
    ("timestamp", "each plan has its own"),
    ("terraform_version", "each program has its own"),
    ("output_changes.*", "an output that only changes its type is shown"),
    ("relevant_attributes", "one resource's attributes have no order there"),
];

/// Cases in which we do something else, and what.
const OTHERWISE: &[(&str, &str)] = &[
    ("order/reversed-dependency", "applied, where OpenTofu ends in `Cycle:`"),
    ("order/user-of-what-is-gone", "applied, where OpenTofu ends in `Cycle:`"),
    ("modules/count-and-nested", "expanded before planning, as above"),
    ("modules/moved-between-sources", "expanded before planning, as above"),
    ("modules/decided-by-variable", "a source that variables decide is not in the configuration"),
    (
        "modules/source-per-instance",
        "expanded before planning, where OpenTofu knows no `each` in a source",
    ),
    ("providers/by-region", "modules in modules have no order there, and another one in each run"),
    ("providers/count", "a provider may have count, which is refused there"),
    (
        "providers/forms-exchanged",
        "a provider without an alias may have for_each, which is refused there",
    ),
    ("providers/seed-state", "a provider without an alias may have for_each, as above"),
    (
        "plan/provider-functions",
        "encode_expr gives what is not known yet, where OpenTofu fails in validate",
    ),
    ("actions/check-data", "a check's data source that cannot be read stands in no state"),
];

/// What one program made of a plan.
struct Made {
    code: Option<i32>,
    /// A provider is not to be had.
    lacks_provider: bool,
    document: Option<Value>,
}

struct Program {
    path: PathBuf,
    folder: tempfile::TempDir,
}

impl Program {
    fn run(&self, arguments: &[&str]) -> std::process::Output {
        Command::new(&self.path)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env_remove("TF_WORKSPACE")
            .output()
            .expect("the program starts")
    }

    /// Installs modules; that providers cannot be is seen in planning.
    fn init(&self) {
        drop(self.run(&["init", "-no-color"]));
    }

    fn plan(&self, flags: &[&str]) -> Made {
        let file = self.folder.path().join("compared.plan");
        drop(std::fs::remove_file(&file));
        let mut arguments = vec!["plan", "-no-color", "-out=compared.plan"];
        arguments.extend(flags);
        let ran = self.run(&arguments);
        let said = String::from_utf8_lossy(&ran.stderr);
        let lacks = [
            "Inconsistent dependency lock file",
            "Required plugins are not installed",
            "unavailable provider",
        ];
        let lacks_provider = lacks.iter().any(|it| said.contains(it));
        let shown = file.exists().then(|| self.run(&["show", "-json", "compared.plan"]));
        let document = shown.and_then(|it| serde_json::from_slice(&it.stdout).ok());
        Made {
            code: ran.status.code(),
            lacks_provider,
            document: document.map(|it| normal(it, &mut BTreeMap::new())),
        }
    }
}

/// Gives ids that are made by chance names of their own, in the order of their appearance.
pub(crate) fn normal(value: Value, names: &mut BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => {
            let bytes = text.as_bytes();
            let is_uuid = bytes.len() == 36 && [8, 13, 18, 23].iter().all(|&at| bytes[at] == b'-');
            let is_number = (15..21).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_digit);
            if !is_uuid && !is_number {
                return Value::String(text);
            }
            let next = format!("<id {}>", names.len() + 1);
            Value::String(names.entry(text).or_insert(next).clone())
        }
        Value::Array(items) => items.into_iter().map(|it| normal(it, names)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, it)| (name, normal(it, names))).collect()
        }
        other => other,
    }
}

fn differences(path: &str, theirs: &Value, ours: &Value, found: &mut Vec<String>) {
    if theirs == ours || is_on_purpose(path) {
        return;
    }
    match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let none = Value::String("(absent)".into());
                differences(&at, a.get(name).unwrap_or(&none), b.get(name).unwrap_or(&none), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}.{at}"), a, b, found);
            }
        }
        _ => found.push(format!("{path}: {theirs} there, {ours} here")),
    }
}

fn is_on_purpose(path: &str) -> bool {
    let steps: Vec<&str> = path.split('.').collect();
    ON_PURPOSE.iter().any(|(pattern, _)| {
        let pattern: Vec<&str> = pattern.split('.').collect();
        pattern.len() == steps.len() && pattern.iter().zip(&steps).all(|(a, b)| *a == "*" || a == b)
    })
}

/// What became of a case.
enum Verdict {
    /// So many plans were compared.
    Compared(usize),
    /// One of the two cannot run it.
    Impossible(&'static str),
    Different(Vec<String>),
}

fn compare(case: &Case, tofu: &Path) -> Result<Verdict, String> {
    let new = |path: &Path| -> Result<Program, String> {
        let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
        case.write_files("", folder.path())?;
        Ok(Program { path: path.to_owned(), folder })
    };
    let (theirs, ours) = (new(tofu)?, new(binary::path())?);
    let both = [&theirs, &ours];
    let mut compared = 0;
    let mut found = Vec::new();
    both.iter().for_each(|it| it.init());
    for command in case.commands()? {
        let (line, arguments) = match &command {
            CaseCommand::Files(stage) => {
                for it in both {
                    case.write_files(stage, it.folder.path())?;
                }
                both.iter().for_each(|it| it.init());
                continue;
            }
            CaseCommand::Remove(file) => {
                both.iter().for_each(|it| drop(std::fs::remove_file(it.folder.path().join(file))));
                continue;
            }
            CaseCommand::Cat(_) => continue,
            CaseCommand::Run { line, arguments, .. } => (line, arguments),
        };
        let [verb, flags @ ..] = &arguments[..] else { continue };
        let selects = |it: &String| {
            ["-target", "-exclude", "-compat", "-generate"].iter().any(|flag| it.starts_with(flag))
        };
        let changes = ["deploy", "apply", "destroy", "refresh", "steps"].contains(&verb.as_str());
        let plans = changes || ["plan", "actions"].contains(&verb.as_str());
        let edits = ["taint", "untaint", "import"].contains(&verb.as_str())
            || (verb == "state" && !flags.is_empty());
        if flags.iter().any(selects) || flags.iter().any(|it| !it.starts_with('-')) && plans {
            // What is selected, and so what exists afterwards, differs on purpose.
            if changes {
                break;
            }
            continue;
        }
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if edits {
            both.iter().for_each(|it| drop(it.run(&words)));
        }
        if !plans {
            continue;
        }
        let own = ["-auto-approve", "-no-color", "-json", "-detailed-exitcode", "-concise"];
        let mut flags: Vec<&str> = words[1..].to_vec();
        flags.retain(|it| !own.contains(it) && !it.starts_with("-out") && !it.starts_with("-json"));
        match verb.as_str() {
            "destroy" => flags.push("-destroy"),
            "refresh" => flags.push("-refresh-only"),
            _ => {}
        }
        let (a, b) = (theirs.plan(&flags), ours.plan(&flags));
        if a.lacks_provider || b.lacks_provider {
            return Ok(Verdict::Impossible("a provider is missing"));
        }
        compared += 1;
        if a.code != b.code {
            found.push(format!("`{line}` ends with {:?} there, {:?} here", a.code, b.code));
            break;
        }
        if let (Some(a), Some(b)) = (&a.document, &b.document) {
            let mut here = Vec::new();
            differences("", a, b, &mut here);
            found.extend(here.into_iter().map(|it| format!("`{line}` {it}")));
        }
        if changes && a.code == Some(0) {
            both.iter().for_each(|it| drop(it.run(&["apply", "-no-color", "compared.plan"])));
        }
    }
    Ok(match (found.is_empty(), compared) {
        (true, 0) => Verdict::Impossible("it selects, or plans nothing"),
        (true, _) => Verdict::Compared(compared),
        (false, _) => Verdict::Different(found),
    })
}

#[test]
fn plans_are_those_of_opentofu() {
    let Some(tofu) = std::env::var_os("ENTAIL_TOFU") else {
        eprintln!("SKIPPED: set ENTAIL_TOFU to the path of OpenTofu to compare plans with it");
        return;
    };
    let wanted = std::env::var("CASE").unwrap_or_default();
    let (mut plans, mut cases, mut left_out, mut different) = (0, 0, Vec::new(), Vec::new());
    for path in crate::support::all_cases() {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        if !name.contains(&wanted) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a case");
        let case = Case::parse(&text).expect("a case");
        match compare(&case, Path::new(&tofu)) {
            Ok(Verdict::Compared(number)) => (plans, cases) = (plans + number, cases + 1),
            Ok(Verdict::Impossible(why)) => left_out.push(format!("{name}: {why}")),
            Ok(Verdict::Different(found)) => {
                let known = OTHERWISE.iter().find(|it| name.contains(it.0));
                if let Some((_, why)) = known {
                    left_out.push(format!("{name}: {why}"));
                    continue;
                }
                different.push(format!("{name}\n    {}", found.join("\n    ")));
            }
            Err(why) => different.push(format!("{name}: {why}")),
        }
    }
    eprintln!("{plans} plans of {cases} cases agree; left out:\n  {}", left_out.join("\n  "));
    assert!(different.is_empty(), "{} cases differ:\n{}", different.len(), different.join("\n"));
}

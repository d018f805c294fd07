//! The messages of `test`.

use entail::world::PRODUCT;
use std::collections::BTreeMap;

use entail::address::Instance;
use entail::diagnostic::{Diagnostic, Severity, Sources};
use entail::testing::Status;
use entail::value::Str;
use entail::workflow::test::{Counts, Interrupted, LEFT_BEHIND, RunOutcome, Shown};
use serde::Serialize;

use super::{Line, diagnostic, raw};

/// Which file and run a message is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestOwner<'a> {
    /// The file.
    pub file: Option<&'a str>,
    /// The run.
    pub run: Option<&'a str>,
}

impl TestOwner<'_> {
    fn sign(self, line: Line) -> Line {
        let line = match self.file {
            Some(file) => line.with("@testfile", &file),
            None => line,
        };
        match self.run {
            Some(run) => line.with("@testrun", &run),
            None => line,
        }
    }
}

/// Returns the message of words that nobody waits for.
pub fn log(text: &str, timestamp: &str) -> String {
    Line::new("info", text, timestamp).with("type", &"log").end()
}

/// Returns the message of a problem.
pub fn problem_of_test(
    problem: &Diagnostic,
    sources: &Sources,
    owner: TestOwner<'_>,
    timestamp: &str,
) -> String {
    let (level, title) = match problem.severity {
        Severity::Error => ("error", "Error"),
        Severity::Warning => ("warn", "Warning"),
    };
    let text = format!("{title}: {}", problem.summary);
    let line = owner.sign(Line::new(level, &text, timestamp));
    line.with("diagnostic", &diagnostic(problem, sources)).with("type", &"diagnostic").end()
}

/// Returns the message that lists files and runs.
pub fn test_abstract(files: &[(String, Vec<String>)], timestamp: &str) -> String {
    let runs: usize = files.iter().map(|it| it.1.len()).sum();
    let text = format!(
        "Found {} {} and {runs} {}",
        files.len(),
        if files.len() == 1 { "file" } else { "files" },
        if runs == 1 { "run block" } else { "run blocks" }
    );
    let listed: BTreeMap<&str, Option<&[String]>> = files
        .iter()
        .map(|(file, runs)| (file.as_str(), (!runs.is_empty()).then_some(&runs[..])))
        .collect();
    Line::new("info", &text, timestamp)
        .with("test_abstract", &listed)
        .with("type", &"test_abstract")
        .end()
}

#[derive(Serialize)]
struct FileForm<'a> {
    path: &'a str,
    status: &'static str,
}

/// Returns the message about a file.
pub fn test_file(path: &str, status: Status, timestamp: &str) -> String {
    let text = format!("{path}... {}", status.word());
    let owner = TestOwner { file: Some(path), run: None };
    owner
        .sign(Line::new("info", &text, timestamp))
        .with("test_file", &FileForm { path, status: status.name() })
        .with("type", &"test_file")
        .end()
}

#[derive(Serialize)]
struct RunForm<'a> {
    path: &'a str,
    run: &'a str,
    status: &'static str,
}

/// Returns the messages about a run, without its problems.
pub fn test_run(path: &str, run: &RunOutcome, timestamp: &str) -> String {
    let name = &*run.name;
    let text = format!("  {name:?}... {}", run.status.word());
    let owner = TestOwner { file: Some(path), run: Some(name) };
    let line = owner.sign(Line::new("info", &text, timestamp));
    let form = RunForm { path, run: name, status: run.status.name() };
    let mut out = line.with("test_run", &form).with("type", &"test_run").end();
    let (kind, what, document) = match &run.shown {
        None => return out,
        Some(Shown::Plan(_, _, document)) => ("test_plan", "plan", document),
        Some(Shown::State(_, _, document)) => ("test_state", "state", document),
    };
    let text = format!("-verbose flag enabled, printing {what}");
    let line = owner.sign(Line::new("info", &text, timestamp));
    out.push_str(&line.with(kind, &raw(document.clone())).with("type", &kind).end());
    out
}

#[derive(Serialize)]
struct ObjectForm {
    instance: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    deposed_key: Option<Str>,
}

fn objects(found: &[(Instance, Option<Str>)]) -> Vec<ObjectForm> {
    let one = |(instance, key): &(Instance, Option<Str>)| ObjectForm {
        instance: instance.to_string(),
        deposed_key: key.clone(),
    };
    found.iter().map(one).collect()
}

#[derive(Serialize)]
struct CleanupForm {
    failed_resources: Vec<ObjectForm>,
}

/// Returns the message about what is left behind.
pub fn test_cleanup(
    owner: TestOwner<'_>,
    found: &[(Instance, Option<Str>)],
    timestamp: &str,
) -> String {
    let (file, run) = (owner.file.unwrap_or_default(), owner.run.unwrap_or_default());
    let text = format!(
        "{PRODUCT} left some resources in state after executing {file}/{run}, these left-over resources can be viewed by reading the statefile written to disk({LEFT_BEHIND}) and they need to be cleaned up manually:"
    );
    owner
        .sign(Line::new("error", &text, timestamp))
        .with("test_cleanup", &CleanupForm { failed_resources: objects(found) })
        .with("type", &"test_cleanup")
        .end()
}

/// Returns the message that a state is written.
pub fn writing_left_behind(timestamp: &str) -> String {
    Line::new("info", &format!("Writing state to file: {LEFT_BEHIND}"), timestamp).end()
}

#[derive(Serialize)]
struct InterruptForm {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    state: Vec<ObjectForm>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    states: BTreeMap<String, Vec<ObjectForm>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    planned: Vec<String>,
}

/// Returns the message about what was there when tests were ended; none where there was nothing.
pub fn test_interrupt(file: &str, seen: &Interrupted, timestamp: &str) -> String {
    let form = InterruptForm {
        state: objects(&seen.main),
        states: seen.others.iter().map(|(run, _, found)| (run.clone(), objects(found))).collect(),
        planned: seen.making.iter().map(Instance::to_string).collect(),
    };
    if form.state.is_empty() && form.states.is_empty() && form.planned.is_empty() {
        return String::new();
    }
    let text = format!(
        "{PRODUCT} was interrupted during test execution, and may not have performed the expected cleanup operations."
    );
    let owner = TestOwner { file: Some(file), run: None };
    owner
        .sign(Line::new("error", &text, timestamp))
        .with("test_interrupt", &form)
        .with("type", &"test_interrupt")
        .end()
}

#[derive(Serialize)]
struct SummaryForm {
    status: &'static str,
    passed: usize,
    failed: usize,
    errored: usize,
    skipped: usize,
}

/// Returns the last message.
pub fn test_summary(counts: &Counts, text: &str, timestamp: &str) -> String {
    let Counts { status, passed, failed, errored, skipped, .. } = *counts;
    let form = SummaryForm { status: status.name(), passed, failed, errored, skipped };
    Line::new("info", text, timestamp)
        .with("test_summary", &form)
        .with("type", &"test_summary")
        .end()
}

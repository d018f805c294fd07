//! What `test` says: a line for each file and run, problems, and what is left behind.

use entail::world::PRODUCT;
use std::fmt::Write;

use entail::address::Instance;
use entail::diagnostic::Diagnostics;
use entail::testing::{FileOutcome, Status};
use entail::value::Str;
use entail::workflow::test::{
    Counts, Interrupted, LEFT_BEHIND, Left, RunOutcome, Shown, TellTests,
};
use parking_lot::Mutex;

use super::json::{self, TestOwner};
use super::junit::Suite;
use super::style::{Paint, Style};
use super::{plan, state};
use crate::ui::Ui;

pub mod coverage;
mod junit;

/// Who is told of tests: a terminal, and whoever reads its messages.
pub struct Listener<'a> {
    ui: &'a Ui,
    taken: Mutex<Vec<Suite>>,
}

impl<'a> Listener<'a> {
    /// Returns a listener in front of a terminal.
    pub fn new(ui: &'a Ui) -> Listener<'a> {
        Listener { ui, taken: Mutex::default() }
    }

    /// Returns what was told, for a report.
    pub fn taken(&self) -> Vec<Suite> {
        self.taken.lock().clone()
    }

    fn run(&self, file: &str, run: &RunOutcome) {
        let ui = self.ui;
        ui.lines(|time| json::test_run(file, run, time));
        ui.say(&format!("  run {:?}... {}\n", run.name, word(run.status, ui.style())));
        match &run.shown {
            None => {}
            Some(Shown::Plan(it, schemas, _)) => {
                ui.show(|out| plan::write(out, (it, schemas), ui.look(), ui.reading()));
            }
            Some(Shown::State(it, schemas, _)) => ui.show(|out| {
                let objects = state::objects(it, schemas);
                state::write(out, &objects, &it.outputs, schemas, ui.look())
            }),
        }
        ui.problems_of_test(&run.problems, TestOwner { file: Some(file), run: Some(&run.name) });
    }

    /// Writes to the standard error, for people alone.
    fn complain(&self, text: &str) {
        if !self.ui.is_json() {
            self.ui.err(text);
        }
    }

    fn wrapped(&self, text: &str) -> String {
        self.ui.error_style().wrap(text)
    }
}

impl TellTests for Listener<'_> {
    fn found(&self, files: &[(String, Vec<String>)]) {
        self.ui.lines(|time| json::test_abstract(files, time));
    }

    fn file(&self, outcome: &FileOutcome) {
        let (path, status) = (&*outcome.path, outcome.status);
        self.ui.lines(|time| json::test_file(path, status, time));
        self.ui.say(&format!("{path}... {}\n", word(status, self.ui.style())));
        for run in &outcome.runs {
            self.run(path, run);
        }
        self.taken.lock().push(junit::suite(outcome));
    }

    fn left(&self, file: &str, left: &Left, written: Option<&Result<(), Diagnostics>>) {
        let owner = TestOwner { file: Some(file), run: Some(&left.run) };
        let (name, objects) = (format!("{file}/{}", left.run), left.objects());
        if written.is_some() {
            self.ui.lines(|time| json::test_cleanup(owner, &objects, time));
        }
        if left.problems.has_errors() {
            self.complain(&self.wrapped(&format!(
                "{PRODUCT} encountered an error destroying resources created while executing {name}.\n"
            )));
        }
        self.ui.problems_of_test(&left.problems, owner);
        let Some(written) = written else { return };
        self.complain(&format!(
            "{}{}",
            self.wrapped(&format!(
                "\n{PRODUCT} left the following resources in state after executing {name}, these left-over resources can be viewed by reading the statefile written to disk({LEFT_BEHIND}) and they need to be cleaned up manually:\n"
            )),
            listed(&objects)
        ));
        self.ui.lines(json::writing_left_behind);
        self.complain(&format!("\nWriting state to file: {LEFT_BEHIND}\n"));
        if let Err(problems) = written {
            self.ui.problems_of_test(problems, owner);
        }
    }

    fn interrupted(&self, outcome: &FileOutcome, seen: &Interrupted) {
        self.ui.lines(|time| json::test_interrupt(&outcome.path, seen, time));
        self.complain(&interrupted(&outcome.path, seen, self.ui.error_style()));
    }

    fn concluded(&self, counts: &Counts) {
        let text = summary(counts);
        self.ui.lines(|time| json::test_summary(counts, &text, time));
        let rest = text.split_once(' ').map_or("", |it| it.1);
        let (word, paint) = match counts.status {
            Status::Pass => ("Success!", Paint::Green),
            _ => ("Failure!", Paint::Red),
        };
        self.ui.say(&format!("\n{} {rest}\n", self.ui.style().paint(&[paint], word)));
    }
}

fn word(status: Status, style: Style) -> String {
    let paint = match status {
        Status::Pass => Paint::Green,
        Status::Fail | Status::Error => Paint::Red,
        Status::Pending | Status::Skip => Paint::DarkGrey,
    };
    style.paint(&[paint], status.word()).into_owned()
}

fn summary(counts: &Counts) -> String {
    let word = if counts.status == Status::Pass { "Success!" } else { "Failure!" };
    let failed = counts.failed + counts.errored;
    let skipped = match counts.skipped {
        0 => String::new(),
        some => format!(", {some} skipped"),
    };
    format!("{word} {} passed, {failed} failed{skipped}.", counts.passed)
}

fn listed(objects: &[(Instance, Option<Str>)]) -> String {
    let mut out = String::new();
    for (address, deposed) in objects {
        let key = deposed.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let _ = writeln!(out, "  - {address}{key}");
    }
    out
}

/// What was there when tests were ended early.
fn interrupted(file: &str, seen: &Interrupted, style: Style) -> String {
    let mut out = style.wrap(&format!(
        "\n{PRODUCT} was interrupted while executing {file}, and may not have performed the expected cleanup operations.\n"
    ));
    if !seen.main.is_empty() {
        out.push_str(&style.wrap(&format!(
            "\n{PRODUCT} has already created the following resources from the module under test:\n"
        )));
        out.push_str(&listed(&seen.main));
    }
    for (run, source, objects) in &seen.others {
        out.push_str(&style.wrap(&format!(
            "\n{PRODUCT} has already created the following resources for {run:?} from {source:?}:\n"
        )));
        out.push_str(&listed(objects));
    }
    if !seen.making.is_empty() {
        let (run, source) = &seen.run;
        let module = source.as_ref().map_or("the module under test".into(), |it| format!("{it:?}"));
        out.push_str(&style.wrap(&format!(
            "\n{PRODUCT} was in the process of creating the following resources for {run:?} from {module}, and they may not have been destroyed:\n"
        )));
        let making: Vec<_> = seen.making.iter().map(|it| (it.clone(), None)).collect();
        out.push_str(&listed(&making));
    }
    out
}

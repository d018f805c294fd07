//! What operations tell: events become lines, messages, or both, and a block of what runs.

use std::io::{self, IsTerminal};

use entail::backend::LockInfo;
use entail::diagnostic::Diagnostics;
use entail::event::{Event, Sink};
use entail::plan::Plan;
use entail::policy::{Report, Verdict};
use entail::workflow::{Ahead, Schemas, Tell};

use super::Ui;
use super::status::Status;
use crate::commands::present;
use crate::view::diagnostics::{Printed, render};
use crate::view::{json, log, policy, progress};

/// The most lines of the block of what runs.
const STATUS_LINES: usize = 12;

impl Ui {
    /// Whether somebody watches who can see a block that changes.
    fn shows_status(&self) -> bool {
        let is_watched = self.reading.for_people && self.rows > 0 && self.is_attended();
        is_watched && self.is_for_people() && !self.concise
    }

    /// Whether the standard output is for people.
    pub(super) fn is_for_people(&self) -> bool {
        !self.manner.json && !self.manner.document
    }

    /// Writes what was rendered: where the standard output is for a document, all to the standard error.
    pub(super) fn print(&self, printed: &Printed) {
        match self.manner.document {
            true => self.err(&printed.out),
            false => self.out(&printed.out),
        }
        self.err(&printed.err);
    }

    /// Whether somebody sits before the terminal that errors go to.
    pub(super) fn is_attended(&self) -> bool {
        let is_plain = self.world.variable("TERM").is_none_or(|it| it == "dumb");
        io::stderr().is_terminal() && !is_plain && !self.in_automation
    }
}

impl Sink for Ui {
    fn event(&self, event: Event) {
        progress::count(&mut self.done.lock(), &event);
        self.running.lock().take(&event);
        if self.has_messages() {
            self.messages(&json::messages(&event, &self.sources, &self.timestamp()));
        }
        if self.manner.json {
            return;
        }
        if let Event::Diagnostic(problem) = &event {
            let problem = vec![(**problem).clone()];
            self.print(&render(problem, &self.sources, self.err_style, self.grouping));
        } else if self.is_for_people()
            && (!self.concise || matches!(event, Event::Message(_)))
            && !(self.status.lock().is_some() && is_in_block(&event))
            && let Some(line) = progress::line(&event, self.out_style)
        {
            self.out(&line);
        }
    }
}

impl Tell for Ui {
    fn problems(&self, problems: Diagnostics) {
        self.diagnostics(problems);
    }

    fn planned(&self, plan: &Plan, schemas: &Schemas, problems: Diagnostics) {
        present::plan(self, plan, schemas, problems);
    }

    fn judged(&self, report: &Report) {
        self.messages(&json::verdicts(report, &self.timestamp()));
        self.say(&format!("\n{}", policy::report(report, true, &self.style())));
        self.diagnostics(report.problems.clone());
    }

    fn denied(&self, verdict: &Verdict) {
        self.messages(&json::verdict(verdict, &self.timestamp()));
    }

    fn carries_out(&self, ahead: &dyn Fn() -> Ahead) {
        self.interrupts.carry_out();
        if self.shows_status() {
            let ahead = ahead();
            if ahead.steps.is_empty() {
                return;
            }
            self.running.lock().expect(ahead);
            self.running.lock().is_drawn = true;
            let room = (self.rows / 3).clamp(2, STATUS_LINES);
            *self.status.lock() = Status::begin(self.running.clone(), room, self.out_style.width);
        }
    }

    fn has_carried_out(&self) {
        drop(self.status.lock().take());
        self.running.lock().is_drawn = false;
    }

    fn run_in_progress(&self, holder: Option<&LockInfo>) {
        let note = log::run_in_progress(holder);
        if self.noted.lock().insert(note.clone()) {
            self.err(&note);
        }
    }

    fn waits_for_lock(&self) {
        self.say("Acquiring state lock. This may take a few moments...\n");
    }
}

/// Whether the block of what runs tells it.
fn is_in_block(event: &Event) -> bool {
    matches!(event, Event::ApplyStart(..) | Event::ApplyProgress(..))
}

//! The log of runs for people and for machines.

use std::fmt::Write;
use std::time::Duration;

use entail::backend::LockInfo;
use entail::operation::log::{
    History, Outcome, Run, Step, StepOutcome, critical_path, shown as command_line,
};
use serde_json::json;

use super::style::{Paint, Style, duration, harmless};

/// How wide the longest bar of a timeline is at least.
const NARROWEST: usize = 20;
/// What is left of a line for an address in a timeline, at most.
const WIDEST_ADDRESS: usize = 48;

/// Says that another run holds the lock of the state that a question is about.
pub fn run_in_progress(holder: Option<&LockInfo>) -> String {
    let run = match holder {
        None => "the state is locked".to_owned(),
        Some(it) => {
            let since = it.created_at().map(|it| it.format("%Y-%m-%d %H:%M:%S UTC").to_string());
            let since = since.unwrap_or_else(|| it.created.clone());
            format!("{} by {}, since {since}", it.operation_name(), it.who)
        }
    };
    format!(
        "Note: a run is in progress ({}). The answer is about the state as recorded so far.\n",
        harmless(&run)
    )
}

/// Lists runs, two lines each.
pub fn list(runs: &[&Run], style: &Style) -> String {
    if runs.is_empty() {
        return "No run has changed this state since there is a log.\n".into();
    }
    let mut out = String::new();
    for run in runs {
        let head = format!(
            "{}  {}  {}  {}  {}",
            style.paint(&[Paint::Bold], &run.id),
            harmless(&run.began),
            harmless(&run.who),
            outcome(run.outcome, style),
            summary(run),
        );
        let _ = writeln!(out, "{head}\n    {}", harmless(&command_line(&run.command)));
    }
    out
}

fn outcome(it: Outcome, style: &Style) -> String {
    let paint = match it {
        Outcome::Complete => Paint::Green,
        Outcome::Failed | Outcome::Interrupted => Paint::Red,
        Outcome::Running => Paint::Yellow,
    };
    style.paint(&[paint], it.name()).into_owned()
}

/// Returns what a run has done, in numbers.
pub fn summary(run: &Run) -> String {
    if run.outcome == Outcome::Running {
        return "not ended yet".into();
    }
    let count = &run.counts;
    let numbers = [
        (count.imported, "imported"),
        (count.added, "added"),
        (count.changed, "changed"),
        (count.destroyed, "destroyed"),
        (count.forgotten, "forgotten"),
        (run.count(StepOutcome::Failed), "failed"),
        (run.count(StepOutcome::Abandoned), "abandoned"),
        (run.count(StepOutcome::NotAttempted), "not attempted"),
    ];
    let words: Vec<String> =
        numbers.iter().filter(|it| it.0 > 0).map(|it| format!("{} {}", it.0, it.1)).collect();
    if words.is_empty() { "no object changed".into() } else { words.join(", ") }
}

/// Shows one run with each of its steps.
pub fn run(run: &Run, style: &Style) -> String {
    let mut out = format!(
        "Run {}: {}, {}\n\n",
        style.paint(&[Paint::Bold], &run.id),
        run.operation,
        outcome(run.outcome, style)
    );
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "  {name:<10} {}", harmless(text));
    };
    match run.outcome {
        Outcome::Running => line("When", &format!("since {}", run.began)),
        _ => line("When", &format!("{} to {}", run.began, run.ended)),
    }
    line("Who", &format!("{}, with {}", run.who, run.program));
    line("Command", &command_line(&run.command));
    line("Workspace", &run.workspace);
    if let Some(plan) = &run.plan {
        line("Plan", &plan.digest);
        if let Some(file) = &plan.file {
            let digest = plan.file_sha256.as_deref().unwrap_or("unknown");
            line("Plan file", &format!("{file} (SHA-256 {digest})"));
        }
    }
    match run.serial {
        Some(serial) => line("State", &format!("written with serial {serial}")),
        None if run.outcome == Outcome::Running => line("State", "as recorded so far"),
        None => line("State", "not written"),
    }
    if run.recovered > 0 {
        let text = format!("{} finished steps of a run that was interrupted", run.recovered);
        line("Taken up", &text);
    }
    for it in &run.overridden {
        line("Overruled", &format!("{} of {}, because {:?}", it.rule, it.address, it.because));
    }
    line("Summary", &summary(run));
    if !run.steps.is_empty() {
        let width = run.steps.iter().map(|it| name(it).chars().count()).max().unwrap_or(0);
        out.push_str("\nSteps:\n");
        for it in &run.steps {
            let action = format!("{:<7} {:<width$}", it.action, name(it));
            let _ = writeln!(out, "  {}", with_outcome(&action, it, style));
        }
    }
    out
}

/// Returns the address of a step, with the key of a deposed object.
pub fn name(step: &Step) -> String {
    match &step.deposed {
        Some(key) => format!("{} (deposed object {key})", step.address),
        None => step.address.clone(),
    }
}

/// Returns a line about a step with what came of it behind.
pub fn with_outcome(about: &str, step: &Step, style: &Style) -> String {
    let elapsed = took(step.for_ms);
    match step.outcome {
        StepOutcome::Done => format!("{about}  done in {elapsed}"),
        StepOutcome::Failed => {
            let why = step.error.as_deref().map(|it| format!(": {}", harmless(it)));
            let text = format!("failed after {elapsed}{}", why.unwrap_or_default());
            format!("{about}  {}", style.paint(&[Paint::Red], &text))
        }
        StepOutcome::Abandoned => {
            let text = format!("abandoned after {elapsed}; nobody knows what became of it");
            format!("{about}  {}", style.paint(&[Paint::Red], &text))
        }
        StepOutcome::NotAttempted => match &step.because {
            Some(because) => format!("{about}  not attempted, because of {because}"),
            None => format!("{about}  not attempted, because the run was stopped"),
        },
    }
}

/// Returns a duration as people read it: with tenths of a second where they count.
pub fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..10_000 => format!("{}.{}s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => duration(Duration::from_millis(milliseconds)),
    }
}

/// Draws a bar for each step of a run.
pub fn timeline(run: &Run, style: &Style) -> String {
    let path = critical_path(run);
    let steps: Vec<(usize, &Step)> = run.steps.iter().enumerate().collect();
    let mut steps: Vec<_> =
        steps.into_iter().filter(|it| it.1.outcome != StepOutcome::NotAttempted).collect();
    if steps.is_empty() {
        return format!("Run {} has no steps that were begun.\n", run.id);
    }
    steps.sort_by_key(|it| (it.1.at_ms, it.0));
    let end = steps.iter().map(|it| it.1.at_ms + it.1.for_ms).max().unwrap_or(0).max(1);
    let label = |it: &Step| shortened(&format!("{} {}", it.action, name(it)), WIDEST_ADDRESS);
    let wide = steps.iter().map(|it| label(it.1).chars().count()).max().unwrap_or(0);
    let room = style.width.saturating_sub(wide + 16).max(NARROWEST);
    let place = |ms: u64| usize::try_from(ms * room as u64 / end).unwrap_or(room);
    let mut out = format!("Run {}: {} in {}\n\n", run.id, run.operation, took(end));
    for (index, step) in &steps {
        let is_critical = path.contains(index);
        let start = place(step.at_ms).min(room - 1);
        let length = place(step.at_ms + step.for_ms).saturating_sub(start).max(1);
        let bar = if is_critical { "█" } else { "░" }.repeat(length.min(room - start));
        let paint = if step.outcome == StepOutcome::Done { Paint::Green } else { Paint::Red };
        let _ = writeln!(
            out,
            "{} {:<wide$} |{}{}{}| {}",
            if is_critical { '*' } else { ' ' },
            label(step),
            " ".repeat(start),
            style.paint(&[paint], &bar),
            " ".repeat(room - start - length.min(room - start)),
            took(step.for_ms),
        );
    }
    let critical: u64 = path.iter().map(|it| run.steps[*it].for_ms).sum();
    let _ = writeln!(
        out,
        "\n* The critical path: {} of {} steps, {} of {}. Each waited for the one before.",
        path.len(),
        steps.len(),
        took(critical),
        took(end)
    );
    let left = run.count(StepOutcome::NotAttempted);
    if left > 0 {
        let _ = writeln!(out, "Not attempted: {left}.");
    }
    out
}

/// Cuts the beginning off a long text: the end of an address tells more.
fn shortened(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    match length > limit {
        true => format!("…{}", text.chars().skip(length - limit + 1).collect::<String>()),
        false => text.to_owned(),
    }
}

/// Shows what became of an object, newest first.
pub fn history(history: &History<'_>, style: &Style) -> String {
    let mut out = format!("{}\n\n", style.paint(&[Paint::Bold], &history.address));
    for (run, step) in &history.steps {
        let other = if step.address == history.address { String::new() } else { name(step) };
        let about = format!("{}  {}  {}  {:<7}", run.id, run.began, run.who, step.action);
        let about = if other.is_empty() { about } else { format!("{about} {other}") };
        let _ = writeln!(out, "  {}", with_outcome(&about, step, style));
    }
    out
}

/// The version of the documents.
const FORMAT: &str = "1.0";

/// Returns runs as a document.
pub fn to_json(runs: &[&Run]) -> String {
    format!("{:#}\n", json!({"format_version": FORMAT, "runs": runs}))
}

/// Returns one run as a document.
pub fn run_to_json(run: &Run) -> String {
    let path = critical_path(run);
    format!("{:#}\n", json!({"format_version": FORMAT, "run": run, "critical_path": path}))
}

/// Returns what became of an object as a document.
pub fn history_to_json(history: &History<'_>) -> String {
    let steps = history.steps.iter().map(|(run, step)| {
        json!({"run": run.id, "operation": run.operation, "began": run.began, "who": run.who, "step": step})
    });
    let steps: Vec<_> = steps.collect();
    let address = &history.address;
    format!("{:#}\n", json!({"format_version": FORMAT, "address": address, "history": steps}))
}

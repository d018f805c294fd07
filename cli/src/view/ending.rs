//! How a run ended that has not done all it was to do: what was done, what failed, what was not attempted, and how to go on.

use std::fmt::Write;

use entail::execute::Done;
use entail::operation::log::{Step, StepOutcome, shown};

use super::log::{name, with_outcome};
use super::style::{Paint, Style, harmless};
use entail::world::PROGRAM;

/// The most steps of one kind that are listed.
const MOST: usize = 20;

/// Returns the table of a run that has left something undone; nothing for one that has done it all.
pub fn ending(steps: &[Step], done: &Done, style: &Style) -> String {
    let of = |outcome| steps.iter().filter(move |it| it.outcome == outcome);
    let count = |outcome| of(outcome).count();
    let left = [StepOutcome::Failed, StepOutcome::Abandoned, StepOutcome::NotAttempted];
    if left.iter().all(|it| count(*it) == 0) {
        return String::new();
    }
    let words = [StepOutcome::Done].iter().chain(&left).map(|it| (count(*it), it.name()));
    let words: Vec<String> =
        words.filter(|it| it.0 > 0).map(|it| format!("{} {}", it.0, it.1)).collect();
    let head = format!("Not everything was done: {}.", words.join(", "));
    let mut out = format!("\n{}\n\n", style.paint(&[Paint::Bold], &head));
    let listed = || left.iter().flat_map(|it| of(*it).take(MOST));
    let width = listed().map(|it| name(it).chars().count()).max().unwrap_or(0);
    for outcome in left {
        for step in of(outcome).take(MOST) {
            let about = format!("{:<7} {:<width$}", step.action, name(step));
            let _ = writeln!(out, "  {}", with_outcome(&about, step, style));
        }
        let more = count(outcome).saturating_sub(MOST);
        if more > 0 {
            let _ = writeln!(out, "  and {more} more {}: {PROGRAM} log -last", outcome.name());
        }
    }
    if done.is_saved && !done.again.is_empty() {
        let command = harmless(&shown(&done.again)).into_owned();
        let saved = match done.state.unconfirmed.is_empty() {
            true => "What was done is in the state.",
            false => {
                "What is known to be done is in the state. Objects may exist unrecorded: look for them first."
            }
        };
        let _ = writeln!(
            out,
            "\n{saved} Once the cause is mended, this goes on with the rest:\n    {PROGRAM} {command}"
        );
    }
    out
}

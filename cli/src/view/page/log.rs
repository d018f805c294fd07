//! The log of runs as a page: each run with its steps as they were carried out, and the critical path.

use entail::operation::log::{Outcome, Run, Step, StepOutcome, critical_path, shown};
use serde_json::json;

use super::html::{page, quoted, text};
use super::{Filters, Section, contents};
use crate::view::log::{name, run as told, summary, took, with_outcome};
use crate::view::style::Style;

/// The most steps of a run that have a bar each.
const STEPS: usize = 2_000;

/// The height of a line, the width of its label, and the width that is left for bars.
const LINE: u64 = 20;
const LABEL: u64 = 420;
const ROOM: u64 = 560;
/// The longest label, in characters.
const LETTERS: usize = 56;

/// Draws runs, the first of them unfolded.
///
/// - `runs`: newest first.
pub fn draw(runs: &[&Run]) -> String {
    let mut list = String::new();
    for (at, run) in runs.iter().enumerate() {
        list.push_str(&entry(run, at == 0));
    }
    if runs.is_empty() {
        list.push_str("<p>No run has changed this state since there is a log.</p>");
    }
    let counted = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    let head = format!("<p class=\"sum\">{counted}.</p>");
    let sections = [Section::of("changes", "Runs", list)];
    let body = contents("Log", &head, &Filters::default(), &sections);
    page("Log", &body, &json!({}))
}

fn entry(run: &Run, is_open: bool) -> String {
    let class = match run.outcome {
        Outcome::Complete => "create",
        Outcome::Failed | Outcome::Interrupted => "delete",
        Outcome::Running => "update",
    };
    let open = if is_open { " open" } else { "" };
    let about = format!("{} · {} · {}", run.began, run.who, summary(run));
    let command = shown(&run.command);
    format!(
        "<details class=\"e run {class}\" id={0} data-run={0} data-address={0}{open}><summary><span class=\"act\">{1}</span><code>{2}</code><b>{3}</b><span class=\"l\">{4}</span></summary><div class=\"b\"><pre class=\"d\">{5}</pre>{6}</div></details>\n",
        quoted(&run.id),
        text(run.outcome.name()),
        text(&run.id),
        text(&run.operation),
        text(&about),
        text(&body_of(run, &command)),
        timeline(run)
    )
}

/// What `log` says of a run, without its steps: they have bars.
fn body_of(run: &Run, command: &str) -> String {
    let all = told(run, &Style::default());
    let about = all.split_once("\n\n").map_or(all.as_str(), |it| it.1);
    let about = about.split("\nSteps:\n").next().unwrap_or_default().trim_end();
    if about.is_empty() { command.to_owned() } else { about.to_owned() }
}

/// A bar for each step, from its beginning to its end.
fn timeline(run: &Run) -> String {
    let path = critical_path(run);
    let mut steps: Vec<(usize, &Step)> = run.steps.iter().enumerate().collect();
    steps.sort_by_key(|it| (it.1.outcome == StepOutcome::NotAttempted, it.1.at_ms, it.0));
    let end = run.steps.iter().map(|it| it.at_ms + it.for_ms).max().unwrap_or(0).max(1);
    let shown = steps.len().min(STEPS);
    if shown == 0 {
        return String::new();
    }
    let (width, height) = (LABEL + ROOM + 90, shown as u64 * LINE + 8);
    let along = |ms: u64| LABEL + 10 + ms * ROOM / end;
    let mut out = format!(
        "<svg class=\"time\" role=\"list\" aria-label=\"Steps as they were carried out\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    for (line, (at, step)) in steps.iter().take(STEPS).enumerate() {
        let y = line as u64 * LINE + 4;
        let about = format!("{} {}", step.action, name(step));
        let told = with_outcome(&about, step, &Style::default());
        let mut class = String::new();
        if path.contains(at) {
            class.push_str(" crit");
        }
        if step.outcome != StepOutcome::Done {
            class.push_str(" failed");
        }
        let start = along(step.at_ms);
        let length = (along(step.at_ms + step.for_ms) - start).max(3);
        let bar = match step.outcome {
            StepOutcome::NotAttempted => String::new(),
            _ => format!(
                "<rect class=\"o\" x=\"{start}\" y=\"{}\" width=\"{length}\" height=\"{}\" rx=\"2\"/><text x=\"{}\" y=\"{}\">{}</text>",
                y + 2,
                LINE - 4,
                start + length + 6,
                y + 13,
                took(step.for_ms)
            ),
        };
        let mark = if path.contains(at) { "▸ " } else { "" };
        out.push_str(&format!(
            "<g class=\"t{class}\" role=\"listitem\" data-step={}><title>{}</title><text x=\"{LABEL}\" y=\"{}\" text-anchor=\"end\">{mark}{}</text>{bar}</g>",
            quoted(&name(step)),
            text(&told),
            y + 13,
            text(&shortened(&about))
        ));
    }
    out.push_str("</svg>");
    let critical: u64 = path.iter().map(|it| run.steps[*it].for_ms).sum();
    out.push_str(&format!(
        "<p class=\"x\">The critical path is marked: {} of {} steps, {} of {}. Each waited for the one before.</p>",
        path.len(),
        run.steps.len(),
        took(critical),
        took(end)
    ));
    if steps.len() > shown {
        out.push_str(&format!("<p>… and {} more steps.</p>", steps.len() - shown));
    }
    for step in run.steps.iter().filter(|it| it.error.is_some()) {
        let told = with_outcome(&name(step), step, &Style::default());
        out.push_str(&format!("<p class=\"bad\">{}</p>", text(&told)));
    }
    out
}

fn shortened(said: &str) -> String {
    let length = said.chars().count();
    match length > LETTERS {
        true => format!("…{}", said.chars().skip(length - LETTERS + 1).collect::<String>()),
        false => said.to_owned(),
    }
}

//! The order of a plan as a timeline: in which turn each step can be carried out, and which steps decide how long the run takes.

use entail::operation::explain::{Turn, Turns};

use super::html::{link, text};

/// The most steps that have a line each; of more, those on the longest way alone.
const STEPS: usize = 200;
/// The most turns whose steps are counted one by one.
const TURNS: usize = 120;

/// The height of a line, the width of its label, and the width that is left for bars.
const LINE: usize = 20;
const LABEL: usize = 420;
const ROOM: usize = 560;
/// The longest label, in characters.
const LETTERS: usize = 56;

/// Draws the order of a plan; nothing where nothing is carried out.
pub fn draw(turns: &Turns) -> String {
    if turns.steps.is_empty() {
        return "<p>Nothing is carried out.</p>".to_owned();
    }
    let all = turns.steps.len();
    let critical: Vec<&Turn> = turns.steps.iter().filter(|it| it.critical.is_some()).collect();
    let mut out = format!(
        "<p>{} in {}. What stands in one turn can run at the same time; the {} on the longest way are marked, and each of them waits for the one before. A light bar shows how long a step can wait.</p>",
        counted(all, "step"),
        counted(turns.most, "turn"),
        counted(critical.len(), "step"),
    );
    if all <= STEPS {
        let steps: Vec<&Turn> = turns.steps.iter().collect();
        out.push_str(&lines(&steps, turns.most));
        return out;
    }
    out.push_str("<h3>Steps by turn</h3>");
    out.push_str(&counts(turns));
    out.push_str("<h3>The longest way</h3>");
    let shown = critical.len().min(STEPS);
    out.push_str(&lines(&critical[..shown], turns.most));
    if critical.len() > shown {
        out.push_str(&format!("<p>… and {} more.</p>", critical.len() - shown));
    }
    out
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A line for each step.
fn lines(steps: &[&Turn], most: usize) -> String {
    let height = steps.len() * LINE + 8;
    let width = LABEL + ROOM + 20;
    let along = |turns: usize| LABEL + 10 + turns * ROOM / most.max(1);
    let mut out = format!(
        "<svg class=\"time\" role=\"list\" aria-label=\"Steps in the order in which they can be carried out\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    for (at, step) in steps.iter().enumerate() {
        let (y, first) = (at * LINE + 4, step.first.saturating_sub(1));
        let (class, critical) = match step.critical {
            Some(place) => (" crit", format!(" data-critical=\"{place}\"")),
            None => ("", String::new()),
        };
        let wait = along(step.last.max(step.first)) - along(first);
        let own = (along(first + 1) - along(first)).max(3);
        let title = format!("turn {}: {}", step.first, step.text);
        out.push_str(&format!(
            "<a class=\"t{class}\" role=\"listitem\" href={}{critical}><title>{}</title><text x=\"{LABEL}\" y=\"{}\" text-anchor=\"end\">{}{}</text><rect class=\"w\" x=\"{}\" y=\"{}\" width=\"{wait}\" height=\"{}\" rx=\"2\"/><rect class=\"o\" x=\"{}\" y=\"{}\" width=\"{own}\" height=\"{}\" rx=\"2\"/></a>",
            link(&step.name),
            text(&title),
            y + 13,
            if class.is_empty() { "" } else { "▸ " },
            text(&shortened(&step.text)),
            along(first),
            y + 6,
            LINE - 12,
            along(first),
            y + 2,
            LINE - 4,
        ));
    }
    out.push_str("</svg>");
    out
}

fn shortened(said: &str) -> String {
    let length = said.chars().count();
    match length > LETTERS {
        true => format!("…{}", said.chars().skip(length - LETTERS + 1).collect::<String>()),
        false => said.to_owned(),
    }
}

/// How many steps each turn has; several turns together where there are many.
fn counts(turns: &Turns) -> String {
    let per_line = turns.most.div_ceil(TURNS).max(1);
    let mut counts = vec![0_usize; turns.most.div_ceil(per_line)];
    for step in &turns.steps {
        if let Some(count) = counts.get_mut((step.first.max(1) - 1) / per_line) {
            *count += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let (width, height) = (LABEL + ROOM + 20, counts.len() * LINE + 8);
    let mut out = format!(
        "<svg class=\"time\" role=\"list\" aria-label=\"How many steps each turn has\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    for (at, count) in counts.iter().enumerate() {
        let (y, first) = (at * LINE + 4, at * per_line + 1);
        let last = (first + per_line - 1).min(turns.most);
        let name =
            if last > first { format!("turns {first}–{last}") } else { format!("turn {first}") };
        out.push_str(&format!(
            "<g class=\"t\" role=\"listitem\"><text x=\"{LABEL}\" y=\"{}\" text-anchor=\"end\">{name}: {}</text><rect class=\"o\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/></g>",
            y + 13,
            counted(*count, "step"),
            LABEL + 10,
            y + 2,
            (count * ROOM / most).max(2),
            LINE - 4,
        ));
    }
    out.push_str("</svg>");
    out
}

//! Verdicts as text.

use entail::policy::rules::Level;
use entail::policy::{Asked, Report, Verdict};

use super::style::Style;

pub mod junit;
pub mod markdown;
pub mod rules;
pub mod sarif;
pub mod tests;

/// Returns what was judged, grouped by rule, worst first, with the numbers at the end.
pub fn report(report: &Report, with_possible: bool, style: &Style) -> String {
    let mut out = asked(&report.asked);
    let mut last: Option<(&str, Level, bool)> = None;
    let shown = |it: &&Verdict| it.is_certain || with_possible;
    let mut verdicts: Vec<&Verdict> = report.verdicts.iter().filter(shown).collect();
    verdicts.sort_by_key(|it| !it.is_certain);
    for verdict in verdicts {
        let group = (verdict.name.as_str(), verdict.level, verdict.is_certain);
        if last != Some(group) {
            out.push_str(&head(verdict, style));
            last = Some(group);
        }
        out.push_str(&line(verdict));
    }
    let only_shapes = report.rules + report.not_judged.len() == 0 && !report.asked.is_empty();
    if !only_shapes {
        out.push_str(&summary(report, with_possible));
    }
    out
}

/// What policies asked of the plan, by rule.
pub fn asked(all: &[Asked]) -> String {
    let mut out = String::new();
    let mut last = None;
    for it in all {
        if last.replace(&it.rule) != Some(&it.rule) {
            out.push_str(&format!("Shaped by {} ({}:{})\n", it.rule, it.place.0, it.place.1));
        }
        let (address, with) = (&it.address, it.with.as_deref().unwrap_or_default());
        out.push_str(&match it.head {
            "exclude" => format!("  {address} is left out\n"),
            "target" => format!("  the plan is about {address}\n"),
            "replace" => format!("  {address} is replaced\n"),
            "create_first" => format!("  the successor of {address} is made first\n"),
            "before" => format!("  {address} comes before {with}\n"),
            _ => format!("  {address} runs alone in its group: {with}\n"),
        });
    }
    out
}

fn head(verdict: &Verdict, _: &Style) -> String {
    let rule = &verdict.rule;
    let what = match (verdict.level, verdict.is_certain) {
        (Level::Deny, true) => "Denied",
        (Level::Deny, false) => "May be denied",
        (Level::Warn, true) => "Warning",
        (Level::Warn, false) => "Possible warning",
        (Level::Note, true) => "Note",
        (Level::Note, false) => "Possible note",
    };
    let mut out = format!("{what}: {} ({})\n", verdict.name, rule.severity.name());
    if let Some(help) = &rule.help {
        out.push_str(&format!("  help: {help}\n"));
    }
    out
}

fn line(verdict: &Verdict) -> String {
    let place = verdict.place.as_ref().map(|(file, line, _)| format!("{file}:{line}: "));
    let mut out = format!("  {}{}\n", place.unwrap_or_default(), verdict.message);
    // The first line says what the verdict says.
    for step in verdict.why.iter().skip(1) {
        let indent = "  ".repeat(step.depth + 1);
        let place = if step.place.is_empty() { String::new() } else { format!("  {}", step.place) };
        out.push_str(&format!("{indent}because {}{place}\n", step.text));
    }
    if !verdict.waits_for.is_empty() {
        out.push_str(&format!("    waits for {}\n", verdict.waits_for.join(", ")));
    }
    if let Some(waived) = &verdict.waived {
        out.push_str(&format!("    waived: {}\n", waived.reason));
    }
    if let Some(because) = &verdict.overridden {
        out.push_str(&format!("    overridden: {because}\n"));
    }
    out
}

/// Returns how many verdicts there are of each level, and what was judged.
pub fn summary(report: &Report, with_possible: bool) -> String {
    let words = |number: usize, one: &str, many: &str| {
        format!("{number} {}", if number == 1 { one } else { many })
    };
    let count = |level: Level, one: &str, many: &str| words(report.count(level), one, many);
    let possible = report.verdicts.iter().filter(|it| !it.is_certain).count();
    let mut out = format!(
        "{}, {}, {}; {}, {}.\n",
        count(Level::Deny, "denial", "denials"),
        count(Level::Warn, "warning", "warnings"),
        count(Level::Note, "note", "notes"),
        words(report.rules, "rule", "rules"),
        words(report.resources, "resource", "resources"),
    );
    if possible > 0 && !with_possible {
        out.push_str(&format!(
            "{} possible: -possible shows them.\n",
            words(possible, "more is", "more are")
        ));
    }
    if !report.not_judged.is_empty() {
        out.push_str(&format!("Judged with a plan only: {}.\n", report.not_judged.join(", ")));
    }
    out
}

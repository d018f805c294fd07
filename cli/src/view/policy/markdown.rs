//! Verdicts as Markdown, for the comment of a pull request.

use entail::policy::rules::Level;
use entail::policy::{Report, Verdict};

/// Returns the document.
pub fn document(report: &Report, with_possible: bool) -> String {
    let title = if report.is_denied() { "Policies: denied" } else { "Policies: passed" };
    let mut out = format!("### {title}\n\n");
    let all = &report.verdicts;
    let counted = |level: Level| all.iter().filter(move |it| it.counts() && it.level == level);
    table(&mut out, "Denials", counted(Level::Deny).collect());
    table(&mut out, "Warnings", counted(Level::Warn).collect());
    table(&mut out, "Notes", counted(Level::Note).collect());
    let is_waived = |it: &&Verdict| it.waived.is_some() || it.overridden.is_some();
    table(&mut out, "Waived or overridden", all.iter().filter(is_waived).collect());
    let possible: Vec<&Verdict> =
        all.iter().filter(|it| !it.is_certain && !is_waived(it)).collect();
    let hidden = if with_possible { 0 } else { possible.len() };
    if with_possible {
        table(&mut out, "Possible", possible);
    }
    out.push_str(&format!(
        "{} rules, {} resources; {} denials, {} warnings, {} notes.\n",
        report.rules,
        report.resources,
        report.count(Level::Deny),
        report.count(Level::Warn),
        report.count(Level::Note),
    ));
    if hidden > 0 {
        out.push_str(&format!("{hidden} more are possible.\n"));
    }
    if !report.not_judged.is_empty() {
        let names: Vec<String> = report.not_judged.iter().map(|it| format!("`{it}`")).collect();
        out.push_str(&format!("Judged with a plan only: {}.\n", names.join(", ")));
    }
    out
}

fn table(out: &mut String, title: &str, verdicts: Vec<&Verdict>) {
    if verdicts.is_empty() {
        return;
    }
    out.push_str(&format!(
        "#### {title}\n\n| Rule | Severity | Where | What |\n|---|---|---|---|\n"
    ));
    for verdict in verdicts {
        let place = verdict.place.as_ref();
        let place = place.map_or(String::new(), |(file, line, _)| {
            format!(" ({})", cell(&format!("{file}:{line}")))
        });
        let address = match verdict.address.is_empty() {
            true => "the plan".to_owned(),
            false => code(&verdict.address),
        };
        let mut what = cell(&verdict.message);
        if let Some(help) = &verdict.rule.help {
            what.push_str(&format!("<br>{}", cell(help)));
        }
        if let Some(waived) = &verdict.waived {
            what.push_str(&format!("<br>waived: {}", cell(&waived.reason)));
        }
        if let Some(because) = &verdict.overridden {
            what.push_str(&format!("<br>overridden: {}", cell(because)));
        }
        if !verdict.waits_for.is_empty() {
            what.push_str(&format!("<br>waits for {}", cell(&verdict.waits_for.join(", "))));
        }
        out.push_str(&format!(
            "| {} | {} | {address}{place} | {what} |\n",
            code(&verdict.name),
            verdict.rule.severity.name()
        ));
    }
    out.push('\n');
}

/// Text in a cell, where nothing of it means something else.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '@' => {
                out.push('\\');
                out.push(character);
            }
            it => out.push(it),
        }
    }
    out
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|").replace('`', "'").replace('\n', " "))
}

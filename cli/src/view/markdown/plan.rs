//! A plan as the comment of a review: what is wrong, what policies say, what becomes of each object and output, what is left out.

use std::collections::BTreeMap;

use entail::diagnostic::{Diagnostic, Diagnostics, Sources};
use entail::event::{Summary, is_listed};
use entail::plan::{Action, Change, Plan};
use entail::policy::rules::Level;
use entail::policy::{Report, Verdict};
use entail::request::PlanMode;
use entail::value::Str;
use entail::workflow::page::name;

use super::fit::{MOST, Part, Piece, fitted};
use super::inline::{as_difference, code, fenced, text};
use crate::view::diagnostics::{one, sort};
use crate::view::plan::reading::{Reading, alike_by, is_plain, split, word};
use crate::view::plan::{Look, Schemas, Texts};
use crate::view::policy;
use crate::view::progress::summary;
use crate::view::style::Style;

/// How many of several objects are named.
const NAMED: usize = 20;

/// What a comment is made of.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// The plan; nothing where none could be made.
    pub plan: Option<(&'a Plan, &'a Schemas)>,
    /// What policies say of it.
    pub report: Option<&'a Report>,
    /// What is wrong with it.
    pub problems: &'a Diagnostics,
    /// What the problems point into.
    pub sources: &'a Sources,
}

/// Returns the comment.
///
/// - `more`: says where everything can be read, where the comment has no room for it.
pub fn document(told: &Told<'_>, reading: &Reading, more: &str) -> String {
    let reading = Reading { for_people: true, pages: false, ..reading.clone() };
    let mut parts = vec![
        Part { title: "Problems".into(), pieces: problems(told) },
        Part { title: "Policies".into(), pieces: told.report.map(verdicts).unwrap_or_default() },
    ];
    let mut head = head(told);
    if let Some((plan, schemas)) = told.plan {
        // Plain, and without anything that is secret.
        let look = Look { style: Style::default(), ..Look::default() };
        let texts = Texts::of(plan, schemas, look, &reading);
        let (changes, hidden) = changes(plan, &texts, &reading);
        head.push_str(&hidden.map_or(String::new(), |it| format!("\n{}", text(it.trim()))));
        if !head.ends_with('\n') {
            head.push('\n');
        }
        parts.extend([
            Part { title: "Checks".into(), pieces: checks(plan) },
            Part { title: "Changes".into(), pieces: changes },
            Part { title: "Outputs".into(), pieces: outputs(plan, &texts) },
            Part { title: "Left out".into(), pieces: left_out(plan) },
            Part { title: "Changed outside".into(), pieces: noticed(&texts) },
        ]);
    }
    fitted(&head, &parts, more, MOST)
}

/// What stands there in any case: what the plan comes to, and what it is about.
fn head(told: &Told<'_>) -> String {
    let Some((plan, _)) = told.plan else {
        return "### Planning failed\n".to_owned();
    };
    let is_empty = !plan.changes.iter().any(is_listed)
        && plan.outputs.values().all(|it| it.action == Action::NoOp);
    let title = match (plan.errored || told.problems.has_errors(), is_empty) {
        (true, _) => "Planning failed".to_owned(),
        (false, true) => "No changes".to_owned(),
        (false, false) => text(summary(&Summary::of_plan(plan)).trim_end_matches('.')),
    };
    let mut out = format!("### {title}\n\n");
    if let Some(report) = told.report {
        let denied = if report.is_denied() { "**Denied by policies:** " } else { "Policies: " };
        let counted = policy::summary(report, true);
        let counted = counted.lines().next().unwrap_or_default();
        out.push_str(&format!("{denied}{}\n\n", text(counted)));
    }
    let mode = match plan.mode {
        PlanMode::Normal => None,
        PlanMode::Destroy => Some("everything is destroyed".to_owned()),
        PlanMode::RefreshOnly => Some("only what is known is brought up to date".to_owned()),
    };
    let workspace =
        (plan.workspace != "default").then(|| format!("workspace {}", code(&plan.workspace)));
    let flag = |name: &'static str| move |it: &String| code(&format!("-{name}={it}"));
    let targets = plan.targets.iter().take(5).map(flag("target"));
    let excludes = plan.excludes.iter().take(5).map(flag("exclude"));
    let facts: Vec<String> =
        mode.into_iter().chain(workspace).chain(targets).chain(excludes).collect();
    if !facts.is_empty() {
        out.push_str(&format!("{}\n", facts.join(" · ")));
    }
    out
}

/// Something with a summary, and what unfolds below it.
fn folded(summary: &str, body: &str) -> Piece {
    let line = format!("- {summary}\n");
    let full = match body.is_empty() {
        true => None,
        false => Some(format!("<details><summary>{summary}</summary>\n\n{body}\n</details>\n\n")),
    };
    Piece { line, full }
}

fn problems(told: &Told<'_>) -> Vec<Piece> {
    let mut all = sort(told.problems.0.clone(), told.sources);
    all.sort_by_key(|it| !it.is_error());
    let piece = |it: &Diagnostic| {
        let what = if it.is_error() { "error" } else { "warning" };
        let said = one(it, told.sources, Style::default());
        folded(&format!("<b>{what}</b> {}", text(&it.summary)), &fenced(said.trim(), ""))
    };
    all.iter().map(piece).collect()
}

fn verdicts(report: &Report) -> Vec<Piece> {
    let mut all: Vec<&Verdict> = report.verdicts.iter().collect();
    all.sort_by_key(|it| (!it.counts(), it.level != Level::Deny, it.level == Level::Note));
    let asked = policy::asked(&report.asked);
    let shaped =
        (!asked.is_empty()).then(|| folded("What policies ask of the plan", &fenced(&asked, "")));
    all.into_iter().map(verdict).chain(shaped).collect()
}

fn verdict(it: &Verdict) -> Piece {
    let fate = match (&it.waived, &it.overridden) {
        (Some(waived), _) => format!(" – waived: {}", text(&waived.reason)),
        (_, Some(because)) => format!(" – overruled: {}", text(because)),
        _ if !it.is_certain => " – possibly".to_owned(),
        _ => String::new(),
    };
    let on = if it.address.is_empty() { String::new() } else { format!(" {}", code(&it.address)) };
    let summary =
        format!("<b>{}</b> {}{on}: {}{fate}", it.level.name(), code(&it.name), text(&it.message));
    let mut body = format!("{} ({})\n", text(&it.sentence), it.rule.severity.name());
    if let Some((file, line, _)) = &it.place {
        body.push_str(&format!("\nWritten at {}\n", code(&format!("{file}:{line}"))));
    }
    if let Some(help) = &it.rule.help {
        body.push_str(&format!("\n{}\n", text(help)));
    }
    folded(&summary, &body)
}

/// The conditions that do not hold.
fn checks(plan: &Plan) -> Vec<Piece> {
    let objects = plan.checks.iter().flat_map(|it| it.objects.iter().flatten());
    let failed = objects.filter(|it| matches!(&*it.1, "fail" | "error"));
    let piece = |(address, status, messages): &(Str, Str, Vec<Str>)| {
        let messages: Vec<String> = messages.iter().map(|it| text(it)).collect();
        let said = messages.join(" ");
        Piece { line: format!("- <b>{status}</b> {} {said}\n", code(address)), full: None }
    };
    failed.map(piece).collect()
}

/// What becomes of objects: those that change alike are told once. With it, what of the plan is not asked for.
fn changes(plan: &Plan, texts: &Texts<'_>, reading: &Reading) -> (Vec<Piece>, Option<String>) {
    let listed: Vec<&Change> = plan.changes.iter().filter(|it| is_listed(it)).collect();
    let shown = reading.ordered(&listed);
    let mut groups: Vec<(&Change, String, Vec<String>)> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for change in &shown {
        let whole = texts.change(change);
        let is_foldable = is_plain(change) && !reading.full;
        let next = groups.len();
        let place = match is_foldable {
            true => *places.entry(alike_by(change, &whole)).or_insert(next),
            false => next,
        };
        match groups.get_mut(place) {
            Some(group) => group.2.push(name(change)),
            None => groups.push((change, whole, Vec::new())),
        }
    }
    let hidden = reading.hidden(listed.len(), shown.len());
    (groups.iter().map(|(change, whole, others)| group(change, whole, others)).collect(), hidden)
}

/// Changes that are alike: the first one, with its text, and the names of the others.
fn group(change: &Change, whole: &str, others: &[String]) -> Piece {
    let own = name(change);
    let (said, body) = split(whole, &own);
    let (lead, more) = said.split_first().map_or(("", &[][..]), |it| (it.0.as_str(), it.1));
    let mut inner = String::new();
    for line in more {
        inner.push_str(&format!("{}\n\n", text(line)));
    }
    if !body.is_empty() {
        inner.push_str(&fenced(&as_difference(&body), "diff"));
    }
    let times = match others.len() {
        0 => String::new(),
        many => {
            let names: Vec<String> = others.iter().take(NAMED).map(|it| code(it)).collect();
            let left = others.len().saturating_sub(NAMED);
            let left = if left > 0 { format!(" and {left} more") } else { String::new() };
            inner.push_str(&format!("\nThe same for {}{left}.\n", names.join(", ")));
            format!("{} × ", many + 1)
        }
    };
    let rest = if others.is_empty() { "" } else { ", …" };
    let summary = format!("<b>{}</b> {times}{}{rest} {}", word(change), code(&own), text(lead));
    folded(summary.trim_end(), &inner)
}

fn outputs(plan: &Plan, texts: &Texts<'_>) -> Vec<Piece> {
    let changed = plan.outputs.values().filter(|it| it.action != Action::NoOp);
    let piece = |it: &entail::plan::OutputChange| {
        let what = match it.action {
            Action::Create => "create",
            Action::Delete => "delete",
            _ => "update",
        };
        let body = fenced(&as_difference(texts.output(it).trim_end()), "diff");
        folded(&format!("<b>{what}</b> {}", code(&format!("output.{}", it.name))), &body)
    };
    changed.map(piece).collect()
}

fn left_out(plan: &Plan) -> Vec<Piece> {
    let piece = |it: &entail::plan::LeftOut| {
        let objects = match it.objects.len() {
            1 => "1 object".to_owned(),
            many => format!("{many} objects"),
        };
        let summary = format!("{} ({objects}, {})", code(&it.root), code(&it.flag));
        let behind: Vec<String> =
            it.objects.iter().filter(|own| **own != it.root).cloned().collect();
        folded(
            &summary,
            &if behind.is_empty() { String::new() } else { fenced(&behind.join("\n"), "") },
        )
    };
    plan.left_out.iter().map(piece).collect()
}

fn noticed(texts: &Texts<'_>) -> Vec<Piece> {
    let piece = |(change, whole): (&Change, String)| {
        let own = name(change);
        let (said, body) = split(&whole, &own);
        let lead = said.first().map_or("", String::as_str);
        folded(&format!("{} {}", code(&own), text(lead)), &fenced(&as_difference(&body), "diff"))
    };
    texts.noticed().into_iter().map(piece).collect()
}

//! A saved plan as a page: what it does, why, what policies say of it, what is left out, and in which order.

use std::collections::BTreeMap;

use entail::event::{Summary, is_listed};
use entail::explain::render::Line;
use entail::operation::explain::{Every, Links};
use entail::plan::{Action, Change};
use entail::policy::rules::Level;
use entail::policy::{Report, Verdict};
use entail::request::PlanMode;
use entail::workflow::page::{Explained, name};
use serde_json::json;

use super::entry::{Entry, Kind, push_proof};
use super::html::{link, page, quoted, text};
use super::list::List;
use super::{Filters, Section, contents, drawing, graph_document, timeline};
use crate::view::plan::reading::{Reading, alike_by, is_plain, split, word};
use crate::view::plan::{Look, Texts};
use crate::view::progress::summary;

/// How many of the objects that are left out have their proofs there.
const PROVEN: usize = 2_000;
/// How many objects that no target wants are listed.
const NAMED: usize = 500;

/// Draws a plan.
pub fn draw(explained: &Explained<'_>, look: Look) -> String {
    let reading = Reading { for_people: true, ..Reading::default() };
    let texts = Texts::of(explained.plan, explained.schemas, look, &reading);
    let drawer = Drawer { explained, texts, reading: &reading, verdicts: verdicts(explained.said) };
    drawer.page()
}

/// What a provider serves, by what is alike in the proofs of that: the first of them, and the names.
type Served<'a> = BTreeMap<Vec<String>, (Vec<Line>, Vec<&'a str>)>;

struct Drawer<'a> {
    explained: &'a Explained<'a>,
    texts: Texts<'a>,
    reading: &'a Reading,
    /// What policies say at worst, by address.
    verdicts: BTreeMap<String, &'static str>,
}

fn verdicts(said: Option<&Report>) -> BTreeMap<String, &'static str> {
    let mut found: BTreeMap<String, &'static str> = BTreeMap::new();
    for it in said.into_iter().flat_map(|it| &it.verdicts).filter(|it| it.counts()) {
        let rank = |it: &str| ["deny", "warn", "note"].iter().position(|word| *word == it);
        let own = found.entry(it.address.clone()).or_insert("note");
        if rank(it.level.name()) < rank(own) {
            *own = it.level.name();
        }
    }
    found
}

impl Drawer<'_> {
    fn page(&self) -> String {
        let (every, plan) = (self.explained.every, self.explained.plan);
        let list = self.changes();
        let mut filters = Filters::of(list.entries());
        filters.has_verdicts = !self.verdicts.is_empty();
        let (changes, rows) = list.write();
        let classes = classes(&every.links, list.entries());
        let drawn = drawing::draw(&every.links, &classes);
        let sections = [
            Section::of("policies", "Policies", self.policies()),
            Section::of(
                "changes",
                "Changes",
                match list.entries().is_empty() {
                    true => "<p>No object is changed.</p>".to_owned(),
                    false => changes,
                },
            ),
            Section::of("outputs", "Outputs", self.outputs()),
            Section::of("left-out", "Left out", self.left_out()),
            Section::of("outside", "Changed outside", self.noticed()),
            Section::of("graph", "Graph", super::graph_section(drawn, &every.links)),
            Section::of("order", "Order", timeline::draw(&every.turns)),
            Section::of("providers", "Providers", self.providers(list.entries())),
        ];
        let title = match plan.workspace.as_str() {
            "default" => "Plan".to_owned(),
            workspace => format!("Plan for {workspace}"),
        };
        let body = contents(&title, &self.head(), &filters, &sections);
        let mut document = json!({ "graph": graph_document(&every.links, &classes, rows.is_some().then(|| list.entries())) });
        if let Some(rows) = rows {
            document["list"] = rows;
        }
        page(&title, &body, &document)
    }

    /// What the plan comes to, in sentences.
    fn head(&self) -> String {
        let plan = self.explained.plan;
        let mut out = format!("<p class=\"sum\">{}</p>", text(&summary(&Summary::of_plan(plan))));
        if plan.errored {
            out.push_str(
                "<p class=\"bad\">Planning ended in an error: this plan cannot be applied.</p>",
            );
        }
        let kept = plan.changes.iter().filter(|it| it.action == Action::NoOp && !is_listed(it));
        let mode = match plan.mode {
            PlanMode::Normal => "",
            PlanMode::Destroy => "Everything is destroyed. ",
            PlanMode::RefreshOnly => "Only what is known is brought up to date. ",
        };
        let mut facts = vec![
            format!("made {}", plan.timestamp.format("%Y-%m-%d %H:%M UTC")),
            format!("workspace {}", plan.workspace),
            format!("{} more stay as they are", kept.count()),
        ];
        facts.extend(plan.targets.iter().take(5).map(|it| format!("-target={it}")));
        facts.extend(plan.excludes.iter().take(5).map(|it| format!("-exclude={it}")));
        out.push_str(&format!("<p class=\"meta\">{mode}{}</p>", text(&facts.join(" · "))));
        out
    }

    fn changes(&self) -> List {
        let shown: Vec<&Change> =
            self.explained.plan.changes.iter().filter(|it| is_listed(it)).collect();
        let (mut entries, mut alike) = (Vec::new(), Vec::new());
        for change in self.reading.ordered(&shown) {
            let whole = self.texts.change(change);
            alike.push(is_plain(change).then(|| alike_by(change, &whole)));
            entries.push(self.change(change, &whole));
        }
        List::of(entries, alike)
    }

    fn change(&self, change: &Change, whole: &str) -> Entry {
        let every = self.explained.every;
        let name = name(change);
        let (lead, body) = split(whole, &name);
        let told = every.why(&name).unwrap_or_default();
        Entry {
            kind: Kind::Change,
            action: word(change),
            module: change.address.module.to_string(),
            of_type: change.address.resource.kind.to_string(),
            verdict: self.verdicts.get(&name).copied().unwrap_or_default(),
            lead,
            text: body,
            why: told.lines,
            provider: every.served_by(&name),
            place: every.place(&name),
            drawn: every.drawn(&name),
            way: told.mentions,
            name,
        }
    }

    /// An entry about something that has a name and a proof, and nothing else.
    fn named(&self, name: String, kind: Kind, lead: String) -> Entry {
        let every = self.explained.every;
        let told = every.why(&name).unwrap_or_default();
        let (place, drawn) = (every.place(&name), every.drawn(&name));
        let (why, way) = (told.lines, told.mentions);
        Entry { kind, lead: vec![lead], why, way, place, drawn, name, ..Entry::default() }
    }

    fn outputs(&self) -> String {
        let mut out = String::new();
        let outputs = self.explained.plan.outputs.values();
        for change in outputs.filter(|it| it.action != Action::NoOp) {
            let (action, lead) = match change.action {
                Action::Create => ("create", "is created"),
                Action::Delete => ("delete", "goes"),
                _ => ("update", "is changed"),
            };
            let name = format!("output.{}", change.name);
            let text = self.texts.output(change).trim_end().to_owned();
            Entry { action, text, ..self.named(name, Kind::Other, lead.to_owned()) }.push(&mut out);
        }
        for name in self.explained.every.kept() {
            self.named(name, Kind::Other, "keeps its value".to_owned()).push(&mut out);
        }
        out
    }

    fn left_out(&self) -> String {
        let every = self.explained.every;
        let mut out = String::new();
        let excluded = every.excluded();
        let (proven, others) = excluded.split_at(excluded.len().min(PROVEN));
        let lead = |through: &Option<String>| match through {
            Some(through) => format!("through {through}"),
            None => "named by the request".to_owned(),
        };
        for (name, through) in proven {
            self.named(name.clone(), Kind::Excluded, lead(through)).push(&mut out);
        }
        for (name, through) in others {
            out.push_str(&format!(
                "<p id={0} data-excluded={0}><code>{1}</code> <span class=\"l\">{2}</span></p>\n",
                quoted(name),
                text(name),
                text(&lead(through))
            ));
        }
        let untargeted = every.untargeted();
        if !untargeted.is_empty() {
            out.push_str(&format!("<h3>Not targeted: {}</h3>", untargeted.len()));
        }
        for name in untargeted.iter().take(NAMED) {
            let lead = "no target wants it".to_owned();
            self.named(name.clone(), Kind::Other, lead).push(&mut out);
        }
        if untargeted.len() > NAMED {
            out.push_str(&format!("<p>… and {} more.</p>", untargeted.len() - NAMED));
        }
        out
    }

    fn noticed(&self) -> String {
        let mut out = String::new();
        for (change, whole) in self.texts.noticed() {
            let name = name(change);
            let (lead, body) = split(&whole, &name);
            out.push_str(&format!(
                "<details class=\"o\"><summary><code>{}</code><span class=\"l\">{}</span></summary><div class=\"b\"><pre class=\"d\">{}</pre></div></details>\n",
                text(&name),
                text(lead.first().map_or("", String::as_str)),
                super::entry::difference(&body)
            ));
        }
        out
    }

    fn policies(&self) -> String {
        let Some(report) = self.explained.said else { return String::new() };
        let mut out = String::new();
        let mut verdicts: Vec<&Verdict> = report.verdicts.iter().collect();
        verdicts.sort_by_key(|it| (!it.counts(), it.level != Level::Deny, it.level == Level::Note));
        for it in verdicts {
            out.push_str(&verdict(it));
        }
        let asked = crate::view::policy::asked(&report.asked);
        if !asked.is_empty() {
            out.push_str(&format!("<pre class=\"d\">{}</pre>", text(&asked)));
        }
        let said = crate::view::policy::summary(report, true);
        out.push_str(&format!("<p>{}</p>", text(said.trim())));
        out
    }

    /// The providers, each with why it serves what it serves: one proof for all that have the same.
    fn providers(&self, entries: &[Entry]) -> String {
        let every: &Every<'_> = self.explained.every;
        let mut providers: BTreeMap<String, Served<'_>> = BTreeMap::new();
        for entry in entries {
            let Some((provider, lines)) = every.provider(&entry.name) else { continue };
            let same =
                |it: &Line| format!("{} {:?}", it.text.replace(&entry.name, "\u{1}"), it.origins);
            let key = lines.iter().map(same).collect();
            let group = providers.entry(provider).or_default().entry(key);
            group.or_insert_with(|| (lines, Vec::new())).1.push(&entry.name);
        }
        let mut out = String::new();
        for (provider, groups) in providers {
            let served: usize = groups.values().map(|it| it.1.len()).sum();
            out.push_str(&format!(
                "<details class=\"o\" id={0} data-provider={0}><summary><code>{1}</code><span class=\"l\">serves {served}</span></summary><div class=\"b\">",
                quoted(&provider),
                text(&provider)
            ));
            for (lines, names) in groups.values() {
                let title = match names.len() {
                    1 => "Why it serves this".to_owned(),
                    many => format!("Why it serves this, and {} more likewise", many - 1),
                };
                push_proof(&mut out, names[0], &title, lines);
                let links = names.iter().skip(1).take(20);
                let links: Vec<String> =
                    links.map(|it| format!("<a href={}>{}</a>", link(it), text(it))).collect();
                if !links.is_empty() {
                    let more = if names.len() > 21 { ", …" } else { "" };
                    out.push_str(&format!(
                        "<p class=\"x\"><span>{}{more}</span></p>",
                        links.join(", ")
                    ));
                }
            }
            out.push_str("</div></details>\n");
        }
        out
    }
}

/// A verdict, with what it rests on.
fn verdict(it: &Verdict) -> String {
    let certain = if it.is_certain { "" } else { " (possibly)" };
    let waived = match (&it.waived, &it.overridden) {
        (Some(waived), _) => format!(" – waived: {}", waived.reason),
        (_, Some(because)) => format!(" – overruled: {because}"),
        _ => String::new(),
    };
    let class = if it.counts() { it.level.name() } else { "quiet" };
    let mut out = format!(
        "<details class=\"o\" data-rule={}><summary><span class=\"v {class}\">{}{certain}</span><b>{}</b>",
        quoted(&it.name),
        it.level.name(),
        text(&it.name)
    );
    if !it.address.is_empty() {
        out.push_str(&format!(
            " <a href={}><code>{}</code></a>",
            link(&it.address),
            text(&it.address)
        ));
    }
    let said = format!("{}{waived}", it.message);
    out.push_str(&format!("<span class=\"l\">{}</span></summary><div class=\"b\">", text(&said)));
    if let Some((file, line, column)) = &it.place {
        let place = format!("{file}:{line},{column}");
        out.push_str(&format!("<p>Written at <code>{}</code></p>", text(&place)));
    }
    let rule = format!("{}:{}", it.rule.file, it.rule.line);
    out.push_str(&format!(
        "<p>{} <span class=\"s\">{}</span></p>",
        text(&it.sentence),
        text(&rule)
    ));
    if let Some(help) = &it.rule.help {
        out.push_str(&format!("<p>{}</p>", text(help)));
    }
    out.push_str("</div></details>\n");
    out
}

/// How each member of the graph is coloured.
fn classes<'e>(links: &Links, entries: &'e [Entry]) -> Vec<&'e str> {
    let mut classes = vec!["excluded"; links.all.len()];
    for (at, link) in links.all.iter().enumerate() {
        if link.is_junction {
            classes[at] = "junction";
        } else if link.name.starts_with("output.") {
            classes[at] = "output";
        }
    }
    for (at, entry) in entries.iter().filter_map(|it| Some((it.drawn?, it))) {
        classes[at] = entry.action;
    }
    classes
}

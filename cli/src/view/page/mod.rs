//! Pages for a browser: a plan, a state or a log as one file that needs neither network nor terminal.
//!
//! What stands there is what `show`, `why` and `log` tell: the texts of changes are those of the terminal, the proofs those of `why`.
//! Here they are only put together and written as HTML. A script of our own filters, unfolds and draws neighbourhoods; without it
//! the page can be read, but for lists that are too long to be written out.

use std::collections::BTreeMap;

use entail::operation::explain::Links;
use entail::workflow::page::Drawn;
use serde_json::{Value as Json, json};

use self::entry::Entry;
use self::html::{quoted, text};
use crate::view::plan::Look;

mod drawing;
mod entry;
mod html;
mod list;
pub mod log;
mod plan;
mod state;
mod strings;
mod timeline;

/// Draws a plan or a state.
pub fn draw(drawn: Drawn<'_>, look: Look) -> String {
    match drawn {
        Drawn::NoState => state::draw(None, look),
        Drawn::State(all, schemas) => state::draw(Some((all, schemas)), look),
        Drawn::Plan(explained) => plan::draw(&explained, look),
    }
}

/// A part of a page.
struct Section {
    id: &'static str,
    title: &'static str,
    body: String,
}

impl Section {
    fn of(id: &'static str, title: &'static str, body: String) -> Section {
        Section { id, title, body }
    }
}

/// By what entries can be filtered: how many have each action, type and module.
#[derive(Default)]
struct Filters {
    actions: BTreeMap<&'static str, usize>,
    types: BTreeMap<String, usize>,
    modules: BTreeMap<String, usize>,
    has_verdicts: bool,
}

impl Filters {
    fn of(entries: &[Entry]) -> Filters {
        let mut filters = Filters::default();
        for it in entries {
            if !it.action.is_empty() {
                *filters.actions.entry(it.action).or_default() += 1;
            }
            *filters.types.entry(it.of_type.clone()).or_default() += 1;
            *filters.modules.entry(it.module.clone()).or_default() += 1;
        }
        filters
    }

    /// The search and the filters, for the script.
    fn write(&self) -> String {
        let mut out = String::from(
            "<div class=\"tools\" role=\"search\"><label class=\"q\"><span>Search</span> <input type=\"search\" id=\"q\" placeholder=\"Names, attributes, reasons … (press /)\" autocomplete=\"off\" spellcheck=\"false\"></label>",
        );
        if !self.actions.is_empty() {
            out.push_str("<div class=\"acts\" role=\"group\" aria-label=\"Filter by action\">");
            for (action, count) in &self.actions {
                out.push_str(&format!(
                    "<button type=\"button\" class=\"{action}\" data-act=\"{action}\" aria-pressed=\"false\"><span class=\"act\">{action}</span> {count}</button>"
                ));
            }
            out.push_str("</div>");
        }
        out.push_str(&choice("type", "types", &self.types));
        out.push_str(&choice("module", "modules", &self.modules));
        if self.has_verdicts {
            out.push_str("<select id=\"verdict\" aria-label=\"Filter by verdict\"><option value=\"\">All verdicts</option><option value=\"deny\">Denied</option><option value=\"warn\">Warnings</option><option value=\"note\">Notes</option><option value=\"none\">Without verdict</option></select>");
        }
        out.push_str("<output id=\"found\" role=\"status\" aria-live=\"polite\"></output><button type=\"button\" id=\"clear\" hidden>Show all</button></div>\n");
        out
    }
}

/// One of several, where there are several.
fn choice(id: &str, all: &str, counts: &BTreeMap<String, usize>) -> String {
    if counts.len() < 2 {
        return String::new();
    }
    let mut out = format!(
        "<select id=\"{id}\" aria-label=\"Filter by {id}\"><option value=\"\">All {all}</option>"
    );
    for (name, count) in counts {
        // The root module has no name; a value of its own tells it from all of them.
        let value = if name.is_empty() { "." } else { name };
        let shown = if name.is_empty() { "Root module" } else { name };
        out.push_str(&format!(
            "<option value={}>{} ({count})</option>",
            quoted(value),
            text(shown)
        ));
    }
    out.push_str("</select>");
    out
}

/// Puts the body of a page together. Sections without anything in them are left out.
fn contents(title: &str, head: &str, filters: &Filters, sections: &[Section]) -> String {
    let sections: Vec<&Section> = sections.iter().filter(|it| !it.body.is_empty()).collect();
    let links: Vec<String> =
        sections.iter().map(|it| format!("<a href=\"#{}\">{}</a>", it.id, it.title)).collect();
    let mut out = format!(
        "<a class=\"skip\" href=\"#changes\">Skip to the list</a>\n<header><h1>{}</h1>{head}<nav aria-label=\"Sections\">{}</nav></header>\n<main>\n{}",
        text(title),
        links.join(" "),
        filters.write()
    );
    for Section { id, title, body } in sections {
        out.push_str(&format!(
            "<section class=\"part\" id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\n{body}</section>\n"
        ));
    }
    out.push_str("</main>\n");
    out
}

/// The drawing of a graph with its tools; nothing where nothing rests on anything.
fn graph_section(drawn: Option<(String, String)>, links: &Links) -> String {
    if links.all.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<div class=\"gtools\"><label>Around <input id=\"around\" list=\"names\" placeholder=\"an address\" autocomplete=\"off\" spellcheck=\"false\"></label><datalist id=\"names\"></datalist><label>Steps <select id=\"hops\"><option>1</option><option selected>2</option><option>3</option></select></label><span class=\"zoom\" role=\"group\" aria-label=\"Zoom\"><button type=\"button\" data-zoom=\"in\" aria-label=\"Larger\">+</button><button type=\"button\" data-zoom=\"out\" aria-label=\"Smaller\">−</button><button type=\"button\" data-zoom=\"fit\">Fit</button></span></div>\n<div id=\"near\" class=\"view\" hidden tabindex=\"0\" role=\"region\" aria-label=\"Neighbourhood\"></div>\n<p id=\"near-said\" role=\"status\" aria-live=\"polite\"></p>\n",
    );
    match drawn {
        Some((svg, said)) => out.push_str(&format!(
            "<p>{said}</p>\n<div id=\"whole\" class=\"view\" tabindex=\"0\" role=\"region\" aria-label=\"Graph\">{svg}</div>\n"
        )),
        None => out.push_str("<p>There is too much for one drawing: choose an address to see what is around it.</p>\n"),
    }
    out
}

/// The graph as the script reads it. What has a row in the list has its name there.
fn graph_document(links: &Links, classes: &[&str], rows: Option<&[Entry]>) -> Json {
    let mut named = vec![false; links.all.len()];
    rows.into_iter().flatten().filter_map(|it| it.drawn).for_each(|it| named[it] = true);
    let mut kinds: Vec<&str> = classes.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    let number = |class: &&str| kinds.binary_search(class).unwrap_or(0);
    let names: Vec<Json> = links
        .all
        .iter()
        .zip(named)
        .map(|(it, named)| if named { json!(0) } else { json!(it.name) })
        .collect();
    let classes: Vec<usize> = classes.iter().map(number).collect();
    let rests_on: Vec<&Vec<usize>> = links.all.iter().map(|it| &it.rests_on).collect();
    json!({ "names": names, "kinds": kinds, "classes": classes, "on": rests_on })
}

//! A state as a page: every object with its attributes, and what rests on what.

use entail::operation::explain::Links;
use entail::state::State;
use serde_json::json;

use super::entry::{Entry, Kind};
use super::html::page;
use super::list::List;
use super::{Filters, Section, contents, drawing, graph_document, graph_section};
use crate::view::plan::{Look, Schemas};
use crate::view::state::{Shown, objects, write, write_object};

/// Draws a state; nothing where there is none yet.
pub fn draw(state: Option<(&State, &Schemas)>, look: Look) -> String {
    let Some((state, schemas)) = state else {
        let body = contents("State", "<p class=\"sum\">No state.</p>", &Filters::default(), &[]);
        return page("State", &body, &json!({}));
    };
    let links = Links::of_state(state);
    let all = objects(state, schemas);
    let places: std::collections::BTreeMap<&str, usize> =
        links.all.iter().map(|it| it.name.as_str()).zip(0..).collect();
    let entries: Vec<Entry> = all
        .iter()
        .map(|it| {
            let drawn = places.get(it.address.to_string().as_str()).copied();
            entry(it, schemas, look, drawn.filter(|_| it.deposed.is_none()))
        })
        .collect();
    let alike = vec![None; entries.len()];
    let list = List::of(entries, alike);
    let filters = Filters::of(list.entries());
    let (written, rows) = list.write();
    let classes: Vec<&str> =
        links.all.iter().map(|it| if it.is_junction { "junction" } else { "object" }).collect();
    let drawn = drawing::draw(&links, &classes);
    let sections = [
        Section::of("changes", "Objects", written),
        Section::of("outputs", "Outputs", outputs(state, schemas, look)),
        Section::of("graph", "Graph", graph_section(drawn, &links)),
    ];
    let head = format!(
        "<p class=\"sum\">{} objects, {} outputs.</p><p class=\"meta\">serial {}</p>",
        all.len(),
        state.outputs.len(),
        state.serial
    );
    let body = contents("State", &head, &filters, &sections);
    let of_list = rows.is_some().then(|| list.entries());
    let mut document = json!({ "graph": graph_document(&links, &classes, of_list) });
    if let Some(rows) = rows {
        document["list"] = rows;
    }
    page("State", &body, &document)
}

fn entry(shown: &Shown, schemas: &Schemas, look: Look, drawn: Option<usize>) -> Entry {
    let mut text = Vec::new();
    // Memory takes everything.
    let _ = write_object(&mut text, shown, schemas, look);
    let text = String::from_utf8_lossy(&text);
    let body = text.split_once('\n').map_or("", |it| it.1).trim_end();
    let lead = match (&shown.deposed, shown.tainted) {
        (Some(key), _) => vec![format!("deposed object {key}")],
        (None, true) => vec!["tainted".to_owned()],
        (None, false) => Vec::new(),
    };
    let name = match &shown.deposed {
        Some(key) => format!("{} (deposed object {key})", shown.address),
        None => shown.address.to_string(),
    };
    Entry {
        name,
        kind: Kind::Other,
        module: shown.address.module.to_string(),
        of_type: shown.address.resource.kind.to_string(),
        lead,
        text: body.to_owned(),
        drawn,
        ..Entry::default()
    }
}

/// The outputs as `show` prints them.
fn outputs(state: &State, schemas: &Schemas, look: Look) -> String {
    if state.outputs.is_empty() {
        return String::new();
    }
    let mut text = Vec::new();
    // Memory takes everything.
    let _ = write(&mut text, &[], &state.outputs, schemas, look);
    let text = String::from_utf8_lossy(&text);
    let body = text.split_once("Outputs:").map_or("", |it| it.1).trim_matches('\n');
    format!("<pre class=\"d\">{}</pre>", super::html::text(body))
}

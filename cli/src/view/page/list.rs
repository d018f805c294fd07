//! A list of entries by module: written out where there are not too many, else as a document that the script shows piece by piece.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::entry::Entry;
use super::html::{quoted, text};
use super::strings::Strings;

/// The most entries that are written out, and the most letters that they may have: as rows, they have a tenth of that.
const ENTRIES: usize = 6_000;
const LETTERS: usize = 4_000_000;

/// How many entries alike stand under one line.
const ALIKE: usize = 4;
/// How many of them that line names.
const NAMED: usize = 3;

/// Entries, those of one module beside each other.
#[derive(Default)]
pub struct List {
    entries: Vec<Entry>,
    /// By entry: what it has in common with others, where that is all there is to tell.
    alike: Vec<Option<usize>>,
    /// How many are alike.
    counts: Vec<usize>,
}

impl List {
    /// Returns a list of entries in the order in which they are shown within their module.
    ///
    /// - `alike`: what an entry has in common with others, by entry.
    pub fn of(entries: Vec<Entry>, alike: Vec<Option<(String, String)>>) -> List {
        let mut groups: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        let mut counts = Vec::new();
        let mut numbered: Vec<(Entry, Option<usize>)> = Vec::with_capacity(entries.len());
        for (entry, key) in entries.into_iter().zip(alike) {
            let number = key.map(|(block, body)| {
                let next = counts.len();
                let number = *groups.entry((entry.module.clone(), block, body)).or_insert(next);
                if number == next {
                    counts.push(0);
                }
                counts[number] += 1;
                number
            });
            numbered.push((entry, number));
        }
        numbered.sort_by(|a, b| a.0.module.cmp(&b.0.module));
        let alone = |it: Option<usize>| it.filter(|it| counts[*it] >= ALIKE);
        let (entries, alike): (Vec<Entry>, Vec<Option<usize>>) =
            numbered.into_iter().map(|(entry, it)| (entry, alone(it))).unzip();
        let mut list = List { entries, alike, counts };
        list.gather();
        list
    }

    /// Puts entries that are alike behind the first of them.
    fn gather(&mut self) {
        let mut order: Vec<(usize, usize)> = Vec::with_capacity(self.entries.len());
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, alike) in self.alike.iter().enumerate() {
            let place = alike.map_or(at, |it| *first.entry(it).or_insert(at));
            order.push((place, at));
        }
        order.sort_unstable();
        let mut entries: Vec<Option<Entry>> =
            std::mem::take(&mut self.entries).into_iter().map(Some).collect();
        self.entries = order.iter().filter_map(|it| entries[it.1].take()).collect();
        self.alike = order.iter().map(|it| self.alike[it.1]).collect();
    }

    /// Returns the entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the list as HTML, or the place where the script shows it with what it reads for that.
    pub fn write(&self) -> (String, Option<Json>) {
        match self.entries.len() <= ENTRIES {
            true => match self.written() {
                text if text.len() <= LETTERS => (text, None),
                _ => self.virtual_list(),
            },
            false => self.virtual_list(),
        }
    }

    fn written(&self) -> String {
        let mut out = String::new();
        let mut at = 0;
        while at < self.entries.len() {
            let module = &self.entries[at].module;
            let inner = self.entries[at..].iter().take_while(|it| it.module == *module).count();
            out.push_str(&format!("<section class=\"mod\" data-in={}>", quoted(module)));
            out.push_str(&self.heading(at, inner));
            self.push_module(&mut out, at, inner);
            out.push_str("</section>\n");
            at += inner;
        }
        out
    }

    /// The heading of a module: what it is called, and what is done in it.
    fn heading(&self, from: usize, count: usize) -> String {
        let module = &self.entries[from].module;
        let name = if module.is_empty() { "Root module" } else { module };
        let mut actions: BTreeMap<&str, usize> = BTreeMap::new();
        for it in &self.entries[from..from + count] {
            *actions.entry(it.action).or_default() += 1;
        }
        let done: Vec<String> = match actions.contains_key("") {
            true => vec![count.to_string()],
            false => actions.iter().map(|(action, count)| format!("{count} {action}")).collect(),
        };
        format!("<h3><code>{}</code> <small>{}</small></h3>", text(name), done.join(", "))
    }

    fn push_module(&self, out: &mut String, from: usize, count: usize) {
        let mut at = from;
        while at < from + count {
            let Some(alike) = self.alike[at] else {
                self.entries[at].push(out);
                at += 1;
                continue;
            };
            let group = &self.entries[at..at + self.counts[alike]];
            let (first, names) = (&group[0], group.iter().take(NAMED).map(|it| text(&it.name)));
            let names: Vec<String> = names.collect();
            out.push_str(&format!(
                "<details class=\"f {0}\"><summary><span class=\"act\">{0}</span><b>{1} × the same change</b><code>{2}, …</code></summary>\n",
                first.action,
                group.len(),
                names.join(", ")
            ));
            group.iter().for_each(|it| it.push(out));
            out.push_str("</details>\n");
            at += group.len();
        }
    }

    fn virtual_list(&self) -> (String, Option<Json>) {
        let mut strings = Strings::default();
        let rows = self.entries.iter().zip(&self.alike).map(|(entry, alike)| {
            let mut row = entry.row(&mut strings);
            if let (Some(row), Some(alike)) = (row.as_array_mut(), alike) {
                row.push(json!(alike));
            }
            row
        });
        let rows: Vec<Json> = rows.collect();
        let (lines, blocks) = strings.document();
        let document = json!({ "rows": rows, "lines": lines, "blocks": blocks });
        let place = "<div id=\"long\" class=\"long\" role=\"list\"></div>\n<noscript><p>This list is long, and is shown by a script: allow this page to run its own.</p></noscript>\n";
        (place.to_owned(), Some(document))
    }
}

//! Lines of files, and the blocks that they stand in.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::diagnostic::{FileId, Sources, Span};
use crate::syntax::{Body, parse};

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edits {
    /// Its name, as places name it: relative to the root module.
    pub file: String,
    /// The lines as they are now, from 1.
    pub lines: Vec<RangeInclusive<usize>>,
    /// What stood there before, and the lines of it that are no more.
    pub before: Option<(String, Vec<RangeInclusive<usize>>)>,
}

/// A block, or one argument of it, that lines stand in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// `resource`, `data`, `module`, `variable`, `local`, `output`, `provider`, `check` and so on.
    pub kind: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// The argument, where the lines stand in nothing else of it.
    pub argument: Option<String>,
}

impl Edits {
    /// Returns what of a file's text its lines stand in, and whether that was there before only.
    pub fn found(&self, sources: &Sources, text: &str) -> (BTreeSet<Edit>, BTreeSet<Edit>) {
        let now = edited(sources, &self.file, text, &self.lines);
        let Some((old, lines)) = &self.before else { return (now, BTreeSet::new()) };
        let before = edited(sources, &self.file, old, lines);
        let names: BTreeSet<(String, Vec<String>)> =
            edited(sources, &self.file, text, &[1..=usize::MAX])
                .into_iter()
                .map(|it| (it.kind, it.labels))
                .collect();
        let (still, gone) = before
            .into_iter()
            .partition(|it: &Edit| names.contains(&(it.kind.clone(), it.labels.clone())));
        (now.into_iter().chain::<BTreeSet<Edit>>(still).collect(), gone)
    }
}

/// The blocks of a text that lines stand in.
fn edited(
    sources: &Sources,
    file: &str,
    text: &str,
    lines: &[RangeInclusive<usize>],
) -> BTreeSet<Edit> {
    let id = sources.add(file, text.into());
    let at = Lines { sources, id, lines };
    if file.ends_with(".tfvars") {
        let (body, _) = parse(id, text);
        let given = body.attributes.iter().filter(|it| at.touch(it.span()));
        return given.map(|it| edit("variable", [it.name.text.to_string()], None)).collect();
    }
    if file.ends_with(".json") {
        return of_json(&at, file, text);
    }
    let (body, _) = parse(id, text);
    let mut found = BTreeSet::new();
    for block in &body.blocks {
        if !at.touch(block.header.to(block.body.span)) {
            continue;
        }
        let labels: Vec<String> = block.labels.iter().map(|it| it.text.to_string()).collect();
        if &*block.kind.text == "locals" {
            let own = block.body.attributes.iter().filter(|it| at.touch(it.span()));
            found.extend(own.map(|it| edit("local", [it.name.text.to_string()], None)));
            continue;
        }
        let arguments = at.arguments(block.header, &block.body);
        match arguments {
            Some(names) => found.extend(
                names.into_iter().map(|it| edit(&block.kind.text, labels.clone(), Some(it))),
            ),
            None => drop(found.insert(edit(&block.kind.text, labels, None))),
        }
    }
    found
}

/// In JSON, everything that the document has: which member a line stands in is not followed.
fn of_json(at: &Lines<'_>, file: &str, text: &str) -> BTreeSet<Edit> {
    let document: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let members = |it: &serde_json::Value| -> Vec<(String, serde_json::Value)> {
        let own = it.as_object().into_iter().flatten();
        own.map(|(name, it)| (name.clone(), it.clone())).collect()
    };
    if at.lines.is_empty() {
        return BTreeSet::new();
    }
    let mut found = BTreeSet::new();
    if file.ends_with(".tfvars.json") {
        return members(&document).into_iter().map(|it| edit("variable", [it.0], None)).collect();
    }
    for (kind, all) in members(&document) {
        for (label, inner) in members(&all) {
            match kind.as_str() {
                "resource" | "data" | "ephemeral" => found.extend(
                    members(&inner).into_iter().map(|it| edit(&kind, [label.clone(), it.0], None)),
                ),
                "locals" => drop(found.insert(edit("local", [label], None))),
                _ => drop(found.insert(edit(&kind, [label], None))),
            }
        }
    }
    found
}

struct Lines<'a> {
    sources: &'a Sources,
    id: FileId,
    lines: &'a [RangeInclusive<usize>],
}

impl Lines<'_> {
    fn touch(&self, span: Span) -> bool {
        let first = self.sources.position(self.id, span.start()).line;
        let last =
            self.sources.position(self.id, span.end().saturating_sub(1).max(span.start())).line;
        self.lines.iter().any(|it| *it.start() <= last && first <= *it.end())
    }

    /// The arguments of a block that lines stand in, where they stand in nothing else of it.
    fn arguments(&self, header: Span, body: &Body) -> Option<Vec<String>> {
        let nested = |it: &crate::syntax::Block| self.touch(it.header.to(it.body.span));
        if self.touch(header) || body.blocks.iter().any(nested) {
            return None;
        }
        let own = body.attributes.iter().filter(|it| self.touch(it.span()));
        let names: Vec<String> = own.map(|it| it.name.text.to_string()).collect();
        (!names.is_empty()).then_some(names)
    }
}

fn edit(kind: &str, labels: impl IntoIterator<Item = String>, argument: Option<String>) -> Edit {
    Edit { kind: kind.to_owned(), labels: labels.into_iter().collect(), argument }
}

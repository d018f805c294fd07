//! What may be written in a text of rules: relations, words, what a rule says of itself.

use std::ops::Range;

use super::super::document::Document;
use super::super::rules::relations_of;
use super::super::vocabulary::vocabulary;
use super::super::workspace::Workspace;
use super::{Item, Sort, references};
use crate::policy::rules::{JUDGING, SHAPING};

/// What a comment above a rule may say of it.
const NOTES: [(&str, &str); 6] = [
    ("rule", "Its name and its sentence: `// @rule NAME: sentence`."),
    ("severity", "How much it matters: low, medium, high or critical."),
    ("enforce", "Who may overrule it."),
    ("ids", "What others call it."),
    ("help", "How to mend what it finds."),
    ("see", "Where more is said."),
];

pub(super) fn items(
    workspace: &Workspace,
    document: &Document,
    at: usize,
) -> (Vec<Item>, Range<usize>) {
    let text = &document.text;
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let start = at
        - text[..at].chars().rev().take_while(|it| is_part(*it)).map(char::len_utf8).sum::<usize>();
    let line = text[..start].rsplit('\n').next().unwrap_or_default().trim_start();
    if line.starts_with("//") {
        let notes = line.trim_end().ends_with('@').then_some(NOTES);
        let notes = notes.into_iter().flatten();
        let items = notes.map(|(name, about)| Item::new(name, Sort::Word, "note").about(about));
        return (items.collect(), start..at);
    }
    let mut found: Vec<Item> = vocabulary()
        .iter()
        .map(|it| {
            let item =
                Item::new(it.name(), Sort::Relation, format!("{} ({})", it.usage, it.columns));
            item.about(&it.says).putting(&it.usage)
        })
        .collect();
    let known = |name: &str, found: &[Item]| found.iter().any(|it| it.label == name);
    for name in JUDGING.iter().map(|it| it.0).chain(SHAPING.iter().copied()) {
        if !known(name, &found) {
            found.push(Item::new(name, Sort::Relation, "what a policy concludes"));
        }
    }
    if let Some(folder) = document.path.parent() {
        for entry in workspace.files().entries(folder).unwrap_or_default() {
            let Some(other) = workspace.document(&folder.join(entry.name)) else { continue };
            for (name, _) in relations_of(&other) {
                if !known(&name, &found) {
                    found.push(Item::new(name, Sort::Relation, "a relation of these policies"));
                }
            }
        }
    }
    let words = ["if", "let", "agg", "in", "count", "min", "max", "sum", "relation"];
    found.extend(words.map(|it| Item::new(it, Sort::Word, "")));
    found.extend(references::functions(None));
    (found, start..at)
}

//! Rules of policies: the relations that they name, what each says, and who concludes it.

use std::ops::Range;
use std::path::Path;

use super::document::{Document, Language, range};
use super::vocabulary::{called, policies};
use super::workspace::Workspace;
use super::{Hover, Place};
use crate::datalog::syntax::{Atom, Literal};
use crate::diagnostic::Span;
use crate::policy::rules::{JUDGING, SHAPING};

/// A relation that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub name: String,
    pub place: Range<usize>,
    /// Whether it is concluded there.
    pub is_head: bool,
}

/// Returns the relations that a text of rules names, in its order.
pub fn relations_of(document: &Document) -> Vec<(String, Range<usize>)> {
    named(document).into_iter().map(|it| (it.name, it.place)).collect()
}

pub(super) fn named(document: &Document) -> Vec<Named> {
    let mut found = Vec::new();
    let mut add = |name: &str, span: Span, is_head: bool| {
        let all = range(span);
        // A negation begins with its sign.
        let text = document.text.get(all.clone()).unwrap_or_default();
        if let Some(at) = text.find(name) {
            let start = all.start + at;
            found.push(Named { name: name.to_owned(), place: start..start + name.len(), is_head });
        }
    };
    for rule in &document.rules.rules {
        rule.heads.iter().for_each(|it| add(&it.relation, it.span, true));
        let atoms = rule.body.iter().filter_map(atom);
        atoms.for_each(|it| add(&it.relation, it.span, false));
    }
    for it in &document.rules.declarations {
        add(&it.name, it.span, true);
    }
    found.sort_by_key(|it| it.place.start);
    found
}

fn atom(literal: &Literal) -> Option<&Atom> {
    match literal {
        Literal::Holds(it) | Literal::Absent(it) => Some(it),
        Literal::Aggregate { atom, .. } => Some(atom),
        _ => None,
    }
}

fn at(document: &Document, at: usize) -> Option<Named> {
    named(document).into_iter().find(|it| it.place.start <= at && at <= it.place.end)
}

/// The texts of rules that share relations with one: those of its folder.
fn beside(workspace: &Workspace, path: &Path) -> Vec<std::sync::Arc<Document>> {
    let Some(folder) = path.parent() else { return Vec::new() };
    let entries = workspace.files().entries(folder).unwrap_or_default();
    let paths = entries.into_iter().map(|it| folder.join(it.name));
    let rules = paths.filter(|it| Language::of(it) == Some(Language::Rules));
    rules.filter_map(|it| workspace.document(&it)).collect()
}

/// Returns where the relation at a byte is concluded.
pub(super) fn definition(workspace: &Workspace, document: &Document, byte: usize) -> Vec<Place> {
    places(workspace, document, byte, |it| it.is_head)
}

/// Returns where the relation at a byte is named.
pub(super) fn references(workspace: &Workspace, document: &Document, byte: usize) -> Vec<Place> {
    places(workspace, document, byte, |_| true)
}

fn places(
    workspace: &Workspace,
    document: &Document,
    byte: usize,
    is_meant: impl Fn(&Named) -> bool,
) -> Vec<Place> {
    let Some(meant) = at(document, byte) else { return Vec::new() };
    let mut found = Vec::new();
    for other in beside(workspace, &document.path) {
        let all = named(&other).into_iter().filter(|it| it.name == meant.name && is_meant(it));
        found.extend(all.map(|it| Place { path: other.path.clone(), range: it.place }));
    }
    found
}

/// Returns what is known of the relation, or the rule, at a byte.
pub(super) fn hover(workspace: &Workspace, document: &Document, byte: usize) -> Option<Hover> {
    let Some(meant) = at(document, byte) else { return of_rule(document, byte) };
    let mut text = String::new();
    if let Some(words) = called(&meant.name) {
        text = format!("```\n{} ({})\n```\n\n{}\n", words.usage, words.columns, words.says);
    }
    let writers = writers(workspace, document, &meant.name);
    let says = match &*writers {
        [] if SHAPING.contains(&&*meant.name) || JUDGING.iter().any(|it| it.0 == meant.name) => {
            "\nPolicies conclude it.".to_owned()
        }
        [] if text.is_empty() => return None,
        [] => "\nThe program tells it.".to_owned(),
        some => format!("\nConcluded by {}.", some.join(", ")),
    };
    text.push_str(&says);
    Some(Hover { text, range: meant.place })
}

/// The rules that conclude a relation: those of the folder, and of the vocabulary.
fn writers(workspace: &Workspace, document: &Document, relation: &str) -> Vec<String> {
    let mut found = Vec::new();
    for other in beside(workspace, &document.path) {
        let rules = other.rules.rules.iter();
        let concluding = rules.filter(|it| it.heads.iter().any(|it| it.relation == relation));
        found
            .extend(concluding.filter(|it| !it.name.is_empty()).map(|it| format!("`{}`", it.name)));
    }
    let program = &policies().program;
    if let Some(number) = program.relation(relation) {
        let rules = program.rules.iter().filter(|it| it.head == number);
        found.extend(rules.map(|it| format!("`{}` of the vocabulary", it.name)));
    }
    found.dedup();
    found.truncate(8);
    found
}

fn of_rule(document: &Document, byte: usize) -> Option<Hover> {
    let rules = &mut document.rules.rules.iter();
    let rule = rules.find(|it| range(it.span).contains(&byte) && !it.sentence.is_empty())?;
    Some(Hover { text: format!("**{}**\n\n{}", rule.name, rule.sentence), range: range(rule.span) })
}

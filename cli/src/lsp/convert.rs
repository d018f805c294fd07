//! Plain answers as messages have them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail::assist::problems::{Found, Problem, Weight};
use entail::assist::{Edit, Place, Workspace};
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    NumberOrString, TextEdit, Url, WorkspaceEdit,
};
use serde_json::json;

use super::text::{Encoding, Lines};
use super::uri::uri;

/// Texts whose lines are known, for places in many files.
pub struct Places<'a> {
    text: &'a dyn Fn(&Path) -> Option<Arc<str>>,
    encoding: Encoding,
}

impl<'a> Places<'a> {
    pub fn new(text: &'a dyn Fn(&Path) -> Option<Arc<str>>, encoding: Encoding) -> Places<'a> {
        Places { text, encoding }
    }

    /// Returns a place as messages have it.
    pub fn location(&self, place: &Place) -> Option<Location> {
        let text = (self.text)(&place.path)?;
        let range = Lines::of(&text, self.encoding).range(&place.range);
        Some(Location { uri: uri(&place.path)?, range })
    }

    /// Returns places as messages have them.
    pub fn locations(&self, places: &[Place]) -> Vec<Location> {
        places.iter().filter_map(|it| self.location(it)).collect()
    }

    /// Returns edits as messages have them.
    pub fn edit(&self, edits: &[Edit]) -> WorkspaceEdit {
        let mut by_file: BTreeMap<&PathBuf, Vec<&Edit>> = BTreeMap::new();
        for edit in edits {
            by_file.entry(&edit.place.path).or_default().push(edit);
        }
        let mut changes = std::collections::HashMap::new();
        for (path, edits) in by_file {
            let text = (self.text)(path).unwrap_or_else(|| "".into());
            let Some(uri) = uri(path) else { continue };
            changes.insert(uri, text_edits(&Lines::of(&text, self.encoding), &edits));
        }
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    }
}

fn text_edits(lines: &Lines<'_>, edits: &[&Edit]) -> Vec<TextEdit> {
    let edits = edits.iter();
    edits
        .map(|it| TextEdit { range: lines.range(&it.place.range), new_text: it.text.clone() })
        .collect()
}

/// Returns a function that finds texts of a workspace.
pub fn texts(workspace: &Workspace) -> impl Fn(&Path) -> Option<Arc<str>> + '_ {
    |path| match workspace.laid(path) {
        Some(text) => Some(text.clone()),
        None => workspace.files().read_text(path).ok().map(Into::into),
    }
}

/// Returns the problems of a file as messages have them.
pub fn diagnostics(
    path: &Path,
    problems: &[Problem],
    found: &Found,
    encoding: Encoding,
) -> Vec<Diagnostic> {
    let text = found.texts.get(path).cloned().unwrap_or_else(|| "".into());
    let lines = Lines::of(&text, encoding);
    let find = |path: &Path| found.texts.get(path).cloned();
    let places = Places::new(&find, encoding);
    problems.iter().map(|it| diagnostic(it, &lines, &places)).collect()
}

fn diagnostic(problem: &Problem, lines: &Lines<'_>, places: &Places<'_>) -> Diagnostic {
    let related: Vec<_> = problem
        .related
        .iter()
        .filter_map(|(place, message)| {
            let location = places.location(place)?;
            Some(DiagnosticRelatedInformation { location, message: message.clone() })
        })
        .collect();
    let see = problem.see.as_ref().and_then(|it| Url::parse(it).ok());
    Diagnostic {
        range: lines.range(&problem.place.range),
        severity: Some(match problem.weight {
            Weight::Error => DiagnosticSeverity::ERROR,
            Weight::Warning => DiagnosticSeverity::WARNING,
            Weight::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(problem.code.clone())),
        code_description: see.map(|href| CodeDescription { href }),
        source: Some(format!("entail {}", problem.said_by)),
        message: problem.message.clone(),
        related_information: (!related.is_empty()).then_some(related),
        tags: None,
        data: problem.address.as_ref().map(|it| json!({ "address": it })),
    }
}

//! What is known to be wrong, by the folders that were looked at, and what of it the editor was told.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail::assist::problems::{Found, Problem};
use lsp_types::{Diagnostic, PublishDiagnosticsParams};

use super::convert::diagnostics;
use super::outgoing::Outgoing;
use super::text::Encoding;
use super::uri::uri;

/// Problems, and what was told of them.
#[derive(Default)]
pub struct Published {
    by_root: BTreeMap<PathBuf, Found>,
    told: BTreeMap<PathBuf, (Option<i32>, Vec<Diagnostic>)>,
    /// The open texts: their versions, and what they are.
    open: BTreeMap<PathBuf, (i32, Arc<str>)>,
    pub encoding: Encoding,
}

/// Whether something was found of a file. Most of many are about one file alone.
fn holds(found: &Found, path: &Path) -> bool {
    match (found.files.len(), found.files.first_key_value()) {
        (1, Some((only, _))) => only.as_os_str() == path.as_os_str(),
        _ => found.files.contains_key(path),
    }
}

impl Published {
    /// Notes what an open text is now.
    pub fn opened(&mut self, path: &Path, version: i32, text: Arc<str>) {
        self.open.insert(path.to_owned(), (version, text));
    }

    /// Notes that a text is no longer open.
    pub fn closed(&mut self, path: &Path) {
        self.open.remove(path);
    }

    /// Moves what is known of a text to where it stands after a change: `was` has become `length` bytes.
    pub fn moved(&mut self, path: &Path, was: &Range<usize>, length: usize) {
        for found in self.by_root.values_mut().filter(|it| holds(it, path)) {
            let Some(problems) = found.files.get_mut(path) else { continue };
            problems.retain(|it| !touches(&it.place.range, was));
            for it in problems.iter_mut().filter(|it| it.place.range.start >= was.end) {
                let place = &mut it.place.range;
                let by = |at: usize| at - (was.end - was.start) + length;
                *place = by(place.start)..by(place.end);
            }
        }
    }

    /// Tells at once what keeps a text from being read, with what else was known of it.
    pub fn at_once(&mut self, path: &Path, syntax: Vec<Problem>, out: &Outgoing) {
        let Some((_, text)) = self.open.get(path).cloned() else { return };
        let mut is_known = false;
        for found in self.by_root.values_mut().filter(|it| holds(it, path)) {
            is_known = true;
            let problems = found.files.entry(path.to_owned()).or_default();
            problems.retain(|it| it.said_by != "syntax");
            problems.extend(syntax.iter().cloned());
            found.texts.insert(path.to_owned(), text.clone());
        }
        if !is_known {
            let files = BTreeMap::from([(path.to_owned(), syntax)]);
            let texts = BTreeMap::from([(path.to_owned(), text)]);
            self.by_root.insert(path.to_owned(), Found { files, texts });
        }
        self.tell(path, out);
    }

    /// Takes what was found in a folder, or by a file that stands alone, and tells what has changed.
    ///
    /// What was found of a text that has changed since is not taken: what was known is where it belongs, and more is on its way.
    pub fn found(&mut self, root: &Path, mut found: Found, out: &Outgoing) {
        let known = self.by_root.get(root);
        for (path, (_, text)) in &self.open {
            let is_old = found.texts.get(path).is_some_and(|it| it != text);
            if let (true, Some(problems)) = (is_old, found.files.get_mut(path)) {
                *problems = known.and_then(|it| it.files.get(path)).cloned().unwrap_or_default();
                found.texts.insert(path.clone(), text.clone());
            }
        }
        let mut paths: Vec<PathBuf> = found.files.keys().cloned().collect();
        // What was told of a file alone is told with its folder now.
        paths.iter().for_each(|it| drop(self.by_root.remove(it)));
        let before = self.by_root.insert(root.to_owned(), found);
        paths.extend(before.into_iter().flat_map(|it| it.files.into_keys()));
        paths.sort();
        paths.dedup();
        for path in paths {
            self.tell(&path, out);
        }
    }

    /// Forgets folders that are looked at no longer.
    pub fn keep(&mut self, roots: &dyn Fn(&Path) -> bool, out: &Outgoing) {
        let gone: Vec<PathBuf> = self.by_root.keys().filter(|it| !roots(it)).cloned().collect();
        for root in gone {
            let found = self.by_root.remove(&root).unwrap_or_default();
            for path in found.files.into_keys() {
                self.tell(&path, out);
            }
        }
    }

    /// Returns the problems that are known of a file.
    pub fn of(&self, path: &Path) -> Vec<Problem> {
        let all = self.by_root.values().flat_map(|it| it.files.get(path).into_iter().flatten());
        let mut all: Vec<Problem> = all.cloned().collect();
        all.dedup();
        all
    }

    fn tell(&mut self, path: &Path, out: &Outgoing) {
        let mut all: Vec<Diagnostic> = Vec::new();
        let open = self.open.get(path);
        for found in self.by_root.values() {
            let Some(problems) = found.files.get(path) else { continue };
            for it in diagnostics(path, problems, found, self.encoding) {
                if !all.iter().any(|other| is_same(other, &it)) {
                    all.push(it);
                }
            }
        }
        let version = open.map(|it| it.0);
        let told = (version, all);
        match self.told.get(path) {
            Some(known) if *known == told => return,
            None if told.0.is_none() && told.1.is_empty() => return,
            _ => {}
        }
        if let Some(uri) = uri(path) {
            let diagnostics = told.1.clone();
            out.tell(
                "textDocument/publishDiagnostics",
                PublishDiagnosticsParams { uri, diagnostics, version },
            );
        }
        self.told.insert(path.to_owned(), told);
    }
}

/// Whether a problem stands where something was changed.
fn touches(place: &Range<usize>, was: &Range<usize>) -> bool {
    place.start < was.end && was.start < place.end
}

fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    (one.range, &one.message) == (other.range, &other.message)
}

#[cfg(test)]
mod tests {
    use entail::assist::Place;
    use entail::assist::problems::Weight;

    use super::*;

    const FILE: &str = "/there/main.tf";

    fn problem(range: Range<usize>) -> Problem {
        Problem {
            weight: Weight::Error,
            code: "wrong".to_owned(),
            said_by: "validate",
            message: "It is wrong".to_owned(),
            place: Place { path: FILE.into(), range },
            related: Vec::new(),
            see: None,
            address: None,
        }
    }

    fn found(text: &str, problems: Vec<Problem>) -> Found {
        Found {
            files: BTreeMap::from([(FILE.into(), problems)]),
            texts: BTreeMap::from([(FILE.into(), text.into())]),
        }
    }

    fn places(published: &Published) -> Vec<Range<usize>> {
        published.of(Path::new(FILE)).into_iter().map(|it| it.place.range).collect()
    }

    fn nowhere() -> Outgoing {
        Outgoing::new(Box::new(std::io::sink()), Default::default())
    }

    #[test]
    fn what_is_known_of_a_text_moves_with_it() {
        let mut published = Published::default();
        let all = [0..2, 4..6, 10..12].map(problem).into();
        published.found(Path::new("/there"), found("abcdefghijklmnop", all), &nowhere());
        published.moved(Path::new(FILE), &(5..8), 1);
        assert_eq!(places(&published), [0..2, 8..10]);
    }

    #[test]
    fn what_was_found_in_an_older_text_is_not_taken() {
        let mut published = Published::default();
        published.found(Path::new("/there"), found("old", vec![problem(0..1)]), &nowhere());
        published.opened(Path::new(FILE), 2, "new".into());
        published.found(Path::new("/there"), found("older", vec![problem(3..4)]), &nowhere());
        assert_eq!(places(&published), std::slice::from_ref(&(0..1)));
        published.found(Path::new("/there"), found("new", vec![problem(2..3)]), &nowhere());
        assert_eq!(places(&published), std::slice::from_ref(&(2..3)));
    }
}

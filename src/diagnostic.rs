//! A problem, as a user is told of it: severity, summary, detail, and where in which file.
//!
//! A room that finds a problem builds a [`Diagnostic`] by a named function and collects it in [`Diagnostics`];
//! nothing here prints.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::address::Instance;

/// A place in a source file: byte offsets, end exclusive. `file` indexes the [`Sources`] it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file, as [`Sources::add`] numbered it.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span of `start..end` in `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// Returns its first byte.
    pub fn first(self) -> Span {
        Span { end: self.end.min(self.start + 1), ..self }
    }

    /// Returns whether another span lies in this one.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// Returns the smallest span that covers both. Both lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// The number of a source file in its [`Sources`]. 0 is no file at all: a value from a flag, the environment or a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// One source file: its name as shown to the user, and its text.
#[derive(Debug)]
pub struct Source {
    /// The path as the user would write it, such as `main.tf` or `modules/net/main.tf`.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    /// How many texts this name has had up to this one, from 1: a text that changed has a new version.
    pub version: u32,
    /// Where each line begins; found when first asked for.
    lines: OnceLock<Vec<u32>>,
    /// See [`Source::blocks`].
    blocks: OnceLock<Vec<(Range<usize>, Range<usize>)>>,
}

impl Source {
    /// Returns header and whole range of each top-level block, in order; `find` looks for them when first asked.
    pub fn blocks(
        &self,
        find: impl FnOnce(&str) -> Vec<(Range<usize>, Range<usize>)>,
    ) -> &[(Range<usize>, Range<usize>)] {
        self.blocks.get_or_init(|| find(&self.text))
    }

    /// Returns the number of the line that holds a byte, from 1, and where it begins.
    fn line(&self, byte: usize) -> (usize, usize) {
        let lines = self.lines.get_or_init(|| {
            let ends =
                self.text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 as u32 + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let number = lines.partition_point(|it| *it as usize <= byte);
        (number, lines[number - 1] as usize)
    }
}

/// A position that people read: `line` and `column` from 1 (columns count grapheme clusters), `byte` from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in grapheme clusters, from 1.
    pub column: usize,
    /// Byte offset in the file, from 0.
    pub byte: usize,
}

/// Every source file that was read. Shared, append-only.
///
/// A number stands for one text of one file for ever: what was kept for it, or said of places in it, is not about the text that
/// the file has after a change. A text that is read again unchanged keeps its number.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Arc<Mutex<SourceFiles>>,
    /// What names of files begin with that are added here; empty, or ends in a slash.
    folder: String,
}

#[derive(Debug, Default)]
struct SourceFiles {
    /// The file with number `n` stands at `n - 1`.
    all: Vec<Arc<Source>>,
    /// The number of each name's newest text.
    newest: HashMap<String, FileId>,
}

impl SourceFiles {
    fn get(&self, id: FileId) -> Option<&Arc<Source>> {
        (id.0 as usize).checked_sub(1).and_then(|index| self.all.get(index))
    }

    fn add(&mut self, name: String, text: Arc<str>) -> FileId {
        let newest = self.newest.get(&name).and_then(|id| Some((*id, self.get(*id)?)));
        let version = match newest {
            Some((id, it)) if it.text == text => return id,
            Some((_, it)) => it.version + 1,
            None => 1,
        };
        let (lines, blocks) = (OnceLock::new(), OnceLock::new());
        self.all.push(Arc::new(Source { name: name.clone(), text, version, lines, blocks }));
        let id = FileId(self.all.len() as u32);
        self.newest.insert(name, id);
        id
    }
}

impl Sources {
    /// Returns the same files; what is added to them through it has a name below this folder.
    pub fn below(&self, folder: &str) -> Sources {
        Sources { files: self.files.clone(), folder: format!("{folder}/") }
    }

    /// Registers a file's text and returns its number, from 1; that of before where the file's text is the same.
    pub fn add(&self, name: impl Into<String>, text: Arc<str>) -> FileId {
        let name = self.folder.clone() + &name.into();
        self.files.lock().add(name, text)
    }

    /// Returns the file, unless the id is 0 or from elsewhere.
    pub fn get(&self, id: FileId) -> Option<Arc<Source>> {
        self.files.lock().get(id).cloned()
    }

    /// Returns whether a file has had another text since: what is known of this one is out of date.
    pub fn is_outdated(&self, id: FileId) -> bool {
        let files = self.files.lock();
        files.get(id).is_some_and(|it| files.newest.get(&it.name) != Some(&id))
    }

    /// Returns line and column of a byte offset.
    pub fn position(&self, file: FileId, byte: u32) -> Position {
        use unicode_segmentation::UnicodeSegmentation;
        let Some(source) = self.get(file) else { return Position { line: 1, column: 1, byte: 0 } };
        let byte = (byte as usize).min(source.text.len());
        let (line, line_start) = source.line(byte);
        let column = match source.text.get(line_start..byte) {
            Some(text) if text.is_ascii() => text.len() + 1,
            Some(text) => text.graphemes(true).count() + 1,
            None => byte - line_start + 1,
        };
        Position { line, column, byte }
    }

    /// Returns `file:line,column-column`, or `file:line,column-line,column` across lines: the form that messages name
    /// other places by; empty for no file.
    pub fn range(&self, span: Span) -> String {
        let Some(source) = self.get(span.file) else { return String::new() };
        let (start, end) =
            (self.position(span.file, span.start), self.position(span.file, span.end));
        let end = match start.line == end.line {
            true => end.column.to_string(),
            false => format!("{},{}", end.line, end.column),
        };
        format!("{}:{},{}-{end}", source.name, start.line, start.column)
    }

    /// Returns the text that a span covers.
    pub fn text(&self, span: Span) -> Option<String> {
        self.get(span.file)?.text.get(span.start as usize..span.end as usize).map(str::to_owned)
    }

    /// Returns what places are sorted by: files by depth and name, and what stands in one as it stands there.
    pub fn rank(&self, span: Span) -> (usize, String, u32, u32) {
        let name = self.get(span.file).map_or(String::new(), |it| it.name.clone());
        (name.matches('/').count(), name, span.start, span.end)
    }

    /// Returns `file:line,column`, the short form that proofs and cycle reports use; empty for no file.
    pub fn place(&self, span: Span) -> String {
        match self.get(span.file) {
            Some(source) => {
                let at = self.position(span.file, span.start);
                format!("{}:{},{}", source.name, at.line, at.column)
            }
            None => String::new(),
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing may go on that rests on this.
    Error,
    /// The user should know.
    Warning,
}

/// Which sort of problem it is, where somebody treats that sort in a way of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// One like most.
    #[default]
    Plain,
    /// The value of `count` is no number.
    CountType,
    /// A module wants another version of the program.
    IncompatibleModule,
    /// A key leads to nothing, which `try` catches.
    InvalidIndex,
    /// A value was derived from what should not be used any more.
    Deprecated {
        /// What that is.
        source: String,
    },
    /// An assertion of a check block failed, or is not decided yet.
    CheckBlock,
}

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The kind of problem, a few words, no stop. Stable: people search for it.
    pub summary: String,
    /// This problem, in whole sentences, the way out last. May be empty.
    pub detail: String,
    /// The exact place: what is underlined.
    pub subject: Option<Span>,
    /// What to show around it, such as a block header. The subject's line when absent.
    pub context: Option<Span>,
    /// The object it is about (`null_resource.a[0]`), where the source place alone does not say.
    pub address: Option<String>,
    /// The values that the failing expression referred to: (`var.x`, `is "text"`). Never a sensitive value.
    pub values: Vec<(String, String)>,
    /// The function that failed: name as called, and its signature where known.
    pub function: Option<(String, Option<String>)>,
    /// The two sides of a failed `==` condition.
    pub difference: Option<Box<(crate::value::Value, crate::value::Value)>>,
    /// Which sort it is, for those who treat some in a way of their own.
    pub sort: Sort,
}

impl Diagnostic {
    /// Returns an error with this summary.
    pub fn error(summary: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, summary)
    }

    /// Returns a warning with this summary.
    pub fn warning(summary: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, summary)
    }

    fn new(severity: Severity, summary: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            summary: summary.into(),
            detail: String::new(),
            subject: None,
            context: None,
            address: None,
            values: Vec::new(),
            function: None,
            difference: None,
            sort: Sort::Plain,
        }
    }

    /// Sets the detail.
    pub fn detail(mut self, detail: impl Into<String>) -> Diagnostic {
        self.detail = detail.into();
        self
    }

    /// Sets the exact place.
    pub fn at(mut self, span: Span) -> Diagnostic {
        if span.file != FileId(0) {
            self.subject = Some(span);
        }
        self
    }

    /// Sets the place to show around the subject.
    pub fn within(mut self, span: Span) -> Diagnostic {
        self.context = Some(span);
        self
    }

    /// Sets the object it is about.
    pub fn about(mut self, address: impl fmt::Display) -> Diagnostic {
        self.address = Some(address.to_string());
        self
    }

    /// Sets the sort.
    pub fn sort(mut self, sort: Sort) -> Diagnostic {
        self.sort = sort;
        self
    }

    /// Returns whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

/// Returns what the system says of an error, in the form in which OpenTofu repeats it.
pub fn system_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Returns what is to be done where a part of the program is needed that was left out when it was built.
pub fn left_out(feature: &str) -> String {
    format!(
        "this program was built without the feature {feature:?}. Use one that has it: `cargo install --locked --path cli --features {feature}`, or without `--no-default-features`"
    )
}

/// Problems in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Returns an empty list.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of `more`.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(more);
    }

    /// Returns whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Returns them with each problem only where it stands first.
    pub fn once(self) -> Diagnostics {
        let mut once: Vec<Diagnostic> = Vec::with_capacity(self.0.len());
        let mut seen: HashMap<(String, Option<Span>), Vec<usize>> = HashMap::new();
        for problem in self.0 {
            let alike = seen.entry((problem.summary.clone(), problem.subject)).or_default();
            if !alike.iter().any(|&it| once[it] == problem) {
                alike.push(once.len());
                once.push(problem);
            }
        }
        Diagnostics(once)
    }

    /// Returns what was found side by side in one order, whoever was first: by place, then by object. What was found of
    /// one object stays as it was found.
    pub fn settled(mut self, sources: &Sources) -> Diagnostics {
        self.0.sort_by_cached_key(|it| {
            let words = (it.summary.clone(), it.detail.clone());
            let object = it.address.as_ref().map(|it| (it.parse::<Instance>().ok(), it.clone()));
            (it.subject.map(|it| sources.rank(it)), object.ok_or(words))
        });
        self
    }

    /// Takes the value of a result, or keeps its problems and returns nothing.
    pub fn take<T>(&mut self, result: Result<T, impl Into<Diagnostics>>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problems) => {
                self.extend(problems.into());
                None
            }
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(problems: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics(problems)
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_side_by_side_has_one_order_whoever_was_first() {
        let sources = Sources::default();
        let file = sources.add("main.tf", "a\nb\n".into());
        let place = |start| Span { file, start, end: start + 1 };
        let of = |key: u32, words: &str| {
            Diagnostic::warning(words).about(format!("null_resource.a[{key}]")).at(place(2))
        };
        let orderly = [
            Diagnostic::warning("of nothing"),
            Diagnostic::warning("of the first line").at(place(0)),
            of(2, "told first"),
            of(2, "and then"),
            of(10, "of a later object"),
        ];
        // What is said of one object is said in turn: those two are not torn apart.
        for first in [0, 1, 2, 4] {
            let mut found = Diagnostics::new();
            found.extend(orderly[first..].iter().chain(&orderly[..first]).cloned());
            assert_eq!(found.settled(&sources).0, orderly);
        }
    }
}

//! Texts that are read, and places in them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::Span;

/// The number of a source file in its [`Sources`]. 0 is no file at all: a value from a flag, the environment or a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// One source file: its name as shown to the user, and its text.
#[derive(Debug)]
pub struct Source {
    /// The path as the user would write it, such as `main.tf` or `modules/net/main.tf`.
    pub name: String,
    text: Text,
    /// How many texts this name has had up to this one, from 1: a text that changed has a new version.
    pub version: u32,
    /// Where each line begins; found when first asked for.
    lines: OnceLock<Vec<u32>>,
    /// See [`Source::blocks`].
    blocks: OnceLock<Vec<(Range<usize>, Range<usize>)>>,
}

/// A whole text. One of many megabytes is packed once it was read: hardly anybody asks for it again, but everything has places in it.
#[derive(Debug)]
enum Text {
    Plain(Arc<str>),
    /// Packed, and plain again once somebody asked for it.
    Packed(Box<[u8]>, OnceLock<Arc<str>>),
}

impl Text {
    fn get(&self) -> &Arc<str> {
        match self {
            Text::Plain(text) => text,
            Text::Packed(packed, plain) => plain.get_or_init(|| {
                let bytes =
                    lz4_flex::decompress_size_prepended(packed).expect("it was packed here");
                String::from_utf8(bytes).expect("it was text").into()
            }),
        }
    }
}

impl Source {
    /// Returns the whole text.
    pub fn text(&self) -> &Arc<str> {
        self.text.get()
    }

    /// Returns header and whole range of each top-level block, in order; `find` looks for them when first asked.
    pub fn blocks(
        &self,
        find: impl FnOnce(&str) -> Vec<(Range<usize>, Range<usize>)>,
    ) -> &[(Range<usize>, Range<usize>)] {
        self.blocks.get_or_init(|| find(self.text()))
    }

    /// Returns where each line begins.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let ends = self
                .text()
                .bytes()
                .enumerate()
                .filter(|it| it.1 == b'\n')
                .map(|it| it.0 as u32 + 1);
            std::iter::once(0).chain(ends).collect()
        })
    }

    /// Returns where a line begins, from 1, and its text with its end.
    fn text_of_line(&self, line: usize) -> Option<(usize, &str)> {
        let start = *self.lines().get(line.checked_sub(1)?)? as usize;
        let end = self.lines().get(line).map_or(self.text().len(), |it| *it as usize);
        Some((start, self.text().get(start..end)?))
    }

    /// Returns the number of the line that holds a byte, from 1, and where it begins.
    fn line(&self, byte: usize) -> (usize, usize) {
        let lines = self.lines();
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
            Some((id, it)) if *it.text() == text => return id,
            Some((_, it)) => it.version + 1,
            None => 1,
        };
        let (lines, blocks) = (OnceLock::new(), OnceLock::new());
        self.all.push(Arc::new(Source {
            name: name.clone(),
            text: Text::Plain(text),
            version,
            lines,
            blocks,
        }));
        let id = FileId(self.all.len() as u32);
        self.newest.insert(name, id);
        id
    }

    fn pack(&mut self, id: FileId) {
        let place = (id.0 as usize).checked_sub(1).and_then(|index| self.all.get_mut(index));
        let Some(source) = place else { return };
        if let Text::Plain(text) = &source.text
            && text.len() >= LONG
        {
            let text = Text::Packed(
                lz4_flex::compress_prepend_size(text.as_bytes()).into(),
                OnceLock::new(),
            );
            let (name, version) = (source.name.clone(), source.version);
            let (lines, blocks) = (OnceLock::new(), OnceLock::new());
            *source = Arc::new(Source { name, text, version, lines, blocks });
        }
    }
}

/// A text as long as this is packed, in bytes.
const LONG: usize = 1 << 22;

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

    /// Keeps the text of a file, which was read, in less room where it is long.
    pub fn pack(&self, id: FileId) {
        self.files.lock().pack(id);
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
        let byte = (byte as usize).min(source.text().len());
        let (line, line_start) = source.line(byte);
        let column = match source.text().get(line_start..byte) {
            Some(text) if text.is_ascii() => text.len() + 1,
            Some(text) => text.graphemes(true).count() + 1,
            None => byte - line_start + 1,
        };
        Position { line, column, byte }
    }

    /// Returns the place at a line and a column, both from 1; nothing where the file has none such.
    pub fn span(&self, file: FileId, line: usize, column: usize) -> Option<Span> {
        use unicode_segmentation::UnicodeSegmentation;
        let source = self.get(file)?;
        let (start, text) = source.text_of_line(line)?;
        let before = column.checked_sub(1)?;
        // The end of a line counts as one, however it is written.
        let within = match text.is_ascii() {
            true => Some(before)
                .filter(|it| *it <= text.trim_end_matches(['\r', '\n']).len() && *it < text.len()),
            false => text.grapheme_indices(true).nth(before).map(|it| it.0),
        }?;
        Some(Span::new(file, start + within, start + within))
    }

    /// Returns `file:line,column-column`, or `file:line,column-line,column` across lines: the form that messages name
    /// other places by; empty for no file.
    pub fn range(&self, span: Span) -> String {
        let Some(source) = self.get(span.file()) else { return String::new() };
        let (start, end) =
            (self.position(span.file(), span.start()), self.position(span.file(), span.end()));
        let end = match start.line == end.line {
            true => end.column.to_string(),
            false => format!("{},{}", end.line, end.column),
        };
        format!("{}:{},{}-{end}", source.name, start.line, start.column)
    }

    /// Returns the text that a span covers.
    pub fn text(&self, span: Span) -> Option<String> {
        self.get(span.file())?
            .text()
            .get(span.start() as usize..span.end() as usize)
            .map(str::to_owned)
    }

    /// Returns what places are sorted by: files by depth and name, and what stands in one as it stands there.
    pub fn rank(&self, span: Span) -> (usize, String, u32, u32) {
        let name = self.get(span.file()).map_or(String::new(), |it| it.name.clone());
        (name.matches('/').count(), name, span.start(), span.end())
    }

    /// Returns `file:line,column`, the short form that proofs and cycle reports use; empty for no file.
    pub fn place(&self, span: Span) -> String {
        match self.get(span.file()) {
            Some(source) => {
                let at = self.position(span.file(), span.start());
                format!("{}:{},{}", source.name, at.line, at.column)
            }
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    #[test]
    fn a_text_that_is_packed_says_what_it_said() {
        let sources = Sources::default();
        for (name, text) in [("short", "a\n".to_owned()), ("long", "é = 1\n".repeat(LONG / 4))] {
            let id = sources.add(name, text.as_str().into());
            let place = Span::new(id, text.len() - 2, text.len() - 1);
            let before = (sources.range(place), sources.text(place));
            sources.pack(id);
            assert_eq!((sources.range(place), sources.text(place)), before);
            let source = sources.get(id).expect("the file is there");
            assert_eq!(
                (&**source.text(), matches!(source.text, Text::Packed(..))),
                (&*text, name == "long")
            );
            assert_eq!(sources.add(name, text.into()), id, "{name} is the text that it was");
        }
    }

    #[test]
    fn every_place_is_found_again_by_its_line_and_column() {
        let sources = Sources::default();
        for text in ["", "a", "a\n", "\n\nb = \"é👩‍👩‍👧\"\n  c\r\n", "last line\nwithout end"]
        {
            let file = sources.add("main.tf", text.into());
            for (byte, _) in text.grapheme_indices(true) {
                let at = sources.position(file, byte as u32);
                let span = sources.span(file, at.line, at.column);
                assert_eq!(span, Some(Span::new(file, byte, byte)), "{text:?} at {byte}");
            }
            let lines = text.lines().count();
            assert_eq!(sources.span(file, lines + 1, 1), None);
            assert_eq!(sources.span(file, 1, 99), None);
            assert_eq!((sources.span(file, 0, 1), sources.span(file, 1, 0)), (None, None));
        }
    }
}

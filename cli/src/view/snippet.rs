//! The piece of source that a diagnostic shows, and what is written around it.

use entail::config::struck_out;
use entail::diagnostic::{Diagnostic, Position, Source, Sources, Span};

/// The source lines of a diagnostic and what is underlined in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    /// The file as people call it.
    pub file: String,
    /// Where the subject starts.
    pub start: Position,
    /// Where the subject ends, exclusive.
    pub end: Position,
    /// The top-level block around the subject: `resource "t" "n"`.
    pub block: Option<String>,
    /// Whole lines, joined with newlines.
    pub code: String,
    /// The number of the first of these lines.
    pub first_line: usize,
    /// First underlined byte of `code`.
    pub highlight_start: usize,
    /// One past the last underlined byte of `code`.
    pub highlight_end: usize,
}

/// Cuts the snippet out; nothing where the diagnostic has no place.
pub fn snippet(diagnostic: &Diagnostic, sources: &Sources) -> Option<Snippet> {
    let subject = diagnostic.subject?;
    let source = sources.get(subject.file())?;
    let shown = diagnostic
        .context
        .filter(|it| it.file() == subject.file())
        .map_or(subject, |it| it.to(subject));
    let lines = lines_of(source.text(), widened(shown));
    let written = match is_shown(&source.name) {
        true => source.text().get(lines.clone()).unwrap_or_default().trim_end_matches('\r'),
        false => "",
    };
    // The carriage returns of line ends are not shown, so that they do not count either.
    let code = struck_out(written).replace("\r\n", "\n");
    let offset = |byte: u32| {
        let byte =
            char_boundary(written, (byte as usize).saturating_sub(lines.start).min(written.len()));
        char_boundary(&code, (byte - written[..byte].matches("\r\n").count()).min(code.len()))
    };
    let highlight = widened(subject);
    Some(Snippet {
        file: source.name.clone(),
        start: sources.position(subject.file(), subject.start()),
        end: end_of(subject, sources),
        block: block_around(&source, subject.start() as usize).filter(|_| is_shown(&source.name)),
        first_line: sources.position(subject.file(), lines.start as u32).line,
        highlight_start: offset(highlight.start()),
        highlight_end: offset(highlight.end()),
        code,
    })
}

/// Returns whether a source has lines to show: what was typed or given by a flag has none.
pub fn is_shown(name: &str) -> bool {
    !name.starts_with('<') || ["<stdin>", "<import-address>", "<query>"].contains(&name)
}

/// An empty span shows the character behind it.
fn widened(span: Span) -> Span {
    span.ending_at(span.end().max(span.start() + 1))
}

fn end_of(subject: Span, sources: &Sources) -> Position {
    let end = sources.position(subject.file(), subject.end().max(subject.start()));
    if subject.end() > subject.start() {
        end
    } else {
        Position { column: end.column + 1, byte: end.byte + 1, ..end }
    }
}

/// Returns the bytes of the lines that the span touches, without the last newline.
fn lines_of(text: &str, span: Span) -> std::ops::Range<usize> {
    let bytes = text.as_bytes();
    let first = (span.start() as usize).min(bytes.len());
    let last = (span.end() as usize).clamp(first, bytes.len());
    // What ends with a line does not touch the next one.
    let last = if last > first && bytes[last - 1] == b'\n' { last - 1 } else { last };
    let start = bytes[..first].iter().rposition(|&it| it == b'\n').map_or(0, |it| it + 1);
    let end = bytes[last..].iter().position(|&it| it == b'\n').map_or(bytes.len(), |it| last + it);
    start..end
}

fn char_boundary(text: &str, mut byte: usize) -> usize {
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

/// Returns the header of the top-level block that holds the byte before `offset`.
///
/// A subject that is the header itself has no block around it, as in OpenTofu.
fn block_around(source: &Source, offset: usize) -> Option<String> {
    if source.name.ends_with(".json") {
        return members_around(source.text(), offset.checked_sub(1)?);
    }
    let offset = offset.checked_sub(1)?;
    let blocks = source.blocks(|text| {
        let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
        std::iter::from_fn(|| scanner.next_block()).collect()
    });
    let (header, range) = blocks.get(blocks.partition_point(|it| it.1.end <= offset))?;
    let header = source.text().get(header.clone()).filter(|_| range.contains(&offset))?;
    Some(normal_header(header))
}

/// Returns which members of a JSON document hold the byte at `offset`: `resource.terraform_data.a[0].lifecycle`.
fn members_around(text: &str, offset: usize) -> Option<String> {
    /// An open object with the name of its last member, or an open array with its last index.
    enum Open {
        Object(String),
        Array(usize),
    }
    let bytes = text.as_bytes();
    let (mut open, mut at): (Vec<Open>, usize) = (Vec::new(), 0);
    let (mut steps, mut is_name): (Vec<String>, bool) = (Vec::new(), false);
    while at <= offset.min(bytes.len().checked_sub(1)?) {
        let byte = bytes[at];
        if matches!(byte, b'{' | b'[') {
            steps.extend(open.last().map(|it| match it {
                Open::Object(name) => format!(".{name}"),
                Open::Array(index) => format!("[{index}]"),
            }));
            is_name = byte == b'{';
            open.push(if is_name { Open::Object(String::new()) } else { Open::Array(0) });
        }
        match (byte, open.last_mut()) {
            // The closing bracket is still inside.
            (b'}' | b']', _) if at < offset => {
                open.pop();
                steps.pop();
                is_name = false;
            }
            (b',', Some(Open::Array(index))) => *index += 1,
            (b',', Some(Open::Object(_))) => is_name = true,
            (b'"', inside) => {
                let start = at + 1;
                at = start;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if let (Some(Open::Object(name)), true) = (inside, is_name) {
                    *name = text.get(start..at.min(bytes.len())).unwrap_or_default().to_owned();
                    is_name = false;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let path = steps.concat();
    (!path.is_empty()).then(|| path.trim_start_matches('.').to_owned())
}

/// Puts one space between the words of a header and quotes its labels. What is quoted is one word.
fn normal_header(header: &str) -> String {
    let mut out = String::new();
    let mut rest = header.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(inner) => inner.split_once('"').unwrap_or((inner, "")),
            None => rest.split_at(rest.find([' ', '\t', '\r', '\n', '"']).unwrap_or(rest.len())),
        };
        match out.is_empty() {
            true => out.push_str(word),
            false => out.extend([" \"", word, "\""]),
        }
        rest = after.trim_start();
    }
    out
}

/// Finds blocks and skips everything else. Tolerates broken files: a snippet is most needed there.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What the scanner is inside of.
enum Inside {
    /// Brackets that `closer` ends.
    Brackets(u8),
    /// A quoted string.
    Quotes,
    /// A heredoc with this marker.
    Heredoc(Vec<u8>),
}

impl Scanner<'_> {
    /// Returns the header and the whole range of the next top-level block.
    fn next_block(&mut self) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
        let mut start = None;
        while let Some(byte) = self.peek(0) {
            match byte {
                _ if self.skip_comment() => {}
                b'{' => {
                    let header = start.unwrap_or(self.at)..self.at;
                    self.skip_nested(b'}');
                    return Some((header.clone(), header.start..self.at));
                }
                b'\n' => {
                    start = None;
                    self.at += 1;
                }
                b'=' => {
                    self.skip_value();
                    start = None;
                }
                b'"' => self.skip_quotes(),
                it => {
                    if start.is_none() && !it.is_ascii_whitespace() {
                        start = Some(self.at);
                    }
                    self.at += 1;
                }
            }
        }
        None
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip_comment(&mut self) -> bool {
        match (self.peek(0), self.peek(1)) {
            (Some(b'#'), _) | (Some(b'/'), Some(b'/')) => {
                self.skip_until(b"\n");
                true
            }
            (Some(b'/'), Some(b'*')) => {
                self.skip_until(b"*/");
                self.at = (self.at + 2).min(self.bytes.len());
                true
            }
            _ => false,
        }
    }

    fn skip_until(&mut self, end: &[u8]) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.windows(end.len()).position(|it| it == end).unwrap_or(rest.len());
    }

    /// Skips `= expression` up to its line's end.
    fn skip_value(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => return,
                _ if self.skip_comment() => {}
                b'{' => self.skip_nested(b'}'),
                b'[' => self.skip_nested(b']'),
                b'(' => self.skip_nested(b')'),
                b'"' => self.skip_quotes(),
                b'<' if self.peek(1) == Some(b'<') => {
                    let heredoc = self.open_heredoc();
                    self.skip(heredoc);
                }
                _ => self.at += 1,
            }
        }
    }

    fn skip_nested(&mut self, closer: u8) {
        self.at += 1;
        self.skip(vec![Inside::Brackets(closer)]);
    }

    fn skip_quotes(&mut self) {
        self.at += 1;
        self.skip(vec![Inside::Quotes]);
    }

    /// Skips to the end of whatever the stack says; a stack because templates nest without limit.
    fn skip(&mut self, mut stack: Vec<Inside>) {
        while let Some(inside) = stack.last() {
            let Some(byte) = self.peek(0) else { return };
            let is_template = matches!(byte, b'$' | b'%') && self.peek(1) == Some(b'{');
            match inside {
                Inside::Heredoc(marker) if byte == b'\n' && self.line_is(marker) => {
                    self.at += 1;
                    self.skip_until(b"\n");
                    stack.pop();
                }
                Inside::Quotes if byte == b'\\' => self.at += 2,
                Inside::Quotes if matches!(byte, b'"' | b'\n') => {
                    self.at += 1;
                    stack.pop();
                }
                Inside::Quotes | Inside::Heredoc(_) if is_template => {
                    self.at += 2;
                    stack.push(Inside::Brackets(b'}'));
                }
                Inside::Quotes | Inside::Heredoc(_) => self.at += 1,
                Inside::Brackets(closer) => {
                    let closer = *closer;
                    self.skip_in_brackets(closer, &mut stack);
                }
            }
        }
    }

    fn skip_in_brackets(&mut self, closer: u8, stack: &mut Vec<Inside>) {
        if self.skip_comment() {
            return;
        }
        match self.peek(0) {
            Some(b'"') => stack.push(Inside::Quotes),
            Some(b'{') => stack.push(Inside::Brackets(b'}')),
            Some(b'[') => stack.push(Inside::Brackets(b']')),
            Some(b'(') => stack.push(Inside::Brackets(b')')),
            Some(b'<') if self.peek(1) == Some(b'<') => {
                stack.extend(self.open_heredoc());
                return;
            }
            Some(byte) if byte == closer => {
                stack.pop();
            }
            _ => {}
        }
        self.at += 1;
    }

    /// Steps to the end of the line that opens a heredoc; nothing when it opens none.
    fn open_heredoc(&mut self) -> Vec<Inside> {
        self.at += if self.peek(2) == Some(b'-') { 3 } else { 2 };
        let start = self.at;
        while self.peek(0).is_some_and(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
        {
            self.at += 1;
        }
        if self.at == start {
            Vec::new()
        } else {
            vec![Inside::Heredoc(self.bytes[start..self.at].to_vec())]
        }
    }

    /// Returns whether the line after the newline here is the marker alone.
    fn line_is(&self, marker: &[u8]) -> bool {
        let line = self.bytes.get(self.at + 1..).unwrap_or_default();
        let end = line.iter().position(|&it| it == b'\n').unwrap_or(line.len());
        line[..end].trim_ascii() == marker
    }
}

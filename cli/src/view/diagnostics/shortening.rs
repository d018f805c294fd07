//! Lines, texts and lists of errors of any length, cut down to what a person can read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use entail::diagnostic::{Diagnostic, FileId};

/// The most characters of a source line that are shown.
const LINE: usize = 200;
/// How many of them are shown before the subject.
const BEFORE_SUBJECT: usize = 60;
/// The most characters of a message's line that are shown.
const LONGEST: usize = 20_000;
/// The most characters of a word that are shown in a line that is longer.
const WORD: usize = 100;
/// The most errors of one file that are shown.
const MOST_ERRORS: usize = 100;
/// The summary of the parser's error after which it has lost its place in the file.
const TOO_DEEP: &str = "Nesting too deep";

/// Cuts each line of source code to at most 200 characters around the subject.
///
/// - `subject`: byte offsets in `code`, end exclusive.
/// - returns the shorter code, and the subject's offsets in it.
pub(super) fn shorten_code(code: &str, subject: Range<usize>) -> (String, Range<usize>) {
    let mut out = String::new();
    let (mut start, mut end) = (0, 0);
    let mut at = 0;
    for line in code.split('\n') {
        if at > 0 {
            out.push('\n');
        }
        let offset_in_line = |offset: usize| offset.checked_sub(at).filter(|it| *it <= line.len());
        let window = window(line, offset_in_line(subject.start).unwrap_or(0));
        if window.start > 0 {
            out.push('…');
        }
        let shift = out.len();
        let moved = |offset: usize| shift + offset.clamp(window.start, window.end) - window.start;
        out.push_str(&line[window.clone()]);
        start = offset_in_line(subject.start).map_or(start, moved);
        end = offset_in_line(subject.end).map_or(end, moved);
        if window.end < line.len() {
            out.push('…');
        }
        at += line.len() + 1;
    }
    (out, start..end)
}

/// Returns the part of a line that is shown, in bytes; `focus` is the offset of a character in it.
fn window(line: &str, focus: usize) -> Range<usize> {
    if line.len() <= LINE || line.chars().count() <= LINE {
        return 0..line.len();
    }
    let back = |end: usize, count: usize| {
        line[..end].char_indices().rev().nth(count - 1).map_or(0, |it| it.0)
    };
    let start = back(focus, BEFORE_SUBJECT);
    let end = line[start..].char_indices().nth(LINE).map_or(line.len(), |it| start + it.0);
    back(end, LINE)..end
}

/// Cuts lines of a message that have more than 20,000 characters: first their long words, then their end.
pub(super) fn shorten_text(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(|it| it.len() <= LONGEST) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<_> = text.split('\n').map(shorten_line).collect();
    Cow::Owned(lines.join("\n"))
}

fn shorten_line(line: &str) -> Cow<'_, str> {
    if line.chars().count() <= LONGEST {
        return Cow::Borrowed(line);
    }
    let (mut out, mut left) = (String::new(), LONGEST);
    for piece in line.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let shown = word.char_indices().nth(WORD).map_or(word, |it| &word[..it.0]);
        let Some(rest) = left.checked_sub(shown.chars().count() + 1) else {
            out.push('…');
            break;
        };
        left = rest;
        out.push_str(shown);
        if shown.len() < word.len() {
            out.push('…');
        }
        out.push_str(&piece[word.len()..]);
    }
    Cow::Owned(out)
}

/// The errors of one file so far.
#[derive(Default)]
struct FileErrors {
    count: usize,
    /// Whether the parser has lost its place.
    is_lost: bool,
    /// The index of the last one that is shown.
    last: usize,
}

/// Leaves out the errors of a file behind "Nesting too deep", which follow from it, and those behind the hundredth.
///
/// Errors about an object are never left out.
///
/// - `problems`: sorted by file and place.
pub(super) fn leave_out(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut files: HashMap<FileId, FileErrors> = HashMap::new();
    let mut shown: Vec<Diagnostic> = Vec::new();
    for problem in problems {
        let is_about_file = problem.is_error() && problem.address.is_none();
        let Some(subject) = problem.subject.filter(|_| is_about_file) else {
            shown.push(problem);
            continue;
        };
        let errors = files.entry(subject.file()).or_default();
        if errors.is_lost {
            continue;
        }
        errors.count += 1;
        if errors.count <= MOST_ERRORS {
            errors.is_lost = problem.summary == TOO_DEEP;
            errors.last = shown.len();
            shown.push(problem);
        }
    }
    for errors in files.values().filter(|it| it.count > MOST_ERRORS) {
        let detail = &mut shown[errors.last].detail;
        if !detail.is_empty() {
            detail.push_str("\n\n");
        }
        let more = errors.count - MOST_ERRORS;
        detail.push_str(&format!("({more} more errors of this file are not shown)"));
    }
    shown
}

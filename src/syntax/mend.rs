//! Texts that cannot be read as they are, mended so that the rest of them can.

use super::{Body, parse};
use crate::diagnostic::{Diagnostics, FileId};

/// How often what was mended is looked at again: a bracket that nothing closes leads from one line to the next.
const ROUNDS: usize = 8;

/// Returns a text in which the lines on which reading fails are blank, with its tree. Each byte stays where it is. Nothing where
/// that is of no avail.
///
/// - `problems`: what reading the text as it is has told.
pub fn mended(file: FileId, text: &str, problems: &Diagnostics) -> Option<(String, Body)> {
    let mut bytes = text.as_bytes().to_vec();
    let mut told = places(problems);
    for _ in 0..ROUNDS {
        if told.is_empty() {
            return None;
        }
        told.iter().for_each(|it| blank(&mut bytes, *it));
        let text = String::from_utf8(bytes.clone()).ok()?;
        let (body, found) = parse(file, &text);
        if !found.has_errors() {
            return Some((text, body));
        }
        told = places(&found);
    }
    None
}

/// Where reading fails.
fn places(problems: &Diagnostics) -> Vec<usize> {
    let errors = problems.iter().filter(|it| it.is_error());
    errors.filter_map(|it| it.subject).map(|it| it.start() as usize).collect()
}

/// Blanks the line on which a byte lies; where that is blank already, the one before it that is not.
fn blank(bytes: &mut [u8], at: usize) {
    let mut at = at.min(bytes.len());
    loop {
        let start = bytes[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        let end = bytes[at..].iter().position(|it| *it == b'\n').map_or(bytes.len(), |it| at + it);
        let is_blank = bytes[start..end].iter().all(u8::is_ascii_whitespace);
        bytes[start..end].fill(b' ');
        if !is_blank || start == 0 {
            return;
        }
        at = start - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_blanked_and_the_rest_stays_where_it_is() {
        let text = "resource \"a\" \"b\" {\n  x = var.\n  y = 1\n}\n";
        let (_, problems) = parse(FileId(1), text);
        let (mended, body) = mended(FileId(1), text, &problems).expect("it can be mended");
        assert_eq!(mended.len(), text.len());
        assert_eq!(mended.find("y = 1"), text.find("y = 1"));
        assert_eq!(body.blocks[0].body.attributes.len(), 1);
    }
}

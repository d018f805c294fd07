//! Text that a terminal shows and never obeys.
//!
//! Configurations, states, providers and servers supply text. An escape sequence in it could hide what a plan does, answer a
//! question, or write to the clipboard. Each character that steers a terminal or cannot be seen is written out instead.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::OnceLock;

/// Returns text with each unseen character written out, so that foreign text cannot steer the terminal.
///
/// Control characters become their pictures (`␛`), others their number (`\u{202e}`). Newlines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    cleaned(text, push_visible, |_| None)
}

/// Returns the text that is written to a terminal: [`visible`], but styling that begins with [`seal`] works.
pub fn opened(text: &str) -> Cow<'_, str> {
    cleaned(text, push_visible, styling)
}

/// Returns a JSON document with each unseen character as `\uXXXX`. Reading it gives the same value.
pub fn escaped_json(document: &str) -> Cow<'_, str> {
    let push = |out: &mut String, c: char| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    };
    // Outside of strings, JSON has newlines, tabs and carriage returns and nothing else that cannot be seen.
    cleaned(document, push, |rest| rest.starts_with('\r').then_some(("\r", 1)))
}

/// The character that stands for the escape character of this program's own styling.
///
/// Each process chooses one among 131,068 characters that mean nothing, so that foreign text cannot pretend to be styling.
pub fn seal() -> char {
    static SEAL: OnceLock<char> = OnceLock::new();
    *SEAL.get_or_init(|| {
        let mut random = [0; 4];
        // Without randomness, text could choose its colour and do no other harm.
        getrandom::fill(&mut random).unwrap_or_default();
        let number = u32::from_le_bytes(random) % (2 * PRIVATE);
        char::from_u32(0xf_0000 + number / PRIVATE * 0x1_0000 + number % PRIVATE)
            .unwrap_or('\u{f0000}')
    })
}

/// How many characters each of the two planes for private use has.
const PRIVATE: u32 = 0xfffe;

/// Returns the escape sequence for sealed styling at the beginning of a text, and how many bytes the sealed form has.
fn styling(text: &str) -> Option<(&'static str, usize)> {
    let seal = seal();
    let rest = text.strip_prefix(seal)?;
    let codes = rest.strip_prefix('[')?;
    let end = codes.find(|it: char| !it.is_ascii_digit() && it != ';')?;
    // The seal becomes the escape character; what follows it is plain text.
    codes[end..].starts_with('m').then_some(("\u{1b}", seal.len_utf8()))
}

/// Copies a text. `push` writes unseen characters; `keep` may replace the beginning of the rest, and says how long that is.
fn cleaned<'t>(
    text: &'t str,
    push: impl Fn(&mut String, char),
    keep: impl Fn(&str) -> Option<(&'static str, usize)>,
) -> Cow<'t, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(next) = next_unusual(text, at) {
        let rest = &text[next..];
        let Some(c) = rest.chars().next() else { break };
        at = next + c.len_utf8();
        let kept = keep(rest);
        if kept.is_none() && !is_unseen(c, &text[..next], &text[at..]) {
            continue;
        }
        out.push_str(&text[copied..next]);
        match kept {
            Some((instead, length)) => {
                out.push_str(instead);
                at = next + length;
            }
            None => push(&mut out, c),
        }
        copied = at;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns where the next character begins that is neither printable ASCII nor a newline nor a tab.
fn next_unusual(text: &str, from: usize) -> Option<usize> {
    let is_usual = |it: &u8| matches!(it, b' '..=b'~' | b'\n' | b'\t');
    let bytes = &text.as_bytes()[from..];
    // Nearly all text is usual: pieces of it are looked at without a branch for each byte.
    let skipped =
        bytes.chunks(64).take_while(|it| it.iter().fold(true, |all, it| all & is_usual(it)));
    let skipped: usize = skipped.map(<[u8]>::len).sum();
    bytes[skipped..].iter().position(|it| !is_usual(it)).map(|it| from + skipped + it)
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\0'..'\u{20}' => {
            out.push(char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        '\u{7f}' => out.push('\u{2421}'),
        _ => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Returns whether a character steers a terminal, turns the text around it, or cannot be seen.
///
/// The joiner and the selector that emoji are made of are seen between the characters that they belong to.
fn is_unseen(c: char, before: &str, after: &str) -> bool {
    let may_join = |it: char| {
        it >= '\u{2190}' && !it.is_alphanumeric() && (!is_hidden(it) || it == '\u{fe0f}')
    };
    let is_picture = |it: Option<char>| it.is_some_and(may_join);
    match c {
        // CSV ends its lines so.
        '\r' => !after.starts_with('\n'),
        '\u{200d}' => !is_picture(before.chars().next_back()) || !is_picture(after.chars().next()),
        '\u{fe0e}' | '\u{fe0f}' => {
            let last = before.chars().next_back();
            last.is_none_or(|it| is_hidden(it) || it.is_ascii() && !"0123456789#*".contains(it))
        }
        c => is_hidden(c),
    }
}

/// Returns whether a character steers a terminal or cannot be seen, in any text.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        // C0 and C1, but newlines and tabs.
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Fillers that are as wide as nothing.
        | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Directions, joiners, separators of lines.
        | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // Variations, marks of byte order, annotations.
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        // Formats of shorthand and music, tags, and more variations.
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// How what is written through [`Cleaned`] is cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for people, see [`opened`].
    Text,
    /// A document in JSON, see [`escaped_json`].
    Json,
}

impl Form {
    /// Returns the text as it is written in this form.
    pub fn clean(self, text: &str) -> Cow<'_, str> {
        match self {
            Form::Text => opened(text),
            Form::Json => escaped_json(text),
        }
    }
}

/// Cleans what is written, line by line.
#[derive(Debug)]
pub struct Cleaned<W: Write> {
    to: W,
    form: Form,
    /// The beginning of a line whose end has not been written yet.
    rest: Vec<u8>,
}

impl<W: Write> Cleaned<W> {
    /// Cleans what goes to another writer.
    pub fn new(to: W, form: Form) -> Cleaned<W> {
        Cleaned { to, form, rest: Vec::new() }
    }

    fn pass(&mut self, length: usize) -> io::Result<()> {
        let bytes = &self.rest[..length];
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        let written = self.to.write_all(self.form.clean(&text).as_bytes());
        self.rest.drain(..length);
        written
    }
}

impl<W: Write> Write for Cleaned<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if let Some(end) = memchr::memrchr(b'\n', bytes) {
            self.pass(self.rest.len() - (bytes.len() - end) + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.rest.len())?;
        self.to.flush()
    }
}

impl<W: Write> Drop for Cleaned<W> {
    fn drop(&mut self) {
        // Who wants to know whether that was written flushes before.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What steers terminals, turns text or hides in it.
    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\r\u{8}\0\u{7f}\u{9b}31m\u{202e}b\u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}\u{200d}\u{fe0f}c";

    #[test]
    fn unseen_characters_are_written_out() {
        assert_eq!(
            visible(HOSTILE),
            "a␛]0;x␇␍␈␀␡\\u{9b}31m\\u{202e}b\\u{2066}\\u{200b}\\u{feff}\\u{ad}\\u{e0041}\\u{200d}\\u{fe0f}c"
        );
        assert!(!visible(HOSTILE).chars().any(is_hidden));
        assert_eq!(visible(&visible(HOSTILE)), visible(HOSTILE), "twice is as once");
    }

    #[test]
    fn text_that_people_write_stays() {
        for text in [
            "",
            "a\n\tb",
            "é 漢字 ─│╷ ✔\u{fe0f} 1\u{fe0f}\u{20e3}",
            "👩\u{200d}👩\u{200d}👧 a\u{301}",
            "👁\u{fe0f}\u{200d}🗨",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(it) if it == text), "{text:?}");
        }
        assert_eq!(visible("a\u{fe0f}b👩\u{200d}b"), "a\\u{fe0f}b👩\\u{200d}b");
    }

    #[test]
    fn only_sealed_styling_reaches_the_terminal() {
        let seal = seal();
        let text = format!("{seal}[1;31mred{seal}[0m\u{1b}[32mgreen");
        assert_eq!(opened(&text), "\u{1b}[1;31mred\u{1b}[0m␛[32mgreen");
        // Without an end, or with something else in it, it is none.
        for none in
            [format!("{seal}[1"), format!("{seal}]0;x"), format!("{seal}[2J"), format!("{seal}")]
        {
            assert_eq!(opened(&none), none);
        }
    }

    #[test]
    fn a_document_keeps_its_values() {
        let value = serde_json::json!({ "k\u{202e}": [HOSTILE, "👩\u{200d}👧 \\ \" \u{2028}"] });
        for document in [value.to_string(), format!("{value:#}\r\n")] {
            let escaped = escaped_json(&document);
            let shown = escaped.replace('\r', "");
            assert!(matches!(visible(&shown), Cow::Borrowed(_)), "{escaped:?}");
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&escaped).expect("it is JSON"),
                value
            );
        }
    }

    #[test]
    fn what_is_written_in_pieces_is_cleaned_as_a_whole() {
        let text = format!("{}[1mé\u{202e}{HOSTILE}\nnext\u{9b}", seal());
        for form in [Form::Text, Form::Json] {
            for size in 1..text.len() {
                let mut out = Vec::new();
                let mut cleaned = Cleaned::new(&mut out, form);
                for piece in text.as_bytes().chunks(size) {
                    cleaned.write_all(piece).expect("it is written");
                }
                drop(cleaned);
                assert_eq!(String::from_utf8_lossy(&out), form.clean(&text), "in pieces of {size}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let mut out = Vec::new();
        Cleaned::new(&mut out, Form::Text).write_all(b"a\x9b31m\xff\n").expect("it is written");
        assert_eq!(String::from_utf8_lossy(&out), "a\u{fffd}31m\u{fffd}\n");
    }
}

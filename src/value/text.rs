//! Text between quotes: as the language writes it, and as Go's `%q` shows it.

use std::borrow::Cow;
use std::fmt::Write;

/// Writes text as a string of the language, so that reading it gives the same text.
pub fn quoted(text: &str) -> String {
    ["\"", &escaped(text), "\""].concat()
}

/// Writes text as one word of a shell, between quotes where it needs them.
pub fn shell_word(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-/=:@".contains(it);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Escapes text for between quotes: what cannot be seen, quotes, backslashes, and what would begin a template sequence.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(it) = rest.next() {
        match it {
            '$' | '%' if rest.as_str().starts_with('{') => out.extend([it, it]),
            it if push_short(&mut out, it) => {}
            it => push_code(&mut out, it),
        }
    }
    out.into()
}

/// Returns whether text stands between quotes as it is; not all such text is found.
fn is_plain(text: &str) -> bool {
    let is_plain = |it: &u8| matches!(it, b' '..=b'~') && !matches!(it, b'"' | b'\\' | b'$' | b'%');
    text.as_bytes().iter().fold(true, |all, it| all & is_plain(it))
}

/// Shows text between quotes, escaped so that every character can be seen. Template sequences stay as they are: this shows a
/// value, it does not write an expression.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_shown(&mut out, text);
    out
}

/// Appends text as [`shown`] shows it.
pub fn push_shown(out: &mut String, text: &str) {
    out.push('"');
    if is_plain(text) {
        out.push_str(text);
        out.push('"');
        return;
    }
    for it in text.chars() {
        match it {
            it if push_short(out, it) => {}
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            it if it.is_ascii() => {
                let _ = write!(out, "\\x{:02x}", it as u32);
            }
            it => push_code(out, it),
        }
    }
    out.push('"');
}

/// Appends a character that is written as it is or has a short escape everywhere; returns whether it did.
fn push_short(out: &mut String, it: char) -> bool {
    match it {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        it if is_printable(it) => out.push(it),
        _ => return false,
    }
    true
}

fn push_code(out: &mut String, it: char) {
    let _ = match it as u32 {
        code @ ..0x1_0000 => write!(out, "\\u{code:04x}"),
        code => write!(out, "\\U{code:08x}"),
    };
}

/// Returns whether Go prints a character as it is: letters, marks, numbers, punctuation, symbols and the space.
fn is_printable(it: char) -> bool {
    // Behind another letter, so that a combining mark counts as what it is.
    it == ' ' || it.is_ascii_graphic() || {
        !it.is_ascii() && String::from_iter(['a', it]).escape_debug().count() == 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::FileId;

    #[test]
    fn quoted_text_reads_as_it_was() {
        for text in ["", "a\"b\\c\n\t", "${a} %{b} $ % $$ ${", "\u{200b}\u{e000}\u{10fffe}é'\u{7}"]
        {
            let written = quoted(text);
            let read = crate::syntax::parse_expression(FileId::default(), &written, 0);
            let read = read.expect("what is quoted is valid");
            assert_eq!(read.as_static_string().map(|it| &**it), Some(text), "{written}");
        }
        assert_eq!(quoted("\u{200b}${"), "\"\\u200b$${\"");
    }

    #[test]
    fn shown_text_can_be_seen() {
        assert_eq!(
            shown("a\u{7}\u{1}\u{7f}${\u{200b}\u{301}\u{a0}"),
            "\"a\\a\\x01\\x7f${\\u200b\u{301}\\u00a0\""
        );
        assert_eq!(shown("\u{f0000}é'ß"), "\"\\U000f0000é'ß\"");
    }
}

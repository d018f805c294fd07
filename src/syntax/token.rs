//! What the text of native syntax is made of: tokens, names and the headers of blocks.

use super::identifiers::{may_begin, may_go_on};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ident,
    Number,
    /// One or more line ends, just one where layout counts. There are never two of these in a row otherwise.
    Newline,
    OpenQuote,
    CloseQuote,
    QuotedText,
    /// `<<EOT` or `<<-EOT` with its line end.
    OpenHeredoc,
    CloseHeredoc,
    /// At most one line of a heredoc or bare template.
    BareText,
    /// `${` or `${~`
    Interpolation,
    /// `%{` or `%{~`
    Directive,
    /// `}` or `~}`
    SequenceEnd,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    Dot,
    Comma,
    Star,
    Slash,
    Percent,
    Plus,
    Minus,
    Equal,
    Less,
    Greater,
    Bang,
    Question,
    Colon,
    DoubleColon,
    Ellipsis,
    FatArrow,
    EqualEqual,
    NotEqual,
    GreaterEqual,
    LessEqual,
    And,
    Or,
    /// Something that is in no valid file. The user has been told.
    Invalid,
    /// A block header at the beginning of a line inside a string: the string was never closed. The user has been told.
    Restart,
    /// A comment, with its line end unless it is written between `/*` and `*/`: only where layout counts.
    Comment,
    End,
}

/// A token: its kind and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

/// The ASCII characters with which an identifier goes on.
static GOES_ON: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < 128 {
        table[at] = (at as u8).is_ascii_alphanumeric() || matches!(at as u8, b'_' | b'-');
        at += 1;
    }
    table
};

/// Returns the length of the identifier that the text begins with, 0 if none.
pub(super) fn ident_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {}
        Some(0x80..) if text.chars().next().is_some_and(may_begin) => {}
        _ => return 0,
    }
    // Nearly all identifiers are ASCII.
    match bytes.iter().position(|it| !GOES_ON[usize::from(*it)]) {
        None => bytes.len(),
        Some(end) if bytes[end].is_ascii() => end,
        Some(end) => {
            let rest = &text[end..];
            end + rest.find(|c| !(c == '-' || may_go_on(c))).unwrap_or(rest.len())
        }
    }
}

/// Returns whether the text begins with a block's type, labels and opening brace, all on one line.
pub(super) fn is_block_header(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default();
    let mut length = ident_length(line);
    if length == 0 {
        return false;
    }
    loop {
        let rest = line[length..].trim_start_matches([' ', '\t']);
        length = line.len() - rest.len();
        match rest.as_bytes().first() {
            Some(b'{') => return true,
            Some(b'"') => match rest[1..].find(['"', '\\']) {
                Some(end) if rest.as_bytes()[end + 1] == b'"' => length += end + 2,
                _ => return false,
            },
            _ => match ident_length(rest) {
                0 => return false,
                ident => length += ident,
            },
        }
    }
}

//! Text to tokens: the first half of reading native syntax.
//!
//! Follows HCL's scanner, whose modes (plain, quoted, heredoc, bare template) nest through `${` and `%{`. Differences are
//! for recovery only: a string that is never closed ends where a block header begins a line ([`Kind::Restart`]).

use super::identifiers::may_begin;
use super::pieces::balance;
use super::problems;
use super::token::{Kind, Token, ident_length};
use crate::diagnostic::{Diagnostics, Span};

mod template;

/// How the text begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// As configuration or an expression.
    Plain,
    /// As a template without quotes.
    Template,
}

/// What the scanner is inside of.
enum Mode {
    /// Plain syntax. `braces` counts the open `{` since the mode began.
    Plain {
        braces: u32,
    },
    Quoted,
    /// A heredoc that ends at a line of only `marker`; `fresh` at the start of a line.
    Heredoc {
        marker: (usize, usize),
        fresh: bool,
    },
    Bare,
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    modes: Vec<Mode>,
    tokens: Vec<Token>,
    /// Set when a `/*` without `*/` was seen: there is no `*/` further on.
    comments_unclosed: bool,
    /// Whether layout counts: comments are tokens, and so is every line end.
    layout: bool,
    problems: problems::Lexical,
}

/// Splits text into tokens and reports what can be in no valid file. `place` gives the span of a byte range.
///
/// The last token, and only that, is [`Kind::End`].
pub(super) fn scan(
    text: &str,
    start: Start,
    place: &dyn Fn(usize, usize) -> Span,
    diags: &mut Diagnostics,
) -> Vec<Token> {
    let mut scanner = Scanner::new(text, start, text.len());
    scanner.run();
    scanner.problems.report(place, diags);
    scanner.tokens
}

/// The tokens of a file, piece by piece.
pub(super) struct Pieces<'a> {
    scanner: Scanner<'a>,
    /// How many bytes a piece has at least, unless the file ends.
    least: usize,
    taken: usize,
    ended: bool,
}

impl<'a> Pieces<'a> {
    pub fn new(text: &'a str, least: usize) -> Pieces<'a> {
        Pieces { scanner: Scanner::new(text, Start::Plain, least), least, taken: 0, ended: false }
    }

    /// Reports what can be in no valid file. `place` gives the span of a byte range.
    pub fn report(self, place: &dyn Fn(usize, usize) -> Span, diags: &mut Diagnostics) {
        self.scanner.problems.report(place, diags);
    }
}

impl Iterator for Pieces<'_> {
    /// A piece and its number. Its last token, and only that, is [`Kind::End`].
    type Item = (usize, Vec<Token>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.ended = self.scanner.run_to_top(self.scanner.at + self.least);
        self.taken += 1;
        let room = Vec::with_capacity(self.scanner.tokens.len());
        Some((self.taken, std::mem::replace(&mut self.scanner.tokens, room)))
    }
}

/// Splits valid configuration into tokens for which layout counts: comments are among them, and every single line end.
pub(super) fn scan_layout(text: &str) -> Vec<Token> {
    let mut scanner = Scanner { layout: true, ..Scanner::new(text, Start::Plain, text.len()) };
    scanner.run();
    scanner.tokens
}

impl Scanner<'_> {
    /// `room` is the length of text for whose tokens room is made.
    fn new(text: &str, start: Start, room: usize) -> Scanner<'_> {
        let mode = if start == Start::Plain { Mode::Plain { braces: 0 } } else { Mode::Bare };
        Scanner {
            text,
            bytes: text.as_bytes(),
            at: if text.starts_with('\u{feff}') { 3 } else { 0 },
            modes: vec![mode],
            tokens: Vec::with_capacity(room.min(text.len()) / 5 + 2),
            comments_unclosed: false,
            layout: false,
            problems: problems::Lexical::default(),
        }
    }

    fn run(&mut self) {
        while self.at < self.text.len() {
            self.go_on();
        }
        self.push(Kind::End, self.at);
    }

    /// Scans until a name begins a line behind byte `least` and nothing is open. Returns whether the text ends instead.
    fn run_to_top(&mut self, least: usize) -> bool {
        let mut open = Vec::new();
        let mut seen = 0;
        while self.at < self.text.len() {
            self.go_on();
            for token in &self.tokens[seen..] {
                match token.kind {
                    // Whatever was open ended here.
                    Kind::Restart => open.clear(),
                    kind => balance(&mut open, kind),
                }
            }
            seen = self.tokens.len();
            if self.at >= least && open.is_empty() && self.is_at_top() {
                break;
            }
        }
        self.push(Kind::End, self.at);
        self.at == self.text.len()
    }

    /// Whether a name begins a line here and the scanner is inside of nothing.
    fn is_at_top(&self) -> bool {
        self.modes.len() == 1
            && matches!(self.tokens.last(), Some(Token { kind: Kind::Newline, .. }))
            && ident_length(&self.text[self.at..]) > 0
            && self.bytes[self.at - 1] == b'\n'
    }

    fn go_on(&mut self) {
        match self.modes.last().expect("the first mode is never left") {
            Mode::Plain { .. } => self.plain(),
            Mode::Quoted => self.quoted(),
            Mode::Heredoc { .. } => self.heredoc(),
            Mode::Bare => self.bare(),
        }
    }

    /// Adds the token that begins at `start` and ends here.
    fn push(&mut self, kind: Kind, start: usize) {
        self.tokens.push(Token { kind, start: start as u32, end: self.at as u32 });
    }

    fn take(&mut self, kind: Kind, length: usize) {
        let start = self.at;
        self.at += length;
        self.push(kind, start);
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn plain(&mut self) {
        let byte = self.bytes[self.at];
        match byte {
            b' ' | b'\t' => self.blank(),
            b'\n' => self.newline(self.at, 1),
            b'\r' if self.byte(1) == b'\n' => self.newline(self.at, 2),
            b'#' => self.line_comment(),
            b'/' if self.byte(1) == b'/' => self.line_comment(),
            b'/' if self.byte(1) == b'*' && self.block_comment() => {}
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.ident(),
            b'"' => {
                self.take(Kind::OpenQuote, 1);
                self.modes.push(Mode::Quoted);
            }
            b'<' if self.byte(1) == b'<' && self.heredoc_start() => {}
            b'{' => {
                self.take(Kind::OpenBrace, 1);
                if let Some(Mode::Plain { braces }) = self.modes.last_mut() {
                    *braces += 1;
                }
            }
            b'}' => self.close_brace(1),
            b'~' if self.byte(1) == b'}' => self.close_brace(2),
            0x80.. => self.wide(),
            _ => self.operator(),
        }
    }

    fn blank(&mut self) {
        while let Some(b' ' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Takes a line end whose token begins at `start`, where a comment before it does; several in a row make one token.
    fn newline(&mut self, start: usize, length: usize) {
        self.at += length;
        if self.layout || !matches!(self.tokens.last(), Some(Token { kind: Kind::Newline, .. })) {
            self.push(Kind::Newline, start);
        }
        if self.modes.len() > 1 {
            self.restart_at_header();
        }
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        match rest.iter().position(|&it| it == b'\n') {
            length if self.layout => {
                self.take(Kind::Comment, length.map_or(rest.len(), |it| it + 1));
            }
            Some(length) => self.newline(self.at, length + 1),
            None => self.at = self.bytes.len(),
        }
    }

    fn block_comment(&mut self) -> bool {
        if self.comments_unclosed {
            return false;
        }
        match self.text[self.at + 2..].find("*/") {
            Some(length) if self.layout => self.take(Kind::Comment, length + 4),
            Some(length) => self.at += length + 4,
            None => self.comments_unclosed = true,
        }
        !self.comments_unclosed
    }

    /// A number takes every digit, dot and exponent that follows, except dots at the end. Whether it is one is seen later.
    fn number(&mut self) {
        let mut length = 1;
        let mut used = 1;
        loop {
            match (self.byte(length), self.byte(length + 1), self.byte(length + 2)) {
                (b'0'..=b'9', ..) => {
                    length += 1;
                    used = length;
                }
                (b'.', ..) => length += 1,
                (b'e' | b'E', b'0'..=b'9', _) => {
                    length += 2;
                    used = length;
                }
                (b'e' | b'E', b'+' | b'-', b'0'..=b'9') => {
                    length += 3;
                    used = length;
                }
                _ => break,
            }
        }
        self.take(Kind::Number, used);
    }

    fn ident(&mut self) {
        let length = ident_length(&self.text[self.at..]);
        self.take(Kind::Ident, length);
    }

    fn wide(&mut self) {
        let c = self.text[self.at..].chars().next().expect("not at the end");
        if may_begin(c) { self.ident() } else { self.invalid(c) }
    }

    fn invalid(&mut self, c: char) {
        self.problems.invalid(c, self.at);
        self.take(Kind::Invalid, c.len_utf8());
    }

    fn close_brace(&mut self, length: usize) {
        let nested = self.modes.len() > 1;
        let Some(Mode::Plain { braces }) = self.modes.last_mut() else { return };
        let ends_sequence = nested && *braces == 0;
        *braces = braces.saturating_sub(1);
        if ends_sequence {
            self.modes.pop();
        }
        self.take(
            if ends_sequence || length == 2 { Kind::SequenceEnd } else { Kind::CloseBrace },
            length,
        );
    }

    fn operator(&mut self) {
        let (kind, length) = match (self.byte(0), self.byte(1), self.byte(2)) {
            (b'(', ..) => (Kind::OpenParen, 1),
            (b')', ..) => (Kind::CloseParen, 1),
            (b'[', ..) => (Kind::OpenBracket, 1),
            (b']', ..) => (Kind::CloseBracket, 1),
            (b'.', b'.', b'.') => (Kind::Ellipsis, 3),
            (b'.', ..) => (Kind::Dot, 1),
            (b',', ..) => (Kind::Comma, 1),
            (b'*', ..) => (Kind::Star, 1),
            (b'/', ..) => (Kind::Slash, 1),
            (b'%', ..) => (Kind::Percent, 1),
            (b'+', ..) => (Kind::Plus, 1),
            (b'-', ..) => (Kind::Minus, 1),
            (b'=', b'=', _) => (Kind::EqualEqual, 2),
            (b'=', b'>', _) => (Kind::FatArrow, 2),
            (b'=', ..) => (Kind::Equal, 1),
            (b'!', b'=', _) => (Kind::NotEqual, 2),
            (b'!', ..) => (Kind::Bang, 1),
            (b'>', b'=', _) => (Kind::GreaterEqual, 2),
            (b'>', ..) => (Kind::Greater, 1),
            (b'<', b'=', _) => (Kind::LessEqual, 2),
            (b'<', ..) => (Kind::Less, 1),
            (b'&', b'&', _) => (Kind::And, 2),
            (b'|', b'|', _) => (Kind::Or, 2),
            (b'?', ..) => (Kind::Question, 1),
            (b':', b':', _) => (Kind::DoubleColon, 2),
            (b':', ..) => (Kind::Colon, 1),
            (other, ..) => return self.invalid(char::from(other)),
        };
        self.take(kind, length);
    }
}

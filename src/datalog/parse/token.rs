//! The tokens of the rule language, and the way from one to the next.

use crate::diagnostic::Span;

use super::super::problem;
use super::Parser;

/// What kind of token it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Text,
    Sign,
    End,
}

/// One token: bytes of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    /// The end of the text.
    pub(super) const END: Token = Token { kind: Kind::End, start: 0, end: 0 };
}

/// Longest first, so that `<--` is not read as `<`.
const SIGNS: &[&str] = &[
    "<--", "::", "==", "!=", "<=", ">=", "&&", "(", ")", ",", ";", "!", "<", ">", "=", "+", "-",
    "*", "/", "%", ".", "[", "]", "{", "}",
];

impl<'a> Parser<'a> {
    pub(super) fn slice(&self) -> &'a str {
        &self.text[self.token.start..self.token.end]
    }

    pub(super) fn span(&self) -> Span {
        Span::new(self.file, self.token.start, self.token.end)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.token.kind == Kind::Sign && self.slice() == sign
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.slice() == word
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, sign: &str) -> Option<()> {
        if self.eat(sign) { Some(()) } else { self.expected(&format!("`{sign}`")) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Option<()> {
        if self.eat_word(word) { Some(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub(super) fn expected<T>(&mut self, what: &str) -> Option<T> {
        let hint = if self.slice() == "'" { "Texts stand in double quotes." } else { "" };
        self.expected_with(what, hint)
    }

    /// Tells what was expected, and a way out; nothing where that is empty.
    pub(super) fn expected_with<T>(&mut self, what: &str, hint: &str) -> Option<T> {
        let found = match self.token.kind {
            Kind::End => "the end of the rules".to_owned(),
            _ => format!("`{}`", self.slice()),
        };
        self.problems.push(problem::syntax(what, &found, hint, self.span()));
        None
    }

    /// Goes on behind the next semicolon, and at least one token further than `before`.
    pub(super) fn recover(&mut self, before: usize) {
        while self.token.kind != Kind::End && !self.is_sign(";") {
            // Where a rule lacks its end, the next one is read all the same.
            if self.token.start > before && self.begins_line() {
                return;
            }
            self.advance();
        }
        if self.token.start > before || self.is_sign(";") {
            self.eat(";");
        }
    }

    /// Returns whether a rule or a declaration seems to begin here: a word at the very beginning of a line, before a parenthesis.
    pub(super) fn begins_line(&self) -> bool {
        self.token.kind == Kind::Word
            && self.text[..self.token.start].ends_with('\n')
            && (self.is_followed_by(&["("]) || self.is_followed_by(&["word", "("]))
    }

    pub(super) fn advance(&mut self) {
        self.behind = self.token.end;
        self.token = self.token_from(self.at);
        self.at = self.token.end;
    }

    /// Returns the token that begins at a place, or behind the blanks and comments there.
    pub(super) fn token_from(&self, at: usize) -> Token {
        let start = self.behind_blank(at);
        let rest = &self.text[start..self.end];
        let Some(first) = rest.chars().next() else {
            return Token { kind: Kind::End, start: self.end, end: self.end };
        };
        let (kind, length) = if first.is_alphabetic() || first == '_' {
            (Kind::Word, length_of(rest, |it| it.is_alphanumeric() || it == '_'))
        } else if first.is_ascii_digit() {
            (Kind::Number, length_of(rest, |it| it.is_ascii_digit() || it == '_'))
        } else if first == '"' {
            (Kind::Text, quoted_length(rest))
        } else {
            let sign = SIGNS.iter().find(|it| rest.starts_with(**it));
            (Kind::Sign, sign.map_or(first.len_utf8(), |it| it.len()))
        };
        Token { kind, start, end: start + length }
    }

    /// Returns whether the tokens behind the current one are these; `word` stands for any word.
    pub(super) fn is_followed_by(&self, tokens: &[&str]) -> bool {
        let mut at = self.token.end;
        tokens.iter().all(|wanted| {
            let token = self.token_from(at);
            at = token.end;
            match *wanted {
                "word" => token.kind == Kind::Word,
                wanted => &self.text[token.start..token.end] == wanted,
            }
        })
    }

    /// Returns the first place that is neither blank nor in a comment.
    fn behind_blank(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            let rest = &self.text[at..self.end];
            at += rest.len() - rest.trim_start().len();
            let rest = &self.text[at..self.end];
            if !rest.starts_with("//") {
                return at;
            }
            at += rest.find('\n').unwrap_or(rest.len());
        }
    }
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|it| !belongs(it)).unwrap_or(text.len())
}

/// Returns the length of a quoted text, quotes included; up to the line's end where it is not closed.
pub(super) fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }
    text.len()
}

pub(super) fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

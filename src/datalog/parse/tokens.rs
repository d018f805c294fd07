//! The words, signs and comments that rules are written with.

use super::super::problem;
use super::Parser;
use crate::diagnostic::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Text,
    Sign,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    pub(super) const END: Token = Token { kind: Kind::End, start: 0, end: 0 };
}

/// Longest first, so that `<--` is not read as `<`.
const SIGNS: &[&str] = &[
    "<--", "::", "==", "!=", "<=", ">=", "&&", "(", ")", ",", ";", "!", "<", ">", "=", "+", "-",
    "*", "/", "%", ".",
];

/// What the comments above an item say.
#[derive(Default)]
pub(super) struct Comments {
    pub(super) doc: Vec<String>,
    pub(super) name: String,
    pub(super) sentence: String,
}

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
        let found = match self.token.kind {
            Kind::End => "the end of the rules".to_owned(),
            _ => format!("`{}`", self.slice()),
        };
        self.problems.push(problem::syntax(what, &found, self.span()));
        None
    }

    pub(super) fn advance(&mut self) {
        self.skip_blank();
        let rest = &self.text[self.at..self.end];
        let Some(first) = rest.chars().next() else {
            self.token = Token { kind: Kind::End, start: self.end, end: self.end };
            return;
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
        self.token = Token { kind, start: self.at, end: self.at + length };
        self.at += length;
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.at..self.end];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            if !self.text[self.at..self.end].starts_with("//") {
                return;
            }
            let line = &self.text[self.at..self.end];
            self.at += line.find('\n').unwrap_or(line.len());
        }
    }

    /// Reads the comment lines right above the current token.
    pub(super) fn comments_before_token(&self) -> Comments {
        let mut comments = Comments::default();
        for line in
            self.text[..self.token.start].lines().rev().skip_while(|it| it.trim().is_empty())
        {
            let Some(comment) = line.trim_start().strip_prefix("//") else { break };
            if let Some(doc) = comment.strip_prefix('/') {
                comments.doc.insert(0, doc.trim().to_owned());
            } else if let Some(rule) = comment.trim_start().strip_prefix("@rule ") {
                let (name, sentence) = rule.split_once(": ").unwrap_or((rule, ""));
                comments.name = name.trim().to_owned();
                comments.sentence = sentence.trim().to_owned();
            }
        }
        comments
    }
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|it| !belongs(it)).unwrap_or(text.len())
}

/// Returns the length of a quoted text, quotes included; up to the line's end where it is not closed.
fn quoted_length(text: &str) -> usize {
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

//! Where a cursor stands in a text that is being written: the blocks around it, and what may be written there.
//!
//! Looks at tokens alone, and at those before the cursor: while somebody writes, the block at hand is hardly ever whole.

use std::ops::Range;

use super::scan::{Start, scan};
use super::token::{Kind, Token};
use crate::diagnostic::{Diagnostics, Span};

/// Where a cursor stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The blocks around it, outermost first.
    pub blocks: Vec<Around>,
    /// What may be written.
    pub at: At,
    /// The name that is being written, up to the cursor; empty where none is begun.
    pub word: Range<usize>,
}

/// A block around a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// Its type.
    pub kind: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Where it begins.
    pub start: usize,
}

/// What may be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The name of an argument, or the type of a block.
    Item,
    /// A label of a block: its type, the labels before this one, and whether a quote is open.
    Label(String, Vec<String>, bool),
    /// Part of an expression.
    Value(Written),
    /// Nothing that is known: the inside of a comment, or what stands behind a block's header.
    Nothing,
}

/// The part of an expression that stands before a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The argument, and the keys of objects inside of its value that lead to the cursor.
    pub path: Vec<String>,
    /// Whether the name that is being written is the key of an object.
    pub is_key: bool,
    /// The names before the one that is being written, joined to it by dots: `var`, or `module`, `net`. An index is `[]`.
    pub steps: Vec<String>,
    /// The names before the bracket in which a key is being written, be it within quotes: `a`, `b` of `a.b["`.
    pub indexed: Vec<String>,
    /// The innermost function whose arguments are being written, and how many of them are complete.
    pub call: Option<(String, usize)>,
    /// The text of the string that is open at the cursor, from its quote on: the cursor is in no sequence of it.
    pub text: Option<String>,
}

/// What is open at a place.
enum Open {
    Block(Around),
    Object {
        key: Option<String>,
        last: Option<String>,
    },
    Parentheses {
        function: Option<String>,
        commas: usize,
    },
    Bracket,
    /// With where its text begins.
    Quote(usize),
    Sequence,
}

/// Finds out where a cursor stands, by its byte in a text.
pub fn cursor(text: &str, at: usize) -> Cursor {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let tokens = scan(before, Start::Plain, &|_, _| Span::default(), &mut Diagnostics::new());
    let mut reader = Reader { text: before, open: Vec::new(), line: Vec::new(), argument: None };
    let mut read: Vec<Token> = tokens.into_iter().filter(|it| it.kind != Kind::End).collect();
    let in_comment = ends_in_comment(before, &read);
    let word = match read.last() {
        Some(last) if last.kind == Kind::Ident && last.end as usize == at && !in_comment => {
            let word = last.start as usize..at;
            read.pop();
            word
        }
        _ => at..at,
    };
    for index in 0..read.len() {
        reader.take(&read[..=index]);
    }
    let found = if in_comment { At::Nothing } else { reader.found(&read, word.start) };
    let word = match &found {
        At::Value(Written { text: Some(text), .. }) => at - text.len()..at,
        At::Label(.., true) => reader.quote().unwrap_or(at)..at,
        _ => word,
    };
    let blocks = reader.open.into_iter().filter_map(|it| match it {
        Open::Block(around) => Some(around),
        _ => None,
    });
    Cursor { blocks: blocks.collect(), at: found, word }
}

/// Whether a comment goes on up to the end of a text: behind the last token one begins on its line, or one that nothing ends has
/// been taken for signs.
fn ends_in_comment(text: &str, tokens: &[Token]) -> bool {
    let last = tokens.last();
    let from = last.map_or(0, |it| it.end as usize);
    let line = text[from.min(text.len())..].rsplit('\n').next().unwrap_or_default().trim_start();
    let is_text = last.is_some_and(|it| matches!(it.kind, Kind::QuotedText | Kind::BareText));
    let is_line = (line.starts_with('#') || line.starts_with("//")) && !is_text;
    let begins = |it: &[Token]| {
        (it[0].kind, it[1].kind) == (Kind::Slash, Kind::Star) && it[0].end == it[1].start
    };
    is_line || tokens.windows(2).any(begins)
}

/// Goes through the tokens before a cursor.
struct Reader<'a> {
    text: &'a str,
    open: Vec<Open>,
    /// The tokens of the line at hand, where an item of a body is being written.
    line: Vec<Token>,
    /// The argument whose value is being written.
    argument: Option<String>,
}

impl Reader<'_> {
    fn text(&self, token: Token) -> &str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    /// Whether an item of a body is being written: no bracket of a value is open.
    fn is_in_body(&self) -> bool {
        matches!(self.open.last(), None | Some(Open::Block(_)))
    }

    fn quote(&self) -> Option<usize> {
        match self.open.last() {
            Some(Open::Quote(start)) => Some(*start),
            _ => None,
        }
    }

    /// Takes the last of some tokens; the others were taken before.
    fn take(&mut self, tokens: &[Token]) {
        let Some(&token) = tokens.last() else { return };
        if self.is_in_body() && self.take_in_body(token) {
            return;
        }
        match token.kind {
            Kind::OpenQuote | Kind::OpenHeredoc => self.open.push(Open::Quote(token.end as usize)),
            Kind::Interpolation | Kind::Directive => self.open.push(Open::Sequence),
            Kind::OpenBrace => self.open.push(Open::Object { key: None, last: None }),
            Kind::OpenBracket => self.open.push(Open::Bracket),
            Kind::OpenParen => {
                let name = tokens.len().checked_sub(2).map(|it| tokens[it]);
                let name = name.filter(|it| it.kind == Kind::Ident && it.end == token.start);
                let function = name.map(|it| self.whole_name(tokens, it));
                self.open.push(Open::Parentheses { function, commas: 0 });
            }
            Kind::CloseBrace | Kind::CloseBracket | Kind::CloseParen | Kind::SequenceEnd => {
                self.open.pop();
            }
            Kind::CloseQuote | Kind::CloseHeredoc => {
                let start = self.quote().unwrap_or(token.start as usize);
                let text = self.text.get(start..token.start as usize).map(str::to_owned);
                self.open.pop();
                if let Some(Open::Object { last, .. }) = self.open.last_mut() {
                    *last = text;
                }
            }
            Kind::Restart => {
                self.open.retain(|it| matches!(it, Open::Block(_)));
                self.open.clear();
                self.line.clear();
                self.argument = None;
            }
            _ => self.take_in_value(token),
        }
    }

    /// The name of a function, with its namespaces.
    fn whole_name(&self, tokens: &[Token], name: Token) -> String {
        let mut start = name.start;
        let mut index = tokens.len() - 2;
        while index >= 2
            && tokens[index - 1].kind == Kind::DoubleColon
            && tokens[index - 2].kind == Kind::Ident
        {
            index -= 2;
            start = tokens[index].start;
        }
        self.text.get(start as usize..name.end as usize).unwrap_or_default().to_owned()
    }

    fn take_in_value(&mut self, token: Token) {
        let name = self.text(token).to_owned();
        match (self.open.last_mut(), token.kind) {
            (Some(Open::Parentheses { commas, .. }), Kind::Comma) => *commas += 1,
            (Some(Open::Object { key, last }), Kind::Equal | Kind::Colon) if key.is_none() => {
                *key = last.take();
            }
            (Some(Open::Object { key, last }), Kind::Newline | Kind::Comma) => {
                (*key, *last) = (None, None);
            }
            (Some(Open::Object { last, .. }), Kind::Ident) => *last = Some(name),
            _ => {}
        }
    }

    /// Takes a token of an item of a body; `false` where it begins or belongs to a value.
    fn take_in_body(&mut self, token: Token) -> bool {
        match token.kind {
            Kind::Newline | Kind::Comment => {
                self.line.clear();
                self.argument = None;
                true
            }
            Kind::CloseBrace => {
                self.open.pop();
                self.line.clear();
                self.argument = None;
                true
            }
            _ if self.argument.is_some() => false,
            Kind::Equal if self.line.len() == 1 => {
                self.argument = Some(self.text(self.line[0]).to_owned());
                true
            }
            Kind::OpenBrace => {
                if let Some(around) = self.header() {
                    self.open.push(Open::Block(around));
                }
                self.line.clear();
                true
            }
            Kind::OpenQuote => {
                self.line.push(token);
                self.open.push(Open::Quote(token.end as usize));
                true
            }
            _ => {
                self.line.push(token);
                true
            }
        }
    }

    /// The block whose header the line at hand is.
    fn header(&self) -> Option<Around> {
        let kind = self.line.first().filter(|it| it.kind == Kind::Ident)?;
        Some(Around {
            kind: self.text(*kind).to_owned(),
            labels: self.labels(),
            start: kind.start as usize,
        })
    }

    /// The labels on the line at hand. Of a quoted one, the opening quote alone is on it.
    fn labels(&self) -> Vec<String> {
        let labels = self.line.iter().skip(1).filter_map(|it| match it.kind {
            Kind::Ident => Some(self.text(*it).to_owned()),
            Kind::OpenQuote => {
                let rest = self.text.get(it.end as usize..)?;
                Some(rest.split(['"', '\n']).next().unwrap_or_default().to_owned())
            }
            _ => None,
        });
        labels.collect()
    }

    fn found(&self, tokens: &[Token], word: usize) -> At {
        if self.argument.is_some() {
            return At::Value(self.written(tokens, word));
        }
        let kind = self.line.first().map(|it| self.text(*it).to_owned());
        match (self.open.last(), kind) {
            (Some(Open::Quote(_)), Some(kind)) => {
                let mut before = self.labels();
                before.pop();
                At::Label(kind, before, true)
            }
            (None | Some(Open::Block(_)), None) => At::Item,
            (None | Some(Open::Block(_)), Some(kind)) => At::Label(kind, self.labels(), false),
            _ => At::Nothing,
        }
    }

    fn written(&self, tokens: &[Token], word: usize) -> Written {
        let steps = self.steps(tokens, word);
        let mut written = Written { steps, indexed: self.indexed(tokens), ..Written::default() };
        written.path.extend(self.argument.clone());
        let from = self.open.iter().rposition(|it| matches!(it, Open::Block(_)));
        for open in &self.open[from.map_or(0, |it| it + 1)..] {
            match open {
                Open::Object { key, .. } => {
                    written.is_key = key.is_none();
                    written.path.extend(key.clone());
                }
                Open::Parentheses { function, commas } => {
                    written.is_key = false;
                    if let Some(function) = function {
                        written.call = Some((function.clone(), *commas));
                    }
                }
                Open::Bracket | Open::Sequence | Open::Quote(_) => written.is_key = false,
                Open::Block(_) => {}
            }
        }
        if let Some(start) = self.quote() {
            written.text = self.text.get(start..).map(str::to_owned);
        }
        written
    }

    /// The names before the bracket that was opened last, where nothing but a text follows it.
    fn indexed(&self, tokens: &[Token]) -> Vec<String> {
        let is_text = |it: &&Token| matches!(it.kind, Kind::QuotedText | Kind::OpenQuote);
        let rest = tokens.len() - tokens.iter().rev().take_while(is_text).count();
        let [before @ .., name, bracket] = &tokens[..rest] else { return Vec::new() };
        let is_joined = name.kind == Kind::Ident
            && bracket.kind == Kind::OpenBracket
            && name.end == bracket.start;
        if !is_joined {
            return Vec::new();
        }
        let mut steps = self.steps(before, name.start as usize);
        steps.push(self.text(*name).to_owned());
        steps
    }

    /// The names that are joined to the one that begins at a byte.
    fn steps(&self, tokens: &[Token], word: usize) -> Vec<String> {
        let mut steps = Vec::new();
        let (mut end, mut index) = (word as u32, tokens.len());
        while index > 0 && tokens[index - 1].kind == Kind::Dot && tokens[index - 1].end == end {
            index -= 1;
            let mut depth = 0;
            while index > 0 {
                let token = tokens[index - 1];
                match token.kind {
                    Kind::CloseBracket => depth += 1,
                    Kind::OpenBracket if depth > 0 => {
                        depth -= 1;
                        if depth == 0 {
                            steps.push("[]".to_owned());
                        }
                    }
                    Kind::Ident | Kind::Number | Kind::Star if depth == 0 => {
                        let name = self.text(token).to_owned();
                        steps.push(if token.kind == Kind::Ident { name } else { "[]".to_owned() });
                        index -= 1;
                        end = token.start;
                        break;
                    }
                    _ if depth == 0 => {
                        index = 0;
                        break;
                    }
                    _ => {}
                }
                index -= 1;
                end = token.start;
            }
        }
        steps.reverse();
        steps
    }
}

#[cfg(test)]
mod tests;

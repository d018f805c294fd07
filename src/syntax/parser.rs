//! The reader of tokens that the whole grammar is written with: what comes next, what is wrong with it, how deep it may go.
//!
//! Bodies are read in `parser/body.rs`, expressions in `expression.rs` and `collection.rs`, strings in `template.rs`.

use super::place::Place;
use super::scan::{Start, scan};
use super::token::{Kind, Token};
use super::{Expr, Expression, Name, problems};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::stack::deeper;
use crate::value::{Interner, Number, Str};

mod body;

/// How deep things may be nested.
const DEEPEST: u32 = 1000;
/// How tall a tree may grow: bounds what everybody who walks it must be able to recurse.
const TALL: u32 = 4000;
/// How often reading begins again inside an item that is open until the end of the file.
const RETRIES: u32 = 20;

/// The item at hand cannot be read on. What is wrong has been reported.
pub(super) struct Broken;

/// The result of reading one thing.
pub(super) type Parsed<T> = Result<T, Broken>;

/// Reads tokens.
pub(super) struct Parser<'a> {
    pub text: &'a str,
    place: Place<'a>,
    tokens: &'a [Token],
    at: usize,
    /// Whether line ends mean something here.
    pub newlines: bool,
    /// How tall the tree of the expression read last is.
    pub height: u32,
    pub diags: Diagnostics,
    depth: u32,
    /// Arguments and elements read so far, of calls and tuples that have not ended.
    pub items: Vec<Expression>,
    /// Texts that stood here before: equal ones are kept once.
    shared: Interner,
}

/// Scans and reads a text.
pub(super) fn read_with<T>(
    text: &str,
    place: Place<'_>,
    start: Start,
    read: impl Fn(&mut Parser<'_>) -> T,
) -> (T, Diagnostics) {
    let mut diags = Diagnostics::new();
    let text = place.bounded(text, &mut diags);
    let tokens = scan(text, start, &|start, end| place.span(start, end), &mut diags);
    let (result, problems) = read_tokens(text, place, &tokens, read);
    diags.extend(problems);
    diags.0.sort_by_key(|it| it.subject.map_or(0, |it| it.start()));
    (result, diags)
}

/// Reads tokens of a text.
pub(super) fn read_tokens<T>(
    text: &str,
    place: Place<'_>,
    tokens: &[Token],
    read: impl Fn(&mut Parser<'_>) -> T,
) -> (T, Diagnostics) {
    let mut parser = Parser {
        text,
        place,
        tokens,
        at: 0,
        newlines: true,
        height: 0,
        diags: Diagnostics::new(),
        depth: 0,
        items: Vec::new(),
        shared: Interner::default(),
    };
    let result = read(&mut parser);
    (result, parser.diags)
}

impl<'a> Parser<'a> {
    /// Returns the next token, without taking it.
    pub fn peek(&self) -> Token {
        let token = self.tokens[self.at];
        if token.kind == Kind::Newline && !self.newlines { self.tokens[self.at + 1] } else { token }
    }

    /// Returns the next token that is no line end.
    pub fn peek_past_newline(&self) -> Token {
        let token = self.tokens[self.at];
        if token.kind == Kind::Newline { self.tokens[self.at + 1] } else { token }
    }

    /// Takes the next token. The end stays.
    pub fn read(&mut self) -> Token {
        if self.tokens[self.at].kind == Kind::Newline && !self.newlines {
            self.at += 1;
        }
        let token = self.tokens[self.at];
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is of this kind.
    pub fn eat(&mut self, kind: Kind) -> Option<Token> {
        (self.peek().kind == kind).then(|| self.read())
    }

    /// Returns whether the next token is this word.
    pub fn at_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Ident && self.text_of(token) == word
    }

    /// Returns how many `.name` follow directly: room for them is made in one go.
    pub fn names_ahead(&self) -> usize {
        let pairs = self.tokens[self.at..].chunks_exact(2);
        pairs.take_while(|it| it[0].kind == Kind::Dot && it[1].kind == Kind::Ident).count()
    }

    pub fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    pub fn span(&self, token: Token) -> Span {
        self.place.span(token.start as usize, token.end as usize)
    }

    pub fn span_of(&self, start: usize, end: usize) -> Span {
        self.place.span(start, end)
    }

    /// Returns the name that a token spells.
    pub fn name(&mut self, token: Token) -> Name {
        Name::new(self.share(self.text_of(token)), self.span(token))
    }

    /// Returns the number that a token spells.
    pub fn number(&mut self, token: Token) -> Parsed<Number> {
        let at = self.span(token);
        let text = self.text_of(token);
        Number::parse(text).ok_or_else(|| self.fail(problems::invalid_number(text, at)))
    }

    /// Reads an expression as one of several.
    pub fn add_item(&mut self) -> Parsed<()> {
        let item = self.expression()?;
        self.items.push(item);
        Ok(())
    }

    /// Returns the expressions read since there were so many, in exactly the room that they need.
    pub fn items_since(&mut self, before: usize) -> Box<[Expression]> {
        self.items.drain(before..).collect()
    }

    /// Returns text that equal texts share.
    pub fn share(&mut self, text: &str) -> Str {
        self.shared.intern(text)
    }

    pub fn node(&self, expr: Expr, span: Span) -> Expression {
        Expression { expr, span }
    }

    /// Reports a problem and gives up on the item.
    pub fn fail(&mut self, problem: Diagnostic) -> Broken {
        self.diags.push(problem);
        Broken
    }

    /// Gives up on the item because of this token: reports `problem`, unless the token itself was already reported.
    pub fn fail_at(&mut self, token: Token, problem: impl FnOnce(Span) -> Diagnostic) -> Broken {
        if !matches!(token.kind, Kind::Invalid | Kind::Restart) {
            self.diags.push(problem(self.span(token)));
        }
        Broken
    }

    /// Runs `read` with line ends ignored (or not).
    pub fn with_newlines<T>(&mut self, newlines: bool, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.newlines, newlines);
        let result = read(self);
        self.newlines = outer;
        result
    }

    /// Runs `read` one level deeper.
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            let at = self.span(self.peek());
            return Err(self.fail(problems::nested_too_deeply(at)));
        }
        self.depth += 1;
        let result = deeper(|| read(self));
        self.depth -= 1;
        result
    }

    /// Notes that a tree was put upon the trees of these heights.
    pub fn grow(&mut self, tallest: u32) -> Parsed<()> {
        self.height = tallest + 1;
        if self.height > TALL {
            let at = self.span(self.peek());
            return Err(self.fail(problems::nested_too_deeply(at)));
        }
        Ok(())
    }
}

/// Returns the same items in exactly the room that they need. (Shrinking leaves what was allocated for more as it is.)
pub(crate) fn exact<T>(items: Vec<T>) -> Vec<T> {
    if items.len() == items.capacity() {
        return items;
    }
    let mut exact = Vec::with_capacity(items.len());
    exact.extend(items);
    exact
}

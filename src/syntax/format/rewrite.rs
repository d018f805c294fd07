//! What is written in an old way, and how it is written now.
//!
//! `"${x}"` becomes `x`, the types `"string"`, `"list"`, `"map"`, `list`, `map` and `set` become what they stand for, and
//! labels are quoted.

use std::borrow::Cow;

use super::layout::brackets;
use super::{Edit, Piece, pieces};
use crate::syntax::token::{Kind, Token};
use crate::syntax::{Attribute, Block, Body};
use crate::value::text::escaped;

/// Returns what changes, in order.
pub(super) fn edits<'a>(body: &Body, text: &'a str, tokens: &[Token]) -> Vec<Edit<'a>> {
    let mut rewriter = Rewriter { text, tokens, edits: Vec::new() };
    rewriter.body(body, At::File);
    rewriter.edits.sort_by_key(|it| it.start);
    rewriter.edits
}

/// Which body is looked at: `type` means something else directly in a `variable` block.
#[derive(Clone, Copy, PartialEq)]
enum At {
    File,
    Variable,
    Within,
}

struct Rewriter<'a, 't> {
    text: &'a str,
    tokens: &'t [Token],
    edits: Vec<Edit<'a>>,
}

impl<'a> Rewriter<'a, '_> {
    fn body(&mut self, body: &Body, at: At) {
        for attribute in &body.attributes {
            self.attribute(attribute, at == At::Variable && &*attribute.name.text == "type");
        }
        for block in &body.blocks {
            self.labels(block);
            let is_variable = at == At::File && &*block.kind.text == "variable";
            self.body(&block.body, if is_variable { At::Variable } else { At::Within });
        }
    }

    /// Returns the number of the first token that begins at this byte or later.
    fn index(&self, byte: u32) -> usize {
        self.tokens.partition_point(|it| it.start < byte)
    }

    fn attribute(&mut self, attribute: &Attribute, is_type: bool) {
        let (start, end) =
            (self.index(attribute.value.span.start()), self.index(attribute.value.span.end()));
        let tokens = &self.tokens[start..end];
        // Most expressions need no second look.
        if !is_type && (tokens.len() < 5 || tokens[0].kind != Kind::OpenQuote) {
            return;
        }
        let old = pieces(self.text, tokens, attribute.value.span.start() as usize);
        let new = if is_type { modern_type(&old) } else { unwrapped(&old) };
        // The end of a heredoc needs a line of its own, which the last line of a file need not be.
        let has_line = |it: &[Piece<'_>]| {
            it.last().is_none_or(|it| it.kind != Kind::CloseHeredoc)
                || self.tokens[end].kind == Kind::Newline
        };
        if let Some(pieces) = new.filter(|it| has_line(it)) {
            self.edits.push(Edit { start, end, pieces });
        }
    }

    /// Quotes labels, and drops comments between them, which nobody writes.
    fn labels(&mut self, block: &Block) {
        let Some(last) = block.labels.last() else { return };
        let (start, end) = (self.index(block.kind.span.end()), self.index(last.span.end()));
        let quoted = block.labels.iter().flat_map(|it| quoted(&it.text)).collect();
        self.edits.push(Edit { start, end, pieces: quoted });
    }
}

fn piece(kind: Kind, text: impl Into<Cow<'static, str>>) -> Piece<'static> {
    Piece { kind, text: text.into(), blanks: 0 }
}

/// Returns a type that is written as before there were type expressions as one.
fn modern_type<'a>(old: &[Piece<'a>]) -> Option<Vec<Piece<'a>>> {
    let (name, element) = match old {
        [it] if it.kind == Kind::Ident => match &*it.text {
            "list" => ("list", Some("any")),
            "map" => ("map", Some("any")),
            "set" => ("set", Some("any")),
            _ => return None,
        },
        [open, it, close]
            if (open.kind, it.kind, close.kind)
                == (Kind::OpenQuote, Kind::QuotedText, Kind::CloseQuote) =>
        {
            match &*it.text {
                "string" => ("string", None),
                "list" => ("list", Some("string")),
                "map" => ("map", Some("string")),
                _ => return None,
            }
        }
        _ => return None,
    };
    let mut new = vec![piece(Kind::Ident, name)];
    if let Some(element) = element {
        new.push(piece(Kind::OpenParen, "("));
        new.push(piece(Kind::Ident, element));
        new.push(piece(Kind::CloseParen, ")"));
    }
    Some(new)
}

/// Returns the `x` of `"${x}"`, in parentheses where it needs them; nothing for any other expression.
fn unwrapped<'a>(old: &[Piece<'a>]) -> Option<Vec<Piece<'a>>> {
    let [open, interpolation, inside @ .., end, close] = old else { return None };
    let kinds = (open.kind, interpolation.kind, end.kind, close.kind);
    if kinds != (Kind::OpenQuote, Kind::Interpolation, Kind::SequenceEnd, Kind::CloseQuote)
        || !is_one_interpolation(inside)
    {
        return None;
    }
    let is_newline = |it: &&Piece<'_>| it.kind == Kind::Newline;
    let leading = inside.iter().take_while(is_newline).count();
    let trailing = inside[leading..].iter().rev().take_while(is_newline).count();
    let inside = &inside[leading..inside.len() - trailing];
    if !needs_parentheses(inside) {
        return Some(inside.to_vec());
    }
    let mut new = vec![piece(Kind::OpenParen, "(")];
    new.extend_from_slice(inside);
    new.push(piece(Kind::CloseParen, ")"));
    Some(new)
}

/// Returns whether nothing ends the interpolation before its end, as far as tokens tell.
fn is_one_interpolation(inside: &[Piece<'_>]) -> bool {
    let mut quotes = 0;
    inside.iter().all(|it| {
        match it.kind {
            Kind::OpenQuote => quotes += 1,
            Kind::CloseQuote => quotes -= 1,
            Kind::Interpolation | Kind::SequenceEnd | Kind::QuotedText => return quotes > 0,
            _ => {}
        }
        true
    })
}

/// Returns whether an expression spans lines and no parentheses hold it together.
fn needs_parentheses(inside: &[Piece<'_>]) -> bool {
    let mut depth = 0;
    let breaks = |(index, it): (usize, &Piece<'_>)| {
        depth += brackets(it.kind);
        // A line end that is part of a comment counts where nothing else holds the two lines together.
        let comment = it.kind == Kind::Comment && it.text.ends_with('\n');
        it.kind == Kind::Newline || comment && depth == 0 && index + 1 < inside.len()
    };
    inside.iter().enumerate().any(breaks) && !is_parenthesized(inside)
}

/// Returns whether the parenthesis at the beginning is closed at the end.
fn is_parenthesized(inside: &[Piece<'_>]) -> bool {
    let mut open = 0;
    let closes = inside.iter().position(|it| {
        match it.kind {
            Kind::OpenParen => open += 1,
            Kind::CloseParen => open -= 1,
            _ => {}
        }
        open == 0
    });
    closes.is_some_and(|it| it + 1 == inside.len() && it > 0)
}

/// Returns text as a quoted label.
fn quoted(text: &str) -> Vec<Piece<'static>> {
    let mut quoted = vec![piece(Kind::OpenQuote, "\"")];
    if !text.is_empty() {
        quoted.push(piece(Kind::QuotedText, escaped(text).into_owned()));
    }
    quoted.push(piece(Kind::CloseQuote, "\""));
    quoted
}

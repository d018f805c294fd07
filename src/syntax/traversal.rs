//! Text that is a path and nothing else: `module.m["x"].null_resource.a[0]`. Addresses and JSON references are read so.

use super::parser::{Parsed, Parser, read_with};
use super::place::Place;
use super::scan::Start;
use super::token::Kind;
use super::{Expr, Step, Traversal, problems};
use crate::diagnostic::{Diagnostics, FileId};
use crate::value::{Number, nfc};

/// Reads a path of names and literal keys, such as an address: attributes, and indexes by a string or number. Stricter than an expression: no splats, no references in
/// brackets, no legacy indexes.
pub fn parse_traversal(file: FileId, text: &str, start: usize) -> Result<Traversal, Diagnostics> {
    traversal_at(text, Place::plain(file, start))
}

pub(super) fn traversal_at(text: &str, place: Place<'_>) -> Result<Traversal, Diagnostics> {
    let (result, diags) = read_with(text, place, Start::Plain, |parser| {
        parser.with_newlines(false, |parser| parser.traversal())
    });
    match result {
        Ok(traversal) if !diags.has_errors() => Ok(traversal),
        _ => Err(diags),
    }
}

impl Parser<'_> {
    fn traversal(&mut self) -> Parsed<Traversal> {
        let token = self.read();
        if token.kind != Kind::Ident {
            return Err(self.fail_at(token, problems::variable_name_required));
        }
        let root = self.name(token);
        let mut steps = Vec::new();
        loop {
            let token = self.read();
            match token.kind {
                Kind::End => return Ok(Traversal { root, steps }),
                Kind::Dot => {
                    let name = self.read();
                    if name.kind != Kind::Ident {
                        return Err(self
                            .fail_at(name, |at| problems::attribute_name_required(name.kind, at)));
                    }
                    steps.push(Step::Attribute(self.name(name)));
                }
                Kind::OpenBracket => steps.push(self.literal_index(self.span(token))?),
                _ => return Err(self.fail_at(token, problems::traversal_operator)),
            }
        }
    }

    fn literal_index(&mut self, open: crate::diagnostic::Span) -> Parsed<Step> {
        let token = self.peek();
        let key = match token.kind {
            Kind::Number => {
                self.read();
                let at = self.span(token);
                let number = Number::parse(self.text_of(token));
                let number = number.ok_or_else(|| self.fail(problems::invalid_number(at)))?;
                self.node(Expr::Number(number), at)
            }
            Kind::OpenQuote => {
                let key = self.quoted_literal()?;
                self.node(Expr::String(nfc(&key.text)), key.span)
            }
            Kind::Star => return Err(self.fail_at(token, problems::index_splat)),
            _ => return Err(self.fail_at(token, problems::index_value_required)),
        };
        let close = self.read();
        if close.kind != Kind::CloseBracket {
            return Err(self.fail_at(close, problems::unclosed_index));
        }
        Ok(Step::Index(Box::new(key), open.to(self.span(close))))
    }
}

//! Tokens to bodies: attributes, blocks, and how reading goes on after an error.
//!
//! A top-level item with an error is left out and reading goes on at the next one, so each broken block tells its first
//! problem and hides nothing behind it.

use rustc_hash::FxHashSet;

use super::super::pieces::balance;
use super::super::token::{Kind, Token, is_block_header};
use super::super::{Attribute, Block, Body, Name, problems};
use super::{Broken, Parsed, Parser, RETRIES, exact};
use crate::diagnostic::Span;
use crate::rarely::Rarely;
use crate::value::Str;

/// What has been read of a body.
#[derive(Default)]
struct Items {
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    /// The names of the attributes, once there are many.
    names: FxHashSet<Str>,
}

impl Items {
    /// Returns what was read, with no room for more.
    fn body(self, span: Span) -> Body {
        let (attributes, blocks) = (exact(self.attributes), exact(self.blocks));
        Body { attributes, blocks: blocks.into(), span, json: None }
    }

    /// Where an attribute of this name stands already.
    fn first(&self, name: &str) -> Option<Span> {
        if !self.names.is_empty() && !self.names.contains(name) {
            return None;
        }
        self.attributes.iter().find(|it| &*it.name.text == name).map(|it| it.name.span)
    }

    /// Adds an attribute of a new name.
    fn add(&mut self, attribute: Attribute) {
        if !self.names.is_empty() {
            self.names.insert(attribute.name.text.clone());
        }
        self.attributes.push(attribute);
        if self.names.is_empty() && self.attributes.len() > 16 {
            self.names = self.attributes.iter().map(|it| it.name.text.clone()).collect();
        }
    }
}

impl<'a> Parser<'a> {
    /// Reads a whole file.
    pub fn file(&mut self) -> Body {
        let mut items = Items::default();
        let mut retries = 0;
        loop {
            let start = self.at;
            let token = self.peek();
            let result = match token.kind {
                Kind::End => break,
                Kind::Newline | Kind::Restart => {
                    self.read();
                    continue;
                }
                Kind::Ident => self.item(&mut items),
                _ => Err(self.no_item(token)),
            };
            if result.is_err() {
                self.resume(start, &mut retries);
            }
        }
        let span = self.place.span(0, self.text.len());
        items.body(span)
    }

    fn no_item(&mut self, token: Token) -> Broken {
        self.fail_at(
            token,
            match token.kind {
                Kind::OpenQuote => problems::quoted_argument_name,
                _ => problems::definition_required,
            },
        )
    }

    /// Goes on after a broken top-level item that began at token `start`: behind its end, as far as brackets tell, or at
    /// a line that begins like a block, whichever comes first.
    fn resume(&mut self, start: usize, retries: &mut u32) {
        self.newlines = true;
        self.items.clear();
        let failed = self.at;
        let line =
            self.text[..self.tokens[failed].start as usize].rfind('\n').map_or(0, |it| it + 1);
        let mut open = Vec::new();
        for index in start..self.tokens.len() {
            let token = self.tokens[index];
            match token.kind {
                // A block whose brace stands on the next line is skipped with it.
                Kind::Newline if open.is_empty() && index >= failed => {
                    if self.tokens[index + 1].kind != Kind::OpenBrace {
                        return self.at = index;
                    }
                }
                Kind::Restart if index >= failed => return self.at = index,
                Kind::Ident
                    if index > start && token.start as usize >= line && self.is_header(index) =>
                {
                    return self.at = index;
                }
                Kind::End => break,
                kind => balance(&mut open, kind),
            }
        }
        let end = self.tokens.len() - 1;
        self.at = end;
        // Unclosed to the very end: what looks like the next block was read as part of this one.
        if (failed == end || !open.is_empty()) && *retries < RETRIES {
            *retries += 1;
            self.at = (start + 1..end).find(|&index| self.is_header(index)).unwrap_or(end);
        }
    }

    /// Returns whether a token begins a line, in the first column, that looks like the header of a block.
    fn is_header(&self, index: usize) -> bool {
        let token = self.tokens[index];
        token.kind == Kind::Ident
            && self.text[..token.start as usize].ends_with('\n')
            && is_block_header(&self.text[token.start as usize..])
    }

    /// Reads an attribute or block.
    fn item(&mut self, into: &mut Items) -> Parsed<()> {
        let name = self.read();
        match self.peek().kind {
            Kind::Equal => {
                // Told even where what follows cannot be read.
                let first = into.first(self.text_of(name));
                if let Some(first) = first {
                    let (name, again) = (self.text_of(name), self.span(name));
                    self.diags.push(problems::attribute_redefined(name, again, first));
                }
                let attribute = self.attribute(name)?;
                self.attribute_end(&attribute)?;
                if first.is_none() {
                    into.add(attribute);
                }
            }
            Kind::OpenQuote | Kind::OpenBrace | Kind::Ident => {
                let block = self.block(name)?;
                into.blocks.push(block);
            }
            _ => {
                let at = self.span(name);
                return Err(self.fail(problems::equals_required(at)));
            }
        }
        Ok(())
    }

    fn attribute(&mut self, name: Token) -> Parsed<Attribute> {
        self.read();
        let value = self.expression()?;
        Ok(Attribute { name: self.name(name), value })
    }

    fn attribute_end(&mut self, attribute: &Attribute) -> Parsed<()> {
        let end = self.peek();
        if !matches!(end.kind, Kind::Newline | Kind::End) {
            let start = attribute.name.span;
            return Err(self
                .fail_at(end, |at| problems::newline_after_argument(end.kind, at, start.to(at))));
        }
        self.read();
        Ok(())
    }

    /// Reads the rest of a block whose type was read.
    fn block(&mut self, kind: Token) -> Parsed<Block> {
        let kind = self.name(kind);
        let mut labels = Vec::new();
        let open = loop {
            let token = self.peek();
            match token.kind {
                Kind::OpenBrace => break self.read(),
                Kind::OpenQuote => labels.push(self.quoted_literal()?),
                Kind::Ident => {
                    self.read();
                    labels.push(self.name(token));
                }
                other => {
                    return Err(self
                        .fail_at(token, |at| problems::block_header(other, at, kind.span.to(at))));
                }
            }
        };
        let header = labels.last().map_or(kind.span, |it: &Name| kind.span.to(it.span));
        let body = self.deeper(|parser| match parser.peek().kind {
            Kind::Newline | Kind::CloseBrace | Kind::End => parser.body(open),
            _ => parser.line_body(open),
        })?;
        let end = self.peek();
        match end.kind {
            Kind::Newline | Kind::End => self.read(),
            _ => {
                return Err(
                    self.fail_at(end, |at| problems::newline_after_block(at, header.to(at)))
                );
            }
        };
        Ok(Block { kind, labels: exact(labels), body, header })
    }

    /// Reads a body up to its closing brace.
    fn body(&mut self, open: Token) -> Parsed<Body> {
        let mut items = Items::default();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::Newline => {
                    self.read();
                }
                Kind::Ident => self.item(&mut items)?,
                Kind::CloseBrace => {
                    self.read();
                    let span = self.span(open).to(self.span(token));
                    return Ok(items.body(span));
                }
                Kind::End => {
                    let at = self.span(open);
                    return Err(self.fail(problems::unclosed_block(at)));
                }
                _ => return Err(self.no_item(token)),
            }
        }
    }

    /// Reads the single argument of a block that is written on one line.
    fn line_body(&mut self, open: Token) -> Parsed<Body> {
        let name = self.read();
        if name.kind != Kind::Ident {
            return Err(self.fail_at(name, problems::definition_required));
        }
        let next = self.peek();
        match next.kind {
            Kind::Equal => {}
            Kind::OpenQuote | Kind::OpenBrace | Kind::Ident => {
                let text = self.text_of(name);
                let at = self.span(name).to(self.span(next));
                return Err(self.fail(problems::single_line_nested(text, at)));
            }
            _ => {
                let at = self.span(name);
                return Err(self.fail_at(next, |_| problems::equals_required(at)));
            }
        }
        let attribute = self.attribute(name)?;
        let end = self.read();
        match end.kind {
            Kind::CloseBrace => {}
            Kind::End => {
                let at = self.span(open);
                return Err(self.fail(problems::unclosed_block(at)));
            }
            kind => return Err(self.fail_at(end, |at| problems::single_line_end(kind, at))),
        }
        let span = self.span(open).to(self.span(end));
        Ok(Body { attributes: vec![attribute], blocks: Rarely::default(), span, json: None })
    }
}

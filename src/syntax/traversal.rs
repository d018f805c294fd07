//! Text that is a path and nothing else: `module.m["x"].null_resource.a[0]`. Addresses and JSON references are read so.

use super::parser::{Parsed, Parser, exact, read_with};
use super::place::Place;
use super::scan::Start;
use super::token::Kind;
use super::{Expr, Name, Step, problems};
use crate::diagnostic::{Diagnostics, FileId};
use crate::value::{Number, nfc};

/// A variable and steps into it. A large configuration has millions of these: the name and the steps stand in one piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Traversal(Box<[Step]>);

impl Traversal {
    /// Returns a variable with steps into it.
    pub fn new(root: Name, steps: Vec<Step>) -> Traversal {
        let mut path = Vec::with_capacity(1 + steps.len());
        path.push(Step::Attribute(root));
        path.extend(steps);
        Traversal(path.into())
    }

    /// Returns names that follow each other by dots.
    pub(super) fn of_names(root: Name, names: impl ExactSizeIterator<Item = Name>) -> Traversal {
        Traversal([root].into_iter().chain(names).map(Step::Attribute).collect())
    }

    /// Returns the first name.
    pub fn root(&self) -> &Name {
        match self.0.first() {
            Some(Step::Attribute(root)) => root,
            _ => unreachable!("a path begins with a name"),
        }
    }

    /// Returns what follows the first name.
    pub fn steps(&self) -> &[Step] {
        &self.0[1..]
    }

    /// Returns both, to be changed.
    pub fn parts_mut(&mut self) -> (&mut Name, &mut [Step]) {
        match self.0.split_first_mut() {
            Some((Step::Attribute(root), steps)) => (root, steps),
            _ => unreachable!("a path begins with a name"),
        }
    }

    /// Adds steps at the end.
    pub(super) fn extend(&mut self, steps: Vec<Step>) {
        if !steps.is_empty() {
            let before = std::mem::take(&mut self.0);
            self.0 = exact(before.into_iter().chain(steps).collect()).into();
        }
    }
}

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
                Kind::End => return Ok(Traversal::new(root, steps)),
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

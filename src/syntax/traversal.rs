//! Text that is a path and nothing else: `module.m["x"].null_resource.a[0]`. Addresses and JSON references are read so.

use std::array;

use super::parser::{Parsed, Parser, read_with};
use super::place::Place;
use super::scan::Start;
use super::token::Kind;
use super::{Expr, IndexStep, Name, Near, Step, problems};
use crate::diagnostic::{Diagnostics, FileId, Span};
use crate::value::{Number, Str, nfc};

/// A variable and steps into it. A large configuration has millions of these: the name and the steps stand in one piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Traversal(Form);

/// The name that a traversal begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// The text.
    pub text: Str,
    /// Its place.
    pub span: Span,
    /// Where what the traversal means was found.
    pub near: Near,
}

#[derive(Debug, PartialEq)]
enum Form {
    /// In one piece.
    Short(Box<Path<[Step]>>),
    /// Of more steps than anybody takes.
    Long(Box<Path<Box<[Step]>>>),
}

#[derive(Debug, PartialEq)]
struct Path<S: ?Sized> {
    root: Root,
    steps: S,
}

impl Form {
    /// Returns the root with so many steps.
    fn new(root: Root, count: usize, steps: impl Iterator<Item = Step>) -> Form {
        fn short<const N: usize>(root: Root, mut steps: impl Iterator<Item = Step>) -> Form {
            let steps: [Step; N] = array::from_fn(|_| steps.next().expect("there are so many"));
            Form::Short(Box::new(Path { root, steps }))
        }
        match count {
            0 => short::<0>(root, steps),
            1 => short::<1>(root, steps),
            2 => short::<2>(root, steps),
            3 => short::<3>(root, steps),
            4 => short::<4>(root, steps),
            5 => short::<5>(root, steps),
            6 => short::<6>(root, steps),
            _ => Form::Long(Box::new(Path { root, steps: steps.take(count).collect() })),
        }
    }
}

impl Clone for Form {
    fn clone(&self) -> Form {
        let (root, steps) = match self {
            Form::Short(it) => (&it.root, &it.steps),
            Form::Long(it) => (&it.root, &*it.steps),
        };
        Form::new(root.clone(), steps.len(), steps.iter().cloned())
    }
}

impl Traversal {
    /// Returns a variable with steps into it.
    pub fn new(root: Name, steps: Vec<Step>) -> Traversal {
        Traversal::of(root, steps.into_iter())
    }

    /// Returns names that follow each other by dots.
    pub(super) fn of_names(root: Name, names: impl ExactSizeIterator<Item = Name>) -> Traversal {
        Traversal::of(root, names.map(Step::Attribute))
    }

    fn of(root: Name, steps: impl ExactSizeIterator<Item = Step>) -> Traversal {
        let Name { text, span } = root;
        Traversal(Form::new(Root { text, span, near: Near::default() }, steps.len(), steps))
    }

    /// Returns the first name.
    pub fn root(&self) -> &Root {
        match &self.0 {
            Form::Short(it) => &it.root,
            Form::Long(it) => &it.root,
        }
    }

    /// Returns what follows the first name.
    pub fn steps(&self) -> &[Step] {
        match &self.0 {
            Form::Short(it) => &it.steps,
            Form::Long(it) => &it.steps,
        }
    }

    /// Returns both, to be changed.
    pub fn parts_mut(&mut self) -> (&mut Root, &mut [Step]) {
        match &mut self.0 {
            Form::Short(it) => (&mut it.root, &mut it.steps),
            Form::Long(it) => (&mut it.root, &mut it.steps),
        }
    }

    /// Adds steps at the end.
    pub(super) fn extend(&mut self, more: Vec<Step>) {
        if !more.is_empty() {
            let before = self.steps();
            let count = before.len() + more.len();
            self.0 = Form::new(self.root().clone(), count, before.iter().cloned().chain(more));
        }
    }
}

impl Root {
    /// Returns it as any other name.
    pub fn name(&self) -> Name {
        Name::new(self.text.clone(), self.span)
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

    fn literal_index(&mut self, open: Span) -> Parsed<Step> {
        let token = self.peek();
        let key = match token.kind {
            Kind::Number => {
                self.read();
                let at = self.span(token);
                let text = self.text_of(token);
                let number = Number::parse(text);
                let number = number.ok_or_else(|| self.fail(problems::invalid_number(text, at)))?;
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
        Ok(Step::Index(Box::new(IndexStep { key, span: open.to(self.span(close)) })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traversals_of_any_length_are_what_they_were_made_of() {
        let name = |at: usize| Name::new(format!("n{at}").into(), Span::new(FileId(1), at, at + 2));
        for count in 0..12 {
            let names = (1..=count).map(name);
            let steps: Vec<Step> = names.clone().map(Step::Attribute).collect();
            let made = Traversal::of_names(name(0), names.collect::<Vec<_>>().into_iter());
            assert_eq!((made.root().name(), made.steps()), (name(0), &steps[..]));
            assert_eq!(made.clone(), made);
            let (first, rest) = steps.split_at(count / 2);
            let mut extended = Traversal::new(name(0), first.to_vec());
            extended.extend(rest.to_vec());
            assert_eq!(extended, made);
        }
    }

    #[test]
    fn a_traversal_of_three_names_takes_seven_words() {
        assert_eq!((size_of::<Step>(), size_of::<Traversal>()), (16, 16));
        assert_eq!(size_of::<Path<[Step; 2]>>(), 56);
    }
}

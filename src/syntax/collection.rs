//! The grammar of tuples, objects and `for` expressions.

use super::parser::{Parsed, Parser, exact};
use super::token::{Kind, Token};
use super::{Expr, Expression, For, Item, Name, ObjectKey, problems};
use crate::diagnostic::Span;
use crate::value::nfc;

impl Parser<'_> {
    pub(super) fn tuple(&mut self) -> Parsed<Expression> {
        let open = self.read();
        self.with_newlines(false, |parser| {
            if parser.at_word("for") {
                return parser.for_expression(open, Kind::CloseBracket);
            }
            let start = parser.span(open);
            let before = parser.items.len();
            let mut height = 1;
            let close = loop {
                if let Some(close) = parser.eat(Kind::CloseBracket) {
                    break close;
                }
                parser.add_item()?;
                height = height.max(parser.height);
                let token = parser.read();
                match token.kind {
                    Kind::Comma => {}
                    Kind::CloseBracket => break token,
                    kind => {
                        return Err(
                            parser.fail_at(token, |at| problems::item_separator(kind, at, start))
                        );
                    }
                }
            };
            parser.grow(height)?;
            let items = Expr::Tuple(parser.items_since(before));
            Ok(parser.node(items, start.to(parser.span(close))))
        })
    }

    pub(super) fn object(&mut self) -> Parsed<Expression> {
        let open = self.read();
        let first = self.peek_past_newline();
        if first.kind == Kind::Ident && self.text_of(first) == "for" {
            return self
                .with_newlines(false, |parser| parser.for_expression(open, Kind::CloseBrace));
        }
        self.with_newlines(true, |parser| parser.object_items(open))
    }

    fn object_items(&mut self, open: Token) -> Parsed<Expression> {
        let start = self.span(open);
        let mut items = Vec::new();
        let mut height = 1;
        let close = loop {
            if self.eat(Kind::Newline).is_some() {
                continue;
            }
            if let Some(close) = self.eat(Kind::CloseBrace) {
                break close;
            }
            let key = self.object_key()?;
            height = height.max(self.height);
            let token = self.peek();
            if !matches!(token.kind, Kind::Equal | Kind::Colon) {
                return Err(
                    self.fail_at(token, |at| problems::key_separator(token.kind, at, start))
                );
            }
            self.read();
            let value = self.expression()?;
            height = height.max(self.height);
            items.push(Item { key, value });
            let token = self.peek();
            match token.kind {
                Kind::Comma | Kind::Newline => self.read(),
                Kind::CloseBrace => break self.read(),
                kind => {
                    return Err(
                        self.fail_at(token, |at| problems::attribute_separator(kind, at, start))
                    );
                }
            };
        };
        self.grow(height)?;
        Ok(self.node(Expr::Object(exact(items).into()), start.to(self.span(close))))
    }

    fn object_key(&mut self) -> Parsed<ObjectKey> {
        let token = self.peek();
        let key = self.expression()?;
        Ok(match &key.expr {
            Expr::Traversal(it) if it.steps().is_empty() => {
                ObjectKey::Name(Name::new(nfc(&it.root().text), it.root().span))
            }
            // Bare `true`, `false` and `null` are names here.
            Expr::Bool(_) | Expr::Null => ObjectKey::Name(self.name(token)),
            _ => ObjectKey::Expression(Box::new(key)),
        })
    }

    /// Reads the rest of a `for` expression whose bracket was read.
    fn for_expression(&mut self, open: Token, closer: Kind) -> Parsed<Expression> {
        let start = self.span(open);
        let word = self.read();
        let mut value_name =
            self.for_name(start, "For expression requires variable name after 'for'.")?;
        let mut key_name = None;
        if self.eat(Kind::Comma).is_some() {
            let detail = "For expression requires value variable name after comma.";
            key_name = Some(std::mem::replace(&mut value_name, self.for_name(start, detail)?));
        }
        if !self.at_word("in") {
            let detail = "For expression requires the 'in' keyword after its name declarations.";
            return Err(self.fail_for(start, detail));
        }
        self.read();
        let collection = self.expression()?;
        let mut height = self.height;
        let Some(colon) = self.eat(Kind::Colon) else {
            return Err(self.fail_for(
                start,
                "For expression requires a colon after the collection expression.",
            ));
        };
        let intro = self.span(word).to(self.span(colon));
        let mut value = self.expression()?;
        height = height.max(self.height);
        let mut key = None;
        if self.eat(Kind::FatArrow).is_some() {
            key = Some(std::mem::replace(&mut value, self.expression()?));
            height = height.max(self.height);
        }
        let ellipsis = self.eat(Kind::Ellipsis);
        let mut condition = None;
        if self.at_word("if") {
            self.read();
            condition = Some(self.expression()?);
            height = height.max(self.height);
        }
        let Some(close) = self.eat(closer) else {
            return Err(
                self.fail_for(start, "Extra characters after the end of the 'for' expression.")
            );
        };
        let wrong = match (closer, &key) {
            (Kind::CloseBrace, None) => {
                Some(("Key expression is required when building an object.", value.span))
            }
            (Kind::CloseBracket, Some(key)) => {
                Some(("Key expression is not valid when building a tuple.", key.span))
            }
            _ => ellipsis.filter(|_| closer == Kind::CloseBracket).map(|it| {
                ("Grouping ellipsis (...) cannot be used when building a tuple.", self.span(it))
            }),
        };
        if let Some((detail, at)) = wrong {
            return Err(self.fail(problems::for_expression(detail, at, start)));
        }
        self.grow(height)?;
        let group = ellipsis.is_some();
        let parts = For { key_name, value_name, collection, key, value, condition, group, intro };
        Ok(self.node(Expr::For(Box::new(parts)), start.to(self.span(close))))
    }

    fn for_name(&mut self, start: Span, detail: &str) -> Parsed<Name> {
        match self.eat(Kind::Ident) {
            Some(token) => Ok(self.name(token)),
            None => Err(self.fail_for(start, detail)),
        }
    }

    fn fail_for(&mut self, start: Span, detail: &str) -> super::parser::Broken {
        let token = self.peek();
        self.fail_at(token, |at| problems::for_expression(detail, at, start))
    }
}

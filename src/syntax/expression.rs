//! Tokens to expressions: operators, steps and calls; `collection.rs` has the constructors and `for`.
//!
//! Operators, conditionals and unary signs are read in loops; only brackets recurse.

use super::parser::{Parsed, Parser, exact};
use super::token::{Kind, Token};
use super::{
    BinaryOp, Call, Conditional, Expr, Expression, IndexStep, LegacyIndexStep, Name, NestedSplat,
    Relative, Splat, Step, Traversal, UnaryOp, problems,
};
use crate::diagnostic::Span;

/// Returns the operator of a token and how strongly it binds.
fn binary(kind: Kind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        Kind::Or => (BinaryOp::Or, 1),
        Kind::And => (BinaryOp::And, 2),
        Kind::EqualEqual => (BinaryOp::Equal, 3),
        Kind::NotEqual => (BinaryOp::NotEqual, 3),
        Kind::Greater => (BinaryOp::Greater, 4),
        Kind::GreaterEqual => (BinaryOp::GreaterOrEqual, 4),
        Kind::Less => (BinaryOp::Less, 4),
        Kind::LessEqual => (BinaryOp::LessOrEqual, 4),
        Kind::Plus => (BinaryOp::Add, 5),
        Kind::Minus => (BinaryOp::Subtract, 5),
        Kind::Star => (BinaryOp::Multiply, 6),
        Kind::Slash => (BinaryOp::Divide, 6),
        Kind::Percent => (BinaryOp::Modulo, 6),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Reads an expression.
    pub fn expression(&mut self) -> Parsed<Expression> {
        self.deeper(Parser::conditional)
    }

    fn conditional(&mut self) -> Parsed<Expression> {
        let mut arms = Vec::new();
        let mut result = loop {
            let condition = self.operation(0)?;
            if self.eat(Kind::Question).is_none() {
                break condition;
            }
            let mut height = self.height;
            let yes = self.expression()?;
            height = height.max(self.height);
            let colon = self.peek();
            if colon.kind != Kind::Colon {
                let start = condition.span;
                return Err(
                    self.fail_at(colon, |at| problems::missing_false_expression(at, start.to(at)))
                );
            }
            self.read();
            arms.push((condition, yes, height));
        };
        while let Some((condition, yes, height)) = arms.pop() {
            self.grow(height.max(self.height))?;
            let span = condition.span.to(result.span);
            let parts = Conditional { condition, yes, no: result };
            result = self.node(Expr::Conditional(Box::new(parts)), span);
        }
        Ok(result)
    }

    /// Reads operands joined by operators that bind at least as strongly as `weakest`.
    fn operation(&mut self, weakest: u8) -> Parsed<Expression> {
        let mut left = self.operand()?;
        while let Some((operator, strength)) = binary(self.peek().kind)
            && strength >= weakest
        {
            self.read();
            let height = self.height;
            let right = self.operation(strength + 1)?;
            self.grow(height.max(self.height))?;
            let span = left.span.to(right.span);
            left = self.node(Expr::Binary(operator, Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    /// Reads a term with the signs before it and the steps after it.
    fn operand(&mut self) -> Parsed<Expression> {
        let mut signs = Vec::new();
        loop {
            let operator = match self.peek().kind {
                Kind::Minus => UnaryOp::Negate,
                Kind::Bang => UnaryOp::Not,
                _ => break,
            };
            signs.push((operator, self.read()));
        }
        let term = self.term()?;
        let mut result = self.steps(term)?;
        while let Some((operator, sign)) = signs.pop() {
            self.grow(self.height)?;
            let span = self.span(sign).to(result.span);
            result = self.node(Expr::Unary(operator, Box::new(result)), span);
        }
        Ok(result)
    }

    fn term(&mut self) -> Parsed<Expression> {
        let token = self.peek();
        self.height = 1;
        match token.kind {
            Kind::OpenParen => self.parentheses(),
            Kind::Number => {
                self.read();
                let number = self.number(token)?;
                Ok(self.node(Expr::Number(number), self.span(token)))
            }
            Kind::Ident => {
                self.read();
                if matches!(self.peek().kind, Kind::OpenParen | Kind::DoubleColon) {
                    return self.call(token);
                }
                let expr = match self.text_of(token) {
                    "true" => Expr::Bool(true),
                    "false" => Expr::Bool(false),
                    "null" => Expr::Null,
                    _ => return Ok(self.variable(token)),
                };
                Ok(self.node(expr, self.span(token)))
            }
            Kind::OpenQuote | Kind::OpenHeredoc => self.string(),
            Kind::OpenBracket => self.tuple(),
            Kind::OpenBrace => self.object(),
            kind => Err(self.fail_at(token, |at| problems::missing_expression(kind, at))),
        }
    }

    /// Reads the names that directly follow the first one of a variable.
    fn variable(&mut self, first: Token) -> Expression {
        let mut last = first;
        let root = self.name(first);
        let names = (0..self.names_ahead()).map(|_| {
            self.read();
            last = self.read();
            self.name(last)
        });
        let path = Traversal::of_names(root, names);
        self.node(Expr::Traversal(path), self.span(first).to(self.span(last)))
    }

    fn parentheses(&mut self) -> Parsed<Expression> {
        let open = self.read();
        let (inner, close) = self.with_newlines(false, |parser| {
            let inner = parser.expression()?;
            let close = parser.peek();
            if close.kind != Kind::CloseParen {
                let start = parser.span(open);
                return Err(
                    parser.fail_at(close, |at| problems::unbalanced_parentheses(at, start.to(at)))
                );
            }
            Ok((inner, parser.read()))
        })?;
        self.grow(self.height)?;
        Ok(self.node(Expr::Parentheses(Box::new(inner)), self.span(open).to(self.span(close))))
    }

    /// Reads the steps that follow an expression.
    fn steps(&mut self, mut into: Expression) -> Parsed<Expression> {
        let mut more = Vec::new();
        while matches!(self.peek().kind, Kind::Dot | Kind::OpenBracket) {
            let height = self.height;
            let step = self.step()?;
            let span = into.span.to(step.span());
            if let Step::Splat(step) = step {
                let NestedSplat { full, each, marker } = *step;
                self.grow(height.max(self.height))?;
                into = stepped(into, std::mem::take(&mut more));
                let splat = Splat { source: into, full, each, marker };
                into = self.node(Expr::Splat(Box::new(splat)), span);
                continue;
            }
            self.height = height.max(self.height);
            if more.is_empty() && !matches!(into.expr, Expr::Traversal(_)) {
                self.grow(self.height)?;
            }
            more.push(step);
        }
        Ok(stepped(into, more))
    }

    /// Reads one step: `.name`, `.0`, `.*…`, `[key]` or `[*]…`.
    fn step(&mut self) -> Parsed<Step> {
        let open = self.read();
        self.height = 1;
        let token = self.peek();
        if open.kind == Kind::OpenBracket {
            return if token.kind == Kind::Star { self.full_splat(open) } else { self.index(open) };
        }
        match token.kind {
            Kind::Ident | Kind::Number => self.attribute_step(),
            Kind::Star => self.attribute_splat(open),
            _ => Err(self.fail_at(token, problems::attribute_name)),
        }
    }

    /// Reads what follows a dot: a name, or a number (the legacy form of an index).
    fn attribute_step(&mut self) -> Parsed<Step> {
        let token = self.peek();
        match token.kind {
            Kind::Ident => {
                self.read();
                Ok(Step::Attribute(self.name(token)))
            }
            Kind::Number => {
                self.read();
                let at = self.span(token);
                let text = self.text_of(token);
                if text.contains('.') {
                    return Err(self.fail(problems::legacy_index(text, at)));
                }
                // No list is long enough for an index that does not fit.
                let index = self.number(token)?.as_i64().and_then(|it| u64::try_from(it).ok());
                let index = index.unwrap_or(u64::MAX);
                Ok(Step::LegacyIndex(Box::new(LegacyIndexStep { index, span: at })))
            }
            Kind::Star => Err(self.fail_at(token, problems::nested_splat)),
            _ => Err(self.fail_at(token, problems::attribute_name)),
        }
    }

    fn attribute_splat(&mut self, dot: Token) -> Parsed<Step> {
        let star = self.read();
        let marker = self.span(dot).to(self.span(star));
        let mut each = Vec::new();
        while self.eat(Kind::Dot).is_some() {
            each.push(self.attribute_step()?);
        }
        Ok(Step::Splat(Box::new(NestedSplat { full: false, each, marker })))
    }

    fn full_splat(&mut self, open: Token) -> Parsed<Step> {
        self.read();
        let close = self.read();
        if close.kind != Kind::CloseBracket {
            return Err(self.fail_at(close, problems::close_bracket_on_splat));
        }
        let marker = self.span(open).to(self.span(close));
        let mut height = 1;
        let each = self.deeper(|parser| {
            let mut each = Vec::new();
            while matches!(parser.peek().kind, Kind::Dot | Kind::OpenBracket) {
                each.push(parser.step()?);
                height = height.max(parser.height);
            }
            Ok(each)
        })?;
        self.grow(height)?;
        Ok(Step::Splat(Box::new(NestedSplat { full: true, each, marker })))
    }

    fn index(&mut self, open: Token) -> Parsed<Step> {
        let (key, close) = self.with_newlines(false, |parser| {
            let key = parser.expression()?;
            let close = parser.peek();
            if close.kind != Kind::CloseBracket {
                return Err(parser.fail_at(close, problems::close_bracket_on_index));
            }
            Ok((key, parser.read()))
        })?;
        self.grow(self.height)?;
        let span = self.span(open).to(self.span(close));
        Ok(Step::Index(Box::new(IndexStep { key, span })))
    }

    /// Reads the rest of a call whose first name was read.
    fn call(&mut self, first: Token) -> Parsed<Expression> {
        let mut name = self.name(first);
        let mut open = self.read();
        while open.kind == Kind::DoubleColon {
            let next = self.read();
            if next.kind != Kind::Ident {
                return Err(self.fail_at(next, |at| problems::function_name(at, name.span.to(at))));
            }
            let text = format!("{}::{}", name.text, self.text_of(next));
            name = Name::new(text.into(), name.span.to(self.span(next)));
            open = self.read();
        }
        if open.kind != Kind::OpenParen {
            return Err(self.fail_at(open, |at| problems::open_parenthesis(at, name.span.to(at))));
        }
        let whole = name.span.to(self.span(open));
        let before = self.items.len();
        let (expand, close) = self.with_newlines(false, |parser| parser.arguments(whole))?;
        let span = name.span.to(close);
        let call = Call { name, arguments: self.items.drain(before..).collect(), expand };
        Ok(self.node(Expr::Call(Box::new(call)), span))
    }

    /// Reads arguments up to the closing parenthesis. `call` is the call's name and opening parenthesis.
    fn arguments(&mut self, call: Span) -> Parsed<(bool, Span)> {
        let mut height = 1;
        let mut expand = false;
        let close = loop {
            if let Some(close) = self.eat(Kind::CloseParen) {
                break close;
            }
            self.add_item()?;
            height = height.max(self.height);
            let token = self.read();
            match token.kind {
                Kind::Comma => {}
                Kind::CloseParen => break token,
                Kind::Ellipsis => {
                    expand = true;
                    let close = self.read();
                    if close.kind == Kind::CloseParen {
                        break close;
                    }
                    let at = self.span(token);
                    return Err(
                        self.fail_at(close, |_| problems::closing_parenthesis(at, call.to(at)))
                    );
                }
                kind => {
                    return Err(
                        self.fail_at(token, |at| problems::argument_separator(kind, at, call))
                    );
                }
            }
        };
        self.grow(height)?;
        Ok((expand, self.span(close)))
    }
}

/// Returns what steps into an expression lead to.
fn stepped(into: Expression, steps: Vec<Step>) -> Expression {
    let Some(last) = steps.last() else { return into };
    let span = into.span.to(last.span());
    let expr = match into.expr {
        Expr::Traversal(mut path) => {
            path.extend(steps);
            Expr::Traversal(path)
        }
        _ => Expr::Relative(Box::new(Relative { source: into, steps: exact(steps) })),
    };
    Expression { expr, span }
}

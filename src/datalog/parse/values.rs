//! What only policies say: references, expressions of the configuration language, messages.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Span};
use crate::syntax;
use crate::value::{Number, Value};

use super::super::domain::Tense;
use super::super::syntax::{Expression, Literal, MessagePart, Reference, Step, Variable};
use super::{Kind, Parser, unescape};

impl Parser<'_> {
    /// Reads a relation's name; in policies, perhaps one of ours: `core::name`.
    pub(super) fn relation_name(&mut self) -> Option<String> {
        let name = self.name("a relation's name")?;
        if matches!(name.as_str(), "core" | "model") && self.is_policy() && self.eat("::") {
            return Some(format!("{name}::{}", self.name("a relation's name")?));
        }
        Some(name)
    }

    fn is_policy(&self) -> bool {
        self.dialect == super::Dialect::Policies
    }

    pub(super) fn literal_of_values(&mut self) -> Option<Literal> {
        if self.eat("!") {
            if !self.is_reference() {
                return Some(Literal::Absent(self.atom()?));
            }
            let reference = self.reference()?;
            return Some(Literal::Refers { reference, equals: self.equals()?, is_absent: true });
        }
        if self.is_word("if") {
            return Some(Literal::If(self.formula()?));
        }
        if self.eat_word("let") {
            let variable = self.variable()?;
            if !self.is_sign("=") {
                return self.expected("`=`");
            }
            return Some(Literal::Compute(variable, self.formula()?));
        }
        if self.eat_word("agg") {
            return self.aggregate();
        }
        if self.is_reference() {
            let reference = self.reference()?;
            return Some(Literal::Refers { reference, equals: self.equals()?, is_absent: false });
        }
        if self.token.kind == Kind::Word && self.is_followed_by(&["in"]) {
            let variable = self.variable()?;
            self.expect_word("in")?;
            let is_computed = self.is_before_parenthesis() && Tense::of(self.slice()).is_none();
            if self.token.kind != Kind::Word || is_computed {
                return self.expected_with(
                    "a variable",
                    "What is computed gets a name first: `let all = [22, 3389], p in all`.",
                );
            }
            return Some(Literal::Member(variable, self.reference()?));
        }
        match self.token.kind {
            Kind::Word if self.is_word("not") && !self.is_followed_by(&["("]) => {
                self.expected_with("a premise", "What must not be is written `!b.acl`.")
            }
            Kind::Text | Kind::Number => self.expected_with(
                "a premise",
                "A premise begins with a relation or a variable: `b.acl == \"x\"`, `resource(b, _)`; expressions stand behind `if`.",
            ),
            _ => Some(Literal::Holds(self.atom()?)),
        }
    }

    /// Returns whether a reference begins here: a variable, or one in a tense, with a step behind it.
    pub(super) fn is_reference(&self) -> bool {
        if self.token.kind != Kind::Word {
            return false;
        }
        let in_tense = ["(", "word", ")"];
        let starts = |step: &str| {
            self.is_followed_by(&[step])
                || Tense::of(self.slice()).is_some()
                    && self.is_followed_by(&[in_tense.as_slice(), &[step]].concat())
        };
        starts(".") || starts("[")
    }

    /// Reads `root.name[key]…`.
    pub(super) fn reference(&mut self) -> Option<Reference> {
        let first = self.span();
        let (tense, root) = self.root()?;
        let (mut steps, mut last) = (Vec::new(), first);
        loop {
            if self.is_sign(".") {
                self.advance();
                last = self.span();
                steps.push(Step::Name(self.name("the name of an attribute")?));
            } else if self.is_sign("[") {
                self.advance();
                let key = match self.eat_word("_") {
                    true => None,
                    false => Some(self.term_of_atom()?),
                };
                steps.push(Step::Key(key));
                last = self.span();
                self.expect("]")?;
            } else {
                return Some(Reference { root, tense, steps, span: first.to(last) });
            }
        }
    }

    fn root(&mut self) -> Option<(Tense, Variable)> {
        match Tense::of(self.slice()).filter(|_| self.is_before_parenthesis()) {
            Some(tense) => {
                self.advance();
                self.expect("(")?;
                let root = self.variable()?;
                self.expect(")")?;
                Some((tense, root))
            }
            None => Some((Tense::Planned, self.variable()?)),
        }
    }

    fn is_before_parenthesis(&self) -> bool {
        self.is_followed_by(&["("])
    }

    fn equals(&mut self) -> Option<Option<Expression>> {
        match self.eat("==") {
            true if self.eat_word("_") => Some(None),
            true => Some(Some(self.term_of_atom()?)),
            false => Some(None),
        }
    }

    /// Reads what may stand in a column: a variable, one in a tense, a value, a constant.
    pub(super) fn term_of_atom(&mut self) -> Option<Expression> {
        let span = self.span();
        match self.token.kind {
            Kind::Number => self.number_value(span, false),
            Kind::Sign if self.is_sign("-") => {
                self.advance();
                let whole = span.to(self.span());
                self.number_value(whole, true)
            }
            Kind::Text => {
                let text = unescape(self.slice());
                self.closed()?;
                self.advance();
                Some(Expression::Text(text, span))
            }
            Kind::Word if matches!(self.slice(), "true" | "false") => {
                let value = Value::Bool(self.is_word("true"));
                self.advance();
                Some(Expression::Value(value, span))
            }
            Kind::Word if Tense::of(self.slice()).is_some() && self.is_before_parenthesis() => {
                let (tense, root) = self.root()?;
                Some(Expression::InTense(tense, root))
            }
            Kind::Word => self.word(span),
            _ => self.expected("a variable, a value, `_` or a constant"),
        }
    }

    fn closed(&mut self) -> Option<()> {
        let text = self.slice();
        if text.len() > 1 && text.ends_with('"') {
            return Some(());
        }
        self.expected("a text with its closing quote in the same line")
    }

    fn number_value(&mut self, span: Span, is_negative: bool) -> Option<Expression> {
        let start = self.token.start;
        if self.token.kind != Kind::Number {
            return self.expected("a number");
        }
        self.advance();
        let mut end = self.token.start;
        let fraction = self.is_sign(".").then(|| &self.text[self.token.end..self.end]);
        if fraction.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit())) {
            self.advance();
            end = self.token.end;
            self.advance();
        }
        let written = self.text[start..end].trim();
        match Number::parse(written) {
            Some(it) => {
                let it = if is_negative { it.neg() } else { it };
                Some(Expression::Value(Value::Number(it), span))
            }
            None => self.expected("a number"),
        }
    }

    /// Reads what may stand in a conclusion: a term, or a text that names variables in braces.
    pub(super) fn term_of_head(&mut self) -> Option<Expression> {
        let span = self.span();
        if self.token.kind != Kind::Text || !self.slice().contains(['{', '}']) {
            return self.term_of_atom();
        }
        self.closed()?;
        let parts = self.message()?;
        self.advance();
        Some(Expression::Message(parts, span))
    }

    /// Takes apart the text of the current token.
    fn message(&mut self) -> Option<Vec<MessagePart>> {
        let (start, quoted) = (self.token.start + 1, self.slice());
        let inner = &quoted[1..quoted.len() - 1];
        let (mut parts, mut text, mut at) = (Vec::new(), String::new(), 0);
        while let Some(next) = inner[at..].find(['{', '}']) {
            text.push_str(&inner[at..at + next]);
            at += next;
            if inner[at..].starts_with("{{") || inner[at..].starts_with("}}") {
                text.push_str(&inner[at..=at]);
                at += 2;
                continue;
            }
            let end = inner[at..].find('}').filter(|_| inner[at..].starts_with('{'));
            let Some(end) = end else {
                return self.expected("a name in braces; a brace itself is written `{{`");
            };
            if !text.is_empty() {
                parts.push(MessagePart::Text(unescape(&std::mem::take(&mut text))));
            }
            parts.push(self.message_part(start + at + 1, start + at + end)?);
            at += end + 1;
        }
        text.push_str(&inner[at..]);
        if !text.is_empty() {
            parts.push(MessagePart::Text(unescape(&text)));
        }
        Some(parts)
    }

    /// Reads what stands in braces, as a text of its own.
    fn message_part(&mut self, start: usize, end: usize) -> Option<MessagePart> {
        let text = without_escapes(self.text, start, end);
        let mut inner = Parser {
            dialect: self.dialect,
            file: self.file,
            text: &text,
            end,
            at: start,
            token: super::Token::END,
            behind: start,
            problems: Default::default(),
        };
        inner.advance();
        let part = match inner.is_reference() {
            true => inner.reference().map(MessagePart::Reference),
            false => inner.variable().map(MessagePart::Variable),
        };
        let is_whole = inner.token.kind == Kind::End;
        match part {
            Some(part) if is_whole && inner.problems.is_empty() => Some(part),
            _ => {
                let span = Span::new(self.file, start, end.max(start + 1));
                let found = format!("`{}`", &self.text[start..end]);
                let problem = "a variable or a reference in braces; a brace itself is written `{{`";
                self.problems.push(super::problem::syntax(problem, &found, "", span));
                None
            }
        }
    }

    /// Reads an expression of the configuration language behind the current token, up to the `,` or `;` that ends it.
    fn formula(&mut self) -> Option<syntax::Expression> {
        let start = self.token.end;
        let end = start + formula_length(&self.text[start..self.end]);
        let text = self.text[start..end].trim_end();
        if text.trim().is_empty() {
            self.advance();
            return self.expected("an expression");
        }
        self.at = end;
        self.advance();
        match syntax::parse_expression(self.file, text, start) {
            Ok(expression) => Some(expression),
            Err(problems) => {
                let ends =
                    |it: &str| it.replace("the end of the file", "the end of the expression");
                let told =
                    problems.into_iter().map(|it| Diagnostic { detail: ends(&it.detail), ..it });
                self.problems.extend(told.collect::<Vec<_>>());
                None
            }
        }
    }
}

/// Returns a text up to `end`, whose quotes behind `start` are not escaped: each stands beside a blank, so that all places stay.
fn without_escapes(text: &str, start: usize, end: usize) -> Cow<'_, str> {
    let part = &text[start..end];
    if !part.contains("\\\"") {
        return Cow::Borrowed(text);
    }
    let mut plain = " ".repeat(start);
    for (number, piece) in part.split("\\\"").enumerate() {
        if number > 0 {
            plain.push_str(if number % 2 == 1 { " \"" } else { "\" " });
        }
        plain.push_str(piece);
    }
    Cow::Owned(plain)
}

/// Returns how long an expression is: up to the first `,` or `;` outside of brackets and texts.
fn formula_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    // What is open: `)`, `]`, `}` of the expression, `"` of a text, `$` for what stands in a text.
    let (mut open, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let byte = bytes[at];
        if open.last() == Some(&b'"') {
            match byte {
                // No text goes on over several lines: this one is not closed.
                b'\n' => return at,
                b'\\' => at += 1,
                b'"' => {
                    open.pop();
                }
                b'$' | b'%' if bytes.get(at + 1) == Some(&b'{') => {
                    let is_escaped = at > 0 && bytes[at - 1] == byte;
                    if !is_escaped {
                        open.push(b'}');
                    }
                    at += 1;
                }
                _ => {}
            }
            at += 1;
            continue;
        }
        match byte {
            b',' if open.is_empty() => return at,
            // No expression has one, so that it ends the rule whatever is still open.
            b';' => return at,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'#' => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at + 2..].find("*/").map_or(text.len() - at, |it| it + 4);
                continue;
            }
            b'"' => open.push(b'"'),
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b')' | b']' | b'}' if open.pop().is_none() => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

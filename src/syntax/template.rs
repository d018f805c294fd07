//! Tokens to strings and templates: escapes, `${}`, `%{}`, trimming, heredoc indentation.
//!
//! As in HCL, a `~` trims only the text token beside it, and each line of a heredoc is a token of its own; the common
//! indentation of `<<-` is taken off afterwards, from tokens that begin a line.

use std::borrow::Cow;

use super::parser::{Broken, Parsed, Parser, exact};
use super::token::{Kind, Token};
use super::{Expr, Expression, ForPart, IfPart, Name, Part, problems};
use crate::diagnostic::Span;
use crate::error::Error;
use crate::value::{Str, nfc};

/// One element of a template before directives are matched.
enum Flat {
    Text(String),
    Interpolation(Expression),
    If { condition: Expression, span: Span },
    For { key_name: Option<Name>, value_name: Name, collection: Expression, span: Span },
    Else(Span),
    EndIf(Span),
    EndFor(Span),
}

/// A directive that waits for its end, and the parts gathered since it (or since its `else`).
enum Open {
    If { condition: Expression, yes: Option<Vec<Part>>, span: Span },
    For { key_name: Option<Name>, value_name: Name, collection: Expression, span: Span },
}

impl Open {
    fn keyword(&self) -> &'static str {
        if matches!(self, Open::If { .. }) { "if" } else { "for" }
    }

    fn span(&self) -> Span {
        let (Open::If { span, .. } | Open::For { span, .. }) = self;
        *span
    }
}

/// Up to how many bytes of text equal strings are likely.
const SHARED: usize = 32;

impl<'a> Parser<'a> {
    /// Reads a quoted string or heredoc.
    pub fn string(&mut self) -> Parsed<Expression> {
        let open = self.read();
        let closer =
            if open.kind == Kind::OpenQuote { Kind::CloseQuote } else { Kind::CloseHeredoc };
        let mut parts = self.template_parts(closer, self.span(open))?;
        let close = self.read();
        if self.text_of(open).starts_with("<<-") {
            dedent(&mut parts);
        }
        let span = self.span(open).to(self.span(close));
        self.template_expression(parts, span)
    }

    /// Reads a template up to the end of the text.
    pub fn bare_template(&mut self) -> Parsed<Expression> {
        let span = self.span_of(0, self.text.len());
        let parts = self.template_parts(Kind::End, span)?;
        self.template_expression(parts, span)
    }

    /// Reads a string without template sequences, such as a label. The span includes the quotes.
    pub fn quoted_literal(&mut self) -> Parsed<Name> {
        let open = self.read();
        let start = self.span(open);
        let mut text = Cow::Borrowed("");
        loop {
            let token = self.read();
            match token.kind {
                Kind::QuotedText if text.is_empty() => text = self.unescape(token),
                Kind::QuotedText => text.to_mut().push_str(&self.unescape(token)),
                Kind::CloseQuote => {
                    return Ok(Name::new(self.share(&text), start.to(self.span(token))));
                }
                Kind::Interpolation | Kind::Directive => {
                    let sign = &self.text_of(token)[..1];
                    return Err(self.fail_at(token, |at| problems::string_literal(sign, at, start)));
                }
                _ => {
                    return Err(self.fail_at(token, |at| problems::unterminated_literal(at, start)));
                }
            }
        }
    }

    /// Reads the elements of a template up to, and without, the token that ends it.
    fn template_parts(&mut self, closer: Kind, open: Span) -> Parsed<Vec<Flat>> {
        let mut parts: Vec<Flat> = Vec::new();
        let mut trim_next = false;
        let mut height = 1;
        loop {
            let token = self.with_newlines(true, |parser| parser.peek());
            let trim = std::mem::take(&mut trim_next);
            match token.kind {
                kind if kind == closer => break,
                Kind::QuotedText | Kind::BareText => {
                    self.read();
                    let text = self.unescape(token);
                    let text = if trim { text.trim_start().to_owned() } else { text.into_owned() };
                    parts.push(Flat::Text(text));
                }
                Kind::Interpolation | Kind::Directive => {
                    self.read();
                    if self.text_of(token).ends_with('~')
                        && let Some(Flat::Text(text)) = parts.last_mut()
                    {
                        text.truncate(text.trim_end().len());
                    }
                    let (part, trims) = self.with_newlines(false, |parser| match token.kind {
                        Kind::Directive => parser.directive(token),
                        _ => parser.interpolation(token),
                    })?;
                    height = height.max(self.height);
                    parts.push(part);
                    trim_next = trims;
                }
                _ => {
                    return Err(self.fail_at(token, |at| problems::unterminated_template(at, open)));
                }
            }
        }
        self.height = height;
        Ok(parts)
    }

    /// Reads an interpolation behind its opening, and whether what follows is trimmed.
    fn interpolation(&mut self, open: Token) -> Parsed<(Flat, bool)> {
        let value = self.expression()?;
        let close = self.peek();
        if close.kind != Kind::SequenceEnd {
            let start = self.span(open);
            return Err(
                self.fail_at(close, |at| problems::interpolation_end(close.kind, at, start))
            );
        }
        self.read();
        Ok((Flat::Interpolation(value), self.text_of(close).starts_with('~')))
    }

    /// Reads a directive behind its opening, and whether what follows is trimmed.
    fn directive(&mut self, open: Token) -> Parsed<(Flat, bool)> {
        let start = self.span(open);
        let Some(word) = self.eat(Kind::Ident) else {
            let token = self.peek();
            return Err(self.fail_at(token, |at| problems::directive_keyword_missing(at, start)));
        };
        self.height = 1;
        let keyword = self.text_of(word);
        let mut part = match keyword {
            "if" => Flat::If { condition: self.expression()?, span: start },
            "else" => Flat::Else(start),
            "endif" => Flat::EndIf(start),
            "for" => self.for_directive(start)?,
            "endfor" => Flat::EndFor(start),
            _ => {
                return Err(
                    self.fail_at(word, |at| problems::directive_keyword(keyword, at, start))
                );
            }
        };
        let close = self.peek();
        if close.kind != Kind::SequenceEnd {
            return Err(self.fail_at(close, |at| problems::directive_end(keyword, at, start)));
        }
        self.read();
        if let Flat::If { span, .. }
        | Flat::For { span, .. }
        | Flat::Else(span)
        | Flat::EndIf(span)
        | Flat::EndFor(span) = &mut part
        {
            *span = span.to(self.span(close));
        }
        Ok((part, self.text_of(close).starts_with('~')))
    }

    fn for_directive(&mut self, span: Span) -> Parsed<Flat> {
        let mut value_name =
            self.directive_name("For directive requires variable name after 'for'.")?;
        let mut key_name = None;
        if self.eat(Kind::Comma).is_some() {
            let name =
                self.directive_name("For directive requires value variable name after comma.")?;
            key_name = Some(std::mem::replace(&mut value_name, name));
        }
        if !self.at_word("in") {
            return Err(self.fail_directive("For directive requires 'in' keyword after names."));
        }
        self.read();
        Ok(Flat::For { key_name, value_name, collection: self.expression()?, span })
    }

    fn directive_name(&mut self, detail: &str) -> Parsed<Name> {
        match self.eat(Kind::Ident) {
            Some(token) => Ok(self.name(token)),
            None => Err(self.fail_directive(detail)),
        }
    }

    fn fail_directive(&mut self, detail: &str) -> Broken {
        let token = self.peek();
        self.fail_at(token, |at| problems::for_directive(detail, at))
    }

    /// Puts the elements of a template together.
    fn template_expression(&mut self, mut parts: Vec<Flat>, span: Span) -> Parsed<Expression> {
        if parts.iter().all(|it| matches!(it, Flat::Text(_))) {
            let text: String = parts
                .iter()
                .map(|it| if let Flat::Text(text) = it { text.as_str() } else { "" })
                .collect();
            let text = self.literal(&text);
            return Ok(self.node(Expr::String(text), span));
        }
        if let [Flat::Interpolation(_)] = &parts[..]
            && let Some(Flat::Interpolation(inner)) = parts.pop()
        {
            self.grow(self.height)?;
            return Ok(self.node(Expr::Wrapped(Box::new(inner)), span));
        }
        let parts = self.match_directives(parts)?;
        Ok(self.node(Expr::Template(exact(parts).into()), span))
    }

    /// Matches `if … else … endif` and `for … endfor`. In a loop: directives may nest as deep as they like to begin with.
    fn match_directives(&mut self, flat: Vec<Flat>) -> Parsed<Vec<Part>> {
        let mut stack: Vec<(Open, Vec<Part>)> = Vec::new();
        let mut parts = Vec::new();
        let mut depth = 0;
        for part in flat {
            match part {
                Flat::Text(text) => self.push_text(&mut parts, &text),
                Flat::Interpolation(value) => parts.push(Part::Interpolation(value)),
                Flat::If { condition, span } => {
                    stack.push((
                        Open::If { condition, yes: None, span },
                        std::mem::take(&mut parts),
                    ));
                }
                Flat::For { key_name, value_name, collection, span } => {
                    let open = Open::For { key_name, value_name, collection, span };
                    stack.push((open, std::mem::take(&mut parts)));
                }
                Flat::Else(at) => match stack.last_mut() {
                    Some((Open::If { yes: yes @ None, .. }, _)) => {
                        *yes = Some(std::mem::take(&mut parts))
                    }
                    other => {
                        let inside = other.map(|it| it.0.keyword());
                        return Err(self.fail(problems::directive_unexpected("else", inside, at)));
                    }
                },
                Flat::EndIf(at) => match stack.pop() {
                    Some((Open::If { condition, yes, span }, outer)) => {
                        let last = std::mem::replace(&mut parts, outer);
                        let (yes, no) = match yes {
                            Some(yes) => (yes, last),
                            None => (last, Vec::new()),
                        };
                        let part = IfPart { condition, yes, no, span: span.to(at) };
                        parts.push(Part::If(Box::new(part)));
                    }
                    other => {
                        let inside = other.map(|it| it.0.keyword());
                        return Err(self.fail(problems::directive_unexpected("endif", inside, at)));
                    }
                },
                Flat::EndFor(at) => match stack.pop() {
                    Some((Open::For { key_name, value_name, collection, span }, outer)) => {
                        let body = std::mem::replace(&mut parts, outer);
                        let span = span.to(at);
                        let part = ForPart { key_name, value_name, collection, body, span };
                        parts.push(Part::For(Box::new(part)));
                    }
                    other => {
                        let inside = other.map(|it| it.0.keyword());
                        return Err(self.fail(problems::directive_unexpected("endfor", inside, at)));
                    }
                },
            }
            depth = depth.max(stack.len() as u32);
        }
        if let Some((open, _)) = stack.pop() {
            return Err(self.fail(problems::directive_open(open.keyword(), open.span())));
        }
        self.grow(self.height + depth)?;
        Ok(parts)
    }

    fn push_text(&mut self, parts: &mut Vec<Part>, text: &str) {
        if text.is_empty() {
            return;
        }
        match parts.last_mut() {
            Some(Part::Literal(before)) => *before = nfc(&format!("{before}{text}")),
            _ => parts.push(Part::Literal(self.literal(text))),
        }
    }

    /// Returns text as values have it; short ones are kept once.
    fn literal(&mut self, text: &str) -> Str {
        let text = nfc(text);
        if text.len() <= SHARED { self.share(&text) } else { text }
    }

    /// Returns the text of a token with its escapes resolved. A wrong escape is reported and stays as it is.
    fn unescape(&mut self, token: Token) -> Cow<'a, str> {
        let text = self.text_of(token);
        if let "$${" | "%%{" = text {
            return text[1..].into();
        }
        if token.kind == Kind::BareText || !text.contains('\\') {
            return text.into();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let (length, result) = escape(rest);
            match result {
                Ok(c) => out.push(c),
                Err(why) => {
                    let start = token.end as usize - rest.len();
                    let at = self.span_of(start, start + length);
                    self.diags.push(problems::escape(at, &why));
                    out.push_str(&rest[..length]);
                }
            }
            rest = &rest[length..];
        }
        out.push_str(rest);
        out.into()
    }
}

/// Reads the escape that the text begins with: its length, and what it means or what is wrong with it.
fn escape(text: &str) -> (usize, Result<char, Error>) {
    let hex = |most: usize| {
        let digits = &text.as_bytes()[2..];
        digits.iter().take(most).take_while(|it| it.is_ascii_hexdigit()).count()
    };
    let unicode = |most: usize, detail: &str| {
        let digits = hex(most);
        let code = u32::from_str_radix(&text[2..2 + digits], 16).unwrap_or(0);
        let result = match char::from_u32(code) {
            _ if digits < most => Err(detail.into()),
            Some(c) => Ok(c),
            None => Err(format!("Cannot encode character U+{code:04x} in UTF-8.").into()),
        };
        (2 + digits, result)
    };
    match text[1..].chars().next() {
        None => {
            (1, Err("Backslash must be followed by an escape sequence selector character.".into()))
        }
        Some('n') => (2, Ok('\n')),
        Some('r') => (2, Ok('\r')),
        Some('t') => (2, Ok('\t')),
        Some('"') => (2, Ok('"')),
        Some('\\') => (2, Ok('\\')),
        Some('u') => {
            unicode(4, "The \\u escape sequence must be followed by four hexadecimal digits.")
        }
        Some('U') => {
            unicode(8, "The \\U escape sequence must be followed by eight hexadecimal digits.")
        }
        Some(c) => (
            1 + c.len_utf8(),
            Err(format!("The symbol \"{c}\" is not a valid escape sequence selector.").into()),
        ),
    }
}

/// Takes the indentation that all lines share off the texts that begin a line.
///
/// A line of nothing but blanks does not count, and stays. Text behind `~}` begins no line, even where the trimming took
/// the line end: the real program behaves so, and existing templates rest on it.
fn dedent(parts: &mut [Flat]) {
    let mut least = usize::MAX;
    let mut begins = Vec::new();
    let mut fresh = true;
    for (index, part) in parts.iter().enumerate() {
        let Flat::Text(text) = part else {
            if std::mem::take(&mut fresh) {
                least = 0;
            }
            continue;
        };
        if fresh {
            let trimmed = text.trim_start();
            if !(trimmed.is_empty() && text.ends_with('\n')) {
                least = least.min(text[..text.len() - trimmed.len()].chars().count());
                begins.push(index);
            }
        }
        fresh = text.ends_with('\n');
    }
    for index in begins {
        if let Flat::Text(text) = &mut parts[index] {
            let cut = text.char_indices().nth(least).map_or(text.len(), |it| it.0);
            text.drain(..cut);
        }
    }
}

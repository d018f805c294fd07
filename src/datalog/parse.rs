//! Text to rules as written.
//!
//! In a Rust file only what stands between the braces of `ascent! { … }` is read, at its offsets in the file.

use crate::diagnostic::{Diagnostics, FileId, Span};

use super::syntax::{
    Aggregate, Arithmetic, Atom, Comparison, Declaration, Expression, Head, Literal, Rule, Text,
    Variable,
};

mod tokens;

use self::tokens::{Comments, Kind, Token};

/// Reads a file of rules. What cannot be read is reported and left out.
pub fn parse(file: FileId, text: &str) -> (Text, Diagnostics) {
    let (start, end) = program(text);
    let mut parser =
        Parser { file, text, end, at: start, token: Token::END, problems: Diagnostics::new() };
    parser.advance();
    let mut found = Text::default();
    while parser.token.kind != Kind::End {
        let before = parser.token.start;
        if parser.item(&mut found).is_none() {
            parser.recover(before);
        }
    }
    (found, parser.problems)
}

/// Returns where the rules stand in a file: inside `ascent! { … }`, or all of it.
fn program(text: &str) -> (usize, usize) {
    match text.find("ascent! {") {
        Some(at) => {
            let start = at + "ascent! {".len();
            (start, text[start..].find("\n}").map_or(text.len(), |it| start + it))
        }
        None => (0, text.len()),
    }
}

/// How deep parentheses in an expression may nest.
const DEEPEST: usize = 64;

struct Parser<'a> {
    file: FileId,
    text: &'a str,
    end: usize,
    at: usize,
    token: Token,
    problems: Diagnostics,
}

impl<'a> Parser<'a> {
    fn item(&mut self, found: &mut Text) -> Option<()> {
        let comments = self.comments_before_token();
        if self.eat_word("pub") || self.is_word("struct") {
            self.expect_word("struct")?;
            self.name("the program's name")?;
            return self.expect(";");
        }
        if self.eat_word("relation") {
            found.declarations.push(self.declaration(comments.doc)?);
        } else {
            found.rules.push(self.rule(comments)?);
        }
        Some(())
    }

    fn declaration(&mut self, doc: Vec<String>) -> Option<Declaration> {
        let span = self.span();
        let name = self.name("a relation's name")?;
        self.expect("(")?;
        let mut columns = Vec::new();
        while !self.eat(")") {
            columns.push(self.name("the kind of a column")?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        self.expect(";")?;
        Some(Declaration { name, span, columns, doc })
    }

    fn rule(&mut self, comments: Comments) -> Option<Rule> {
        let first = self.span();
        let mut heads = vec![self.head()?];
        while self.eat(",") {
            heads.push(self.head()?);
        }
        let mut body = Vec::new();
        if self.eat("<--") {
            self.literal(&mut body)?;
            while self.eat(",") {
                self.literal(&mut body)?;
            }
        }
        let span = first.to(self.span());
        self.expect(";")?;
        Some(Rule { name: comments.name, sentence: comments.sentence, span, heads, body })
    }

    fn head(&mut self) -> Option<Head> {
        let first = self.span();
        let relation = self.name("a relation's name")?;
        self.expect("(")?;
        let mut terms = Vec::new();
        let mut last = self.span();
        while !self.eat(")") {
            terms.push(self.expression(0)?);
            last = self.span();
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
            last = self.span();
        }
        Some(Head { relation, span: first.to(last), terms })
    }

    fn atom(&mut self) -> Option<Atom> {
        let first = self.span();
        let relation = self.name("a relation's name")?;
        self.expect("(")?;
        let mut terms = Vec::new();
        let mut last = self.span();
        while !self.eat(")") {
            let term = if self.eat_word("_") { None } else { Some(self.expression(0)?) };
            terms.push(term);
            last = self.span();
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
            last = self.span();
        }
        Some(Atom { relation, span: first.to(last), terms })
    }

    fn literal(&mut self, body: &mut Vec<Literal>) -> Option<()> {
        if self.eat("!") {
            body.push(Literal::Absent(self.atom()?));
        } else if self.eat_word("if") {
            body.push(self.comparison()?);
            while self.eat("&&") {
                body.push(self.comparison()?);
            }
        } else if self.eat_word("let") {
            let variable = self.variable()?;
            self.expect("=")?;
            body.push(Literal::Let(variable, self.expression(0)?));
        } else if self.eat_word("agg") {
            body.push(self.aggregate()?);
        } else {
            body.push(Literal::Holds(self.atom()?));
        }
        Some(())
    }

    fn comparison(&mut self) -> Option<Literal> {
        let left = self.expression(0)?;
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let Some(&(_, comparison)) = signs.iter().find(|it| self.eat(it.0)) else {
            return self.expected("a comparison such as `==` or `<`");
        };
        Some(Literal::Compare(comparison, left, self.expression(0)?))
    }

    fn aggregate(&mut self) -> Option<Literal> {
        let result = self.variable()?;
        self.expect("=")?;
        let mut name = self.name("count, min, max or sum")?;
        while self.eat("::") {
            name = self.name("count, min, max or sum")?;
        }
        let function = match name.as_str() {
            "count" => Aggregate::Count,
            "min" => Aggregate::Min,
            "max" => Aggregate::Max,
            "sum" => Aggregate::Sum,
            _ => return self.expected("count, min, max or sum"),
        };
        self.expect("(")?;
        let over = if function == Aggregate::Count { None } else { Some(self.variable()?) };
        self.expect(")")?;
        self.expect_word("in")?;
        Some(Literal::Aggregate { result, function, over, atom: self.atom()? })
    }

    fn expression(&mut self, depth: usize) -> Option<Expression> {
        let mut left = self.product(depth)?;
        loop {
            let operator = if self.eat("+") {
                Arithmetic::Add
            } else if self.eat("-") {
                Arithmetic::Subtract
            } else {
                return Some(left);
            };
            left = Expression::Arithmetic(operator, Box::new(left), Box::new(self.product(depth)?));
        }
    }

    fn product(&mut self, depth: usize) -> Option<Expression> {
        let mut left = self.term(depth)?;
        loop {
            let operator = if self.eat("*") {
                Arithmetic::Multiply
            } else if self.eat("/") {
                Arithmetic::Divide
            } else if self.eat("%") {
                Arithmetic::Remainder
            } else {
                return Some(left);
            };
            left = Expression::Arithmetic(operator, Box::new(left), Box::new(self.term(depth)?));
        }
    }

    fn term(&mut self, depth: usize) -> Option<Expression> {
        if depth > DEEPEST {
            return self.expected("fewer nested parentheses");
        }
        // Compiled rules see references in conditions; `*x` is `x` here.
        while self.eat("*") {}
        let span = self.span();
        match self.token.kind {
            Kind::Number => {
                let Ok(number) = self.slice().replace('_', "").parse() else {
                    return self.expected("a whole number of 64 bits");
                };
                self.advance();
                Some(Expression::Number(number, span))
            }
            Kind::Text => {
                let text = unescape(self.slice());
                self.advance();
                Some(Expression::Text(text, span))
            }
            Kind::Word => self.word(span),
            Kind::Sign if self.slice() == "(" => {
                self.advance();
                let inner = self.expression(depth + 1)?;
                self.expect(")")?;
                Some(inner)
            }
            Kind::Sign if self.slice() == "-" => {
                self.advance();
                let operand = self.term(depth + 1)?;
                let zero = Expression::Number(0, span);
                Some(Expression::Arithmetic(
                    Arithmetic::Subtract,
                    Box::new(zero),
                    Box::new(operand),
                ))
            }
            _ => self.expected("a variable or a constant"),
        }
    }

    fn word(&mut self, span: Span) -> Option<Expression> {
        let name = self.name("a variable or a constant")?;
        if self.is_sign("::") {
            self.advance();
            let last = self.span();
            let word = self.name("a constant of this kind")?;
            return Some(Expression::Constant(name, word, span.to(last)));
        }
        Some(Expression::Variable(Variable { name, span }))
    }

    fn variable(&mut self) -> Option<Variable> {
        let span = self.span();
        Some(Variable { name: self.name("a variable")?, span })
    }

    fn name(&mut self, expected: &str) -> Option<String> {
        if self.token.kind != Kind::Word {
            return self.expected(expected);
        }
        let name = self.slice().to_owned();
        self.advance();
        Some(name)
    }

    /// Goes on behind the next semicolon, and at least one token further than `before`.
    fn recover(&mut self, before: usize) {
        while self.token.kind != Kind::End && !self.is_sign(";") {
            self.advance();
        }
        if self.token.start > before || self.is_sign(";") {
            self.eat(";");
        }
    }
}

fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

//! Text to rules as written.
//!
//! In a Rust file only what stands between the braces of `ascent! { … }` is read, at its offsets in the file.

use crate::diagnostic::{Diagnostics, FileId, Span};

use super::problem;
use super::syntax::{
    Aggregate, Arithmetic, Atom, Comparison, Declaration, Expression, Head, Literal, Note, Rule,
    Text, Variable,
};

pub mod layout;
mod query;
mod token;
mod values;

pub use query::parse_body;
use token::{Kind, Token, unescape};

/// How deep parentheses in an expression may nest.
const DEEPEST: usize = 64;

/// What a text may say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Whole numbers and ids: what the compiled strata say.
    #[default]
    Strata,
    /// Values too: references, and expressions of the configuration language.
    Policies,
}

/// Reads a file of rules. What cannot be read is reported and left out.
pub fn parse(file: FileId, text: &str) -> (Text, Diagnostics) {
    parse_as(Dialect::Strata, file, text)
}

/// Reads a file of rules in a dialect. What cannot be read is reported and left out.
pub fn parse_as(dialect: Dialect, file: FileId, text: &str) -> (Text, Diagnostics) {
    let (start, end) = match dialect {
        Dialect::Strata => program(text),
        Dialect::Policies => (0, text.len()),
    };
    let problems = Diagnostics::new();
    let mut parser = Parser { dialect, file, text, end, at: start, token: Token::END, problems };
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

struct Parser<'a> {
    dialect: Dialect,
    file: FileId,
    text: &'a str,
    end: usize,
    at: usize,
    token: Token,
    problems: Diagnostics,
}

/// What the comments above an item say.
#[derive(Default)]
struct Comments {
    doc: Vec<String>,
    name: String,
    sentence: String,
    notes: Vec<Note>,
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
        let Comments { name, sentence, notes, .. } = comments;
        Some(Rule { name, sentence, notes, span, heads, body })
    }

    fn head(&mut self) -> Option<Head> {
        let first = self.span();
        let relation = self.relation_name()?;
        self.expect("(")?;
        let mut terms = Vec::new();
        let mut last = self.span();
        while !self.eat(")") {
            terms.push(match self.dialect {
                Dialect::Strata => self.expression(0)?,
                Dialect::Policies => self.term_of_head()?,
            });
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
        let relation = self.relation_name()?;
        self.expect("(")?;
        let mut terms = Vec::new();
        let mut last = self.span();
        while !self.eat(")") {
            let is_any = self.eat_word("_");
            let term = match self.dialect {
                _ if is_any => None,
                Dialect::Strata => Some(self.expression(0)?),
                Dialect::Policies => Some(self.term_of_atom()?),
            };
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
        if self.dialect == Dialect::Policies {
            body.push(self.literal_of_values()?);
        } else if self.eat("!") {
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
        let is_free =
            function == Aggregate::Count && (self.dialect == Dialect::Strata || self.is_sign(")"));
        let over = if is_free { None } else { Some(self.variable()?) };
        self.expect(")")?;
        self.expect_word("in")?;
        if self.dialect == Dialect::Policies && self.is_reference() {
            let reference = self.reference()?;
            return Some(Literal::AggregateOf { result, function, over, reference });
        }
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

    /// Reads the comment lines right above the current token.
    fn comments_before_token(&self) -> Comments {
        let mut comments = Comments::default();
        for line in
            self.text[..self.token.start].lines().rev().skip_while(|it| it.trim().is_empty())
        {
            let Some(comment) = line.trim_start().strip_prefix("//") else { break };
            if let Some(doc) = comment.strip_prefix('/') {
                comments.doc.insert(0, doc.trim().to_owned());
            } else if let Some(rule) = comment.trim_start().strip_prefix("@rule ") {
                let (name, sentence) = rule.split_once(": ").unwrap_or((rule, ""));
                comments.name = name.trim().to_owned();
                comments.sentence = sentence.trim().to_owned();
            } else if let Some(note) = comment.trim_start().strip_prefix('@') {
                let (name, text) = note.split_once(' ').unwrap_or((note, ""));
                let start = comment.as_ptr() as usize - self.text.as_ptr() as usize;
                let span = Span::new(self.file, start, start + comment.len());
                let (name, text) = (name.trim().to_owned(), text.trim().to_owned());
                comments.notes.insert(0, Note { name, text, span });
            }
        }
        comments
    }
}

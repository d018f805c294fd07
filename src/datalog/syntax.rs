//! Rules as written: declarations and rules with spans, names not looked up yet.

use crate::diagnostic::Span;
use crate::syntax;
use crate::value::Value;

use super::domain::Tense;

/// What one file says.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// Relations, in order.
    pub declarations: Vec<Declaration>,
    /// Rules, in order.
    pub rules: Vec<Rule>,
    /// The relations that rules conclude which cannot be read.
    pub broken: Vec<String>,
}

/// `relation name(Kind, Kind);`
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// The kinds of its columns.
    pub columns: Vec<String>,
    /// The lines of the doc comment above it.
    pub doc: Vec<String>,
}

/// `head(…), head(…) <-- literal, literal;`
#[derive(Clone, Debug)]
pub struct Rule {
    /// From `// @rule name: sentence` above it; empty where there is none.
    pub name: String,
    /// The sentence from the same line.
    pub sentence: String,
    /// What other `@` lines above it say, in order.
    pub notes: Vec<Note>,
    /// From the first head to the semicolon.
    pub span: Span,
    /// What it concludes; at least one.
    pub heads: Vec<Head>,
    /// What it rests on.
    pub body: Vec<Literal>,
}

/// `// @name text`
#[derive(Clone, Debug)]
pub struct Note {
    /// What stands behind the `@`.
    pub name: String,
    /// The rest of the line.
    pub text: String,
    /// Where the line stands, without its slashes.
    pub span: Span,
}

/// `relation(expression, …)`
#[derive(Clone, Debug)]
pub struct Head {
    /// The relation's name.
    pub relation: String,
    /// Where it stands, arguments included.
    pub span: Span,
    /// One expression per column.
    pub terms: Vec<Expression>,
}

/// `relation(term, …)` in a body.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The relation's name.
    pub relation: String,
    /// Where it stands, arguments included.
    pub span: Span,
    /// One term per column; `None` for `_`.
    pub terms: Vec<Option<Expression>>,
}

/// One part of a body.
#[derive(Clone, Debug)]
pub enum Literal {
    /// `relation(…)`
    Holds(Atom),
    /// `!relation(…)`
    Absent(Atom),
    /// `if left op right`
    Compare(Comparison, Expression, Expression),
    /// `let variable = expression`
    Let(Variable, Expression),
    /// `agg variable = function(over) in relation(…)`
    Aggregate {
        /// What the result is called.
        result: Variable,
        /// How it is computed.
        function: Aggregate,
        /// What it is computed over; none for `count`.
        over: Option<Variable>,
        /// The rows it is computed over.
        atom: Atom,
    },
    /// `reference` or `reference == term`; with `!` before it, nothing of the kind is there.
    Refers {
        /// Where one looks.
        reference: Reference,
        /// What it is equal to.
        equals: Option<Expression>,
        /// Whether it is negated.
        is_absent: bool,
    },
    /// `variable in reference`: one element.
    Member(Variable, Reference),
    /// `if expression`
    If(syntax::Expression),
    /// `let variable = expression`, of the configuration language.
    Compute(Variable, syntax::Expression),
    /// `agg variable = function(over) in reference`
    AggregateOf {
        /// What the result is called.
        result: Variable,
        /// How it is computed.
        function: Aggregate,
        /// What it is computed over; none for `count`.
        over: Option<Variable>,
        /// What is gone through.
        reference: Reference,
    },
}

/// `root.name[key]`: a look into a value.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The node or value that is looked into.
    pub root: Variable,
    /// When it is looked at.
    pub tense: Tense,
    /// The steps into it.
    pub steps: Vec<Step>,
    /// Where it stands.
    pub span: Span,
}

/// One step of a reference.
#[derive(Clone, Debug)]
pub enum Step {
    /// `.name`
    Name(String),
    /// `[key]`; `[_]` without one.
    Key(Option<Expression>),
}

/// One part of a message.
#[derive(Clone, Debug)]
pub enum MessagePart {
    /// Text as it is.
    Text(String),
    /// `{variable}`
    Variable(Variable),
    /// `{reference}`
    Reference(Reference),
}

/// A variable where it is used.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// `==` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is computed over many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Aggregate {
    Count,
    Min,
    Max,
    Sum,
}

/// `+` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What stands in a column or beside a comparison.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A variable.
    Variable(Variable),
    /// A whole number.
    Number(i64, Span),
    /// `"text"`
    Text(String, Span),
    /// `Kind::Word`
    Constant(String, String, Span),
    /// `left op right`
    Arithmetic(Arithmetic, Box<Expression>, Box<Expression>),
    /// A number with a fraction, `true`, `false`.
    Value(Value, Span),
    /// `old(variable)`
    InTense(Tense, Variable),
    /// A text that names variables in braces.
    Message(Vec<MessagePart>, Span),
}

impl Expression {
    /// Returns where it stands.
    pub fn span(&self) -> Span {
        match self {
            Expression::Variable(it) => it.span,
            Expression::Number(_, span)
            | Expression::Text(_, span)
            | Expression::Value(_, span)
            | Expression::Message(_, span)
            | Expression::Constant(_, _, span) => *span,
            Expression::InTense(_, it) => it.span,
            Expression::Arithmetic(_, left, right) => left.span().to(right.span()),
        }
    }

    /// Shows every variable in it.
    pub fn for_each_variable<'a>(&'a self, see: &mut dyn FnMut(&'a Variable)) {
        match self {
            Expression::Variable(it) => see(it),
            Expression::Arithmetic(_, left, right) => {
                left.for_each_variable(see);
                right.for_each_variable(see);
            }
            Expression::InTense(_, it) => see(it),
            Expression::Message(parts, _) => parts.iter().for_each(|it| match it {
                MessagePart::Text(_) => {}
                MessagePart::Variable(it) => see(it),
                MessagePart::Reference(it) => it.for_each_variable(see),
            }),
            Expression::Number(..)
            | Expression::Text(..)
            | Expression::Value(..)
            | Expression::Constant(..) => {}
        }
    }
}

impl Reference {
    /// Shows every variable in it.
    pub fn for_each_variable<'a>(&'a self, see: &mut dyn FnMut(&'a Variable)) {
        see(&self.root);
        for step in &self.steps {
            if let Step::Key(Some(key)) = step {
                key.for_each_variable(see);
            }
        }
    }
}

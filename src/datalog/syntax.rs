//! Rules as written: declarations and rules with spans, names not looked up yet.

use crate::diagnostic::Span;

/// What one file says.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// Relations, in order.
    pub declarations: Vec<Declaration>,
    /// Rules, in order.
    pub rules: Vec<Rule>,
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
    /// From the first head to the semicolon.
    pub span: Span,
    /// What it concludes; at least one.
    pub heads: Vec<Head>,
    /// What it rests on.
    pub body: Vec<Literal>,
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
}

impl Expression {
    /// Returns where it stands.
    pub fn span(&self) -> Span {
        match self {
            Expression::Variable(it) => it.span,
            Expression::Number(_, span)
            | Expression::Text(_, span)
            | Expression::Constant(_, _, span) => *span,
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
            Expression::Number(..) | Expression::Text(..) | Expression::Constant(..) => {}
        }
    }
}

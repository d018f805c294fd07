//! The parts of rules that can be evaluated: patterns, references, conditions, with variables and relations by number.

use super::super::domain::Tense;
use super::super::formula::{Formula, Use};
use super::super::syntax::{Aggregate, Arithmetic, Comparison};
use crate::value::Str;

/// What a column must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The value of a variable.
    Variable(usize),
    /// This number.
    Word(u64),
    /// A node in a tense: `old(n)`.
    InTense(Tense, usize),
    /// Anything.
    Any,
}

/// Something that can be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The value of a variable.
    Variable(usize),
    /// This number.
    Word(u64),
    /// `left op right`
    Arithmetic(Arithmetic, Box<Value>, Box<Value>),
    /// A node in a tense.
    InTense(Tense, usize),
    /// A text put together.
    Message(Vec<Part>),
}

/// One part of a text that is put together.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// What a variable is.
    Variable(usize),
    /// What a reference leads to.
    Reference(Reference),
}

/// A look into a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The variable that is looked into.
    pub root: usize,
    /// When.
    pub tense: Tense,
    /// The steps into it.
    pub steps: Vec<Step>,
}

impl Reference {
    /// Returns whether an aggregate goes over the elements of what this leads to, as `in` does: `b.rules` as `b.rules[_]`. A
    /// reference that ends in a key names the elements itself.
    pub fn goes_over_elements(&self, over: Option<Over>) -> bool {
        !matches!(over, Some(Over::Key(_))) && !matches!(self.steps.last(), Some(Step::Key(_)))
    }
}

/// One step of a reference.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.name`
    Name(Str),
    /// `[key]`
    Key(Term),
}

/// Rows of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The relation.
    pub relation: usize,
    /// One term per column.
    pub terms: Vec<Term>,
}

/// One part of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// Some row is there.
    Holds(Pattern),
    /// No row is there.
    Absent(Pattern),
    /// Two values compare so.
    Compare(Comparison, Value, Value),
    /// A variable gets a value.
    Let(usize, Value),
    /// A variable gets a value computed over many rows.
    Aggregate {
        /// The variable.
        result: usize,
        /// How it is computed.
        function: Aggregate,
        /// The variable it is computed over; none for `count`.
        over: Option<usize>,
        /// The rows.
        pattern: Pattern,
    },
    /// A reference leads to something, or to this.
    Refers(Reference, Option<Term>),
    /// A reference leads to nothing, or not to this.
    Lacks(Reference, Option<Term>),
    /// A variable gets an element of what a reference leads to.
    Member(usize, Reference),
    /// An expression is true.
    If(Formula),
    /// A variable gets the value of an expression.
    Compute(usize, Formula),
    /// A variable gets a value computed over everything that a reference leads to.
    AggregateOf {
        /// The variable.
        result: usize,
        /// How it is computed.
        function: Aggregate,
        /// What it is computed over; none for `count`.
        over: Option<Over>,
        /// What is gone through.
        reference: Reference,
    },
}

/// What an aggregate over a reference is computed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The variable of a key.
    Key(usize),
    /// What the reference leads to.
    Reached,
}

impl Term {
    /// Returns the variable whose value it is.
    pub fn variable(&self) -> Option<usize> {
        match self {
            Term::Variable(it) | Term::InTense(_, it) => Some(*it),
            Term::Word(_) | Term::Any => None,
        }
    }
}

impl Pattern {
    /// Iterates over the variables in its columns.
    pub fn variables(&self) -> impl Iterator<Item = usize> {
        self.terms.iter().filter_map(Term::variable)
    }
}

impl Reference {
    /// Iterates over the variables in its keys.
    pub fn key_variables(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|it| match it {
            Step::Key(term) => term.variable(),
            Step::Name(_) => None,
        })
    }

    /// Shows each use of a variable.
    pub fn for_each_variable(&self, see: &mut dyn FnMut(usize)) {
        see(self.root);
        self.key_variables().for_each(see);
    }
}

impl Value {
    /// Shows each use of a variable.
    pub fn for_each_variable(&self, see: &mut dyn FnMut(usize)) {
        match self {
            Value::Variable(it) | Value::InTense(_, it) => see(*it),
            Value::Word(_) => {}
            Value::Arithmetic(_, one, other) => {
                one.for_each_variable(see);
                other.for_each_variable(see);
            }
            Value::Message(parts) => parts.iter().for_each(|it| match it {
                Part::Text(_) => {}
                Part::Variable(it) => see(*it),
                Part::Reference(it) => it.for_each_variable(see),
            }),
        }
    }
}

impl Literal {
    /// Shows each use of a variable.
    pub fn for_each_variable(&self, see: &mut dyn FnMut(usize)) {
        match self {
            Literal::Holds(it) | Literal::Absent(it) => it.variables().for_each(see),
            Literal::Compare(_, one, other) => {
                one.for_each_variable(see);
                other.for_each_variable(see);
            }
            Literal::Let(variable, value) => {
                see(*variable);
                value.for_each_variable(see);
            }
            Literal::Aggregate { result, over, pattern, .. } => {
                see(*result);
                over.iter().copied().chain(pattern.variables()).for_each(see);
            }
            Literal::Refers(reference, equals) | Literal::Lacks(reference, equals) => {
                reference.for_each_variable(see);
                equals.iter().filter_map(Term::variable).for_each(see);
            }
            Literal::Member(variable, reference) => {
                see(*variable);
                reference.for_each_variable(see);
            }
            Literal::If(it) => it.uses.iter().for_each(|it| see(it.1)),
            Literal::Compute(variable, it) => {
                see(*variable);
                it.uses.iter().for_each(|it| see(it.1));
            }
            Literal::AggregateOf { result, over, reference, .. } => {
                see(*result);
                if let Some(Over::Key(it)) = over {
                    see(*it);
                }
                reference.for_each_variable(see);
            }
        }
    }

    /// Shows each look into a value.
    pub fn for_each_reference(&self, see: &mut dyn FnMut(&Reference)) {
        match self {
            Literal::Refers(it, _)
            | Literal::Lacks(it, _)
            | Literal::Member(_, it)
            | Literal::AggregateOf { reference: it, .. } => see(it),
            Literal::If(it) | Literal::Compute(_, it) => it.references().iter().for_each(see),
            Literal::Holds(_)
            | Literal::Absent(_)
            | Literal::Compare(..)
            | Literal::Let(..)
            | Literal::Aggregate { .. } => {}
        }
    }

    /// Returns the relation it looks at, if any.
    pub fn relation(&self) -> Option<usize> {
        match self {
            Literal::Holds(it) | Literal::Absent(it) | Literal::Aggregate { pattern: it, .. } => {
                Some(it.relation)
            }
            _ => None,
        }
    }

    /// Returns the tenses in which it looks at nodes.
    pub fn tenses(&self) -> Vec<Tense> {
        match self {
            Literal::Holds(it) | Literal::Absent(it) | Literal::Aggregate { pattern: it, .. } => {
                let tensed = it.terms.iter().filter_map(|it| match it {
                    Term::InTense(tense, _) => Some(*tense),
                    _ => None,
                });
                tensed.collect()
            }
            Literal::Refers(it, _)
            | Literal::Lacks(it, _)
            | Literal::Member(_, it)
            | Literal::AggregateOf { reference: it, .. } => vec![it.tense],
            Literal::If(it) | Literal::Compute(_, it) => {
                let tensed = it.uses.iter().filter_map(|it| match it.2 {
                    Use::Whole(tense) => Some(tense),
                    Use::Itself => None,
                });
                tensed.collect()
            }
            Literal::Compare(..) | Literal::Let(..) => Vec::new(),
        }
    }

    /// Returns whether more rows of its relation can only make it hold more often.
    pub(super) fn is_positive(&self) -> bool {
        matches!(self, Literal::Holds(_))
    }
}

//! Rules over values, as written to ones that can be evaluated.

use crate::diagnostic::Span;
use crate::value::Str;

use super::check::{Literal, Over, Part, Reference, Step, Term, Value};
use super::formula::{self, Formula};
use super::reader::{RuleReader, Unbound};
use super::syntax::{self, Aggregate, Expression, MessagePart, Variable};
use super::{kinds, problem};

impl RuleReader<'_> {
    /// Reads a body in which the order of what is written does not matter, but for aggregates: these are over what stands before
    /// them. Returns its parts in an order in which each can be decided, and where they stand.
    pub(super) fn body(&mut self, body: &[syntax::Literal]) -> (Vec<Literal>, Vec<Span>) {
        let mut waiting: Vec<(usize, &syntax::Literal)> = body.iter().enumerate().collect();
        let (mut read, mut places) = (Vec::new(), Vec::new());
        while !waiting.is_empty() {
            let first = waiting[0].0;
            let next = waiting.iter().position(|(at, it)| self.can_read(it, *at == first));
            // Where nothing can be read, the first says why.
            let (_, literal) = waiting.remove(next.unwrap_or(0));
            places.push(place(literal));
            match self.literal(literal) {
                Some(it) => read.push(it),
                None if next.is_none() => return (read, places),
                None => {}
            }
        }
        (read, places)
    }

    /// Returns whether everything is bound that must be.
    fn can_read(&self, literal: &syntax::Literal, is_first: bool) -> bool {
        let is_bound = |it: &Variable| self.variables.contains(&it.name);
        let mut needed = Vec::new();
        let mut keys = |reference: &syntax::Reference| {
            needed.push(reference.root.name.clone());
        };
        match literal {
            syntax::Literal::Holds(_) => return true,
            syntax::Literal::Aggregate { .. } => return is_first,
            syntax::Literal::AggregateOf { reference, .. } => {
                return is_first && is_bound(&reference.root);
            }
            syntax::Literal::Refers { reference, is_absent: false, .. }
            | syntax::Literal::Member(_, reference) => keys(reference),
            syntax::Literal::Refers { reference, equals, is_absent: true } => {
                reference.for_each_variable(&mut |it| needed.push(it.name.clone()));
                if let Some(it) = equals {
                    it.for_each_variable(&mut |it| needed.push(it.name.clone()));
                }
            }
            syntax::Literal::Absent(atom) => {
                for term in atom.terms.iter().flatten() {
                    term.for_each_variable(&mut |it| needed.push(it.name.clone()));
                }
            }
            syntax::Literal::If(expression) | syntax::Literal::Compute(_, expression) => {
                needed
                    .extend(formula::read(expression).1.into_iter().map(|it| it.name.to_string()));
            }
            syntax::Literal::Compare(..) | syntax::Literal::Let(..) => {}
        }
        needed.iter().all(|it| self.variables.contains(it))
    }

    /// Reads one part that is about values; nothing where that is wrong.
    pub(super) fn literal_of_values(&mut self, literal: &syntax::Literal) -> Option<Literal> {
        match literal {
            syntax::Literal::Refers { reference, equals, is_absent: false } => {
                let reference = self.reference(reference, Unbound::IsNew)?;
                Some(Literal::Refers(reference, self.equals(equals.as_ref(), Unbound::IsNew)?))
            }
            syntax::Literal::Refers { reference, equals, is_absent: true } => {
                let unbound = Unbound::IsWrong("a negation");
                let reference = self.reference(reference, unbound)?;
                Some(Literal::Lacks(reference, self.equals(equals.as_ref(), unbound)?))
            }
            syntax::Literal::Member(variable, reference) => {
                let reference = self.reference(reference, Unbound::IsNew)?;
                let variable = self.bind_as(variable, kinds::VALUE)?;
                Some(Literal::Member(variable, reference))
            }
            syntax::Literal::If(expression) => {
                Some(Literal::If(self.formula(expression, "a condition")?))
            }
            syntax::Literal::Compute(variable, expression) => {
                let formula = self.formula(expression, "`let`")?;
                Some(Literal::Compute(self.bind_as(variable, kinds::VALUE)?, formula))
            }
            syntax::Literal::AggregateOf { result, function, over, reference } => {
                self.aggregate_of(result, *function, over.as_ref(), reference)
            }
            _ => None,
        }
    }

    fn aggregate_of(
        &mut self,
        result: &Variable,
        function: Aggregate,
        over: Option<&Variable>,
        reference: &syntax::Reference,
    ) -> Option<Literal> {
        let outer = self.variables.len();
        let reference = self.reference(reference, Unbound::IsNew)?;
        let over = over.map(|it| match self.variables.iter().position(|known| *known == it.name) {
            Some(key) => Over::Key(key),
            None => Over::Reached,
        });
        for local in &mut self.variables[outer..] {
            local.push('\'');
        }
        let result = self.bind_as(result, kinds::VALUE)?;
        Some(Literal::AggregateOf { result, function, over, reference })
    }

    fn reference(&mut self, it: &syntax::Reference, unbound: Unbound) -> Option<Reference> {
        let root = self.bound(&it.root, "a reference")?;
        let steps = it.steps.iter().map(|step| match step {
            syntax::Step::Name(name) => Some(Step::Name(Str::from(name.as_str()))),
            syntax::Step::Key(None) => Some(Step::Key(Term::Any)),
            syntax::Step::Key(Some(key)) => {
                let term = self.term(key, unbound)?;
                self.expect_kind(key, kinds::VALUE);
                Some(Step::Key(term))
            }
        });
        let steps = steps.collect::<Option<Vec<_>>>()?;
        let kind = self.kinds[root].clone().unwrap_or_default();
        if !kinds::can_be_looked_into(&kind) {
            return self.fail(problem::not_looked_into(&it.root.name, &kind, it.span));
        }
        Some(Reference { root, tense: it.tense, steps })
    }

    fn equals(&mut self, it: Option<&Expression>, unbound: Unbound) -> Option<Option<Term>> {
        let Some(it) = it else { return Some(None) };
        let term = self.term(it, unbound)?;
        self.expect_kind(it, kinds::VALUE);
        Some(Some(term))
    }

    fn formula(
        &mut self,
        expression: &crate::syntax::Expression,
        place: &'static str,
    ) -> Option<Formula> {
        let (expression, named, problems) = formula::read(expression);
        if problems.has_errors() {
            self.problems.extend(problems);
            self.failed = true;
            return None;
        }
        let mut uses = Vec::new();
        for it in named {
            let variable = Variable { name: it.name.to_string(), span: it.span };
            uses.push((it.alias, self.bound(&variable, place)?, it.how));
        }
        Some(Formula::new(expression, uses))
    }

    /// Returns the number of a variable of this kind.
    fn bind_as(&mut self, variable: &Variable, kind: &str) -> Option<usize> {
        let number = self.bind(variable);
        self.expect_kind(&Expression::Variable(variable.clone()), kind);
        (!self.failed).then_some(number)
    }

    /// Reads a text that is put together.
    pub(super) fn message(&mut self, parts: &[MessagePart]) -> Option<Value> {
        let parts = parts.iter().map(|it| match it {
            MessagePart::Text(it) => Some(Part::Text(it.clone())),
            MessagePart::Variable(it) => Some(Part::Variable(self.bound(it, "a message")?)),
            MessagePart::Reference(it) => {
                Some(Part::Reference(self.reference(it, Unbound::IsWrong("a message"))?))
            }
        });
        Some(Value::Message(parts.collect::<Option<Vec<_>>>()?))
    }
}

/// Returns where a part of a body stands.
fn place(literal: &syntax::Literal) -> Span {
    match literal {
        syntax::Literal::Holds(it) | syntax::Literal::Absent(it) => it.span,
        syntax::Literal::Aggregate { result, atom, .. } => result.span.to(atom.span),
        syntax::Literal::Refers { reference, equals, .. } => match equals {
            Some(equals) => reference.span.to(equals.span()),
            None => reference.span,
        },
        syntax::Literal::AggregateOf { result, reference, .. }
        | syntax::Literal::Member(result, reference) => result.span.to(reference.span),
        syntax::Literal::If(it) => it.span,
        syntax::Literal::Compute(variable, it) => variable.span.to(it.span),
        syntax::Literal::Let(variable, _) => variable.span,
        syntax::Literal::Compare(_, left, right) => left.span().to(right.span()),
    }
}

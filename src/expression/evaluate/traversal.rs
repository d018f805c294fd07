//! The value that a traversal leads to: what its root stands for, then step by step into it.

use super::super::reference::{is_type_keyword, parse_reference};
use super::super::splat::SplatSteps;
use super::super::{Ask, Reached, Subject, access, problems};
use super::{Evaluator, Names};
use crate::diagnostic::{Diagnostic, Diagnostics, Sort, Span};
use crate::syntax::{Expr, Expression, Root, Step};
use crate::value::{Marked, Str, Type, Value};

impl<'a> Evaluator<'a> {
    /// Returns the value of a traversal, or nothing where anything is wrong with it.
    pub fn traversal_value(&self, root: &Root, steps: &[Step], names: &Names<'_>) -> Option<Value> {
        let mut value = match names.find(&root.text) {
            Some(value) => (value.clone(), steps),
            None => {
                let reference = parse_reference(root, steps).ok()?;
                let (subject, span) = (reference.subject, reference.subject_span);
                let (key, rest) = self.instance_key(subject, reference.rest, names)?;
                let (key_value, part) = (key.value().as_ref(), first_part(rest));
                let near = reference.near();
                let ask = Ask { key: key_value, part, span, near, is_aside: true };
                (self.scope.lookup(subject, ask).ok()?.mark(key.marks()), rest)
            }
        };
        let whole = Expression { expr: Expr::Null, span: root.span };
        for step in std::mem::take(&mut value.1) {
            value.0 = self.step(&value.0, step, &whole, names)?.ok()?;
        }
        Some(value.0)
    }

    pub(super) fn traversal(
        &self,
        whole: &Expression,
        root: &Root,
        steps: &[Step],
        names: &Names<'_>,
    ) -> Value {
        let by_element = self.by_element.take();
        if let Some(value) = names.find(&root.text) {
            self.tread(&value.marks().reads);
            let value = self.follow(value.clone(), steps, whole, names);
            if !by_element {
                self.element_reached(&value, whole.span);
            }
            return value;
        }
        if is_type_keyword(root, steps) {
            self.report(problems::unknown_variable(&root.name()), whole, names);
            return Value::unknown(Type::DYNAMIC);
        }
        let reference = match parse_reference(root, steps) {
            Ok(reference) => reference,
            Err(problem) => {
                self.lasting.borrow_mut().push(problem);
                return Value::unknown(Type::DYNAMIC);
            }
        };
        let (subject, span) = (reference.subject, reference.subject_span);
        let Some((key, rest)) = self.instance_key(subject, reference.rest, names) else {
            return Value::unknown(Type::DYNAMIC);
        };
        let (key, key_marks) = (key.value().as_ref(), key.marks());
        let aside = self.aside.get() > 0;
        let span = match (&key, reference.rest.first()) {
            (Some(_), Some(step)) => span.to(step.span()),
            _ => span,
        };
        let ask =
            Ask { key, part: first_part(rest), span, near: reference.near(), is_aside: aside };
        let value = match self.scope.lookup(subject, ask) {
            Ok(value) => value.mark(key_marks),
            Err(problems) => {
                self.unresolved(problems, whole, names);
                return Value::unknown(Type::DYNAMIC).mark(key_marks);
            }
        };
        self.tread(&value.marks().reads);
        let is_partial = matches!(subject, Subject::Resource(..)) && self.scope.is_partial();
        let value = match is_partial {
            // What an object has besides what is written is not known, and no error.
            true => self.captured(|| self.follow(value, rest, whole, names)).0,
            false => self.follow(value, rest, whole, names),
        };
        if !aside {
            let value = &value;
            self.scope.reached(&Reached { reference: &reference, key, rest, value, by_element });
        }
        value
    }

    /// Tells what was taken of an element.
    pub(in crate::expression) fn element_reached(&self, value: &Value, span: Span) {
        if self.aside.get() == 0 {
            self.scope.reached_of_element(value, span);
        }
    }

    /// Sorts the problems of a look-up: a missing instance can be caught, anything else is told always.
    fn unresolved(&self, problems: Diagnostics, whole: &Expression, names: &Names<'_>) {
        for problem in problems {
            if problem.sort == Sort::InvalidIndex || !problem.is_error() {
                self.report(problem, whole, names);
            } else {
                self.lasting.borrow_mut().push(problem);
            }
        }
    }

    /// Takes the instance key off the steps after a resource or module call: the key if it is known, and the steps left. `None` where the key itself is wrong.
    fn instance_key<'s>(
        &self,
        subject: Subject<'_>,
        rest: &'s [Step],
        names: &Names<'_>,
    ) -> Option<(Marked<Option<Value>>, &'s [Step])> {
        if !matches!(subject, Subject::Resource(..) | Subject::Module(_)) {
            return Some((Marked::default(), rest));
        }
        let key = match rest.first() {
            Some(Step::Index(it)) => self.key(&it.key, names)?,
            Some(Step::LegacyIndex(it)) => legacy_key(it.index),
            _ => return Some((Marked::default(), rest)),
        };
        match key.bare() {
            Value::Number(_) | Value::String(_) => Some((key.into_marked().map(Some), &rest[1..])),
            _ => Some((Marked::default(), rest)),
        }
    }

    /// Evaluates a key; `None` where that fails.
    fn key(&self, key: &Expression, names: &Names<'_>) -> Option<Value> {
        let (value, problems) = self.captured(|| self.value(key, names));
        let failed = problems.iter().any(Diagnostic::is_error);
        self.keep(problems);
        (!failed).then_some(value)
    }

    /// Takes steps into a value; unknown where one fails.
    pub fn follow(
        &self,
        value: Value,
        steps: &[Step],
        whole: &Expression,
        names: &Names<'_>,
    ) -> Value {
        let mut value = value;
        for step in steps {
            match self.step(&value, step, whole, names) {
                Some(Ok(next)) => {
                    self.tread(&next.marks().reads);
                    value = next;
                }
                failed => {
                    // What was looked through decided that it fails.
                    self.tread(&value.deep_marks().reads);
                    if let Some(Err(problem)) = failed {
                        self.report(problem, whole, names);
                    }
                    return Value::unknown(Type::DYNAMIC).mark(&value.marks());
                }
            }
        }
        value
    }

    /// Takes one step; `None` where the key of an index could not be evaluated, and that has been reported.
    fn step(
        &self,
        value: &Value,
        step: &Step,
        whole: &Expression,
        names: &Names<'_>,
    ) -> Option<Result<Value, Diagnostic>> {
        Some(match step {
            Step::Attribute(name) => access::attribute(value, &name.text, with_dot(name.span)),
            Step::Index(it) => access::index(value, &self.key(&it.key, names)?, it.span),
            Step::LegacyIndex(it) => access::index(value, &legacy_key(it.index), with_dot(it.span)),
            Step::Splat(it) => {
                let steps = SplatSteps { each: &it.each, marker: it.marker, whole };
                Ok(self.splat_value(value.clone(), &steps, whole, names))
            }
        })
    }
}

/// The place of a name or number with the dot before it.
fn with_dot(name: Span) -> Span {
    name.starting_at(name.start().saturating_sub(1))
}

fn legacy_key(at: u64) -> Value {
    Value::int(i64::try_from(at).unwrap_or(i64::MAX))
}

/// The attribute that the first of these steps takes.
fn first_part(steps: &[Step]) -> Option<&Str> {
    match steps.first() {
        Some(Step::Attribute(name)) => Some(&name.text),
        _ => None,
    }
}

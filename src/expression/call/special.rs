//! Functions that are given expressions rather than values: `try`, `can`, `convert` and `type`.

use super::super::evaluate::{Evaluator, Names, failed};
use super::super::{print, problems, read_constraint, with_defaults};
use super::{Arguments, Given, Site, is_type_call};
use crate::diagnostic::Diagnostic;
use crate::syntax::{Call, Expr, Expression, Name};
use crate::value::{Marks, Type, Value};

/// What stands in the place of a function's name where a value is converted to the type of its output. No file can write it.
pub(super) const TYPED: &str = "the type of the output";

/// Returns an expression for the value of another one, converted to a type constraint.
pub fn typed(value: Expression, constraint: Expression) -> Expression {
    let span = value.span;
    let name = Name { text: TYPED.into(), span };
    let arguments = [value, constraint].into_iter().collect();
    Expression { expr: Expr::Call(Box::new(Call { name, arguments, expand: false })), span }
}

/// Returns the expression as it is written, without the conversion of [`typed`].
pub fn untyped(expression: &Expression) -> &Expression {
    match &expression.expr {
        Expr::Call(it) if &*it.name.text == TYPED => it.arguments.first().unwrap_or(expression),
        _ => expression,
    }
}

impl Evaluator<'_> {
    /// Checks the number of arguments of a function that looks at expressions.
    fn has_arguments(
        &self,
        site: &Site<'_>,
        arguments: &[Expression],
        parameters: &[&str],
        names: &Names<'_>,
    ) -> bool {
        let given = Arguments::Written(arguments);
        self.count_fits(site, &given, parameters.iter().copied(), false, names)
    }

    /// `try(a, b, …)`: the first argument that evaluates without error.
    pub(super) fn try_each(
        &self,
        site: &Site<'_>,
        arguments: &[Expression],
        names: &Names<'_>,
    ) -> Value {
        let mut all = Vec::new();
        let mut read = Marks::default();
        for (at, argument) in arguments.iter().enumerate() {
            let ((value, problems), trail) =
                self.trailed(|| self.attempted(|| self.value(argument, names)));
            if failed(&problems) {
                // That it failed is part of where the result comes from.
                read = read.union(&trail);
                all.extend(problems);
                continue;
            }
            if value.is_wholly_known() {
                return value.mark(&read);
            }
            // What is known may still turn into an error, or into something else, once all is known: and whether that is
            // sensitive is not known either.
            let others = arguments[at + 1..].iter().map(|it| self.unevaluated(it, names, &[]));
            let marks = Marks { sensitive: false, ..value.deep_marks() };
            return Value::unknown(Type::DYNAMIC).mark(&others.chain([read, marks]).collect());
        }
        let message = match all.is_empty() {
            true => "at least one argument is required".to_owned(),
            false => {
                let lines: Vec<String> = all.iter().map(|it| self.attempt(it)).collect();
                format!(
                    "no expression succeeded:\n{}\n\nAt least one expression must produce a successful result",
                    lines.join("\n")
                )
            }
        };
        self.fail(site, &message, None, names);
        Value::unknown(Type::DYNAMIC).mark(&read)
    }

    /// One failed argument of `try` in its message.
    fn attempt(&self, problem: &Diagnostic) -> String {
        let place = problem.subject.map(|it| self.scope.place(it)).filter(|it| !it.is_empty());
        let place = place.map(|it| format!(" (at {it})")).unwrap_or_default();
        format!("- {}{place}\n  {}", problem.summary, problem.detail)
    }

    /// `can(a)`: whether it evaluates without error.
    pub(super) fn can(
        &self,
        site: &Site<'_>,
        arguments: &[Expression],
        names: &Names<'_>,
    ) -> Value {
        if !self.has_arguments(site, arguments, &["expression"], names) {
            return Value::unknown(Type::DYNAMIC);
        }
        let ((value, problems), trail) =
            self.trailed(|| self.attempted(|| self.value(&arguments[0], names)));
        let reads = value.deep_marks().provenance().union(&trail);
        if failed(&problems) {
            return Value::Bool(false).mark(&reads);
        }
        if value.is_wholly_known() { Value::Bool(true) } else { Value::unknown(Type::BOOL) }
            .mark(&reads)
    }

    /// `convert(value, type)`: the second argument is a type constraint.
    pub(super) fn convert_to(
        &self,
        site: &Site<'_>,
        arguments: &[Expression],
        names: &Names<'_>,
    ) -> Value {
        if !self.has_arguments(site, arguments, &["value", "type"], names) {
            return Value::unknown(Type::DYNAMIC);
        }
        let (value, problems) = self.captured(|| self.value(&arguments[0], names));
        let wrong = failed(&problems);
        self.keep(problems);
        let (constraint, problems) = read_constraint(&arguments[1]);
        let wrong = wrong || problems.has_errors();
        self.keep(problems.0);
        if wrong {
            return Value::unknown(Type::DYNAMIC);
        }
        with_defaults(&value, constraint.ty, constraint.defaults.as_ref()).unwrap_or_else(|why| {
            self.blame(site, "value", why.words(), Given::Written(&arguments[0]), names);
            Value::unknown(Type::DYNAMIC)
        })
    }

    /// The value of an output that has a type: see [`typed`].
    pub(super) fn of_type(&self, arguments: &[Expression], names: &Names<'_>) -> Value {
        let [value, constraint] = arguments else { return Value::unknown(Type::DYNAMIC) };
        // What is wrong with the constraint was told when the block was read.
        let constraint = read_constraint(constraint).0;
        let (found, problems) = self.captured(|| self.value(value, names));
        let wrong = failed(&problems);
        self.keep(problems);
        if wrong {
            return Value::unknown(constraint.ty);
        }
        with_defaults(&found, constraint.ty, constraint.defaults.as_ref()).unwrap_or_else(|why| {
            self.report(problems::unsuitable_output(why.words(), value.span), value, names);
            Value::unknown(constraint.ty)
        })
    }

    /// `type(value)` of the console: the type as text.
    pub(super) fn type_of(
        &self,
        site: &Site<'_>,
        arguments: &[Expression],
        names: &Names<'_>,
    ) -> Value {
        if !self.has_arguments(site, arguments, &["value"], names) {
            return Value::unknown(Type::DYNAMIC);
        }
        let value = self.value(&arguments[0], names);
        // What it gives is a type itself, of which all that can be told is that it is one.
        if is_type_call(&arguments[0]) {
            return Value::from("type");
        }
        let (ty, marks) = (value.ty(), value.deep_marks());
        // The type of an object names its attributes, of which some may be secret.
        let kept = if ty.is_primitive() { marks.provenance() } else { marks };
        Value::string(print::format_type(ty)).mark(&kept)
    }
}

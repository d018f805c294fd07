//! An expression whose value nobody wants, but what it reads: functions are not called, and nothing is put together.

use super::evaluate::{Evaluator, Names, failed};
use super::{Scope, call};
use crate::diagnostic::Diagnostics;
use crate::stack::deeper;
use crate::syntax::{Expr, Expression, Part};
use crate::value::convert::convert;
use crate::value::{Str, Type, Value};

/// Goes through an expression as [`evaluate_with`](super::evaluate_with) does, for what the scope is asked on the way.
/// Where it depends on a value what is read, that value is made.
///
/// Returns the problems of what was evaluated: that a function would fail is not found.
pub fn go_through(
    expression: &Expression,
    scope: &dyn Scope,
    bindings: &[(Str, Value)],
) -> Diagnostics {
    let evaluator = Evaluator::new(scope, 0, 0);
    evaluator.through(expression, &Names::of(bindings));
    evaluator.into_problems()
}

impl Evaluator<'_> {
    fn through(&self, expression: &Expression, names: &Names<'_>) {
        if self.enter(expression) {
            deeper(|| self.through_here(expression, names));
            self.leave();
        }
    }

    fn through_here(&self, expression: &Expression, names: &Names<'_>) {
        match &expression.expr {
            Expr::Traversal(_) => drop(self.value(expression, names)),
            Expr::Call(it) if call::reads_its_arguments(it) => {
                it.arguments.iter().for_each(|it| self.through(it, names))
            }
            Expr::Conditional(it) => {
                let (test, found) = self.captured(|| self.value(&it.condition, names));
                let decided = convert(&test, Type::BOOL).ok().and_then(|it| it.as_bool());
                match decided.filter(|_| !failed(&found)) {
                    Some(true) => self.through(&it.yes, names),
                    Some(false) => self.through(&it.no, names),
                    None => drop(self.value(expression, names)),
                }
            }
            _ if !expression.takes_all_parts() => drop(self.value(expression, names)),
            Expr::Template(parts) => {
                for part in parts {
                    if let Part::Interpolation(it) = part {
                        self.through(it, names);
                    }
                }
            }
            Expr::Wrapped(it) | Expr::Parentheses(it) | Expr::Unary(_, it) => {
                self.through(it, names)
            }
            Expr::Relative(it) => self.through(&it.source, names),
            Expr::Binary(_, left, right) => {
                self.through(left, names);
                self.through(right, names);
            }
            Expr::Tuple(items) => items.iter().for_each(|it| self.through(it, names)),
            Expr::Object(items) => items.iter().for_each(|it| self.through(&it.value, names)),
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::String(_) => {}
            _ => drop(self.value(expression, names)),
        }
    }
}

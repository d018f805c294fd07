//! The types of variables.

use crate::expression::{Constraint, read_constraint};
use crate::syntax::{Expr, Expression};
use crate::value::Type;

use super::decode::Decoder;
use super::problems;

/// Reads `type = …` of a variable. Older forms are known: `list` and `map` alone, and (only to be refused) quoted types.
pub(super) fn variable_type(decoder: &mut Decoder, expression: &Expression) -> Constraint {
    if let (Expr::String(text), false) = (&expression.expr, decoder.file.is_json) {
        decoder.report(problems::quoted_type(text, expression.span));
        return Constraint::ANY;
    }
    if decoder.complains_of_wrapping("Invalid type specification", expression) {
        return Constraint::ANY;
    }
    let Some(expression) = decoder.written(expression) else { return Constraint::ANY };
    match expression.as_keyword() {
        Some("list") => Constraint::of(Type::list(Type::DYNAMIC)),
        Some("map") => Constraint::of(Type::map(Type::DYNAMIC)),
        _ => {
            let (constraint, problems) = read_constraint(&expression);
            decoder.problems.extend(problems);
            constraint
        }
    }
}

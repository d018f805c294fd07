//! The types of variables and outputs.

use crate::expression::{Constraint, read_constraint};
use crate::syntax::{Expr, Expression};
use crate::value::Type;

use super::decode::Decoder;
use super::problems;

/// Reads `type = …` of a variable. Older forms are known: `list` and `map` alone, and (only to be refused) quoted types.
pub(super) fn variable_type(decoder: &mut Decoder, expression: &Expression) -> Constraint {
    let Some(expression) = written_type(decoder, expression) else { return Constraint::ANY };
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

/// Reads `type = …` of an output: the constraint as it is written, once it is known to be one.
pub(super) fn output_type(decoder: &mut Decoder, expression: &Expression) -> Option<Expression> {
    let expression = written_type(decoder, expression)?;
    let problems = read_constraint(&expression).1;
    let is_type = !problems.has_errors();
    decoder.problems.extend(problems);
    is_type.then_some(expression)
}

/// Returns a type as it is written: of JSON what stands in the string. Quotes elsewhere are refused.
fn written_type(decoder: &mut Decoder, expression: &Expression) -> Option<Expression> {
    if let (Expr::String(text), false) = (&expression.expr, decoder.file.is_json) {
        decoder.report(problems::quoted_type(text, expression.span));
        return None;
    }
    if decoder.complains_of_wrapping("Invalid type specification", expression) {
        return None;
    }
    decoder.written(expression)
}

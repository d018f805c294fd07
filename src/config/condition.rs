//! `validation`, `precondition`, `postcondition` and `assert`.

use crate::address::ResourceName;
use crate::expression::{Subject, references_of};
use crate::syntax::{Block, Expr, Expression};

use super::decode::{Decoder, Schema};
use super::{Condition, problems};

const CONDITION: Schema = Schema {
    attributes: &["condition", "error_message"],
    required: &["condition", "error_message"],
    blocks: &[],
};

/// Reads one condition, or nothing where something is missing.
pub(super) fn condition(decoder: &mut Decoder, block: &Block) -> Option<Condition> {
    if decoder.file.is_override {
        decoder.report(problems::cannot_override_check(&block.kind.text, block.header));
        return None;
    }
    let content = decoder.content(block, &CONDITION);
    if let Some(condition) = content.get("condition")
        && is_about_nothing(&condition.value)
    {
        decoder.report(problems::constant_condition(&block.kind.text, condition.value.span));
    }
    Some(Condition {
        condition: content.value("condition")?,
        error_message: content.value("error_message")?,
        declared: block.header,
    })
}

/// Returns whether an expression refers to nothing. A reference that cannot be read counts: it is reported elsewhere.
fn is_about_nothing(expression: &Expression) -> bool {
    let (references, problems) = references_of(expression);
    references.is_empty() && problems.is_empty()
}

/// Complains of a validation that does not look at the variable it validates.
pub(super) fn check_validation(decoder: &mut Decoder, variable: &str, condition: &Condition) {
    let (references, _) = references_of(&condition.condition);
    if !references
        .iter()
        .any(|it| matches!(it.subject, Subject::Variable(name) if name == variable))
    {
        decoder.report(problems::aimless_validation(variable, condition.condition.span));
    }
}

/// Complains of a condition that names the very resource it belongs to, which it must call `self`.
pub(super) fn check_self(
    decoder: &mut Decoder,
    kind: &str,
    owner: &ResourceName,
    condition: &Condition,
) {
    for expression in [&condition.condition, &condition.error_message] {
        let (references, _) = references_of(expression);
        let names_owner = |it: Subject<'_>| matches!(it, Subject::Resource(name) if *owner == name);
        if references.iter().any(|it| names_owner(it.subject)) {
            decoder.report(problems::condition_on_itself(
                kind,
                &owner.to_string(),
                expression.span,
            ));
        }
    }
}

/// What stands for an expression that is missing, after the problem was told.
pub(super) fn missing_expression(block: &Block) -> Expression {
    Expression { expr: Expr::Null, span: block.header }
}

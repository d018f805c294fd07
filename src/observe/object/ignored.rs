//! Changes that a block asks to ignore: which they are, and the configuration as if they had not been made.

use super::ObjectContext;
use crate::config;
use crate::schema;
use crate::syntax::{Expression, Step};
use crate::value::{Path, PathStep, Value};

/// The configuration as if ignored changes had not been made, neither of values nor of what is sensitive in them; `None` where
/// nothing is ignored.
pub(super) fn without_ignored(
    prior: &Value,
    config: &Value,
    subject: &ObjectContext<'_>,
) -> Option<Value> {
    let block = &subject.schema.block;
    match &subject.block.besides.lifecycle.ignore_changes {
        config::IgnoreChanges::None => None,
        config::IgnoreChanges::All => {
            Some(schema::apply_ignore_changes(prior, config, schema::Ignored::All, block))
        }
        config::IgnoreChanges::Paths(expressions) => {
            let paths: Vec<Path> = expressions.iter().filter_map(written_path).collect();
            let ignored = schema::Ignored::Paths(&paths);
            Some(schema::apply_ignore_changes(prior, config, ignored, block))
        }
    }
}

/// What a provider with the old type system planned, without its changes to what is ignored: it may make another value of one
/// that it was given, such as a hash.
pub(super) fn with_ignored_kept(
    prior: &Value,
    planned: Value,
    subject: &ObjectContext<'_>,
) -> Value {
    match &subject.block.besides.lifecycle.ignore_changes {
        config::IgnoreChanges::All if !prior.is_null() => prior.clone(),
        _ => without_ignored(prior, &planned, subject).unwrap_or(planned),
    }
}

/// Returns the path that a traversal of names and literal keys writes out.
pub fn written_path(expression: &Expression) -> Option<Path> {
    let (root, steps) = expression.as_traversal()?;
    let first = PathStep::Attribute(root.text.clone());
    let rest = steps.iter().map(Step::as_written);
    std::iter::once(Some(first)).chain(rest).collect()
}

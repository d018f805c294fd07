//! Which of the paths that a provider names really force a replacement.

use super::BlockSchema;
use crate::value::{Path, PathError, Type, Value, path, unknown};

/// Keeps the paths whose values change: those forced to be replaced by.
///
/// - `prior`: what exists; null when creating, and then nothing is replaced.
/// - A path to a write-only attribute is kept too: its values are never seen.
/// - The errors are paths that exist in neither value.
///
/// Marks do not count.
pub fn requires_replace(
    schema: &BlockSchema,
    prior: &Value,
    planned: &Value,
    paths: &[Path],
) -> Result<Vec<Path>, Vec<PathError>> {
    if prior.is_null() || paths.is_empty() {
        return Ok(Vec::new());
    }
    let (mut kept, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match changes(prior, planned, path) {
            None => errors.push(PathError::new(path, "requires replacement, but does not exist")),
            Some(changed)
                if changed || schema.attribute_at(path).is_some_and(|it| it.write_only) =>
            {
                kept.push(path.clone());
            }
            Some(_) => {}
        }
    }
    if errors.is_empty() { Ok(kept) } else { Err(errors) }
}

/// Whether the values at a path differ, or may; `None` where there is neither.
fn changes(prior: &Value, planned: &Value, at: &Path) -> Option<bool> {
    let (before, after) = (path::get(prior, at), path::get(planned, at));
    let ty = before.as_ref().or(after.as_ref())?.ty();
    let bare = |it: Option<Value>| it.unwrap_or(Value::Null(ty)).to_plain();
    Some(unknown::known_equality(&bare(before), &bare(after)) != Some(true))
}

/// Returns whether two objects are equal for certain, marks aside.
pub fn is_unchanged(prior: &Value, planned: &Value) -> bool {
    let (prior, planned) = (prior.to_plain(), planned.to_plain());
    prior.ty() != Type::DYNAMIC && unknown::known_equality(&prior, &planned) == Some(true)
}

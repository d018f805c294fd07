//! Everything that can be wrong with a body, one function each.

use crate::diagnostic::{Diagnostic, Span};
use crate::value::Type;

fn problem(summary: impl Into<String>, detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

/// Blocks nest deeper than any schema.
pub(super) fn too_deep(at: Span) -> Diagnostic {
    problem("Blocks too deeply nested", "These blocks are nested deeper than can be decoded.", at)
}

/// The value of an argument has the wrong type.
pub fn wrong_type(name: &str, why: &str, at: Span) -> Diagnostic {
    problem(
        "Incorrect attribute value type",
        format!("Inappropriate value for attribute {name:?}: {why}."),
        at,
    )
}

/// Corresponding arguments of blocks have different types.
pub(super) fn uneven_blocks(name: &str, at: Span) -> Diagnostic {
    problem(
        format!("Unconsistent argument types in {name} blocks"),
        "Corresponding attributes in all blocks of this type must be the same.",
        at,
    )
}

/// Two blocks have one label.
pub(super) fn repeated_label(name: &str, label: &str, at: Span) -> Diagnostic {
    problem(
        format!("Duplicate {name} block"),
        format!(
            "A block for {name} {label:?} was already defined. The {name} labels must be unique."
        ),
        at,
    )
}

/// Several blocks where one is allowed.
pub(super) fn one_block_only(name: &str, at: Span) -> Diagnostic {
    problem(
        format!("Duplicate {name} block"),
        format!("Only one block of type {name:?} is allowed."),
        at,
    )
}

/// No block where one is required.
pub(super) fn missing_block(name: &str, at: Span) -> Diagnostic {
    problem(
        format!("Missing {name} block"),
        format!("A block of type {name:?} is required here."),
        at,
    )
}

/// Fewer blocks than required.
pub(super) fn too_few_blocks(name: &str, least: u64, at: Span) -> Diagnostic {
    problem(
        format!("Insufficient {name} blocks"),
        format!("At least {least} {name:?} blocks are required."),
        at,
    )
}

/// More blocks than allowed.
pub(super) fn too_many_blocks(name: &str, most: u64, at: Span) -> Diagnostic {
    problem(
        format!("Too many {name} blocks"),
        format!("No more than {most} {name:?} blocks are allowed"),
        at,
    )
}

/// `dynamic` of a block that does not exist.
pub(super) fn unknown_dynamic(name: &str, at: Span) -> Diagnostic {
    problem("Unsupported block type", format!("Blocks of type {name:?} are not expected here."), at)
}

/// The `iterator` of a dynamic block is no name.
pub(super) fn bad_iterator(at: Span) -> Diagnostic {
    problem("Invalid dynamic iterator name", "Dynamic iterator must be a single variable name.", at)
}

/// The `for_each` of a dynamic block is a string and the like.
pub(super) fn bad_for_each(ty: Type, at: Span) -> Diagnostic {
    problem(
        "Invalid dynamic for_each value",
        format!(
            "Cannot use a {} value in for_each. An iterable collection is required.",
            ty.friendly_name()
        ),
        at,
    )
}

/// The `for_each` of a dynamic block is null.
pub(super) fn null_for_each(at: Span) -> Diagnostic {
    problem("Invalid dynamic for_each value", "Cannot use a null value in for_each.", at)
}

/// The `labels` of a dynamic block are too many or too few.
pub(super) fn wrong_label_count(name: &str, wanted: usize, too_many: bool, at: Span) -> Diagnostic {
    let summary = if too_many {
        "Extraneous dynamic block label"
    } else {
        "Insufficient dynamic block labels"
    };
    problem(summary, format!("Blocks of type {name:?} require {wanted} label(s)."), at)
}

/// A label of a dynamic block cannot be used.
pub(super) fn bad_label(why: impl Into<String>, at: Span) -> Diagnostic {
    problem("Invalid dynamic block label", why, at)
}

/// A dynamic block without content.
pub(super) fn no_content(at: Span) -> Diagnostic {
    problem(
        "Missing dynamic content block",
        "A dynamic block must have a nested block of type \"content\" to describe the body of each generated block.",
        at,
    )
}

/// A dynamic block with several contents.
pub(super) fn second_content(at: Span) -> Diagnostic {
    problem(
        "Extraneous dynamic content block",
        "Only one nested content block is allowed for each dynamic block.",
        at,
    )
}

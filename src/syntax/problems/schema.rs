//! What can be wrong with a JSON text, and with a body against the schema that its reader gives.

use super::error;
use crate::diagnostic::{Diagnostic, Span};

/// Any mistake in the form of a JSON text.
pub(in crate::syntax) fn json(summary: &str, detail: &str, at: Span) -> Diagnostic {
    error(at, summary, detail)
}

pub(in crate::syntax) fn json_root(at: Span) -> Diagnostic {
    let detail = "The root value of a configuration in JSON must be either a JSON object or a JSON array of objects.";
    error(at, "Root value must be object", detail)
}

pub(in crate::syntax) fn json_keyword(given: &str, at: Span) -> Diagnostic {
    if matches!(given, "undefined" | "NaN" | "Infinity") {
        let detail = format!("The JavaScript identifier \"{given}\" cannot be used in JSON.");
        return error(at, "Invalid JSON keyword", &detail);
    }
    let hint = did_you_mean(given, &["false", "true", "null"]);
    error(at, "Invalid JSON keyword", &format!("\"{given}\" is not a valid JSON keyword.{hint}"))
}

pub(in crate::syntax) fn json_string(at: Span) -> Diagnostic {
    error(at, "Invalid JSON string", "There is a syntax error in the given JSON string.")
}

/// Returns ` Did you mean "x"?` where one of the names is close.
pub(super) fn did_you_mean(given: &str, names: &[&str]) -> String {
    let near = names.iter().find(|it| strsim::levenshtein(given, it) < 3);
    near.map(|it| format!(" Did you mean \"{it}\"?")).unwrap_or_default()
}

pub(in crate::syntax) fn missing_argument(name: &str, at: Span) -> Diagnostic {
    let detail = format!("The argument \"{name}\" is required, but no definition was found.");
    error(at, "Missing required argument", &detail)
}

pub(in crate::syntax) fn unsupported_argument(
    name: &str,
    names: &[&str],
    blocks: &[&str],
    at: Span,
) -> Diagnostic {
    let mut hint = did_you_mean(name, names);
    if hint.is_empty() && blocks.contains(&name) {
        hint = format!(" Did you mean to define a block of type \"{name}\"?");
    }
    error(
        at,
        "Unsupported argument",
        &format!("An argument named \"{name}\" is not expected here.{hint}"),
    )
}

pub(in crate::syntax) fn unsupported_block(
    kind: &str,
    blocks: &[&str],
    names: &[&str],
    at: Span,
) -> Diagnostic {
    let mut hint = did_you_mean(kind, blocks);
    if hint.is_empty() && names.contains(&kind) {
        hint = format!(
            " Did you mean to define argument \"{kind}\"? If so, use the equals sign to assign it a value."
        );
    }
    error(
        at,
        "Unsupported block type",
        &format!("Blocks of type \"{kind}\" are not expected here.{hint}"),
    )
}

pub(in crate::syntax) fn extraneous_property(
    name: &str,
    names: &[&str],
    at: Span,
    whole: Span,
) -> Diagnostic {
    let detail =
        format!("No argument or block type is named \"{name}\".{}", did_you_mean(name, names));
    error(at, "Extraneous JSON object property", &detail).within(whole)
}

pub(in crate::syntax) fn unexpected_block(kind: &str, at: Span) -> Diagnostic {
    error(at, &format!("Unexpected \"{kind}\" block"), "Blocks are not allowed here.")
}

pub(in crate::syntax) fn extraneous_label(
    kind: &str,
    labels: &[&str],
    at: Span,
    whole: Span,
) -> Diagnostic {
    let detail = match labels {
        [] => format!("No labels are expected for {kind} blocks."),
        _ => format!(
            "Only {} labels ({}) are expected for {kind} blocks.",
            labels.len(),
            labels.join(", ")
        ),
    };
    error(at, &format!("Extraneous label for {kind}"), &detail).within(whole)
}

pub(in crate::syntax) fn missing_label(
    label: &str,
    kind: &str,
    labels: &[&str],
    at: Span,
    whole: Span,
) -> Diagnostic {
    let detail =
        format!("All {kind} blocks must have {} labels ({}).", labels.len(), labels.join(", "));
    error(at, &format!("Missing {label} for {kind}"), &detail).within(whole)
}

pub(in crate::syntax) fn duplicate_argument(name: &str, at: Span) -> Diagnostic {
    error(
        at,
        "Duplicate argument",
        &format!("The argument \"{name}\" was already set in this object."),
    )
}

pub(in crate::syntax) fn duplicate_definition(name: &str, at: Span) -> Diagnostic {
    error(
        at,
        "Duplicate attribute definition",
        &format!("The argument \"{name}\" was already set in this object."),
    )
}

pub(in crate::syntax) fn duplicate_property(name: &str, at: Span) -> Diagnostic {
    error(
        at,
        "Duplicate object attribute",
        &format!("An attribute named \"{name}\" was already defined in this object."),
    )
}

pub(in crate::syntax) fn missing_json_label(label: &str, kind: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "At least one object property is required, whose name represents the {kind} block's {label}."
    );
    error(at, "Missing block label", &detail)
}

pub(in crate::syntax) fn json_block_type(kind: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "Either a JSON object or a JSON array is required, for the contents of one or more \"{kind}\" blocks."
    );
    error(at, "Incorrect JSON value type", &detail)
}

pub(in crate::syntax) fn json_object_required(label: Option<&str>, at: Span) -> Diagnostic {
    let purpose = match label {
        Some(label) => format!("to specify {label} labels for this block"),
        None => "to define arguments and child blocks".to_owned(),
    };
    let detail =
        format!("Either a JSON object or JSON array of objects is required here, {purpose}.");
    error(at, "Incorrect JSON value type", &detail)
}

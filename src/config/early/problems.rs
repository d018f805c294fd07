//! Everything that can be wrong with a value that must be known before there is a plan, one function each.

use crate::config::Variable;
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::Name;

use super::Named;

fn error(summary: impl Into<String>, detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

/// A resource, a repetition's key or the like: only a run decides it.
pub(super) fn dynamic(what: &str, needed_by: &str, at: Span) -> Diagnostic {
    let detail =
        format!("Unable to use {what} in static context, which is required by {needed_by}");
    error("Dynamic value in static context", detail, at)
}

/// An output of a module.
pub(super) fn module_output(what: &str, needed_by: &str, at: Span) -> Diagnostic {
    let detail =
        format!("Unable to use {what} in static context, which is required by {needed_by}");
    error("Module output not supported in static context", detail, at)
}

/// A function of a provider, which does not run yet.
pub(super) fn provider_function(name: &Name, needed_by: &str) -> Diagnostic {
    let detail =
        format!("Unable to use {} in static context, which is required by {needed_by}", name.text);
    error("Provider function in static context", detail, name.span)
}

/// `path.x`
pub(super) fn path_attribute(name: &str, suggestion: Option<&str>, at: Span) -> Diagnostic {
    let hint = suggestion.map_or(String::new(), |it| format!(" Did you mean {it:?}?"));
    let detail = format!("The \"path\" object does not have an attribute named {name:?}.{hint}");
    error("Invalid \"path\" attribute", detail, at)
}

/// `terraform.x`
pub(super) fn terraform_attribute(name: &str, at: Span) -> Diagnostic {
    let detail = match name {
        "env" => "The attribute terraform.env was removed long ago. The name of the current workspace is terraform.workspace.".to_owned(),
        name => format!("The \"terraform\" object does not have an attribute named {name:?}. The only one that is known this early is terraform.workspace, the name of the currently-selected workspace."),
    };
    error("Invalid \"terraform\" attribute", detail, at)
}

/// `terraform.applying`
pub(super) fn applying(at: Span) -> Diagnostic {
    let detail = "The attribute terraform.applying has a value only while planning and applying, and this value is needed before.";
    error("Invalid attribute in static context", detail, at)
}

/// A variable or local that is not declared.
pub(super) fn undefined(kind: &str, name: &Named, at: Span) -> Diagnostic {
    error(format!("Undefined {kind}"), format!("Undefined {kind} {name}"), at)
}

/// A variable with `const = false`.
pub(super) fn never_static(name: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The variable {name:?} cannot be used in a static context, because it is declared as \"const = false\"."
    );
    error("Unable to use variable in static context", detail, at)
}

/// A value that rests on itself.
pub(super) fn circular(name: &str, at: Span) -> Diagnostic {
    error("Circular reference", format!("{name} is self referential"), at)
}

/// What rests on a value that cannot be had.
pub(super) fn not_available(needed_by: &str, name: &str, at: Span) -> Diagnostic {
    let detail = format!("{needed_by} depends on {name} which is not available");
    error("Unable to compute static value", detail, at)
}

/// A call does not give what its module needs.
pub(super) fn missing_input(at: Span) -> Diagnostic {
    error("Missing required variable in module call", "", at)
}

/// A root variable has no value, and the user is not asked.
pub(super) fn not_asked(variable: &Variable) -> Diagnostic {
    let name = &variable.name.text;
    error(
        format!("Failed to request input from user for variable var.{name}"),
        "",
        variable.declared,
    )
}

/// A value does not fit its variable's type.
pub(super) fn unsuitable(variable: &Variable, place: &str, why: &str) -> Diagnostic {
    let why = why.strip_suffix('.').unwrap_or(why);
    let detail = format!(
        "The given value is not suitable for var.{} declared at {place}: {why}.",
        variable.name.text
    );
    Diagnostic::error("Invalid value for input variable").detail(detail)
}

/// Null for a variable that must not be null.
pub(super) fn null_value(variable: &Variable, place: &str) -> Diagnostic {
    let detail = format!(
        "The given value is not suitable for var.{} defined at {place}: required variable may not be set to null.",
        variable.name.text
    );
    error("Required variable not set", detail, variable.declared)
}

/// A reference that only showed itself during evaluation.
pub(super) fn unexpected(at: Span) -> Diagnostic {
    error(
        "Dynamic value in static context",
        "This value is not known before there is a plan, and is needed before.",
        at,
    )
}

/// Something that OpenTofu has and entail has not: `what` begins a sentence.
pub fn not_yet(summary: &str, what: &str, at: Span) -> Diagnostic {
    error(
        summary,
        format!(
            "{what} is not supported yet. Its settings were evaluated, and nothing was read or written."
        ),
        at,
    )
}

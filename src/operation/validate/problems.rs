//! Everything that only `validate` finds wrong, one function each.

use crate::address::{Mode, ResourceName};
use crate::config;
use crate::diagnostic::{Diagnostic, Sort, Span};
use crate::schema::ProviderSchema;
use crate::value::{Deprecation, Path, path::ShowPath};
use crate::world::PRODUCT;

/// The provider does not know the type.
pub(super) fn unknown_type(resource: &config::Resource, provider: &ProviderSchema) -> Diagnostic {
    let kind = &*resource.name.kind;
    let (summary, what) = match resource.name.mode {
        Mode::Managed => ("Invalid resource type", "resource type"),
        Mode::Data => ("Invalid data source", "data source"),
        Mode::Ephemeral => ("Invalid ephemeral resource", "ephemeral resource"),
    };
    let own = block_word(resource.name.mode);
    let knows = |mode: &Mode| match mode {
        Mode::Managed => provider.resources.contains_key(kind),
        Mode::Data => provider.data_sources.contains_key(kind),
        Mode::Ephemeral => provider.ephemeral.contains_key(kind),
    };
    let other =
        [Mode::Managed, Mode::Data, Mode::Ephemeral].into_iter().find(knows).map(block_word);
    let near = config::suggest(kind, provider.resources.keys().map(|it| &**it));
    let hint = match (other, near) {
        (Some(other), _) => format!(
            "\n\nDid you intend to use a block of type \"{other}\" {kind:?}? If so, declare this using a block of type \"{other}\" instead of one of type \"{own}\"."
        ),
        (None, Some(near)) => format!(" Did you mean {near:?}?"),
        (None, None) => String::new(),
    };
    Diagnostic::error(summary)
        .detail(format!(
            "The provider {} does not support {what} {kind:?}.{hint}",
            resource.provider_source.short()
        ))
        .at(resource.labels.0)
}

fn block_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Managed => "resource",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
    }
}

/// `ignore_changes` names what only the provider decides.
pub(super) fn redundant_ignore(path: &Path, at: Span) -> Diagnostic {
    Diagnostic::warning("Redundant ignore_changes element").at(at).detail(format!(
        "Adding an attribute name to ignore_changes tells {PRODUCT} to ignore future changes to the argument in configuration after the object has been created, retaining the value originally configured.\n\nThe attribute {} is decided by the provider alone and therefore there can be no configured value to compare with. Including this attribute in ignore_changes has no effect. Remove the attribute from ignore_changes to quiet this warning.",
        ShowPath(path).to_string().trim_start_matches('.')
    ))
}

/// A constant `prevent_destroy` that is no bool.
pub(super) fn bad_prevent_destroy(name: &ResourceName, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid value for prevent_destroy").at(at).detail(format!(
        "Resource instance {name} has an invalid value for its prevent_destroy argument: {why}."
    ))
}

/// A variable that its module's author advises against is given a value.
pub(super) fn deprecated_variable(variable: Deprecation, at: Span) -> Diagnostic {
    let (name, advice) = (&*variable.source, &variable.advice);
    let detail =
        format!("Variable {name:?} is marked as deprecated with the following message:\n{advice}");
    Diagnostic::warning("Variable marked as deprecated by the module author")
        .detail(detail)
        .at(at)
        .sort(Sort::Deprecated(Box::new(variable)))
}

/// A value that is never stored, given out by something that is.
pub(super) fn ephemeral_output(at: Span) -> Diagnostic {
    Diagnostic::error("Output does not allow ephemeral value")
        .detail("The value that was generated for the output is ephemeral, but it is not configured to allow one.")
        .at(at)
}

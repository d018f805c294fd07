//! What can be wrong with the settings of encryption.

use crate::diagnostic::{Diagnostic, Sort, Span};

use super::settings::Named;

/// Two parts have one name.
pub(super) fn twice(what: &str, (kind, name): &Named, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Duplicate {what}"))
        .detail(format!("Found multiple instances of {what}.{kind}.{name}. Rename one of them."))
        .at(at)
}

pub(super) fn remote_twice(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Duplicate remote_data_source")
        .detail(format!("Found multiple instances of remote_data_source.{name}. Remove one."))
        .at(at)
}

pub(super) fn block_twice(kind: &str, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Duplicate {kind} block"))
        .detail(format!("Only one {kind} block is allowed here."))
        .at(at)
}

pub(super) fn constant(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Unsuitable value type")
        .detail(format!("The argument \"{name}\" must be a constant of its type."))
        .at(at)
}

pub(super) fn unsuitable(name: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Unsuitable value type")
        .detail(format!("Inappropriate value for \"{name}\": {why}."))
        .at(at)
}

pub(super) fn no_method(at: Span) -> Diagnostic {
    Diagnostic::error("Invalid encryption method identifier")
        .detail("Expected method of form method.<type>.<name>, such as method.aes_gcm.main.")
        .at(at)
}

pub(super) fn undeclared_method((kind, name): &Named, at: Span) -> Diagnostic {
    Diagnostic::error("Reference to undeclared encryption method")
        .detail(format!(
            "There is no method {kind:?} {name:?} block declared in the encryption block."
        ))
        .at(at)
}

pub(super) fn undeclared_key((kind, name): &Named, at: Span) -> Diagnostic {
    Diagnostic::error("Reference to undeclared key provider")
        .detail(format!(
            "There is no key_provider {kind:?} {name:?} block declared in the encryption block."
        ))
        .at(at)
}

pub(super) fn no_key(at: Span) -> Diagnostic {
    Diagnostic::error("Expected key_provider value")
        .detail("Keys come from a key provider: write key_provider.<type>.<name> here.")
        .at(at)
}

/// Keys rest on each other in a circle.
pub(super) fn circle(around: &[Named]) -> Diagnostic {
    let names: Vec<String> =
        around.iter().map(|it| format!("key_provider.{}.{}", it.0, it.1)).collect();
    Diagnostic::error("Circular reference detected").detail(format!(
        "Cannot load {} due to circular reference between key providers: {}.",
        names.first().map_or("", String::as_str),
        names.join(" -> ")
    ))
}

pub(super) fn unknown_key_kind(kind: &str, known: &str, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Error fetching key_provider {kind:?}"))
        .detail(format!("There is no key_provider of the type {kind:?}. There are {known}."))
        .at(at)
}

/// The kind is part of a feature that this program was built without.
pub(super) fn left_out(kind: &str, feature: &str, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Error fetching key_provider {kind:?}"))
        .detail(format!(
            "This program was built without the key provider {kind:?}, which is part of the feature `{feature}`. Use a program that has it."
        ))
        .at(at)
}

pub(super) fn unknown_method_kind(kind: &str, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Error fetching encryption method {kind:?}"))
        .detail(format!("There is no encryption method of the type {kind:?}. There are aes_gcm, external and unencrypted."))
        .at(at)
}

pub(super) fn forbidden(at: Span) -> Diagnostic {
    Diagnostic::error("Unencrypted method is forbidden")
        .detail("Unable to use unencrypted method since the enforced flag is set. Remove one of the two.")
        .at(at)
}

pub(super) fn unencrypted(at: Span) -> Diagnostic {
    Diagnostic::warning("Unencrypted method configured")
        .detail("Method unencrypted is present in configuration. This is a security risk and should only be enabled during migrations.")
        .sort(Sort::Unencrypted)
        .at(at)
}

/// The arguments of a key provider make no sense.
pub(super) fn no_key_data(name: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Unable to build encryption key data")
        .detail(format!("{name} failed with error: {why}."))
        .at(at)
}

/// The arguments of a method make no sense.
pub(super) fn no_method_data(why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid method configuration").detail(format!("{why}.")).at(at)
}

/// Two key providers of one method would keep what they need under one name.
pub(super) fn duplicate_metadata(key: &str) -> Diagnostic {
    Diagnostic::error("Duplicate metadata key").detail(format!(
        "The metadata key {key} is duplicated across multiple key providers for the same method. Give each an \
         encrypted_metadata_alias of its own."
    ))
}

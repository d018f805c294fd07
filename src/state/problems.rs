//! Everything that can be wrong with a state file, one function each.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::world::PRODUCT;

/// The file is no state at all, or of a format that is not known.
pub(super) fn unsupported(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Unsupported state file format").detail(detail)
}

/// The text is not JSON.
pub(super) fn not_json(offset: usize) -> Diagnostic {
    unsupported(format!(
        "The state file could not be parsed as JSON: syntax error at byte offset {offset}."
    ))
}

/// The file is encrypted.
pub(super) fn encrypted() -> Diagnostic {
    unsupported(
        "This state file is encrypted and can not be read without an encryption configuration",
    )
}

/// There is no format version.
pub(super) fn no_version() -> Diagnostic {
    unsupported(
        "The state file does not have a \"version\" attribute, which is required to identify the format version.",
    )
}

/// The format version is not a whole number.
pub(super) fn bad_version(found: &str) -> Diagnostic {
    unsupported(format!(
        "The version in the state file is {found}. A positive whole number is required."
    ))
}

/// The format version is one that nobody wrote, or a later one.
pub(super) fn unknown_version(version: u64, writer: Option<&str>) -> Diagnostic {
    if version == 0 {
        return unsupported(
            "The state file claims format version zero, which no program ever wrote.",
        );
    }
    let this = super::write::WRITTEN_VERSION;
    let writer = match writer {
        Some(writer) => format!("This state file was created by OpenTofu {writer}."),
        None => "This state file may have been created by a newer version of OpenTofu.".into(),
    };
    unsupported(format!(
        "The state file uses format version {version}, which is not supported by OpenTofu {this}. {writer}"
    ))
}

/// The text is JSON, but not shaped as a state.
pub(super) fn wrong_shape(what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error("Invalid state file format").detail(format!(
        "The state file does not conform to the expected JSON data structure: {what}."
    ))
}

/// The file was written for a program version that is none.
pub(super) fn bad_writer(version: &str) -> Diagnostic {
    Diagnostic::error(format!("Invalid {PRODUCT} version string")).detail(format!(
        "State file claims to have been written by {PRODUCT} version {version:?}, which is not a valid version string."
    ))
}

/// A resource is neither managed nor data.
pub(super) fn bad_mode(mode: &str, kind: &str, name: &str) -> Diagnostic {
    Diagnostic::error("Invalid resource mode in state").detail(format!(
        "State contains a resource with mode {mode:?} ({kind:?} {name:?}) which is not supported."
    ))
}

/// A module address cannot be read.
pub(super) fn bad_module(text: &str) -> Diagnostic {
    Diagnostic::error("Invalid module instance address").detail(format!(
        "The state file places a resource in {text:?}, which is not a module address."
    ))
}

/// A provider configuration address cannot be read.
pub(super) fn bad_provider(text: &str, resource: &str) -> Diagnostic {
    Diagnostic::error("Invalid provider configuration address").detail(format!(
        "The state file says that {resource} belongs to {text:?}, which is not a provider configuration address."
    ))
}

/// Neither a resource nor its instances name a provider.
pub(super) fn no_provider(resource: &str) -> Diagnostic {
    Diagnostic::error("Provider field missing state").detail(format!(
        "Resource {resource} is missing a provider address, both on the resource and the resource instances."
    ))
}

/// Instances of one resource name different provider configurations.
pub(super) fn provider_conflict(resource: &str, one: &str, other: &str) -> Diagnostic {
    Diagnostic::error("Provider instance field conflict in state").detail(format!(
        "Resource {resource} has instances with different provider addresses: {one:?} != {other:?}."
    ))
}

/// Something about one instance is wrong.
pub(super) fn bad_instance(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Invalid resource instance metadata in state").detail(detail)
}

/// An object appears twice.
pub(super) fn duplicate(instance: &str, deposed: Option<&str>) -> Diagnostic {
    let what = match deposed {
        Some(key) => format!(
            "Instance {instance} deposed object {key:?} appears multiple times in the state file."
        ),
        None => format!("Instance {instance} appears multiple times in the state file."),
    };
    Diagnostic::error("Duplicate resource instance in state").detail(what)
}

/// The type of an output cannot be read.
pub(super) fn bad_output_type(name: &str, why: &Error) -> Diagnostic {
    Diagnostic::error("Invalid output value type in state").detail(format!(
        "The state file has an invalid type specification for output {name:?}: {why}."
    ))
}

/// The value of an output cannot be read.
pub(super) fn bad_output_value(name: &str, why: &Error) -> Diagnostic {
    Diagnostic::error("Invalid output value saved in state")
        .detail(format!("The state file has an invalid value for output {name:?}: {why}."))
}

/// The paths of sensitive values cannot be read.
pub(super) fn bad_paths(instance: &str, why: &Error) -> Diagnostic {
    Diagnostic::error("Error unmarshaling path step")
        .detail(format!("The sensitive attributes of {instance} cannot be read: {why}."))
}

/// An older format cannot be brought up to date.
pub(super) fn upgrade_failed(from: u64, why: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error("State format upgrade failed").detail(format!(
        "Error upgrading state file format from version {from} to version 4: {why}."
    ))
}
